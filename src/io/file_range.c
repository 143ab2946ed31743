#include "io/file_range.h"

#include "core/platform_file.h"

int64_t wfi_range_bytes(FILE *file)
{
    return wfi_file_seek(file, 0, SEEK_END) ? wfi_file_tell(file) : -1;
}

bool wfi_range_read(FILE *file, uint64_t at, void *to, uint64_t bytes)
{
    return at <= INT64_MAX && bytes <= SIZE_MAX && wfi_file_seek(file, (int64_t)at, SEEK_SET) &&
           fread(to, 1, (size_t)bytes, file) == bytes;
}
