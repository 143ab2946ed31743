/* Plans under construction, and their end. */
#include <string.h>

#include "core/heap.h"
#include "core/params.h"
#include "plan/object.h"

#define SUBMIT_SECONDS 0.5
#define NAME_BEGIN (sizeof "wavefit " - 1) /* of a plan's label; wfi_name adds the rest */

/* Grows an array of `count` items by one; NULL (array untouched) without memory. */
static void *grow(void *array, uint32_t count, size_t item_bytes)
{
    return wfi_realloc(array, (count + (size_t)1) * item_bytes);
}

static wf_result add_compile(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t index)
{
    wfi_compile **compiles = grow(plan->compiles, index, sizeof(wfi_compile *));
    if (compiles)
        plan->compiles = compiles;
    wfi_pooled **pooled = grow(plan->pooled, index, sizeof(wfi_pooled *));
    if (pooled)
        plan->pooled = pooled;
    if (!compiles || !pooled)
        return wfi_no_memory(&plan->device->log);
    compiles[index] = NULL;
    pooled[index] = NULL;
    if (plan->jobs.submit) {
        plan->compiling = true;
        return wfi_compile_start(plan->device, &plan->jobs, desc, &compiles[index]);
    }
    const wf_result result = wfi_pool_take(plan->device, desc, &pooled[index]);
    if (result == WF_SUCCESS)
        plan->pipelines[index] = *wfi_pooled_pipeline(pooled[index]);
    return result;
}

void wfi_plan_bind_sets(wf_plan *plan)
{
    plan->bind_sets = true;
}

static bool is_rebuilding(const wf_plan *plan)
{
    return plan->sized && plan->sized->rebuilding;
}

/* Whether *index is one of `count` things that the plan has already. */
static wf_result next_of(const wf_plan *plan, uint32_t count, uint32_t *next, uint32_t *index)
{
    if (*next >= count)
        return wfi_fail(&plan->device->log, WF_ERROR_UNSUPPORTED,
                        "these sizes need kernels that the plan was not made with");
    *index = (*next)++;
    return WF_SUCCESS;
}

static wf_result add_listed(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t *index)
{
    wfi_pipeline_list *list = plan->listed;
    *index = list->count;
    if (list->count < WFI_MOST_LISTED) {
        list->items[list->count] = *desc;
        list->items[list->count++].bound_sets = plan->bind_sets;
    }
    return WF_SUCCESS;
}

wf_result wfi_plan_add_pipeline(wf_plan *plan, const wfi_pipeline_desc *desc, uint32_t *index)
{
    if (plan->listed)
        return add_listed(plan, desc, index);
    if (is_rebuilding(plan))
        return next_of(plan, plan->pipeline_count, &plan->sized->next_pipeline, index);
    wfi_pipeline *pipelines = grow(plan->pipelines, plan->pipeline_count, sizeof *pipelines);
    if (!pipelines)
        return wfi_no_memory(&plan->device->log);
    wfi_pipeline_desc own = *desc;
    own.bound_sets = plan->bind_sets;
    plan->pipelines = pipelines;
    wf_result result = add_compile(plan, &own, plan->pipeline_count);
    if (result == WF_SUCCESS)
        *index = plan->pipeline_count++;
    return result;
}

/* Takes over the pipelines that jobs have compiled. */
wf_result wfi_plan_collect(wf_plan *plan)
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
    return plan->device->vk ? wfi_plan_collect(plan) : WF_ERROR_DEVICE_CLOSED;
}

/* Views of the step's texel buffers that are the plan's own. */
wf_result wfi_plan_view_own(wf_plan *plan, wfi_step *step)
{
    const wf_device *device = plan->device;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < step->slot_count && result == WF_SUCCESS; i++) {
        const wfi_slot *slot = &step->slots[i];
        if (step->texels[i] == VK_FORMAT_UNDEFINED || slot->kind != WFI_SLOT_OWN)
            continue;
        const VkDescriptorBufferInfo info = {plan->own[slot->index]->vk, slot->offset, slot->bytes};
        const VkBufferViewCreateInfo create = wfi_plan_view_info(step, i, &info);
        result = wfi_check_vk(&device->log,
                              WFI_MADE(device->fn.vkCreateBufferView(
                                           device->vk, &create, device->allocator, &step->views[i]),
                                       &step->views[i]),
                              "vkCreateBufferView");
        wfi_name(device, VK_OBJECT_TYPE_BUFFER_VIEW, WFI_HANDLE(step->views[i]),
                 "%s: texels of buffer %u", plan->label + NAME_BEGIN, slot->index);
    }
    return result;
}

wfi_slot wfi_slot_at(const wf_caps *caps, uint32_t binding, uint64_t first, uint64_t elements,
                     uint64_t size, uint32_t *base)
{
    const uint64_t bytes = first * size, start = bytes - bytes % caps->storage_alignment;
    *base = (uint32_t)((bytes - start) / size);
    return (wfi_slot){WFI_SLOT_BINDING, binding, start, bytes - start + elements * size};
}

