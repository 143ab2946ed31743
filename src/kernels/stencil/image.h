/* The kernels of stencils on storage images, which nobody chooses or tunes. */
#ifndef WFI_KERNELS_STENCIL_IMAGE_H
#define WFI_KERNELS_STENCIL_IMAGE_H

#include "kernels/stencil/stencil.h"

/* The format must not be WF_IMAGE_NONE. */
const wfi_variant *wfi_stencil_image_variant(const wfi_stencil_problem *problem, wf_image format);

#endif
