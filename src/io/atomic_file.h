/* Files that appear whole or not at all. They are written without a name, so that a program that is
 * killed leaves no trace of them, or where the system or the file system has no such files under a
 * temporary one in the same folder (io/unfinished.h); then they get their name. One that is
 * replaced hands on its rights; a symbolic link stays, and what it leads to is replaced. */
#ifndef WFI_IO_ATOMIC_FILE_H
#define WFI_IO_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "io/io_error.h"

typedef struct wfi_atomic_file {
    FILE *file;
    char *path, *temporary;
    bool nameless; /* so far; `temporary` is not there */
    int cause;     /* errno of the first failed write, 0 if none */
} wfi_atomic_file;

/* Whether a file could be made there: asked before the work whose result it will hold. */
bool wfi_atomic_check(const char *path, wfi_io_error *error);
bool wfi_atomic_open(wfi_atomic_file *out, const char *path, wfi_io_error *error);
/* A failure is kept for the commit. */
void wfi_atomic_write(wfi_atomic_file *out, const void *data, size_t bytes);
/* Flushes to the disk and names. On any failure, an earlier write's included, the temporary is
 * removed and what stood at the path stays. */
bool wfi_atomic_commit(wfi_atomic_file *out, wfi_io_error *error);
/* Gives up: removes the temporary. */
void wfi_atomic_abandon(wfi_atomic_file *out);

#endif
