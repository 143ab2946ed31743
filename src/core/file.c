#include "core/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform_file.h"

/* From the last folder that is there on, so that it does not matter what paths begin with. */
bool wfi_make_directories(char *path)
{
    char *end = wfi_path_separator(path);
    if (!end || end == path)
        return true;
    const char separator = *end;
    *end = '\0';
    const bool ok = wfi_file_kind_of(path) == WFI_FILE_FOLDER ||
                    (wfi_make_directories(path) && wfi_folder_make(path));
    *end = separator;
    return ok;
}

static void *read_open(FILE *file, size_t most, size_t *bytes)
{
    size_t room = 4096, used = 0;
    char *data = wfi_malloc(room + 1);
    while (data) {
        used += fread(data + used, 1, room - used, file);
        if (used < room || used > most)
            break;
        char *larger = wfi_realloc(data, room * 2 + 1);
        if (!larger)
            wfi_free(data);
        data = larger;
        room *= 2;
    }
    if (data && (ferror(file) || used > most)) {
        const int cause = used > most ? EFBIG : EIO;
        wfi_free(data);
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
    uint64_t there;
    const wfi_file_kind kind = wfi_file_kind_of_open(fd, &there);
    FILE *file = wfi_file_stream(fd, "rb");
    if (!file)
        return NULL;
    void *data = NULL;
    /* Opening a folder succeeds and only reading fails; reading a device might never end. */
    if (kind == WFI_FILE_FOLDER || kind == WFI_FILE_SPECIAL)
        errno = kind == WFI_FILE_FOLDER ? EISDIR : EINVAL;
    else
        data = read_open(file, most, bytes);
    const int cause = errno;
    fclose(file);
    errno = cause;
    return data;
}

void *wfi_file_read(const char *path, size_t most, size_t *bytes)
{
    const int fd = wfi_file_open_read(path, false);
    return fd >= 0 ? wfi_fd_read(fd, most, bytes) : NULL;
}

static bool write_pieces(FILE *file, const wfi_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fwrite(pieces[i].data, 1, pieces[i].bytes, file) != pieces[i].bytes)
            return false;
    return true;
}

/* Writes and closes the file, which is on the disk before it gets its name: else a crash of the
 * machine may leave an empty file. temporary: by way of which a nameless file gets it; NULL: it has
 * another name. */
static bool write_open(int fd, const char *path, char *temporary, const wfi_piece *pieces,
                       size_t count)
{
    /* A file that replaces another keeps its permissions, so that others may still read it. */
    wfi_file_keep_cache_rights(fd, path);
    FILE *file = wfi_file_stream(fd, "wb");
    if (!file)
        return false;
    const bool ok = write_pieces(file, pieces, count) && wfi_file_flush(file) &&
                    (!temporary || wfi_file_give_name(file, temporary, path));
    const int cause = errno;
    const bool closed = fclose(file) == 0;
    if (!ok)
        errno = cause;
    return ok && closed;
}

bool wfi_file_write(const char *path, const wfi_piece *pieces, size_t count)
{
    const size_t length = strlen(path) + sizeof ".XXXXXX";
    char *temporary = wfi_malloc(length);
    if (!temporary)
        return false;
    snprintf(temporary, length, "%s.XXXXXX", path);
    int fd = wfi_file_make_nameless(path);
    const bool nameless = fd >= 0;
    if (!nameless)
        fd = wfi_file_make_temporary(temporary);
    const bool ok = fd >= 0 && write_open(fd, path, nameless ? temporary : NULL, pieces, count) &&
                    (nameless || wfi_file_replace(temporary, path));
    const int cause = errno;
    if (!ok && fd >= 0 && !nameless)
        wfi_file_remove(temporary);
    wfi_free(temporary);
    errno = cause;
    return ok;
}
