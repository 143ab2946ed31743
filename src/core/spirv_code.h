/* How instructions of modules are coded before they are compressed (unpack.h), for cmake/pack and
 * spirv.c: the header's version, generator, bound and schema, then each instruction's opcode,
 * number of operands and operands. All are numbers as unpack.h has them. Operands that are not
 * `plain` count from the last result's id, as signed numbers folded to 0, -1, 1, -2, …: most ids
 * lie close behind the instruction that made them. */
#ifndef WFI_CORE_SPIRV_CODE_H
#define WFI_CORE_SPIRV_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define WFI_SPIRV_MAGIC 0x07230203u
#define WFI_SPIRV_HEADER_WORDS 5 /* magic, version, generator, bound, schema */

/* What the coder knows of an instruction; a wrong answer costs bytes and nothing else. */
typedef struct wfi_code_shape {
    bool plain;    /* operands are literals */
    bool typed;    /* operand 0 is a type, whose id is told as it is */
    uint32_t made; /* the operand that is the result's id; UINT32_MAX: none is */
} wfi_code_shape;

static inline wfi_code_shape wfi_code_shape_of(uint32_t opcode)
{
    switch (opcode) { /* SPIR-V specification, 3.49 */
    case 10:          /* OpExtension */
    case 11:          /* OpExtInstImport */
    case 15:          /* OpEntryPoint */
    case 16:          /* OpExecutionMode */
    case 43:          /* OpConstant */
    case 50:          /* OpSpecConstant */
    case 71:          /* OpDecorate */
    case 72:          /* OpMemberDecorate */
        return (wfi_code_shape){true, false, UINT32_MAX};
    case 17:  /* OpCapability */
    case 14:  /* OpMemoryModel */
    case 62:  /* OpStore */
    case 63:  /* OpCopyMemory */
    case 224: /* OpControlBarrier */
    case 225: /* OpMemoryBarrier */
    case 246: /* OpLoopMerge */
    case 247: /* OpSelectionMerge */
    case 249: /* OpBranch */
    case 250: /* OpBranchConditional */
    case 251: /* OpSwitch */
    case 253: /* OpReturn */
    case 254: /* OpReturnValue */
    case 255: /* OpUnreachable */
        return (wfi_code_shape){false, false, UINT32_MAX};
    case 248: /* OpLabel */
        return (wfi_code_shape){false, false, 0};
    default:
        return (wfi_code_shape){false, true, 1};
    }
}

#endif
