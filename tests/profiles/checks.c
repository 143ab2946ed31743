#include "checks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile_icd.h"

typedef unsigned long long ull;

/* -------------------------------------------------------------------------------------- memory */

static PFN_vkCreateBuffer real_create_buffer;
static PFN_vkGetBufferMemoryRequirements real_requirements;
static PFN_vkGetBufferMemoryRequirements2 real_requirements2;
static PFN_vkGetImageMemoryRequirements real_image_requirements;
static PFN_vkGetMemoryHostPointerPropertiesEXT real_host_pointer;
static PFN_vkAllocateMemory real_allocate;
static PFN_vkFreeMemory real_free;
static PFN_vkMapMemory real_map;
static atomic_uint allocations;

enum { MOST_HIDDEN = 4096 };
static _Atomic(VkDeviceMemory) hidden[MOST_HIDDEN]; /* allocations that the host may not map */

static VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkBuffer *out)
{
    if (icd.max_buffer && info->size > icd.max_buffer)
        outside("a buffer of %llu bytes, over maxBufferSize of %llu", (ull)info->size,
                (ull)icd.max_buffer);
    return real_create_buffer(device, info, allocator, out);
}

/* Types that a buffer can have, of those that the profile lists. */
static uint32_t type_bits(VkMemoryPropertyFlags without, VkMemoryPropertyFlags with,
                          uint32_t real_bits)
{
    uint32_t bits = 0;
    if (!icd.own_memory)
        return real_bits;
    for (uint32_t i = 0; i < icd.memory.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = icd.memory.memoryTypes[i].propertyFlags;
        if (!(flags & without) && (flags & with) == with)
            bits |= UINT32_C(1) << i;
    }
    return bits;
}

#define NOT_FOR_BUFFERS (VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)

static void VKAPI_CALL requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out)
{
    real_requirements(device, buffer, out);
    out->memoryTypeBits = type_bits(NOT_FOR_BUFFERS, 0, out->memoryTypeBits);
}

static void VKAPI_CALL requirements2(VkDevice device, const VkBufferMemoryRequirementsInfo2 *info,
                                     VkMemoryRequirements2 *out)
{
    real_requirements2(device, info, out);
    out->memoryRequirements.memoryTypeBits =
        type_bits(NOT_FOR_BUFFERS, 0, out->memoryRequirements.memoryTypeBits);
}

static void VKAPI_CALL image_requirements(VkDevice device, VkImage image, VkMemoryRequirements *out)
{
    real_image_requirements(device, image, out);
    out->memoryTypeBits = type_bits(VK_MEMORY_PROPERTY_PROTECTED_BIT, 0, out->memoryTypeBits);
}

static VkResult VKAPI_CALL host_pointer(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                                        const void *pointer, VkMemoryHostPointerPropertiesEXT *out)
{
    const VkResult result = real_host_pointer(device, type, pointer, out);
    out->memoryTypeBits = type_bits(0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, out->memoryTypeBits);
    return result;
}

static VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                    const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    VkMemoryAllocateInfo passed = *info;
    const uint32_t type = info->memoryTypeIndex;
    if (type >= icd.memory.memoryTypeCount) {
        outside("memory of type %u, of %u that there are", type, icd.memory.memoryTypeCount);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const VkMemoryType *shown = &icd.memory.memoryTypes[type];
    const VkDeviceSize heap = icd.memory.memoryHeaps[shown->heapIndex].size;
    if (shown->propertyFlags & NOT_FOR_BUFFERS)
        outside("memory of type %u, which is protected or lazily allocated", type);
    if (info->allocationSize > heap)
        outside("%llu bytes of a heap of %llu", (ull)info->allocationSize, (ull)heap);
    if (icd.max_allocation && info->allocationSize > icd.max_allocation)
        outside("an allocation of %llu bytes, over maxMemoryAllocationSize of %llu",
                (ull)info->allocationSize, (ull)icd.max_allocation);
    if (atomic_fetch_add(&allocations, 1) + 1 > icd.limits.maxMemoryAllocationCount)
        outside("more than %u allocations", icd.limits.maxMemoryAllocationCount);
    if (icd.own_memory)
        passed.memoryTypeIndex = 0; /* the driver's, which the host sees */
    const VkResult result = real_allocate(device, &passed, allocator, out);
    const bool seen = (shown->propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    for (int i = 0; result == VK_SUCCESS && !seen && i < MOST_HIDDEN; i++) {
        VkDeviceMemory none = VK_NULL_HANDLE;
        if (atomic_compare_exchange_strong(&hidden[i], &none, *out))
            break;
    }
    return result;
}

static void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                   const VkAllocationCallbacks *allocator)
{
    for (int i = 0; memory && i < MOST_HIDDEN; i++) {
        VkDeviceMemory there = memory;
        if (atomic_compare_exchange_strong(&hidden[i], &there, VK_NULL_HANDLE))
            break;
    }
    if (memory)
        atomic_fetch_sub(&allocations, 1);
    real_free(device, memory, allocator);
}

static VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                               VkDeviceSize size, VkMemoryMapFlags flags, void **data)
{
    for (int i = 0; i < MOST_HIDDEN; i++)
        if (atomic_load(&hidden[i]) == memory) {
            outside("memory is mapped that the host does not see");
            return VK_ERROR_MEMORY_MAP_FAILED;
        }
    return real_map(device, memory, offset, size, flags, data);
}

/* --------------------------------------------------------------------------------- descriptors */

static PFN_vkCreateDescriptorSetLayout real_set_layout;
static PFN_vkCreatePipelineLayout real_pipeline_layout;
static PFN_vkUpdateDescriptorSets real_update;
static PFN_vkCmdPushDescriptorSetKHR real_push;
static PFN_vkCreateBufferView real_buffer_view;

static VkResult VKAPI_CALL set_layout(VkDevice device, const VkDescriptorSetLayoutCreateInfo *info,
                                      const VkAllocationCallbacks *allocator,
                                      VkDescriptorSetLayout *out)
{
    uint32_t buffers = 0, images = 0, all = 0;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        all += binding->descriptorCount;
        if (binding->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
            buffers += binding->descriptorCount;
        if (binding->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE)
            images += binding->descriptorCount;
    }
    if (buffers > icd.limits.maxPerStageDescriptorStorageBuffers ||
        buffers > icd.limits.maxDescriptorSetStorageBuffers)
        outside("%u storage buffers in a set, of %u a stage and %u a set", buffers,
                icd.limits.maxPerStageDescriptorStorageBuffers,
                icd.limits.maxDescriptorSetStorageBuffers);
    if (images > icd.limits.maxPerStageDescriptorStorageImages)
        outside("%u storage images in a set, of %u a stage", images,
                icd.limits.maxPerStageDescriptorStorageImages);
    if (all > icd.limits.maxPerStageResources)
        outside("%u resources, of %u a stage", all, icd.limits.maxPerStageResources);
    return real_set_layout(device, info, allocator, out);
}

static VkResult VKAPI_CALL pipeline_layout(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipelineLayout *out)
{
    for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
        const VkPushConstantRange *range = &info->pPushConstantRanges[i];
        if (range->offset + range->size > icd.limits.maxPushConstantsSize)
            outside("%u bytes of push constants, of %u", range->offset + range->size,
                    icd.limits.maxPushConstantsSize);
    }
    if (info->setLayoutCount > icd.limits.maxBoundDescriptorSets)
        outside("%u descriptor sets, of %u", info->setLayoutCount,
                icd.limits.maxBoundDescriptorSets);
    return real_pipeline_layout(device, info, allocator, out);
}

