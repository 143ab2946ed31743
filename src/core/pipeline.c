#include "core/pipeline.h"

#include <stdio.h>

#include "core/heap.h"
#include "core/names.h"
#include "core/words.h"

wf_result wfi_set_layout_create(const wf_device *device, const wfi_log *log,
                                uint32_t storage_buffers, uint32_t texel_buffers,
                                uint32_t storage_images, uint32_t uniform_buffers,
                                VkDescriptorSetLayoutCreateFlags flags, VkDescriptorSetLayout *out)
{
    VkDescriptorSetLayoutBinding bindings[WF_MAX_BINDINGS] = {0};
    for (uint32_t i = 0; i < storage_buffers; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = texel_buffers >> i & 1     ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                              : storage_images >> i & 1  ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                              : uniform_buffers >> i & 1 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                         : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = flags,
        .bindingCount = storage_buffers,
        .pBindings = bindings,
    };
    const VkResult vk = WFI_MADE(
        device->fn.vkCreateDescriptorSetLayout(device->vk, &info, device->allocator, out), out);
    if (vk >= VK_SUCCESS)
        wfi_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, WFI_HANDLE(*out),
                 "layout of %u buffers", storage_buffers);
    return wfi_check_vk(log, vk, "vkCreateDescriptorSetLayout");
}

static wf_result create_layout(wf_device *device, const wfi_pipeline_desc *desc,
                               wfi_pipeline *pipeline)
{
    const VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = desc->push_bytes,
    };
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &pipeline->set_layout,
        .pushConstantRangeCount = desc->push_bytes ? 1 : 0,
        .pPushConstantRanges = &range,
    };
    const VkResult vk = WFI_MADE(
        device->fn.vkCreatePipelineLayout(device->vk, &info, device->allocator, &pipeline->layout),
        &pipeline->layout);
    wfi_name(device, VK_OBJECT_TYPE_PIPELINE_LAYOUT, WFI_HANDLE(pipeline->layout), "%s: layout",
             desc->spirv->name);
    return wfi_check_vk(&device->log, vk, "vkCreatePipelineLayout");
}

static VkPipelineShaderStageCreateFlags stage_flags(const wf_device *device,
                                                    const wfi_pipeline_desc *desc)
{
    VkPipelineShaderStageCreateFlags flags = 0;
    const wf_caps *caps = &device->caps;
    if (desc->full_subgroups && caps->full_subgroups)
        flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    /* Where the driver chooses the subgroup size, shaders get the size that it reports. */
    else if (caps->subgroup_min != caps->subgroup_max && !caps->subgroup_size_control)
        flags |= VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT_EXT;
    return flags;
}

/* Ids of constants are below this; unused places get ids from here on, which no shader has and
 * which therefore change nothing. */
#define IDS 64

/* Drivers take constants in any order. But VK_LAYER_KHRONOS_validation (1.4.309) reads the id of a
 * constant that sizes a cooperative matrix as an index into this array, and finds another
 * constant's value. So each constant stands at the place of its id. Returns the number of
 * places. */
static uint32_t map_constants(const wfi_pipeline_desc *desc, VkSpecializationMapEntry entries[IDS],
                              uint32_t data[IDS])
{
    uint32_t count = 0;
    for (uint32_t place = 0; place < IDS; place++) {
        entries[place] = (VkSpecializationMapEntry){.constantID = IDS + place,
                                                    .offset = place * (uint32_t)sizeof *data,
                                                    .size = sizeof *data};
        data[place] = 0;
    }
    for (uint32_t i = 0; i < desc->constant_count; i++) {
        const wfi_constant *constant = &desc->constants[i];
        entries[constant->id].constantID = constant->id;
        data[constant->id] = constant->value;
        if (count <= constant->id)
            count = constant->id + 1;
    }
    return count;
}

/* The error of a pipeline that could not be made: a compiler that gives up on a kernel returns
 * VK_ERROR_UNKNOWN, and tells why in words alone. */
