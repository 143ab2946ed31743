/* Variant row_many: several right-hand sides at once, whose sums a work-item keeps in registers. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

static const uint32_t column_values[5] = {2, 4, 8, 16, 32};
static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"columns", SPMV_ID_COLUMNS, 4, WFI_COUNT(column_values), column_values,
     "right-hand sides that a work-item multiplies with, in registers"},
};

static uint32_t vectors_of(const wfi_point *point)
{
    return (uint32_t)wfi_spmv_vectors_of(point);
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, SPMV_ID_VECTORS, vectors_of(point));
}

/* As many columns as there are. It is weighed on drivers whose profile has a cost for it: those on
 * which it was measured, and faster. */
static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    const uint32_t vectors = vectors_of(point);
    uint32_t i = 0;
    while (i + 1 < WFI_COUNT(column_values) && column_values[i] < vectors)
        i++;
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    point->values[SPMV_ID_COLUMNS] = column_values[i];
    if (vectors < 2 || !profile->costs || profile->costs->row_many.entry <= 0)
        return -1;
    return wfi_spmv_instruction_time(point, profile->costs->row_many);
}

static wf_result add_rows(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          wfi_spmv_block *block)
{
    const uint32_t columns = point->values[SPMV_ID_COLUMNS];
    return wfi_spmv_add_block(plan, point, job, block, point->values[SPMV_ID_LOCAL_X],
                              (job->matrix.vectors + columns - 1) / columns);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_rows);
}

const wfi_variant wfi_spmv_row_many = {
    WFI_SPMV_ROW(row_many),
    .modules = WFI_MODULES_spmv_row_many,
    .summary = "several right-hand sides at once, a work-item a row",
    .source = "Yang, Buluç, Owens 2018 (row splitting), with register blocking",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .constants = constants,
    .fit = fit,
    .traffic = wfi_spmv_row_many_traffic,
    .build = build,
};
