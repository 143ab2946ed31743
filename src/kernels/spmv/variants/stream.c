/* Variant stream: blocks of neighbouring rows (formats/stream.h), a work-group each. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/spmv/analysis/stream_convert.h"
#include "kernels/spmv/analysis/values.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
#include "kernels/spmv/formats/stream.h"
#include "kernels/spmv/traffic.h"
#include "kernels/spmv/variant.h"
#include "plan/dispatch_size.h"

static const uint32_t item_values[] = {4, 8, 16}, row_values[] = {1, 2, 3, 4, 6, 8};

static const wfi_parameter parameters[] = {
    WFI_SPMV_LOCAL_X,
    {"items", SPMV_ID_ITEMS, 4, WFI_COUNT(item_values), item_values, "entries a work-item"},
    {"rows", SPMV_ID_ROWS, 2, WFI_COUNT(row_values), row_values, "the most rows a work-item"},
};

static bool items_in_fours(const wfi_point *point)
{
    const uint32_t items = point->values[SPMV_ID_ITEMS];
    return items > 0 && items <= 16 && items % 4 == 0;
}

static bool words_aligned(const wfi_point *point)
{
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    return local > 0 && local % 8 == 0;
}

static bool few_rows(const wfi_point *point)
{
    return point->values[SPMV_ID_ROWS] > 0 && point->values[SPMV_ID_ROWS] <= 8;
}

static bool longest_row_in_group(const wfi_point *point)
{
    return point->problem->spmv.longest_row <=
           (uint64_t)point->values[SPMV_ID_LOCAL_X] * point->values[SPMV_ID_ITEMS];
}

static const wfi_constraint constraints[] = {
    {"local_x must be a multiple of 8, since a block's words are read four at once", words_aligned},
    {"items must be 4 to 16 and a multiple of 4, since four are loaded at once", items_in_fours},
    {"rows must be 1 to 8, since a work-item keeps them in registers", few_rows},
    {"the longest row must fit items times local_x, since a row stays in a work-group",
     longest_row_in_group},
    WFI_SPMV_ONE_VECTOR,
};

static uint64_t shared_bytes(const wfi_point *point)
{
    return (uint64_t)point->values[SPMV_ID_LOCAL_X] * point->values[SPMV_ID_ITEMS] *
           wfi_spmv_real_bytes(point);
}

#define ITEMS 8        /* entries a work-item: with half as many, too few loads are under way */
#define LONGEST_ROW 64 /* since one work-item adds up a row */
/* Above, the vector loads of sliced and equal are nearly full (six random columns a row take sliced
 * 158 us, stream 223). */
#define MEAN_ROW 5.5
/* Rows of one entry, of which sliced and equal load four: for matrices that equal has under way at
 * once, too, when there are so many entries (400,000 random columns take equal 6.2 us, stream 5.5,
 * a diagonal of 1.5 million 12.5 and 6.0, but 565,000 rows, half of them empty, 8.4 and 9.0;
 * H200). */
#define LONE_ROW 1.5
#define LONE_ENTRIES 400000

/* For rows of a few entries, which sliced and equal pad to twice as many (H100, 2.2 entries a row:
 * 16.1 us where sliced takes 28.4). A work-item has room for the rows that its entries are of on
 * average, and 5 % more. */
static double fit(wfi_point *point)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(point->caps);
    const wfi_spmv_problem *p = &point->problem->spmv;
    const uint64_t cached = p->mean_row < LONE_ROW                ? LONE_ENTRIES
                            : point->problem->type == WF_TYPE_F64 ? profile->equal_entries_f64
                                                                  : profile->equal_entries_f32;
    const uint32_t words = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    const double rows = p->mean_row > 0 ? 1.05 * ITEMS / p->mean_row : 8;
    const uint32_t local = wfi_spmv_fit_local(point->caps);
    point->values[SPMV_ID_LOCAL_X] = local < 128 ? local : 128;
    point->values[SPMV_ID_ITEMS] = ITEMS;
    point->values[SPMV_ID_ROWS] = (uint32_t)fmin(fmax(ceil(rows), 1), 8);
    if (profile->costs || (profile->few_registers && words > profile->most_load_words) ||
        p->fused || p->longest_row > LONGEST_ROW || p->mean_row > MEAN_ROW || p->entries < cached)
        return -1;
    return 0.6 * (double)(p->entries + p->rows);
}

