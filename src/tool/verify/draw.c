#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/random.h"
#include "tool/verify/verify.h"

uint64_t wfi_draw_below(wfi_verifier *v, uint64_t n)
{
    return n ? (wfi_random_bits(&v->state) >> 8) % n : 0;
}

bool wfi_draw_chance(wfi_verifier *v, uint32_t percent)
{
    return wfi_draw_below(v, 100) < percent;
}

double wfi_draw_uniform(wfi_verifier *v, double low, double high)
{
    return low + (high - low) * (double)(wfi_random_bits(&v->state) >> 11) * 0x1p-53;
}

uint64_t wfi_draw_size(wfi_verifier *v, uint64_t most)
{
    uint64_t size = 0;
    switch (wfi_draw_below(v, 4)) {
    case 0:
        size = 1 + wfi_draw_below(v, 17);
        break;
    case 1: { /* a multiple of a power of two, or one beside it */
        const uint64_t power = UINT64_C(8) << wfi_draw_below(v, 5);
        size = power * (1 + wfi_draw_below(v, 3)) + wfi_draw_below(v, 3) - 1;
        break;
    }
    default:
        size = 1 + wfi_draw_below(v, 1 + wfi_draw_below(v, most));
    }
    return size > most ? most : size;
}

double wfi_draw_factor(wfi_verifier *v, bool zero, bool whole)
{
    static const double factors[] = {-1, 2, -3, 0, 1, 0.5, -0.75, 1.0 / 3, 1e-3};
    if (wfi_draw_chance(v, 60))
        return zero ? 0 : 1;
    return factors[wfi_draw_below(v, whole ? 5 : WFI_COUNT(factors))];
}

wfi_numbers wfi_draw_numbers(wfi_verifier *v)
{
    return wfi_draw_chance(v, 50) ? WFI_NUMBERS_UNIFORM : (wfi_numbers)wfi_draw_below(v, 4);
}

uint64_t wfi_draw_extent(wfi_verifier *v, uint64_t least, uint64_t most)
{
    return wfi_draw_chance(v, 50) ? most : least + wfi_draw_below(v, most - least + 1);
}

const char *wfi_numbers_name(wfi_numbers numbers)
{
    static const char *const names[] = {"numbers between -1 and 1", "1 and -1", "whole numbers",
                                        "numbers of magnitudes 2^-6 to 2^6"};
    return names[numbers];
}

double wfi_draw_number(wfi_verifier *v, wfi_numbers numbers)
{
    switch (numbers) {
    case WFI_NUMBERS_SIGNS:
        return wfi_draw_chance(v, 50) ? 1 : -1;
    case WFI_NUMBERS_WHOLE:
        return (double)wfi_draw_below(v, 7) - 3;
    case WFI_NUMBERS_SPREAD:
        return ldexp(wfi_draw_uniform(v, -1, 1), (int)wfi_draw_below(v, 13) - 6);
    default:
        return wfi_draw_uniform(v, -1, 1);
    }
}

void wfi_verify_say(wfi_verifier *v, const char *format, ...)
{
    char *problem = v->verdict->problem;
    const size_t used = strlen(problem), room = sizeof v->verdict->problem;
    va_list args;
    va_start(args, format);
    vsnprintf(problem + used, room - used, format, args);
    va_end(args);
}

void wfi_verify_at(const wfi_verifier *v)
{
    if (v->listener)
        v->listener->at(v->listener->user);
}
