#include "tool/cli/process.h"

bool wfi_pipe_read_all(intptr_t from, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        const int64_t got = wfi_pipe_read(from, at, bytes, -1);
        if (got < 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}
