/* Variant merge: work-items take equal pieces of the merged path of rows and entries, after Merrill
 * and Garland 2016. A second kernel adds up what work-groups left of rows that they did not end. */
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"
#include "plan/access.h"
#include "plan/dispatch_size.h"

static const uint32_t item_values[] = {3, 5, 7, 8, 9, 11};

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"items", SPMV_ID_ITEMS, 7, WFI_COUNT(item_values), item_values,
     "rows and entries that a work-item takes; odd numbers cause no bank conflicts"},
};

static bool items_positive(const wfi_point *point)
{
    return point->values[SPMV_ID_ITEMS] > 0 && point->values[SPMV_ID_ITEMS] <= 64;
}

static const wfi_constraint constraints[] = {
    WFI_SPMV_LOCAL_POWER("the scan doubles its distance"),
    {"items must be 1 to 64", items_positive},
    WFI_SPMV_ONE_VECTOR,
};

/* Products and ends of rows for each item, an open sum and a flag for each work-item, and what the
 * search along the path leaves. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const uint64_t local = point->values[SPMV_ID_LOCAL_X];
    return local * (point->values[SPMV_ID_ITEMS] + UINT64_C(1)) * (wfi_spmv_real_bytes(point) + 4) +
           24;
}

/* Each item costs the same. 50,000 stands for the second dispatch. */
static double fit(wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const uint32_t local = wfi_spmv_fit_local(point->caps);
    point->values[SPMV_ID_LOCAL_X] = local < 128 ? local : 128;
    point->values[SPMV_ID_ITEMS] = 7;
    return ((double)p->entries + (double)p->rows) * wfi_spmv_profile_of(point->caps)->merge_step +
           50000;
}

/* Behind alpha and beta, as in spmv_merge_fix.comp. */
typedef struct fix_push {
    uint32_t rows, groups, base_y;
} fix_push;

_Static_assert(sizeof(fix_push) == 12 && sizeof(fix_push) <= sizeof(wfi_spmv_csr_push),
               "members lie as in spmv_merge_fix.comp, within the variant's push constants");

#define CARRY_SLOT 4

static const wfi_spirv *const fix_modules[WF_TYPE_COUNT] = WFI_MODULES_spmv_merge_fix;

static wf_result add_fix(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                         const wfi_spmv_block *block, const wfi_step *merge, uint32_t groups)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    const fix_push push = {block->push.rows, groups, block->push.base_y};
    wfi_pipeline_desc desc;
    wfi_step step = {.slot_count = 2,
                     .slots = {merge->slots[CARRY_SLOT], merge->slots[WFI_SPMV_Y_SLOT]},
                     .barrier = true};
    wfi_point_pipeline(point, &desc);
    desc.spirv = fix_modules[job->matrix.type];
    desc.storage_buffers = 2;
    wfi_spmv_put_push(&job->matrix, &push, sizeof push, &step);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, (groups + (uint64_t)local - 1) / local, step.groups);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result add_merge(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           wfi_spmv_block *block)
{
    const uint64_t piece = point->values[SPMV_ID_LOCAL_X] * (uint64_t)point->values[SPMV_ID_ITEMS];
    const uint32_t groups =
        (uint32_t)((block->rows + (uint64_t)block->entries + piece - 1) / piece);
    wfi_step step;
    wfi_traffic bytes = {0};
    block->rows_a_group = 1;
    block->more = block->entries;
    wf_result result = wfi_spmv_block_step(plan, point, job, block, NULL, 0, &step);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, groups, step.groups);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, groups * (uint64_t)WFI_SPMV_CARRY_BYTES,
                              &step.slots[CARRY_SLOT]);
    step.slot_count = 5;
    wfi_spmv_merge_traffic(point, job->matrix.row_offsets + block->first, block->rows, &bytes);
    wfi_plan_count_traffic(plan, &bytes);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(plan, &step);
    return result == WF_SUCCESS ? add_fix(plan, point, job, block, &step, groups) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    return wfi_spmv_each_block(plan, point, params, 0, add_merge);
}

/* A work-item's products lie side by side, so that those of neighbours are `items` apart. */
static void access(const wfi_point *point, wf_access *out)
{
    const uint32_t words = (uint32_t)wfi_spmv_real_bytes(point) / 4;
    const uint32_t lanes = point->caps->subgroup_size / words; /* two words a lane go in halves */
    uint32_t at[WFI_MOST_LANES];
    for (uint32_t lane = 0; lane < lanes && lane < WFI_MOST_LANES; lane++)
        at[lane] = lane * point->values[SPMV_ID_ITEMS] * words;
    out->bank_passes = wfi_access_passes(at, lanes);
}

const wfi_variant wfi_spmv_merge = {
    WFI_SPMV_ROW(merge),
    .modules = WFI_MODULES_spmv_merge,
    .summary = "equal pieces of the merged path of rows and entries, nothing prepared",
    .source = "Merge-path SpMV (Merrill and Garland 2016)",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = 5,
    .push_bytes = WFI_SPMV_PUSH,
    .shared_bytes = shared_bytes,
    .constants = wfi_spmv_strided_constants,
    .fit = fit,
    .access = access,
    .build = build,
};
