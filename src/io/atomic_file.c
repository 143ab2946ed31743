#include "io/atomic_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(wfi_atomic_file *out)
{
    free(out->path);
    free(out->temporary);
    *out = (wfi_atomic_file){0};
}

/* mkstemp's files are private; the finished one has the usual rights. */
static void usual_rights(int fd)
{
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
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
    const size_t bytes = strlen(path) + sizeof ".XXXXXX";
    *out = (wfi_atomic_file){.path = strdup(path), .temporary = malloc(bytes)};
    if (!out->path || !out->temporary) {
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
    snprintf(out->temporary, bytes, "%s.XXXXXX", path);
    const int fd = mkstemp(out->temporary);
    if (fd >= 0)
        usual_rights(fd);
    out->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (out->file)
        return true;
    const int cause = errno;
    if (fd >= 0) {
        close(fd);
        unlink(out->temporary);
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
    if (!ok) {
        if (out->temporary)
            unlink(out->temporary);
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
            unlink(out->temporary);
    }
    forget(out);
}
