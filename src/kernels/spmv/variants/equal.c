/* Plans of the variant of equal blocks: converts blocks of rows, as few as bindings allow. */
#include <string.h>

#include "kernels/spmv/formats/equal.h"
#include "plan/dispatch_size.h"
#include "kernels/spmv/build.h"

/* As in spmv_equal.comp, behind alpha and beta. */
typedef struct equal_push {
    uint32_t blocks, base_y;
} equal_push;

#define SEGMENT_BYTES UINT64_C(16) /* of the scratch: a counter and a sum */

static bool fits(const wf_caps *caps, const wfi_equal *equal, const wfi_spmv_job *job,
                 uint32_t rows)
{
    return equal->segments < WFI_EQUAL_MOST_SEGMENTS &&
           wfi_spmv_rearranged_fits(caps, job, rows, equal->pattern_words, equal->place_count,
                                    equal->segments * SEGMENT_BYTES);
}

/* Converts the block's rows, or fewer until they fit. */
static wf_result make_block(wf_plan *plan, const wfi_spmv_job *job, wfi_equal_params *block,
                            wfi_equal *equal)
{
    wf_device *device = wfi_plan_device(plan);
    for (;;) {
        if (wfi_equal_make(block, equal) != WF_SUCCESS)
            return wfi_no_memory(&device->log);
        if (fits(&device->caps, equal, job, block->rows))
            return WF_SUCCESS;
        wfi_equal_free(equal);
        if (block->rows == 1)
            return wfi_spmv_row_too_long(plan, job, block->first);
        block->rows /= 2;
    }
}

/* What the kernel of a block is compiled for, besides the point. */
typedef struct equal_kind {
    uint32_t width, based, group_rows, folded, scaled;
} equal_kind;

/* A kernel of this kind; the first one adds the plan's bindings too. */
static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const equal_kind *kind, bool first, uint32_t *pipeline)
{
    const wfi_constant constants[] = {
        {SPMV_ID_WIDTH, kind->width},           {SPMV_ID_BASED, kind->based},
        {SPMV_ID_GROUP_ROWS, kind->group_rows}, {SPMV_ID_FOLDED, kind->folded},
        {SPMV_ID_SCALED, kind->scaled},         {SPMV_ID_FENCES, wfi_spmv_fences(point->caps)}};
    return wfi_spmv_add_kernel(plan, point, job, constants, sizeof constants / sizeof *constants,
                               first, pipeline);
}

/* The step of a block of rows, all but its pipeline. */
static wf_result make_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           const wfi_equal_params *block, const wfi_equal *equal, wfi_step *step,
                           equal_kind *kind)
{
    const wf_spmv_params *p = &job->matrix;
    equal_push push = {.blocks = equal->blocks};
    *step = (wfi_step){.slot_count = 5, .divisible = true};
    wf_result result = wfi_dispatch_size(plan, equal->blocks / block->group, step->groups);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, equal->pattern, equal->pattern_words * 4, &step->slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, equal->places, equal->place_count,
                                 p->row_offsets[block->first],
                                 p->row_offsets[block->first + block->rows], &step->slots[1]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, NULL, equal->segments * SEGMENT_BYTES, &step->slots[4]);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[3] = wfi_spmv_y_slot(point->caps, job, block->first, block->rows, &push.base_y);
    wfi_spmv_put_push(p, &push, sizeof push, step);
    *kind = (equal_kind){equal->width, equal->based, equal->group_row_blocks > 0,
                         step->groups[1] > 1, wfi_spmv_is_scaled(p) || push.base_y != 0};
    return result;
}

/* The plan under construction, and its last kernel. */
typedef struct builder {
    wf_plan *plan;
    const wfi_spmv_job *job;
    equal_kind kind;
    bool started; /* there is a kernel, */
    bool longs;   /* which is that of long rows */
    uint32_t pipeline;
} builder;

/* Rows of the block that are long or those that are not: their format, kernel and step. `longs`: the
 * point is that of long rows. May take fewer rows; without any of them it adds nothing. */
static wf_result add_rows(builder *b, const wfi_point *point, wfi_equal_params *block, bool longs)
{
    wfi_equal equal = {0};
    wfi_step step;
    equal_kind kind = b->kind;
    wf_result result = make_block(b->plan, b->job, block, &equal);
    if (result != WF_SUCCESS || equal.blocks == 0) {
        wfi_equal_free(&equal);
        return result;
    }
    result = make_step(b->plan, point, b->job, block, &equal, &step, &kind);
    const bool other =
        !b->started || b->longs != longs || memcmp(&kind, &b->kind, sizeof kind) != 0;
    if (result == WF_SUCCESS && other)
        result = add_pipeline(b->plan, point, b->job, &kind, !b->started, &b->pipeline);
    step.pipeline = b->pipeline;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(b->plan, &step);
    b->started = true;
    b->longs = longs;
    b->kind = kind;
    wfi_equal_free(&equal);
    return result;
}

/* What long rows are multiplied with: larger work-groups, each one row_subgroups. */
static wfi_point long_point(const wfi_point *point)
{
    wfi_point longs = *point;
    longs.values[SPMV_ID_LOCAL_X] = point->values[SPMV_ID_LONG_X];
    longs.values[SPMV_ID_LOADS] = point->values[SPMV_ID_LONG_LOADS];
    longs.values[SPMV_ID_SLICES] = 1;
    longs.values[SPMV_ID_ROW_SUBGROUPS] =
        point->values[SPMV_ID_LONG_X] / point->caps->subgroup_size;
    return longs;
}

/* All rows of more than `above` and at most `upto` entries, in blocks that bindings hold. */
static wf_result add_all(builder *b, const wfi_point *point, uint32_t above, uint32_t upto)
{
    const uint32_t all = b->job->matrix.rows;
    wf_result result = WF_SUCCESS;
    for (uint32_t first = 0; result == WF_SUCCESS && first < all;) {
        const uint32_t left = all - first;
        wfi_equal_params block = {
            .matrix = &b->job->matrix,
            .first = first,
            .rows = left < WFI_EQUAL_ROW_MASK ? left : WFI_EQUAL_ROW_MASK,
            .subgroup = point->caps->subgroup_size,
            .loads = point->values[SPMV_ID_LOADS],
            .slices = point->values[SPMV_ID_SLICES],
            .window = point->values[SPMV_ID_WINDOW],
            .row_subgroups = point->values[SPMV_ID_ROW_SUBGROUPS],
            .group = point->values[SPMV_ID_LOCAL_X] / point->caps->subgroup_size,
            .above = above,
            .upto = upto,
        };
        result = add_rows(b, point, &block, above > 0);
        first += block.rows;
    }
    return result;
}

wf_result wfi_spmv_equal_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const uint64_t most = UINT64_C(4) * point->values[SPMV_ID_LOADS] *
                          point->values[SPMV_ID_ROW_SUBGROUPS] * point->caps->subgroup_size;
    const bool has_long = point->values[SPMV_ID_LONG_X] && job->kept->analysis.longest_row > most;
    builder b = {.plan = plan, .job = job};
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    if (has_long) {           /* first: they take longest */
        const wfi_point longs = long_point(point);
        result = add_all(&b, &longs, (uint32_t)most, UINT32_MAX);
    }
    return result == WF_SUCCESS ? add_all(&b, point, 0, has_long ? (uint32_t)most : UINT32_MAX)
                                : result;
}
