/* wf_spmv_plan, and the same for a solver. */
#include <stdlib.h>

#include "api/plans.h"
#include "choose/choose.h"
#include "core/params.h"
#include "core/timing.h"
#include "kernels/families.h"
#include "kernels/spmv/arrays.h"
#include "kernels/spmv/variants.h"

/* Lists what the model expects of each variant; the family has no more variants than there is room
 * for (family.c). */
static void list_candidates(const wf_device *device, const wfi_problem *problem,
                            wf_spmv_analysis *analysis)
{
    for (uint32_t i = 0; i < wfi_family_spmv.variant_count; i++) {
        wfi_point point = {
            .caps = &device->caps, .problem = problem, .variant = wfi_family_spmv.variants[i]};
        wf_spmv_candidate *c = &analysis->candidates[analysis->candidate_count++];
        c->variant = point.variant->name;
        wfi_point_defaults(&point);
        c->expected = point.variant->fit(&point);
        if (!wfi_point_legal(&point, c->reason))
            c->expected = -1;
    }
}

/* What is stored of the matrix, x for each place of a value, and y. */
static void count_traffic(const wfi_spmv_job *job, const wfi_choice *choice, wf_plan *plan)
{
    const wf_spmv_params *p = &job->matrix;
    const double real = p->type == WF_TYPE_F64 ? 8 : 4;
    const double y = (double)p->rows * real;
    const wfi_traffic traffic = {.requested = (double)job->kept->analysis.matrix_bytes +
                                              (double)job->kept->places * real + y,
                                 .stored = y};
    if (choice->point.variant->traits & WFI_SPMV_READS_ONCE && p->vectors == 1)
        wfi_plan_count_traffic(plan, &traffic);
}

static wf_result make_plan(wf_device *device, const wf_spmv_params *params, wfi_spmv_job *job,
                           wf_plan **out)
{
    const double start = wfi_host_seconds();
    wf_spmv_analysis *analysis = &job->kept->analysis;
    wfi_choice choice;
    wf_result result = wfi_spmv_job_make(device, params, job);
    if (result == WF_SUCCESS)
        result = wfi_spmv_check_x(device, job);
    if (result != WF_SUCCESS)
        return result;
    wfi_problem problem = wfi_spmv_describe(&job->matrix, analysis);
    problem.spmv.fused = job->kept->fuse;
    list_candidates(device, &problem, analysis);
    /* Conversion is what takes long; it asks again before each array that it makes. */
    result = wfi_device_goes_on(device);
    if (result == WF_SUCCESS)
        result = wfi_choose(device, &problem, params->tuning, &choice);
    analysis->statistics_seconds = wfi_host_seconds() - start;
    if (result == WF_SUCCESS)
        result = wfi_plan_create_with(device, &choice, params->jobs, job, out);
    if (result == WF_SUCCESS)
        count_traffic(job, &choice, *out);
    analysis->seconds = wfi_host_seconds() - start;
    return result;
}

static wf_result plan_with(wf_device *device, const wf_spmv_params *given, uint32_t *partials,
                           wf_plan **out)
{
    wf_spmv_params params;
    wf_result result = wfi_params_read(&device->log, "wf_spmv_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_spmv_check_params(device, &params);
    if (result != WF_SUCCESS)
        return result;
    wfi_spmv_job job = {0};
    wf_plan *plan = NULL;
    wfi_spmv_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return wfi_no_memory(&device->log);
    *kept = (wfi_spmv_kept){.type = params.type,
                            .entries = params.row_offsets[params.rows],
                            .updatable = params.updatable,
                            .fuse = partials != NULL};
    job.kept = kept;
    result = make_plan(device, &params, &job, &plan);
    wfi_spmv_job_free(&job);
    if (result != WF_SUCCESS) {
        wfi_spmv_kept_destroy(kept);
        return result;
    }
    wfi_plan_keep(plan, kept, wfi_spmv_kept_destroy);
    if (partials)
        *partials = kept->partials;
    *out = plan;
    return WF_SUCCESS;
}

wf_result wf_spmv_plan(wf_device *device, const wf_spmv_params *params, wf_plan **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    return plan_with(device, params, NULL, out);
}

wf_result wfi_spmv_plan_fused(wf_device *device, const wf_spmv_params *params, uint32_t *partials,
                              wf_plan **out)
{
    return plan_with(device, params, partials, out);
}
