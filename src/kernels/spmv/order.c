#include "kernels/spmv/order.h"

#include <stdlib.h>

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void wfi_order_rows(uint64_t *keys, uint32_t count, uint32_t window)
{
    for (uint32_t at = 0; window > 1 && at < count;) {
        const uint32_t left = count - at, sorted = left < window ? left : window;
        qsort(keys + at, sorted, sizeof *keys, compare_keys);
        at += sorted;
    }
}
