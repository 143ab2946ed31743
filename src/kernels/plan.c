#include "kernels/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/command.h"
#include "core/timing.h"

/* A descriptor set of one step, and what it was written with. */
typedef struct kept_set {
    VkDescriptorSet set;
    VkDescriptorBufferInfo buffers[WF_MAX_BINDINGS];
} kept_set;

struct wf_plan {
    wf_device *device;
    wfi_problem problem;
    wfi_choice choice;

    uint32_t pipeline_count, step_count, binding_count, own_count;
    wfi_pipeline *pipelines;
    wfi_step *steps;
    wfi_binding_spec bindings[WF_MAX_BINDINGS];
    wf_buffer **own;
    uint64_t workspace;

    /* Without push descriptors: WFI_SET_RING sets a step, kept for the plan's life. */
    VkDescriptorPool pool;
    kept_set *sets;      /* step_count x WFI_SET_RING */
    uint32_t *sets_used; /* a step */
};

/* Grows an array of `count` items by one; NULL (array untouched) without memory. */
static void *grow(void *array, uint32_t count, size_t item_bytes)
{
    return realloc(array, (count + (size_t)1) * item_bytes);
}

static wf_result no_memory(const wf_plan *plan)
{
    return wfi_fail(&plan->device->log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
}

wf_result wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t *index)
{
    wfi_pipeline *pipelines = grow(plan->pipelines, plan->pipeline_count, sizeof *pipelines);
    if (!pipelines)
        return no_memory(plan);
    plan->pipelines = pipelines;
    wf_result result = wfi_pipeline_create(plan->device, desc, &pipelines[plan->pipeline_count]);
    if (result == WF_SUCCESS)
        *index = plan->pipeline_count++;
    return result;
}

wf_result wfi_plan_add_step(wf_plan *plan, const wfi_step *step)
{
    const wf_caps *caps = &plan->device->caps;
    for (int i = 0; i < 3; i++)
        if (step->groups[i] == 0 || step->groups[i] > caps->max_groups[i])
            return wfi_fail(&plan->device->log, WF_ERROR_TOO_LARGE,
                            "%u work-groups along %c are over this device's limit of %u",
                            step->groups[i], "xyz"[i], caps -> max_groups[i]);
    for (uint32_t i = 0; i < step->slot_count; i++)
        if (step->slots[i].bytes > caps->max_storage_range)
            return wfi_fail(&plan->device->log, WF_ERROR_TOO_LARGE,
                            "a binding of %llu bytes is over this device's limit of %llu",
                            (unsigned long long)step->slots[i].bytes,
                            (unsigned long long)caps->max_storage_range);
    wfi_step *steps = grow(plan->steps, plan->step_count, sizeof *steps);
    if (!steps)
        return no_memory(plan);
    plan->steps = steps;
    steps[plan->step_count++] = *step;
    return WF_SUCCESS;
}

wf_result wfi_plan_add_binding(wf_plan *plan, const wfi_binding_spec *spec)
{
    if (plan->binding_count == WF_MAX_BINDINGS)
        return wfi_fail(&plan->device->log, WF_ERROR_UNSUPPORTED, "too many bindings");
    plan->bindings[plan->binding_count++] = *spec;
    return WF_SUCCESS;
}

wf_result wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    wf_buffer **own = grow(plan->own, plan->own_count, sizeof(wf_buffer *));
    if (!own)
        return no_memory(plan);
    plan->own = own;
    own[plan->own_count] = NULL;
    wf_result result =
        wf_buffer_create(plan->device, bytes ? bytes : 4, WF_MEMORY_DEVICE, &own[plan->own_count]);
    if (result != WF_SUCCESS)
        return result;
    *index = plan->own_count++;
    return data ? wf_buffer_write(own[*index], 0, data, bytes) : WF_SUCCESS;
}

wf_buffer *wfi_plan_own(wf_plan *plan, uint32_t index)
{
    return plan->own[index];
}

void wfi_plan_set_workspace(wf_plan *plan, uint64_t bytes)
{
    plan->workspace = bytes;
}

wf_device *wfi_plan_device(wf_plan *plan)
{
    return plan->device;
}

