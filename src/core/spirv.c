#include "core/spirv.h"

#include "core/heap.h"
#include "core/spirv_code.h"
#include "core/unpack.h"

static uint32_t unfold(uint32_t folded)
{
    return folded >> 1 ^ (0u - (folded & 1));
}

static void decode_operands(wfi_source *from, uint32_t opcode, uint32_t *operands, uint32_t count,
                            uint32_t *last)
{
    const wfi_code_shape shape = wfi_code_shape_of(opcode);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = wfi_read_number(from);
        const bool as_it_is = shape.plain || (shape.typed && i == 0);
        operands[i] = as_it_is ? number : *last + unfold(number);
        if (i == shape.made)
            *last = operands[i];
    }
}

static bool decode(wfi_source from, uint32_t *words, uint32_t count)
{
    uint32_t last = 0;
    if (count < WFI_SPIRV_HEADER_WORDS)
        return false;
    words[0] = WFI_SPIRV_MAGIC;
    for (uint32_t i = 1; i < WFI_SPIRV_HEADER_WORDS; i++)
        words[i] = wfi_read_number(&from);
    for (uint32_t at = WFI_SPIRV_HEADER_WORDS; at < count && !from.bad;) {
        const uint32_t opcode = wfi_read_number(&from), operands = wfi_read_number(&from);
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
    uint8_t *code = wfi_malloc(end ? end : 1);
    uint32_t *words = wfi_malloc(spirv->word_count * sizeof *words);
    bool good = code && words && spirv->packed;
    if (good && sibling)
        good = wfi_unpack(sibling->packed, sibling->packed_bytes, code, 0, before);
    if (good)
        good = wfi_unpack(spirv->packed, spirv->packed_bytes, code, before, end);
    if (good)
        good = decode((wfi_source){code + before, code + end, false}, words, spirv->word_count);
    wfi_free(code);
    if (!good) {
        wfi_free(words);
        return NULL;
    }
    return words;
}
