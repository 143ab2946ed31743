/* Files of a cache folder, and which folder that is. Only the user's own files are read, written
 * and locked: their content goes to drivers, and a name that others can make must not lead to a
 * file elsewhere. */
#include <errno.h>
#include <string.h>

#include "core/file.h"
#include "core/heap.h"
#include "core/platform_file.h"
#include "core/text.h"

char *wfi_cache_directory(const wfi_log *log, const char *directory)
{
    const char *why = NULL;
    char *path = !directory   ? wfi_user_cache_folder()
                 : *directory ? wfi_copy_text(directory)
                              : NULL;
    if (!path || wfi_folder_trusted(path, &why))
        return path;
    wfi_log_write(log, WF_LOG_WARNING, "%s: %s; nothing is read or kept there", path, why);
    wfi_free(path);
    return NULL;
}

void *wfi_cache_read(const char *path, size_t most, size_t *bytes, const char **why)
{
    const int fd = wfi_file_open_trusted(path, false, why);
    void *data = fd >= 0 ? wfi_fd_read(fd, most, bytes) : NULL;
    if (fd >= 0 && !data)
        *why = strerror(errno);
    return data;
}

int wfi_file_lock(const char *path, bool wait, const char **why)
{
    const int fd = wfi_file_open_trusted(path, true, why);
    if (fd < 0 || wfi_file_take_lock(fd, wait))
        return fd;
    const int cause = errno;
    wfi_file_close(fd);
    *why = strerror(cause);
    errno = cause;
    return -1;
}

void wfi_file_unlock(int fd)
{
    /* Unlocking first matters where a child process was forked meanwhile and has the same open
     * file. */
    wfi_file_leave_lock(fd);
    wfi_file_close(fd);
}
