#include "kernels/spmv/traffic.h"

#include <math.h>

#include "kernels/spmv/cost.h"
#include "kernels/spmv/variant.h"

#define INDEX_BYTES 4.0
#define OFFSETS_BYTES 8.0 /* where a row begins and ends */
#define HEAD_BYTES 16.0   /* of a block of stream */

/* A value as kernels on rows load it: f16 is in words of two. */
static double value_bytes(const wfi_point *point)
{
    return fmax((double)wf_type_size(point->problem->type), 4);
}

static double real_bytes(const wfi_point *point)
{
    return (double)wfi_spmv_real_bytes(point);
}

/* An entry's index and value, and the element of x that it multiplies. */
static double entry_bytes(const wfi_point *point)
{
    return INDEX_BYTES + value_bytes(point) + real_bytes(point);
}

/* ----------------------------------------------------------------------------------- whole rows */

void wfi_spmv_count_traffic(const wfi_point *point, double items_a_row, wfi_traffic *out)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double rows = (double)p->rows, vectors = wfi_spmv_vectors_of(point);
    out->stored = vectors * rows * real_bytes(point);
    out->requested =
        vectors * ((double)p->entries * entry_bytes(point) + rows * items_a_row * OFFSETS_BYTES) +
        out->stored;
}

void wfi_spmv_row_traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_count_traffic(point, 1, out);
}

void wfi_spmv_lanes_traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_count_traffic(point, wfi_point_value(point, SPMV_ID_LANES, 1), out);
}

/* A work-item of each right-hand side reads every entry of its share of a row. */
void wfi_spmv_many_traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_spmv_lanes_traffic(point, out);
}

/* A work-item reads an entry once for its block of right-hand sides. */
void wfi_spmv_row_many_traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double rows = (double)p->rows, entries = (double)p->entries;
    const double vectors = wfi_spmv_vectors_of(point), real = real_bytes(point);
    const double blocks = ceil(vectors / point->values[SPMV_ID_COLUMNS]);
    out->stored = vectors * rows * real;
    out->requested =
        blocks * (entries * (INDEX_BYTES + value_bytes(point)) + rows * OFFSETS_BYTES) +
        vectors * entries * real + out->stored;
}

/* ---------------------------------------------------------------------------------- single rows */

/* Puts entries and elements of y beside what *out has, which is of one right-hand side. */
static void add_rows(const wfi_point *point, double entries, double rows, wfi_traffic *out)
{
    const double vectors = wfi_spmv_vectors_of(point), y = rows * real_bytes(point);
    out->stored = vectors * (out->stored + y);
    out->requested = vectors * (out->requested + entries * entry_bytes(point) + y);
}

void wfi_spmv_mean_traffic(const wfi_point *point, wfi_spmv_row_fn add_row, wfi_traffic *out)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double rows = (double)p->rows;
    add_row(point, (uint32_t)(p->mean_row + 0.5), out);
    out->requested *= rows;
    out->stored *= rows;
    add_rows(point, (double)p->entries, rows, out);
}

void wfi_spmv_rows_traffic(const wfi_point *point, wfi_spmv_row_fn add_row, const uint32_t *offsets,
                           uint32_t rows, wfi_traffic *out)
{
    for (uint32_t row = 0; row < rows; row++)
        add_row(point, offsets[row + 1] - offsets[row], out);
    add_rows(point, (double)offsets[rows] - offsets[0], rows, out);
}

/* ---------------------------------------------------------------------------------------- merge */

/* The rows that end before the diagonal of the path, as `search` of spmv_merge.comp finds them:
 * half of a work-group's items look at one row's end each, until there is nothing between. *loads
 * gets the ends that they load added. */
