#include "io/atomic_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform_file.h"
#include "io/unfinished.h"

static void forget(wfi_atomic_file *out)
{
    wfi_free(out->path);
    free(out->temporary);
    *out = (wfi_atomic_file){0};
}

/* A device or pipe is written straight: renaming over it would replace it. */
static bool open_special(wfi_atomic_file *out, wfi_io_error *error)
{
    free(out->temporary);
    out->temporary = NULL;
    out->file = wfi_file_open(out->path, "wb");
    if (out->file)
        return true;
    wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", out->path, strerror(errno));
    forget(out);
    return false;
}

/* A file of this user's own in the same folder, with the rights of what it will replace. */
static bool open_temporary(wfi_atomic_file *out, wfi_io_error *error)
{
    int fd = wfi_file_make_nameless(out->path);
    out->nameless = fd >= 0;
    if (!out->nameless)
        fd = wfi_unfinished_make(out->temporary);
    if (fd >= 0) {
        wfi_file_keep_rights(fd, out->path);
        out->file = wfi_file_stream(fd, "wb");
    }
    if (out->file)
        return true;
    const int cause = errno;
    if (fd >= 0 && out->nameless)
        wfi_file_close(fd);
    else if (fd >= 0)
        wfi_unfinished_remove(out->temporary);
    wfi_io_set_error(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", out->path, strerror(cause));
    forget(out);
    return false;
}

bool wfi_atomic_open(wfi_atomic_file *out, const char *path, wfi_io_error *error)
{
    *out = (wfi_atomic_file){.path = wfi_file_resolve(path)};
    if (!out->path)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: cannot be written: %s", path,
                           strerror(errno));
    const size_t bytes = strlen(out->path) + sizeof ".XXXXXX";
    out->temporary = malloc(bytes);
    if (!out->temporary) {
        forget(out);
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    }
    const wfi_file_kind kind = wfi_file_kind_of(path);
    if (kind == WFI_FILE_FOLDER) {
        forget(out);
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(EISDIR));
    }
    if (kind == WFI_FILE_SPECIAL)
        return open_special(out, error);
    snprintf(out->temporary, bytes, "%s.XXXXXX", out->path);
    return open_temporary(out, error);
}

bool wfi_atomic_check(const char *path, wfi_io_error *error)
{
    wfi_atomic_file out;
    /* Opening a pipe would wait for its reader. */
    if (wfi_file_kind_of(path) == WFI_FILE_SPECIAL)
        return wfi_file_writable(path) ||
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

/* Closes the file, whose data are on the disk, and gives it its name. */
static bool finish(wfi_atomic_file *out)
{
    const bool named = !out->nameless || wfi_file_give_name(out->file, out->temporary, out->path);
    const int cause = errno;
    if (fclose(out->file) != 0 || !named) {
        errno = named ? errno : cause;
        return false;
    }
    return out->nameless || !out->temporary || wfi_file_replace(out->temporary, out->path);
}

bool wfi_atomic_commit(wfi_atomic_file *out, wfi_io_error *error)
{
    const bool temporary = out->temporary && !out->nameless;
    bool ok = !out->cause && (out->temporary ? wfi_file_flush(out->file) : fflush(out->file) == 0);
    int cause = out->cause ? out->cause : errno;
    if (!ok)
        fclose(out->file);
    else if (!finish(out)) {
        ok = false;
        cause = errno;
    }
    if (ok && temporary)
        wfi_unfinished_forget(out->temporary);
    if (!ok) {
        if (temporary)
            wfi_unfinished_remove(out->temporary);
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
        if (out->temporary && !out->nameless)
            wfi_unfinished_remove(out->temporary);
    }
    forget(out);
}
