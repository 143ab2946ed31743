/* The variants of the spmv family, in their order; the first is the reference, legal everywhere. To
 * add one, write variants/<name>.c, which defines wfi_spmv_<name>, and name it here. */
#ifndef WFI_KERNELS_SPMV_VARIANTS_H
#define WFI_KERNELS_SPMV_VARIANTS_H

#include "plan/family.h"

#define WFI_SPMV_VARIANTS(X)                                                                       \
    X(row)                                                                                         \
    X(plain)                                                                                       \
    X(texel)                                                                                       \
    X(shared)                                                                                      \
    X(atomic)                                                                                      \
    X(add)                                                                                         \
    X(lanes)                                                                                       \
    X(many)                                                                                        \
    X(row_many)                                                                                    \
    X(adaptive)                                                                                    \
    X(merge)                                                                                       \
    X(blocked)                                                                                     \
    X(sliced)                                                                                      \
    X(equal)                                                                                       \
    X(stream)                                                                                      \
    X(quads)

#define WFI_SPMV_DECLARE(name) extern const wfi_variant wfi_spmv_##name;
WFI_SPMV_VARIANTS(WFI_SPMV_DECLARE)
#undef WFI_SPMV_DECLARE

#endif
