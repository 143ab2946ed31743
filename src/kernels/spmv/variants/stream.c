/* Variant stream: blocks of neighbouring rows, all with room for as many entries and rows, so that
 * a work-group knows where its data lies without loading it; entries stand in the order of the
 * matrix, without padding between rows. The words of a block: its first row, its rows, the lowest
 * column and a zero; 16 bits a row that say where it begins in the block, and where the last one
 * ends; columns as 16-bit distances from the lowest, or whole. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/spmv/build.h"
#include "kernels/spmv/cost.h"
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

/* --------------------------------------------------------------------------------------- format */

#define HEAD_WORDS 4
/* Matrices of fewer bytes are in every cache whole, and need no reversed executions. */
#define ALTERNATE_BYTES (UINT64_C(4) << 20)

/* As in spmv_stream.comp, behind alpha and beta. */
typedef struct stream_push {
    uint32_t blocks, base_y, reversed;
} stream_push;

_Static_assert(sizeof(stream_push) == 12, "members lie as in spmv_stream.comp");

typedef struct stream {
    uint32_t block_entries, block_rows; /* at most; the entries are a multiple of 4, below 65536 */
    uint32_t width, stride;             /* 8 << width bits a column; words a block */
    uint32_t blocks;
    uint32_t *pattern, *places;
} stream;

static void free_stream(stream *s)
{
    wfi_free(s->pattern);
    wfi_free(s->places);
    s->pattern = s->places = NULL;
}

/* Rows of the block that begins at row `at`; no row is longer than a block. */
static uint32_t rows_of(const wf_spmv_params *p, const stream *s, uint32_t at, uint32_t end)
{
    uint32_t rows = 0;
    while (at + rows < end && rows < s->block_rows &&
           p->row_offsets[at + rows + 1] - p->row_offsets[at] <= s->block_entries)
        rows++;
    return rows;
}

static uint32_t lowest_column(const wf_spmv_params *p, uint32_t at, uint32_t rows, uint32_t *span)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = p->row_offsets[at]; i < p->row_offsets[at + rows]; i++) {
        low = p->column_indices[i] < low ? p->column_indices[i] : low;
        high = p->column_indices[i] > high ? p->column_indices[i] : high;
    }
    *span = low <= high ? high - low : 0;
    return low <= high ? low : 0;
}

/* Counts blocks, and how wide their columns are. */
static void measure(const wf_spmv_params *p, uint32_t first, uint32_t rows, stream *s)
{
    s->blocks = 0;
    s->width = 1;
    for (uint32_t at = first; at < first + rows; s->blocks++) {
        const uint32_t taken = rows_of(p, s, at, first + rows);
        uint32_t span;
        lowest_column(p, at, taken, &span);
        if (span > UINT16_MAX)
            s->width = 2;
        at += taken;
    }
    s->stride = HEAD_WORDS + s->block_rows / 2 + 4 + (s->block_entries << s->width) / 4;
}

static void put_half(uint32_t *words, uint32_t at, uint32_t value)
{
    words[at / 2] |= value << at % 2 * 16;
}

/* A block; row `first` is y's first. */
static void fill_block(const wf_spmv_params *p, stream *s, uint32_t number, uint32_t first,
                       uint32_t at, uint32_t rows)
{
    uint32_t *head = s->pattern + (size_t)number * s->stride, *begins = head + HEAD_WORDS;
    uint32_t *columns = begins + s->block_rows / 2 + 4, span;
    uint32_t *places = s->places + (size_t)number * s->block_entries;
    const uint32_t begin = p->row_offsets[at], entries = p->row_offsets[at + rows] - begin;
    const uint32_t low = lowest_column(p, at, rows, &span), base = s->width == 1 ? low : 0;
    const uint32_t words[HEAD_WORDS] = {at - first, rows, base, 0};
    memcpy(head, words, sizeof words);
    for (uint32_t row = 0; row <= s->block_rows; row++)
        put_half(begins, row, row < rows ? p->row_offsets[at + row] - begin : entries);
    for (uint32_t i = 0; i < s->block_entries; i++) {
        const uint32_t column = i < entries ? p->column_indices[begin + i] : low;
        if (s->width == 1)
            put_half(columns, i, column - base);
        else
            columns[i] = column;
        places[i] = i < entries ? begin + i : UINT32_MAX;
    }
}

