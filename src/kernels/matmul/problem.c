/* Parameters of a matrix product: their defaults and limits, and the public calls. */
#include <limits.h>
#include <math.h>

#include "core/arithmetic.h"
#include "core/element.h"
#include "core/params.h"
#include "kernels/matmul/matmul.h"

#define MOST_EXTENT (UINT64_C(1) << 31)
#define MOST_ELEMENTS 0x1p56 /* of one matrix, all its batch: bytes then count in 64 bits */

uint64_t wfi_matmul_sum_size(wf_type type)
{
    return wfi_element_of(type)->sum_size;
}

uint64_t wfi_matmul_c_size(wf_type type, wf_matmul_output output)
{
    return output == WF_MATMUL_OUTPUT_SUMS || wfi_element_of(type)->whole
               ? wfi_matmul_sum_size(type)
               : wf_type_size(type);
}

bool wfi_matmul_multiplies(const wf_matmul_params *params)
{
    return params->k > 0 && !(params->alpha && *params->alpha == 0);
}

double wfi_matmul_flops(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)p->batch;
}

double wfi_matmul_least_bytes(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
    const double size = (double)wf_type_size(problem->type);
    const double a = (p->stride_a ? batch : 1) * m * k, b = (p->stride_b ? batch : 1) * k * n;
    return size * (a + b) +
           (double)wfi_matmul_c_size(problem->type, p->output) * batch * m * n * (p->beta ? 2 : 1);
}

wfi_matmul_sizes wfi_matmul_units_of(const wfi_matmul_problem *p)
{
    const wfi_matmul_sizes *u = &p->unit;
    return (wfi_matmul_sizes){u->m ? u->m : p->m, u->n ? u->n : p->n, u->k ? u->k : p->k,
                              u->batch ? u->batch : p->batch};
}

/* Rows and columns of a matrix as it is stored. */
typedef struct stored {
    const char *name;
    uint64_t rows, columns;
    uint64_t *ld, *stride;
} stored;

static void stored_matrices(wfi_matmul_problem *p, stored out[3])
{
    out[0] = (stored){"a", p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, &p->lda,
                      &p->stride_a};
    out[1] = (stored){"b", p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, &p->ldb,
                      &p->stride_b};
    out[2] = (stored){"c", p->m, p->n, &p->ldc, &p->stride_c};
}

static uint64_t one_extent(const stored *s)
{
    return s->rows && s->columns ? (s->rows - 1) * *s->ld + s->columns : 0;
}

void wfi_matmul_extents(const wfi_matmul_problem *p, uint64_t extents[3])
{
    wfi_matmul_problem copy = *p;
    stored matrices[3];
    stored_matrices(&copy, matrices);
    for (int i = 0; i < 3; i++) {
        const uint64_t one = one_extent(&matrices[i]);
        extents[i] = one ? (p->batch - 1) * *matrices[i].stride + one : 0;
    }
}

/* Fills in defaults of a leading dimension and a stride, and checks what was given. */
static wf_result lay_out(const wfi_log *log, const stored *s, uint64_t batch)
{
    if (*s->ld == 0)
        *s->ld = s->columns;
    if (*s->ld < s->columns)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul: ld%s is %llu, less than the %llu elements of a row", s->name,
                        (unsigned long long)*s->ld, (unsigned long long)s->columns);
    const bool shared = *s->stride == WF_STRIDE_SHARED;
    const double rows = (double)s->rows * (double)*s->ld;
    const double all = rows + (shared ? 0 : (double)(batch - 1) * fmax((double)*s->stride, rows));
    if (*s->ld > UINT32_MAX || all > MOST_ELEMENTS)
        return wfi_fail(log, WF_ERROR_TOO_LARGE, "wf_matmul: matrix %s has too many elements",
                        s->name);
    const uint64_t packed = s->rows * *s->ld;
    if (shared && s->name[0] == 'c')
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_matmul: stride_c cannot be shared");
    *s->stride = shared || batch == 1 ? 0 : *s->stride ? *s->stride : packed;
    if (s->name[0] == 'c' && batch > 1 && *s->stride < one_extent(s))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul: stride_c is %llu: products of %llu elements would overlap",
                        (unsigned long long)*s->stride, (unsigned long long)one_extent(s));
    return WF_SUCCESS;
}

static bool whole32(double value)
{
    return value >= INT32_MIN && value <= INT32_MAX && value == floor(value);
}

