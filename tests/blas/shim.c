/* sgemm_, dgemm_ and hgemm_ on wavefit, for programs that were linked with another BLAS: LD_PRELOAD
 * puts them before it. Matrices are column-major there: C^T = op(B)^T op(A)^T is the row-major
 * product.
 * WAVEFIT_BLAS_FAULT scales every product, so that a tester can be seen to fail. At the end it
 * tells on standard error how many products there were. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <wavefit/wavefit.h>

#define EXPORT __attribute__((visibility("default")))

/* The program's, which the testers bring themselves. */
extern void xerbla_(const char *routine, const int *argument, size_t length);

EXPORT void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                   const float *alpha, const float *a, const int *lda, const float *b,
                   const int *ldb, const float *beta, float *c, const int *ldc);
EXPORT void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b,
                   const int *ldb, const double *beta, double *c, const int *ldc);

/* As others' libraries have it: f16 throughout, scalars too. */
EXPORT void hgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                   const uint16_t *alpha, const uint16_t *a, const int *lda, const uint16_t *b,
                   const int *ldb, const uint16_t *beta, uint16_t *c, const int *ldc);

typedef struct call {
    char ta, tb;
    int m, n, k, lda, ldb, ldc;
    double alpha, beta;
} call;

static wf_device *device;
static unsigned long products;

static void finish(void)
{
    fprintf(stderr, "wavefit: %lu products on %s\n", products, wf_device_caps(device)->name);
    wf_device_destroy(&device);
}

static void fail(const char *what, wf_result result)
{
    fprintf(stderr, "wavefit: %s: %s\n", what, wf_result_string(result));
    exit(1);
}

static void open_device(void)
{
    const wf_device_params params = {.size = sizeof params};
    const wf_result result = wf_device_create(&params, &device);
    if (result != WF_SUCCESS)
        fail("the device", result);
    atexit(finish);
}

static bool transposes(char c)
{
    return c == 'T' || c == 't' || c == 'C' || c == 'c';
}

static bool is_letter(char c)
{
    return transposes(c) || c == 'N' || c == 'n';
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The number of the first argument that is wrong, as the BLAS counts; 0: none is. */
static int wrong_argument(const call *c)
{
    const int rows_a = transposes(c->ta) ? c->k : c->m, rows_b = transposes(c->tb) ? c->n : c->k;
    if (!is_letter(c->ta))
        return 1;
    if (!is_letter(c->tb))
        return 2;
    if (c->m < 0 || c->n < 0 || c->k < 0)
        return c->m < 0 ? 3 : c->n < 0 ? 4 : 5;
    if (c->lda < larger(1, rows_a))
        return 8;
    if (c->ldb < larger(1, rows_b))
        return 10;
    return c->ldc < larger(1, c->m) ? 13 : 0;
}

static wf_result run(const wf_matmul_params *params, const void *const host[WF_MATMUL_BINDINGS],
                     void *c)
{
    wf_buffer *buffers[WF_MATMUL_BINDINGS] = {NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_plan *plan = NULL;
    wf_result result = wf_matmul_bytes(params, bytes);
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++) {
        if (bytes[i] == 0)
            continue;
        result = wf_buffer_create(device, bytes[i], WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS) /* C too: what lies between its columns stays as it is */
            result = wf_buffer_write(buffers[i], 0, host[i], bytes[i]);
        bindings.items[i].buffer = buffers[i];
    }
    if (result == WF_SUCCESS)
        result = wf_matmul_plan(device, params, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_run(plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(buffers[WF_MATMUL_C], 0, c, bytes[WF_MATMUL_C]);
    wf_plan_destroy(&plan);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        wf_buffer_destroy(&buffers[i]);
    return result;
}

static void multiply(const char *routine, wf_type type, const call *given, const void *a,
                     const void *b, void *c)
{
    const int wrong = wrong_argument(given);
    double alpha = given->alpha;
    if (wrong) {
        xerbla_(routine, &wrong, 6);
        return;
    }
    if (given->m == 0 || given->n == 0)
        return;
    if (!device)
        open_device();
    if (getenv("WAVEFIT_BLAS_FAULT"))
        alpha *= strtod(getenv("WAVEFIT_BLAS_FAULT"), NULL);
    const void *const host[WF_MATMUL_BINDINGS] = {b, a, c, NULL};
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = (uint64_t)given->n,
                                     .n = (uint64_t)given->m,
                                     .k = (uint64_t)given->k,
                                     .type = type,
                                     .transpose_a = transposes(given->tb),
                                     .transpose_b = transposes(given->ta),
                                     .lda = (uint64_t)given->ldb,
                                     .ldb = (uint64_t)given->lda,
                                     .ldc = (uint64_t)given->ldc,
                                     .alpha = &alpha,
                                     .beta = given->beta};
    const wf_result result = run(&params, host, c);
    if (result != WF_SUCCESS)
        fail(routine, result);
    products++;
}

void sgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc)
{
    const call given = {*ta, *tb, *m, *n, *k, *lda, *ldb, *ldc, (double)*alpha, (double)*beta};
    multiply("SGEMM ", WF_TYPE_F32, &given, a, b, c);
}

void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc)
{
    const call given = {*ta, *tb, *m, *n, *k, *lda, *ldb, *ldc, *alpha, *beta};
    multiply("DGEMM ", WF_TYPE_F64, &given, a, b, c);
}

void hgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const uint16_t *alpha, const uint16_t *a, const int *lda, const uint16_t *b,
            const int *ldb, const uint16_t *beta, uint16_t *c, const int *ldc)
{
    const call given = {*ta,
                        *tb,
                        *m,
                        *n,
                        *k,
                        *lda,
                        *ldb,
                        *ldc,
                        wf_element_get(WF_TYPE_F16, alpha, 0),
                        wf_element_get(WF_TYPE_F16, beta, 0)};
    multiply("HGEMM ", WF_TYPE_F16, &given, a, b, c);
}
