/* The f64 reference of the matrix product and the comparison with it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/params.h"
#include "core/random.h"
#include "kernels/matmul/check.h"

#define STRETCH 4096 /* products of a sum between two looks at the watch */

double wfi_matmul_sum_bound(const wfi_matmul_reference *w, double magnitude, double largest)
{
    const double terms = (double)w->k + 4;
    if (w->grain > 0)
        return 0;
    double bound = wfi_gamma(terms, w->type) * magnitude +
                   wfi_underflow(terms, w->type) * fmax(1, fabs(w->alpha));
    if (w->type == WF_TYPE_F64) /* the reference's own sum */
        bound += terms * (double)LDBL_EPSILON * magnitude;
    /* Split: 2^-22 of a product is lost with the wrapped of each factor and with the product of both
     * second numbers, 12 units in all; matrix units may cut off where others round, twice the error
     * of each of k additions; and what f16 has no bits for is 2^-50 of a row's largest number. */
    if (w->fast && w->type == WF_TYPE_F32)
        bound += wfi_gamma((double)w->k + 16, w->type) * magnitude +
                 0x1p-48 * (double)w->k * largest * fabs(w->alpha);
    return bound;
}

/* The product alone is in value (wide), magnitude and largest; alpha, C before and bias come here.
 */
static wfi_expected sum_of(const wfi_matmul_reference *w, uint64_t z, uint64_t row, uint64_t column,
                           long double product, double magnitude, double largest)
{
    wfi_expected e = {(long double)w->alpha * product, 0};
    double term;
    magnitude *= fabs(w->alpha);
    if (w->before.data) {
        wfi_operand_read(&w->before, z * w->before.product + row * w->before.row + column, 1, 1,
                         &term);
        e.value += (long double)w->beta * term;
        magnitude += fabs(w->beta * term);
    }
    if (w->bias.data) {
        wfi_operand_read(&w->bias, column, 1, 1, &term);
        e.value += term;
        magnitude += fabs(term);
    }
    e.bound = wfi_matmul_sum_bound(w, magnitude, largest);
    return e;
}

/* GELU by tanh, as it is defined: x (1 + tanh(u)) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3). Where
 * tanh is near -1 the sum would lose its digits, and e^2u / (1 + e^2u) is the same. */
static long double gelu_of(long double x)
{
    const long double pi = acosl(-1.0L), u = sqrtl(2 / pi) * (x + 0.044715L * x * x * x);
    if (u > -1 || isnan(u))
        return x / 2 * (1 + tanhl(u));
    const long double e = expl(2 * u);
    return e <= 0 ? 0 : x * e / (1 + e);
}

/* |gelu'| <= 1.13. With v = -2u, exp(v) is off by (3 + 2 |v|) units in the last place (the Vulkan
 * specification's bound for f32), v itself by |v| times a few rounding errors; both come through
 * 1 / (1 + exp(v)) no larger. */
static wfi_expected gelu(wfi_expected x, wf_type type)
{
    const long double value = gelu_of(x.value), far = fabsl(x.value);
    const double unit = wfi_unit_roundoff(type),
                 v = (double)fminl(2 * far * (0.8L + 0.04L * far * far), 90);
    const double own = (2 * (3 + 2 * v) + 8 * v + 16) * unit * fabs((double)value);
    const double clamped = (double)far * 1e-34;
    return (wfi_expected){value, 1.13 * x.bound + own + clamped};
}

/* One rounding to a narrow C, in either direction (Vulkan leaves f16's open). */
static wfi_expected rounded(const wfi_matmul_reference *w, wfi_expected e)
{
    uint16_t stored;
    if (!w->narrow)
        return e;
    wf_element_set(w->type, &stored, 0, (double)e.value);
    if (e.bound <= 0 && wf_element_get(w->type, &stored, 0) == (double)e.value)
        return e;
    const double magnitude = fabs((double)e.value) + e.bound;
    if (w->type == WF_TYPE_F16)
        e.bound += magnitude * 0x1p-10 + 0x1p-14;
    else
        e.bound += magnitude * 0x1p-8 + (double)FLT_MIN;
    return e;
}

