/* Files that wavefit keeps for itself between runs: where, and how they are read, written, locked. */
#ifndef WFI_CORE_FILE_H
#define WFI_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/log.h"

/* The folder that wf_device_params.cache_directory means: itself, or the user's cache folder where
 * it is NULL; malloc'ed. NULL: nowhere ("" was given, there is no home, no memory; or the folder is
 * another user's or anybody's to write, of which a warning tells). */
char *wfi_cache_directory(const wfi_log *log, const char *directory);

/* "a/b", malloc'ed; NULL without memory. */
char *wfi_path_join(const char *a, const char *b);

/* Makes the folders that lead to the file `path`; false leaves the cause in errno. */
bool wfi_make_directories(char *path);

/* The whole file, malloc'ed, with a 0 behind it. NULL: errno says why; EFBIG where it is larger than
 * `most`. */
void *wfi_file_read(const char *path, size_t most, size_t *bytes);

/* One piece of a file to be written. */
typedef struct wfi_piece {
    const void *data;
    size_t bytes;
} wfi_piece;

/* Writes the pieces under a temporary name and renames: the file appears whole or not at all. False
 * leaves the cause in errno, and what stood at the path. */
bool wfi_file_write(const char *path, const wfi_piece *pieces, size_t count);

/* The same of what is in a cache folder: a symbolic link, another user's file and one that anybody
 * may write are refused. NULL: *why says why, too. */
void *wfi_cache_read(const char *path, size_t most, size_t *bytes, const char **why);

/* The rest of the open file, which is closed. */
void *wfi_fd_read(int fd, size_t most, size_t *bytes);

/* Opens (and makes) a file that is locked as long as it is open, against other threads too where
 * the system can; refuses what wfi_cache_read does. `wait`: until the other lets go; else -1 with
 * errno EAGAIN or EACCES while one holds it. -1 leaves the cause in errno and *why. */
int wfi_file_lock(const char *path, bool wait, const char **why);
/* Lets go, and closes. */
void wfi_file_unlock(int fd);

#endif
