/* What a recording binds: the caller's buffers checked and made concrete, and descriptor sets. */
#include <string.h>

#include "core/buffer.h"
#include "core/command.h"
#include "core/heap.h"
#include "plan/object.h"

wf_result wfi_bind(const wf_device *device, const wfi_log *log, const wf_binding *binding,
                   const char *name, uint64_t needed, wfi_bound *out)
{
    *out =
        (wfi_bound){.buffer = binding->handle, .offset = binding->offset, .bytes = binding->bytes};
    if (binding->buffer && binding->buffer->device != device)
        return wfi_fail(log, WF_ERROR_BINDING, "binding %s is a buffer of another device", name);
    if (binding->buffer) {
        out->buffer = binding->buffer->vk;
        out->number = binding->buffer->number;
        out->mapped = binding->buffer->mapped != NULL;
        const uint64_t size = binding->buffer->bytes;
        const uint64_t remaining = binding->offset <= size ? size - binding->offset : 0;
        if (out->bytes > remaining || binding->offset > size)
            return wfi_fail(log, WF_ERROR_BINDING,
                            "binding %s reaches beyond its buffer of %llu bytes", name,
                            (unsigned long long)size);
        if (out->bytes == 0)
            out->bytes = remaining;
    }
    if (!out->buffer)
        return wfi_fail(log, WF_ERROR_BINDING, "binding %s is missing", name);
    if (out->offset % device->caps.storage_alignment)
        return wfi_fail(
            log, WF_ERROR_BINDING, "binding %s starts at byte %llu, not a multiple of %llu", name,
            (unsigned long long)out->offset, (unsigned long long)device->caps.storage_alignment);
    if (out->bytes < needed)
        return wfi_fail(log, WF_ERROR_BINDING, "binding %s has %llu bytes; %llu are needed", name,
                        (unsigned long long)out->bytes, (unsigned long long)needed);
    return WF_SUCCESS;
}

static bool overlap(const wfi_bound *a, uint64_t a_bytes, const wfi_bound *b, uint64_t b_bytes)
{
    if (a->view || b->view)
        return a->view == b->view;
    return a->buffer == b->buffer && a->offset < b->offset + b_bytes &&
           b->offset < a->offset + a_bytes;
}

static wf_result resolve_workspace(const wf_plan *plan, const wfi_log *log,
                                   const wf_bindings *bindings, wfi_bound all[WF_MAX_BINDINGS + 1])
{
    wfi_bound *workspace = &all[plan->binding_count];
    wf_result result =
        wfi_bind(plan->device, log, &bindings->workspace, "workspace", plan->workspace, workspace);
    for (uint32_t i = 0; result == WF_SUCCESS && i < plan->binding_count; i++)
        if (overlap(workspace, plan->workspace, &all[i], plan->bindings[i].bytes))
            return wfi_fail(log, WF_ERROR_BINDING, "the workspace and binding %s overlap",
                            plan->bindings[i].name);
    return result;
}

/* A binding that is an image of the caller's, or must not be one. */
static wf_result bind_view(const wfi_log *log, const wfi_binding_spec *spec, VkImageView view,
                           wfi_bound *out)
{
    const bool image = spec->bytes == WFI_IMAGE;
    if (image && !view)
        return wfi_fail(log, WF_ERROR_BINDING,
                        "binding %s is a storage image: its view goes into wf_bindings.images",
                        spec->name);
    if (!image && view)
        return wfi_fail(log, WF_ERROR_BINDING,
                        "binding %s is a buffer, but wf_bindings.images has a view for it",
                        spec->name);
    out->view = view;
    return WF_SUCCESS;
}

/* Resolves all bindings; the workspace comes last, at index binding_count. */
wf_result wfi_plan_resolve(const wf_plan *plan, const wfi_log *log, const wf_bindings *bindings,
                           wfi_bound all[WF_MAX_BINDINGS + 1])
{
    for (uint32_t i = 0; i < plan->binding_count; i++) {
        const wfi_binding_spec *spec = &plan->bindings[i];
        if (spec->bytes == 0) /* not used */
            continue;
        wf_result result = WF_SUCCESS;
        if (spec->bytes != WFI_IMAGE)
            result =
                wfi_bind(plan->device, log, &bindings->items[i], spec->name, spec->bytes, &all[i]);
        if (result == WF_SUCCESS)
            result = bind_view(log, spec, bindings->images[i], &all[i]);
        if (result != WF_SUCCESS)
            return result;
        for (uint32_t j = 0; j < i; j++)
            if (plan->bindings[j].bytes &&
                ((spec->access | plan->bindings[j].access) & WFI_WRITES) &&
                overlap(&all[i], spec->bytes, &all[j], plan->bindings[j].bytes))
                return wfi_fail(log, WF_ERROR_BINDING,
                                "bindings %s and %s overlap and one is written",
                                plan->bindings[j].name, spec->name);
    }
    return plan->workspace ? resolve_workspace(plan, log, bindings, all) : WF_SUCCESS;
}

