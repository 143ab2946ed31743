/* The rows of each family, one file a family. */
#ifndef WFI_KERNELS_FAMILIES_H
#define WFI_KERNELS_FAMILIES_H

#include "kernels/family.h"

extern const wfi_family wfi_family_stencil;
extern const wfi_family wfi_family_spmv;
extern const wfi_family wfi_family_matmul;
extern const wfi_family wfi_family_vector;
extern const wfi_family wfi_family_grid;

#endif
