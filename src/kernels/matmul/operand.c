/* Operands of a matrix product as the check reads them. */
#include <math.h>
#include <string.h>

#include "kernels/matmul/check.h"

void wfi_operand_read(const wfi_operand *operand, uint64_t first, uint64_t step, uint64_t count,
                      double *out)
{
    if (operand->whole32)
        for (uint64_t i = 0, at = first; i < count; i++, at += step)
            out[i] = ((const int32_t *)operand->data)[at];
    else
        wfi_element_of(operand->type)->read(operand->data, first, step, count, out);
}

/* Numbers that are whole multiples of 2^low, of magnitude `most` or less. */
typedef struct grain {
    double most;
    int low;
    bool seen;    /* a number other than 0 */
    double scale; /* 2^-low */
} grain;

#define MOST_BITS 24 /* of a number: those that have more make no sum that cannot round */

static bool is_whole(double value)
{
    return fabs(value) <= 1 << MOST_BITS && (double)(int32_t)value == value;
}

/* False: a number has too many bits. */
static bool take(grain *g, double value)
{
    int exponent;
    if (value == 0 || (g->seen && is_whole(value * g->scale))) {
        g->most = fmax(g->most, fabs(value));
        return true;
    }
    if (!isfinite(value))
        return false;
    frexp(value, &exponent);
    if (!g->seen || exponent - 1 < g->low)
        g->low = exponent - 1;
    g->seen = true;
    g->most = fmax(g->most, fabs(value));
    while (!is_whole(ldexp(value, -g->low)))
        if (--g->low < exponent - MOST_BITS)
            return false;
    g->scale = ldexp(1, -g->low);
    return is_whole(floor(g->most * g->scale));
}

static bool take_all(const wfi_matmul_reference *w, const wfi_operand *o, uint64_t rows,
                     uint64_t columns, grain *g)
{
    const bool along = o->column == 1;
    const uint64_t lines = along ? rows : columns, length = along ? columns : rows;
    const uint64_t products = o->product ? w->batch : 1;
    if (!o->data)
        return true;
    for (uint64_t z = 0; z < products; z++)
        for (uint64_t line = 0; line < lines; line++) {
            wfi_operand_read(o, z * o->product + line * (along ? o->row : o->column), 1, length,
                             w->line);
            for (uint64_t i = 0; i < length; i++)
                if (!take(g, w->line[i]))
                    return false;
            if (!wfi_watch_goes_on(w->watch, 4 * length))
                return false;
        }
    return true;
}

/* Of products of a number of each. */
static grain times(grain x, grain y)
{
    return (grain){x.most * y.most, x.low + y.low, x.seen && y.seen, 0};
}

static grain plus(grain x, grain y)
{
    if (!x.seen || !y.seen)
        return x.seen ? x : y;
    return (grain){x.most + y.most, x.low < y.low ? x.low : y.low, true, 0};
}

double wfi_matmul_grain(const wfi_matmul_reference *w)
{
    const double room = w->type == WF_TYPE_F64 ? 0x1p53 : 0x1p24;
    grain a = {0}, b = {0}, before = {0}, bias = {0}, alpha = {0}, beta = {0};
    if (!take(&alpha, w->alpha) || !take(&beta, w->beta) ||
        (w->k && !take_all(w, &w->a, w->m, w->k, &a)) ||
        (w->k && !take_all(w, &w->b, w->k, w->n, &b)) ||
        !take_all(w, &w->before, w->m, w->n, &before) || !take_all(w, &w->bias, 1, w->n, &bias))
        return 0;
    /* f32 split in two has 11 bits in the first part, and what the second parts' product holds is
     * lost. */
    if (w->fast && (ldexp(a.most, -a.low) > 2048 || ldexp(b.most, -b.low) > 2048))
        return 0;
    grain product = times(a, b);
    product.most *= (double)w->k;
    const grain all = plus(plus(times(product, alpha), times(before, beta)), bias);
    if (product.seen && ldexp(product.most, -product.low) > room)
        return 0;
    if (!all.seen)
        return 1;
    return ldexp(all.most, -all.low) <= room && all.low > -100 && all.most < 1e30
               ? ldexp(1, all.low)
               : 0;
}
