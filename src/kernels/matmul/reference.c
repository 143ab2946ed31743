/* The f64 reference of the matrix product, element by element, and the comparison with it. */
#include <float.h>
#include <math.h>

#include "core/heap.h"
#include "kernels/matmul/check.h"

#define STRETCH 4096        /* products of a sum between two looks at the watch */
#define PART_OPERATIONS 2e6 /* of a part: a few milliseconds, beside what a thread costs */
#define PARTS_BYTES 6.4e7   /* of memory that all parts take */

bool wfi_matmul_open_part(const wfi_matmul_reference *w, wfi_matmul_reference *part)
{
    const size_t n = (size_t)w->n + 1, k = (size_t)w->k + 1, m = (size_t)w->m + 1;
    const size_t longest = n > k ? (n > m ? n : m) : k > m ? k : m;
    *part = *w;
    part->row = wfi_malloc(k * sizeof *part->row);
    part->line = wfi_malloc(longest * sizeof *part->line);
    part->value = wfi_malloc(n * sizeof *part->value);
    part->magnitude = wfi_malloc(n * sizeof *part->magnitude);
    part->largest = wfi_malloc(n * sizeof *part->largest);
    part->wide = w->type == WF_TYPE_F64 ? wfi_malloc(n * sizeof *part->wide) : NULL;
    return part->row && part->line && part->value && part->magnitude && part->largest &&
           (part->wide || w->type != WF_TYPE_F64);
}

void wfi_matmul_close_part(wfi_matmul_reference *part)
{
    wfi_free(part->row);
    wfi_free(part->line);
    wfi_free(part->value);
    wfi_free(part->magnitude);
    wfi_free(part->largest);
    wfi_free(part->wide);
}

uint32_t wfi_matmul_check_parts(const wfi_matmul_reference *w, double operations, double bytes)
{
    const double m = (double)w->m, n = (double)w->n, k = (double)w->k,
                 lines = sizeof(double) * (k + fmax(fmax(m, n), k) + 5 * n),
                 most = fmin(WFI_MATMUL_CHECK_PARTS, PARTS_BYTES / (lines + bytes + 1));
    return (uint32_t)fmax(fmin(operations / PART_OPERATIONS, most), 1);
}

double wfi_matmul_sum_bound(const wfi_matmul_reference *w, double magnitude, double largest)
{
    const double terms = (double)w->k + 4;
    if (w->grain > 0)
        return 0;
    double bound = wfi_gamma(terms, w->type) * magnitude +
                   wfi_underflow(terms, w->type) * fmax(1, fabs(w->alpha));
    if (w->type == WF_TYPE_F64) /* the reference's own sum */
        bound += terms * (double)LDBL_EPSILON * magnitude;
    /* f16x2: what two f16 do not hold of each factor, and the product of both second numbers, lose
     * 2^-22 of a product each, 12 units in all. Matrix units may cut off where others round, twice
     * the error of each of k additions. What f16 has no bits for is 2^-50 of a row's largest
     * number. */
    if (w->fast && w->type == WF_TYPE_F32)
        bound += wfi_gamma((double)w->k + 16, w->type) * magnitude +
                 0x1p-48 * (double)w->k * largest * fabs(w->alpha);
    return bound;
}

/* The sum of C from the product alone: alpha, C before and bias are added. */
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
    uint64_t stored;
    if (!w->narrow)
        return e;
    w->element->set(&stored, (double)e.value);
    if (e.bound <= 0 && w->element->get(&stored) == (double)e.value)
        return e;
    const double magnitude = fabs((double)e.value) + e.bound;
    e.bound += magnitude * w->element->rounding + w->element->underflow;
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
    if (w->element->whole)
        e = (wfi_expected){wrapped(e.value), 0};
    if (w->activation == WF_ACTIVATION_RELU && e.value < 0)
        e.value = 0;
    else if (w->activation == WF_ACTIVATION_GELU)
        e = gelu(e, w->type);
    return rounded(w, e);
}

/* The largest number that C holds: of its type, or of the sums where those have no larger one. */
static double largest_of(const wfi_matmul_reference *w)
{
    if (w->narrow && isfinite(w->element->largest))
        return w->element->largest;
    if (w->element->whole)
        return INFINITY;
    return w->element->real == WF_TYPE_F64 ? DBL_MAX : (double)FLT_MAX;
}

/* Past the largest number, infinity and that number are both right. */
static bool overflows(const wfi_matmul_reference *w, wfi_expected e, double result)
{
    const double largest = largest_of(w);
    return isfinite(largest) && isfinite(e.value) && fabs((double)e.value) + e.bound >= largest &&
           fabs(result) >= largest && (result > 0) == (e.value > 0);
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

/* Sums the products of w->row and a column of B. The rounding error of an f64 sum does not matter
 * beside an f32 result; beside an f64 result it does, so that is summed in long double. */
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

/* Sums elements `from` to `to` - 1 of a row of C at once, along the rows of B. */
static void multiply_rows(const wfi_matmul_reference *w, uint64_t z, uint64_t from, uint64_t to)
{
    const uint64_t count = to - from;
    double largest_x = 0;
    for (uint64_t j = 0; j < count; j++)
        w->value[j] = w->magnitude[j] = w->largest[j] = 0;
    for (uint64_t j = 0; w->wide && j < count; j++)
        w->wide[j] = 0;
    for (uint64_t k = 0; k < w->k && wfi_watch_goes_on(w->watch, count); k++) {
        const double x = w->row[k];
        wfi_operand_read(&w->b, z * w->b.product + k * w->b.row + from, 1, count, w->line);
        largest_x = fmax(largest_x, fabs(x));
        for (uint64_t j = 0; j < count; j++) {
            w->value[j] += x * w->line[j];
            w->magnitude[j] += fabs(x * w->line[j]);
        }
        for (uint64_t j = 0; w->wide && j < count; j++)
            w->wide[j] += (long double)x * w->line[j];
        for (uint64_t j = 0; w->fast && j < count; j++)
            w->largest[j] = fmax(w->largest[j], fabs(w->line[j]));
    }
    for (uint64_t j = 0; j < count; j++)
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

bool wfi_matmul_check_row(const wfi_matmul_reference *w, uint64_t z, uint64_t row, uint64_t from,
                          uint64_t to, wf_check *check)
{
    read_row(w, z, row);
    if (w->b.column == 1)
        multiply_rows(w, z, from, to);
    for (uint64_t j = from; j < to && !w->watch->stopped; j++) {
        if (w->b.column != 1)
            multiply_column(w, z, j, j - from);
        if (wfi_watch_goes_on(w->watch, 16))
            compare(w, z, row, j, sum_at(w, z, row, j, j - from), check);
    }
    return !w->watch->stopped;
}

bool wfi_matmul_check_one(const wfi_matmul_reference *w, uint64_t index, wf_check *check)
{
    const uint64_t column = index % w->n, row = index / w->n % w->m, z = index / w->n / w->m;
    read_row(w, z, row);
    multiply_column(w, z, column, 0);
    if (!w->watch->stopped)
        compare(w, z, row, column, sum_at(w, z, row, column, 0), check);
    return wfi_watch_goes_on(w->watch, 16);
}
