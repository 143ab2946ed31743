/* wf_spmv_plan, and the same for a solver. */

#include "api/plans.h"
#include "choose/choose.h"
#include "core/heap.h"
#include "core/params.h"
#include "core/timing.h"
#include "kernels/families.h"
#include "kernels/spmv/arrays.h"
#include "kernels/spmv/checks.h"
#include "kernels/spmv/variant.h"
#include "profiles/spmv.h"

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

/* Checks and counts a matrix of the host's. */
static wf_result count_host(wf_device *device, const wf_spmv_params *params,
                            wfi_spmv_counts *counts)
{
    wf_result result = wfi_spmv_check_columns(device, params);
    if (result == WF_SUCCESS)
        wfi_spmv_count(params, counts);
    return result;
}

/* The same for one in device memory: by shaders, or on the host where that is faster or the matrix
 * does not fit. */
static wf_result count_device(wf_device *device, wfi_spmv_job *job, wfi_spmv_counts *counts)
{
    const bool by_shaders = wfi_spmv_profile_of(&device->caps)->device_entries > 0;
    wf_result result = wfi_device_csr_bind(device, &job->matrix, &job->csr);
    if (result == WF_SUCCESS)
        result = by_shaders ? wfi_device_csr_count(&job->csr, counts) : WF_NOT_READY;
    if (result != WF_NOT_READY)
        return result;
    result = wfi_spmv_job_download(job);
    if (result == WF_SUCCESS)
        result = wfi_spmv_check_offsets(device, &job->matrix);
    if (result == WF_SUCCESS)
        result = count_host(device, &job->matrix, counts);
    wfi_device_csr_close(&job->csr);
    return result;
}

/* Brings the matrix where it is analysed, checks it, and counts. */
static wf_result look_at(wf_device *device, wfi_spmv_job *job, wfi_spmv_counts *counts)
{
    const wf_spmv_params *params = &job->matrix;
    if (params->buffers)
        return count_device(device, job, counts);
    wf_result result = wfi_spmv_check_offsets(device, params);
    if (result == WF_SUCCESS && wfi_device_csr_pays(device, params)) {
        result = wfi_device_csr_upload(device, params, &job->csr);
        if (result == WF_SUCCESS)
            result = wfi_device_csr_count(&job->csr, counts);
        if (result != WF_ERROR_OUT_OF_DEVICE_MEMORY)
            return result;
        wfi_device_csr_close(&job->csr);
        result = WF_SUCCESS;
    }
    return result == WF_SUCCESS ? count_host(device, params, counts) : result;
}

/* Makes the plan from device memory where its variant can, else from host arrays. */
static wf_result build_plan(wf_device *device, const wfi_choice *choice, wfi_spmv_job *job,
                            wf_plan **out)
{
    const wf_jobs *jobs = job->matrix.jobs;
    const bool on_host = job->matrix.row_offsets != NULL;
    wf_result result = WF_NOT_READY;
    if (job->csr.device && (choice->point.variant->traits & WFI_SPMV_CONVERTS))
        result = wfi_plan_create_with(device, choice, jobs, job, out);
    if (result != WF_NOT_READY && !(on_host && result == WF_ERROR_OUT_OF_DEVICE_MEMORY))
        return result;
    result = wfi_spmv_job_download(job);
    wfi_device_csr_close(&job->csr);
    wfi_spmv_kept_forget(job->kept);
    return result == WF_SUCCESS ? wfi_plan_create_with(device, choice, jobs, job, out) : result;
}

/* A matrix without rows or without columns: y = beta y, which the plainest variant does, and which
 * is nothing to do where there are no rows. */
static wf_result plan_empty(wf_device *device, wfi_spmv_job *job, wf_plan **out)
{
    const wf_tuning plainest = {.size = sizeof plainest, .variant = "row"};
    const wfi_spmv_counts counts = {0};
    wf_spmv_params *m = &job->matrix;
    wfi_choice choice;
    wf_result result = WF_SUCCESS;
    if (m->row_offsets)
        result = wfi_spmv_check_offsets(device, m);
    if (result == WF_SUCCESS && m->row_offsets)
        result = wfi_spmv_check_columns(device, m);
    if (result != WF_SUCCESS)
        return result;
    const uint32_t rows = m->transpose ? m->columns : m->rows,
                   columns = m->transpose ? m->rows : m->columns;
    uint32_t *offsets = wfi_calloc(rows + (size_t)1, sizeof *offsets);
    if (!offsets)
        return wfi_no_memory(&device->log);
    /* Models are asked about at least one row and column. */
    m->rows = rows ? rows : 1;
    m->columns = columns ? columns : 1;
    const wfi_problem filled = wfi_spmv_describe(m, &counts, &job->kept->analysis);
    wfi_problem problem = filled;
    problem.spmv.rows = m->rows = rows;
    problem.spmv.columns = m->columns = columns;
    job->kept->analysis.rows = rows;
    job->kept->analysis.columns = columns;
    m->row_offsets = offsets;
    result = wfi_choose(device, &filled, &plainest, &choice);
    choice.point.problem = &problem;
    choice.chosen_by = "model";
    if (result == WF_SUCCESS)
        result = wfi_plan_create_with(device, &choice, m->jobs, job, out);
    m->row_offsets = NULL;
    wfi_free(offsets);
    return result;
}

static wf_result make_plan(wf_device *device, const wf_spmv_params *params, wfi_spmv_job *job,
                           wf_plan **out)
{
    const double start = wfi_host_seconds();
    wf_spmv_analysis *analysis = &job->kept->analysis;
    wfi_spmv_counts counts = {0};
    wfi_choice choice;
    wfi_spmv_job_start(params, job);
    if (params->rows == 0 || params->columns == 0)
        return plan_empty(device, job, out);
    wf_result result = look_at(device, job, &counts);
    job->kept->entries = (uint32_t)counts.entries;
    if (result == WF_SUCCESS && params->transpose) {
        result = wfi_spmv_job_transpose(device, job);
        if (result == WF_SUCCESS)
            wfi_spmv_count(&job->matrix, &counts);
    }
    if (result == WF_SUCCESS)
        result = wfi_spmv_check_x(device, job);
    if (result != WF_SUCCESS)
        return result;
    wfi_problem problem = wfi_spmv_describe(&job->matrix, &counts, analysis);
    problem.spmv.fused = job->kept->fuse;
    list_candidates(device, &problem, analysis);
    /* Conversion is what takes long; it asks again before each array that it makes. */
    result = wfi_device_goes_on(device);
    if (result == WF_SUCCESS)
        result = wfi_choose(device, &problem, params->tuning, &choice);
    analysis->statistics_seconds = wfi_host_seconds() - start;
    if (result == WF_SUCCESS)
        result = build_plan(device, &choice, job, out);
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
    wfi_spmv_kept *kept = wfi_calloc(1, sizeof *kept);
    if (!kept)
        return wfi_no_memory(&device->log);
    *kept = (wfi_spmv_kept){
        .type = params.type, .updatable = params.updatable, .fuse = partials != NULL};
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
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, plan_with(device, params, NULL, out));
}

wf_result wfi_spmv_plan_fused(wf_device *device, const wf_spmv_params *params, uint32_t *partials,
                              wf_plan **out)
{
    return plan_with(device, params, partials, out);
}

wf_result wf_cg_product_plan(wf_device *device, const wf_spmv_params *params, uint32_t *partials,
                             wf_plan **out)
{
    if (!device || !partials || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, plan_with(device, params, partials, out));
}
