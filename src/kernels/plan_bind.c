/* What a recording binds: the caller's buffers checked and made concrete, and descriptor sets. */
#include <string.h>

#include "core/buffer.h"
#include "kernels/plan_object.h"

static wf_result resolve(const wf_plan *plan, const wf_binding *binding, const char *name,
                         uint64_t needed, wfi_bound *out)
{
    const wf_device *device = plan->device;
    *out = (wfi_bound){binding->handle, binding->offset, binding->bytes};
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

static bool overlap(const wfi_bound *a, uint64_t a_bytes, const wfi_bound *b, uint64_t b_bytes)
{
    return a->buffer == b->buffer && a->offset < b->offset + b_bytes &&
           b->offset < a->offset + a_bytes;
}

static wf_result resolve_workspace(const wf_plan *plan, const wf_bindings *bindings,
                                   wfi_bound all[WF_MAX_BINDINGS + 1])
{
    wfi_bound *workspace = &all[plan->binding_count];
    wf_result result = resolve(plan, &bindings->workspace, "workspace", plan->workspace, workspace);
    for (uint32_t i = 0; result == WF_SUCCESS && i < plan->binding_count; i++)
        if (overlap(workspace, plan->workspace, &all[i], plan->bindings[i].bytes))
            return wfi_fail(&plan->device->log, WF_ERROR_BINDING,
                            "the workspace and binding %s overlap", plan->bindings[i].name);
    return result;
}

/* Resolves all bindings; the workspace comes last, at index binding_count. */
wf_result wfi_plan_resolve(const wf_plan *plan, const wf_bindings *bindings,
                           wfi_bound all[WF_MAX_BINDINGS + 1])
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

void wfi_plan_step_buffers(const wf_plan *plan, const wfi_step *step, const wfi_bound *all,
                           VkDescriptorBufferInfo infos[WF_MAX_BINDINGS])
{
    for (uint32_t i = 0; i < step->slot_count; i++) {
        const wfi_slot *slot = &step->slots[i];
        const wfi_bound own = {
            slot->kind == WFI_SLOT_OWN ? plan->own[slot->index]->vk : VK_NULL_HANDLE, 0, 0};
        const wfi_bound *base = slot->kind == WFI_SLOT_OWN         ? &own
                                : slot->kind == WFI_SLOT_WORKSPACE ? &all[plan->binding_count]
                                                                   : &all[slot->index];
        infos[i] = (VkDescriptorBufferInfo){base->buffer, base->offset + slot->offset, slot->bytes};
    }
}

void wfi_plan_fill_writes(const wfi_step *step, const VkDescriptorBufferInfo *infos,
                          const VkBufferView *views, VkDescriptorSet set,
                          VkWriteDescriptorSet *writes)
{
    for (uint32_t i = 0; i < step->slot_count; i++) {
        const bool texel = step->texels[i] != VK_FORMAT_UNDEFINED;
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType =
                texel ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = texel ? NULL : &infos[i],
            .pTexelBufferView = !texel           ? NULL
                                : step->views[i] ? &step->views[i]
                                                 : &views[i],
        };
    }
}

static bool same_buffers(const VkDescriptorBufferInfo *a, const VkDescriptorBufferInfo *b,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].buffer != b[i].buffer || a[i].offset != b[i].offset || a[i].range != b[i].range)
            return false;
    return true;
}

static void drop_views(const wf_device *device, wfi_kept_set *kept)
{
    for (uint32_t i = 0; i < WF_MAX_BINDINGS; i++) {
        if (kept->views[i] && !device->keeps)
            device->fn.vkDestroyBufferView(device->vk, kept->views[i], device->allocator);
        kept->views[i] = VK_NULL_HANDLE;
    }
}

void wfi_plan_drop_views(wf_plan *plan)
{
    for (uint32_t i = 0; plan->sets && i < plan->step_count * WFI_SET_RING; i++)
        drop_views(plan->device, &plan->sets[i]);
}

