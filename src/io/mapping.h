/* Files mapped into memory. What is written there is this process's own and not the file's. */
#ifndef WFI_IO_MAPPING_H
#define WFI_IO_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct wfi_mapping {
    void *memory; /* NULL: nothing is mapped */
    size_t bytes;
    int slot;
} wfi_mapping;

/* The first `bytes` bytes of the file, at least one. False where they cannot be mapped: then the
 * file is to be read. Where the system lets a file that is mapped become shorter, a look at what is
 * gone prints one line and ends the process with exit code 1. */
bool wfi_map(wfi_mapping *mapping, const char *path, FILE *file, size_t bytes);
void wfi_unmap(wfi_mapping *mapping);

#endif