static double wrapped(long double value)
{
    const long double modulus = 4294967296.0L;
    long double wrapped = fmodl(value, modulus);
    if (wrapped < -modulus / 2)
        wrapped += modulus;
    else if (wrapped >= modulus / 2)
        wrapped -= modulus;
    return (double)wrapped;
}

wfi_expected wfi_matmul_activated(const wfi_matmul_reference *w, wfi_expected e)
{
    if (w->type == WF_TYPE_I8)
        e = (wfi_expected){wrapped(e.value), 0};
    if (w->activation == WF_ACTIVATION_RELU && e.value < 0)
        e.value = 0;
    else if (w->activation == WF_ACTIVATION_GELU)
        e = gelu(e, w->type);
    return rounded(w, e);
}

/* Past f16's largest number, infinity and that number are both right. */
static bool overflows(const wfi_matmul_reference *w, wfi_expected e, double result)
{
    return w->type == WF_TYPE_F16 && w->narrow && isfinite(e.value) &&
           fabs((double)e.value) + e.bound >= 65504 && fabs(result) >= 65504 &&
           (result > 0) == (e.value > 0);
}

static void compare(const wfi_matmul_reference *w, uint64_t z, uint64_t row, uint64_t column,
                    wfi_expected sum, wf_check *check)
{
    double result;
    wfi_expected e = wfi_matmul_activated(w, sum);
    wfi_operand_read(&w->c, z * w->c.product + row * w->c.row + column, 1, 1, &result);
    if (overflows(w, e, result))
        e.value = result;
    wfi_check_element(check, (z * w->m + row) * w->n + column, result, e.value, e.bound);
}

/* The sum of products with w->row. The rounding error of an f64 sum is no matter beside an f32
 * result; of an f64 result it is. */
static void multiply_column(const wfi_matmul_reference *w, uint64_t z, uint64_t column, uint64_t at)
{
    long double wide = 0;
    double sum = 0, magnitude = 0, largest_x = 0, largest_y = 0;
    const uint64_t first = z * w->b.product + column * w->b.column;
    for (uint64_t k = 0; k < w->k; k += STRETCH) {
        const uint64_t count = w->k - k < STRETCH ? w->k - k : STRETCH;
        wfi_operand_read(&w->b, first + k * w->b.row, w->b.row, count, w->line);
        for (uint64_t i = 0; i < count; i++) {
            const double x = w->row[k + i], y = w->line[i];
            if (w->type == WF_TYPE_F64)
                wide += (long double)x * y;
            else
                sum += x * y;
            magnitude += fabs(x * y);
            largest_x = fmax(largest_x, fabs(x));
            largest_y = fmax(largest_y, fabs(y));
        }
        if (!wfi_watch_goes_on(w->watch, count))
            break;
    }
    w->value[at] = sum;
    if (w->wide)
        w->wide[at] = wide;
    w->magnitude[at] = magnitude;
    w->largest[at] = largest_x * largest_y;
}

/* All sums of a row at once, along rows of B. */
static void multiply_rows(const wfi_matmul_reference *w, uint64_t z)
{
    double largest_x = 0;
    for (uint64_t j = 0; j < w->n; j++)
        w->value[j] = w->magnitude[j] = w->largest[j] = 0;
    for (uint64_t j = 0; w->wide && j < w->n; j++)
        w->wide[j] = 0;
    for (uint64_t k = 0; k < w->k && wfi_watch_goes_on(w->watch, w->n); k++) {
        const double x = w->row[k];
        wfi_operand_read(&w->b, z * w->b.product + k * w->b.row, 1, w->n, w->line);
        largest_x = fmax(largest_x, fabs(x));
        for (uint64_t j = 0; j < w->n; j++) {
            w->value[j] += x * w->line[j];
            w->magnitude[j] += fabs(x * w->line[j]);
        }
        for (uint64_t j = 0; w->wide && j < w->n; j++)
            w->wide[j] += (long double)x * w->line[j];
        for (uint64_t j = 0; w->fast && j < w->n; j++)
            w->largest[j] = fmax(w->largest[j], fabs(w->line[j]));
    }
    for (uint64_t j = 0; j < w->n; j++)
        w->largest[j] *= largest_x;
}

