/* A compiled shader, embedded in the library: instructions coded by how far their ids lie from the
 * last result, then compressed (spirv_code.h). cmake/pack packs it, wfi_spirv_unpack
 * unpacks it. */
#ifndef WFI_CORE_SPIRV_H
#define WFI_CORE_SPIRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wfi_spirv {
    const uint8_t *packed; /* NULL: not built, the GLSL compiler was too old for it */
    uint32_t packed_bytes;
    uint32_t code_bytes; /* of the coded instructions, decompressed */
    uint32_t word_count; /* of the module */
    /* A module of the same source, in whose coded instructions matches may lie; NULL: none. It has
     * no sibling itself. */
    const struct wfi_spirv *sibling;
    const char *name;
    uint64_t hash; /* of what the module does: which compiler made it does not count */
} wfi_spirv;

/* The module's words, word_count of them, to be freed. NULL: there is no memory, or the packed data
 * are damaged. The module has neither names nor lines of its source. */
uint32_t *wfi_spirv_unpack(const wfi_spirv *spirv);

#endif