static wf_result create_pool(wf_plan *plan)
{
    wf_device *device = plan->device;
    uint32_t descriptors = 0;
    for (uint32_t i = 0; i < plan->step_count; i++)
        descriptors += plan->steps[i].slot_count * WFI_SET_RING;
    if (descriptors == 0)
        return WF_SUCCESS;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptors};
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = plan->step_count * WFI_SET_RING,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult vk =
        device->fn.vkCreateDescriptorPool(device->vk, &info, device->allocator, &plan->pool);
    for (uint32_t i = 0; vk >= VK_SUCCESS && i < plan->step_count * WFI_SET_RING; i++) {
        const wfi_step *step = &plan->steps[i / WFI_SET_RING];
        const VkDescriptorSetAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = plan->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &plan->pipelines[step->pipeline].set_layout,
        };
        vk = device->fn.vkAllocateDescriptorSets(device->vk, &allocate, &plan->sets[i].set);
    }
    return wfi_check_vk(&device->log, vk, "allocating descriptor sets");
}

static wf_result create_sets(wf_plan *plan)
{
    if (plan->device->caps.push_descriptors || plan->step_count == 0)
        return WF_SUCCESS;
    plan->sets = calloc((size_t)plan->step_count * WFI_SET_RING, sizeof *plan->sets);
    plan->sets_used = calloc(plan->step_count, sizeof *plan->sets_used);
    if (!plan->sets || !plan->sets_used)
        return no_memory(plan);
    return create_pool(plan);
}

wf_result wfi_plan_create(wf_device *device, const wfi_choice *choice, const void *params,
                          wf_plan **out)
{
    wf_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return wfi_fail(&device->log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    plan->device = device;
    plan->problem = *choice->point.problem;
    plan->choice = *choice;
    plan->choice.point.problem = &plan->problem;
    plan->choice.point.caps = &device->caps;
    wf_result result = choice->point.variant->build(plan, &plan->choice.point, params);
    if (result == WF_SUCCESS)
        result = create_sets(plan);
    if (result != WF_SUCCESS) {
        wf_plan_destroy(&plan);
        return result;
    }
    *out = plan;
    return WF_SUCCESS;
}

void wf_plan_destroy(wf_plan **handle)
{
    wf_plan *plan = handle ? *handle : NULL;
    if (!plan)
        return;
    wf_device *device = plan->device;
    if (plan->pool)
        device->fn.vkDestroyDescriptorPool(device->vk, plan->pool, device->allocator);
    for (uint32_t i = 0; i < plan->pipeline_count; i++)
        wfi_pipeline_destroy(device, &plan->pipelines[i]);
    for (uint32_t i = 0; i < plan->own_count; i++)
        wf_buffer_destroy(&plan->own[i]);
    free(plan->pipelines);
    free(plan->steps);
    free(plan->own);
    free(plan->sets);
    free(plan->sets_used);
    free(plan);
    *handle = NULL;
}

/* A caller's binding made concrete. */
typedef struct bound {
    VkBuffer buffer;
    uint64_t offset, bytes;
} bound;

static wf_result resolve(const wf_plan *plan, const wf_binding *binding, const char *name,
                         uint64_t needed, bound *out)
{
    const wf_device *device = plan->device;
    *out = (bound){binding->handle, binding->offset, binding->bytes};
    if (binding->buffer) {
        out->buffer = binding->buffer->vk;
        const uint64_t size = binding->buffer->bytes;
        const uint64_t rest = binding->offset <= size ? size - binding->offset : 0;
        if (out->bytes > rest || binding->offset > size)
            return wfi_fail(&device->log, WF_ERROR_BINDING,
                            "binding %s reaches beyond its buffer of %llu bytes", name,
                            (unsigned long long)size);
        if (out->bytes == 0)
            out->bytes = rest;
    }
    if (!out->buffer)
        return wfi_fail(&device->log, WF_ERROR_BINDING, "binding %s is missing", name);
    if (out->offset % device->caps.storage_alignment)
        return wfi_fail(&device->log, WF_ERROR_BINDING,
                        "binding %s starts at byte %llu, not a multiple of %llu", name,
                        (unsigned long long)out->offset,
                        (unsigned long long)device->caps.storage_alignment);
    if (out->bytes < needed)
        return wfi_fail(&device->log, WF_ERROR_BINDING,
                        "binding %s has %llu bytes; %llu are needed", name,
                        (unsigned long long)out->bytes, (unsigned long long)needed);
    return WF_SUCCESS;
}

static bool overlap(const bound *a, uint64_t a_bytes, const bound *b, uint64_t b_bytes)
{
    return a->buffer == b->buffer && a->offset < b->offset + b_bytes &&
           b->offset < a->offset + a_bytes;
}

/* Resolves all bindings; the workspace comes last, at index binding_count. */
static wf_result resolve_all(const wf_plan *plan, const wf_bindings *bindings,
                             bound all[WF_MAX_BINDINGS + 1])
{
    for (uint32_t i = 0; i < plan->binding_count; i++) {
        const wfi_binding_spec *spec = &plan->bindings[i];
        wf_result result = resolve(plan, &bindings->items[i], spec->name, spec->bytes, &all[i]);
        if (result != WF_SUCCESS)
            return result;
        for (uint32_t j = 0; j < i; j++)
            if (((spec->access | plan->bindings[j].access) & WFI_WRITES) &&
                overlap(&all[i], spec->bytes, &all[j], plan->bindings[j].bytes))
                return wfi_fail(&plan->device->log, WF_ERROR_BINDING,
                                "bindings %s and %s overlap and one is written",
                                plan->bindings[j].name, spec->name);
    }
    if (plan->workspace)
        return resolve(plan, &bindings->workspace, "workspace", plan->workspace,
                       &all[plan->binding_count]);
    return WF_SUCCESS;
}

static void step_buffers(const wf_plan *plan, const wfi_step *step, const bound *all,
                         VkDescriptorBufferInfo infos[WF_MAX_BINDINGS])
{
    for (uint32_t i = 0; i < step->slot_count; i++) {
        const wfi_slot *slot = &step->slots[i];
        const bound own = {slot->kind == WFI_SLOT_OWN ? plan->own[slot->index]->vk : VK_NULL_HANDLE,
                           0, 0};
        const bound *base = slot->kind == WFI_SLOT_OWN         ? &own
                            : slot->kind == WFI_SLOT_WORKSPACE ? &all[plan->binding_count]
                                                               : &all[slot->index];
        infos[i] = (VkDescriptorBufferInfo){base->buffer, base->offset + slot->offset, slot->bytes};
    }
}

static void fill_writes(const VkDescriptorBufferInfo *infos, uint32_t count, VkDescriptorSet set,
                        VkWriteDescriptorSet *writes)
{
    for (uint32_t i = 0; i < count; i++)
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &infos[i],
        };
}