static wfi_expected sum_at(const wfi_matmul_reference *w, uint64_t z, uint64_t row, uint64_t column,
                           uint64_t at)
{
    const long double product = w->wide ? w->wide[at] : (long double)w->value[at];
    return sum_of(w, z, row, column, product, w->magnitude[at], w->largest[at]);
}

static void read_row(const wfi_matmul_reference *w, uint64_t z, uint64_t row)
{
    if (w->k)
        wfi_operand_read(&w->a, z * w->a.product + row * w->a.row, w->a.column, w->k, w->row);
}

bool wfi_matmul_check_row(const wfi_matmul_reference *w, uint64_t z, uint64_t row, wf_check *check)
{
    read_row(w, z, row);
    if (w->b.column == 1)
        multiply_rows(w, z);
    for (uint64_t j = 0; j < w->n && !w->watch->stopped; j++) {
        if (w->b.column != 1)
            multiply_column(w, z, j, j);
        if (wfi_watch_goes_on(w->watch, 16))
            compare(w, z, row, j, sum_at(w, z, row, j, j), check);
    }
    return !w->watch->stopped;
}

/* False: the application asks to stop. */
static bool check_at(const wfi_matmul_reference *w, uint64_t index, wf_check *check)
{
    const uint64_t column = index % w->n, row = index / w->n % w->m, z = index / w->n / w->m;
    read_row(w, z, row);
    multiply_column(w, z, column, 0);
    if (!w->watch->stopped)
        compare(w, z, row, column, sum_at(w, z, row, column, 0), check);
    return wfi_watch_goes_on(w->watch, 16);
}

/* -------------------------------------------------------------------------------- parameters */

/* A scalar as the device gets it. */
static double received(wf_type type, double value)
{
    return type == WF_TYPE_F64 || type == WF_TYPE_I8 ? value : (double)(float)value;
}

/* Rows and columns as they are stored; the public description of leading dimensions and strides. */
static wfi_operand lies(const void *data, wf_type type, uint64_t rows, uint64_t columns,
                        uint64_t ld, uint64_t stride, bool transposed)
{
    ld = ld ? ld : columns;
    stride = stride == WF_STRIDE_SHARED ? 0 : stride ? stride : rows * ld;
    return (wfi_operand){.data = data,
                         .type = type,
                         .row = transposed ? 1 : ld,
                         .column = transposed ? ld : 1,
                         .product = stride};
}

static void read_problem(const wf_matmul_params *p, const wf_matmul_inputs *in, const void *c,
                         wfi_matmul_reference *w)
{
    const bool sums = p->output == WF_MATMUL_OUTPUT_SUMS, whole = p->type == WF_TYPE_I8;
    const wf_type sum_type = p->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    w->type = p->type;
    w->m = p->m;
    w->n = p->n;
    w->batch = p->batch ? p->batch : 1;
    w->alpha = received(p->type, p->alpha ? *p->alpha : 1);
    w->beta = received(p->type, p->beta);
    w->k = p->alpha && *p->alpha == 0 ? 0 : p->k;
    w->fast = p->math == WF_MATH_FAST;
    w->activation = p->activation;
    w->narrow = !sums && (p->type == WF_TYPE_F16 || p->type == WF_TYPE_BF16);
    w->a = lies(in->a, p->type, p->transpose_a ? p->k : p->m, p->transpose_a ? p->m : p->k, p->lda,
                p->stride_a, p->transpose_a);
    w->b = lies(in->b, p->type, p->transpose_b ? p->n : p->k, p->transpose_b ? p->k : p->n, p->ldb,
                p->stride_b, p->transpose_b);
    w->c = lies(c, w->narrow ? p->type : sum_type, p->m, p->n, p->ldc, p->stride_c, false);
    w->c.whole32 = whole;
    w->before = w->linear = w->c;
    w->before.data = p->beta != 0 ? in->c : NULL;
    w->linear.data = in->linear;
    w->bias = (wfi_operand){p->bias ? in->bias : NULL, sum_type, whole, 0, 1, 0};
}

