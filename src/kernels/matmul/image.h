/* Products whose operands or results are storage images. */
#ifndef WFI_KERNELS_MATMUL_IMAGE_H
#define WFI_KERNELS_MATMUL_IMAGE_H

#include "kernels/matmul/matmul.h"

/* wfi_family_hooks.finish: params are a wf_matmul_params. */
wf_result wfi_matmul_exchange_images(wf_plan *plan, const wfi_point *point, const void *params);

#endif
