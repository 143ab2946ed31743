/* The f64 reference of the matrix product and the comparison with it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/random.h"
#include "core/params.h"
#include "kernels/bound.h"
#include "kernels/matmul_rows.h"

#define STRETCH 4096 /* products of a sum between two looks at the watch */

typedef struct comparison {
    wf_type type;
    wfi_matmul_problem p;
    double alpha, beta;
    const wf_matmul_inputs *in;
    const void *c;
    wfi_watch *watch;
} comparison;

/* An element of the reference: its value, and a bound of |computed - value|. */
typedef struct expected {
    long double value;
    double bound;
} expected;

static double input_a(const comparison *w, uint64_t z, uint64_t row, uint64_t k)
{
    const wfi_matmul_problem *p = &w->p;
    return wf_element_get(w->type, w->in->a,
                          z * p->stride_a + (p->transpose_a ? k * p->lda + row : row * p->lda + k));
}

static double input_b(const comparison *w, uint64_t z, uint64_t k, uint64_t column)
{
    const wfi_matmul_problem *p = &w->p;
    return wf_element_get(w->type, w->in->b,
                          z * p->stride_b +
                              (p->transpose_b ? column * p->ldb + k : k * p->ldb + column));
}

/* A sum or an element of C, as f64. */
static double sum_at(wf_type type, const void *data, uint64_t index)
{
    if (type == WF_TYPE_I8) {
        int32_t sum;
        memcpy(&sum, (const char *)data + index * sizeof sum, sizeof sum);
        return sum;
    }
    return wf_element_get(type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32, data, index);
}

static double c_at(const comparison *w, const void *c, uint64_t index)
{
    return w->type == WF_TYPE_I8 || w->p.output == WF_MATMUL_OUTPUT_SUMS
               ? sum_at(w->type, c, index)
               : wf_element_get(w->type, c, index);
}

/* The rounding error of an f64 sum is no matter beside an f32 result; of an f64 result it is. */
static long double product_at(const comparison *w, uint64_t z, uint64_t row, uint64_t column,
                              double *magnitude, double *largest)
{
    double largest_x = 0, largest_y = 0;
    long double wide = 0;
    double sum = 0;
    *magnitude = 0;
    for (uint64_t i = 0; i < w->p.k; i++) {
        if (i % STRETCH == STRETCH - 1 && !wfi_watch_goes_on(w->watch, STRETCH))
            break;
        const double x = input_a(w, z, row, i), y = input_b(w, z, i, column);
        if (w->type == WF_TYPE_F64)
            wide += (long double)x * y;
        else
            sum += x * y;
        *magnitude += fabs(x * y);
        largest_x = fmax(largest_x, fabs(x));
        largest_y = fmax(largest_y, fabs(y));
    }
    *largest = largest_x * largest_y;
    return w->type == WF_TYPE_F64 ? wide : (long double)sum;
}

static expected sum_of(const comparison *w, uint64_t z, uint64_t row, uint64_t column)
{
    const wfi_matmul_problem *p = &w->p;
    double magnitude = 0, largest = 0;
    expected e = {0, 0};
    if (p->k)
        e.value = (long double)w->alpha * product_at(w, z, row, column, &magnitude, &largest);
    magnitude *= fabs(w->alpha);
    if (p->beta) {
        const double old = c_at(w, w->in->c, z * p->stride_c + row * p->ldc + column);
        e.value += (long double)w->beta * old;
        magnitude += fabs(w->beta * old);
    }
    if (p->bias) {
        const double bias = sum_at(w->type, w->in->bias, column);
        e.value += bias;
        magnitude += fabs(bias);
    }
    e.bound = wfi_gamma((double)p->k + 4, w->type) * magnitude +
              wfi_underflow((double)p->k + 4, w->type) * fmax(1, fabs(w->alpha));
    /* Split: 2^-22 of a product is lost with the rest of each factor and with the product of both
     * second numbers, 12 units in all; matrix units may cut off where others round, twice the error of
     * each of k additions; and what f16 has no bits for is 2^-50 of a row's largest number. */
    if (p->fast && w->type == WF_TYPE_F32)
        e.bound += wfi_gamma((double)p->k + 16, w->type) * magnitude +
                   0x1p-48 * (double)p->k * largest * fabs(w->alpha);
    return e;
}

/* |gelu'| <= 1.13. With v = -2u, exp(v) is off by (3 + 2 |v|) units in the last place (the Vulkan
 * specification's bound for f32), v itself by |v| times a few rounding errors; both come through
 * 1 / (1 + exp(v)) no larger. */