static bool same_buffers(const VkDescriptorBufferInfo *a, const VkDescriptorBufferInfo *b,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].buffer != b[i].buffer || a[i].offset != b[i].offset || a[i].range != b[i].range)
            return false;
    return true;
}

/* The kept set of a step with these buffers, written now if it is new; NULL: the ring is full. */
static const kept_set *find_set(wf_plan *plan, uint32_t step_index,
                                const VkDescriptorBufferInfo *infos)
{
    wf_device *device = plan->device;
    const uint32_t count = plan->steps[step_index].slot_count;
    kept_set *ring = &plan->sets[(size_t)step_index * WFI_SET_RING];
    for (uint32_t i = 0; i < plan->sets_used[step_index]; i++)
        if (same_buffers(ring[i].buffers, infos, count))
            return &ring[i];
    if (plan->sets_used[step_index] == WFI_SET_RING)
        return NULL;
    kept_set *kept = &ring[plan->sets_used[step_index]++];
    VkWriteDescriptorSet writes[WF_MAX_BINDINGS];
    memcpy(kept->buffers, infos, count * sizeof *infos);
    fill_writes(infos, count, kept->set, writes);
    device->fn.vkUpdateDescriptorSets(device->vk, count, writes, 0, NULL);
    return kept;
}

/* Finds (and writes) every step's set before anything is recorded. */
static wf_result prepare_sets(wf_plan *plan, const bound *all)
{
    VkDescriptorBufferInfo infos[WF_MAX_BINDINGS];
    for (uint32_t i = 0; plan->sets && i < plan->step_count; i++) {
        step_buffers(plan, &plan->steps[i], all, infos);
        if (!find_set(plan, i, infos))
            return wfi_fail(&plan->device->log, WF_ERROR_TOO_MANY_BINDINGS,
                            "more than %d distinct bindings were recorded from one plan",
                            WFI_SET_RING);
    }
    return WF_SUCCESS;
}

