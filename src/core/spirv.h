/* A compiled shader, embedded in the library. */
#ifndef WFI_CORE_SPIRV_H
#define WFI_CORE_SPIRV_H

#include <stddef.h>
#include <stdint.h>

typedef struct wfi_spirv {
    const uint32_t *words; /* NULL: not built, the GLSL compiler was too old for it */
    size_t size_bytes;
    const char *name;
} wfi_spirv;

/* Hash of what the module does: names, source text and lines, and which compiler made it, do not
 * count. */
uint64_t wfi_spirv_hash(const wfi_spirv *spirv);

#endif
