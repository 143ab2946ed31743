#include "io/memory.h"

#include <math.h>
#include <unistd.h>

double wfi_physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
}
