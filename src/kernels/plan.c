#include "kernels/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/command.h"
#include "core/compile.h"
#include "core/params.h"
#include "core/timing.h"

/* A descriptor set of one step, and what it was written with. */
typedef struct kept_set {
    VkDescriptorSet set;
    VkDescriptorBufferInfo buffers[WF_MAX_BINDINGS];
} kept_set;

struct wf_plan {
    wfi_object object;
    wf_device *device;
    wf_jobs jobs; /* submit NULL: pipelines are compiled in the call */
    wfi_problem problem;
    wfi_choice choice;

    uint32_t pipeline_count, step_count, binding_count, own_count;
    wfi_pipeline *pipelines;
    wfi_compile **compiles; /* a pipeline; NULL: it is compiled and the plan's own */
    bool compiling;
    wfi_step *steps;
    wfi_binding_spec bindings[WF_MAX_BINDINGS];
    wf_buffer **own;
    wf_buffer **staging; /* an own buffer; NULL: it has its data, or starts at zero */
    bool wants_upload;   /* wf_plan_record_upload was not recorded yet */
    uint64_t workspace;
    void *kept; /* the family's own; NULL: none */
    void (*destroy_kept)(void *kept);

    /* Without push descriptors, or with keep_sets: WFI_SET_RING sets a step, kept for the plan's life. */
    bool keep_sets;
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

static wf_result add_compile(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t index)
{
    wfi_compile **compiles = grow(plan->compiles, index, sizeof(wfi_compile *));
    if (!compiles)
        return no_memory(plan);
    plan->compiles = compiles;
    compiles[index] = NULL;
    if (!plan->jobs.submit)
        return wfi_pipeline_create(plan->device, desc, &plan->pipelines[index]);
    wf_result result = wfi_compile_start(plan->device, &plan->jobs, desc, &compiles[index]);
    plan->compiling = true;
    return result;
}

void wfi_plan_keep_sets(wf_plan *plan)
{
    plan->keep_sets = true;
}

wf_result wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t *index)
{
    wfi_pipeline *pipelines = grow(plan->pipelines, plan->pipeline_count, sizeof *pipelines);
    if (!pipelines)
        return no_memory(plan);
    wfi_pipeline_desc own = *desc;
    own.kept_sets = plan->keep_sets;
    plan->pipelines = pipelines;
    wf_result result = add_compile(plan, &own, plan->pipeline_count);
    if (result == WF_SUCCESS)
        *index = plan->pipeline_count++;
    return result;
}

/* Takes over what the jobs have made. */
static wf_result collect(wf_plan *plan)
{
    for (uint32_t i = 0; plan->compiling && i < plan->pipeline_count; i++) {
        const wf_result status =
            plan->compiles[i] ? wfi_compile_status(plan->compiles[i]) : WF_SUCCESS;
        if (status != WF_SUCCESS)
            return status;
        if (plan->compiles[i])
            plan->pipelines[i] = *wfi_compile_pipeline(plan->compiles[i]);
    }
    plan->compiling = false;
    return WF_SUCCESS;
}

wf_result wf_plan_status(wf_plan *plan)
{
    if (!plan)
        return WF_ERROR_INVALID_ARGUMENT;
    return plan->device->vk ? collect(plan) : WF_ERROR_DEVICE_CLOSED;
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

/* Fills buffer `index` of the plan's own (data NULL: with zeros), or leaves it to
 * wf_plan_record_upload: an adopted device's queue is not ours to use behind the application's
 * back. */
static wf_result fill_own(wf_plan *plan, uint32_t index, const void *data, uint64_t bytes)
{
    wf_buffer *own = plan->own[index];
    if (own->mapped || !plan->device->adopted)
        return data ? wf_buffer_write(own, 0, data, bytes) : wf_buffer_fill(own, 0, own->bytes, 0);
    plan->wants_upload = true;
    if (!data)
        return WF_SUCCESS;
    wf_result result =
        wf_buffer_create(plan->device, bytes, WF_MEMORY_UPLOAD, &plan->staging[index]);
    return result == WF_SUCCESS ? wf_buffer_write(plan->staging[index], 0, data, bytes) : result;
}

static wf_result add_own(wf_plan *plan, uint64_t bytes, wf_memory memory, uint32_t *index)
{
    wf_buffer **own = grow(plan->own, plan->own_count, sizeof(wf_buffer *));
    if (own)
        plan->own = own;
    wf_buffer **staging = grow(plan->staging, plan->own_count, sizeof(wf_buffer *));
    if (staging)
        plan->staging = staging;
    if (!own || !staging)
        return no_memory(plan);
    own[plan->own_count] = staging[plan->own_count] = NULL;
    wf_result result =
        wf_buffer_create(plan->device, bytes ? bytes : 4, memory, &own[plan->own_count]);
    if (result == WF_SUCCESS)
        *index = plan->own_count++;
    return result;
}

wf_result wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index)
{
    return add_own(plan, bytes, WF_MEMORY_DEVICE, index);
}

