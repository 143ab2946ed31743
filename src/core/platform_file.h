/* Files and folders as operating systems have them. Paths are in UTF-8 on every system; what fails
 * leaves the cause in errno. */
#ifndef WFI_CORE_PLATFORM_FILE_H
#define WFI_CORE_PLATFORM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Between the parts of paths that are made here; wfi_path_separator knows what else users write. */
#if defined(_WIN32)
#define WFI_SEPARATOR '\\'
#else
#define WFI_SEPARATOR '/'
#endif

typedef enum wfi_file_kind {
    WFI_FILE_NONE, /* nothing is there, or it cannot be looked at */
    WFI_FILE_REGULAR,
    WFI_FILE_FOLDER,
    WFI_FILE_SPECIAL /* a device or a pipe */
} wfi_file_kind;

/* Follows links. */
wfi_file_kind wfi_file_kind_of(const char *path);
wfi_file_kind wfi_file_kind_of_open(int fd, uint64_t *bytes);
/* Whether both paths lead to one file that is there. */
bool wfi_file_same(const char *a, const char *b);
bool wfi_file_writable(const char *path);
/* Whether it is a file that its owner wants to stay as it is. */
bool wfi_file_write_protected(const char *path);

/* What fopen does, with any path. */
FILE *wfi_file_open(const char *path, const char *mode);
/* A descriptor to read from, which programs that are started do not get; `wait`: for the other end
 * of a pipe. */
int wfi_file_open_read(const char *path, bool wait);
/* A descriptor as a stream, which closes it; NULL: it is closed. */
FILE *wfi_file_stream(int fd, const char *mode);
void wfi_file_close(int fd);

/* Opens a plain file that is the user's own, for reading or, made where it is not there, for both;
 * -1: *why says why, too. Links are not followed. */
int wfi_file_open_trusted(const char *path, bool write, const char **why);
/* False: others may put files into the folder, as *why says. */
bool wfi_folder_trusted(const char *path, const char **why);

/* As pread and pwrite; -1: an error. */
int64_t wfi_file_read_at(int fd, void *data, size_t bytes, uint64_t at);
int64_t wfi_file_write_at(int fd, const void *data, size_t bytes, uint64_t at);
/* As fseek and ftell, for files of any size. */
bool wfi_file_seek(FILE *file, int64_t offset, int whence);
int64_t wfi_file_tell(FILE *file);
/* Takes all that is in the file away. */
bool wfi_file_cut(int fd);
/* The same of a file that may not be there; a link is not followed. */
bool wfi_file_empty(const char *path);
/* Holds against other processes and, where the system can, other threads. False with EAGAIN or
 * EACCES where another holds it and `wait` is false. */
bool wfi_file_take_lock(int fd, bool wait);
void wfi_file_leave_lock(int fd);

/* Replaces the six X that the path ends in and makes that file, for this user alone; -1: none. */
int wfi_file_make_temporary(char *path);
/* A file without a name in the folder of `path`, for this user alone, which goes with the process;
 * -1: the system or the file system has none. */
int wfi_file_make_nameless(const char *path);
/* Gives a nameless file the name, over what stands there: then by way of `temporary`, whose six X
 * at the end are replaced, for a moment in which no signal but SIGKILL ends the program. */
bool wfi_file_give_name(FILE *nameless, char *temporary, const char *path);
/* Gives the temporary the rights of the file that it will replace, which may not be there: of a
 * cache, what others may not write to. */
void wfi_file_keep_rights(int fd, const char *replaced);
void wfi_file_keep_cache_rights(int fd, const char *replaced);
/* What was written is on the disk afterwards. */
bool wfi_file_flush(FILE *file);
/* Renames in one step, over what stands there. */
bool wfi_file_replace(const char *from, const char *to);
bool wfi_file_remove(const char *path);
/* True also where it is there already. */
bool wfi_folder_make(const char *path);
/* The path with links in place of its last part followed, to be freed; no file need be there. */
char *wfi_file_resolve(const char *path);

/* The last separator of a path's parts; NULL: it is one part. */
char *wfi_path_separator(const char *path);
/* wavefit's place in the user's cache folder, to be freed; NULL: there is none. */
char *wfi_user_cache_folder(void);

#endif
