#include "tool/cli/curve.h"

#include <math.h>
#include <stdlib.h>

#include "tool/cli/sort.h"

#define SLOWER 0.95       /* of the best rate */
#define LEAST_TO_SETTLE 8 /* windows of work */

bool wfi_curve_add(wfi_curve *curve, double start, double seconds, double rate)
{
    wfi_window *last = curve->count ? &curve->windows[curve->count - 1] : NULL;
    if (last && isnan(last->rate) && isnan(rate)) {
        last->seconds = start + seconds - last->start;
        return true;
    }
    if (!curve->windows || curve->count == curve->room) {
        const uint32_t room = curve->room ? curve->room * 2 : 256;
        wfi_window *grown = realloc(curve->windows, room * sizeof *grown);
        if (!grown)
            return false;
        curve->windows = grown;
        curve->room = room;
    }
    curve->windows[curve->count++] = (wfi_window){start, seconds, rate};
    return true;
}

void wfi_curve_free(wfi_curve *curve)
{
    free(curve->windows);
    *curve = (wfi_curve){0};
}

/* The last quarter of the n rates of work; sorts them. */
static void settle(double *rates, uint32_t n, wfi_sustained *out)
{
    const uint32_t tail = n / 4;
    double *last = rates + n - tail;
    if (n < LEAST_TO_SETTLE)
        return;
    wfi_sort(last, tail);
    out->settled = tail % 2 ? last[tail / 2] : (last[tail / 2 - 1] + last[tail / 2]) / 2;
    out->settled_spread = (last[tail - 1] - last[0]) / out->settled;
}

/* From the end backwards: where the last stretch of slow windows began. */
static double slower_since(const wfi_curve *curve, double best)
{
    double since = (double)NAN;
    for (uint32_t i = curve->count; i-- > 0;) {
        const wfi_window *w = &curve->windows[i];
        if (isnan(w->rate))
            continue;
        if (w->rate >= SLOWER * best)
            break;
        since = w->start;
    }
    return since;
}

void wfi_curve_summarise(const wfi_curve *curve, wfi_sustained *out)
{
    double *rates = malloc((curve->count + 1) * sizeof *rates);
    uint32_t n = 0;
    out->windows = curve->windows;
    out->count = curve->count;
    out->first = out->best = out->settled = out->settled_spread = out->slower_at = (double)NAN;
    if (!rates)
        return;
    for (uint32_t i = 0; i < curve->count; i++)
        if (!isnan(curve->windows[i].rate))
            rates[n++] = curve->windows[i].rate;
    if (n > 0) {
        out->first = out->best = rates[0];
        for (uint32_t i = 1; i < n; i++)
            out->best = rates[i] > out->best ? rates[i] : out->best;
        settle(rates, n, out);
        out->slower_at = slower_since(curve, out->best);
    }
    free(rates);
}
