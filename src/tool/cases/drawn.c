#include "tool/cases/drawn.h"

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "tool/cases/random.h"

static bool has_type(const wfi_tool_family *family, wf_type type)
{
    for (uint32_t i = 0; i < family->drawn_type_count; i++)
        if (family->drawn_types[i] == type)
            return true;
    return false;
}

/* Sizes are drawn before the type, so that every type has the same ones. */
static void draw(const wfi_drawn_request *request, const wfi_tool_family *family, uint32_t number,
                 wfi_case_problem *out)
{
    uint64_t state = request->seed;
    state = wfi_random_bits(&state) ^ (uint64_t)family->family;
    state = wfi_random_bits(&state) ^ number;
    *out = (wfi_case_problem){.family = family->family};
    family->draw(&state, out);
    out->type = request->type
                    ? *request->type
                    : family->drawn_types[wfi_random_below(&state, family->drawn_type_count)];
}

uint32_t wfi_drawn_suite(const wfi_drawn_request *request,
                         wfi_case_problem problems[WFI_MOST_DRAWN])
{
    const wfi_tool_family *families[WFI_TOOL_FAMILY_COUNT];
    uint32_t there = 0;
    for (int f = 0; f < WFI_TOOL_FAMILY_COUNT; f++) {
        const wfi_tool_family *family = wfi_tool_families[f];
        if ((request->family == WF_FAMILY_COUNT || request->family == family->family) &&
            (!request->type || has_type(family, *request->type)))
            families[there++] = family;
    }
    for (uint32_t i = 0; there && i < request->count; i++)
        draw(request, families[i % there], i / there, &problems[i]);
    return there ? request->count : 0;
}

int wfi_drawn_parse_count(const char *text, uint32_t *count)
{
    uint64_t given = WFI_DEFAULT_DRAWN;
    if (text && !wfi_parse_u64("--count", text, 1, WFI_MOST_DRAWN, &given))
        return WFI_EXIT_USAGE;
    *count = (uint32_t)given;
    return WFI_EXIT_DONE;
}
