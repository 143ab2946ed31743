#include "kernels/matmul/shape.h"

#include "core/bfloat16.h"

const wf_cooperative_shape *wfi_matmul_shape(const wf_caps *caps, wf_type type, uint32_t m,
                                             uint32_t n, uint32_t k)
{
    const uint32_t factor = type == WF_TYPE_I8     ? (uint32_t)VK_COMPONENT_TYPE_SINT8_KHR
                            : type == WF_TYPE_BF16 ? WFI_COMPONENT_BFLOAT16
                                                   : (uint32_t)VK_COMPONENT_TYPE_FLOAT16_KHR;
    const uint32_t sum = type == WF_TYPE_I8 ? (uint32_t)VK_COMPONENT_TYPE_SINT32_KHR
                                            : (uint32_t)VK_COMPONENT_TYPE_FLOAT32_KHR;
    return wfi_caps_shape(caps, factor, sum, m, n, k);
}
