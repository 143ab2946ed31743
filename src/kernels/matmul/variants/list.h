/* The variants of the family, each defined in the file of its name; the steps of the ladder from
 * tiled to register, which share a module, in register.c. */
#ifndef WFI_KERNELS_MATMUL_VARIANTS_LIST_H
#define WFI_KERNELS_MATMUL_VARIANTS_LIST_H

#include "plan/family.h"
#include "wfi_shaders.h"

extern const wfi_variant wfi_matmul_naive, wfi_matmul_dispatch, wfi_matmul_tiled, wfi_matmul_tiled2,
    wfi_matmul_kstep, wfi_matmul_blocked, wfi_matmul_kept, wfi_matmul_transposed,
    wfi_matmul_register, wfi_matmul_vector, wfi_matmul_subgroup_k, wfi_matmul_panel,
    wfi_matmul_outer, wfi_matmul_dot, wfi_matmul_matvec, wfi_matmul_cooperative, wfi_matmul_f16x2;

/* What lists of sizes expect of tiles of plain multiply-adds is no match for a predicted time of
 * `cooperative`: they take this time at least. 0: it has none. */
double wfi_matmul_least_plain_time(const wfi_point *point);

#endif
