#include "core/pipeline.h"

static wf_result create_set_layout(wf_device *device, const wfi_pipeline_desc *desc,
                                   wfi_pipeline *pipeline)
{
    VkDescriptorSetLayoutBinding bindings[WF_MAX_BINDINGS] = {0};
    for (uint32_t i = 0; i < desc->storage_buffers; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = device->caps.push_descriptors
                     ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
                     : 0,
        .bindingCount = desc->storage_buffers,
        .pBindings = bindings,
    };
    return wfi_check_vk(&device->log,
                        device->fn.vkCreateDescriptorSetLayout(device->vk, &info, device->allocator,
                                                               &pipeline->set_layout),
                        "vkCreateDescriptorSetLayout");
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
    return wfi_check_vk(
        &device->log,
        device->fn.vkCreatePipelineLayout(device->vk, &info, device->allocator, &pipeline->layout),
        "vkCreatePipelineLayout");
}

static VkPipelineShaderStageCreateFlags stage_flags(const wf_device *device,
                                                    const wfi_pipeline_desc *desc)
{
    VkPipelineShaderStageCreateFlags flags = 0;
    if (desc->full_subgroups && device->caps.full_subgroups)
        flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    return flags;
}

static wf_result create_pipeline(wf_device *device, const wfi_pipeline_desc *desc,
                                 VkShaderModule module, wfi_pipeline *pipeline)
{
    VkSpecializationMapEntry entries[WFI_MAX_CONSTANTS];
    uint32_t data[WFI_MAX_CONSTANTS];
    for (uint32_t i = 0; i < desc->constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){
            .constantID = desc->constants[i].id,
            .offset = i * (uint32_t)sizeof *data,
            .size = sizeof *data,
        };
        data[i] = desc->constants[i].value;
    }
    const VkSpecializationInfo specialization = {
        .mapEntryCount = desc->constant_count,
        .pMapEntries = entries,
        .dataSize = desc->constant_count * sizeof *data,
        .pData = data,
    };
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = desc->subgroup_size,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
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
    return wfi_check_vk(&device->log,
                        device->fn.vkCreateComputePipelines(device->vk, device->cache.vk, 1, &info,
                                                            device->allocator, &pipeline->vk),
                        desc->name);
}

wf_result wfi_pipeline_prepare(wf_device *device, const wfi_pipeline_desc *desc, wfi_pipeline *out)
{
    wfi_pipeline pipeline = {.storage_buffers = desc->storage_buffers,
                             .push_bytes = desc->push_bytes};
    if (!desc->spirv || !desc->spirv->words)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "%s: its shader was not built (GLSL compiler too old)", desc->name);
    if (desc->storage_buffers > WF_MAX_BINDINGS || desc->constant_count > WFI_MAX_CONSTANTS ||
        desc->push_bytes > device->caps.max_push_bytes)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "%s: more bindings than fit",
                        desc->name);
    wf_result result = create_set_layout(device, desc, &pipeline);
    if (result == WF_SUCCESS)
        result = create_layout(device, desc, &pipeline);
    if (result != WF_SUCCESS) {
        wfi_pipeline_destroy(device, &pipeline);
        return result;
    }
    *out = pipeline;
    return WF_SUCCESS;
}

wf_result wfi_pipeline_compile(wf_device *device, const wfi_pipeline_desc *desc,
                               wfi_pipeline *pipeline)
{
    VkShaderModule module = VK_NULL_HANDLE;
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = desc->spirv->size_bytes,
        .pCode = desc->spirv->words,
    };
    wf_result result = wfi_check_vk(
        &device->log,
        device->fn.vkCreateShaderModule(device->vk, &info, device->allocator, &module), desc->name);
    if (result == WF_SUCCESS)
        result = create_pipeline(device, desc, module, pipeline);
    if (module)
        device->fn.vkDestroyShaderModule(device->vk, module, device->allocator);
    return result;
}

wf_result wfi_pipeline_create(wf_device *device, const wfi_pipeline_desc *desc, wfi_pipeline *out)
{
    wfi_pipeline pipeline;
    wf_result result = wfi_pipeline_prepare(device, desc, &pipeline);
    if (result != WF_SUCCESS)
        return result;
    result = wfi_pipeline_compile(device, desc, &pipeline);
    if (result != WF_SUCCESS) {
        wfi_pipeline_destroy(device, &pipeline);
        return result;
    }
    *out = pipeline;
    return WF_SUCCESS;
}

void wfi_pipeline_destroy(wf_device *device, wfi_pipeline *pipeline)
{
    if (pipeline->vk)
        device->fn.vkDestroyPipeline(device->vk, pipeline->vk, device->allocator);
    if (pipeline->layout)
        device->fn.vkDestroyPipelineLayout(device->vk, pipeline->layout, device->allocator);
    if (pipeline->set_layout)
        device->fn.vkDestroyDescriptorSetLayout(device->vk, pipeline->set_layout,
                                                device->allocator);
    *pipeline = (wfi_pipeline){0};
}
