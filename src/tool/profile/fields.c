#include <stdbool.h>
#include <string.h>

#include "tool/profile/fields.h"

#include "core/arithmetic.h"

#define ROW(stype, structure, member, text, what, which, is_feature)                               \
    {                                                                                              \
        .type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype, .name = (text),                         \
        .at = offsetof(structure, member), .kind = WFI_FIELD_##what, .order = WFI_ORDER_##which,   \
        .feature = (is_feature)                                                                    \
    }

#define BASIC(member)                                                                              \
    ROW(FEATURES_2, VkPhysicalDeviceFeatures2, features.member, #member, BOOL, MORE, true)
#define FEATURE(stype, structure, member)                                                          \
    ROW(stype##_FEATURES, VkPhysicalDevice##structure##Features, member, #member, BOOL, MORE, true)
#define FEATURE_KHR(stype, structure, member)                                                      \
    ROW(stype##_FEATURES_KHR, VkPhysicalDevice##structure##FeaturesKHR, member, #member, BOOL,     \
        MORE, true)
#define FEATURE_EXT(stype, structure, member)                                                      \
    ROW(stype##_FEATURES_EXT, VkPhysicalDevice##structure##FeaturesEXT, member, #member, BOOL,     \
        MORE, true)
/* Structures that stand for several of the above. */
#define FEATURE_11(member)                                                                         \
    ROW(VULKAN_1_1_FEATURES, VkPhysicalDeviceVulkan11Features, member, #member, BOOL, MORE, true)
#define FEATURE_12(member)                                                                         \
    ROW(VULKAN_1_2_FEATURES, VkPhysicalDeviceVulkan12Features, member, #member, BOOL, MORE, true)
#define FEATURE_13(member)                                                                         \
    ROW(VULKAN_1_3_FEATURES, VkPhysicalDeviceVulkan13Features, member, #member, BOOL, MORE, true)

#define IDENTITY(member, kind)                                                                     \
    ROW(PROPERTIES_2, VkPhysicalDeviceProperties2, properties.member, #member, kind, NAME, false)
#define LIMIT(member, kind, order)                                                                 \
    ROW(PROPERTIES_2, VkPhysicalDeviceProperties2, properties.limits.member, #member, kind, order, \
        false)
#define PROPERTY(stype, structure, member, kind, order)                                            \
    ROW(stype, VkPhysicalDevice##structure, member, #member, kind, order, false)

const wfi_field wfi_fields[] = {
    BASIC(robustBufferAccess),
    BASIC(shaderFloat64),
    BASIC(shaderInt64),
    BASIC(shaderInt16),
    BASIC(shaderStorageImageExtendedFormats),
    BASIC(shaderStorageImageReadWithoutFormat),
    BASIC(shaderStorageImageWriteWithoutFormat),
    BASIC(shaderStorageBufferArrayDynamicIndexing),
    BASIC(sparseBinding),
    FEATURE(16BIT_STORAGE, 16BitStorage, storageBuffer16BitAccess),
    FEATURE(16BIT_STORAGE, 16BitStorage, uniformAndStorageBuffer16BitAccess),
    FEATURE(16BIT_STORAGE, 16BitStorage, storagePushConstant16),
    FEATURE_11(storageBuffer16BitAccess),
    FEATURE_11(uniformAndStorageBuffer16BitAccess),
    FEATURE(8BIT_STORAGE, 8BitStorage, storageBuffer8BitAccess),
    FEATURE(8BIT_STORAGE, 8BitStorage, uniformAndStorageBuffer8BitAccess),
    FEATURE_12(storageBuffer8BitAccess),
    FEATURE_12(uniformAndStorageBuffer8BitAccess),
    FEATURE(SHADER_FLOAT16_INT8, ShaderFloat16Int8, shaderFloat16),
    FEATURE(SHADER_FLOAT16_INT8, ShaderFloat16Int8, shaderInt8),
    FEATURE_12(shaderFloat16),
    FEATURE_12(shaderInt8),
    FEATURE(SUBGROUP_SIZE_CONTROL, SubgroupSizeControl, subgroupSizeControl),
    FEATURE(SUBGROUP_SIZE_CONTROL, SubgroupSizeControl, computeFullSubgroups),
    FEATURE_13(subgroupSizeControl),
    FEATURE_13(computeFullSubgroups),
    FEATURE(SHADER_SUBGROUP_EXTENDED_TYPES, ShaderSubgroupExtendedTypes,
            shaderSubgroupExtendedTypes),
    FEATURE_12(shaderSubgroupExtendedTypes),
    FEATURE(SHADER_INTEGER_DOT_PRODUCT, ShaderIntegerDotProduct, shaderIntegerDotProduct),
    FEATURE_13(shaderIntegerDotProduct),
    FEATURE(SHADER_ATOMIC_INT64, ShaderAtomicInt64, shaderBufferInt64Atomics),
    FEATURE(SHADER_ATOMIC_INT64, ShaderAtomicInt64, shaderSharedInt64Atomics),
    FEATURE_12(shaderBufferInt64Atomics),
    FEATURE_EXT(SHADER_ATOMIC_FLOAT, ShaderAtomicFloat, shaderBufferFloat32AtomicAdd),
    FEATURE_EXT(SHADER_ATOMIC_FLOAT, ShaderAtomicFloat, shaderBufferFloat64AtomicAdd),
    FEATURE(VULKAN_MEMORY_MODEL, VulkanMemoryModel, vulkanMemoryModel),
    FEATURE(VULKAN_MEMORY_MODEL, VulkanMemoryModel, vulkanMemoryModelDeviceScope),
    FEATURE(VULKAN_MEMORY_MODEL, VulkanMemoryModel, vulkanMemoryModelAvailabilityVisibilityChains),
    FEATURE_12(vulkanMemoryModel),
    FEATURE_12(vulkanMemoryModelDeviceScope),
    FEATURE_KHR(PIPELINE_EXECUTABLE_PROPERTIES, PipelineExecutableProperties,
                pipelineExecutableInfo),
    FEATURE(BUFFER_DEVICE_ADDRESS, BufferDeviceAddress, bufferDeviceAddress),
    FEATURE_12(bufferDeviceAddress),
    FEATURE_KHR(WORKGROUP_MEMORY_EXPLICIT_LAYOUT, WorkgroupMemoryExplicitLayout,
                workgroupMemoryExplicitLayout),
    FEATURE_KHR(WORKGROUP_MEMORY_EXPLICIT_LAYOUT, WorkgroupMemoryExplicitLayout,
                workgroupMemoryExplicitLayout16BitAccess),
    FEATURE_KHR(COOPERATIVE_MATRIX, CooperativeMatrix, cooperativeMatrix),
    ROW(PROPERTIES_2, VkPhysicalDeviceProperties2, properties.apiVersion, "apiVersion", U32, MORE,
        false),
    IDENTITY(vendorID, U32),
    IDENTITY(deviceID, U32),
    IDENTITY(driverVersion, U32),
    IDENTITY(deviceType, ENUM),
    IDENTITY(deviceName, TEXT),
    LIMIT(maxComputeSharedMemorySize, U32, MORE),
    LIMIT(maxComputeWorkGroupInvocations, U32, MORE),
    LIMIT(maxComputeWorkGroupSize, THREE, MORE),
    LIMIT(maxComputeWorkGroupCount, THREE, MORE),
    LIMIT(maxPushConstantsSize, U32, MORE),
    LIMIT(maxBoundDescriptorSets, U32, MORE),
    LIMIT(maxPerStageDescriptorStorageBuffers, U32, MORE),
    LIMIT(maxDescriptorSetStorageBuffers, U32, MORE),
    LIMIT(maxPerStageDescriptorStorageImages, U32, MORE),
    LIMIT(maxPerStageResources, U32, MORE),
    LIMIT(maxStorageBufferRange, U32, MORE),
    LIMIT(maxTexelBufferElements, U32, MORE),
    LIMIT(maxMemoryAllocationCount, U32, MORE),
    LIMIT(minStorageBufferOffsetAlignment, U64, LESS),
    LIMIT(minTexelBufferOffsetAlignment, U64, LESS),
    LIMIT(nonCoherentAtomSize, U64, LESS),
    LIMIT(timestampPeriod, FLOAT, NAME),
    PROPERTY(MAINTENANCE_3_PROPERTIES, Maintenance3Properties, maxMemoryAllocationSize, U64, MORE),
    PROPERTY(MAINTENANCE_4_PROPERTIES, Maintenance4Properties, maxBufferSize, U64, MORE),
    PROPERTY(DRIVER_PROPERTIES, DriverProperties, driverID, ENUM, NAME),
    PROPERTY(DRIVER_PROPERTIES, DriverProperties, driverName, TEXT, NAME),
    PROPERTY(DRIVER_PROPERTIES, DriverProperties, driverInfo, TEXT, NAME),
    PROPERTY(SUBGROUP_PROPERTIES, SubgroupProperties, subgroupSize, U32, SUBGROUP),
    PROPERTY(SUBGROUP_PROPERTIES, SubgroupProperties, supportedStages, FLAGS, MORE),
    PROPERTY(SUBGROUP_PROPERTIES, SubgroupProperties, supportedOperations, FLAGS, MORE),
    PROPERTY(SUBGROUP_SIZE_CONTROL_PROPERTIES, SubgroupSizeControlProperties, minSubgroupSize, U32,
             SUBGROUP),
    PROPERTY(SUBGROUP_SIZE_CONTROL_PROPERTIES, SubgroupSizeControlProperties, maxSubgroupSize, U32,
             SUBGROUP),
    PROPERTY(SUBGROUP_SIZE_CONTROL_PROPERTIES, SubgroupSizeControlProperties,
             maxComputeWorkgroupSubgroups, U32, MORE),
    PROPERTY(SUBGROUP_SIZE_CONTROL_PROPERTIES, SubgroupSizeControlProperties,
             requiredSubgroupSizeStages, FLAGS, MORE),
    PROPERTY(SHADER_INTEGER_DOT_PRODUCT_PROPERTIES, ShaderIntegerDotProductProperties,
             integerDotProduct4x8BitPackedSignedAccelerated, BOOL, MORE),
    PROPERTY(SHADER_SM_BUILTINS_PROPERTIES_NV, ShaderSMBuiltinsPropertiesNV, shaderSMCount, U32,
             NAME),
    PROPERTY(SHADER_SM_BUILTINS_PROPERTIES_NV, ShaderSMBuiltinsPropertiesNV, shaderWarpsPerSM, U32,
             NAME),
    PROPERTY(SHADER_CORE_PROPERTIES_AMD, ShaderCorePropertiesAMD, shaderEngineCount, U32, NAME),
    PROPERTY(SHADER_CORE_PROPERTIES_AMD, ShaderCorePropertiesAMD, shaderArraysPerEngineCount, U32,
             NAME),
    PROPERTY(SHADER_CORE_PROPERTIES_AMD, ShaderCorePropertiesAMD, computeUnitsPerShaderArray, U32,
             NAME),
    PROPERTY(SHADER_CORE_PROPERTIES_AMD, ShaderCorePropertiesAMD, simdPerComputeUnit, U32, NAME),
    PROPERTY(SHADER_CORE_PROPERTIES_AMD, ShaderCorePropertiesAMD, wavefrontsPerSimd, U32, NAME),
    PROPERTY(SHADER_CORE_BUILTINS_PROPERTIES_ARM, ShaderCoreBuiltinsPropertiesARM, shaderCoreCount,
             U32, NAME),
    PROPERTY(SHADER_CORE_BUILTINS_PROPERTIES_ARM, ShaderCoreBuiltinsPropertiesARM,
             shaderWarpsPerCore, U32, NAME),
    PROPERTY(EXTERNAL_MEMORY_HOST_PROPERTIES_EXT, ExternalMemoryHostPropertiesEXT,
             minImportedHostPointerAlignment, U64, LESS),
};
const size_t wfi_field_count = WFI_COUNT(wfi_fields);

bool wfi_field_number(const char *name, uint32_t *out)
{
#define NAME(value)                                                                                \
    {                                                                                              \
#value, (uint32_t)(value)                                                                  \
    }
    static const struct {
        const char *name;
        uint32_t value;
    } rows[] = {
        NAME(VK_PHYSICAL_DEVICE_TYPE_OTHER),
        NAME(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU),
        NAME(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
        NAME(VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU),
        NAME(VK_PHYSICAL_DEVICE_TYPE_CPU),
        NAME(VK_DRIVER_ID_AMD_PROPRIETARY),
        NAME(VK_DRIVER_ID_AMD_OPEN_SOURCE),
        NAME(VK_DRIVER_ID_MESA_RADV),
        NAME(VK_DRIVER_ID_NVIDIA_PROPRIETARY),
        NAME(VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS),
        NAME(VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA),
        NAME(VK_DRIVER_ID_IMAGINATION_PROPRIETARY),
        NAME(VK_DRIVER_ID_QUALCOMM_PROPRIETARY),
        NAME(VK_DRIVER_ID_ARM_PROPRIETARY),
        NAME(VK_DRIVER_ID_GOOGLE_SWIFTSHADER),
        NAME(VK_DRIVER_ID_MESA_LLVMPIPE),
        NAME(VK_DRIVER_ID_MOLTENVK),
        NAME(VK_DRIVER_ID_SAMSUNG_PROPRIETARY),
        NAME(VK_DRIVER_ID_MESA_TURNIP),
        NAME(VK_DRIVER_ID_MESA_V3DV),
        NAME(VK_DRIVER_ID_MESA_PANVK),
        NAME(VK_DRIVER_ID_MESA_NVK),
        NAME(VK_SHADER_STAGE_COMPUTE_BIT),
        NAME(VK_SHADER_STAGE_ALL),
        NAME(VK_SUBGROUP_FEATURE_BASIC_BIT),
        NAME(VK_SUBGROUP_FEATURE_VOTE_BIT),
        NAME(VK_SUBGROUP_FEATURE_ARITHMETIC_BIT),
        NAME(VK_SUBGROUP_FEATURE_BALLOT_BIT),
        NAME(VK_SUBGROUP_FEATURE_SHUFFLE_BIT),
        NAME(VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT),
        NAME(VK_SUBGROUP_FEATURE_CLUSTERED_BIT),
        NAME(VK_SUBGROUP_FEATURE_QUAD_BIT),
        NAME(VK_QUEUE_COMPUTE_BIT),
        NAME(VK_MEMORY_HEAP_DEVICE_LOCAL_BIT),
        NAME(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),
        NAME(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT),
        NAME(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT),
        NAME(VK_MEMORY_PROPERTY_HOST_CACHED_BIT),
        NAME(VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT),
        NAME(VK_MEMORY_PROPERTY_PROTECTED_BIT),
        NAME(VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD),
        NAME(VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD),
        NAME(VK_COMPONENT_TYPE_FLOAT16_KHR),
        NAME(VK_COMPONENT_TYPE_FLOAT32_KHR),
        NAME(VK_COMPONENT_TYPE_FLOAT64_KHR),
        NAME(VK_COMPONENT_TYPE_SINT8_KHR),
        NAME(VK_COMPONENT_TYPE_SINT16_KHR),
        NAME(VK_COMPONENT_TYPE_SINT32_KHR),
        NAME(VK_COMPONENT_TYPE_UINT8_KHR),
        NAME(VK_COMPONENT_TYPE_UINT32_KHR),
        NAME(VK_SCOPE_SUBGROUP_KHR),
        NAME(VK_SCOPE_WORKGROUP_KHR),
    };
#undef NAME
    for (size_t i = 0; i < WFI_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0) {
            *out = rows[i].value;
            return true;
        }
    return false;
}
