#include "tool/profile/null_driver.h"

#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/chain.h"

/* Vulkan's callbacks have no pointer of the caller's. */
static const wfi_profile *profile;

/* A handle that is never looked into. */
#define HANDLE ((uintptr_t)1)

static VkResult VKAPI_CALL enumerate_version(uint32_t *version)
{
    *version = VK_API_VERSION_1_3;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL no_instance_extensions(const char *layer, uint32_t *count,
                                                  VkExtensionProperties *out)
{
    (void)layer;
    (void)out;
    *count = 0;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkInstance *instance)
{
    (void)info;
    (void)allocator;
    *instance = (VkInstance)HANDLE;
    return VK_SUCCESS;
}

static void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks *allocator)
{
    (void)instance;
    (void)allocator;
}

static VkResult VKAPI_CALL devices(VkInstance instance, uint32_t *count, VkPhysicalDevice *out)
{
    (void)instance;
    if (out && *count > 0)
        out[0] = (VkPhysicalDevice)HANDLE;
    *count = 1;
    return VK_SUCCESS;
}

/* What Vulkan 1.1 guarantees, as in the table of required limits, of what wavefit reads. */
static void guaranteed(VkPhysicalDeviceProperties *p)
{
    *p = (VkPhysicalDeviceProperties){.apiVersion = VK_API_VERSION_1_1,
                                      .deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER,
                                      .limits = {.maxComputeWorkGroupInvocations = 128,
                                                 .maxComputeWorkGroupSize = {128, 128, 64},
                                                 .maxComputeWorkGroupCount = {65535, 65535, 65535},
                                                 .maxComputeSharedMemorySize = 16384,
                                                 .maxPushConstantsSize = 128,
                                                 .maxBoundDescriptorSets = 4,
                                                 .maxPerStageDescriptorStorageBuffers = 4,
                                                 .maxDescriptorSetStorageBuffers = 24,
                                                 .maxPerStageResources = 128,
                                                 .maxStorageBufferRange = 1u << 27,
                                                 .maxTexelBufferElements = 65536,
                                                 .maxMemoryAllocationCount = 4096,
                                                 .minStorageBufferOffsetAlignment = 256,
                                                 .minTexelBufferOffsetAlignment = 256,
                                                 .nonCoherentAtomSize = 256,
                                                 .timestampPeriod = 1}};
    snprintf(p->deviceName, sizeof p->deviceName, "%s", profile->name);
}

static void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    (void)device;
    VkPhysicalDeviceMaintenance3Properties *memory =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
    VkPhysicalDeviceMaintenance4Properties *buffers =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
    VkPhysicalDeviceSubgroupProperties *subgroup =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    guaranteed(&out->properties);
    if (memory)
        memory->maxMemoryAllocationSize = UINT64_C(1) << 30;
    if (buffers)
        buffers->maxBufferSize = UINT64_C(1) << 30;
    VkPhysicalDeviceSubgroupSizeControlProperties *sizes =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    uint32_t told[3];
    wfi_profile_subgroups(profile, told);
    if (subgroup)
        subgroup->subgroupSize = 1;
    if (sizes) {
        sizes->minSubgroupSize = sizes->maxSubgroupSize = told[0] ? told[0] : 1;
        sizes->maxComputeWorkgroupSubgroups = 1;
    }
    wfi_profile_apply(profile, out, WFI_PROFILE_SET, NULL);
}

static void VKAPI_CALL properties1(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties2(device, &all);
    *out = all.properties;
}

static void VKAPI_CALL features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    (void)device;
    wfi_profile_apply(profile, out, WFI_PROFILE_SET, NULL);
}

/* A profile without memory types gets one that everybody can use, of the size that Vulkan's least
 * maxMemoryAllocationSize implies. */
