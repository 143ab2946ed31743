#include "tool/verify/apart.h"

#include <stdlib.h>

void *wfi_apart_memory(size_t bytes)
{
    return calloc(1, bytes);
}

void wfi_apart_free(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

int wfi_apart_run(int (*run)(void *user), void *user, const uint64_t *progress, double seconds,
                  const char **how)
{
    (void)progress;
    (void)seconds;
    *how = "";
    return run(user);
}
