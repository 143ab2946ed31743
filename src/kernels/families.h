/* The rows of each family, one file a family. */
#ifndef WFI_KERNELS_FAMILIES_H
#define WFI_KERNELS_FAMILIES_H

#include "plan/family.h"

extern const wfi_family wfi_family_himeno;
extern const wfi_family wfi_family_spmv;
extern const wfi_family wfi_family_matmul;
extern const wfi_family wfi_family_vector;
extern const wfi_family wfi_family_stencil;

extern const struct wfi_family_hooks wfi_himeno_hooks;
extern const struct wfi_family_hooks wfi_spmv_hooks;
extern const struct wfi_family_hooks wfi_matmul_hooks;
extern const struct wfi_family_hooks wfi_vector_hooks;
extern const struct wfi_family_hooks wfi_stencil_hooks;

/* NULL for an unknown family, and for one that this build leaves out. */
const wfi_family *wfi_family_get(wf_family family);

#endif