static void VKAPI_CALL memory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out)
{
    (void)device;
    if (wfi_profile_memory(profile, &out->memoryProperties))
        return;
    out->memoryProperties = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = 1,
        .memoryTypes = {{.propertyFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT}},
        .memoryHeapCount = 1,
        .memoryHeaps = {{.size = UINT64_C(1) << 30, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}}};
}

/* Vulkan guarantees the formats that wavefit's texel buffers have. */
static void VKAPI_CALL format(VkPhysicalDevice device, VkFormat which, VkFormatProperties *out)
{
    (void)device;
    (void)which;
    *out = (VkFormatProperties){.bufferFeatures = VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT};
}

static void VKAPI_CALL external_buffer(VkPhysicalDevice device,
                                       const VkPhysicalDeviceExternalBufferInfo *info,
                                       VkExternalBufferProperties *out)
{
    (void)device;
    (void)info;
    out->externalMemoryProperties = (VkExternalMemoryProperties){0};
}

static void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t *count,
                                      VkQueueFamilyProperties *out)
{
    (void)device;
    uint32_t bits = 0;
    wfi_profile_timestamps(profile, &bits);
    if (out && *count > 0)
        out[0] = (VkQueueFamilyProperties){
            .queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1, .timestampValidBits = bits};
    *count = 1;
}

static VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                      VkExtensionProperties *out)
{
    (void)device;
    (void)layer;
    uint32_t n = 0;
    for (const char *name; (name = wfi_profile_extension(profile, n)); n++)
        if (out && n < *count) {
            out[n] = (VkExtensionProperties){.specVersion = 1};
            snprintf(out[n].extensionName, sizeof out[n].extensionName, "%s", name);
        }
    if (!out || n < *count)
        *count = n;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL shapes(VkPhysicalDevice device, uint32_t *count,
                                  VkCooperativeMatrixPropertiesKHR *out)
{
    (void)device;
    *count = wfi_profile_shapes(profile, out ? *count : 0, out);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkDevice *out)
{
    (void)device;
    (void)info;
    (void)allocator;
    (void)out;
    return VK_ERROR_INITIALIZATION_FAILED;
}

static PFN_vkVoidFunction VKAPI_CALL no_device_function(VkDevice device, const char *name)
{
    (void)device;
    (void)name;
    return NULL;
}

static PFN_vkVoidFunction VKAPI_CALL proc(VkInstance instance, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } rows[] = {
        {"vkEnumerateInstanceVersion", (PFN_vkVoidFunction)enumerate_version},
        {"vkEnumerateInstanceExtensionProperties", (PFN_vkVoidFunction)no_instance_extensions},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkDestroyInstance", (PFN_vkVoidFunction)destroy_instance},
        {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)devices},
        {"vkGetPhysicalDeviceProperties", (PFN_vkVoidFunction)properties1},
        {"vkGetPhysicalDeviceProperties2", (PFN_vkVoidFunction)properties2},
        {"vkGetPhysicalDeviceFeatures2", (PFN_vkVoidFunction)features2},
        {"vkGetPhysicalDeviceMemoryProperties2", (PFN_vkVoidFunction)memory2},
        {"vkGetPhysicalDeviceFormatProperties", (PFN_vkVoidFunction)format},
        {"vkGetPhysicalDeviceExternalBufferProperties", (PFN_vkVoidFunction)external_buffer},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)queue_families},
        {"vkEnumerateDeviceExtensionProperties", (PFN_vkVoidFunction)extensions},
        {"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", (PFN_vkVoidFunction)shapes},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)no_device_function},
    };
    (void)instance;
    for (size_t i = 0; i < WFI_COUNT(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].function;
    return NULL;
}

wf_result wfi_profile_caps(const wfi_profile *of, wf_limits limits, wf_log_fn log, wf_caps *out)
{
    const wf_device_params params = {
        .size = sizeof params, .limits = limits, .log = log, .get_instance_proc_addr = proc};
    uint32_t count = 1;
    profile = of;
    const wf_result result = wf_devices_list(&params, out, &count);
    profile = NULL;
    return result;
}
