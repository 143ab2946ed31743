#include "io/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/file_range.h"
#include "io/memory.h"

#define END_BYTES 22u       /* of the end of central directory record, without its comment */
#define END64_BYTES 56u     /* of zip64's */
#define LOCATOR_BYTES 20u   /* of what finds that one, before the other */
#define ENTRY_BYTES 46u     /* of a file's entry in the directory, without names */
#define LOCAL_BYTES 30u     /* of what stands before its data, without names */
#define MOST_COMMENT 65535u /* bytes behind the end record */
#define MOST_DIRECTORY (UINT64_C(1) << 28)
#define MOST_RATIO 1032u /* of deflate */
#define PIECE_BYTES (1u << 20)
#define ENCRYPTED 1u
enum { STORED = 0, DEFLATED = 8 };

typedef struct archive {
    FILE *file;
    const char *path;
    uint64_t bytes;
    unsigned char *directory;
    uint64_t directory_bytes, count;
    wfi_io_error *error;
} archive;

typedef struct member {
    const char *name; /* not terminated */
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t stored, bytes, at;
} member;

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static bool damaged(const archive *a, const char *what)
{
    return wfi_io_fail(a->error, WFI_IO_BAD_INPUT, "%s: the .npz archive is damaged: %s", a->path,
                       what);
}

/* ------------------------------------------------------------------------------------ directory */

/* The directory's place by zip64's records, where the others have no room for it. */
static bool find_far_directory(const archive *a, uint64_t end, uint64_t place[3])
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    if (end < LOCATOR_BYTES ||
        !wfi_range_read(a->file, end - LOCATOR_BYTES, locator, LOCATOR_BYTES) ||
        memcmp(locator, "PK\6\7", 4) != 0)
        return true;
    const uint64_t at = number(locator + 8, 8);
    if (at > a->bytes || a->bytes - at < END64_BYTES ||
        !wfi_range_read(a->file, at, record, END64_BYTES) || memcmp(record, "PK\6\6", 4) != 0)
        return damaged(a, "its zip64 record is not where it should be");
    place[0] = number(record + 32, 8);
    place[1] = number(record + 40, 8);
    place[2] = number(record + 48, 8);
    return true;
}

/* Count, bytes and offset of the directory, from the record at the archive's end. */
static bool find_directory(const archive *a, uint64_t place[3])
{
    const uint64_t most = END_BYTES + MOST_COMMENT, tail = a->bytes < most ? a->bytes : most;
    unsigned char *text = malloc((size_t)tail + 1);
    if (!text)
        return wfi_io_fail(a->error, WFI_IO_NO_MEMORY, "%s: out of memory", a->path);
    uint64_t at = tail >= END_BYTES ? tail - END_BYTES + 1 : 0;
    if (!wfi_range_read(a->file, a->bytes - tail, text, tail))
        at = 0;
    while (at > 0 && memcmp(text + at - 1, "PK\5\6", 4) != 0)
        at--;
    if (at > 0) {
        place[0] = number(text + at - 1 + 10, 2);
        place[1] = number(text + at - 1 + 12, 4);
        place[2] = number(text + at - 1 + 16, 4);
    }
    free(text);
    if (at == 0)
        return damaged(a, "it has no directory at its end (was it cut short?)");
    return find_far_directory(a, a->bytes - tail + at - 1, place);
}

static bool read_directory(archive *a)
{
    uint64_t place[3] = {0};
    if (!find_directory(a, place))
        return false;
    a->count = place[0];
    a->directory_bytes = place[1];
    if (place[2] > a->bytes || place[1] > a->bytes - place[2] || place[1] > MOST_DIRECTORY)
        return damaged(a, "its directory is not inside it");
    a->directory = malloc((size_t)place[1] + 1);
    if (!a->directory)
        return wfi_io_fail(a->error, WFI_IO_NO_MEMORY, "%s: out of memory", a->path);
    return wfi_range_read(a->file, place[2], a->directory, place[1]) ||
           damaged(a, "its directory cannot be read");
}

