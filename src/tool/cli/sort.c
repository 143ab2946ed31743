#include "tool/cli/sort.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void wfi_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}
