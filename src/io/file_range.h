/* Bytes of an open file by where they are. */
#ifndef WFI_IO_FILE_RANGE_H
#define WFI_IO_FILE_RANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The file's size; -1 where it cannot be told, as of a pipe. */
int64_t wfi_range_bytes(FILE *file);
/* Reads `bytes` bytes from `at` on. False where there are fewer, or the system refuses. */
bool wfi_range_read(FILE *file, uint64_t at, void *to, uint64_t bytes);

#endif
