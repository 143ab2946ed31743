/* The families, and their table as the public header shows it. */
#include "kernels/families.h"
#include "wfi_families.h"

/* Families that this build leaves out have no row: ROW_1 gives one, and ROW_0 none. */
#define ROW_0(id, name)
#define ROW_1(id, name) [WF_FAMILY_##id] = &wfi_family_##name,
#define ROW_IF(has, id, name) ROW_##has(id, name)
#define ROW_OF(has, id, name) ROW_IF(has, id, name)
#define ROW(id, name) ROW_OF(WFI_HAS_##id, id, name)
static const wfi_family *const families[WF_FAMILY_COUNT] = {WFI_EACH_FAMILY(ROW)};

const wfi_family *wfi_family_get(wf_family family)
{
    return (unsigned)family < WF_FAMILY_COUNT ? families[family] : NULL;
}

const char *wf_family_name(wf_family family)
{
#define NAME(id, name) [WF_FAMILY_##id] = #name,
    static const char *const names[WF_FAMILY_COUNT] = {WFI_EACH_FAMILY(NAME)};
    return (unsigned)family < WF_FAMILY_COUNT ? names[family] : "?";
}

uint32_t wf_family_variant_count(wf_family family)
{
    const wfi_family *f = wfi_family_get(family);
    return f ? f->variant_count : 0;
}

wf_result wf_family_variant(wf_family family, uint32_t index, wf_variant_info *out)
{
    const wfi_family *f = wfi_family_get(family);
    if (!f || !out || index >= f->variant_count)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_variant *variant = f->variants[index];
    *out = (wf_variant_info){
        .name = variant->name,
        .summary = variant->summary,
        .source = variant->source,
        .parameter_count = variant->parameter_count,
    };
    for (uint32_t t = 0; t < WF_TYPE_COUNT; t++)
        if (variant->modules[t] && variant->modules[t]->packed)
            out->types |= UINT32_C(1) << t;
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        out->parameters[i] = (wf_parameter_info){
            .name = variant->parameters[i].name,
            .meaning = variant->parameters[i].meaning,
            .default_value = variant->parameters[i].default_value,
            .candidate_count = variant->parameters[i].candidate_count,
            .candidates = variant->parameters[i].candidates,
        };
    return WF_SUCCESS;
}
