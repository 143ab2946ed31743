#include "io/memory.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a file of the system's, infinite where there is none ("max", no such file). */
static double limit_in(const char *path)
{
    double bytes = (double)INFINITY;
    FILE *file = fopen(path, "r");
    if (!file)
        return bytes;
    if (fscanf(file, "%lf", &bytes) != 1)
        bytes = (double)INFINITY;
    fclose(file);
    return bytes;
}

double wfi_physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    struct rlimit space;
    double bytes = pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
    /* A container's limit, of either version of Linux's control groups. */
    bytes = fmin(bytes, limit_in("/sys/fs/cgroup/memory.max"));
    bytes = fmin(bytes, limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        bytes = fmin(bytes, (double)space.rlim_cur);
    return bytes;
}