wf_result wfi_plan_add_step(wf_plan *plan, const wfi_step *step)
{
    const wf_caps *caps = &plan->device->caps;
    if (plan->listed)
        return WF_SUCCESS;
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
    if (is_rebuilding(plan)) {
        uint32_t index;
        wf_result result = next_of(plan, plan->sized->room, &plan->step_count, &index);
        if (result == WF_SUCCESS)
            plan->steps[index] = *step;
        return result;
    }
    wfi_step *steps = grow(plan->steps, plan->step_count, sizeof *steps);
    if (!steps)
        return wfi_no_memory(&plan->device->log);
    plan->steps = steps;
    steps[plan->step_count++] = *step;
    return wfi_plan_view_own(plan, &steps[plan->step_count - 1]);
}

wf_result wfi_plan_add_binding(wf_plan *plan, const wfi_binding_spec *spec)
{
    if (plan->binding_count == WF_MAX_BINDINGS)
        return wfi_fail(&plan->device->log, WF_ERROR_UNSUPPORTED, "too many bindings");
    plan->bindings[plan->binding_count++] = *spec;
    return WF_SUCCESS;
}

/* Fills the plan's own buffer `index` (data NULL: with zeros), or leaves that to
 * wf_plan_record_upload, since wavefit does not submit to an adopted device's queue unasked. */
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

/* Makes room for one more buffer of the plan's. */
static wf_result reserve_own(wf_plan *plan)
{
    wf_buffer **own = grow(plan->own, plan->own_count, sizeof(wf_buffer *));
    if (own)
        plan->own = own;
    wf_buffer **staging = grow(plan->staging, plan->own_count, sizeof(wf_buffer *));
    if (staging)
        plan->staging = staging;
    wfi_own_use *uses = grow(plan->own_uses, plan->own_count, sizeof *uses);
    if (uses)
        plan->own_uses = uses;
    if (!own || !staging || !uses)
        return wfi_no_memory(&plan->device->log);
    own[plan->own_count] = staging[plan->own_count] = NULL;
    uses[plan->own_count] = WFI_OWN_READ;
    return WF_SUCCESS;
}

/* Names the last of the own buffers and counts it. */
static uint32_t count_own(wf_plan *plan)
{
    const uint32_t index = plan->own_count++;
    wfi_name(plan->device, VK_OBJECT_TYPE_BUFFER, WFI_HANDLE(plan->own[index]->vk),
             "%s: own buffer %u", plan->label + NAME_BEGIN, index);
    return index;
}

static wf_result add_own(wf_plan *plan, uint64_t bytes, wf_memory memory, uint32_t *index)
{
    wf_result result = reserve_own(plan);
    if (result == WF_SUCCESS)
        result =
            wf_buffer_create(plan->device, bytes ? bytes : 4, memory, &plan->own[plan->own_count]);
    if (result == WF_SUCCESS)
        *index = count_own(plan);
    return result;
}

wf_result wfi_plan_adopt_own(wf_plan *plan, wf_buffer **buffer, uint32_t *index)
{
    wf_result result = reserve_own(plan);
    if (result != WF_SUCCESS)
        return result;
    plan->own[plan->own_count] = *buffer;
    *index = count_own(plan);
    *buffer = NULL;
    return WF_SUCCESS;
}

/* Whether own buffers are not made, since pipelines alone are listed. */
static bool only_lists(const wf_plan *plan, uint32_t *index)
{
    *index = 0;
    return plan->listed;
}

wf_result wfi_plan_add_scratch(wf_plan *plan, uint64_t bytes, uint32_t *index)
{
    if (is_rebuilding(plan))
        return next_of(plan, plan->own_count, &plan->sized->next_own, index);
    if (only_lists(plan, index))
        return WF_SUCCESS;
    plan->writes_own = true;
    wf_result result = add_own(plan, bytes, WF_MEMORY_DEVICE, index);
    if (result == WF_SUCCESS)
        plan->own_uses[*index] = WFI_OWN_SCRATCH;
    return result;
}

wf_result wfi_plan_add_own(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    if (only_lists(plan, index))
        return WF_SUCCESS;
    plan->writes_own |= !data;
    wf_result result = add_own(plan, bytes, WF_MEMORY_DEVICE, index);
    if (result == WF_SUCCESS && !data)
        plan->own_uses[*index] = WFI_OWN_ZEROED;
    return result == WF_SUCCESS ? fill_own(plan, *index, bytes ? data : NULL, bytes) : result;
}

wf_result wfi_plan_add_own_mapped(wf_plan *plan, const void *data, uint64_t bytes, uint32_t *index)
{
    if (only_lists(plan, index))
        return WF_SUCCESS;
    wf_result result = add_own(plan, bytes, WFI_MEMORY_MAPPED, index);
    return result == WF_SUCCESS ? wf_buffer_write(plan->own[*index], 0, data, bytes) : result;
}

/* What executions only read is the first plan's. */
wf_result wfi_plan_copy_own(wf_plan *plan, const wf_plan *from, uint32_t i)
{
    uint32_t index = 0;
    const uint64_t bytes = from->own[i]->bytes;
    if (from->own_uses[i] == WFI_OWN_SCRATCH)
        return wfi_plan_add_scratch(plan, bytes, &index);
    if (from->own_uses[i] == WFI_OWN_ZEROED)
        return wfi_plan_add_own(plan, NULL, bytes, &index);
    wf_result result = reserve_own(plan);
    if (result == WF_SUCCESS)
        plan->own[plan->own_count++] = from->own[i];
    return result;
}

