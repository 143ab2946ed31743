/* Variant adaptive: rows in bins by length, a dispatch with fitting lanes a bin. */
#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

enum { BINS = 5 };

/* Lanes of each bin, and the longest row that goes there: about eight entries a lane. */
static uint32_t bin_lanes(uint32_t bin, uint32_t local)
{
    static const uint32_t lanes[BINS] = {1, 4, 16, 64, UINT32_MAX};
    return lanes[bin] < local ? lanes[bin] : local;
}

static uint32_t bin_of(uint32_t length, uint32_t local)
{
    uint32_t bin = 0;
    while (bin < BINS - 1 && length > 8 * bin_lanes(bin, local))
        bin++;
    return bin;
}

/* The block's rows by bin, each bin in order; counts gets their numbers. */
static void sort_rows(const wf_spmv_params *p, const wfi_spmv_block *block, uint32_t local,
                      uint32_t counts[BINS], uint32_t *rows)
{
    uint32_t at[BINS] = {0};
    const uint32_t *offsets = p->row_offsets + block->first;
    memset(counts, 0, BINS * sizeof *counts);
    for (uint32_t i = 0; i < block->rows; i++)
        counts[bin_of(offsets[i + 1] - offsets[i], local)]++;
    for (uint32_t bin = 1; bin < BINS; bin++)
        at[bin] = at[bin - 1] + counts[bin - 1];
    for (uint32_t i = 0; i < block->rows; i++)
        rows[at[bin_of(offsets[i + 1] - offsets[i], local)]++] = i;
}

/* Each lane reads the row's number in the list of its bin, and its offsets. */
static void add_row(const wfi_point *point, uint32_t length, wfi_traffic *out)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    out->requested += bin_lanes(bin_of(length, local), local) * 3.0 * sizeof(uint32_t);
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_mean_traffic(point, add_row, out);
}

/* Sets what the bins' kernels differ in. */
static void set_lanes(wfi_pipeline_desc *desc, uint32_t lanes)
{
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id == SPMV_ID_LANES)
            desc->constants[i].value = lanes;
}

/* One dispatch a bin that has rows; they write different rows and need no order. */
static wf_result add_bins(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          const wfi_spmv_block *block, const uint32_t counts[BINS], wfi_step *step)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    wfi_spmv_csr_push push = block->push;
    wf_result result = WF_SUCCESS;
    for (uint32_t bin = 0; bin < BINS && result == WF_SUCCESS; bin++) {
        const uint32_t rows_a_group = local / bin_lanes(bin, local);
        wfi_pipeline_desc desc;
        if (counts[bin] == 0)
            continue;
        wfi_point_pipeline(point, &desc);
        set_lanes(&desc, bin_lanes(bin, local));
        result = wfi_plan_add_pipeline(plan, &desc, &step->pipeline);
        if (result == WF_SUCCESS)
            result = wfi_dispatch_size(
                plan, (counts[bin] + (uint64_t)rows_a_group - 1) / rows_a_group, step->groups);
        step->groups[2] = job->matrix.vectors;
        push.rows = counts[bin];
        wfi_spmv_put_push(&job->matrix, &push, sizeof push, step);
        if (result == WF_SUCCESS)
            result = wfi_plan_add_step(plan, step);
        push.more += counts[bin]; /* where the next bin's list of rows begins */
    }
    return result;
}

static wf_result add_adaptive(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              wfi_spmv_block *block)
{
    uint32_t counts[BINS];
    wfi_step step;
    wfi_traffic bytes = {0};
    uint32_t *rows = wfi_malloc(block->rows * sizeof *rows);
    if (!rows)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    sort_rows(&job->matrix, block, point->values[SPMV_ID_LOCAL_X], counts, rows);
    block->rows_a_group = 1;
    block->more = block->rows + 1 + block->entries; /* where the list of rows begins */
    wf_result result = wfi_spmv_block_step(plan, point, job, block, rows, block->rows, &step);
    wfi_free(rows);
    wfi_spmv_rows_traffic(point, add_row, job->matrix.row_offsets + block->first, block->rows,
                          &bytes);
    wfi_plan_count_traffic(plan, &bytes);
    return result == WF_SUCCESS ? add_bins(plan, point, job, block, counts, &step) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, sizeof(uint32_t), add_adaptive);
}

static const wfi_constraint constraints[] = {WFI_SPMV_LOCAL_POWER("lanes halve it")};

/* The kernel is compiled for one lane a row; add_bins puts each bin's own number there. */
static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_spmv_strided_constants(point, desc);
    wfi_pipeline_constant(desc, SPMV_ID_LANES, 1);
}

/* Short rows take as long as with one lane, and long ones have as many lanes as they can use. */
static double fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double entry = wfi_spmv_profile_of(point->caps)->adaptive_entry;
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    return ((double)p->entries * entry + (double)p->rows * 4) * wfi_spmv_vectors_of(point);
}

const wfi_variant wfi_spmv_adaptive = {
    WFI_SPMV_ROW(adaptive),
    .modules = WFI_MODULES_spmv_listed,
    .summary = "rows binned by length, a dispatch with fitting lanes a bin",
    .source = "CSR-Adaptive (Greathouse and Daga 2014), here with whole rows only",
    .parameter_count = WFI_COUNT(wfi_spmv_row_parameters),
    .parameters = wfi_spmv_row_parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .shared_bytes = wfi_spmv_lanes_shared,
    .constants = constants,
    .fit = fit,
    .traffic = traffic,
    .build = build,
};
