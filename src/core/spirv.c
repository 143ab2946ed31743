#include "core/spirv.h"

#include <stdlib.h>
#include <string.h>

#include "core/spirv_code.h"

/* Bytes that are read from the front; `bad` once there were too few. */
typedef struct source {
    const uint8_t *at, *end;
    bool bad;
} source;

static uint32_t read_byte(source *from)
{
    from->bad |= from->at == from->end;
    return from->bad ? 0 : *from->at++;
}

static uint32_t read_number(source *from)
{
    uint32_t number = 0, byte = 0x80;
    for (uint32_t shift = 0; byte & 0x80 && shift < 35 && !from->bad; shift += 7) {
        byte = read_byte(from);
        number |= shift < 32 ? (byte & 0x7f) << shift : 0;
    }
    return number;
}

/* ---------------------------------------------------------------------------------- decompress */

/* Fills to[begin … end - 1]; matches may begin at to[0]. */
static bool decompress(source from, uint8_t *to, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        const uint32_t token = read_byte(&from);
        size_t run = token >> 4;
        if (run == 15)
            run += read_number(&from);
        if (from.bad || run > (size_t)(from.end - from.at) || run > end - at)
            return false;
        memcpy(to + at, from.at, run);
        from.at += run;
        at += run;
        if (at == end && (token & 15) == 0) /* the last run */
            break;
        const size_t distance = read_number(&from);
        size_t length = (token & 15) + WFI_LEAST_MATCH;
        if ((token & 15) == 15)
            length += read_number(&from);
        if (from.bad || distance == 0 || distance > at || length > end - at)
            return false;
        for (; length > 0; length--, at++) /* a match may reach into itself */
            to[at] = to[at - distance];
    }
    return !from.bad && from.at == from.end;
}

/* --------------------------------------------------------------------------------------- decode */

static uint32_t unfold(uint32_t folded)
{
    return folded >> 1 ^ (0u - (folded & 1));
}

static void decode_operands(source *from, uint32_t opcode, uint32_t *operands, uint32_t count,
                            uint32_t *last)
{
    const wfi_code_shape shape = wfi_code_shape_of(opcode);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = read_number(from);
        const bool as_it_is = shape.plain || (shape.typed && i == 0);
        operands[i] = as_it_is ? number : *last + unfold(number);
        if (i == shape.made)
            *last = operands[i];
    }
}

static bool decode(source from, uint32_t *words, uint32_t count)
{
    uint32_t last = 0;
    if (count < WFI_SPIRV_HEADER_WORDS)
        return false;
    words[0] = WFI_SPIRV_MAGIC;
    for (uint32_t i = 1; i < WFI_SPIRV_HEADER_WORDS; i++)
        words[i] = read_number(&from);
    for (uint32_t at = WFI_SPIRV_HEADER_WORDS; at < count && !from.bad;) {
        const uint32_t opcode = read_number(&from), operands = read_number(&from);
        if (operands >= count - at)
            return false;
        words[at] = (operands + 1) << 16 | opcode;
        decode_operands(&from, opcode, &words[at + 1], operands, &last);
        at += operands + 1;
    }
    return !from.bad && from.at == from.end;
}

uint32_t *wfi_spirv_unpack(const wfi_spirv *spirv)
{
    const wfi_spirv *sibling = spirv->sibling;
    const size_t before = sibling ? sibling->code_bytes : 0, end = before + spirv->code_bytes;
    uint8_t *code = malloc(end ? end : 1);
    uint32_t *words = malloc(spirv->word_count * sizeof *words);
    bool good = code && words && spirv->packed;
    if (good && sibling)
        good = decompress((source){sibling->packed, sibling->packed + sibling->packed_bytes, false},
                          code, 0, before);
    if (good)
        good = decompress((source){spirv->packed, spirv->packed + spirv->packed_bytes, false}, code,
                          before, end);
    if (good)
        good = decode((source){code + before, code + end, false}, words, spirv->word_count);
    free(code);
    if (!good) {
        free(words);
        return NULL;
    }
    return words;
}
