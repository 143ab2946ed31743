/* NumPy's .npz files. An input that begins as zip's do is read as it is. Any other is an array's
 * file that goes into an archive first, stored or deflated, alone or as one of two, as its last
 * byte says: so it passes the archive's checksum, and must be read as the array's own file is. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/npy.h"
#include "target.h"

enum { DEFLATED = 1, TWO_ARRAYS = 2, ZIP64 = 4, MOST_ENTRIES = 2 };

typedef struct archive {
    uint8_t *bytes;
    size_t used;
    struct {
        size_t at, stored, plain;
        uint32_t crc;
    } entries[MOST_ENTRIES];
} archive;

static void put(archive *a, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        a->bytes[a->used++] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
}

/* The fields that a local header and the directory have in common, from the version on. */
static void put_common(archive *a, int entry, unsigned how, size_t extra)
{
    const bool far = extra > 0;
    put(a, 20, 2);
    put(a, 0, 2);
    put(a, how & DEFLATED ? 8 : 0, 2);
    put(a, 0, 4);
    put(a, a->entries[entry].crc, 4);
    put(a, far ? UINT32_MAX : a->entries[entry].stored, 4);
    put(a, far ? UINT32_MAX : a->entries[entry].plain, 4);
    put(a, 5, 2);
    put(a, extra, 2);
}

static void put_data(archive *a, const uint8_t *data, size_t size, unsigned how)
{
    if (!(how & DEFLATED)) {
        memcpy(a->bytes + a->used, data, size);
        a->used += size;
        return;
    }
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = a->bytes + a->used,
                  .avail_out = (uInt)(2 * size + 64)};
    if (deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        fuzz_wrong("the input cannot be compressed");
    a->used += z.total_out;
    deflateEnd(&z);
}

static void put_array(archive *a, int entry, const uint8_t *data, size_t size, unsigned how)
{
    a->entries[entry].at = a->used;
    a->entries[entry].plain = size;
    a->entries[entry].crc = (uint32_t)crc32(0, data, (uInt)size);
    put(a, 0x04034b50, 4);
    put_common(a, entry, how, 0);
    memcpy(a->bytes + a->used, entry ? "b.npy" : "a.npy", 5);
    a->used += 5;
    const size_t begin = a->used;
    put_data(a, data, size, how);
    a->entries[entry].stored = a->used - begin;
}

static void put_directory(archive *a, int count, unsigned how)
{
    const size_t at = a->used;
    for (int i = 0; i < count; i++) {
        const size_t extra = how & ZIP64 ? 20 : 0;
        put(a, 0x02014b50, 4);
        put(a, 20, 2);
        put_common(a, i, how, extra);
        put(a, 0, 2 + 2 + 2 + 4);
        put(a, a->entries[i].at, 4);
        memcpy(a->bytes + a->used, i ? "b.npy" : "a.npy", 5);
        a->used += 5;
        if (extra) { /* zip64: the sizes again, in 8 bytes each */
            put(a, 1, 2);
            put(a, 16, 2);
            put(a, a->entries[i].plain, 8);
            put(a, a->entries[i].stored, 8);
        }
    }
    const size_t bytes = a->used - at;
    put(a, 0x06054b50, 4);
    put(a, 0, 4);
    put(a, (uint64_t)count, 2);
    put(a, (uint64_t)count, 2);
    put(a, bytes, 4);
    put(a, at, 4);
    put(a, 0, 2);
}

static bool read_file(const char *path, wfi_npy *npy)
{
    wfi_io_error error = {0};
    *npy = (wfi_npy){0};
    if (wfi_npy_read(path, npy, &error))
        return true;
    fuzz_check_error(&error, path);
    return false;
}

/* The array in the archive and the one in a file of its own are the same. */
static void compare(const archive *a, unsigned how, const uint8_t *data, size_t size)
{
    wfi_npy packed, plain;
    char path[80];
    snprintf(path, sizeof path, "%s%s", fuzz_file("a.npz", a->bytes, a->used),
             how & TWO_ARRAYS ? ":a" : "");
    const bool ok = read_file(path, &packed),
               also = read_file(fuzz_file("a.npy", data, size), &plain);
    if (ok != also)
        fuzz_wrong("an array is read from a file and not from an archive, or the other way about");
    if (ok && (packed.type != plain.type || wfi_npy_count(&packed) != wfi_npy_count(&plain) ||
               memcmp(packed.data, plain.data,
                      (size_t)wfi_npy_count(&plain) * wf_type_size(plain.type)) != 0))
        fuzz_wrong("an array is another one in an archive");
    wfi_npy_free(&packed);
    wfi_npy_free(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wfi_npy npy;
    if (size < 2)
        return 0;
    if (data[0] == 'P' && data[1] == 'K') {
        char path[80];
        const char *file = fuzz_file("a.npz", data, size);
        if (read_file(file, &npy))
            wfi_npy_free(&npy);
        snprintf(path, sizeof path, "%s:a", file);
        if (read_file(path, &npy))
            wfi_npy_free(&npy);
        return 0;
    }
    const unsigned how = data[--size];
    archive a = {.bytes = calloc(6 * size + 2048, 1)};
    if (!a.bytes)
        return 0;
    put_array(&a, 0, data, size, how);
    if (how & TWO_ARRAYS)
        put_array(&a, 1, data, size, how);
    put_directory(&a, how & TWO_ARRAYS ? 2 : 1, how);
    compare(&a, how, data, size);
    free(a.bytes);
    return 0;
}
