#include "io/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/platform.h"

/* The number in a file of the system; infinite where there is none ("max", no such file). */
static double limit_in(const char *path)
{
    char text[64] = "", *end = text;
    FILE *file = fopen(path, "r");
    if (!file)
        return (double)INFINITY;
    const char *line = fgets(text, sizeof text, file);
    fclose(file);
    const unsigned long long bytes = line ? strtoull(text, &end, 10) : 0;
    return end == text ? (double)INFINITY : (double)bytes;
}

double wfi_physical_memory(void)
{
    double bytes = wfi_memory_total();
    /* A container's limit, of either version of Linux's control groups. */
    bytes = fmin(bytes, limit_in("/sys/fs/cgroup/memory.max"));
    bytes = fmin(bytes, limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    return bytes;
}