static void look_at_writes(uint32_t count, const VkWriteDescriptorSet *writes)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = 0; n < writes[i].descriptorCount; n++) {
            if (writes[i].descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
                continue;
            const VkDescriptorBufferInfo *buffer = &writes[i].pBufferInfo[n];
            const VkDeviceSize alignment = icd.limits.minStorageBufferOffsetAlignment;
            if (buffer->range != VK_WHOLE_SIZE && buffer->range > icd.limits.maxStorageBufferRange)
                outside("a binding of %llu bytes, over maxStorageBufferRange of %u",
                        (ull)buffer->range, icd.limits.maxStorageBufferRange);
            if (buffer->offset % alignment)
                outside("a binding at %llu, which is no multiple of %llu", (ull)buffer->offset,
                        (ull)alignment);
        }
}

static void VKAPI_CALL update(VkDevice device, uint32_t count, const VkWriteDescriptorSet *writes,
                              uint32_t copy_count, const VkCopyDescriptorSet *copies)
{
    look_at_writes(count, writes);
    real_update(device, count, writes, copy_count, copies);
}

static void VKAPI_CALL push(VkCommandBuffer commands, VkPipelineBindPoint point,
                            VkPipelineLayout layout, uint32_t set, uint32_t count,
                            const VkWriteDescriptorSet *writes)
{
    look_at_writes(count, writes);
    real_push(commands, point, layout, set, count, writes);
}

/* Bytes of a texel of the formats that wavefit uses. */
static VkDeviceSize texel_bytes(VkFormat format)
{
    return format == VK_FORMAT_R32G32_UINT || format == VK_FORMAT_R32G32_SFLOAT ? 8 : 4;
}

static VkResult VKAPI_CALL buffer_view(VkDevice device, const VkBufferViewCreateInfo *info,
                                       const VkAllocationCallbacks *allocator, VkBufferView *out)
{
    const VkDeviceSize elements = info->range / texel_bytes(info->format);
    if (info->range != VK_WHOLE_SIZE && elements > icd.limits.maxTexelBufferElements)
        outside("%llu texels, over maxTexelBufferElements of %u", (ull)elements,
                icd.limits.maxTexelBufferElements);
    if (info->offset % icd.limits.minTexelBufferOffsetAlignment)
        outside("texels at %llu, which is no multiple of %llu", (ull)info->offset,
                (ull)icd.limits.minTexelBufferOffsetAlignment);
    return real_buffer_view(device, info, allocator, out);
}

/* ------------------------------------------------------------------------------------- kernels */

static PFN_vkCreateShaderModule real_module;
static PFN_vkCreateComputePipelines real_pipelines;
static PFN_vkCmdDispatch real_dispatch;
static PFN_vkCreateEvent real_event;

/* Capabilities of SPIR-V (its specification, section 3.31) that a feature of Vulkan stands for. */
static const struct {
    uint32_t capability;
    const char *feature;
} capabilities[] = {{9, "shaderFloat16"},
                    {10, "shaderFloat64"},
                    {11, "shaderInt64"},
                    {12, "shaderBufferInt64Atomics"},
                    {22, "shaderInt16"},
                    {39, "shaderInt8"},
                    {49, "shaderStorageImageExtendedFormats"},
                    {4433, "storageBuffer16BitAccess"},
                    {4448, "storageBuffer8BitAccess"},
                    {5345, "vulkanMemoryModel"},
                    {5346, "vulkanMemoryModelDeviceScope"},
                    {5347, "bufferDeviceAddress"},
                    {6022, "cooperativeMatrix"},
                    {6033, "shaderBufferFloat32AtomicAdd"},
                    {6034, "shaderBufferFloat64AtomicAdd"}};

enum { SPIRV_HEADER_WORDS = 5, OP_CAPABILITY = 17 };

static VkResult VKAPI_CALL module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                  const VkAllocationCallbacks *allocator, VkShaderModule *out)
{
    const size_t words = info->codeSize / sizeof(uint32_t);
    for (size_t i = SPIRV_HEADER_WORDS; i < words && (info->pCode[i] >> 16) > 0;
         i += info->pCode[i] >> 16) {
        if ((info->pCode[i] & 0xffff) != OP_CAPABILITY)
            continue;
        for (size_t n = 0; n < sizeof capabilities / sizeof *capabilities; n++)
            if (capabilities[n].capability == info->pCode[i + 1] &&
                !wfi_profile_feature(&icd.profile, capabilities[n].feature, true))
                outside("a shader with capability %u, for which %s is missing", info->pCode[i + 1],
                        capabilities[n].feature);
    }
    return real_module(device, info, allocator, out);
}

