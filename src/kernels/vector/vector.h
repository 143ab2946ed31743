/* Operations on vectors, as the solvers use them. */
#ifndef WFI_KERNELS_VECTOR_VECTOR_H
#define WFI_KERNELS_VECTOR_VECTOR_H

#include "core/device.h"

/* WF_SUCCESS where a plan can be made of the parameters; otherwise the log says what is wrong. */
wf_result wfi_vector_check(const wf_device *device, const wf_vector_params *params);

#endif
