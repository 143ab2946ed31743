#include "pretend.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform.h"

test_pretence pretend;

static void *loader;
static PFN_vkGetInstanceProcAddr real_proc;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkGetPhysicalDeviceProperties real_core_properties;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkGetDeviceProcAddr real_device_proc;
static PFN_vkCreateShaderModule real_module;
static PFN_vkCmdCopyBuffer real_copy;
static PFN_vkCreateComputePipelines real_pipelines;

/* The structures of a chain are none of VkBaseOutStructure, whose members are copied therefore. */
static void *find(void *structure, VkStructureType type)
{
    VkBaseOutStructure head;
    for (void *at = structure; at; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        if (head.sType == type)
            return at;
    }
    return NULL;
}

static void VKAPI_CALL memory_properties(VkPhysicalDevice device,
                                         VkPhysicalDeviceMemoryProperties2 *out)
{
    real_memory(device, out);
    VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    if (!budget || !pretend.budget)
        return;
    for (uint32_t i = 0; i < out->memoryProperties.memoryHeapCount; i++) {
        budget->heapBudget[i] = pretend.budget;
        budget->heapUsage[i] = pretend.usage;
    }
}

static void VKAPI_CALL queue_families(VkPhysicalDevice device, uint32_t *count,
                                      VkQueueFamilyProperties *out)
{
    real_families(device, count, out);
    for (uint32_t i = 0; out && i < *count && pretend.no_timestamps; i++)
        out[i].timestampValidBits = 0;
}

static void VKAPI_CALL features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    real_features(device, out);
    VkPhysicalDeviceShaderFloat16Int8Features *arithmetic =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES);
    VkPhysicalDevice16BitStorageFeatures *storage =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES);
    if (pretend.no_f64)
        out->features.shaderFloat64 = VK_FALSE;
    if (pretend.no_f16_arithmetic && arithmetic)
        arithmetic->shaderFloat16 = VK_FALSE;
    if (pretend.no_f16_storage && storage)
        storage->storageBuffer16BitAccess = VK_FALSE;
}

static void VKAPI_CALL core_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    real_core_properties(device, out);
    if (pretend.vulkan_1_1)
        out->apiVersion = VK_API_VERSION_1_1;
}

static void VKAPI_CALL properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    real_properties(device, out);
    VkPhysicalDeviceSubgroupProperties *subgroup =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    VkPhysicalDeviceDriverProperties *driver =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    VkPhysicalDeviceSubgroupSizeControlProperties *sizes =
        find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    if (pretend.subgroups_vary && sizes) {
        sizes->minSubgroupSize = 4;
        sizes->maxSubgroupSize = 128;
        sizes->requiredSubgroupSizeStages = 0;
    }
    if (!pretend.subgroup_size)
        return;
    /* The portability layer whose subgroups of 64 are two of 32. */
    if (subgroup)
        subgroup->subgroupSize = pretend.subgroup_size;
    if (driver)
        driver->driverID = VK_DRIVER_ID_MOLTENVK;
    out->properties.vendorID = 0x1002;
}

/* SPIR-V opcodes; both have the same operands. */
enum { SPIRV_HEADER_WORDS = 5, OP_SHUFFLE = 345, OP_SHUFFLE_XOR = 346 };

static VkResult VKAPI_CALL make_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    VkShaderModuleCreateInfo changed = *info;
    const size_t words = info->codeSize / sizeof(uint32_t);
    uint32_t *code = malloc(info->codeSize);
    if (!code)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(code, info->pCode, info->codeSize);
    for (size_t i = SPIRV_HEADER_WORDS; pretend.wrong_shuffles && i < words; i += code[i] >> 16)
        if ((code[i] & 0xffff) == OP_SHUFFLE)
            code[i] = (code[i] & 0xffff0000) | OP_SHUFFLE_XOR;
    changed.pCode = code;
    const VkResult result = real_module(device, &changed, allocator, out);
    free(code);
    return result;
}

static VkResult VKAPI_CALL make_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                          const VkComputePipelineCreateInfo *infos,
                                          const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    for (uint32_t i = 0; i < count; i++)
        pretend.varying_stages +=
            (infos[i].stage.flags &
             VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT) != 0;
    return real_pipelines(device, cache, count, infos, allocator, out);
}

static void VKAPI_CALL copy_buffer(VkCommandBuffer command_buffer, VkBuffer from, VkBuffer to,
                                   uint32_t count, const VkBufferCopy *regions)
{
    pretend.copies += count;
    real_copy(command_buffer, from, to, count, regions);
}

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *function)
{
    PFN_vkVoidFunction found = real_device_proc(device, function);
    if (strcmp(function, "vkCmdCopyBuffer") == 0) {
        memcpy(&real_copy, &found, sizeof real_copy);
        return (PFN_vkVoidFunction)copy_buffer;
    }
    if (strcmp(function, "vkCreateComputePipelines") == 0) {
        memcpy(&real_pipelines, &found, sizeof real_pipelines);
        return (PFN_vkVoidFunction)make_pipelines;
    }
    if (strcmp(function, "vkCreateShaderModule") != 0)
        return found;
    memcpy(&real_module, &found, sizeof real_module);
    return (PFN_vkVoidFunction)make_module;
}

#define HOOK(name, real, ours)                                                                     \
    if (strcmp(function, name) == 0) {                                                             \
        PFN_vkVoidFunction found = real_proc(instance, function);                                  \
        memcpy(&real, &found, sizeof real);                                                        \
        return (PFN_vkVoidFunction)ours;                                                           \
    }

PFN_vkVoidFunction VKAPI_CALL test_pretend_proc(VkInstance instance, const char *function)
{
    HOOK("vkGetPhysicalDeviceMemoryProperties2", real_memory, memory_properties)
    HOOK("vkGetPhysicalDeviceQueueFamilyProperties", real_families, queue_families)
    HOOK("vkGetPhysicalDeviceFeatures2", real_features, features)
    HOOK("vkGetPhysicalDeviceProperties", real_core_properties, core_properties)
    HOOK("vkGetPhysicalDeviceProperties2", real_properties, properties)
    HOOK("vkGetDeviceProcAddr", real_device_proc, device_proc)
    return real_proc(instance, function);
}

bool test_pretend_open(void)
{
    loader = wfi_library_open(wfi_vulkan_loaders[0]);
    if (loader)
        real_proc = (PFN_vkGetInstanceProcAddr)wfi_library_symbol(loader, "vkGetInstanceProcAddr");
    return real_proc != NULL;
}

void test_pretend_close(void)
{
    wfi_library_close(loader);
}
