/* Variant row: one work-item a row of compressed sparse rows. The reference. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/gathers.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"

/* Bytes of x, of an H200 whose second-level cache has 50 MB. */
#define FAR_BYTES 8388608.0
#define FAR_MEAN 8
#define FAR_LONGEST 64

/* Whether short rows of much the same length read x all over, and more of it than a cache keeps
 * while the matrix streams through it. */
static bool reads_far(const wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    return wfi_spmv_reach_bytes(point) > FAR_BYTES && p->mean_row <= FAR_MEAN &&
           p->longest_row <= FAR_LONGEST && !p->fused && !p->strided;
}

/* Where what is read of x does not stay in a cache, a row a work-item hides it best (H200, 3
 * million rows of 6 random columns in f32: 151 us, `sliced` 158, `stream` 223). */
static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    const wfi_spmv_problem *p = &point->problem->spmv;
    point->values[SPMV_ID_LOCAL_X] = wfi_spmv_fit_local(point->caps);
    if (!profile->costs && reads_far(point))
        return 0.5 * (double)(p->entries + p->rows) * wfi_spmv_vectors_of(point);
    return profile->costs ? wfi_spmv_instruction_time(point, profile->costs->row)
                          : wfi_spmv_row_time(point, 1, 0);
}

static wf_result add_rows(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                          wfi_spmv_block *block)
{
    return wfi_spmv_add_block(plan, point, job, block, point->values[SPMV_ID_LOCAL_X],
                              job->matrix.vectors);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_rows);
}

const wfi_variant wfi_spmv_row = {
    WFI_SPMV_ROW(row),
    .modules = WFI_MODULES_spmv_row,
    .summary = "one work-item a row",
    .source = "OpenACC loop optimisation (Alliance), step 1",
    .parameter_count = WFI_COUNT(wfi_spmv_row_parameters),
    .parameters = wfi_spmv_row_parameters,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH,
    .traits = WFI_SPMV_CONVERTS,
    .constants = wfi_spmv_strided_constants,
    .fit = fit,
    .traffic = wfi_spmv_row_traffic,
    .access = wfi_spmv_row_access,
    .build = build,
};