/* --------------------------------------------------------------------------------------- build */

/* Matrices of fewer bytes are in every cache whole, and need no reversed executions. */
#define ALTERNATE_BYTES (UINT64_C(4) << 20)

/* As in spmv_stream.comp, behind alpha and beta. */
typedef struct stream_push {
    uint32_t blocks, base_y, reversed;
} stream_push;

_Static_assert(sizeof(stream_push) == 12, "members lie as in spmv_stream.comp");

static bool fits(const wf_caps *caps, const wfi_csr_stream *s, const wfi_spmv_job *job,
                 uint32_t rows)
{
    return wfi_spmv_rearranged_fits(caps, job, rows, s->pattern_words, s->place_count, 0);
}

/* Makes the blocks of the rows, or fewer rows until they fit. */
static wf_result make_blocks(wf_plan *plan, const wfi_spmv_job *job, wfi_csr_stream_params *params,
                             wfi_csr_stream *s)
{
    wf_device *device = wfi_plan_device(plan);
    for (;; params->rows /= 2) {
        wfi_csr_stream_measure(params, s);
        if (fits(&device->caps, s, job, params->rows))
            return wfi_csr_stream_make(params, s) == WF_SUCCESS ? WF_SUCCESS
                                                                : wfi_no_memory(&device->log);
        if (params->rows == 1)
            return wfi_spmv_row_too_long(plan, job, params->first);
    }
}

/* What the kernel of some rows is compiled for, besides the point. */
typedef struct stream_kind {
    uint32_t width, folded, scaled, alternates;
} stream_kind;

static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const stream_kind *kind, bool first, uint32_t *pipeline)
{
    const wfi_constant constants[] = {{SPMV_ID_WIDTH, kind->width},
                                      {SPMV_ID_FOLDED, kind->folded},
                                      {SPMV_ID_SCALED, kind->scaled},
                                      {SPMV_ID_ALTERNATES, kind->alternates}};
    return wfi_spmv_add_kernel(plan, point, job, constants, WFI_COUNT(constants), first, pipeline);
}

/* The host's arrays, in buffers of the plan's. */
static wf_result put_arrays(wf_plan *plan, const wfi_spmv_job *job,
                            const wfi_csr_stream_params *params, const wfi_csr_stream *s,
                            wfi_step *step)
{
    const uint32_t *offsets = job->matrix.row_offsets;
    const wf_result result =
        wfi_spmv_own(plan, job, s->pattern, s->pattern_words * 4, &step->slots[0]);
    if (result != WF_SUCCESS)
        return result;
    return wfi_spmv_values(plan, job, s->places, s->place_count, offsets[params->first],
                           offsets[params->first + params->rows], &step->slots[1]);
}

/* The step of the rows, all but its pipeline; its pattern and values are bound already. */
static wf_result make_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           const wfi_csr_stream_params *params, const wfi_csr_stream *s,
                           wfi_step *step, stream_kind *kind)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t bytes = s->pattern_words * 4 + s->place_count * wf_type_size(p->type);
    stream_push push = {.blocks = s->blocks};
    wfi_traffic traffic = {0};
    step->slot_count = 4;
    step->divisible = true;
    const wf_result result = wfi_dispatch_size(plan, s->blocks, step->groups);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[WFI_SPMV_Y_SLOT] =
        wfi_spmv_y_slot(point->caps, job, params->first, params->rows, &push.base_y);
    step->parity_at =
        wfi_spmv_put_push(p, &push, sizeof push, step) + (uint32_t)offsetof(stream_push, reversed);
    *kind = (stream_kind){s->width, step->groups[1] > 1, wfi_spmv_is_scaled(p) || push.base_y != 0,
                          bytes > ALTERNATE_BYTES};
    wfi_spmv_stream_traffic(point, s->blocks, 1u << s->width, params->rows, &traffic);
    wfi_plan_count_traffic(plan, &traffic);
    if (job->kept && !kind->scaled)
        job->kept->unscaled = true;
    return result;
}