static expected gelu(expected x, wf_type type)
{
    const long double u2 =
        x.value * (1.5957691216057308L + 0.07135481627159536L * x.value * x.value);
    const long double value = isinf(x.value) && x.value < 0 ? 0 : x.value / (1 + expl(-u2));
    const double unit = wfi_unit_roundoff(type), v = fmin(fabs((double)u2), 90);
    const double own = (2 * (3 + 2 * v) + 8 * v + 16) * unit * fabs((double)value);
    const double clamped = fabs((double)x.value) * 1e-34;
    return (expected){value, 1.13 * x.bound + own + clamped};
}

/* One rounding to a narrow C, in either direction (Vulkan leaves f16's open). */
static expected rounded(const comparison *w, expected e)
{
    if (w->p.output == WF_MATMUL_OUTPUT_SUMS)
        return e;
    const double magnitude = fabs((double)e.value) + e.bound;
    if (w->type == WF_TYPE_F16)
        e.bound += magnitude * 0x1p-10 + 0x1p-14;
    else if (w->type == WF_TYPE_BF16)
        e.bound += magnitude * 0x1p-8 + (double)FLT_MIN;
    return e;
}

static double wrapped(long double value)
{
    const long double turn = 4294967296.0L;
    long double rest = fmodl(value, turn);
    if (rest < -turn / 2)
        rest += turn;
    else if (rest >= turn / 2)
        rest -= turn;
    return (double)rest;
}

static expected expect(const comparison *w, uint64_t z, uint64_t row, uint64_t column)
{
    expected e = sum_of(w, z, row, column);
    if (w->type == WF_TYPE_I8)
        e = (expected){wrapped(e.value), 0};
    if (w->p.activation == WF_ACTIVATION_RELU && e.value < 0)
        e.value = 0;
    else if (w->p.activation == WF_ACTIVATION_GELU)
        e = gelu(e, w->type);
    return rounded(w, e);
}

/* Past f16's largest number, infinity and that number are both right. */
static bool overflows(const comparison *w, expected e, double result)
{
    return w->type == WF_TYPE_F16 && w->p.output == WF_MATMUL_OUTPUT_TYPE && isfinite(e.value) &&
           fabs((double)e.value) + e.bound >= 65504 && fabs(result) >= 65504 &&
           (result > 0) == (e.value > 0);
}

/* False: the application asks to stop. */
static bool check_at(const comparison *w, uint64_t index, wf_check *check)
{
    const wfi_matmul_problem *p = &w->p;
    const uint64_t column = index % p->n, row = index / p->n % p->m, z = index / p->n / p->m;
    const double result = c_at(w, w->c, z * p->stride_c + row * p->ldc + column);
    expected e = expect(w, z, row, column);
    if (overflows(w, e, result))
        e.value = result;
    wfi_check_element(check, index, result, e.value, e.bound);
    return wfi_watch_goes_on(w->watch, p->k % STRETCH + 16);
}

static bool inputs_there(const comparison *w, const uint64_t bytes[WF_MATMUL_BINDINGS])
{
    return (!bytes[WF_MATMUL_A] || w->in->a) && (!bytes[WF_MATMUL_B] || w->in->b) &&
           (!bytes[WF_MATMUL_BIAS] || w->in->bias) &&
           (!bytes[WF_MATMUL_C] || (w->c && (!w->p.beta || w->in->c)));
}

/* A scalar as the device gets it. */
static double received(wf_type type, double value)
{
    return type == WF_TYPE_F64 || type == WF_TYPE_I8 ? value : (double)(float)value;
}

wf_result wf_matmul_check(const wf_matmul_params *given, const wf_matmul_inputs *inputs,
                          const void *c, uint64_t max_checked, uint64_t seed, wf_check *check)
{
    wfi_watch watch = {0};
    comparison w = {.watch = &watch};
    wf_matmul_params params;
    wf_matmul_inputs in;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_result result = wf_matmul_bytes(given, bytes);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", inputs, &in, sizeof in);
    if (result == WF_SUCCESS)
        result = wfi_matmul_problem_of(NULL, &params, &w.p);
    if (result != WF_SUCCESS)
        return result;
    watch.cancel = params.cancel;
    w.type = params.type;
    w.in = &in;
    w.c = c;
    w.alpha = received(w.type, params.alpha ? *params.alpha : 1);
    w.beta = received(w.type, params.beta);
    if (!check || !inputs_there(&w, bytes))
        return WF_ERROR_INVALID_ARGUMENT;
    if (!wfi_matmul_multiplies(&params))
        w.p.k = 0;
    const uint64_t total = w.p.m * w.p.n * w.p.batch;
    *check = (wf_check){.total = total};
    const bool all = max_checked == 0 || max_checked >= total;
    /* The last element is where an edge goes wrong; the others are drawn. */
    for (uint64_t n = 0; n < (all ? total : max_checked); n++) {
        const uint64_t index = all ? n : n == 0 ? total - 1 : wfi_random_bits(&seed) % total;
        if (!check_at(&w, index, check))
            return WF_ERROR_CANCELLED;
    }
    return WF_SUCCESS;
}
