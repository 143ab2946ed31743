/* y = A x of compressed sparse rows, in f32 or f64. */
#include <stdlib.h>

#include "tool/cases/random.h"
#include "tool/cases/vectors.h"
#include "tool/host/host.h"

typedef struct product {
    const wfi_csr *matrix;
    const void *values;
    void *x, *y;
} product;

#define MULTIPLY(name, real)                                                                       \
    static void name(void *user)                                                                   \
    {                                                                                              \
        const product *p = user;                                                                   \
        const wfi_csr *m = p->matrix;                                                              \
        const real *values = p->values, *x = p->x;                                                 \
        real *y = p->y;                                                                            \
        _Pragma("omp parallel for schedule(static, 512)") for (long long row = 0; row < m->rows;   \
                                                               row++)                              \
        {                                                                                          \
            real sum = 0;                                                                          \
            for (uint32_t i = m->row_offsets[row]; i < m->row_offsets[row + 1]; i++)               \
                sum += values[i] * x[m->column_indices[i]];                                        \
            y[row] = sum;                                                                          \
        }                                                                                          \
    }

MULTIPLY(multiply_f32, float)
MULTIPLY(multiply_f64, double)

void wfi_host_spmv(const wfi_csr *matrix, wf_type type, double seconds, uint64_t seed,
                   wfi_result_host *out)
{
    const size_t size = wf_type_size(type);
    product p = {.matrix = matrix};
    void *narrow = NULL;
    wfi_io_error error;
    void (*const multiply)(void *) = type == WF_TYPE_F64 ? multiply_f64 : multiply_f32;
    if (!wfi_host_begin(2.0 * matrix->entries, out))
        return;
    p.values = wfi_matrix_values(matrix, "", type, &narrow, &error);
    p.x = malloc(matrix->columns * size);
    p.y = malloc(matrix->rows * size);
    wf_result result = p.values && p.x && p.y ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS) {
        const wf_spmv_params params = {.size = sizeof params,
                                       .rows = matrix->rows,
                                       .columns = matrix->columns,
                                       .row_offsets = matrix->row_offsets,
                                       .column_indices = matrix->column_indices,
                                       .values = p.values,
                                       .type = type};
        wfi_random_fill(p.x, type, matrix->columns, seed);
        multiply(&p);
        result = wf_spmv_check(&params, p.x, p.y, &out->check);
    }
    if (wfi_host_verified(result, out))
        wfi_host_time(multiply, &p, seconds, out);
    free(narrow);
    free(p.x);
    free(p.y);
}
