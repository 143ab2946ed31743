/* Arrays in NumPy's .npz files: zip archives (PKWARE's APPNOTE.TXT 6.3.10), stored or deflated,
 * with zip64's sizes. */
#ifndef WFI_IO_NPZ_H
#define WFI_IO_NPZ_H

#include <stddef.h>
#include <stdio.h>

#include "io/io_error.h"

/* Where a path "FILE.npz:NAME" ends its FILE; NULL for any other path. */
const char *wfi_npz_split(const char *path);

/* The .npy file that is called `name` in the archive, with or without ".npy", malloc'ed; `name`
 * NULL: the only one there is. Its checksum is looked at. `path` is what errors begin with. NULL on
 * failure. */
void *wfi_npz_read(FILE *file, const char *path, const char *name, size_t *bytes,
                   wfi_io_error *error);

#endif
