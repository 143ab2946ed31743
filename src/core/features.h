/* The optional device features and extensions that wavefit uses: asked for in one chain, which then
 * (reduced to what wavefit uses) is also the chain given to vkCreateDevice. */
#ifndef WFI_CORE_FEATURES_H
#define WFI_CORE_FEATURES_H

#include "core/bfloat16.h"
#include "core/instance.h"

#define WFI_MAX_EXTENSIONS 32

typedef struct wfi_features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDevice16BitStorageFeatures storage16;
    VkPhysicalDevice8BitStorageFeatures storage8;
    VkPhysicalDeviceShaderFloat16Int8Features float16_int8;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size;
    VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures subgroup_types;
    VkPhysicalDeviceShaderIntegerDotProductFeatures integer_dot;
    VkPhysicalDeviceShaderAtomicInt64Features atomic_int64;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executable;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR shared_layout;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR cooperative;
#if defined(VK_NV_cooperative_matrix2)
    VkPhysicalDeviceCooperativeMatrix2FeaturesNV cooperative2;
#endif
    VkPhysicalDeviceShaderBfloat16FeaturesKHR bfloat16;
    VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional;
    bool push_descriptor, memory_budget, external_memory_host, external_memory_fd,
        shader_sm_builtins, amd_core, arm_core, drm, driver_properties, portability;
    uint32_t api_version; /* the lower of instance and device */
    uint32_t extension_count;
    const char *extensions[WFI_MAX_EXTENSIONS]; /* to enable */
} wfi_features;

/* Fills *out with those of the above features that the device has. */
wf_result wfi_features_query(const wfi_instance *instance, const wfi_log *log,
                             VkPhysicalDevice device, wfi_features *out);

/* Leaves only what the application enabled on its VkDevice; *features has no chain afterwards. */
void wfi_features_restrict(wfi_features *features, const wf_vulkan *vulkan);

#endif
