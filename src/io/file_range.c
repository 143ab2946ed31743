#include "io/file_range.h"

#include <limits.h>

int64_t wfi_file_bytes(FILE *file)
{
    return fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
}

bool wfi_file_read_at(FILE *file, uint64_t at, void *to, uint64_t bytes)
{
    return at <= LONG_MAX && bytes <= SIZE_MAX && fseek(file, (long)at, SEEK_SET) == 0 &&
           fread(to, 1, (size_t)bytes, file) == bytes;
}
