/* C = A B in f32: blocks of B that a cache holds, four rows of A at a time. */
#include <stdlib.h>
#include <string.h>

#include "tool/cases/random.h"
#include "tool/host/host.h"

#define BLOCK_K 128
#define BLOCK_N 512
#define ROWS 4

#define MOST_CHECKED (UINT64_C(1) << 28) /* multiply-adds in f64 */

typedef struct product {
    size_t m, n, k;
    float *a, *b, *c;
} product;

/* Adds A[row … row + rows][k …] B[k …][n …] to C. */
static void add_block(const product *p, size_t row, size_t rows, size_t k0, size_t k1, size_t n0,
                      size_t n1)
{
    for (size_t k = k0; k < k1; k++)
        for (size_t i = row; i < row + rows; i++) {
            const float a = p->a[i * p->k + k];
            const float *restrict b = p->b + k * p->n;
            float *restrict c = p->c + i * p->n;
            for (size_t j = n0; j < n1; j++)
                c[j] += a * b[j];
        }
}

static void multiply(void *user)
{
    const product *p = user;
    const long long strips = (long long)((p->m + ROWS - 1) / ROWS);
#pragma omp parallel for schedule(dynamic)
    for (long long strip = 0; strip < strips; strip++) {
        const size_t row = (size_t)strip * ROWS, rows = p->m - row < ROWS ? p->m - row : ROWS;
        memset(p->c + row * p->n, 0, rows * p->n * sizeof *p->c);
        for (size_t n = 0; n < p->n; n += BLOCK_N)
            for (size_t k = 0; k < p->k; k += BLOCK_K)
                add_block(p, row, rows, k, k + BLOCK_K < p->k ? k + BLOCK_K : p->k, n,
                          n + BLOCK_N < p->n ? n + BLOCK_N : p->n);
    }
}

void wfi_host_matmul(uint64_t m, uint64_t n, uint64_t k, double seconds, uint64_t seed,
                     wfi_result_host *out)
{
    product p = {(size_t)m, (size_t)n, (size_t)k, NULL, NULL, NULL};
    const wf_matmul_params params = {
        .size = sizeof params, .m = m, .n = n, .k = k, .type = WF_TYPE_F32};
    if (!wfi_host_begin(2.0 * (double)m * (double)n * (double)k, out))
        return;
    p.a = malloc(p.m * p.k * sizeof *p.a);
    p.b = malloc(p.k * p.n * sizeof *p.b);
    p.c = malloc(p.m * p.n * sizeof *p.c);
    wf_result result = p.a && p.b && p.c ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = p.a, .b = p.b};
        wfi_random_fill(p.a, WF_TYPE_F32, p.m * p.k, seed);
        wfi_random_fill(p.b, WF_TYPE_F32, p.k * p.n, seed + 1);
        multiply(&p);
        result =
            wf_matmul_check(&params, &inputs, p.c, MOST_CHECKED / (k ? k : 1), seed, &out->check);
    }
    if (wfi_host_verified(result, out))
        wfi_host_time(multiply, &p, seconds, out);
    free(p.a);
    free(p.b);
    free(p.c);
}
