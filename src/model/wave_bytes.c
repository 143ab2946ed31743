#include "model/wave_bytes.h"

#include <math.h>

/* Rows and columns of tiles that the work-groups from `first` to `last` touch. Those of one strip,
 * `swizzle` rows of tiles high, go down a column of it before the next. */
static void touched(const wf_tile_order *o, uint64_t first, uint64_t last, double *rows,
                    double *columns)
{
    const uint64_t height = o->swizzle ? o->swizzle : 1, strip = height * o->columns;
    uint64_t row_count = 0, column_count = 0;
    for (uint64_t s = first / strip; s <= last / strip && s * height < o->rows; s++) {
        const uint64_t left = o->rows - s * height, high = left < height ? left : height;
        const uint64_t from = s == first / strip ? first % strip : 0;
        const uint64_t to = s == last / strip ? last % strip : high * o->columns - 1;
        row_count += to - from + 1 < high ? to - from + 1 : high;
        column_count += to / high - from / high + 1;
    }
    *rows = (double)row_count;
    *columns = fmin((double)column_count, (double)o->columns);
}

double wfi_wave_bytes(const wf_tile_order *order, double at_once)
{
    const uint64_t tiles = order->rows * order->columns;
    const uint64_t wave = at_once < (double)tiles ? (uint64_t)at_once : tiles;
    double bytes = (double)tiles * order->tile_bytes;
    if (wave == 0)
        return 0;
    for (uint64_t first = 0; first < tiles; first += wave) {
        double rows, columns;
        touched(order, first, (first + wave < tiles ? first + wave : tiles) - 1, &rows, &columns);
        bytes += rows * order->row_bytes + columns * order->column_bytes;
    }
    return bytes * (double)order->batch;
}
