/* VK_KHR_shader_bfloat16 for Vulkan headers from before it (1.4.317): values are those of the
 * registry. */
#ifndef WFI_CORE_BFLOAT16_H
#define WFI_CORE_BFLOAT16_H

#include <vulkan/vulkan_core.h>

#if defined(VK_KHR_shader_bfloat16)
#define WFI_COMPONENT_BFLOAT16 ((uint32_t)VK_COMPONENT_TYPE_BFLOAT16_KHR)
#else
#define WFI_COMPONENT_BFLOAT16 1000141000u
#define VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME "VK_KHR_shader_bfloat16"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR ((VkStructureType)1000141000)
typedef struct VkPhysicalDeviceShaderBfloat16FeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderBFloat16Type;
    VkBool32 shaderBFloat16DotProduct;
    VkBool32 shaderBFloat16CooperativeMatrix;
} VkPhysicalDeviceShaderBfloat16FeaturesKHR;
#endif

#endif
