#include "tool/cases/bench_matrices.h"

#include "tool/cli/progress.h"
#include "tool/cases/random.h"

/* Adds a grid point's row. */
static bool add_point(wfi_triplets *t, int n, int x, int y, int z)
{
    const int row = (z * n + y) * n + x;
    bool ok = true;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int i = x + dx, j = y + dy, k = z + dz;
                if (i < 0 || j < 0 || k < 0 || i >= n || j >= n || k >= n)
                    continue;
                ok = ok && wfi_triplets_add(t, (uint32_t)row, (uint32_t)((k * n + j) * n + i),
                                            dx || dy || dz ? -1.0 : 26.0);
            }
    return ok;
}

static bool finish(wfi_triplets *t, bool ok, uint32_t rows, wfi_csr *out)
{
    ok = ok && wfi_csr_from_triplets(t, rows, rows, out);
    wfi_triplets_free(t);
    return ok;
}

bool wfi_make_poisson27(uint32_t n, wfi_csr *out)
{
    wfi_triplets t = {.stopped = wfi_interrupt_noted};
    bool ok = true;
    for (int z = 0; z < (int)n && ok; z++)
        for (int y = 0; y < (int)n && ok; y++)
            for (int x = 0; x < (int)n && ok; x++)
                ok = add_point(&t, (int)n, x, y, z);
    return finish(&t, ok, n * n * n, out);
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
