/* Compressed data of the library's own: shaders and tuning rows. cmake/pack makes them.
 *
 * They are runs of bytes as they are and matches with earlier bytes (LZ77), by turns. A byte has
 * the length of the run in its upper four bits and that of the match, less WFI_UNPACK_LEAST, in its
 * lower four; where that is 15, a number follows with what is above 15: for the run before its
 * bytes, for the match behind its distance, which is a number too. The last run has no match and 0
 * for its length. A number has seven bits a byte, the lowest first, and the high bit set in all
 * bytes but the last. */
#ifndef WFI_CORE_UNPACK_H
#define WFI_CORE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WFI_UNPACK_LEAST 4u

/* Bytes that are read from the front; `bad` once there were too few. */
typedef struct wfi_source {
    const uint8_t *at, *end;
    bool bad;
} wfi_source;

static inline uint32_t wfi_read_byte(wfi_source *from)
{
    from->bad |= from->at == from->end;
    return from->bad ? 0 : *from->at++;
}

static inline uint32_t wfi_read_number(wfi_source *from)
{
    uint32_t number = 0, byte = 0x80;
    for (uint32_t shift = 0; byte & 0x80 && shift < 35 && !from->bad; shift += 7) {
        byte = wfi_read_byte(from);
        number |= shift < 32 ? (byte & 0x7f) << shift : 0;
    }
    return number;
}

/* Fills to[begin … end - 1]; matches may begin at to[0]. False: the data are damaged. */
bool wfi_unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *to, size_t begin, size_t end);

#endif