wf_buffer *wfi_plan_own(wf_plan *plan, uint32_t index)
{
    return plan->own[index];
}

void wfi_plan_set_workspace(wf_plan *plan, uint64_t bytes)
{
    plan->workspace = bytes;
}

void wfi_plan_set_writes_own(wf_plan *plan)
{
    plan->writes_own = true;
}

wf_device *wfi_plan_device(const wf_plan *plan)
{
    return plan->device;
}

void wfi_plan_keep(wf_plan *plan, void *data, void (*destroy)(void *data))
{
    plan->kept = data;
    plan->destroy_kept = destroy;
}

void wfi_plan_count_traffic(wf_plan *plan, const wfi_traffic *traffic)
{
    plan->traffic.requested += traffic->requested;
    plan->traffic.stored += traffic->stored;
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
    wfi_plan_drop_runs(plan); /* they hold the constants of now */
    return &plan->steps[index];
}

const wfi_family *wfi_plan_family(const wf_plan *plan)
{
    return plan->choice.family;
}

const wfi_point *wfi_plan_point(const wf_plan *plan)
{
    return &plan->choice.point;
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

wf_result wfi_plan_create_sets(wf_plan *plan)
{
    const bool pushed = plan->device->caps.push_descriptors && !plan->bind_sets;
    if (pushed || plan->step_count == 0)
        return WF_SUCCESS;
    plan->sets = wfi_calloc(plan->step_count, sizeof(VkDescriptorSet));
    plan->kept_first = wfi_calloc(plan->step_count, sizeof *plan->kept_first);
    return plan->sets && plan->kept_first ? WF_SUCCESS : wfi_no_memory(&plan->device->log);
}

void wfi_plan_close(void *owner)
{
    wf_plan *plan = owner;
    wf_device *device = plan->device;
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t n = 0; n < WF_MAX_BINDINGS; n++) {
            if (plan->steps[i].views[n] && !device->keeps)
                device->fn.vkDestroyBufferView(device->vk, plan->steps[i].views[n],
                                               device->allocator);
            plan->steps[i].views[n] = VK_NULL_HANDLE;
        }
    for (uint32_t i = 0; i < plan->pipeline_count && !plan->first; i++)
        wfi_pool_give_back(device, &plan->pooled[i]);
}

void wfi_plan_set_choice(wf_plan *plan, const wfi_choice *choice)
{
    plan->problem = *choice->point.problem;
    plan->choice = *choice;
    plan->choice.point.problem = &plan->problem;
    plan->choice.point.caps = &plan->device->caps;
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
    wf_plan *plan = wfi_calloc(1, sizeof *plan);
    if (!plan)
        return wfi_no_memory(&device->log);
    plan->device = device;
    atomic_init(&plan->users, 1);
    plan->jobs = read;
    plan->submit_seconds = SUBMIT_SECONDS;
    wfi_plan_set_choice(plan, choice);
    wfi_object_enlist(device, &plan->object, wfi_plan_close, plan);
    wfi_plan_name(plan);
    result = wfi_plan_build(plan, params);
    if (result == WF_SUCCESS)
        result = wfi_plan_create_sets(plan);
    if (result == WF_SUCCESS)
        result = wfi_plan_name_steps(plan);
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

static void free_plan(wf_plan *plan)
{
    if (plan->kept && !plan->first)
        plan->destroy_kept(plan->kept);
    wfi_plan_drop_runs(plan);
    wfi_plan_close(plan);
    wf_arena_destroy(&plan->arena);
    for (uint32_t i = 0; i < plan->pipeline_count; i++)
        wfi_compile_drop(&plan->compiles[i]);
    wfi_sized_destroy(plan);
    for (uint32_t i = 0; i < plan->own_count; i++) {
        if (!plan->first || plan->own_uses[i] != WFI_OWN_READ)
            wf_buffer_destroy(&plan->own[i]);
        wf_buffer_destroy(&plan->staging[i]);
    }
    wfi_object_leave(&plan->object);
    wfi_free(plan->pipelines);
    wfi_free(plan->pooled);
    wfi_free(plan->compiles);
    wfi_free(plan->steps);
    wfi_free(plan->step_labels);
    wfi_free(plan->own);
    wfi_free(plan->own_uses);
    wfi_free(plan->staging);
    wfi_free(plan->sets);
    wfi_free(plan->kept_sets);
    wfi_free(plan->kept_first);
    wfi_free(plan);
}

void wf_plan_destroy(wf_plan **handle)
{
    wf_plan *plan = handle ? *handle : NULL;
    if (!plan)
        return;
    *handle = NULL;
    wf_plan *first = plan->first;
    if (first)
        free_plan(plan);
    else
        first = plan;
    if (atomic_fetch_sub(&first->users, 1) == 1)
        free_plan(first);
}
