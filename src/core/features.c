#include "core/features.h"

#include <stddef.h>
#include <string.h>

#include "core/chain.h"
#include "core/feature_table.h"
#include "core/heap.h"

typedef struct extension_list {
    VkExtensionProperties *items;
    uint32_t count;
} extension_list;

static wf_result list_extensions(const wfi_instance *instance, const wfi_log *log,
                                 VkPhysicalDevice device, extension_list *out)
{
    VkResult vk = instance->vkEnumerateDeviceExtensionProperties(device, NULL, &out->count, NULL);
    if (vk == VK_SUCCESS && out->count > 0) {
        out->items = wfi_calloc(out->count, sizeof *out->items);
        if (!out->items)
            return wfi_no_memory(log);
        vk = instance->vkEnumerateDeviceExtensionProperties(device, NULL, &out->count, out->items);
    }
    return wfi_check_vk(log, vk, "vkEnumerateDeviceExtensionProperties");
}

static bool offered(const extension_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].extensionName, name) == 0)
            return true;
    return false;
}

/* True when the device has what `name` adds, as an extension or in its core version; an extension
 * is noted for enabling. core_version 0: never in core. */
static bool take(wfi_features *features, const extension_list *list, const char *name,
                 uint32_t core_version)
{
    if (core_version && features->api_version >= core_version)
        return true;
    if (!offered(list, name) || features->extension_count == WFI_MAX_EXTENSIONS)
        return false;
    features->extensions[features->extension_count++] = name;
    return true;
}