static bool make(const wf_spmv_params *p, uint32_t first, uint32_t rows, stream *s)
{
    s->pattern = wfi_calloc((size_t)s->blocks * s->stride + 1, sizeof *s->pattern);
    s->places = wfi_malloc(((size_t)s->blocks * s->block_entries + 1) * sizeof *s->places);
    uint32_t number = 0;
    for (uint32_t at = first; s->pattern && s->places && at < first + rows; number++) {
        const uint32_t taken = rows_of(p, s, at, first + rows);
        fill_block(p, s, number, first, at, taken);
        at += taken;
    }
    return s->pattern && s->places;
}

/* Makes the blocks of the rows, or fewer rows until they fit. */
static wf_result fit_rows(wf_plan *plan, const wfi_spmv_job *job, uint32_t first, uint32_t *rows,
                          stream *s)
{
    wf_device *device = wfi_plan_device(plan);
    for (;; *rows /= 2) {
        measure(&job->matrix, first, *rows, s);
        if (wfi_spmv_rearranged_fits(&device->caps, job, *rows, (uint64_t)s->blocks * s->stride,
                                     (uint64_t)s->blocks * s->block_entries, 0))
            return make(&job->matrix, first, *rows, s) ? WF_SUCCESS : wfi_no_memory(&device->log);
        if (*rows == 1)
            return wfi_spmv_row_too_long(plan, job, first);
    }
}

/* --------------------------------------------------------------------------------------- build */

/* What the kernel of a block of rows is compiled for, besides the point. */
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

/* The step of the rows, all but its pipeline. */
static wf_result make_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                           uint32_t first, uint32_t rows, const stream *s, wfi_step *step,
                           stream_kind *kind)
{
    const wf_spmv_params *p = &job->matrix;
    const uint64_t places = (uint64_t)s->blocks * s->block_entries;
    const uint64_t bytes = (uint64_t)s->blocks * s->stride * 4 + places * wf_type_size(p->type);
    stream_push push = {.blocks = s->blocks};
    wfi_traffic traffic = {0};
    *step = (wfi_step){.slot_count = 4, .divisible = true};
    wf_result result = wfi_dispatch_size(plan, s->blocks, step->groups);
    if (result == WF_SUCCESS)
        result = wfi_spmv_own(plan, job, s->pattern, (uint64_t)s->blocks * s->stride * 4,
                              &step->slots[0]);
    if (result == WF_SUCCESS)
        result = wfi_spmv_values(plan, job, s->places, places, p->row_offsets[first],
                                 p->row_offsets[first + rows], &step->slots[1]);
    step->slots[WFI_SPMV_X_SLOT] = wfi_spmv_x_slot(job);
    step->slots[WFI_SPMV_Y_SLOT] = wfi_spmv_y_slot(point->caps, job, first, rows, &push.base_y);
    step->parity_at =
        wfi_spmv_put_push(p, &push, sizeof push, step) + (uint32_t)offsetof(stream_push, reversed);
    *kind = (stream_kind){s->width, step->groups[1] > 1, wfi_spmv_is_scaled(p) || push.base_y != 0,
                          bytes > ALTERNATE_BYTES};
    wfi_spmv_stream_traffic(point, s->blocks, 1u << s->width, rows, &traffic);
    wfi_plan_count_traffic(plan, &traffic);
    if (job->kept && !kind->scaled)
        job->kept->unscaled = true;
    return result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_spmv_job *job = params;
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    uint32_t pipeline = 0, rows;
    stream_kind made = {0};
    wf_result result = WF_SUCCESS;
    wfi_plan_bind_sets(plan); /* pushing them takes the device 0.27 us a product on an H100 */
    for (uint32_t first = 0; result == WF_SUCCESS && first < job->matrix.rows; first += rows) {
        stream s = {.block_entries = local * point->values[SPMV_ID_ITEMS],
                    .block_rows = local * point->values[SPMV_ID_ROWS]};
        wfi_step step = {0};
        stream_kind kind = made;
        rows = job->matrix.rows - first;
        result = fit_rows(plan, job, first, &rows, &s);
        if (result == WF_SUCCESS)
            result = make_step(plan, point, job, first, rows, &s, &step, &kind);
        if (result == WF_SUCCESS && (first == 0 || memcmp(&kind, &made, sizeof kind) != 0))
            result = add_pipeline(plan, point, job, &kind, first == 0, &pipeline);
        step.pipeline = pipeline;
        if (result == WF_SUCCESS)
            result = wfi_plan_add_step(plan, &step);
        made = kind;
        free_stream(&s);
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
    .storage_buffers = 4,
    .push_bytes = WFI_SPMV_PUSH_OF(stream_push),
    .shared_bytes = shared_bytes,
    .fit = fit,
    .build = build,
};
