/* Matrix Market files compressed by gzip. An input that begins as gzip's files do is read as it is;
 * any other is a text that is compressed first, in one or two members, whole or damaged as its last
 * byte says. What is whole must be read as the text is. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/matrix_market.h"
#include "target.h"

enum { LEVEL = 7, TWO_MEMBERS = 8, CUT = 16, FLIP = 32, TRAILING = 64 };

/* Compresses a member behind *used bytes of `to`. */
static void pack(const uint8_t *data, size_t size, int level, uint8_t *to, size_t room,
                 size_t *used)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = to + *used,
                  .avail_out = (uInt)(room - *used)};
    if (deflateInit2(&z, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        fuzz_wrong("the input cannot be compressed");
    *used = room - z.avail_out;
    deflateEnd(&z);
}

static bool read_file(const char *path, wfi_csr *m, wfi_io_error *error)
{
    *m = (wfi_csr){0};
    if (wfi_matrix_market_read(path, m, error)) {
        fuzz_check_matrix(m);
        return true;
    }
    fuzz_check_error(error, path);
    return false;
}

static bool same(const wfi_csr *a, const wfi_csr *b)
{
    return a->rows == b->rows && a->columns == b->columns && a->entries == b->entries &&
           memcmp(a->column_indices, b->column_indices, a->entries * sizeof(uint32_t)) == 0 &&
           memcmp(a->values, b->values, a->entries * sizeof(double)) == 0;
}

/* Whether a file of these bytes would be taken for a compressed one, or for one of another kind. */
static bool begins_like_an_archive(const uint8_t *data, size_t size)
{
    return size > 0 && (data[0] == 0x1f || data[0] == 0xfd || data[0] == 0x28 || data[0] == 'B' ||
                        data[0] == 'P');
}

/* The packed file and the plain one give the same. */
static void compare(const char *path, const uint8_t *data, size_t size)
{
    wfi_csr packed, plain;
    wfi_io_error error = {0};
    const char *text = fuzz_file("a.mtx", data, size);
    const bool ok = read_file(path, &packed, &error), also = read_file(text, &plain, &error);
    if (ok != also)
        fuzz_wrong("a compressed text is taken and the plain one refused, or the other way about");
    if (ok && !same(&packed, &plain))
        fuzz_wrong("a compressed text gives another matrix");
    wfi_csr_free(&packed);
    wfi_csr_free(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wfi_io_error error = {0};
    wfi_csr m;
    if (size < 2)
        return 0;
    if (data[0] == 0x1f && data[1] == 0x8b) {
        read_file(fuzz_file("a.mtx.gz", data, size), &m, &error);
        wfi_csr_free(&m);
        return 0;
    }
    const unsigned how = data[--size];
    const size_t room = 2 * size + 1024, half = how & TWO_MEMBERS ? size / 2 : size;
    uint8_t *packed = calloc(room, 1);
    size_t used = 0;
    if (!packed)
        return 0;
    pack(data, half, (int)(how & LEVEL), packed, room, &used);
    if (how & TWO_MEMBERS)
        pack(data + half, size - half, (int)(how & LEVEL), packed, room, &used);
    const bool whole = !(how & (CUT | FLIP | TRAILING));
    if (how & CUT)
        used -= 1 + data[0] % (used - 1);
    if (how & FLIP)
        packed[data[0] * (size_t)251 % used] ^= (uint8_t)(1u << data[1] % 8);
    if (how & TRAILING)
        memcpy(packed + used, data, size < 64 ? size : 64), used += size < 64 ? size : 64;
    const char *path = fuzz_file("a.mtx.gz", packed, used);
    if (whole && !begins_like_an_archive(data, size)) {
        compare(path, data, size);
    } else {
        read_file(path, &m, &error);
        wfi_csr_free(&m);
    }
    free(packed);
    return 0;
}
