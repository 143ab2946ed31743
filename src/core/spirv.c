#include "core/spirv.h"

#include <stdbool.h>

#include "core/pipeline_cache.h"

#define HEADER_WORDS 5 /* magic, version, generator, bound, schema (SPIR-V specification, 2.3) */

/* Instructions that describe the source and not what runs (SPIR-V specification, 3.52.2). */
static bool is_debug(uint32_t opcode)
{
    enum {
        SOURCE_CONTINUED = 2,
        SOURCE = 3,
        SOURCE_EXTENSION = 4,
        NAME = 5,
        MEMBER_NAME = 6,
        STRING = 7,
        LINE = 8,
        NO_LINE = 317,
        MODULE_PROCESSED = 330
    };
    switch (opcode) {
    case SOURCE_CONTINUED:
    case SOURCE:
    case SOURCE_EXTENSION:
    case NAME:
    case MEMBER_NAME:
    case STRING:
    case LINE:
    case NO_LINE:
    case MODULE_PROCESSED:
        return true;
    default:
        return false;
    }
}

uint64_t wfi_spirv_hash(const wfi_spirv *spirv)
{
    const size_t count = spirv->size_bytes / sizeof *spirv->words;
    uint64_t hash = 0;
    for (size_t at = HEADER_WORDS; at < count;) {
        const uint32_t *words = &spirv->words[at];
        const size_t length = words[0] >> 16;
        if (length == 0 || length > count - at)
            break;
        if (!is_debug(words[0] & 0xffff))
            hash = hash * 31 + wfi_hash(words, length * sizeof *words);
        at += length;
    }
    return hash;
}