static wf_result refuse(const wf_device *device, const char *name, VkResult vk,
                        const wfi_words *words)
{
    if (vk == VK_ERROR_OUT_OF_HOST_MEMORY || vk == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
        vk == VK_ERROR_DEVICE_LOST)
        return wfi_check_vk(&device->log, vk, name);
    return wfi_fail(&device->log, WF_ERROR_DRIVER,
                    "%s: %s (%d): " WFI_REFUSED "%s%s; where constants were forced, "
                    "smaller ones need fewer registers",
                    name, wfi_vk_result_name(vk), (int)vk, words->text[0] ? ": " : "", words->text);
}

static wf_result create_pipeline(wf_device *device, const wfi_pipeline_desc *desc,
                                 VkShaderModule module, wfi_pipeline *pipeline)
{
    VkSpecializationMapEntry entries[IDS];
    uint32_t data[IDS];
    const uint32_t places = map_constants(desc, entries, data);
    const VkSpecializationInfo specialization = {
        .mapEntryCount = places,
        .pMapEntries = entries,
        .dataSize = places * sizeof *data,
        .pData = data,
    };
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = desc->subgroup_size,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = (device->capture_statistics ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0) |
                 (device->dispatch_seconds > 0 ? VK_PIPELINE_CREATE_DISPATCH_BASE : 0),
        .stage =
            {
                .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = desc->subgroup_size ? &required : NULL,
                .flags = stage_flags(device, desc),
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialization,
            },
        .layout = pipeline->layout,
    };
    wfi_words words = {""};
    wfi_words_keep(&words);
    const VkResult vk = device->fn.vkCreateComputePipelines(device->vk, device->cache.vk, 1, &info,
                                                            device->allocator, &pipeline->vk);
    wfi_words_keep(NULL);
    if (vk < VK_SUCCESS)
        return refuse(device, desc->name, vk, &words);
    wfi_name(device, VK_OBJECT_TYPE_PIPELINE, WFI_HANDLE(pipeline->vk), "%s", desc->spirv->name);
    return WF_SUCCESS;
}

static double statistic_value(const VkPipelineExecutableStatisticKHR *statistic)
{
    switch (statistic->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
        return statistic->value.b32 ? 1 : 0;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
        return (double)statistic->value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
        return (double)statistic->value.u64;
    default:
        return statistic->value.f64;
    }
}

/* Every known driver gives a compute pipeline one executable; of several, the first is read.
 * Statistics that the driver does not give are left out and are no failure. */
static void read_statistics(wf_device *device, wfi_pipeline *pipeline)
{
    const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                    .pipeline = pipeline->vk};
    const VkPipelineExecutableInfoKHR first = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline->vk};
    VkPipelineExecutablePropertiesKHR properties = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
    VkPipelineExecutableStatisticKHR list[WF_MAX_STATISTICS];
    uint32_t executables = 1, count = WF_MAX_STATISTICS;
    if (device->fn.vkGetPipelineExecutablePropertiesKHR(device->vk, &info, &executables,
                                                        &properties) < VK_SUCCESS ||
        executables == 0)
        return;
    /* PanVK 25.0 tells of 8 where its devices have 16. */
    if (properties.subgroupSize && properties.subgroupSize >= device->caps.subgroup_min)
        pipeline->subgroup_size = properties.subgroupSize;
    for (uint32_t i = 0; i < count; i++)
        list[i] = (VkPipelineExecutableStatisticKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    if (device->fn.vkGetPipelineExecutableStatisticsKHR(device->vk, &first, &count, list) <
        VK_SUCCESS)
        return;
    pipeline->statistics = wfi_calloc(count ? count : 1, sizeof *pipeline->statistics);
    for (uint32_t i = 0; pipeline->statistics && i < count; i++) {
        wf_statistic *statistic = &pipeline->statistics[pipeline->statistic_count++];
        snprintf(statistic->name, sizeof statistic->name, "%.47s", list[i].name);
        statistic->value = statistic_value(&list[i]);
    }
}

void wfi_pipeline_constant(wfi_pipeline_desc *desc, uint32_t id, uint32_t value)
{
    if (desc->constant_count < WFI_MAX_CONSTANTS)
        desc->constants[desc->constant_count] = (wfi_constant){id, value};
    desc->constant_count++;
}

