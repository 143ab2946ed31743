/* The f64 reference of the matrix product and the comparison with it. */
#include <math.h>

#include "kernels/bound.h"

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void check_at(const wf_matmul_params *p, const float *a, const float *b, const float *c,
                     uint64_t index, wf_check *check)
{
    const uint64_t row = index / p->n, column = index % p->n;
    double sum = 0, magnitude = 0;
    for (uint64_t i = 0; i < p->k; i++) {
        const double product = (double)a[row * p->k + i] * (double)b[i * p->n + column];
        sum += product;
        magnitude += fabs(product);
    }
    const double bound =
        wfi_gamma((double)p->k, p->type) * magnitude + wfi_underflow((double)p->k, p->type);
    wfi_check_element(check, index, (double)c[index], sum, bound);
}

wf_result wf_matmul_check(const wf_matmul_params *params, const void *a, const void *b,
                          const void *c, uint64_t max_checked, uint64_t seed, wf_check *check)
{
    if (!params || params->size < sizeof *params || !a || !b || !c || !check)
        return WF_ERROR_INVALID_ARGUMENT;
    if (params->type != WF_TYPE_F32)
        return WF_ERROR_UNSUPPORTED;
    const uint64_t total = params->m * params->n;
    *check = (wf_check){.total = total};
    if (max_checked == 0 || max_checked >= total) {
        for (uint64_t i = 0; i < total; i++)
            check_at(params, a, b, c, i, check);
        return WF_SUCCESS;
    }
    /* The last element is where an edge goes wrong; the others are drawn. */
    check_at(params, a, b, c, total - 1, check);
    for (uint64_t n = 1; n < max_checked; n++)
        check_at(params, a, b, c, next_random(&seed) % total, check);
    return WF_SUCCESS;
}
