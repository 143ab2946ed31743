#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *wfi_path_join(const char *a, const char *b)
{
    const size_t bytes = strlen(a) + strlen(b) + 2;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", a, b);
    return path;
}

bool wfi_make_directories(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        const bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!ok)
            return false;
    }
    return true;
}

static void *read_open(FILE *file, size_t most, size_t *bytes)
{
    size_t room = 4096, used = 0;
    char *data = malloc(room + 1);
    while (data) {
        used += fread(data + used, 1, room - used, file);
        if (used < room || used > most)
            break;
        char *larger = realloc(data, room * 2 + 1);
        if (!larger)
            free(data);
        data = larger;
        room *= 2;
    }
    if (data && (ferror(file) || used > most)) {
        const int cause = used > most ? EFBIG : EIO;
        free(data);
        errno = cause;
        return NULL;
    }
    if (data) {
        data[used] = '\0';
        *bytes = used;
    }
    return data;
}

void *wfi_fd_read(int fd, size_t most, size_t *bytes)
{
    struct stat there;
    FILE *file = fdopen(fd, "rb");
    if (!file) {
        const int opened = errno;
        close(fd);
        errno = opened;
        return NULL;
    }
    void *data = NULL;
    /* Opening a folder succeeds and only reading fails; reading a device might never end. */
    if (fstat(fd, &there) == 0 && !S_ISREG(there.st_mode))
        errno = S_ISDIR(there.st_mode) ? EISDIR : EINVAL;
    else
        data = read_open(file, most, bytes);
    const int cause = errno;
    fclose(file);
    errno = cause;
    return data;
}

void *wfi_file_read(const char *path, size_t most, size_t *bytes)
{
    /* Opening a pipe would wait for its writer. */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? wfi_fd_read(fd, most, bytes) : NULL;
}

static bool write_pieces(FILE *file, const wfi_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fwrite(pieces[i].data, 1, pieces[i].bytes, file) != pieces[i].bytes)
            return false;
    return true;
}

/* A file that replaces another keeps its permissions, so that others may still read it. */
static void keep_mode(int fd, const char *path)
{
    struct stat there;
    if (lstat(path, &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid())
        fchmod(fd, there.st_mode & 0755);
}

bool wfi_file_write(const char *path, const wfi_piece *pieces, size_t count)
{
    const size_t length = strlen(path) + sizeof ".XXXXXX";
    char *temporary = malloc(length);
    if (!temporary)
        return false;
    snprintf(temporary, length, "%s.XXXXXX", path);
    const int fd = mkstemp(temporary);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    /* The content is on the disk before the file gets its name: else a crash of the machine may
     * leave an empty file. */
    if (fd >= 0)
        keep_mode(fd, path);
    bool ok = file && write_pieces(file, pieces, count) && fflush(file) == 0 && fsync(fd) == 0;
    int cause = errno;
    if (file && fclose(file) != 0 && ok) {
        cause = errno;
        ok = false;
    } else if (!file && fd >= 0) {
        close(fd);
    }
    if (ok && rename(temporary, path) != 0) {
        cause = errno;
        ok = false;
    }
    if (!ok && fd >= 0)
        unlink(temporary);
    free(temporary);
    errno = cause;
    return ok;
}