void wfi_plan_step_slots(const wf_plan *plan, const wfi_step *step, const wfi_bound *all,
                         wfi_descriptor infos[WF_MAX_BINDINGS])
{
    for (uint32_t i = 0; i < step->slot_count; i++) {
        const wfi_slot *slot = &step->slots[i];
        const wfi_bound own = {.buffer = slot->kind == WFI_SLOT_OWN ? plan->own[slot->index]->vk
                                                                    : VK_NULL_HANDLE};
        const wfi_bound *base = slot->kind == WFI_SLOT_OWN         ? &own
                                : slot->kind == WFI_SLOT_WORKSPACE ? &all[plan->binding_count]
                                                                   : &all[slot->index];
        infos[i] = (wfi_descriptor){0};
        if (step->images >> i & 1)
            infos[i].image =
                (VkDescriptorImageInfo){VK_NULL_HANDLE, base->view, VK_IMAGE_LAYOUT_GENERAL};
        else
            infos[i].buffer =
                (VkDescriptorBufferInfo){base->buffer, base->offset + slot->offset, slot->bytes};
    }
}

void wfi_plan_fill_writes(const wfi_step *step, const wfi_descriptor *infos,
                          const VkBufferView *views, VkDescriptorSet set,
                          VkWriteDescriptorSet *writes)
{
    for (uint32_t i = 0; i < step->slot_count; i++) {
        const bool texel = step->texels[i] != VK_FORMAT_UNDEFINED, image = step->images >> i & 1,
                   uniform = step->uniforms >> i & 1;
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = texel     ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                              : image   ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                              : uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                        : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = texel || image ? NULL : &infos[i].buffer,
            .pImageInfo = image ? &infos[i].image : NULL,
            .pTexelBufferView = !texel           ? NULL
                                : step->views[i] ? &step->views[i]
                                                 : &views[i],
        };
    }
}

VkBufferViewCreateInfo wfi_plan_view_info(const wfi_step *step, uint32_t index,
                                          const VkDescriptorBufferInfo *info)
{
    return (VkBufferViewCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = info->buffer,
        .format = step->texels[index],
        .offset = info->offset,
        .range = info->range,
    };
}

static bool is_viewed(const wfi_step *step, uint32_t index)
{
    return step->texels[index] != VK_FORMAT_UNDEFINED && !step->views[index];
}

static wf_result make_view(const wf_plan *plan, wf_arena *arena, const wfi_log *log,
                           const wfi_step *step, uint32_t index, const VkDescriptorBufferInfo *info,
                           VkBufferView *view)
{
    const uint64_t alignment = plan->device->caps.texel_alignment;
    const VkBufferViewCreateInfo create = wfi_plan_view_info(step, index, info);
    if (info->offset % alignment)
        return wfi_fail(
            log, WF_ERROR_BINDING,
            "binding %s starts at byte %llu, not a multiple of %llu as the texel buffer "
            "of this variant must",
            plan->bindings[step->slots[index].index].name, (unsigned long long)info->offset,
            (unsigned long long)alignment);
    return wfi_arena_view(arena, log, &create, view);
}

/* A set of the arena's, written with the step's buffers. */
static wf_result make_set(const wf_plan *plan, wf_arena *arena, const wfi_log *log,
                          const wfi_step *step, const wfi_descriptor *infos, VkDescriptorSet *set)
{
    const wf_device *device = plan->device;
    VkBufferView views[WF_MAX_BINDINGS] = {VK_NULL_HANDLE};
    VkWriteDescriptorSet writes[WF_MAX_BINDINGS];
    wf_result result = wfi_arena_set(arena, log, &plan->pipelines[step->pipeline], set);
    for (uint32_t i = 0; i < step->slot_count && result == WF_SUCCESS; i++)
        if (is_viewed(step, i))
            result = make_view(plan, arena, log, step, i, &infos[i].buffer, &views[i]);
    if (result != WF_SUCCESS)
        return result;
    wfi_plan_fill_writes(step, infos, views, *set, writes);
    device->fn.vkUpdateDescriptorSets(device->vk, step->slot_count, writes, 0, NULL);
    return WF_SUCCESS;
}

