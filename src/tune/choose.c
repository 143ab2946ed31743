/* Picks the variant and its constants: what the user forces, and the model for the rest. */
#include <string.h>

#include "core/params.h"
#include "kernels/family.h"

static wf_result apply_constants(const wfi_log *log, const wf_tuning *tuning, wfi_point *point)
{
    for (uint32_t i = 0; i < tuning->constant_count; i++) {
        const wf_constant *constant = &tuning->constants[i];
        const uint32_t at = wfi_parameter_find(point->variant, constant->name);
        if (at == UINT32_MAX)
            return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT, "variant %s has no constant '%s'",
                            point->variant->name, constant->name);
        point->values[at] = constant->value;
    }
    return WF_SUCCESS;
}

/* The variant that the user names, with the model's values where they are legal. */
static wf_result choose_forced(const wfi_log *log, const wfi_family *family,
                               const wf_tuning *tuning, wfi_choice *choice)
{
    char reason[256];
    const uint32_t index = wfi_variant_find(family, tuning->variant);
    if (index == UINT32_MAX)
        return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT, "family %s has no variant '%s'",
                        family->name, tuning->variant);
    wfi_point *point = &choice->point;
    point->variant = &family->variants[index];
    wfi_point_defaults(point);
    point->variant->fit(point);
    wf_result result = apply_constants(log, tuning, point);
    if (result == WF_SUCCESS && !wfi_point_legal(point, reason))
        result = wfi_fail(log, tuning->constant_count ? WF_ERROR_CONSTRAINT : WF_ERROR_UNSUPPORTED,
                          "%s %s: %s", family->name, point->variant->name, reason);
    choice->chosen_by = "forced";
    return result;
}

static bool has_all_constants(const wfi_variant *variant, const wf_tuning *tuning)
{
    for (uint32_t i = 0; i < tuning->constant_count; i++)
        if (wfi_parameter_find(variant, tuning->constants[i].name) == UINT32_MAX)
            return false;
    return true;
}

/* The legal point with the lowest expected time, over the variants that have every forced
 * constant. */
static wf_result choose_by_model(const wfi_log *log, const wfi_family *family,
                                 const wf_tuning *tuning, wfi_choice *choice)
{
    char reason[256] = "it has no such constant";
    bool found = false, named = false;
    double best = 0;
    for (uint32_t i = 0; i < family->variant_count; i++) {
        wfi_point point = choice->point;
        point.variant = &family->variants[i];
        if (!has_all_constants(point.variant, tuning))
            continue;
        named = true;
        wfi_point_defaults(&point);
        const double time = point.variant->fit(&point);
        if (time < 0 || apply_constants(log, tuning, &point) != WF_SUCCESS ||
            !wfi_point_legal(&point, reason) || (found && time >= best))
            continue;
        best = time;
        found = true;
        choice->point = point;
    }
    choice->chosen_by = tuning->constant_count ? "forced" : "model";
    if (found)
        return WF_SUCCESS;
    if (!named)
        return wfi_fail(log, WF_ERROR_UNKNOWN_VARIANT, "no variant of %s has a constant '%s'",
                        family->name, tuning->constants[0].name);
    return wfi_fail(log, tuning->constant_count ? WF_ERROR_CONSTRAINT : WF_ERROR_UNSUPPORTED,
                    "%s %s: %s", family->name, wf_type_name(choice->point.problem->type), reason);
}

wf_result wfi_choose(const wfi_log *log, const wf_caps *caps, const wfi_problem *problem,
                     const wf_tuning *tuning, wfi_choice *out)
{
    const wfi_family *family = wfi_family_get(problem->family);
    wfi_choice choice = {.point = {.caps = caps, .problem = problem}};
    wf_tuning forced;
    wf_result result = wfi_params_read(log, "wf_tuning", tuning, &forced, sizeof forced);
    if (result == WF_SUCCESS)
        result = forced.variant ? choose_forced(log, family, &forced, &choice)
                                : choose_by_model(log, family, &forced, &choice);
    if (result == WF_SUCCESS)
        *out = choice;
    return result;
}
