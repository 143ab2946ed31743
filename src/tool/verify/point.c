/* Variants and constants of a case. Most sets of constants are not legal together, so that a draw
 * names some of a variant's parameters alone, and wavefit's choice has the others. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/log.h"
#include "tool/cli/console.h"
#include "tool/verify/verify.h"

#define DRAWS 40

static bool another(wf_result result)
{
    return result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNSUPPORTED ||
           result == WF_ERROR_TOO_LARGE;
}

/* Whether a compiler gave up on what was drawn, as it may where nobody would choose it. */
static bool is_refused(const wfi_verifier *v, wf_result result)
{
    return result == WF_ERROR_DRIVER && strstr(v->session->error, WFI_REFUSED);
}

static wf_tuning draw(wfi_verifier *v, wf_family family, wf_variant_info *info,
                      wf_constant *constants)
{
    static const uint32_t named[] = {0, 15, 40, 100};
    const uint32_t percent = named[wfi_draw_below(v, WFI_COUNT(named))];
    const uint32_t count = wf_family_variant_count(family);
    wf_tuning tuning = {.size = sizeof tuning, .constants = constants, .no_tuning = true};
    if (wf_family_variant(family, (uint32_t)wfi_draw_below(v, count), info) != WF_SUCCESS)
        return tuning;
    tuning.variant = info->name;
    for (uint32_t i = 0; i < info->parameter_count; i++) {
        const wf_parameter_info *p = &info->parameters[i];
        if (p->candidate_count && wfi_draw_chance(v, percent))
            constants[tuning.constant_count++] =
                (wf_constant){p->name, p->candidates[wfi_draw_below(v, p->candidate_count)]};
    }
    return tuning;
}

/* Told of a case whose plan ends the process. */
static void note(wfi_verdict *verdict, const wf_tuning *tuning)
{
    verdict->has_plan = tuning->variant != NULL;
    verdict->plan.variant = tuning->variant;
    verdict->plan.constant_count = tuning->constant_count;
    for (uint32_t i = 0; i < tuning->constant_count; i++)
        verdict->plan.constants[i] = tuning->constants[i];
}

wf_result wfi_verify_point(wfi_verifier *v, wfi_verify_plan_fn plan, void *problem)
{
    wf_variant_info info = {0};
    wf_constant constants[WF_MAX_PARAMETERS];
    const uint64_t kept = v->state;
    wf_result result = WF_ERROR_CONSTRAINT;
    for (int i = 0; i < DRAWS && another(result) && !wfi_interrupted(); i++) {
        const bool own = i == DRAWS - 1 || wfi_draw_chance(v, 10);
        const wf_tuning choice = {.size = sizeof choice, .no_tuning = true};
        const wf_tuning drawn = draw(v, v->verdict->family, &info, constants);
        note(v->verdict, own ? &choice : &drawn);
        wfi_verify_at(v);
        result = plan(v, problem, own ? &choice : &drawn);
        if (!own && is_refused(v, result)) {
            v->session->error[0] = '\0';
            result = WF_ERROR_UNSUPPORTED;
        }
    }
    v->verdict->has_plan = false;
    /* What follows does not depend on how often was drawn. */
    v->state = kept + 1;
    if (wfi_interrupted())
        result = WF_ERROR_CANCELLED;
    if (another(result))
        v->verdict->status = WFI_STATUS_UNSUPPORTED;
    return result;
}
