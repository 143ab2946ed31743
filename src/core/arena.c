#include "core/arena.h"

#include "core/arithmetic.h"
#include "core/doom.h"
#include "core/heap.h"
#include "core/names.h"

#define FIRST_SETS 16u
#define FIRST_VIEWS 16u
#define MOST_SETS 4096u
#define TEXELS_PER_SET 2
#define IMAGES_PER_SET 1
#define UNIFORMS_PER_SET 1

typedef struct pool {
    VkDescriptorPool vk;
    uint32_t sets, storage_buffers, texel_buffers, storage_images, uniform_buffers; /* left */
} pool;

/* The sets of one layout. They outlive resets and are written anew, since making a set costs some
 * drivers tens of microseconds. The layout is the arena's, defined as the pipelines' are: Vulkan
 * then takes the sets for theirs, and plans may end. */
typedef struct shape {
    /* As in wfi_pipeline. */
    uint32_t storage_buffers, texel_buffers, storage_images, uniform_buffers;
    VkDescriptorSetLayout layout;
    VkDescriptorSet *sets;
    uint32_t count, room, used;
} shape;

struct wf_arena {
    wfi_object object;
    wfi_doom doom;
    wf_device *device;
    pool *pools; /* the last has room */
    uint32_t pool_count, next_sets;
    shape *shapes;
    uint32_t shape_count;
    VkBufferView *views;
    uint32_t view_count, view_room;
};

wf_device *wfi_arena_device(const wf_arena *arena)
{
    return arena->device;
}

/* Recordings come here without their device's allocator entered. */
static void *reallocate(const wf_arena *arena, void *array, size_t bytes)
{
    const wfi_heap outer = wfi_heap_enter_device(arena->device);
    void *larger = wfi_realloc(array, bytes);
    wfi_heap_leave(outer, WF_SUCCESS);
    return larger;
}

/* The array with twice the room, which *room then tells. */
static void *grow(const wf_arena *arena, void *array, uint32_t *room, uint32_t first,
                  size_t item_bytes)
{
    const uint32_t more = *room ? 2 * *room : first;
    void *larger = reallocate(arena, array, more * item_bytes);
    if (larger)
        *room = more;
    return larger;
}

static wf_result add_pool(wf_arena *arena, const wfi_log *log)
{
    wf_device *device = arena->device;
    pool *pools = reallocate(arena, arena->pools, (arena->pool_count + (size_t)1) * sizeof *pools);
    if (!pools)
        return wfi_no_memory(log);
    arena->pools = pools;
    pool *added = &pools[arena->pool_count];
    *added = (pool){.sets = arena->next_sets,
                    .storage_buffers = arena->next_sets * WF_MAX_BINDINGS,
                    .texel_buffers = arena->next_sets * TEXELS_PER_SET + WF_MAX_BINDINGS,
                    .storage_images = arena->next_sets * IMAGES_PER_SET + WF_MAX_BINDINGS,
                    .uniform_buffers = arena->next_sets * UNIFORMS_PER_SET + WF_MAX_BINDINGS};
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, added->storage_buffers},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, added->texel_buffers},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, added->storage_images},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, added->uniform_buffers},
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = added->sets,
        .poolSizeCount = WFI_COUNT(sizes),
        .pPoolSizes = sizes,
    };
    const VkResult vk = WFI_MADE(
        device->fn.vkCreateDescriptorPool(device->vk, &info, device->allocator, &added->vk),
        &added->vk);
    if (vk >= VK_SUCCESS) {
        wfi_name(device, VK_OBJECT_TYPE_DESCRIPTOR_POOL, WFI_HANDLE(added->vk),
                 "arena: pool of %u sets", added->sets);
        arena->pool_count++;
        arena->next_sets = arena->next_sets < MOST_SETS ? 2 * arena->next_sets : MOST_SETS;
    }
    return wfi_check_vk(log, vk, "vkCreateDescriptorPool");
}

static uint32_t bits_of(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

/* Takes a set from the last pool, if it has room. */
static VkResult allocate(wf_arena *arena, const shape *s, VkDescriptorSet *set)
{
    wf_device *device = arena->device;
    pool *p = arena->pool_count ? &arena->pools[arena->pool_count - 1] : NULL;
    const uint32_t texels = bits_of(s->texel_buffers), images = bits_of(s->storage_images),
                   uniforms = bits_of(s->uniform_buffers),
                   buffers = s->storage_buffers - texels - images - uniforms;
    if (!p || p->sets == 0 || p->storage_buffers < buffers || p->texel_buffers < texels ||
        p->storage_images < images || p->uniform_buffers < uniforms)
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = p->vk,
        .descriptorSetCount = 1,
        .pSetLayouts = &s->layout,
    };
    const VkResult vk = device->fn.vkAllocateDescriptorSets(device->vk, &info, set);
    if (vk >= VK_SUCCESS) {
        wfi_name(device, VK_OBJECT_TYPE_DESCRIPTOR_SET, WFI_HANDLE(*set),
                 "arena: set %u of %u buffers", s->count, s->storage_buffers);
        p->sets--;
        p->storage_buffers -= buffers;
        p->texel_buffers -= texels;
        p->storage_images -= images;
        p->uniform_buffers -= uniforms;
    }
    return vk;
}

static wf_result add_set(wf_arena *arena, const wfi_log *log, shape *s)
{
    if (s->count == s->room) {
        VkDescriptorSet *sets = grow(arena, s->sets, &s->room, FIRST_SETS, sizeof(VkDescriptorSet));
        if (!sets)
            return wfi_no_memory(log);
        s->sets = sets;
    }
    VkResult vk = allocate(arena, s, &s->sets[s->count]);
    if (vk == VK_ERROR_OUT_OF_POOL_MEMORY || vk == VK_ERROR_FRAGMENTED_POOL) {
        wf_result result = add_pool(arena, log);
        if (result != WF_SUCCESS)
            return result;
        vk = allocate(arena, s, &s->sets[s->count]);
    }
    s->count += vk >= VK_SUCCESS;
    return wfi_check_vk(log, vk, "vkAllocateDescriptorSets");
}

