/* Compute pipelines, made from a SPIR-V module by specialization. */
#ifndef WFI_CORE_PIPELINE_H
#define WFI_CORE_PIPELINE_H

#include "core/device.h"
#include "core/spirv.h"

#define WFI_MAX_CONSTANTS 40

/* One specialization constant: 32 bits, whatever the GLSL type. */
typedef struct wfi_constant {
    uint32_t id;
    uint32_t value;
} wfi_constant;

typedef struct wfi_pipeline_desc {
    const char *name; /* for messages */
    const wfi_spirv *spirv;
    uint32_t constant_count;
    wfi_constant constants[WFI_MAX_CONSTANTS];
    uint32_t storage_buffers; /* bindings 0 … n-1 of set 0 */
    uint32_t texel_buffers;   /* bit i: binding i is a uniform texel buffer in place of one */
    uint32_t storage_images;  /* likewise, a storage image */
    uint32_t uniform_buffers; /* likewise, a uniform buffer */
    uint32_t push_bytes;
    /* 0: whatever the driver picks. Otherwise the size is pinned through
     * VK_EXT_subgroup_size_control; needs caps.subgroup_size_control. */
    uint32_t subgroup_size;
    bool full_subgroups;
    bool bound_sets; /* descriptor sets are bound, even where they could be pushed */
    /* A new member here: pipeline_pool.c compares it. */
} wfi_pipeline_desc;

typedef struct wfi_pipeline {
    VkPipeline vk;
    VkPipelineLayout layout;
    VkDescriptorSetLayout set_layout;
    /* As in wfi_pipeline_desc. */
    uint32_t storage_buffers, texel_buffers, storage_images, uniform_buffers;
    uint32_t push_bytes;
    uint32_t group_size[3];
    uint32_t subgroup_size; /* pinned or told by the driver; 0: neither */
    uint32_t statistic_count;
    wf_statistic *statistics;
    const wfi_spirv *spirv;
} wfi_pipeline;

/* Appends a constant. One too many is counted and not kept, and wfi_pipeline_outline then fails. */
void wfi_pipeline_constant(wfi_pipeline_desc *desc, uint32_t id, uint32_t value);

/* The layout of set 0 with these buffers, as in wfi_pipeline_desc. */
wf_result wfi_set_layout_create(const wf_device *device, const wfi_log *log,
                                uint32_t storage_buffers, uint32_t texel_buffers,
                                uint32_t storage_images, uint32_t uniform_buffers,
                                VkDescriptorSetLayoutCreateFlags flags, VkDescriptorSetLayout *out);
/* Checks the description and tells what is known of the pipeline before anything is made. */
wf_result wfi_pipeline_outline(const wf_device *device, const wfi_pipeline_desc *desc,
                               wfi_pipeline *out);
/* Compiles; safe from several threads on one device. */
wf_result wfi_pipeline_create(wf_device *device, const wfi_pipeline_desc *desc, wfi_pipeline *out);
/* Accepts a half-built or zeroed pipeline. */
void wfi_pipeline_destroy(wf_device *device, wfi_pipeline *pipeline);

#endif
