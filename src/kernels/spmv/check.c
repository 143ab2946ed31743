/* The reference of y = alpha A x + beta y and the comparison with it. An element of n entries is a
 * sum of n products, so it may be off by gamma_n times the sum of their magnitudes. */
#include <float.h>
#include <math.h>

#include "core/heap.h"
#include "core/params.h"
#include "kernels/check/bound.h"
#include "kernels/spmv/push.h"
#include "wfi_shaders.h"

/* One element of the reference; long double, so that an f64 result has a better one than itself. */
typedef struct sum {
    long double value, magnitude;
    double entries;
} sum;

static void add_products(const wf_spmv_params *p, const void *x, uint64_t x_stride, uint32_t vector,
                         sum *sums, wfi_watch *watch)
{
    const wf_type real = wfi_spmv_real(p->type);
    for (uint32_t row = 0; row < p->rows && !watch->stopped; row++) {
        for (uint32_t i = p->row_offsets[row]; i < p->row_offsets[row + 1]; i++) {
            const uint32_t column = p->column_indices[i];
            const uint64_t from = p->transpose ? row : column;
            sum *to = &sums[p->transpose ? column : row];
            const long double product = (long double)wf_element_get(p->type, p->values, i) *
                                        wf_element_get(real, x, from * x_stride + vector);
            to->value += product;
            to->magnitude += fabsl(product);
            to->entries++;
        }
        wfi_watch_goes_on(watch, UINT64_C(2) * (p->row_offsets[row + 1] - p->row_offsets[row]) + 1);
    }
}

static void check_vector(const wf_spmv_params *p, const sum *sums, uint32_t vector,
                         const void *y_before, const void *y, wf_check *check, wfi_watch *watch)
{
    const wf_type real = wfi_spmv_real(p->type);
    const uint64_t rows = p->transpose ? p->columns : p->rows;
    const uint32_t vectors = p->vectors ? p->vectors : 1;
    const uint64_t stride = p->y_stride ? p->y_stride : vectors;
    const double alpha = p->alpha ? *p->alpha : 1;
    const bool scaled = alpha < 1 || alpha > 1 || p->beta < 0 || p->beta > 0;
    for (uint64_t row = 0; row < rows && wfi_watch_goes_on(watch, 8); row++) {
        const sum *s = &sums[row];
        long double value = alpha * s->value, magnitude = fabs(alpha) * s->magnitude;
        if (p->beta < 0 || p->beta > 0) {
            const long double before =
                p->beta * (long double)wf_element_get(real, y_before, row * stride + vector);
            value += before;
            magnitude += fabsl(before);
        }
        const double n = s->entries + (scaled ? 5 : 0);
        /* The reference's own products and sums err too, where long double is not exact. */
        const double bound = (wfi_gamma(n, p->type) + n * (double)LDBL_EPSILON) * (double)magnitude;
        wfi_check_element(check, row * vectors + vector,
                          wf_element_get(real, y, row * stride + vector), value,
                          bound + wfi_underflow(n, p->type));
    }
}

wf_result wf_spmv_check_scaled(const wf_spmv_params *params, const void *x, const void *y_before,
                               const void *y, wf_check *check)
{
    static const wfi_spirv *const modules[WF_TYPE_COUNT] = WFI_MODULES_spmv_row;
    wf_spmv_params read;
    const wf_spmv_params *p = &read;
    if (wfi_params_read(&(wfi_log){0}, "wf_spmv_check", params, &read, sizeof read) != WF_SUCCESS ||
        !check || !p->row_offsets)
        return WF_ERROR_INVALID_ARGUMENT;
    const bool none = (p->transpose ? p->columns : p->rows) == 0;
    const bool unread = (p->transpose ? p->rows : p->columns) == 0;
    if ((!x && !unread) || (!y && !none) || ((p->beta < 0 || p->beta > 0) && !y_before && !none))
        return WF_ERROR_INVALID_ARGUMENT;
    if ((unsigned)p->type >= WF_TYPE_COUNT || !modules[p->type])
        return WF_ERROR_UNSUPPORTED;
    const uint64_t rows = p->transpose ? p->columns : p->rows;
    const uint32_t vectors = p->vectors ? p->vectors : 1;
    wfi_watch watch = {.cancel = p->cancel};
    *check = (wf_check){.total = rows * vectors};
    for (uint32_t vector = 0; vector < vectors && !watch.stopped; vector++) {
        sum *sums = wfi_calloc((size_t)rows + 1, sizeof *sums);
        if (!sums)
            return WF_ERROR_OUT_OF_HOST_MEMORY;
        add_products(p, x, p->x_stride ? p->x_stride : vectors, vector, sums, &watch);
        check_vector(p, sums, vector, y_before, y, check, &watch);
        wfi_free(sums);
    }
    return watch.stopped ? WF_ERROR_CANCELLED : WF_SUCCESS;
}

wf_result wf_spmv_check(const wf_spmv_params *params, const void *x, const void *y, wf_check *check)
{
    return wf_spmv_check_scaled(params, x, NULL, y, check);
}
