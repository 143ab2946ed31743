/* Which shapes of cooperative matrices a device offers, and in what pieces they are loaded. */
#ifndef WFI_KERNELS_MATMUL_SHAPE_H
#define WFI_KERNELS_MATMUL_SHAPE_H

#include "core/caps.h"

/* A shape that the device offers for products of the type (F32: the f16 of variant f16x2); NULL:
 * none of that size (0: any, the largest). */
const wf_cooperative_shape *wfi_matmul_shape(const wf_caps *caps, wf_type type, uint32_t m,
                                             uint32_t n, uint32_t k);
/* Elements in 16 bytes of what the matrix units read: f32 is two of f16 there. */
uint32_t wfi_matmul_chunk(wf_type type);

#endif