/* ---------------------------------------------------------------------------------- the plan's
 * own */

static bool same_slots(const wfi_descriptor *a, const wfi_descriptor *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].buffer.buffer != b[i].buffer.buffer || a[i].buffer.offset != b[i].buffer.offset ||
            a[i].buffer.range != b[i].buffer.range || a[i].image.imageView != b[i].image.imageView)
            return false;
    return true;
}

static wf_result grow_kept(wf_plan *plan)
{
    if (!plan->arena) {
        wf_result result = wf_arena_create(plan->device, &plan->arena);
        if (result != WF_SUCCESS)
            return result;
    }
    if (plan->kept_count < plan->kept_room)
        return WF_SUCCESS;
    const uint32_t room = plan->kept_room ? 2 * plan->kept_room : plan->step_count;
    const wfi_heap outer = wfi_heap_enter_device(plan->device);
    wfi_kept_set *sets = wfi_realloc(plan->kept_sets, room * sizeof *sets);
    wfi_heap_leave(outer, WF_SUCCESS);
    if (!sets)
        return wfi_no_memory(&plan->device->log);
    plan->kept_sets = sets;
    plan->kept_room = room;
    return WF_SUCCESS;
}

/* The kept set of a step with these buffers, written now if it is new. */
static wf_result find_kept(wf_plan *plan, uint32_t index, const wfi_descriptor *infos,
                           VkDescriptorSet *set)
{
    const wfi_step *step = &plan->steps[index];
    for (uint32_t i = plan->kept_first[index]; i; i = plan->kept_sets[i - 1].next)
        if (same_slots(plan->kept_sets[i - 1].slots, infos, step->slot_count)) {
            *set = plan->kept_sets[i - 1].set;
            return WF_SUCCESS;
        }
    wf_result result = grow_kept(plan);
    if (result == WF_SUCCESS)
        result = make_set(plan, plan->arena, &plan->device->log, step, infos, set);
    if (result != WF_SUCCESS)
        return result;
    wfi_kept_set *kept = &plan->kept_sets[plan->kept_count++];
    *kept = (wfi_kept_set){.set = *set, .next = plan->kept_first[index]};
    memcpy(kept->slots, infos, step->slot_count * sizeof *infos);
    plan->kept_first[index] = plan->kept_count;
    return WF_SUCCESS;
}

void wfi_plan_forget_sets(wf_plan *plan)
{
    if (!plan->kept_count || !plan->device->vk)
        return;
    wf_arena_reset(plan->arena);
    memset(plan->kept_first, 0, plan->step_count * sizeof *plan->kept_first);
    plan->kept_count = 0;
}

void wfi_plan_drop_run(wf_plan *plan, wfi_kept_run *run)
{
    if (run->command_buffer && plan->device->vk)
        wfi_commands_free(plan->device, run->command_buffer);
    run->command_buffer = VK_NULL_HANDLE;
}

void wfi_plan_drop_runs(wf_plan *plan)
{
    for (int i = 0; i < WFI_KEPT_RUNS; i++) {
        wfi_plan_drop_run(plan, &plan->kept_runs[i]);
        wf_arena_destroy(&plan->kept_runs[i].arena);
        plan->kept_runs[i] = (wfi_kept_run){0};
    }
}

wf_result wfi_plan_prepare_sets(wf_plan *plan, wf_arena *arena, const wfi_log *log,
                                const wfi_bound *all, uint32_t first, uint32_t end)
{
    wfi_descriptor infos[WF_MAX_BINDINGS];
    wf_result result = WF_SUCCESS;
    for (uint32_t i = first; plan->sets && i < end && result == WF_SUCCESS; i++) {
        wfi_plan_step_slots(plan, &plan->steps[i], all, infos);
        result = arena ? make_set(plan, arena, log, &plan->steps[i], infos, &plan->sets[i])
                       : find_kept(plan, i, infos, &plan->sets[i]);
    }
    return result;
}