static wf_result check_values(const wfi_log *log, const wf_matmul_params *p)
{
    const double alpha = p->alpha ? *p->alpha : 1;
    if (p->m > MOST_EXTENT || p->n > MOST_EXTENT || p->k > MOST_EXTENT || p->batch > MOST_EXTENT)
        return wfi_fail(log, WF_ERROR_TOO_LARGE,
                        "wf_matmul: m, n, k and batch must be at most 2147483648");
    if ((unsigned)p->type >= WF_TYPE_COUNT)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_matmul: unknown type");
    if ((unsigned)p->activation > WF_ACTIVATION_GELU ||
        (unsigned)p->output > WF_MATMUL_OUTPUT_SUMS || (unsigned)p->math > WF_MATH_FAST)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul: unknown activation, output or math");
    const wfi_element *element = wfi_element_of(p->type);
    if (element->whole && p->activation == WF_ACTIVATION_GELU)
        return wfi_fail(log, WF_ERROR_UNSUPPORTED, "wf_matmul: GELU is not for %s", element->name);
    if (element->whole && !(whole32(alpha) && whole32(p->beta)))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul: alpha and beta of %s must be whole numbers of 32 bits",
                        element->name);
    if (element->real == WF_TYPE_F64 ? !isfinite(alpha) || !isfinite(p->beta)
                                     : !isfinite((float)alpha) || !isfinite((float)p->beta))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul: alpha and beta must be finite in the type of the sums");
    return WF_SUCCESS;
}

/* Takes over which sizes vary. */
static wf_result set_ranges(const wfi_log *log, const wf_matmul_params *params,
                            wfi_matmul_problem *p)
{
    const struct {
        const char *name;
        uint64_t size, unit;
    } all[] = {{"m", p->m, params->vary_m},
               {"n", p->n, params->vary_n},
               {"k", p->k, params->vary_k},
               {"batch", p->batch, params->vary_batch}};
    for (size_t i = 0; i < WFI_COUNT(all); i++) {
        if (all[i].unit && (all[i].size == 0 || all[i].size % all[i].unit))
            return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_matmul: %s is %llu, which must be a multiple of vary_%s, %llu",
                            all[i].name, (unsigned long long)all[i].size, all[i].name,
                            (unsigned long long)all[i].unit);
        p->varies |= all[i].unit != 0;
    }
    p->most = (wfi_matmul_sizes){p->m, p->n, p->k, p->batch};
    p->unit =
        (wfi_matmul_sizes){params->vary_m, params->vary_n, params->vary_k, params->vary_batch};
    return WF_SUCCESS;
}

wf_result wfi_matmul_problem_of(const wfi_log *log, const wf_matmul_params *params,
                                wfi_matmul_problem *out)
{
    wf_result result = check_values(log, params);
    if (result != WF_SUCCESS)
        return result;
    wfi_matmul_problem p = {
        .m = params->m,
        .n = params->n,
        .k = params->k,
        .lda = params->lda,
        .ldb = params->ldb,
        .ldc = params->ldc,
        .batch = params->batch ? params->batch : 1,
        .stride_a = params->stride_a,
        .stride_b = params->stride_b,
        .stride_c = params->stride_c,
        .transpose_a = params->transpose_a,
        .transpose_b = params->transpose_b,
        .beta = params->beta != 0,
        .bias = params->bias,
        .fast = params->math == WF_MATH_FAST,
        .activation = params->activation,
        .output = params->output,
    };
    stored matrices[3];
    stored_matrices(&p, matrices);
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++)
        result = lay_out(log, &matrices[i], p.batch);
    if (result == WF_SUCCESS)
        result = set_ranges(log, params, &p);
    if (result == WF_SUCCESS)
        *out = p;
    return result;
}

wfi_matmul_problem wfi_matmul_plain(uint64_t m, uint64_t n, uint64_t k)
{
    return (wfi_matmul_problem){.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n, .batch = 1};
}

void wfi_matmul_binding_bytes(const wfi_matmul_problem *p, wf_type type, bool multiplies,
                              uint64_t bytes[WF_MATMUL_BINDINGS])
{
    uint64_t extents[3];
    const bool any = p->m && p->n;
    wfi_matmul_extents(p, extents);
    bytes[WF_MATMUL_A] = any && multiplies ? extents[0] * wf_type_size(type) : 0;
    bytes[WF_MATMUL_B] = any && multiplies ? extents[1] * wf_type_size(type) : 0;
    bytes[WF_MATMUL_C] = extents[2] * wfi_matmul_c_size(type, p->output);
    bytes[WF_MATMUL_BIAS] = any && p->bias ? p->n * wfi_matmul_sum_size(type) : 0;
}

wf_result wf_matmul_bytes(const wf_matmul_params *given, uint64_t bytes[WF_MATMUL_BINDINGS])
{
    wf_matmul_params params;
    wfi_matmul_problem p;
    if (!bytes)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_params_read(NULL, "wf_matmul_bytes", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_matmul_problem_of(NULL, &params, &p);
    if (result == WF_SUCCESS)
        wfi_matmul_binding_bytes(&p, params.type, wfi_matmul_multiplies(&params), bytes);
    const wf_image images[] = {params.image_a, params.image_b, params.image_c, params.image_bias};
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++)
        if (images[i])
            bytes[i] = 0;
    return result;
}
