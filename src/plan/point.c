/* Whether a point may run on a device, and the pipeline that it makes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/element.h"
#include "plan/family.h"

static bool refuse(char reason[256], const char *format, ...) WFI_PRINTF(2, 3);

static bool refuse(char reason[256], const char *format, ...)
{
    if (reason) {
        va_list args;
        va_start(args, format);
        vsnprintf(reason, 256, format, args);
        va_end(args);
    }
    return false;
}

static bool refuse_missing(const wf_caps *caps, uint32_t feature, char reason[256])
{
    if (reason)
        wfi_caps_say_missing(caps, feature, reason);
    return false;
}

typedef struct need {
    uint32_t bit;
    bool offered;
    uint32_t feature; /* WF_WITHHELD_… */
} need;

/* The first of VkSubgroupFeatureFlags, in words. */
static const char *first_operation(uint32_t operations)
{
    static const char *const names[] = {"operations", "votes",          "arithmetic",
                                        "ballots",    "shuffles",       "relative shuffles",
                                        "clusters",   "quad operations"};
    for (size_t i = 0; i < WFI_COUNT(names); i++)
        if (operations & 1u << i)
            return names[i];
    return "operations of that kind";
}

static bool needs_hold(const wfi_point *point, char reason[256])
{
    const wf_caps *caps = point->caps;
    const need needs[] = {
        {WFI_NEEDS_F16_ARITHMETIC, caps->f16_arithmetic, WF_WITHHELD_F16_ARITHMETIC},
        {WFI_NEEDS_F16_STORAGE, caps->f16_storage, WF_WITHHELD_F16_STORAGE},
        {WFI_NEEDS_F64, caps->f64, WF_WITHHELD_F64},
        {WFI_NEEDS_SUBGROUP_SIZE_CONTROL, caps->subgroup_size_control,
         WF_WITHHELD_SUBGROUP_SIZE_CONTROL},
        {WFI_NEEDS_FULL_SUBGROUPS, caps->full_subgroups, WF_WITHHELD_FULL_SUBGROUPS},
        {WFI_NEEDS_COOPERATIVE_MATRIX, caps->cooperative_matrix, WF_WITHHELD_COOPERATIVE_MATRIX},
        {WFI_NEEDS_COOPERATIVE_MATRIX2, caps->cooperative_matrix2, WF_WITHHELD_COOPERATIVE_MATRIX2},
        {WFI_NEEDS_BF16, caps->bf16, WF_WITHHELD_BF16},
        {WFI_NEEDS_INT8, caps->int8_arithmetic && caps->int8_storage, WF_WITHHELD_INT8},
        {WFI_NEEDS_INTEGER_DOT, caps->integer_dot, WF_WITHHELD_INTEGER_DOT},
        {WFI_NEEDS_INT64, caps->int64, WF_WITHHELD_INT64},
    };
    for (size_t i = 0; i < WFI_COUNT(needs); i++)
        if ((point->variant->needs & needs[i].bit) && !needs[i].offered)
            return refuse_missing(caps, needs[i].feature, reason);
    const uint32_t missing = point->variant->subgroup_operations & ~caps->subgroup_operations;
    return !missing || refuse(reason, "the device has no subgroup %s", first_operation(missing));
}

static bool module_holds(const wfi_point *point, char reason[256])
{
    const wf_type type = point->problem->type;
    const wfi_spirv *module = point->variant->modules[type];
    if (!module)
        return refuse(reason, "variant %s does not do %s", point->variant->name,
                      wf_type_name(type));
    if (!module->packed)
        return refuse(reason, "its shader was not built (GLSL compiler too old)");
    const wfi_element *element = wfi_element_of(type);
    const bool packed = element->size == 2 && (point->variant->needs & WFI_PACKED_16BIT);
    if (element->stored && !packed && !element->stored(point->caps))
        return refuse_missing(point->caps, element->feature, reason);
    return true;
}

