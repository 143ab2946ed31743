#include "tool/cases/bench_matrices.h"

#include <stdlib.h>

#include "io/memory.h"
#include "tool/cli/console.h"
#include "tool/cases/random.h"

/* Adds the entries of a grid point's row. */
static void add_point(wfi_csr *csr, uint32_t n, const uint32_t at[3])
{
    const uint32_t first[3] = {at[0] ? at[0] - 1 : 0, at[1] ? at[1] - 1 : 0, at[2] ? at[2] - 1 : 0},
                   row = (at[2] * n + at[1]) * n + at[0];
    for (uint32_t k = first[2]; k <= at[2] + 1 && k < n; k++)
        for (uint32_t j = first[1]; j <= at[1] + 1 && j < n; j++)
            for (uint32_t i = first[0]; i <= at[0] + 1 && i < n; i++) {
                const uint32_t column = (k * n + j) * n + i;
                csr->column_indices[csr->entries] = column;
                csr->values[csr->entries++] = column == row ? 26.0 : -1.0;
            }
    csr->row_offsets[row + 1] = csr->entries;
}

/* Its rows come in order: there is nothing to sort. */
bool wfi_make_poisson27(uint32_t n, wfi_csr *out)
{
    const uint64_t rows = (uint64_t)n * n * n, side = n ? 3 * (uint64_t)n - 2 : 0,
                   entries = side * side * side;
    wfi_csr csr = {.rows = (uint32_t)rows, .columns = (uint32_t)rows};
    bool ok = (double)entries * 12 + (double)rows * 4 <= wfi_physical_memory();
    csr.row_offsets = ok ? calloc((size_t)rows + 1, sizeof *csr.row_offsets) : NULL;
    csr.column_indices = ok ? malloc((size_t)(entries + 1) * sizeof *csr.column_indices) : NULL;
    csr.values = ok ? malloc((size_t)(entries + 1) * sizeof *csr.values) : NULL;
    ok = csr.row_offsets && csr.column_indices && csr.values;
    for (uint32_t z = 0; z < n && ok; z++) {
        for (uint32_t y = 0; y < n; y++)
            for (uint32_t x = 0; x < n; x++)
                add_point(&csr, n, (const uint32_t[3]){x, y, z});
        ok = !wfi_interrupt_noted();
    }
    if (ok)
        *out = csr;
    else
        wfi_csr_free(&csr);
    return ok;
}

static bool finish(wfi_triplets *t, bool ok, uint32_t rows, wfi_csr *out)
{
    ok = ok && wfi_csr_from_triplets(t, rows, rows, out);
    wfi_triplets_free(t);
    return ok;
}

static bool add_point5(wfi_triplets *t, uint32_t n, uint32_t x, uint32_t y)
{
    const uint32_t row = y * n + x;
    bool ok = wfi_triplets_add(t, row, row, 4.0);
    ok = ok && (x == 0 || wfi_triplets_add(t, row, row - 1, -1.0));
    ok = ok && (x + 1 == n || wfi_triplets_add(t, row, row + 1, -1.0));
    ok = ok && (y == 0 || wfi_triplets_add(t, row, row - n, -1.0));
    return ok && (y + 1 == n || wfi_triplets_add(t, row, row + n, -1.0));
}

bool wfi_make_poisson5(uint32_t n, wfi_csr *out)
{
    wfi_triplets t = {.stopped = wfi_interrupt_noted};
    bool ok = true;
    for (uint32_t y = 0; y < n && ok; y++)
        for (uint32_t x = 0; x < n && ok; x++)
            ok = add_point5(&t, n, x, y);
    return finish(&t, ok, n * n, out);
}

/* A value in [-1, 1) other than 0. */
static double random_value(uint64_t *seed)
{
    return ((double)(wfi_random_bits(seed) >> 40) + 0.5) * 0x1p-23 - 1.0;
}

bool wfi_make_uniform(uint32_t rows, uint32_t per_row, uint64_t seed, wfi_csr *out)
{
    wfi_triplets t = {.stopped = wfi_interrupt_noted};
    bool ok = true;
    for (uint32_t row = 0; row < rows && ok; row++)
        for (uint32_t i = 0; i < per_row && ok; i++) {
            const uint32_t column = (uint32_t)(wfi_random_bits(&seed) % rows);
            ok = wfi_triplets_add(&t, row, column, random_value(&seed));
        }
    return finish(&t, ok, rows, out);
}

bool wfi_make_rmat(uint32_t scale, uint64_t seed, wfi_csr *out)
{
    const uint64_t entries = UINT64_C(16) << scale;
    wfi_triplets t = {.stopped = wfi_interrupt_noted};
    bool ok = true;
    for (uint64_t n = 0; n < entries && ok; n++) {
        uint32_t row = 0, column = 0;
        for (uint32_t level = 0; level < scale; level++) {
            const uint64_t percent = (wfi_random_bits(&seed) >> 11) % 100;
            row = row * 2 + (percent >= 76);
            column = column * 2 + ((percent >= 57 && percent < 76) || percent >= 95);
        }
        ok = wfi_triplets_add(&t, row, column, random_value(&seed));
    }
    return finish(&t, ok, UINT32_C(1) << scale, out);
}
