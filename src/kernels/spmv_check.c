/* The f64 reference of y = A x and the comparison with it. A row of n entries is a sum of n
 * products: its bound is gamma_n times the sum of their magnitudes. */
#include <float.h>
#include <math.h>

#include "kernels/bound.h"

static double element(const void *data, wf_type type, uint64_t index)
{
    return type == WF_TYPE_F64 ? ((const double *)data)[index]
                               : (double)((const float *)data)[index];
}

wf_result wf_spmv_check(const wf_spmv_params *params, const void *x, const void *y, wf_check *check)
{
    const wf_spmv_params *p = params;
    if (!p || p->size < sizeof *p || !x || !y || !check || !p->row_offsets)
        return WF_ERROR_INVALID_ARGUMENT;
    if (p->type != WF_TYPE_F32 && p->type != WF_TYPE_F64)
        return WF_ERROR_UNSUPPORTED;
    *check = (wf_check){.total = p->rows};
    for (uint32_t row = 0; row < p->rows; row++) {
        /* long double, so that an f64 result has a better reference than itself */
        long double sum = 0, magnitude = 0;
        for (uint32_t i = p->row_offsets[row]; i < p->row_offsets[row + 1]; i++) {
            const long double product = (long double)element(p->values, p->type, i) *
                                        element(x, p->type, p->column_indices[i]);
            sum += product;
            magnitude += fabsl(product);
        }
        const double n = (double)(p->row_offsets[row + 1] - p->row_offsets[row]);
        /* The reference's own n products and sums err too, where long double is not exact. */
        const double bound = (wfi_gamma(n, p->type) + n * (double)LDBL_EPSILON) * (double)magnitude;
        wfi_check_element(check, row, element(y, p->type, row), sum,
                          bound + wfi_underflow(n, p->type));
    }
    return WF_SUCCESS;
}