static bool limits_hold(const wfi_point *point, char reason[256])
{
    static const char axis[] = "xyz";
    const wf_caps *caps = point->caps;
    const wfi_variant *variant = point->variant;
    uint32_t size[3];
    variant->group_size(point, size);
    const uint64_t invocations = (uint64_t)size[0] * size[1] * size[2];
    for (int i = 0; i < 3; i++)
        if (size[i] == 0 || size[i] > caps->max_group_size[i])
            return refuse(reason, "a work-group of %u along %c is over the limit of %u", size[i],
                          axis[i], caps->max_group_size[i]);
    if (invocations > caps->max_invocations)
        return refuse(reason, "%llu work-items a work-group are over the limit of %u",
                      (unsigned long long)invocations, caps->max_invocations);
    const uint32_t pinned = variant->subgroup_size ? variant->subgroup_size(point) : 0;
    if (pinned && invocations > (uint64_t)pinned * caps->max_group_subgroups)
        return refuse(reason, "%llu work-items are over the limit of %u subgroups of %u",
                      (unsigned long long)invocations, caps->max_group_subgroups, pinned);
    const uint64_t shared = variant->shared_bytes ? variant->shared_bytes(point) : 0;
    if (shared > caps->max_shared_bytes)
        return refuse(reason, "%llu bytes of shared memory are over the limit of %u",
                      (unsigned long long)shared, caps->max_shared_bytes);
    uint32_t storage = variant->storage_buffers;
    for (uint32_t others =
             variant->texel_buffers | variant->storage_images | variant->uniform_buffers;
         others; others &= others - 1)
        storage--;
    if (storage > caps->max_storage_buffers)
        return refuse(reason, "%u storage buffers are over the limit of %u", storage,
                      caps->max_storage_buffers);
    if (variant->push_bytes > caps->max_push_bytes)
        return refuse(reason, "%u bytes of push constants are over the limit of %u",
                      variant->push_bytes, caps->max_push_bytes);
    return true;
}

bool wfi_point_legal(const wfi_point *point, char reason[256])
{
    const wfi_variant *variant = point->variant;
    if (!module_holds(point, reason) || !needs_hold(point, reason))
        return false;
    /* Constraints are tested first: a group size has a meaning only for values that fit each
     * other. */
    for (uint32_t i = 0; i < variant->constraint_count; i++)
        if (!variant->constraints[i].holds(point))
            return refuse(reason, "%s", variant->constraints[i].reason);
    return limits_hold(point, reason);
}

uint32_t wfi_variant_find(const wfi_family *family, const char *name)
{
    for (uint32_t i = 0; i < family->variant_count; i++)
        if (strcmp(family->variants[i]->name, name) == 0)
            return i;
    return UINT32_MAX;
}

uint32_t wfi_parameter_find(const wfi_variant *variant, const char *name)
{
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        if (strcmp(variant->parameters[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

bool wfi_family_has_type(const wfi_family *family, wf_type type)
{
    return (unsigned)type < WF_TYPE_COUNT && family->variants[0]->modules[type];
}

bool wfi_variant_has(const wfi_variant *variant, uint32_t id)
{
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        if (variant->parameters[i].id == id)
            return true;
    return false;
}

uint32_t wfi_point_value(const wfi_point *point, uint32_t id, uint32_t otherwise)
{
    return wfi_variant_has(point->variant, id) ? point->values[id] : otherwise;
}

void wfi_point_set(wfi_point *point, uint32_t id, uint32_t value)
{
    if (wfi_variant_has(point->variant, id))
        point->values[id] = value;
}

uint32_t wfi_point_get(const wfi_point *point, uint32_t i)
{
    return point->values[point->variant->parameters[i].id];
}

void wfi_point_put(wfi_point *point, uint32_t i, uint32_t value)
{
    point->values[point->variant->parameters[i].id] = value;
}

double wfi_point_expected(const wfi_point *point)
{
    return point->variant->expect ? point->variant->expect(point) : -1;
}

uint32_t wfi_candidate_find(const wfi_parameter *parameter, uint32_t value)
{
    uint32_t at = 0;
    while (at < parameter->candidate_count && parameter->candidates[at] != value)
        at++;
    return at;
}

void wfi_point_defaults(wfi_point *point)
{
    memset(point->values, 0, sizeof point->values);
    for (uint32_t i = 0; i < point->variant->parameter_count; i++)
        wfi_point_put(point, i, point->variant->parameters[i].default_value);
}

void wfi_point_pipeline(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_variant *variant = point->variant;
    uint32_t size[3];
    *desc = (wfi_pipeline_desc){
        .name = variant->name,
        .spirv = variant->modules[point->problem->type],
        .storage_buffers = variant->storage_buffers,
        .texel_buffers = variant->texel_buffers,
        .storage_images = variant->storage_images,
        .uniform_buffers = variant->uniform_buffers,
        .push_bytes = variant->push_bytes,
        .subgroup_size = variant->subgroup_size ? variant->subgroup_size(point) : 0,
        .full_subgroups = (variant->needs & WFI_NEEDS_FULL_SUBGROUPS) != 0,
    };
    variant->group_size(point, size);
    for (uint32_t i = 0; i < 3; i++)
        wfi_pipeline_constant(desc, i, size[i]);
    for (uint32_t i = 0; i < variant->parameter_count; i++) {
        const uint32_t id = variant->parameters[i].id;
        /* Ids 0-2 are the group size, which is set already. */
        if (id > 2 && id < WFI_HOST_IDS)
            wfi_pipeline_constant(desc, id, point->values[id]);
    }
    if (variant->constants)
        variant->constants(point, desc);
}
