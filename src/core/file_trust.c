/* Files of a cache folder, and which folder that is. Only the user's own files are read, written
 * and locked: their content goes to drivers, and a name that others can make must not lead to a
 * file elsewhere. */
#define _GNU_SOURCE /* for locks of an open file */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

/* Why the file or folder cannot be trusted, with the way out; NULL: it can. Root may put files into
 * a user's cache; and in a folder like /tmp nobody can replace another's file. */
static const char *distrust(const struct stat *there)
{
    const bool sticky = S_ISDIR(there->st_mode) && (there->st_mode & S_ISVTX);
    if (there->st_uid != geteuid() && there->st_uid != 0)
        return "it belongs to another user (chown it, or name another cache folder in "
               "XDG_CACHE_HOME)";
    if ((there->st_mode & S_IWOTH) && !sticky)
        return "anybody may write to it (chmod o-w it, or name another cache folder in "
               "XDG_CACHE_HOME)";
    return NULL;
}

static bool folder_trusted(const char *path, const char **why)
{
    struct stat there;
    *why = stat(path, &there) == 0 ? distrust(&there) : NULL;
    return !*why;
}

static char *default_directory(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return wfi_path_join(xdg, "wavefit");
    return home && home[0] == '/' ? wfi_path_join(home, ".cache/wavefit") : NULL;
}

char *wfi_cache_directory(const wfi_log *log, const char *directory)
{
    const char *why = NULL;
    char *path = !directory ? default_directory() : *directory ? strdup(directory) : NULL;
    if (!path || folder_trusted(path, &why))
        return path;
    wfi_log_write(log, WF_LOG_WARNING, "%s: %s; nothing is read or kept there", path, why);
    free(path);
    return NULL;
}

/* Opens a plain file that is trusted; -1: errno, and *why says it in words. */
static int open_trusted(const char *path, int flags, const char **why)
{
    struct stat there;
    /* Opening a pipe would wait for its other end. */
    const int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    *why = NULL;
    if (fd < 0) {
        const int cause = errno;
        *why = cause == ELOOP ? "it is a symbolic link, which is not followed (remove it)"
                              : strerror(cause);
        errno = cause;
        return -1;
    }
    int cause = 0;
    if (fstat(fd, &there) != 0)
        cause = errno;
    else if (!S_ISREG(there.st_mode))
        cause = S_ISDIR(there.st_mode) ? EISDIR : EINVAL;
    else if ((*why = distrust(&there)))
        cause = EPERM;
    else if ((flags & O_ACCMODE) != O_RDONLY && there.st_nlink > 1) {
        *why = "it has a second name, a hard link (remove it)";
        cause = EPERM;
    }
    if (cause == 0)
        return fd;
    close(fd);
    if (!*why)
        *why = strerror(cause);
    errno = cause;
    return -1;
}

void *wfi_cache_read(const char *path, size_t most, size_t *bytes, const char **why)
{
    const int fd = open_trusted(path, O_RDONLY, why);
    void *data = fd >= 0 ? wfi_fd_read(fd, most, bytes) : NULL;
    if (fd >= 0 && !data)
        *why = strerror(errno);
    return data;
}

/* Locks of the open file hold between the threads of a process too; those of the process, which
 * every system has, do not. */
static int set_lock(int fd, bool wait, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int result;
#ifdef F_OFD_SETLK
    do
        result = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno != EINVAL)
        return result;
#endif
    do
        result = fcntl(fd, wait ? F_SETLKW : F_SETLK, &whole);
    while (result != 0 && errno == EINTR);
    return result;
}

int wfi_file_lock(const char *path, bool wait, const char **why)
{
    const int fd = open_trusted(path, O_RDWR | O_CREAT, why);
    if (fd < 0 || set_lock(fd, wait, F_WRLCK) == 0)
        return fd;
    const int cause = errno;
    close(fd);
    *why = strerror(cause);
    errno = cause;
    return -1;
}

void wfi_file_unlock(int fd)
{
    /* Unlocking first matters where a child process was forked meanwhile and has the same open
     * file. */
    set_lock(fd, false, F_UNLCK);
    close(fd);
}
