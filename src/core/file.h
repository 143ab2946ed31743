/* Files that wavefit keeps between runs: where they are, and how they are read, written, locked. */
#ifndef WFI_CORE_FILE_H
#define WFI_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/log.h"

/* The name of the cache folder, to be freed: `directory`, or the user's where that is NULL.
 * NULL: nothing is kept, since `directory` is "", there is no home or no memory, or (with a warning
 * in the log) others may write to the folder. */
char *wfi_cache_directory(const wfi_log *log, const char *directory);

/* Makes the folders that lead to the file `path`; false leaves the cause in errno. */
bool wfi_make_directories(char *path);

/* The whole file, to be freed, with a 0 behind it. NULL: errno says why; EFBIG where it is larger
 * than `most`. */
void *wfi_file_read(const char *path, size_t most, size_t *bytes);

/* One piece of a file to be written. */
typedef struct wfi_piece {
    const void *data;
    size_t bytes;
} wfi_piece;

/* Writes the pieces under a temporary name and renames: the file appears whole or not at all. False
 * leaves the cause in errno, and what stood at the path. */
bool wfi_file_write(const char *path, const wfi_piece *pieces, size_t count);

/* Reads a file of a cache folder: symbolic links, other users' files and files that anybody may
 * write are refused. NULL: *why says why, too. */
void *wfi_cache_read(const char *path, size_t most, size_t *bytes, const char **why);

/* Reads the open file from where it stands to its end, and closes it. */
void *wfi_fd_read(int fd, size_t most, size_t *bytes);

/* Opens the file, or makes it, and holds a lock until it is closed, against other threads too where
 * the system can; refuses what wfi_cache_read does. `wait`: blocks until the lock is free; else
 * returns -1 with errno EAGAIN or EACCES while another holds it. -1 leaves the cause in errno and
 * *why. */
int wfi_file_lock(const char *path, bool wait, const char **why);
/* Unlocks and closes the file. */
void wfi_file_unlock(int fd);

#endif