static bool inputs_there(const wf_matmul_params *p, const wf_matmul_inputs *in, const void *c,
                         const uint64_t bytes[WF_MATMUL_BINDINGS])
{
    return (!bytes[WF_MATMUL_A] || in->a) && (!bytes[WF_MATMUL_B] || in->b) &&
           (!bytes[WF_MATMUL_BIAS] || in->bias) &&
           (!bytes[WF_MATMUL_C] || (c && (p->beta == 0 || in->c)));
}

static bool open_lines(wfi_matmul_reference *w)
{
    const size_t n = (size_t)w->n + 1, k = (size_t)w->k + 1, m = (size_t)w->m + 1;
    const size_t longest = n > k ? (n > m ? n : m) : k > m ? k : m;
    w->row = malloc(k * sizeof *w->row);
    w->line = malloc(longest * sizeof *w->line);
    w->value = malloc(n * sizeof *w->value);
    w->magnitude = malloc(n * sizeof *w->magnitude);
    w->largest = malloc(n * sizeof *w->largest);
    w->wide = w->type == WF_TYPE_F64 ? malloc(n * sizeof *w->wide) : NULL;
    return w->row && w->line && w->value && w->magnitude && w->largest &&
           (w->wide || w->type != WF_TYPE_F64);
}

static void close_lines(wfi_matmul_reference *w)
{
    free(w->row);
    free(w->line);
    free(w->value);
    free(w->magnitude);
    free(w->largest);
    free(w->wide);
}

static wf_result check_all(const wfi_matmul_reference *w, wf_check *check)
{
    for (uint64_t z = 0; z < w->batch; z++)
        for (uint64_t row = 0; row < w->m; row++)
            if (!wfi_matmul_check_row(w, z, row, check))
                return WF_ERROR_CANCELLED;
    return WF_SUCCESS;
}

/* The last element is where an edge goes wrong; the others are drawn. */
static wf_result check_some(const wfi_matmul_reference *w, uint64_t count, uint64_t seed,
                            wf_check *check)
{
    for (uint64_t n = 0; n < count; n++) {
        const uint64_t index = n == 0 ? check->total - 1 : wfi_random_bits(&seed) % check->total;
        if (!check_at(w, index, check))
            return WF_ERROR_CANCELLED;
    }
    return wfi_matmul_check_sums(w, seed, check);
}

wf_result wf_matmul_check(const wf_matmul_params *given, const wf_matmul_inputs *inputs,
                          const void *c, uint64_t max_checked, uint64_t seed, wf_check *check)
{
    wf_matmul_params params;
    wf_matmul_inputs in;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_result result = wf_matmul_bytes(given, bytes);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_params_read(NULL, "wf_matmul_check", inputs, &in, sizeof in);
    if (result != WF_SUCCESS)
        return result;
    wfi_watch watch = {.cancel = params.cancel};
    wfi_matmul_reference w = {.watch = &watch};
    if (!check || !inputs_there(&params, &in, c, bytes))
        return WF_ERROR_INVALID_ARGUMENT;
    read_problem(&params, &in, c, &w);
    const uint64_t total = w.m * w.n * w.batch;
    *check = (wf_check){.total = total};
    if (total == 0)
        return WF_SUCCESS;
    if (open_lines(&w)) {
        w.grain = w.type != WF_TYPE_I8 ? wfi_matmul_grain(&w) : 0;
        result = watch.stopped ? WF_ERROR_CANCELLED
                 : max_checked == 0 || max_checked >= total
                     ? check_all(&w, check)
                     : check_some(&w, max_checked, seed, check);
    } else {
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    close_lines(&w);
    return result;
}
