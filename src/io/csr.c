#include "io/csr.h"

#include <stdlib.h>

#include "io/memory.h"

#define FIRST_ROOM 1024
#define TRIPLET_BYTES (2 * sizeof(uint32_t) + sizeof(double))
#define STRETCH (1u << 18) /* entries between two questions whether to stop */

static bool stopped(const wfi_triplets *t, size_t done)
{
    return done % STRETCH == STRETCH - 1 && t->stopped && t->stopped();
}

bool wfi_triplets_add(wfi_triplets *t, uint32_t row, uint32_t column, double value)
{
    if (t->count == t->room) {
        const size_t room = t->room ? t->room * 2 : FIRST_ROOM;
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
    }
    if (t->count == UINT32_MAX || stopped(t, t->count))
        return false;
    t->rows[t->count] = row;
    t->columns[t->count] = column;
    t->values[t->count++] = value;
    return true;
}

void wfi_triplets_free(wfi_triplets *t)
{
    free(t->rows);
    free(t->columns);
    free(t->values);
    *t = (wfi_triplets){0};
}

/* order[i]: the triplets by ascending key, equal keys in their order in `from` (NULL: as added). A
 * counting sort; counts has keys + 1 zeros. False when stopped. */
static bool sort_counted(const wfi_triplets *t, const uint32_t *key, uint32_t keys,
                         const uint32_t *from, uint32_t *counts, uint32_t *order)
{
    for (size_t i = 0; i < t->count; i++)
        counts[key[i] + 1]++;
    for (uint32_t k = 0; k < keys; k++)
        counts[k + 1] += counts[k];
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t item = from ? from[i] : (uint32_t)i;
        if (stopped(t, i))
            return false;
        order[counts[key[item]]++] = item;
    }
    return true;
}

/* The same with counts of its own; false without memory too. */
static bool sort_by(const wfi_triplets *t, const uint32_t *key, uint32_t keys, const uint32_t *from,
                    uint32_t *order)
{
    uint32_t *counts = calloc((size_t)keys + 2, sizeof *counts);
    const bool ok = counts && sort_counted(t, key, keys, from, counts, order);
    free(counts);
    return ok;
}

/* Copies the sorted triplets out, adding up those of one place. False when stopped. */
static bool merge(const wfi_triplets *t, const uint32_t *order, wfi_csr *csr)
{
    uint32_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t item = order[i];
        if (stopped(t, i))
            return false;
        const uint32_t row = t->rows[item];
        if (n > 0 && csr->row_offsets[row + 1] > 0 &&
            csr->column_indices[n - 1] == t->columns[item]) {
            csr->values[n - 1] += t->values[item];
            continue;
        }
        csr->column_indices[n] = t->columns[item];
        csr->values[n++] = t->values[item];
        csr->row_offsets[row + 1]++;
    }
    csr->entries = n;
    for (uint32_t row = 0; row < csr->rows; row++)
        csr->row_offsets[row + 1] += csr->row_offsets[row];
    return true;
}

double wfi_csr_fixed_bytes(uint32_t rows, uint32_t columns)
{
    /* Offsets, and counts of rows and of columns one after the other. */
    const double counts = rows > columns ? rows : columns;
    return ((double)rows + counts + 4) * sizeof(uint32_t);
}

bool wfi_csr_from_triplets(const wfi_triplets *t, uint32_t rows, uint32_t columns, wfi_csr *out)
{
    wfi_csr csr = {.rows = rows, .columns = columns};
    /* Two orders and the result beside the triplets; offsets and counts. */
    const double bytes = (double)t->count * (2 * TRIPLET_BYTES + 2 * sizeof(uint32_t)) +
                         wfi_csr_fixed_bytes(rows, columns);
    if (bytes > wfi_physical_memory())
        return false;
    uint32_t *by_column = calloc(t->count + 1, sizeof *by_column);
    uint32_t *by_row = calloc(t->count + 1, sizeof *by_row);
    csr.row_offsets = calloc((size_t)rows + 1, sizeof *csr.row_offsets);
    csr.column_indices = calloc(t->count + 1, sizeof *csr.column_indices);
    csr.values = malloc((t->count + 1) * sizeof *csr.values);
    const bool ok = by_column && by_row && csr.row_offsets && csr.column_indices && csr.values &&
                    sort_by(t, t->columns, columns, NULL, by_column) &&
                    sort_by(t, t->rows, rows, by_column, by_row) && merge(t, by_row, &csr);
    if (ok)
        *out = csr;
    else
        wfi_csr_free(&csr);
    free(by_column);
    free(by_row);
    return ok;
}

void wfi_csr_free(wfi_csr *csr)
{
    free(csr->row_offsets);
    free(csr->column_indices);
    free(csr->values);
    *csr = (wfi_csr){0};
}