/* Sizes and place that did not fit 32 bits, from zip64's field. */
static bool take_far_fields(const unsigned char *extra, size_t length, member *m)
{
    uint64_t *const wanted[3] = {&m->bytes, &m->stored, &m->at};
    while (length >= 4) {
        const size_t size = (size_t)number(extra + 2, 2), id = (size_t)number(extra, 2);
        if (size > length - 4)
            return false;
        for (size_t i = 0, at = 0; id == 1 && i < 3; i++)
            if (*wanted[i] == UINT32_MAX) {
                if (at + 8 > size)
                    return false;
                *wanted[i] = number(extra + 4 + at, 8);
                at += 8;
            }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

/* The entry at *at, which goes on to the next. */
static bool take_entry(const archive *a, uint64_t *at, member *m)
{
    const unsigned char *entry = a->directory + *at;
    const uint64_t left = a->directory_bytes - *at;
    if (left < ENTRY_BYTES || memcmp(entry, "PK\1\2", 4) != 0)
        return damaged(a, "its directory ends early");
    const size_t name = (size_t)number(entry + 28, 2), extra = (size_t)number(entry + 30, 2),
                 comment = (size_t)number(entry + 32, 2);
    if (left - ENTRY_BYTES < name + extra + comment)
        return damaged(a, "its directory ends early");
    *m = (member){.name = (const char *)entry + ENTRY_BYTES,
                  .name_length = name,
                  .flags = (unsigned)number(entry + 8, 2),
                  .method = (unsigned)number(entry + 10, 2),
                  .crc = (uint32_t)number(entry + 16, 4),
                  .stored = number(entry + 20, 4),
                  .bytes = number(entry + 24, 4),
                  .at = number(entry + 42, 4)};
    *at += ENTRY_BYTES + name + extra + comment;
    return take_far_fields(entry + ENTRY_BYTES + name, extra, m) ||
           damaged(a, "an entry's zip64 field is too short");
}

static bool ends_in_npy(const member *m)
{
    return m->name_length >= 4 && memcmp(m->name + m->name_length - 4, ".npy", 4) == 0;
}

static bool is_called(const member *m, const char *name)
{
    const size_t length = strlen(name), rest = m->name_length - length;
    return m->name_length >= length && memcmp(m->name, name, length) == 0 &&
           (rest == 0 || (rest == 4 && ends_in_npy(m)));
}

/* "a, b": the arrays' names, as far as there is room, for an error. */
static void append_name(char *list, size_t room, const member *m)
{
    const size_t used = strlen(list), length = m->name_length - 4;
    if (used + length + 8 < room)
        snprintf(list + used, room - used, "%s%.*s", used ? ", " : "", (int)length, m->name);
}

/* The array that is asked for. */
static bool find(const archive *a, const char *name, member *out)
{
    char list[400] = "";
    uint64_t at = 0, arrays = 0, found = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        member m;
        if (!take_entry(a, &at, &m))
            return false;
        const bool array = ends_in_npy(&m);
        arrays += array;
        if (array)
            append_name(list, sizeof list, &m);
        if (name ? is_called(&m, name) : array) {
            *out = m;
            found++;
        }
    }
    if (arrays == 0 && found == 0)
        return wfi_io_fail(a->error, WFI_IO_BAD_INPUT, "%s: a zip archive without .npy arrays",
                           a->path);
    if (found == 0)
        return wfi_io_fail(a->error, WFI_IO_BAD_INPUT, "%s: there is no array '%s'; there are: %s",
                           a->path, name, list);
    if (!name && found > 1)
        return wfi_io_fail(a->error, WFI_IO_BAD_INPUT,
                           "%s: name one of its arrays behind a colon, %s:NAME; there are: %s",
                           a->path, a->path, list);
    return true;
}

/* ---------------------------------------------------------------------------------------- data */

/* Goes from the header that stands before the data to the data. */
static bool skip_local_header(const archive *a, member *m)
{
    unsigned char local[LOCAL_BYTES];
    if (m->at > a->bytes || a->bytes - m->at < LOCAL_BYTES ||
        !wfi_range_read(a->file, m->at, local, LOCAL_BYTES) || memcmp(local, "PK\3\4", 4) != 0)
        return damaged(a, "an array is not where its directory says");
    m->at += LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (m->at > a->bytes || m->stored > a->bytes - m->at)
        return damaged(a, "an array goes beyond its end");
    return true;
}

/* Inflates into exactly m->bytes bytes. */
static bool inflate_data(const archive *a, const member *m, unsigned char *data)
{
    unsigned char *piece = malloc(PIECE_BYTES);
    z_stream z = {0};
    uint64_t taken = 0, given = 0;
    int code = piece && inflateInit2(&z, -MAX_WBITS) == Z_OK ? Z_OK : Z_MEM_ERROR;
    const bool begun = code == Z_OK;
    while (code == Z_OK) {
        /* A byte more, so that one too many shows. */
        const uint64_t left = m->stored - taken, room = m->bytes + 1 - given;
        if (z.avail_in == 0 && left > 0) {
            z.avail_in = left < PIECE_BYTES ? (uInt)left : PIECE_BYTES;
            z.next_in = piece;
            if (!wfi_range_read(a->file, m->at + taken, piece, z.avail_in))
                break;
            taken += z.avail_in;
        }
        const uInt offered = room < PIECE_BYTES ? (uInt)room : PIECE_BYTES;
        z.next_out = data + given;
        z.avail_out = offered;
        code = inflate(&z, Z_NO_FLUSH);
        given += offered - z.avail_out;
    }
    if (begun)
        inflateEnd(&z);
    free(piece);
    if (code == Z_MEM_ERROR)
        return wfi_io_fail(a->error, WFI_IO_NO_MEMORY, "%s: out of memory", a->path);
    return (code == Z_STREAM_END && given == m->bytes) ||
           damaged(a, "the array cannot be inflated");
}

static uint32_t checksum(const unsigned char *data, uint64_t bytes)
{
    uLong crc = crc32(0, NULL, 0);
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES)
        crc = crc32(crc, data + at, bytes - at < PIECE_BYTES ? (uInt)(bytes - at) : PIECE_BYTES);
    return (uint32_t)crc;
}