wf_result wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    wf_result result = wfi_plan_add_scratch(plan, bytes, index);
    return result == WF_SUCCESS ? fill_own(plan, *index, bytes ? data : NULL, bytes) : result;
}

wf_result wfi_plan_add_own_mapped(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    wf_result result = add_own(plan, bytes, WFI_MEMORY_MAPPED, index);
    return result == WF_SUCCESS ? wf_buffer_write(plan->own[*index], 0, data, bytes) : result;
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

void wfi_plan_keep(wf_plan *plan, void *data, void (*destroy)(void *data))
{
    plan->kept = data;
    plan->destroy_kept = destroy;
}

void *wfi_plan_kept(const wf_plan *plan)
{
    return plan->kept;
}

uint32_t wfi_plan_step_count(const wf_plan *plan)
{
    return plan->step_count;
}

wfi_step *wfi_plan_step(wf_plan *plan, uint32_t index)
{
    return &plan->steps[index];
}

const wfi_problem *wfi_plan_problem(const wf_plan *plan)
{
    return &plan->problem;
}

const wfi_binding_spec *wfi_plan_bindings(const wf_plan *plan, uint32_t *count)
{
    *count = plan->binding_count;
    return plan->bindings;
}

/* Sets need the layouts alone, which are there before the pipelines are compiled. */
static VkDescriptorSetLayout set_layout_of(const wf_plan *plan, uint32_t pipeline)
{
    return plan->compiles[pipeline] ? wfi_compile_pipeline(plan->compiles[pipeline])->set_layout
                                    : plan->pipelines[pipeline].set_layout;
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
        const VkDescriptorSetLayout layout =
            set_layout_of(plan, plan->steps[i / WFI_SET_RING].pipeline);
        const VkDescriptorSetAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = plan->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &layout,
        };
        vk = device->fn.vkAllocateDescriptorSets(device->vk, &allocate, &plan->sets[i].set);
    }
    return wfi_check_vk(&device->log, vk, "allocating descriptor sets");
}

static wf_result create_sets(wf_plan *plan)
{
    const bool pushed = plan->device->caps.push_descriptors && !plan->keep_sets;
    if (pushed || plan->step_count == 0)
        return WF_SUCCESS;
    plan->sets = calloc((size_t)plan->step_count * WFI_SET_RING, sizeof *plan->sets);
    plan->sets_used = calloc(plan->step_count, sizeof *plan->sets_used);
    if (!plan->sets || !plan->sets_used)
        return no_memory(plan);
    return create_pool(plan);
}

static void close_plan(void *owner)
{
    wf_plan *plan = owner;
    wf_device *device = plan->device;
    if (plan->pool)
        device->fn.vkDestroyDescriptorPool(device->vk, plan->pool, device->allocator);
    plan->pool = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < plan->pipeline_count; i++)
        if (!plan->compiles[i])
            wfi_pipeline_destroy(device, &plan->pipelines[i]);
}

