#include "io/csr.h"

#include <stdlib.h>
#include <string.h>

#include "io/memory.h"

#define FIRST_ROOM 1024
#define TRIPLET_BYTES (2 * sizeof(uint32_t) + sizeof(double))
#define STRETCH (1u << 18) /* entries between two questions whether to stop */

static bool stopped(const wfi_triplets *t, size_t done)
{
    return done % STRETCH == STRETCH - 1 && t->stopped && t->stopped();
}

static bool make_room(wfi_triplets *t, size_t room)
{
    if ((double)room * TRIPLET_BYTES > wfi_physical_memory())
        return false;
    uint32_t *rows = realloc(t->rows, room * sizeof *rows);
    t->rows = rows ? rows : t->rows;
    uint32_t *columns = realloc(t->columns, room * sizeof *columns);
    t->columns = columns ? columns : t->columns;
    double *values = realloc(t->values, room * sizeof *values);
    t->values = values ? values : t->values;
    if (!rows || !columns || !values)
        return false;
    t->room = room;
    return true;
}

bool wfi_triplets_add(wfi_triplets *t, uint32_t row, uint32_t column, double value)
{
    if (t->count == t->room && !make_room(t, t->room ? t->room * 2 : FIRST_ROOM))
        return false;
    if (t->count == UINT32_MAX || stopped(t, t->count))
        return false;
    t->rows[t->count] = row;
    t->columns[t->count] = column;
    t->values[t->count++] = value;
    return true;
}

bool wfi_triplets_make_room(wfi_triplets *t, size_t count)
{
    return count <= UINT32_MAX && (count <= t->room || make_room(t, count));
}

void wfi_triplets_put(wfi_triplets *t, size_t at, const wfi_triplets *more)
{
    if (more->count == 0)
        return;
    memcpy(t->rows + at, more->rows, more->count * sizeof *t->rows);
    memcpy(t->columns + at, more->columns, more->count * sizeof *t->columns);
    memcpy(t->values + at, more->values, more->count * sizeof *t->values);
}

void wfi_triplets_free(wfi_triplets *t)
{
    free(t->rows);
    free(t->columns);
    free(t->values);
    *t = (wfi_triplets){0};
}

/* order[i]: the triplets by ascending column, equal ones as they were added. A counting sort. False
 * without memory or when stopped. */
static bool sort_by_columns(const wfi_triplets *t, uint32_t columns, uint32_t *order)
{
    uint32_t *counts = calloc((size_t)columns + 1, sizeof *counts);
    bool ok = counts != NULL;
    for (size_t i = 0; ok && i < t->count; i++)
        counts[t->columns[i] + 1]++;
    for (uint32_t column = 0; ok && column < columns; column++)
        counts[column + 1] += counts[column];
    for (size_t i = 0; ok && i < t->count; i++) {
        order[counts[t->columns[i]]++] = (uint32_t)i;
        ok = !stopped(t, i);
    }
    free(counts);
    return ok;
}

/* Puts the triplets, whose columns ascend in the order (NULL: as they were added), where their rows
 * are; equal places keep their order. row_offsets are zeros before. False when stopped. */
static bool scatter(const wfi_triplets *t, const uint32_t *order, wfi_csr *csr)
{
    uint32_t *const next =
        csr->row_offsets + 1; /* where each row's next entry goes, less one row */
    for (size_t i = 0; i < t->count; i++)
        next[t->rows[i]]++;
    uint32_t begin = 0;
    for (uint32_t row = 0; row < csr->rows; row++) {
        const uint32_t count = next[row];
        next[row] = begin;
        begin += count;
    }
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t item = order ? order[i] : (uint32_t)i;
        if (stopped(t, i))
            return false;
        const uint32_t at = next[t->rows[item]]++;
        csr->column_indices[at] = t->columns[item];
        csr->values[at] = t->values[item];
    }
    return true;
}

