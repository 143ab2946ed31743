#include "core/feature_table.h"

#include <stddef.h>

#include "core/arithmetic.h"

#define HIMENO (UINT32_C(1) << WF_FAMILY_HIMENO)
#define SPMV (UINT32_C(1) << WF_FAMILY_SPMV)
#define MATMUL (UINT32_C(1) << WF_FAMILY_MATMUL)
#define ALL ((UINT32_C(1) << WF_FAMILY_COUNT) - 1)

/* The member of wfi_features, its Vulkan structure and the structure's VkStructureType. */
#define OWN(member, structure, stype, field)                                                       \
    .name = #field, .at = offsetof(wfi_features, member.field),                                    \
    .type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##stype, .type_at = offsetof(structure, field)
#define CORE(version, field)                                                                       \
    .core = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_##version##_FEATURES,                         \
    .core_at = offsetof(VkPhysicalDeviceVulkan##version##Features, field)
#define VkPhysicalDeviceVulkan1_1Features VkPhysicalDeviceVulkan11Features
#define VkPhysicalDeviceVulkan1_2Features VkPhysicalDeviceVulkan12Features
#define VkPhysicalDeviceVulkan1_3Features VkPhysicalDeviceVulkan13Features
#define BASIC(field)                                                                               \
    .name = #field, .at = offsetof(wfi_features, core.features.field),                             \
    .type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,                                          \
    .type_at = offsetof(VkPhysicalDeviceFeatures2, features.field)

static const char no_f16[] = "f16 matrices are refused, or computed in f32 where storage allows";
static const char no_int8[] = "i8 matrices are refused";
static const char no_pinning[] = "variants that rely on one subgroup size are left out where the "
                                 "driver may vary it";
static const char no_cooperative[] = "f16 and i8 products run on the ordinary units";

const wfi_feature_row wfi_feature_rows[] = {
    {BASIC(shaderFloat64), .families = ALL, .gives = "f64", .without = "f64 plans are refused"},
    {BASIC(shaderInt64), .families = HIMENO | SPMV | MATMUL,
     .gives = "64-bit integers in some variants", .without = "those variants are left out"},
    {BASIC(shaderStorageImageExtendedFormats), .families = HIMENO | MATMUL,
     .gives = "stencils and products on r16f images", .without = "those plans are refused"},
    {BASIC(shaderInt16), .families = SPMV | MATMUL, .gives = "16-bit integers in some variants",
     .without = "those variants are left out"},
    {OWN(storage16, VkPhysicalDevice16BitStorageFeatures, 16BIT_STORAGE_FEATURES,
         storageBuffer16BitAccess),
     CORE(1_1, storageBuffer16BitAccess), .families = ALL, .gives = "f16 and bf16 arrays",
     .without = no_f16},
    {OWN(storage16, VkPhysicalDevice16BitStorageFeatures, 16BIT_STORAGE_FEATURES,
         uniformAndStorageBuffer16BitAccess),
     CORE(1_1, uniformAndStorageBuffer16BitAccess), .families = MATMUL,
     .gives = "f16 in uniform buffers", .without = "nothing is lost"},
    {OWN(storage8, VkPhysicalDevice8BitStorageFeatures, 8BIT_STORAGE_FEATURES,
         storageBuffer8BitAccess),
     CORE(1_2, storageBuffer8BitAccess), .extension = VK_KHR_8BIT_STORAGE_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = MATMUL, .gives = "i8 arrays",
     .without = no_int8},
    {OWN(storage8, VkPhysicalDevice8BitStorageFeatures, 8BIT_STORAGE_FEATURES,
         uniformAndStorageBuffer8BitAccess),
     CORE(1_2, uniformAndStorageBuffer8BitAccess), .extension = VK_KHR_8BIT_STORAGE_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = MATMUL, .gives = "i8 in uniform buffers",
     .without = "nothing is lost"},
    {OWN(float16_int8, VkPhysicalDeviceShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES,
         shaderFloat16),
     CORE(1_2, shaderFloat16), .extension = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = ALL, .gives = "f16 arithmetic",
     .without = no_f16},
    {OWN(float16_int8, VkPhysicalDeviceShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES,
         shaderInt8),
     CORE(1_2, shaderInt8), .extension = VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = MATMUL, .gives = "i8 arithmetic",
     .without = no_int8},
    {OWN(subgroup_size, VkPhysicalDeviceSubgroupSizeControlFeatures, SUBGROUP_SIZE_CONTROL_FEATURES,
         subgroupSizeControl),
     CORE(1_3, subgroupSizeControl), .extension = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_3, .families = ALL, .gives = "subgroups of a known size",
     .without = no_pinning},
    {OWN(subgroup_size, VkPhysicalDeviceSubgroupSizeControlFeatures, SUBGROUP_SIZE_CONTROL_FEATURES,
         computeFullSubgroups),
     CORE(1_3, computeFullSubgroups), .extension = VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_3, .families = ALL, .gives = "subgroups that are full",
     .without = no_pinning},
    {OWN(subgroup_types, VkPhysicalDeviceShaderSubgroupExtendedTypesFeatures,
         SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES, shaderSubgroupExtendedTypes),
     CORE(1_2, shaderSubgroupExtendedTypes),
     .extension = VK_KHR_SHADER_SUBGROUP_EXTENDED_TYPES_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = ALL,
     .gives = "subgroup operations on 8- and 16-bit types",
     .without = "sums go through f32 or shared memory"},
    {OWN(integer_dot, VkPhysicalDeviceShaderIntegerDotProductFeatures,
         SHADER_INTEGER_DOT_PRODUCT_FEATURES, shaderIntegerDotProduct),
     CORE(1_3, shaderIntegerDotProduct),
     .extension = VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_3, .families = MATMUL,
     .gives = "four i8 products an instruction", .without = "i8 products one by one"},
    {OWN(atomic_int64, VkPhysicalDeviceShaderAtomicInt64Features, SHADER_ATOMIC_INT64_FEATURES,
         shaderBufferInt64Atomics),
     CORE(1_2, shaderBufferInt64Atomics), .extension = VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = SPMV,
     .gives = "sums in f64 by compare and exchange", .without = "variant atomic is refused in f64"},
    {OWN(atomic_float, VkPhysicalDeviceShaderAtomicFloatFeaturesEXT,
         SHADER_ATOMIC_FLOAT_FEATURES_EXT, shaderBufferFloat32AtomicAdd),
     .extension = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, .families = SPMV,
     .gives = "atomic addition in f32", .without = "variant atomic compares and exchanges"},
    {OWN(atomic_float, VkPhysicalDeviceShaderAtomicFloatFeaturesEXT,
         SHADER_ATOMIC_FLOAT_FEATURES_EXT, shaderBufferFloat64AtomicAdd),
     .extension = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, .families = SPMV,
     .gives = "atomic addition in f64", .without = "variant atomic compares and exchanges"},
    {OWN(memory_model, VkPhysicalDeviceVulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES,
         vulkanMemoryModel),
     CORE(1_2, vulkanMemoryModel), .extension = VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME,
     .core_version = VK_API_VERSION_1_2, .families = MATMUL,
     .gives = "what cooperative matrices build on", .without = no_cooperative},
    {OWN(memory_model, VkPhysicalDeviceVulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES,
         vulkanMemoryModelDeviceScope),
     CORE(1_2, vulkanMemoryModelDeviceScope),
     .extension = VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, .core_version = VK_API_VERSION_1_2,
     .families = ALL, .gives = "sums finished by the last work-group in one dispatch",
     .without = "a second dispatch adds the parts"},
    {OWN(executable, VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR,
         PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, pipelineExecutableInfo),
     .extension = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, .families = ALL,
     .gives = "registers and occupancy in the analysis", .without = "estimates in their place"},
    {OWN(address, VkPhysicalDeviceBufferDeviceAddressFeatures, BUFFER_DEVICE_ADDRESS_FEATURES,
         bufferDeviceAddress),
     CORE(1_2, bufferDeviceAddress), .families = MATMUL,
     .gives = "block loads of cooperative matrices", .without = "element loads"},
    {OWN(shared_layout, VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR,
         WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, workgroupMemoryExplicitLayout),
     .extension = VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME, .families = MATMUL,
     .gives = "wide copies into shared memory", .without = "element copies"},
    {OWN(shared_layout, VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR,
         WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR, workgroupMemoryExplicitLayout16BitAccess),
     .extension = VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME, .families = MATMUL,
     .gives = "wide copies of f16 into shared memory", .without = "element copies"},
    {OWN(cooperative, VkPhysicalDeviceCooperativeMatrixFeaturesKHR, COOPERATIVE_MATRIX_FEATURES_KHR,
         cooperativeMatrix),
     .extension = VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, .families = MATMUL,
     .gives = "matrix units for f16 and i8", .without = no_cooperative},
#if defined(VK_NV_cooperative_matrix2)
#define COOPERATIVE2(field)                                                                        \
    {                                                                                              \
        OWN(cooperative2, VkPhysicalDeviceCooperativeMatrix2FeaturesNV,                            \
            COOPERATIVE_MATRIX_2_FEATURES_NV, field),                                              \
            .extension = VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME, .families = MATMUL,            \
            .gives = "matrix units driven by whole work-groups",                                   \
            .without = "matrix units driven by subgroups"                                          \
    }
    COOPERATIVE2(cooperativeMatrixWorkgroupScope),
    COOPERATIVE2(cooperativeMatrixFlexibleDimensions),
    COOPERATIVE2(cooperativeMatrixReductions),
    COOPERATIVE2(cooperativeMatrixConversions),
    COOPERATIVE2(cooperativeMatrixPerElementOperations),
    COOPERATIVE2(cooperativeMatrixTensorAddressing),
    COOPERATIVE2(cooperativeMatrixBlockLoads),
#endif
#define BFLOAT16(field)                                                                            \
    {                                                                                              \
        OWN(bfloat16, VkPhysicalDeviceShaderBfloat16FeaturesKHR, SHADER_BFLOAT16_FEATURES_KHR,     \
            field),                                                                                \
            .extension = VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME, .families = MATMUL,                \
            .gives = "bf16", .without = "bf16 matrices are refused"                                \
    }
    BFLOAT16(shaderBFloat16Type),
    BFLOAT16(shaderBFloat16DotProduct),
    BFLOAT16(shaderBFloat16CooperativeMatrix),
    {OWN(conditional, VkPhysicalDeviceConditionalRenderingFeaturesEXT,
         CONDITIONAL_RENDERING_FEATURES_EXT, conditionalRendering),
     .extension = VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME, .families = SPMV | HIMENO,
     .gives = "recorded solves may skip what is behind their end",
     .without = "dispatches without work-groups in its place"},
};
const uint32_t wfi_feature_row_count = WFI_COUNT(wfi_feature_rows);
