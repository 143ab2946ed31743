/* The families: a line each, of its wf_family and of the name of its row and hooks. */
#ifndef WFI_KERNELS_FAMILIES_H
#define WFI_KERNELS_FAMILIES_H

#include "plan/family.h"

#define WFI_EACH_FAMILY(X)                                                                         \
    X(HIMENO, himeno)                                                                              \
    X(SPMV, spmv)                                                                                  \
    X(MATMUL, matmul)                                                                              \
    X(VECTOR, vector)                                                                              \
    X(STENCIL, stencil)

#define WFI_DECLARE_FAMILY(id, name)                                                               \
    extern const wfi_family wfi_family_##name;                                                     \
    extern const struct wfi_family_hooks wfi_##name##_hooks;
WFI_EACH_FAMILY(WFI_DECLARE_FAMILY)
#undef WFI_DECLARE_FAMILY

/* NULL for an unknown family, and for one that this build leaves out. */
const wfi_family *wfi_family_get(wf_family family);

#endif
