#include "tool/tune/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/results.h"

static void name_problem(const wfi_tune_problem *p, const wfi_tune_outcome *o, wfi_result_case *c)
{
    static const char *const names[WF_FAMILY_COUNT][3] = {
        [WF_FAMILY_HIMENO] = {"ni", "nj", "nk"},
        [WF_FAMILY_MATMUL] = {"m", "n", "k"},
        [WF_FAMILY_STENCIL] = {"nx", "ny", "nz"},
        [WF_FAMILY_SPMV] = {"rows", "columns", "entries"},
    };
    const bool sparse = p->family == WF_FAMILY_SPMV;
    const uint64_t sizes[] = {sparse ? o->rows : p->a, sparse ? o->columns : p->b,
                              sparse ? o->entries : p->c};
    wfi_result_case_init(c, wf_family_name(p->family));
    snprintf(c->name, sizeof c->name, "%s", p->name);
    c->type = wf_type_name(p->type);
    for (int i = 0; i < 3; i++)
        if (sizes[0]) /* a matrix that was not made has none */
            wfi_result_case_fact(c, names[p->family][i], (double)sizes[i]);
    if (p->family != WF_FAMILY_STENCIL)
        return;
    wfi_result_case_fact(c, "radius", p->radius);
    wfi_result_case_fact(c, "box", p->shape == WF_STENCIL_BOX);
    wfi_result_case_fact(c, "border", p->border);
    wfi_result_case_fact(c, "steps", p->steps);
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
