#define _GNU_SOURCE /* for locks of an open file */
#include "core/platform_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/heap.h"
#include "core/text.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#define MOST_NAMES 100 /* that are tried for a temporary */
#define MOST_LINKS 40  /* that lead to a file, before it counts as a circle */

/* ------------------------------------------------------------------------------------ looking */

static wfi_file_kind kind_of(const struct stat *there)
{
    return S_ISREG(there->st_mode)   ? WFI_FILE_REGULAR
           : S_ISDIR(there->st_mode) ? WFI_FILE_FOLDER
                                     : WFI_FILE_SPECIAL;
}

wfi_file_kind wfi_file_kind_of(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 ? kind_of(&there) : WFI_FILE_NONE;
}

wfi_file_kind wfi_file_kind_of_open(int fd, uint64_t *bytes)
{
    struct stat there;
    if (fstat(fd, &there) != 0)
        return WFI_FILE_NONE;
    *bytes = (uint64_t)there.st_size;
    return kind_of(&there);
}

bool wfi_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool wfi_file_writable(const char *path)
{
    return access(path, W_OK) == 0;
}

bool wfi_file_write_protected(const char *path)
{
    struct stat there;
    return lstat(path, &there) == 0 && S_ISREG(there.st_mode) &&
           !(there.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH));
}

/* ------------------------------------------------------------------------------------ opening */

FILE *wfi_file_open(const char *path, const char *mode)
{
    return fopen(path, mode);
}

int wfi_file_open_read(const char *path, bool wait)
{
    return open(path, O_RDONLY | O_CLOEXEC | (wait ? 0 : O_NONBLOCK));
}

FILE *wfi_file_stream(int fd, const char *mode)
{
    FILE *file = fdopen(fd, mode);
    if (!file) {
        const int cause = errno;
        close(fd);
        errno = cause;
    }
    return file;
}

void wfi_file_close(int fd)
{
    close(fd);
}

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

bool wfi_folder_trusted(const char *path, const char **why)
{
    struct stat there;
    *why = stat(path, &there) == 0 ? distrust(&there) : NULL;
    /* One's own link may lead to another disk; who owns a link can let it lead elsewhere later. */
    if (!*why && lstat(path, &there) == 0 && S_ISLNK(there.st_mode) && there.st_uid != geteuid() &&
        there.st_uid != 0)
        *why = "it is a symbolic link of another user (name another cache folder in "
               "XDG_CACHE_HOME)";
    return !*why;
}