wf_result wfi_plan_create_with(wf_device *device, const wfi_choice *choice, const wf_jobs *jobs,
                               const void *params, wf_plan **out)
{
    wf_jobs read;
    wf_result result = wfi_params_read(&device->log, "wf_jobs", jobs, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = wfi_device_usable(device, "creating a plan");
    if (result != WF_SUCCESS)
        return result;
    wf_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return wfi_fail(&device->log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    plan->device = device;
    plan->jobs = read;
    plan->problem = *choice->point.problem;
    plan->choice = *choice;
    plan->choice.point.problem = &plan->problem;
    plan->choice.point.caps = &device->caps;
    wfi_object_enlist(device, &plan->object, close_plan, plan);
    result = choice->point.variant->build(plan, &plan->choice.point, params);
    if (result == WF_SUCCESS)
        result = create_sets(plan);
    if (result != WF_SUCCESS) {
        wf_plan_destroy(&plan);
        return result;
    }
    *out = plan;
    return WF_SUCCESS;
}

wf_result wfi_plan_create(wf_device *device, const wfi_choice *choice, const void *params,
                          wf_plan **out)
{
    return wfi_plan_create_with(device, choice, NULL, params, out);
}

void wf_plan_destroy(wf_plan **handle)
{
    wf_plan *plan = handle ? *handle : NULL;
    if (!plan)
        return;
    if (plan->kept)
        plan->destroy_kept(plan->kept);
    close_plan(plan);
    for (uint32_t i = 0; i < plan->pipeline_count; i++)
        wfi_compile_drop(&plan->compiles[i]);
    for (uint32_t i = 0; i < plan->own_count; i++) {
        wf_buffer_destroy(&plan->own[i]);
        wf_buffer_destroy(&plan->staging[i]);
    }
    wfi_object_leave(&plan->object);
    free(plan->pipelines);
    free(plan->compiles);
    free(plan->steps);
    free(plan->own);
    free(plan->staging);
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
    if (binding->buffer && binding->buffer->device != device)
        return wfi_fail(&device->log, WF_ERROR_BINDING, "binding %s is a buffer of another device",
                        name);
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

static wf_result resolve_workspace(const wf_plan *plan, const wf_bindings *bindings,
                                   bound all[WF_MAX_BINDINGS + 1])
{
    bound *workspace = &all[plan->binding_count];
    wf_result result = resolve(plan, &bindings->workspace, "workspace", plan->workspace, workspace);
    for (uint32_t i = 0; result == WF_SUCCESS && i < plan->binding_count; i++)
        if (overlap(workspace, plan->workspace, &all[i], plan->bindings[i].bytes))
            return wfi_fail(&plan->device->log, WF_ERROR_BINDING,
                            "the workspace and binding %s overlap", plan->bindings[i].name);
    return result;
}

/* Resolves all bindings; the workspace comes last, at index binding_count. */
static wf_result resolve_all(const wf_plan *plan, const wf_bindings *bindings,
                             bound all[WF_MAX_BINDINGS + 1])
{
    for (uint32_t i = 0; i < plan->binding_count; i++) {
        const wfi_binding_spec *spec = &plan->bindings[i];
        if (spec->bytes == 0) /* not used */
            continue;
        wf_result result = resolve(plan, &bindings->items[i], spec->name, spec->bytes, &all[i]);
        if (result != WF_SUCCESS)
            return result;
        for (uint32_t j = 0; j < i; j++)
            if (plan->bindings[j].bytes &&
                ((spec->access | plan->bindings[j].access) & WFI_WRITES) &&
                overlap(&all[i], spec->bytes, &all[j], plan->bindings[j].bytes))
                return wfi_fail(&plan->device->log, WF_ERROR_BINDING,
                                "bindings %s and %s overlap and one is written",
                                plan->bindings[j].name, spec->name);
    }
    return plan->workspace ? resolve_workspace(plan, bindings, all) : WF_SUCCESS;
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

/* ------------------------------------------------------------------------------------ duration */

#define UNIT_FLOPS 25e9 /* what a compute unit reaches with middling code */
#define UNIT_BYTES 4e9
#define UNITS_INTEGRATED 8
#define UNITS_DISCRETE 32
#define SCALE_MOST 1e3

/* By the problem's least work and what devices of its kind reach, without what was learned. */
static double guess_seconds(const wf_plan *plan)
{
    const wf_caps *caps = &plan->device->caps;
    const wfi_family *family = wfi_family_get(plan->problem.family);
    const bool discrete = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    const double units = caps->compute_units ? caps->compute_units
                         : discrete          ? UNITS_DISCRETE
                                             : UNITS_INTEGRATED;
    const double slow = plan->problem.type == WF_TYPE_F64 ? 16 : 1;
    return family->flops(&plan->problem) * slow / (units * UNIT_FLOPS) +
           family->least_bytes(&plan->problem) / (units * UNIT_BYTES);
}

double wfi_plan_expected_seconds(const wf_plan *plan)
{
    const double slowness = plan->device->slowness;
    return guess_seconds(plan) * (slowness > 0 ? slowness : 1);
}

/* Takes a measured time into account, half and half with what was known. */
static void learn(wf_plan *plan, double seconds)
{
    const double guess = guess_seconds(plan);
    wf_device *device = plan->device;
    if (!(guess > 0) || !(seconds > 0) || !(device->dispatch_seconds > 0))
        return;
    double ratio = seconds / guess;
    ratio = ratio > SCALE_MOST ? SCALE_MOST : ratio < 1 / SCALE_MOST ? 1 / SCALE_MOST : ratio;
    device->slowness = device->slowness > 0 ? (device->slowness + ratio) / 2 : ratio;
}

static double all_groups(const wfi_step *step)
{
    return (double)step->groups[0] * step->groups[1] * step->groups[2];
}

/* Into how many dispatches the step goes; its share of the time is that of its work-groups. */
static uint32_t parts_of(const wf_plan *plan, const wfi_step *step, int *axis)
{
    double groups = 0;
    *axis = step->groups[2] > 1 ? 2 : step->groups[1] > 1 ? 1 : 0;
    if (!step->divisible || !(plan->device->dispatch_seconds > 0))
        return 1;
    for (uint32_t i = 0; i < plan->step_count; i++)
        groups += all_groups(&plan->steps[i]);
    const double parts = wfi_plan_expected_seconds(plan) * all_groups(step) / groups /
                         plan->device->dispatch_seconds;
    const uint32_t most = step->groups[*axis];
    return parts >= most ? most : parts > 1 ? (uint32_t)parts + 1 : 1;
}

static void dispatch(wf_plan *plan, VkCommandBuffer command_buffer, const wfi_step *step)
{
    const struct VolkDeviceTable *fn = &plan->device->fn;
    int axis;
    const uint32_t parts = parts_of(plan, step, &axis);
    if (parts <= 1) {
        fn->vkCmdDispatch(command_buffer, step->groups[0], step->groups[1], step->groups[2]);
        return;
    }
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t base[3] = {0, 0, 0}, count[3];
        memcpy(count, step->groups, sizeof count);
        base[axis] = (uint32_t)((uint64_t)step->groups[axis] * i / parts);
        count[axis] = (uint32_t)((uint64_t)step->groups[axis] * (i + 1) / parts) - base[axis];
        fn->vkCmdDispatchBase(command_buffer, base[0], base[1], base[2], count[0], count[1],
                              count[2]);
    }
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
    dispatch(plan, command_buffer, step);
}

static wf_result recordable(wf_plan *plan)
{
    wf_result result = wfi_device_usable(plan->device, "wf_plan_record");
    if (result != WF_SUCCESS)
        return result;
    result = collect(plan);
    if (result == WF_SUCCESS && plan->wants_upload)
        return wfi_fail(&plan->device->log, WF_NOT_READY,
                        "wf_plan_record: wf_plan_record_upload must be recorded first");
    return result;
}

wf_result wfi_plan_record_turn(wf_plan *plan, VkCommandBuffer command_buffer,
                               const wf_bindings *bindings, uint32_t turn)
{
    bound all[WF_MAX_BINDINGS + 1] = {{0}};
    wf_bindings read;
    if (!plan || !command_buffer || !bindings)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: bad parameters");
    wf_result result = recordable(plan);
    if (result == WF_SUCCESS)
        result =
            wfi_params_read(&plan->device->log, "wf_plan_record", bindings, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = resolve_all(plan, &read, all);
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

bool wf_plan_needs_upload(const wf_plan *plan)
{
    return plan->wants_upload;
}

wf_result wf_plan_record_upload(wf_plan *plan, VkCommandBuffer command_buffer)
{
    if (!plan || !command_buffer)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record_upload: bad parameters");
    wf_device *device = plan->device;
    wf_result result = wfi_device_usable(device, "wf_plan_record_upload");
    if (result != WF_SUCCESS || !plan->wants_upload)
        return result;
    for (uint32_t i = 0; i < plan->own_count; i++)
        if (plan->staging[i])
            wfi_record_copy(device, command_buffer, plan->staging[i], 0, plan->own[i], 0,
                            plan->staging[i]->bytes);
        else if (!plan->own[i]->mapped)
            device->fn.vkCmdFillBuffer(command_buffer, plan->own[i]->vk, 0, plan->own[i]->bytes, 0);
    wfi_barrier(device, command_buffer);
    plan->wants_upload = false;
    return WF_SUCCESS;
}

void wf_plan_trim(wf_plan *plan)
{
    if (plan->wants_upload)
        return;
    for (uint32_t i = 0; i < plan->own_count; i++)
        wf_buffer_destroy(&plan->staging[i]);
}

void wf_plan_forget_bindings(wf_plan *plan)
{
    if (plan->sets)
        memset(plan->sets_used, 0, plan->step_count * sizeof *plan->sets_used);
}

uint64_t wf_plan_workspace(const wf_plan *plan)
{
    return plan->workspace;
}

/* The kernel of the step with the most work-items. */
static void describe_kernel(const wf_plan *plan, wf_kernel_info *kernel)
{
    double most = -1;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const wfi_step *step = &plan->steps[i];
        const wfi_pipeline *pipeline = plan->compiles[step->pipeline]
                                           ? wfi_compile_pipeline(plan->compiles[step->pipeline])
                                           : &plan->pipelines[step->pipeline];
        const uint64_t groups = (uint64_t)step->groups[0] * step->groups[1] * step->groups[2];
        const double items = (double)groups * pipeline->group_size[0] * pipeline->group_size[1] *
                             pipeline->group_size[2];
        if (items <= most)
            continue;
        most = items;
        wfi_describe_pipeline(&plan->choice.point, pipeline, groups, kernel);
    }
}

wf_result wf_plan_describe(const wf_plan *plan, wf_plan_info *info)
{
    if (!plan || !info)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_plan_info local = wfi_describe_choice(&plan->choice);
    local.dispatches = plan->step_count;
    describe_kernel(plan, &local.kernel);
    return wfi_params_write(info, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

typedef struct plan_run {
    wf_plan *plan;
    const wf_bindings *bindings;
    uint32_t count; /* for record_times */
} plan_run;

static wf_result record_run(void *user, VkCommandBuffer command_buffer)
{
    const plan_run *run = user;
    wf_result result = wf_plan_record_upload(run->plan, command_buffer);
    return result == WF_SUCCESS ? wf_plan_record(run->plan, command_buffer, run->bindings) : result;
}

wf_result wf_plan_run(wf_plan *plan, const wf_bindings *bindings)
{
    plan_run run = {plan, bindings, 1};
    if (!plan)
        return WF_ERROR_INVALID_ARGUMENT;
    const double start = wfi_host_seconds();
    const wf_result result = wfi_run(plan->device, record_run, &run);
    if (result == WF_SUCCESS)
        learn(plan, wfi_host_seconds() - start);
    return result;
}

static wf_result record_times(void *user, VkCommandBuffer command_buffer)
{
    const plan_run *run = user;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < run->count && result == WF_SUCCESS; i++) {
        if (i > 0)
            wfi_barrier_compute(run->plan->device, command_buffer);
        result = record_run(user, command_buffer);
    }
    return result;
}

wf_result wf_plan_run_times(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                            double *seconds, bool *gpu_clock)
{
    plan_run run = {plan, bindings, count};
    if (!plan || !count || !seconds || !gpu_clock)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_run_times: bad parameters");
    return wfi_run_timed(plan->device, NULL, record_times, &run, seconds, gpu_clock);
}

wf_result wf_plan_measure(wf_plan *plan, const wf_bindings *bindings,
                          const wf_measure_params *params, wf_timing *timing)
{
    plan_run run = {plan, bindings, 1};
    wf_measure_params read;
    if (!plan || !timing)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_measure: bad parameters");
    wf_result result =
        wfi_params_read(&plan->device->log, "wf_plan_measure", params, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = wfi_measure(plan->device, record_run, &run, &read, timing);
    if (result == WF_SUCCESS)
        learn(plan, timing->median_us * 1e-6);
    return result;
}