static void record_step(wf_plan *plan, VkCommandBuffer command_buffer, uint32_t index,
                        const bound *all, uint32_t turn)
{
    wf_device *device = plan->device;
    const wfi_step *step = &plan->steps[index];
    const wfi_pipeline *pipeline = &plan->pipelines[step->pipeline];
    VkDescriptorBufferInfo infos[WF_MAX_BINDINGS];
    VkWriteDescriptorSet writes[WF_MAX_BINDINGS];
    step_buffers(plan, step, all, infos);
    if (step->barrier)
        wfi_barrier_compute(device, command_buffer);
    device->fn.vkCmdBindPipeline(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->vk);
    if (plan->sets) {
        const kept_set *kept = find_set(plan, index, infos);
        device->fn.vkCmdBindDescriptorSets(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                           pipeline->layout, 0, 1, &kept->set, 0, NULL);
    } else {
        fill_writes(infos, step->slot_count, VK_NULL_HANDLE, writes);
        device->fn.vkCmdPushDescriptorSetKHR(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                             pipeline->layout, 0, step->slot_count, writes);
    }
    if (step->push_bytes) {
        unsigned char push[WFI_MAX_PUSH];
        memcpy(push, step->push, step->push_bytes);
        if (step->takes_turn)
            memcpy(push, &turn, sizeof turn);
        device->fn.vkCmdPushConstants(command_buffer, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                      0, step->push_bytes, push);
    }
    device->fn.vkCmdDispatch(command_buffer, step->groups[0], step->groups[1], step->groups[2]);
}

wf_result wfi_plan_record_turn(wf_plan *plan, VkCommandBuffer command_buffer,
                               const wf_bindings *bindings, uint32_t turn)
{
    bound all[WF_MAX_BINDINGS + 1] = {{0}};
    if (!plan || !command_buffer || !bindings || bindings->size < sizeof *bindings)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: bad parameters");
    wf_result result = resolve_all(plan, bindings, all);
    if (result == WF_SUCCESS)
        result = prepare_sets(plan, all);
    for (uint32_t i = 0; result == WF_SUCCESS && i < plan->step_count; i++)
        record_step(plan, command_buffer, i, all, turn);
    return result;
}

wf_result wf_plan_record(wf_plan *plan, VkCommandBuffer command_buffer, const wf_bindings *bindings)
{
    return wfi_plan_record_turn(plan, command_buffer, bindings, 0);
}

uint64_t wf_plan_workspace(const wf_plan *plan)
{
    return plan->workspace;
}

wf_result wf_plan_describe(const wf_plan *plan, wf_plan_info *info)
{
    if (!plan || !info || info->size < sizeof *info)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_variant *variant = plan->choice.point.variant;
    const wfi_family *family = wfi_family_get(plan->problem.family);
    *info = (wf_plan_info){
        .size = info->size,
        .family = family->name,
        .variant = variant->name,
        .chosen_by = plan->choice.chosen_by,
        .constant_count = variant->parameter_count,
        .dispatches = plan->step_count,
        .flops = family->flops(&plan->problem),
        .least_bytes = family->least_bytes(&plan->problem),
    };
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        info->constants[i] =
            (wf_constant){variant->parameters[i].name, plan->choice.point.values[i]};
    return WF_SUCCESS;
}

typedef struct plan_run {
    wf_plan *plan;
    const wf_bindings *bindings;
} plan_run;

static wf_result record_run(void *user, VkCommandBuffer command_buffer)
{
    const plan_run *run = user;
    return wf_plan_record(run->plan, command_buffer, run->bindings);
}

wf_result wf_plan_run(wf_plan *plan, const wf_bindings *bindings)
{
    plan_run run = {plan, bindings};
    if (!plan)
        return WF_ERROR_INVALID_ARGUMENT;
    return wfi_run(plan->device, record_run, &run);
}

wf_result wf_plan_measure(wf_plan *plan, const wf_bindings *bindings,
                          const wf_measure_params *params, wf_timing *timing)
{
    plan_run run = {plan, bindings};
    if (!plan || !timing || (params && params->size < sizeof *params))
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_measure: bad parameters");
    return wfi_measure(plan->device, record_run, &run, params, timing);
}