/* Adds up the entries of one place. False when stopped. */
static bool merge(const wfi_triplets *t, wfi_csr *csr)
{
    uint32_t n = 0, i = 0;
    for (uint32_t row = 0; row < csr->rows; row++) {
        const uint32_t end = csr->row_offsets[row + 1], first = n;
        for (; i < end; i++) {
            if (stopped(t, i))
                return false;
            if (n > first && csr->column_indices[n - 1] == csr->column_indices[i]) {
                csr->values[n - 1] += csr->values[i];
                continue;
            }
            csr->column_indices[n] = csr->column_indices[i];
            csr->values[n++] = csr->values[i];
        }
        csr->row_offsets[row + 1] = n;
    }
    csr->entries = n;
    return true;
}

/* Whether columns ascend as the triplets were added, at least within each row: they do in files
 * that were written column by column or row by row. */
static bool ascend(const wfi_triplets *t)
{
    bool columns = true, rows = true;
    for (size_t i = 1; i < t->count && (columns || rows); i++) {
        const bool back = t->columns[i - 1] > t->columns[i];
        columns = columns && !back;
        rows = rows && (t->rows[i - 1] < t->rows[i] || (t->rows[i - 1] == t->rows[i] && !back));
    }
    return columns || rows;
}

double wfi_csr_fixed_bytes(uint32_t rows, uint32_t columns)
{
    /* Offsets, and counts of rows and of columns one after the other. */
    const double counts = rows > columns ? rows : columns;
    return ((double)rows + counts + 4) * sizeof(uint32_t);
}

double wfi_csr_bytes(double triplets, uint32_t rows, uint32_t columns)
{
    /* The order by columns and the result beside the triplets. */
    return triplets * (2 * TRIPLET_BYTES + sizeof(uint32_t)) + wfi_csr_fixed_bytes(rows, columns);
}

/* Whether the triplets are a matrix row by row, with no place twice. */
static bool is_in_rows(const wfi_triplets *t)
{
    for (size_t i = 1; i < t->count; i++)
        if (t->rows[i - 1] > t->rows[i] ||
            (t->rows[i - 1] == t->rows[i] && t->columns[i - 1] >= t->columns[i]))
            return false;
    return t->count > 0;
}

/* The triplets' own columns and values are the matrix'. */
static bool take_rows(wfi_triplets *t, uint32_t rows, uint32_t columns, wfi_csr *out)
{
    uint32_t *const row_offsets = calloc((size_t)rows + 1, sizeof *row_offsets);
    if (!row_offsets)
        return false;
    for (size_t i = 0; i < t->count; i++)
        row_offsets[t->rows[i] + 1]++;
    for (uint32_t row = 0; row < rows; row++)
        row_offsets[row + 1] += row_offsets[row];
    *out = (wfi_csr){.rows = rows,
                     .columns = columns,
                     .entries = (uint32_t)t->count,
                     .row_offsets = row_offsets,
                     .column_indices = t->columns,
                     .values = t->values};
    t->columns = NULL;
    t->values = NULL;
    return true;
}

bool wfi_csr_from_triplets(wfi_triplets *t, uint32_t rows, uint32_t columns, wfi_csr *out)
{
    wfi_csr csr = {.rows = rows, .columns = columns};
    if (wfi_csr_bytes((double)t->count, rows, columns) > wfi_physical_memory())
        return false;
    if (is_in_rows(t))
        return take_rows(t, rows, columns, out);
    const bool sorted = ascend(t);
    uint32_t *order = sorted ? NULL : malloc((t->count + 1) * sizeof *order);
    csr.row_offsets = calloc((size_t)rows + 1, sizeof *csr.row_offsets);
    csr.column_indices = malloc((t->count + 1) * sizeof *csr.column_indices);
    csr.values = malloc((t->count + 1) * sizeof *csr.values);
    const bool ok = (sorted || order) && csr.row_offsets && csr.column_indices && csr.values &&
                    (sorted || sort_by_columns(t, columns, order)) && scatter(t, order, &csr) &&
                    merge(t, &csr);
    if (ok)
        *out = csr;
    else
        wfi_csr_free(&csr);
    free(order);
    return ok;
}

void wfi_csr_free(wfi_csr *csr)
{
    free(csr->row_offsets);
    free(csr->column_indices);
    free(csr->values);
    *csr = (wfi_csr){0};
}
