#include "kernels/matmul/shape.h"

#include "core/element.h"

const wf_cooperative_shape *wfi_matmul_shape(const wf_caps *caps, wf_type type, uint32_t m,
                                             uint32_t n, uint32_t k)
{
    const wfi_element *element = wfi_element_of(type);
    const uint32_t sum = element->whole ? (uint32_t)VK_COMPONENT_TYPE_SINT32_KHR
                                        : (uint32_t)VK_COMPONENT_TYPE_FLOAT32_KHR;
    return element->multiplied ? wfi_caps_shape(caps, element->component, sum, m, n, k) : NULL;
}

uint32_t wfi_matmul_chunk(wf_type type)
{
    return wf_type_size(type) == 1 ? 16 : 8;
}