static unsigned char *load(const archive *a, member *m)
{
    if (m->flags & ENCRYPTED || (m->method != STORED && m->method != DEFLATED)) {
        wfi_io_set_error(a->error, WFI_IO_UNSUPPORTED,
                         "%s: the array is %s; stored and deflated ones are read, as numpy.savez "
                         "and savez_compressed write them",
                         a->path, m->flags & ENCRYPTED ? "encrypted" : "packed in another way");
        return NULL;
    }
    if (!skip_local_header(a, m))
        return NULL;
    if (m->method == STORED ? m->bytes != m->stored : m->bytes / MOST_RATIO > m->stored + 1) {
        damaged(a, "an array's sizes do not go together");
        return NULL;
    }
    unsigned char *data =
        (double)m->bytes <= wfi_physical_memory() ? malloc((size_t)m->bytes + 1) : NULL;
    bool ok = data || wfi_io_fail(a->error, WFI_IO_NO_MEMORY, "%s: %llu bytes: out of memory",
                                  a->path, (unsigned long long)m->bytes);
    if (ok && m->method == DEFLATED)
        ok = inflate_data(a, m, data);
    else if (ok)
        ok = wfi_range_read(a->file, m->at, data, m->bytes) || damaged(a, "it cannot be read");
    if (ok && checksum(data, m->bytes) != m->crc)
        ok = damaged(a, "the array's checksum is wrong");
    if (ok)
        return data;
    free(data);
    return NULL;
}

const char *wfi_npz_split(const char *path)
{
    const char *split = NULL;
    for (const char *at = strstr(path, ".npz:"); at; at = strstr(at + 1, ".npz:"))
        split = at + 4;
    return split;
}

void *wfi_npz_read(FILE *file, const char *path, const char *name, size_t *bytes,
                   wfi_io_error *error)
{
    archive a = {.file = file, .path = path, .error = error};
    const int64_t size = wfi_range_bytes(file);
    unsigned char *data = NULL;
    member m = {0};
    a.bytes = size > 0 ? (uint64_t)size : 0;
    if (read_directory(&a) && find(&a, name, &m))
        data = load(&a, &m);
    *bytes = (size_t)m.bytes;
    free(a.directory);
    return data;
}