static void link_offered(wfi_features *f, const extension_list *list)
{
    const uint32_t v12 = VK_API_VERSION_1_2, v13 = VK_API_VERSION_1_3;
#define LINK(member, type)                                                                         \
    wfi_chain_insert(&f->core, &f->member, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type)
    LINK(storage16, 16BIT_STORAGE_FEATURES);
    if (take(f, list, VK_KHR_8BIT_STORAGE_EXTENSION_NAME, v12))
        LINK(storage8, 8BIT_STORAGE_FEATURES);
    if (take(f, list, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, v12))
        LINK(float16_int8, SHADER_FLOAT16_INT8_FEATURES);
    if (take(f, list, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, v13))
        LINK(subgroup_size, SUBGROUP_SIZE_CONTROL_FEATURES);
    if (take(f, list, VK_KHR_SHADER_SUBGROUP_EXTENDED_TYPES_EXTENSION_NAME, v12))
        LINK(subgroup_types, SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES);
    if (take(f, list, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, v13))
        LINK(integer_dot, SHADER_INTEGER_DOT_PRODUCT_FEATURES);
    if (take(f, list, VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME, v12))
        LINK(atomic_int64, SHADER_ATOMIC_INT64_FEATURES);
    if (take(f, list, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, 0))
        LINK(atomic_float, SHADER_ATOMIC_FLOAT_FEATURES_EXT);
    if (take(f, list, VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, v12))
        LINK(memory_model, VULKAN_MEMORY_MODEL_FEATURES);
    if (take(f, list, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME, 0))
        LINK(executable, PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
    if (f->api_version >= v12)
        LINK(address, BUFFER_DEVICE_ADDRESS_FEATURES);
    if (take(f, list, VK_KHR_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_EXTENSION_NAME, 0))
        LINK(shared_layout, WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR);
    if (take(f, list, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME, 0))
        LINK(cooperative, COOPERATIVE_MATRIX_FEATURES_KHR);
#if defined(VK_NV_cooperative_matrix2)
    if (f->cooperative.sType && take(f, list, VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME, 0))
        LINK(cooperative2, COOPERATIVE_MATRIX_2_FEATURES_NV);
#endif
    if (take(f, list, VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME, 0))
        LINK(bfloat16, SHADER_BFLOAT16_FEATURES_KHR);
    if (take(f, list, VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME, 0))
        LINK(conditional, CONDITIONAL_RENDERING_FEATURES_EXT);
#undef LINK
}

/* Leaves only the core features that wavefit's shaders use: the rest, robustBufferAccess first, can
 * cost speed. */
static void keep_used(wfi_features *f)
{
    const VkPhysicalDeviceFeatures offered_core = f->core.features;
    f->core.features = (VkPhysicalDeviceFeatures){
        .shaderFloat64 = offered_core.shaderFloat64,
        .shaderInt64 = offered_core.shaderInt64,
        .shaderInt16 = offered_core.shaderInt16,
        .shaderStorageImageExtendedFormats = offered_core.shaderStorageImageExtendedFormats,
    };
    f->storage16.storagePushConstant16 = VK_FALSE;
    f->storage16.storageInputOutput16 = VK_FALSE;
    f->storage8.storagePushConstant8 = VK_FALSE;
    f->address.bufferDeviceAddressCaptureReplay = VK_FALSE;
    f->address.bufferDeviceAddressMultiDevice = VK_FALSE;
    f->cooperative.cooperativeMatrixRobustBufferAccess = VK_FALSE;
    const VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic = f->atomic_float;
    f->atomic_float = (VkPhysicalDeviceShaderAtomicFloatFeaturesEXT){
        .sType = atomic.sType,
        .pNext = atomic.pNext,
        .shaderBufferFloat32AtomicAdd = atomic.shaderBufferFloat32AtomicAdd,
        .shaderBufferFloat64AtomicAdd = atomic.shaderBufferFloat64AtomicAdd,
    };
    f->atomic_int64.shaderSharedInt64Atomics = VK_FALSE;
    f->conditional.inheritedConditionalRendering = VK_FALSE;
}

wf_result wfi_features_query(const wfi_instance *instance, const wfi_log *log,
                             VkPhysicalDevice device, wfi_features *out)
{
    *out = (wfi_features){.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceProperties properties;
    instance->vkGetPhysicalDeviceProperties(device, &properties);
    out->api_version = properties.apiVersion < instance->api_version ? properties.apiVersion
                                                                     : instance->api_version;
    extension_list list = {0};
    wf_result result = list_extensions(instance, log, device, &list);
    if (result == WF_SUCCESS) {
        link_offered(out, &list);
        out->push_descriptor = take(out, &list, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, 0);
        out->external_memory_host = take(out, &list, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, 0);
        out->external_memory_fd = take(out, &list, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, 0);
        out->memory_budget = take(out, &list, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 0);
        out->shader_sm_builtins = offered(&list, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME);
        out->amd_core = offered(&list, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME);
        out->arm_core = offered(&list, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME);
        out->drm = offered(&list, VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME);
        out->driver_properties = out->api_version >= VK_API_VERSION_1_2 ||
                                 offered(&list, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
        /* A device that has this extension must have it enabled. */
        out->portability = take(out, &list, "VK_KHR_portability_subset", 0);
        instance->vkGetPhysicalDeviceFeatures2(device, &out->core);
        keep_used(out);
    }
    wfi_free(list.items);
    return result;
}

static bool enabled(const wf_vulkan *vulkan, const wfi_feature_row *row)
{
    const char *own = wfi_chain_find(vulkan->enabled_features, row->type);
    const char *core = row->core ? wfi_chain_find(vulkan->enabled_features, row->core) : NULL;
    VkBool32 bit = VK_FALSE;
    if (own)
        memcpy(&bit, own + row->type_at, sizeof bit);
    else if (core)
        memcpy(&bit, core + row->core_at, sizeof bit);
    else if (row->type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 &&
             vulkan->enabled_core_features)
        memcpy(&bit,
               (const char *)vulkan->enabled_core_features + row->type_at -
                   offsetof(VkPhysicalDeviceFeatures2, features),
               sizeof bit);
    return bit != VK_FALSE;
}

static bool listed(const wf_vulkan *vulkan, const char *name)
{
    for (uint32_t i = 0; i < vulkan->enabled_extension_count; i++)
        if (strcmp(vulkan->enabled_extensions[i], name) == 0)
            return true;
    return false;
}

void wfi_features_restrict(wfi_features *features, const wf_vulkan *vulkan)
{
    wfi_features left = {
        .api_version = features->api_version,
        .memory_budget = features->memory_budget, /* these seven tell about the physical device */
        .shader_sm_builtins = features->shader_sm_builtins,
        .amd_core = features->amd_core,
        .arm_core = features->arm_core,
        .drm = features->drm,
        .driver_properties = features->driver_properties,
        .portability = features->portability,
        .push_descriptor =
            features->push_descriptor && listed(vulkan, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME),
        .external_memory_host = features->external_memory_host &&
                                listed(vulkan, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
        .external_memory_fd = features->external_memory_fd &&
                              listed(vulkan, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME),
    };
    for (uint32_t i = 0; i < wfi_feature_row_count; i++) {
        const wfi_feature_row *row = &wfi_feature_rows[i];
        *wfi_feature_bit(&left, row->at) =
            *wfi_feature_bit(features, row->at) && enabled(vulkan, row);
    }
    /* Properties are asked for where the feature is in use; see wfi_caps_query. */
    if (left.subgroup_size.subgroupSizeControl)
        left.subgroup_size.sType = features->subgroup_size.sType;
    if (left.integer_dot.shaderIntegerDotProduct)
        left.integer_dot.sType = features->integer_dot.sType;
    *features = left;
}
