#include "io/atomic_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/arithmetic.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#define MOST_LINKS 40 /* that lead to a file, before it counts as a circle */

static void forget(wfi_atomic_file *out)
{
    free(out->path);
    free(out->temporary);
    *out = (wfi_atomic_file){0};
}

/* ---------------------------------------------------------------------------------- unfinished */

/* The temporaries that a signal's handler removes. In place, so that it needs no allocation;
 * `there` is set last and cleared first. */
#define MOST_UNFINISHED 4
static struct {
    volatile sig_atomic_t there;
    char path[PATH_MAX];
} unfinished[MOST_UNFINISHED];

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING WFI_COUNT(ending)

void wfi_atomic_remove_unfinished(void)
{
    const int before = errno;
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (unfinished[i].there)
            unlink(unfinished[i].path);
    errno = before;
}

static void remove_and_end(int number)
{
    wfi_atomic_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

/* While there is a temporary, a signal that would end the program removes it first. Signals that
 * the program handles or ignores stay as they are. */
static void watch_signals(bool on)
{
    for (size_t i = 0; i < ENDING; i++) {
        struct sigaction now, ours = {.sa_handler = on ? remove_and_end : SIG_DFL};
        sigemptyset(&ours.sa_mask);
        if (sigaction(ending[i], NULL, &now) == 0 &&
            now.sa_handler == (on ? SIG_DFL : remove_and_end))
            sigaction(ending[i], &ours, NULL);
    }
}

static void note_unfinished(const char *path)
{
    for (int i = 0; i < MOST_UNFINISHED; i++)
        if (!unfinished[i].there && strlen(path) < sizeof unfinished[i].path) {
            strcpy(unfinished[i].path, path);
            unfinished[i].there = 1;
            return;
        }
}

static void forget_unfinished(const char *path)
{
    bool any = false;
    for (int i = 0; i < MOST_UNFINISHED; i++) {
        if (unfinished[i].there && strcmp(unfinished[i].path, path) == 0)
            unfinished[i].there = 0;
        any = any || unfinished[i].there;
    }
    if (!any)
        watch_signals(false);
}

/* mkstemp without a moment in which a signal would leave the file behind. */
static int make_temporary(char *path)
{
    sigset_t all, before;
    sigfillset(&all);
    watch_signals(true);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int fd = mkstemp(path);
    if (fd >= 0)
        note_unfinished(path);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fd < 0)
        forget_unfinished(path);
    return fd;
}

static void remove_temporary(const char *path)
{
    unlink(path);
    forget_unfinished(path);
}

/* ---------------------------------------------------------------------------------------- files */

/* mkstemp's files are private; the finished one has the rights and, where that is allowed, the
 * owner of the one that it replaces. One that cannot keep the group gives the other group no
 * rights. */
static void set_rights(int fd, const struct stat *old)
{
    if (old) {
        mode_t mode = old->st_mode & 07777;
        if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
            mode &= ~(mode_t)(S_IRWXG | S_ISUID | S_ISGID);
        fchmod(fd, mode);
        return;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
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
    char *joined = malloc(folder + (size_t)bytes + 1);
    if (!joined)
        return false;
    memcpy(joined, *path, folder);
    memcpy(joined + folder, to, (size_t)bytes + 1);
    free(*path);
    *path = joined;
    return true;
}

/* The path with links in place of its last part followed, malloc'ed; no file need be there. */
static char *resolve(const char *path)
{
    struct stat there;
    char *at = strdup(path);
    int links = 0;
    while (at && lstat(at, &there) == 0 && S_ISLNK(there.st_mode)) {
        if (++links > MOST_LINKS)
            errno = ELOOP;
        if (links > MOST_LINKS || !follow(&at)) {
            const int cause = errno;
            free(at);
            errno = cause;
            return NULL;
        }
    }
    return at;
}

/* A device or pipe is written straight: renaming over it would replace it. */
static bool open_special(wfi_atomic_file *out, wfi_io_error *error)
{
    free(out->temporary);
    out->temporary = NULL;
    out->file = fopen(out->path, "wb");
    if (out->file)
        return true;
    wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", out->path, strerror(errno));
    forget(out);
    return false;
}

bool wfi_atomic_open(wfi_atomic_file *out, const char *path, wfi_io_error *error)
{
    *out = (wfi_atomic_file){.path = resolve(path)};
    if (!out->path)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", path,
                           strerror(errno));
    const size_t bytes = strlen(out->path) + sizeof ".XXXXXX";
    out->temporary = malloc(bytes);
    if (!out->temporary) {
        forget(out);
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    }
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        forget(out);
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(EISDIR));
    }
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return open_special(out, error);
    const bool replaces = stat(path, &there) == 0;
    snprintf(out->temporary, bytes, "%s.XXXXXX", out->path);
    const int fd = make_temporary(out->temporary);
    if (fd >= 0)
        set_rights(fd, replaces ? &there : NULL);
    out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->file)
        return true;
    const int cause = errno;
    if (fd >= 0) {
        close(fd);
        remove_temporary(out->temporary);
    }
    forget(out);
    return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", path, strerror(cause));
}

bool wfi_atomic_check(const char *path, wfi_io_error *error)
{
    struct stat there;
    wfi_atomic_file out;
    /* Opening a pipe would wait for its reader. */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        return access(path, W_OK) == 0 ||
               wfi_io_fail(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", path,
                           strerror(errno));
    if (!wfi_atomic_open(&out, path, error))
        return false;
    wfi_atomic_abandon(&out);
    return true;
}

void wfi_atomic_write(wfi_atomic_file *out, const void *data, size_t bytes)
{
    errno = 0;
    if (fwrite(data, 1, bytes, out->file) != bytes && !out->cause)
        out->cause = errno ? errno : EIO;
}

bool wfi_atomic_commit(wfi_atomic_file *out, wfi_io_error *error)
{
    bool ok =
        !out->cause && fflush(out->file) == 0 && (!out->temporary || fsync(fileno(out->file)) == 0);
    int cause = out->cause ? out->cause : errno;
    if (fclose(out->file) != 0 && ok) {
        ok = false;
        cause = errno;
    }
    if (ok && out->temporary && rename(out->temporary, out->path) != 0) {
        ok = false;
        cause = errno;
    }
    if (ok && out->temporary)
        forget_unfinished(out->temporary);
    if (!ok) {
        if (out->temporary)
            remove_temporary(out->temporary);
        wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", out->path,
                         strerror(cause));
    }
    forget(out);
    return ok;
}

void wfi_atomic_abandon(wfi_atomic_file *out)
{
    if (out->file) {
        fclose(out->file);
        if (out->temporary)
            remove_temporary(out->temporary);
    }
    forget(out);
}