static wf_result find_shape(wf_arena *arena, const wfi_log *log, const wfi_pipeline *pipeline,
                            shape **out)
{
    for (uint32_t i = 0; i < arena->shape_count; i++)
        if (arena->shapes[i].storage_buffers == pipeline->storage_buffers &&
            arena->shapes[i].texel_buffers == pipeline->texel_buffers &&
            arena->shapes[i].storage_images == pipeline->storage_images &&
            arena->shapes[i].uniform_buffers == pipeline->uniform_buffers) {
            *out = &arena->shapes[i];
            return WF_SUCCESS;
        }
    shape *shapes =
        reallocate(arena, arena->shapes, (arena->shape_count + (size_t)1) * sizeof *shapes);
    if (!shapes)
        return wfi_no_memory(log);
    arena->shapes = shapes;
    *out = &shapes[arena->shape_count];
    **out = (shape){.storage_buffers = pipeline->storage_buffers,
                    .texel_buffers = pipeline->texel_buffers,
                    .storage_images = pipeline->storage_images,
                    .uniform_buffers = pipeline->uniform_buffers};
    wf_result result = wfi_set_layout_create(arena->device, log, pipeline->storage_buffers,
                                             pipeline->texel_buffers, pipeline->storage_images,
                                             pipeline->uniform_buffers, 0, &(*out)->layout);
    arena->shape_count += result == WF_SUCCESS;
    return result;
}

wf_result wfi_arena_set(wf_arena *arena, const wfi_log *log, const wfi_pipeline *pipeline,
                        VkDescriptorSet *set)
{
    shape *s = NULL;
    wf_result result = find_shape(arena, log, pipeline, &s);
    if (result == WF_SUCCESS && s->used == s->count)
        result = add_set(arena, log, s);
    if (result == WF_SUCCESS)
        *set = s->sets[s->used++];
    return result;
}

wf_result wfi_arena_view(wf_arena *arena, const wfi_log *log, const VkBufferViewCreateInfo *info,
                         VkBufferView *view)
{
    wf_device *device = arena->device;
    if (arena->view_count == arena->view_room) {
        VkBufferView *views =
            grow(arena, arena->views, &arena->view_room, FIRST_VIEWS, sizeof(VkBufferView));
        if (!views)
            return wfi_no_memory(log);
        arena->views = views;
    }
    const VkResult vk =
        WFI_MADE(device->fn.vkCreateBufferView(device->vk, info, device->allocator, view), view);
    if (vk >= VK_SUCCESS) {
        wfi_name(device, VK_OBJECT_TYPE_BUFFER_VIEW, WFI_HANDLE(*view), "arena: texels");
        arena->views[arena->view_count++] = *view;
    }
    return wfi_check_vk(log, vk, "vkCreateBufferView");
}

static void drop_views(wf_arena *arena)
{
    for (uint32_t i = 0; i < arena->view_count && !arena->device->keeps; i++)
        arena->device->fn.vkDestroyBufferView(arena->device->vk, arena->views[i],
                                              arena->device->allocator);
    arena->view_count = 0;
}

static void close_arena(void *owner)
{
    wf_arena *arena = owner;
    wf_device *device = arena->device;
    drop_views(arena);
    for (uint32_t i = 0; i < arena->pool_count && !device->keeps; i++)
        device->fn.vkDestroyDescriptorPool(device->vk, arena->pools[i].vk, device->allocator);
    for (uint32_t i = 0; i < arena->shape_count; i++) {
        device->fn.vkDestroyDescriptorSetLayout(device->vk, arena->shapes[i].layout,
                                                device->allocator);
        wfi_free(arena->shapes[i].sets);
    }
    arena->pool_count = arena->shape_count = 0; /* the device may close before the arena ends */
}

wf_result wf_arena_create(wf_device *device, wf_arena **out)
{
    if (!device || !out)
        return wfi_fail(device ? &device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_arena_create: bad parameters");
    wf_result result = wfi_device_usable(device, "wf_arena_create");
    if (result != WF_SUCCESS)
        return result;
    const wfi_heap outer = wfi_heap_enter_device(device);
    wf_arena *arena = wfi_calloc(1, sizeof *arena);
    wfi_heap_leave(outer, WF_SUCCESS);
    if (!arena)
        return wfi_no_memory(&device->log);
    arena->device = device;
    arena->next_sets = FIRST_SETS;
    wfi_object_enlist(device, &arena->object, close_arena, arena);
    *out = arena;
    return WF_SUCCESS;
}

wf_result wf_arena_reset(wf_arena *arena)
{
    if (!arena)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wfi_device_usable(arena->device, "wf_arena_reset");
    if (result != WF_SUCCESS)
        return result;
    drop_views(arena);
    for (uint32_t i = 0; i < arena->shape_count; i++)
        arena->shapes[i].used = 0;
    return WF_SUCCESS;
}

void wf_arena_destroy(wf_arena **handle)
{
    wf_arena *arena = handle ? *handle : NULL;
    if (!arena)
        return;
    close_arena(arena);
    wfi_object_leave(&arena->object);
    wfi_free(arena->pools);
    wfi_free(arena->shapes);
    wfi_free(arena->views);
    wfi_free(arena);
    *handle = NULL;
}

WFI_DESTROY_AFTER(arena)
