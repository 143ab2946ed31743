#include "io/text_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/arithmetic.h"
#include "core/platform_file.h"

#define BUFFER_BYTES ((size_t)1 << 20)

bool wfi_text_open(wfi_text_reader *reader, const char *path, wfi_io_error *error)
{
    *reader = (wfi_text_reader){.path = path};
    const int fd = wfi_file_open_read(path, true);
    if (fd < 0)
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", path, strerror(errno));
    gzFile file = gzdopen(fd, "rb");
    if (!file) {
        wfi_file_close(fd);
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    }
    reader->file = file;
    reader->buffer = malloc(BUFFER_BYTES + 1);
    if (!reader->buffer) {
        wfi_text_close(reader);
        return wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
    }
    gzbuffer(file, 1u << 17);
    return true;
}

bool wfi_text_open_range(wfi_text_reader *reader, const char *path, int fd, uint64_t first,
                         uint64_t last, wfi_io_error *error)
{
    *reader = (wfi_text_reader){.path = path, .fd = fd, .at = first, .last = last};
    reader->buffer = malloc(BUFFER_BYTES + 1);
    return reader->buffer || wfi_io_fail(error, WFI_IO_NO_MEMORY, "%s: out of memory", path);
}

uint64_t wfi_text_offset(const wfi_text_reader *reader)
{
    if (!gzdirect(reader->file))
        return UINT64_MAX;
    return (uint64_t)gztell(reader->file) - (reader->end - reader->begin);
}

void wfi_text_close(wfi_text_reader *reader)
{
    if (reader->file)
        gzclose(reader->file);
    free(reader->buffer);
    reader->file = NULL;
    reader->buffer = NULL;
}

/* Reads more of a range behind what is kept. */
static bool refill_range(wfi_text_reader *reader, size_t kept, wfi_io_error *error)
{
    const uint64_t left = reader->last - reader->at;
    const size_t room = BUFFER_BYTES - kept, wanted = left < room ? (size_t)left : room;
    const int64_t got =
        wanted ? wfi_file_read_at(reader->fd, reader->buffer + kept, wanted, reader->at) : 0;
    if (got < 0 || (wanted && got == 0))
        return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", reader->path,
                           got < 0 ? strerror(errno) : "the file became shorter");
    reader->at += (uint64_t)got;
    reader->end += (size_t)got;
    reader->at_end = wanted == 0;
    return true;
}

/* Files that are packed in another way than gzip's are known by how they begin. */
static bool is_text(const wfi_text_reader *reader, wfi_io_error *error)
{
    static const struct {
        size_t at, length;
        const char *bytes, *what, *unpack;
    } kinds[] = {{0, 6,
                  "\xFD"
                  "7zXZ\0",
                  "compressed with xz", "xz -dk"},
                 {0, 4, "\x28\xB5\x2F\xFD", "compressed with zstd", "zstd -d"},
                 {0, 3, "BZh", "compressed with bzip2", "bunzip2 -k"},
                 {0, 4, "PK\3\4", "a zip archive", "unzip"},
                 {257, 5, "ustar", "a tar archive", "tar -xf"}};
    const char *dot = strrchr(reader->path, '.');
    const bool archive = dot && strcmp(dot, ".npz") == 0; /* which is a zip archive */
    if (archive || (reader->end >= 6 && memcmp(reader->buffer, "\x93NUMPY", 6) == 0))
        return wfi_io_fail(error, WFI_IO_BAD_INPUT,
                           "%s: a file of NumPy's; a matrix is read from a Matrix Market file, "
                           "which scipy.io.mmwrite writes",
                           reader->path);
    for (size_t i = 0; i < WFI_COUNT(kinds); i++)
        if (reader->end >= kinds[i].at + kinds[i].length &&
            memcmp(reader->buffer + kinds[i].at, kinds[i].bytes, kinds[i].length) == 0)
            return wfi_io_fail(error, WFI_IO_BAD_INPUT,
                               "%s: the file is %s; gzip alone is read, so unpack it first: %s %s",
                               reader->path, kinds[i].what, kinds[i].unpack, reader->path);
    return true;
}

/* Moves what is left to the front and reads more behind it. */
static bool refill(wfi_text_reader *reader, wfi_io_error *error)
{
    const size_t kept = reader->end - reader->begin;
    memmove(reader->buffer, reader->buffer + reader->begin, kept);
    reader->begin = 0;
    reader->end = kept;
    if (!reader->file) {
        const bool ok = refill_range(reader, kept, error);
        reader->buffer[reader->end] = '\0';
        return ok;
    }
    errno = 0;
    const int got = gzread(reader->file, reader->buffer + kept, (unsigned)(BUFFER_BYTES - kept));
    int code = Z_OK;
    const char *message = gzerror(reader->file, &code), *cause = strstr(message, ">: ");
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        if (code == Z_ERRNO && errno)
            return wfi_io_fail(error, WFI_IO_SYSTEM, "%s: %s", reader->path, strerror(errno));
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s: damaged gzip data: %s", reader->path,
                           cause ? cause + 3 : message); /* behind the descriptor's number */
    }
    reader->end += (size_t)got;
    reader->buffer[reader->end] = '\0';
    reader->at_end = got == 0;
    return reader->line > 0 || kept > 0 || is_text(reader, error);
}

bool wfi_text_line(wfi_text_reader *reader, char **text, wfi_io_error *error)
{
    char *newline;
    size_t searched = 0;
    for (;;) {
        char *start = reader->buffer + reader->begin;
        const size_t available = reader->end - reader->begin;
        newline = memchr(start + searched, '\n', available - searched);
        if (newline || reader->at_end)
            break;
        if (available == BUFFER_BYTES)
            return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s:%llu: the line is over %u bytes",
                               reader->path, (unsigned long long)reader->line + 1,
                               (unsigned)BUFFER_BYTES);
        searched = available;
        if (!refill(reader, error))
            return false;
    }
    char *start = reader->buffer + reader->begin;
    size_t length = newline ? (size_t)(newline - start) : reader->end - reader->begin;
    if (!newline && length == 0) {
        *text = NULL;
        return true;
    }
    reader->line++;
    reader->begin += length + (newline ? 1 : 0);
    if (memchr(start, '\0', length))
        return wfi_io_fail(error, WFI_IO_BAD_INPUT, "%s:%llu: the line has a NUL byte",
                           reader->path, (unsigned long long)reader->line);
    if (length > 0 && start[length - 1] == '\r')
        length--;
    start[length] = '\0';
    *text = start;
    return true;
}