/* wavefit's constants 0, 1 and 2 are the work-group's size, everywhere. */
static void look_at_stage(const VkPipelineShaderStageCreateInfo *stage)
{
    const VkSpecializationInfo *info = stage->pSpecializationInfo;
    uint32_t size[3] = {1, 1, 1};
    for (uint32_t i = 0; info && i < info->mapEntryCount; i++)
        if (info->pMapEntries[i].constantID < 3)
            memcpy(&size[info->pMapEntries[i].constantID],
                   (const char *)info->pData + info->pMapEntries[i].offset, sizeof size[0]);
    for (int i = 0; i < 3; i++)
        if (size[i] > icd.limits.maxComputeWorkGroupSize[i])
            outside("%u work-items along %c, of %u", size[i], "xyz"[i],
                    icd.limits.maxComputeWorkGroupSize[i]);
    if ((ull)size[0] * size[1] * size[2] > icd.limits.maxComputeWorkGroupInvocations)
        outside("%llu work-items in a work-group, of %u", (ull)size[0] * size[1] * size[2],
                icd.limits.maxComputeWorkGroupInvocations);
}

static VkResult VKAPI_CALL pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                     const VkComputePipelineCreateInfo *infos,
                                     const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    for (uint32_t i = 0; i < count; i++)
        look_at_stage(&infos[i].stage);
    return real_pipelines(device, cache, count, infos, allocator, out);
}

static void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t size[3] = {x, y, z};
    for (int i = 0; i < 3; i++)
        if (size[i] > icd.limits.maxComputeWorkGroupCount[i])
            outside("%u work-groups along %c, of %u", size[i], "xyz"[i],
                    icd.limits.maxComputeWorkGroupCount[i]);
    real_dispatch(commands, x, y, z);
}

static VkResult VKAPI_CALL event(VkDevice device, const VkEventCreateInfo *info,
                                 const VkAllocationCallbacks *allocator, VkEvent *out)
{
    if (!wfi_profile_feature(&icd.profile, "events", true))
        outside("an event, which this portability subset does not have");
    return real_event(device, info, allocator, out);
}

/* ----------------------------------------------------------------------------------- functions */

#define CHECK(called, kept, ours)                                                                  \
    if (strcmp(name, called) == 0 || strcmp(name, called "KHR") == 0) {                            \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }

PFN_vkVoidFunction checked(const char *name, PFN_vkVoidFunction found)
{
    CHECK("vkCreateBuffer", real_create_buffer, create_buffer)
    CHECK("vkGetBufferMemoryRequirements", real_requirements, requirements)
    CHECK("vkGetBufferMemoryRequirements2", real_requirements2, requirements2)
    CHECK("vkGetImageMemoryRequirements", real_image_requirements, image_requirements)
    CHECK("vkGetMemoryHostPointerPropertiesEXT", real_host_pointer, host_pointer)
    CHECK("vkAllocateMemory", real_allocate, allocate)
    CHECK("vkFreeMemory", real_free, free_memory)
    CHECK("vkMapMemory", real_map, map)
    CHECK("vkCreateDescriptorSetLayout", real_set_layout, set_layout)
    CHECK("vkCreatePipelineLayout", real_pipeline_layout, pipeline_layout)
    CHECK("vkUpdateDescriptorSets", real_update, update)
    CHECK("vkCmdPushDescriptorSet", real_push, push)
    CHECK("vkCreateBufferView", real_buffer_view, buffer_view)
    CHECK("vkCreateShaderModule", real_module, module)
    CHECK("vkCreateComputePipelines", real_pipelines, pipelines)
    CHECK("vkCmdDispatch", real_dispatch, dispatch)
    CHECK("vkCreateEvent", real_event, event)
    return found;
}