int wfi_file_open_trusted(const char *path, bool write, const char **why)
{
    struct stat there;
    /* Opening a pipe would wait for its other end. */
    const int fd = open(
        path, (write ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
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
    else if (write && there.st_nlink > 1) {
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

/* -------------------------------------------------------------------------------------- inside */

int64_t wfi_file_read_at(int fd, void *data, size_t bytes, uint64_t at)
{
    return pread(fd, data, bytes, (off_t)at);
}

int64_t wfi_file_write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    return pwrite(fd, data, bytes, (off_t)at);
}

bool wfi_file_seek(FILE *file, int64_t offset, int whence)
{
    return fseeko(file, (off_t)offset, whence) == 0;
}

int64_t wfi_file_tell(FILE *file)
{
    return ftello(file);
}

bool wfi_file_cut(int fd)
{
    return ftruncate(fd, 0) == 0;
}

bool wfi_file_empty(const char *path)
{
    const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    const bool ok = ftruncate(fd, 0) == 0;
    close(fd);
    return ok;
}

/* Locks of the open file hold between the threads of a process too; those of the process, which
 * every system has, do not. */
static bool set_lock(int fd, bool wait, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int result;
#ifdef F_OFD_SETLK
    do
        result = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
    while (result != 0 && errno == EINTR);
    if (result == 0 || errno != EINVAL)
        return result == 0;
#endif
    do
        result = fcntl(fd, wait ? F_SETLKW : F_SETLK, &whole);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

bool wfi_file_take_lock(int fd, bool wait)
{
    return set_lock(fd, wait, F_WRLCK);
}

void wfi_file_leave_lock(int fd)
{
    set_lock(fd, false, F_UNLCK);
}

/* ----------------------------------------------------------------------------------- replacing */

int wfi_file_make_temporary(char *path)
{
    return mkstemp(path);
}

#ifdef O_TMPFILE
#define OPEN_FILES "/proc/self/fd" /* through which an open file can be named */

int wfi_file_make_nameless(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length + 2 > sizeof folder || access(OPEN_FILES, X_OK) != 0)
        return -1;
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

static bool link_open(const char *open_file, const char *path)
{
    return linkat(AT_FDCWD, open_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

/* A name that nothing has, from the clock: mkstemp would make the file. */
static bool link_somewhere(const char *open_file, char *path)
{
    for (uint64_t i = 0; i < MOST_NAMES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t drawn = (uint64_t)now.tv_nsec * MOST_NAMES + i + (uint64_t)getpid() * 65537;
        wfi_text_fill_name(path, drawn * UINT64_C(0x9e3779b97f4a7c15) >> 16);
        if (link_open(open_file, path))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

bool wfi_file_give_name(FILE *nameless, char *temporary, const char *path)
{
    char open_file[sizeof OPEN_FILES + 16];
    sigset_t all, before;
    snprintf(open_file, sizeof open_file, OPEN_FILES "/%d", fileno(nameless));
    if (link_open(open_file, path))
        return true;
    if (errno != EEXIST)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool linked = link_somewhere(open_file, temporary),
               named = linked && rename(temporary, path) == 0;
    const int cause = errno;
    if (linked && !named)
        unlink(temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return named;
}
#else
int wfi_file_make_nameless(const char *path)
{
    (void)path;
    return -1;
}

bool wfi_file_give_name(FILE *nameless, char *temporary, const char *path)
{
    (void)nameless;
    (void)temporary;
    (void)path;
    errno = ENOTSUP;
    return false;
}
#endif

/* One that cannot keep the group gives the other group no rights. */
void wfi_file_keep_rights(int fd, const char *replaced)
{
    struct stat old;
    if (stat(replaced, &old) == 0) {
        mode_t mode = old.st_mode & 07777;
        if (fchown(fd, old.st_uid, old.st_gid) != 0 && fchown(fd, (uid_t)-1, old.st_gid) != 0)
            mode &= ~(mode_t)(S_IRWXG | S_ISUID | S_ISGID);
        fchmod(fd, mode);
        return;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
}

void wfi_file_keep_cache_rights(int fd, const char *replaced)
{
    struct stat there;
    if (lstat(replaced, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid())
        fchmod(fd, there.st_mode & 0755);
}

bool wfi_file_flush(FILE *file)
{
    return fflush(file) == 0 && fsync(fileno(file)) == 0;
}

bool wfi_file_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool wfi_file_remove(const char *path)
{
    return unlink(path) == 0;
}

bool wfi_folder_make(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Replaces *path by what the link there leads to; false where it leads nowhere (errno). */
static bool follow(char **path)
{
    char to[PATH_MAX];
    const ssize_t bytes = readlink(*path, to, sizeof to - 1);
    if (bytes < 0)
        return false;
    to[bytes] = '\0';
    const char *slash = strrchr(*path, '/');
    const size_t folder = to[0] == '/' || !slash ? 0 : (size_t)(slash - *path) + 1;
    char *joined = wfi_malloc(folder + (size_t)bytes + 1);
    if (!joined)
        return false;
    memcpy(joined, *path, folder);
    memcpy(joined + folder, to, (size_t)bytes + 1);
    wfi_free(*path);
    *path = joined;
    return true;
}

char *wfi_file_resolve(const char *path)
{
    struct stat there;
    char *at = wfi_copy_text(path);
    int links = 0;
    while (at && lstat(at, &there) == 0 && S_ISLNK(there.st_mode)) {
        if (++links > MOST_LINKS)
            errno = ELOOP;
        if (links > MOST_LINKS || !follow(&at)) {
            const int cause = errno;
            wfi_free(at);
            errno = cause;
            return NULL;
        }
    }
    return at;
}

/* --------------------------------------------------------------------------------------- paths */

char *wfi_path_separator(const char *path)
{
    return strrchr(path, '/');
}

char *wfi_user_cache_folder(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return wfi_path_join(xdg, "wavefit");
    return home && home[0] == '/' ? wfi_path_join(home, ".cache/wavefit") : NULL;
}
