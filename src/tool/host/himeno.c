/* Himeno's relaxation: the loop of the benchmark's C program, with the new p copied back. */
#include <stdlib.h>
#include <string.h>

#include "tool/host/host.h"

#define CHECKED_ITERATIONS 3
#define CHECKED_CELLS 20000

enum { A0, A1, A2, A3, B0, B1, B2, C0, C1, C2, WRK1, BND, COEFFICIENTS };

typedef struct grid {
    size_t ni, nj, nk;
    float *p, *next, *c[COEFFICIENTS];
    float gosa;
} grid;

/* One row of inner cells from `row`, its border cell; returns its part of gosa. */
static float relax_row(const grid *g, size_t row)
{
    const size_t j = g->ni, k = g->ni * g->nj;
    const float *const *c = (const float *const *)g->c;
    float gosa = 0;
    for (size_t x = row + 1; x < row + g->ni - 1; x++) {
        const float *p = g->p + x;
        const float s0 = c[A0][x] * *(p + 1) + c[A1][x] * *(p + j) + c[A2][x] * *(p + k) +
                         c[B0][x] * (*(p + j + 1) - *(p - j + 1) - *(p + j - 1) + *(p - j - 1)) +
                         c[B1][x] * (*(p + k + j) - *(p - k + j) - *(p + k - j) + *(p - k - j)) +
                         c[B2][x] * (*(p + k + 1) - *(p - k + 1) - *(p + k - 1) + *(p - k - 1)) +
                         c[C0][x] * *(p - 1) + c[C1][x] * *(p - j) + c[C2][x] * *(p - k) +
                         c[WRK1][x];
        const float ss = (s0 * c[A3][x] - *p) * c[BND][x];
        gosa += ss * ss;
        g->next[x] = *p + 0.8f * ss;
    }
    return gosa;
}

static void relax(void *user)
{
    grid *g = user;
    const size_t plane = g->ni * g->nj;
    const long long planes = (long long)g->nk - 1;
    double gosa = 0;
#pragma omp parallel for reduction(+ : gosa)
    for (long long k = 1; k < planes; k++)
        for (size_t j = 1; j + 1 < g->nj; j++)
            gosa += (double)relax_row(g, (size_t)k * plane + j * g->ni);
#pragma omp parallel for
    for (long long k = 1; k < planes; k++)
        for (size_t j = 1; j + 1 < g->nj; j++) {
            const size_t row = (size_t)k * plane + j * g->ni + 1;
            memcpy(g->p + row, g->next + row, (g->ni - 2) * sizeof *g->p);
        }
    g->gosa = (float)gosa;
}

static bool make(grid *g)
{
    static const float values[COEFFICIENTS] = {1, 1, 1, 1.0f / 6, 0, 0, 0, 1, 1, 1, 0, 1};
    const size_t plane = g->ni * g->nj, cells = plane * g->nk;
    const long long planes = (long long)g->nk;
    bool whole = true;
    g->p = malloc(cells * sizeof *g->p);
    g->next = malloc(cells * sizeof *g->next);
    for (int m = 0; m < COEFFICIENTS; m++)
        whole &= (g->c[m] = malloc(cells * sizeof *g->c[m])) != NULL;
    if (!whole || !g->p || !g->next)
        return false;
    const float last = (float)(g->nk - 1);
#pragma omp parallel for
    for (long long k = 0; k < planes; k++)
        for (size_t x = (size_t)k * plane; x < (size_t)(k + 1) * plane; x++) {
            g->p[x] = g->next[x] = (float)k * (float)k / (last * last);
            for (int m = 0; m < COEFFICIENTS; m++)
                g->c[m][x] = values[m];
        }
    return true;
}

static wf_result verify(grid *g, uint64_t seed, wfi_result_host *out)
{
    const wf_himeno_params params = {
        .size = sizeof params, .ni = (uint32_t)g->ni, .nj = (uint32_t)g->nj, .nk = (uint32_t)g->nk};
    double gosa_error = 0;
    for (int i = 0; i < CHECKED_ITERATIONS; i++)
        relax(g);
    const wf_result result = wf_himeno_check(&params, NULL, CHECKED_ITERATIONS, g->p, g->gosa,
                                             CHECKED_CELLS, seed, &out->check, &gosa_error);
    if (!(gosa_error <= out->check.error_over_bound))
        out->check.error_over_bound = gosa_error;
    return result;
}

void wfi_host_himeno(uint32_t ni, uint32_t nj, uint32_t nk, double seconds, uint64_t seed,
                     wfi_result_host *out)
{
    grid g = {.ni = ni, .nj = nj, .nk = nk};
    if (!wfi_host_begin(34.0 * ni * nj * nk, out))
        return;
    const wf_result result = make(&g) ? verify(&g, seed, out) : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (wfi_host_verified(result, out))
        wfi_host_time(relax, &g, seconds, out);
    free(g.p);
    free(g.next);
    for (int m = 0; m < COEFFICIENTS; m++)
        free(g.c[m]);
}