static uint32_t search(const uint32_t *offsets, uint32_t rows, uint64_t diagonal, uint32_t probes,
                       double *loads)
{
    const uint64_t entries = offsets[rows] - offsets[0];
    uint64_t from = diagonal > entries ? diagonal - entries : 0;
    uint64_t to = diagonal < rows ? diagonal : rows;
    while (from < to) {
        const uint64_t all = (to - from + probes - 1) / probes, step = all ? all : 1;
        const uint64_t looked = (to - from + step - 1) / step;
        uint64_t passed = 0, not_passed = looked;
        while (passed < not_passed) { /* probes pass up to one of them and none behind it */
            const uint64_t probe = (passed + not_passed) / 2, at = from + probe * step;
            if (offsets[at + 1] - offsets[0] + at < diagonal)
                passed = probe + 1;
            else
                not_passed = probe;
        }
        *loads += (double)looked;
        const uint64_t begin = from, end = from + passed * step;
        from = passed ? begin + (passed - 1) * step + 1 : begin;
        to = end < to ? end : to;
    }
    return (uint32_t)from;
}

/* What is left of rows that go on in the next work-group, as spmv_merge_fix.comp adds it. */
typedef struct carries {
    uint32_t rows, before; /* of the matrix; the row of the carry before */
    double bytes, stored;
} carries;

/* A work-item looks at its carry's row and the one before it; the first of a row adds up all that
 * the row has, until it sees another row, and changes y. */
static void add_carry(carries *c, uint32_t row, bool first_group, double sum_bytes)
{
    const bool other = first_group || row != c->before;
    c->bytes += INDEX_BYTES;
    if (other && !first_group && c->before < c->rows)
        c->bytes += INDEX_BYTES;
    c->before = row;
    if (row >= c->rows)
        return;
    c->bytes += (first_group ? 0 : INDEX_BYTES) + INDEX_BYTES + sum_bytes;
    c->bytes += other ? 2 * sum_bytes : 0;
    c->stored += other ? sum_bytes : 0;
}

void wfi_spmv_merge_traffic(const wfi_point *point, const uint32_t *offsets, uint32_t rows,
                            wfi_traffic *out)
{
    const uint64_t entries = offsets[rows] - offsets[0], all = rows + entries;
    const uint32_t local = point->values[SPMV_ID_LOCAL_X];
    const uint64_t piece = (uint64_t)local * point->values[SPMV_ID_ITEMS];
    const double real = real_bytes(point);
    carries left = {.rows = rows};
    double searched = 0;
    uint64_t groups = 0;
    for (uint64_t first = 0; first < all; first += piece, groups++) {
        const uint64_t last = first + piece < all ? first + piece : all;
        search(offsets, rows, first, local / 2, &searched);
        const uint32_t row = search(offsets, rows, last, local / 2, &searched);
        add_carry(&left, row, first == 0, real);
    }
    const double carried = (double)groups * WFI_SPMV_CARRY_BYTES;
    out->stored = (double)rows * real + carried + left.stored;
    out->requested = (double)entries * entry_bytes(point) + (double)rows * (INDEX_BYTES + real) +
                     searched * INDEX_BYTES + carried + left.bytes;
}

/* -------------------------------------------------------------------------------------- formats */

void wfi_spmv_blocked_traffic(const wfi_point *point, uint64_t block_rows, uint64_t blocks,
                              uint64_t rows, wfi_traffic *out)
{
    const double side = point->values[SPMV_ID_BLOCK], lanes = point->values[SPMV_ID_LANES];
    const double block = INDEX_BYTES + side * side * value_bytes(point) + side * real_bytes(point);
    const double vectors = wfi_spmv_vectors_of(point);
    out->stored = vectors * (double)rows * real_bytes(point);
    out->requested =
        vectors * ((double)blocks * block + (double)block_rows * lanes * OFFSETS_BYTES) +
        out->stored;
}

/* Every work-item reads its block's head, and where each of its rows begins and ends. */
void wfi_spmv_stream_traffic(const wfi_point *point, uint64_t blocks, uint32_t column_bytes,
                             uint64_t rows, wfi_traffic *out)
{
    const double local = point->values[SPMV_ID_LOCAL_X];
    const double size = (double)wf_type_size(point->problem->type), real = real_bytes(point);
    const double items = point->values[SPMV_ID_ITEMS] * (column_bytes + size + real);
    const double begins = point->values[SPMV_ID_ROWS] * OFFSETS_BYTES;
    out->stored = (double)rows * real;
    out->requested = (double)blocks * local * (HEAD_BYTES + begins + items) + out->stored;
}