/* The plan under construction, and its last kernel. */
typedef struct builder {
    wf_plan *plan;
    const wfi_point *point;
    const wfi_spmv_job *job;
    stream_kind kind;
    bool started; /* there is a kernel */
    uint32_t pipeline;
} builder;

/* Adds the step of the rows, whose pattern and values are bound, and its kernel where the last one
 * is another. */
static wf_result add_step(builder *b, const wfi_csr_stream_params *params, const wfi_csr_stream *s,
                          wfi_step *step)
{
    stream_kind kind = b->kind;
    wf_result result = make_step(b->plan, b->point, b->job, params, s, step, &kind);
    if (result == WF_SUCCESS && (!b->started || memcmp(&kind, &b->kind, sizeof kind) != 0))
        result = add_pipeline(b->plan, b->point, b->job, &kind, !b->started, &b->pipeline);
    step->pipeline = b->pipeline;
    if (result == WF_SUCCESS)
        result = wfi_plan_add_step(b->plan, step);
    b->started = true;
    b->kind = kind;
    return result;
}

/* Converts and adds the rows. May take fewer and says so. */
static wf_result add_rows(builder *b, wfi_csr_stream_params *params)
{
    wfi_csr_stream s = {0};
    wfi_step step = {.pipeline = 0};
    wf_result result = make_blocks(b->plan, b->job, params, &s);
    if (result == WF_SUCCESS)
        result = put_arrays(b->plan, b->job, params, &s, &step);
    if (result == WF_SUCCESS)
        result = add_step(b, params, &s, &step);
    wfi_csr_stream_free(&s);
    return result;
}

static wf_result convert(wf_device *device, const wfi_spmv_job *job,
                         const wfi_csr_stream_params *params, wfi_csr_stream_made *made)
{
    wfi_passes passes;
    wf_result result = wfi_passes_open(device, &passes);
    if (result == WF_SUCCESS)
        result = wfi_csr_stream_convert(&passes, &job->csr, params, job->kept->updatable, made);
    if (result == WF_SUCCESS && !fits(&device->caps, &made->sizes, job, params->rows))
        result = WF_NOT_READY;
    if (result == WF_SUCCESS && !made->values)
        result = wfi_device_values(&passes, &job->csr, made->places, made->sizes.place_count,
                                   &made->values);
    wfi_passes_close(&passes);
    return result;
}

/* The same for a matrix in device memory, all rows at once. */
static wf_result add_on_device(builder *b, const wfi_csr_stream_params *params)
{
    wfi_csr_stream_made made = {.pattern = NULL};
    wfi_step step = {.pipeline = 0};
    wf_result result = convert(wfi_plan_device(b->plan), b->job, params, &made);
    if (result == WF_SUCCESS)
        result = wfi_spmv_adopt(b->plan, b->job, &made.pattern, made.sizes.pattern_words * 4,
                                &step.slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_adopt_values(b->plan, b->job, &made.values, &made.places,
                                       made.sizes.place_count, &step.slots[1]);
    if (result == WF_SUCCESS)
        result = add_step(b, params, &made.sizes, &step);
    wfi_csr_stream_made_free(&made);
    return result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const uint32_t local = point->values[SPMV_ID_LOCAL_X], all = job->matrix.rows;
    wfi_csr_stream_params rows = {.matrix = &job->matrix,
                                  .rows = all,
                                  .block_entries = local * point->values[SPMV_ID_ITEMS],
                                  .block_rows = local * point->values[SPMV_ID_ROWS]};
    builder b = {.plan = plan, .point = point, .job = job};
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    if (job->csr.device)
        return add_on_device(&b, &rows);
    for (; result == WF_SUCCESS && rows.first < all; rows.first += rows.rows) {
        rows.rows = all - rows.first;
        result = add_rows(&b, &rows);
    }
    return result;
}

const wfi_variant wfi_spmv_stream = {
    WFI_SPMV_ROW(stream),
    .modules = WFI_MODULES_spmv_stream,
    .summary = "a work-group's entries in a stream, products summed by row in shared memory",
    .source = "CSR-Stream (Greathouse and Daga 2014), here in blocks of one size",
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .traits = WFI_SPMV_CONVERTS | WFI_SPMV_BY_MATRIX,
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH_OF(stream_push),
    .shared_bytes = shared_bytes,
    .fit = fit,
    .build = build,
};