wf_result wfi_plan_make_view(const wf_plan *plan, const wfi_step *step, uint32_t index,
                             const VkDescriptorBufferInfo *info, VkBufferView *view)
{
    const wf_device *device = plan->device;
    const VkBufferViewCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = info->buffer,
        .format = step->texels[index],
        .offset = info->offset,
        .range = info->range,
    };
    if (info->offset % device->caps.texel_alignment)
        return wfi_fail(
            &device->log, WF_ERROR_BINDING,
            "binding %s starts at byte %llu, not a multiple of %llu as the texel buffer "
            "of this variant must",
            plan->bindings[step->slots[index].index].name, (unsigned long long)info->offset,
            (unsigned long long)device->caps.texel_alignment);
    return wfi_check_vk(&device->log,
                        device->fn.vkCreateBufferView(device->vk, &create, device->allocator, view),
                        "vkCreateBufferView");
}

wf_result wfi_plan_find_set(wf_plan *plan, uint32_t step_index, const VkDescriptorBufferInfo *infos,
                            const wfi_kept_set **out)
{
    wf_device *device = plan->device;
    const wfi_step *step = &plan->steps[step_index];
    const uint32_t count = step->slot_count;
    wfi_kept_set *ring = &plan->sets[(size_t)step_index * WFI_SET_RING];
    for (uint32_t i = 0; i < plan->sets_used[step_index]; i++)
        if (same_buffers(ring[i].buffers, infos, count)) {
            *out = &ring[i];
            return WF_SUCCESS;
        }
    if (plan->sets_used[step_index] == WFI_SET_RING)
        return wfi_fail(&device->log, WF_ERROR_TOO_MANY_BINDINGS,
                        "more than %d distinct bindings were recorded from one plan", WFI_SET_RING);
    wfi_kept_set *kept = &ring[plan->sets_used[step_index]];
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++)
        if (step->texels[i] != VK_FORMAT_UNDEFINED && !step->views[i])
            result = wfi_plan_make_view(plan, step, i, &infos[i], &kept->views[i]);
    if (result != WF_SUCCESS) {
        drop_views(device, kept);
        return result;
    }
    VkWriteDescriptorSet writes[WF_MAX_BINDINGS];
    memcpy(kept->buffers, infos, count * sizeof *infos);
    wfi_plan_fill_writes(step, infos, kept->views, kept->set, writes);
    device->fn.vkUpdateDescriptorSets(device->vk, count, writes, 0, NULL);
    plan->sets_used[step_index]++;
    *out = kept;
    return WF_SUCCESS;
}

static bool names(const wfi_kept_set *kept, uint32_t count, VkBuffer buffer)
{
    for (uint32_t i = 0; i < count; i++)
        if (kept->buffers[i].buffer == buffer)
            return true;
    return false;
}

void wfi_plan_forget_buffer(wf_plan *plan, const wf_buffer *buffer)
{
    for (uint32_t s = 0; plan->sets && s < plan->step_count; s++) {
        wfi_kept_set *ring = &plan->sets[(size_t)s * WFI_SET_RING];
        for (uint32_t i = plan->sets_used[s]; i-- > 0;) {
            if (!names(&ring[i], plan->steps[s].slot_count, buffer->vk))
                continue;
            drop_views(plan->device, &ring[i]);
            const wfi_kept_set dropped = ring[i];
            ring[i] = ring[--plan->sets_used[s]];
            ring[plan->sets_used[s]] = dropped;
        }
    }
}

/* Finds (and writes) every step's set before anything is recorded. */
wf_result wfi_plan_prepare_sets(wf_plan *plan, const wfi_bound *all)
{
    VkDescriptorBufferInfo infos[WF_MAX_BINDINGS];
    const wfi_kept_set *kept = NULL;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; plan->sets && i < plan->step_count && result == WF_SUCCESS; i++) {
        wfi_plan_step_buffers(plan, &plan->steps[i], all, infos);
        result = wfi_plan_find_set(plan, i, infos, &kept);
    }
    return result;
}