wf_result wfi_pipeline_outline(const wf_device *device, const wfi_pipeline_desc *desc,
                               wfi_pipeline *out)
{
    *out = (wfi_pipeline){.storage_buffers = desc->storage_buffers,
                          .texel_buffers = desc->texel_buffers,
                          .storage_images = desc->storage_images,
                          .uniform_buffers = desc->uniform_buffers,
                          .push_bytes = desc->push_bytes,
                          .subgroup_size = desc->subgroup_size,
                          .spirv = desc->spirv};
    if (!desc->spirv || !desc->spirv->packed)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: its shader was not built (GLSL compiler too old)", desc->name);
    if (desc->storage_buffers > WF_MAX_BINDINGS || desc->constant_count > WFI_MAX_CONSTANTS ||
        desc->push_bytes > device->caps.max_push_bytes)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: more bindings, constants or push constants than fit", desc->name);
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id >= IDS)
            return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: a constant's id is over %d",
                            desc->name, IDS - 1);
    for (uint32_t i = 0; i < desc->constant_count; i++)
        if (desc->constants[i].id < 3)
            out->group_size[desc->constants[i].id] = desc->constants[i].value;
    return WF_SUCCESS;
}

static wf_result make_layouts(wf_device *device, const wfi_pipeline_desc *desc,
                              wfi_pipeline *pipeline)
{
    const bool pushed = device->caps.push_descriptors && !desc->bound_sets;
    wf_result result = wfi_set_layout_create(
        device, &device->log, desc->storage_buffers, desc->texel_buffers, desc->storage_images,
        desc->uniform_buffers, pushed ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR : 0,
        &pipeline->set_layout);
    return result == WF_SUCCESS ? create_layout(device, desc, pipeline) : result;
}

static wf_result create_module(wf_device *device, const wfi_pipeline_desc *desc,
                               VkShaderModule *module)
{
    uint32_t *words = wfi_spirv_unpack(desc->spirv);
    if (!words)
        return wfi_no_memory(&device->log);
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = desc->spirv->word_count * sizeof *words,
        .pCode = words,
    };
    const VkResult vk = WFI_MADE(
        device->fn.vkCreateShaderModule(device->vk, &info, device->allocator, module), module);
    wfi_free(words);
    wfi_name(device, VK_OBJECT_TYPE_SHADER_MODULE, WFI_HANDLE(*module), "%s: module",
             desc->spirv->name);
    return wfi_check_vk(&device->log, vk, desc->name);
}

static wf_result compile(wf_device *device, const wfi_pipeline_desc *desc, wfi_pipeline *pipeline)
{
    VkShaderModule module = VK_NULL_HANDLE;
    wf_result result = create_module(device, desc, &module);
    if (result == WF_SUCCESS)
        result = create_pipeline(device, desc, module, pipeline);
    if (result == WF_SUCCESS && device->capture_statistics)
        read_statistics(device, pipeline);
    if (module)
        device->fn.vkDestroyShaderModule(device->vk, module, device->allocator);
    return result;
}

wf_result wfi_pipeline_create(wf_device *device, const wfi_pipeline_desc *desc, wfi_pipeline *out)
{
    wfi_pipeline pipeline;
    wf_result result = wfi_pipeline_outline(device, desc, &pipeline);
    if (result == WF_SUCCESS)
        result = make_layouts(device, desc, &pipeline);
    if (result == WF_SUCCESS)
        result = compile(device, desc, &pipeline);
    if (result != WF_SUCCESS) {
        wfi_pipeline_destroy(device, &pipeline);
        return result;
    }
    *out = pipeline;
    return WF_SUCCESS;
}

void wfi_pipeline_destroy(wf_device *device, wfi_pipeline *pipeline)
{
    if (pipeline->vk && !device->keeps)
        device->fn.vkDestroyPipeline(device->vk, pipeline->vk, device->allocator);
    if (pipeline->layout && !device->keeps)
        device->fn.vkDestroyPipelineLayout(device->vk, pipeline->layout, device->allocator);
    if (pipeline->set_layout && !device->keeps)
        device->fn.vkDestroyDescriptorSetLayout(device->vk, pipeline->set_layout,
                                                device->allocator);
    wfi_free(pipeline->statistics);
    *pipeline = (wfi_pipeline){0};
}
