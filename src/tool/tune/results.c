#include "tool/tune/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/results.h"
#include "tool/cases/families.h"

static void name_problem(const wfi_case_problem *p, const wfi_tune_outcome *o, wfi_result_case *c)
{
    const wfi_tool_family *family = wfi_tool_family_of(p->family);
    const bool sparse = family->sizes_of_matrix;
    const uint64_t sizes[] = {sparse ? o->rows : p->a, sparse ? o->columns : p->b,
                              sparse ? o->entries : p->c};
    wfi_result_case_init(c, wf_family_name(p->family));
    snprintf(c->name, sizeof c->name, "%s", p->name);
    c->type = wf_type_name(p->type);
    for (int i = 0; i < 3; i++)
        if (sizes[0]) /* a matrix that was not made has none */
            wfi_result_case_fact(c, family->sizes[i], (double)sizes[i]);
    if (family->facts)
        family->facts(p, c);
}

static wf_plan_info plan_of(const wfi_tuned_point *point)
{
    wf_plan_info plan = {.size = sizeof plan,
                         .variant = *point->variant ? point->variant : NULL,
                         .chosen_by = *point->by ? point->by : NULL,
                         .constant_count = point->count};
    for (uint32_t i = 0; i < point->count; i++)
        plan.constants[i] = (wf_constant){point->names[i], point->values[i]};
    return plan;
}

static wfi_status status_of(const wfi_tune_outcome *o)
{
    if (o->done)
        return WFI_STATUS_OK;
    if (o->result == WF_ERROR_CANCELLED)
        return WFI_STATUS_CANCELLED;
    return o->result == WF_ERROR_UNSUPPORTED || o->result == WF_ERROR_TOO_LARGE
               ? WFI_STATUS_UNSUPPORTED
               : WFI_STATUS_ERROR;
}

static void fill(const wfi_tune_work *work, uint32_t index, wfi_result_tuned *tuned,
                 wfi_result_case *c)
{
    const wfi_tune_outcome *o = &work->outcomes[index];
    name_problem(&work->problems[index], o, c);
    c->status = status_of(o);
    if (!o->done)
        snprintf(c->reason, sizeof c->reason, "%s", o->error);
    if (!o->done && o->measured + o->wrong + o->spilling == 0)
        return;
    *tuned = (wfi_result_tuned){.before = plan_of(&o->before),
                                .before_us = o->before.us > 0 ? o->before.us : (double)NAN,
                                .tried = o->measured,
                                .bad = o->wrong,
                                .spilled = o->spilling,
                                .legal = o->legal,
                                .finished = o->finished,
                                .kept = o->kept,
                                .interrupted = c->status == WFI_STATUS_CANCELLED};
    c->tuned = tuned;
    if (!(o->best.us > 0))
        return;
    c->plan = plan_of(&o->best);
    c->has_timing = true;
    c->timing = (wf_timing){.median_us = o->best.us,
                            .min_us = (double)NAN,
                            .q1_us = (double)NAN,
                            .q3_us = (double)NAN,
                            .spread = o->spread,
                            .gpu_clock = work->device->caps.timestamp_valid_bits > 0};
}

int wfi_tune_write(const wfi_tune_work *work, int argc, char **argv)
{
    const uint32_t count = work->count;
    if (!work->common->json)
        return WFI_EXIT_DONE;
    wfi_result_case *cases = calloc(count, sizeof *cases);
    wfi_result_tuned *tuned = calloc(count, sizeof *tuned);
    wfi_io_error error;
    int code = WFI_EXIT_DONE;
    for (uint32_t i = 0; cases && tuned && i < count; i++)
        fill(work, i, &tuned[i], &cases[i]);
    const wfi_results results = {.argc = argc,
                                 .argv = argv,
                                 .caps = &work->device->caps,
                                 .copy_bandwidth = (double)NAN,
                                 .fma_f32 = (double)NAN,
                                 .case_count = count,
                                 .cases = cases};
    if (!cases || !tuned)
        code = wfi_run_error("out of memory");
    else if (!wfi_results_write(work->common->json, &results, &error))
        code = wfi_run_error("%s", error.text);
    free(cases);
    free(tuned);
    return code;
}
