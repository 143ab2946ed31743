#include "core/memory.h"

#include "core/block.h"
#include "core/budget.h"
#include "core/device_kind.h"
#include "core/names.h"

#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define COHERENT (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

/* The memory type among `allowed` with all of `wanted` and as much of `preferred` as can be had;
 * UINT32_MAX when none has `wanted`. */
static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed,
                          VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags preferred)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        if (!(allowed & (UINT32_C(1) << i)) || (flags & wanted) != wanted)
            continue;
        if (best == UINT32_MAX || (flags & preferred) == preferred) {
            best = i;
            if ((flags & preferred) == preferred)
                break;
        }
    }
    return best;
}

/* Whether the host sees all of a card's own memory (resizable BAR): buffers in it are mapped, so
 * that small transfers to them need no copy by the device. Reading it takes the host a microsecond
 * a line, so that it is no memory of the host's (wf_caps.unified_memory). */
static bool has_window(const wf_device *device)
{
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory;
    const VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    uint32_t largest = UINT32_MAX;
    if (!wfi_device_kind_of(&device->caps)->card || device->adopted ||
        device->caps.unified_memory || device->caps.limits == WF_LIMITS_MINIMUM)
        return false;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++)
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            (largest == UINT32_MAX ||
             memory->memoryHeaps[i].size > memory->memoryHeaps[largest].size))
            largest = i;
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        if (memory->memoryTypes[i].heapIndex == largest &&
            (memory->memoryTypes[i].propertyFlags & (LOCAL | COHERENT | cached)) ==
                (LOCAL | COHERENT))
            return true;
    return false;
}

/* What a kind of memory asks of its type. Device memory is mapped only where it is also coherent:
 * no flush to forget. */
static wf_memory_request request_of(const wf_device *device, wf_memory kind)
{
    const bool unified = device->caps.unified_memory;
    wf_memory_request request = {.size = sizeof request, .required = COHERENT, .mapped = true};
    if (kind == WFI_MEMORY_MAPPED)
        request.preferred = LOCAL;
    if (kind == WF_MEMORY_READBACK)
        request.preferred = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    if (kind == WF_MEMORY_DEVICE) {
        request.required = 0;
        request.preferred = unified ? LOCAL | COHERENT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT : LOCAL;
        request.mapped = unified;
        if (!unified && !device->memory_source.allocate && has_window(device)) {
            request.preferred = LOCAL | COHERENT;
            request.mapped = true;
        }
    }
    return request;
}

static uint32_t choose_type(const wf_device *device, const wf_memory_request *request)
{
    const uint32_t allowed = request->requirements.memoryTypeBits;
    const VkMemoryPropertyFlags wanted = request->required | (request->preferred & LOCAL);
    uint32_t type = find_type(&device->memory, allowed, wanted, request->preferred);
    return type != UINT32_MAX
               ? type
               : find_type(&device->memory, allowed, request->required, request->preferred);
}

static void take_block(const wfi_block *from, wfi_memory *out)
{
    out->bytes = from->bytes;
    out->buffer = from->buffer;
    out->extent = from->extent;
    out->block.memory = from->memory;
    out->block.mapped = from->at;
    out->block.type = from->type;
}

static wf_result from_driver(wf_device *device, const wf_memory_request *request, uint64_t extent,
                             wfi_memory *out)
{
    wf_memory_block *block = &out->block;
    const uint64_t bytes = request->requirements.size;
    block->type = choose_type(device, request);
    if (block->type == UINT32_MAX)
        return wfi_fail(&device->log, WF_ERROR_OUT_OF_DEVICE_MEMORY,
                        "the device has no memory of the kind needed");
    const VkMemoryType *type = &device->memory.memoryTypes[block->type];
    const bool mapped = request->mapped && (type->propertyFlags & COHERENT) == COHERENT;
    wfi_block taken, wanted = {.bytes = bytes, .type = block->type, .extent = extent};
    if (extent)
        wanted.buffer = request->buffer;
    out->bytes = bytes;
    out->chunk = wfi_chunk_take(device, &request->requirements, mapped, block);
    if (out->chunk)
        return WF_SUCCESS;
    out->kept = true;
    if (wfi_block_take(device, &wanted, mapped, &taken)) {
        take_block(&taken, out);
        return WF_SUCCESS;
    }
    /* Beyond the budget the driver may page or the system may end the program. */
    const uint64_t left = wfi_budget_left(device, type->heapIndex);
    if (bytes > left)
        return wfi_fail(&device->log, WF_ERROR_OUT_OF_DEVICE_MEMORY,
                        "a buffer of %llu bytes is over the %llu that the memory budget leaves",
                        (unsigned long long)bytes, (unsigned long long)left);
    if (bytes + wfi_blocks_kept(device, type->heapIndex) > left)
        wfi_blocks_free(device);
    VkResult vk = wfi_block_allocate(device, &wanted, mapped, &taken);
    if (vk < VK_SUCCESS && mapped && !request->required &&
        !wfi_device_kind_of(&device->caps)->in_process) { /* the window may be full */
        const wf_memory_request plain = {.requirements = request->requirements, .preferred = LOCAL};
        wanted.type = choose_type(device, &plain);
        vk = wfi_block_allocate(device, &wanted, false, &taken);
    }
    take_block(&taken, out);
    wfi_name(device, VK_OBJECT_TYPE_DEVICE_MEMORY, WFI_HANDLE(block->memory),
             "memory of %llu bytes", (unsigned long long)bytes);
    return wfi_check_vk(&device->log, vk, "allocating device memory");
}

uint32_t wfi_memory_type(const wf_device *device, wf_memory kind, uint32_t allowed, bool *mapped)
{
    wf_memory_request request = request_of(device, kind);
    request.requirements.memoryTypeBits = allowed;
    const uint32_t type = choose_type(device, &request);
    *mapped = request.mapped && type != UINT32_MAX &&
              (device->memory.memoryTypes[type].propertyFlags & COHERENT) == COHERENT;
    return type;
}

uint64_t wfi_memory_left(const wf_device *device, wf_memory kind)
{
    wf_memory_request request = request_of(device, kind);
    request.requirements.memoryTypeBits = UINT32_MAX;
    const uint32_t type = choose_type(device, &request);
    if (type == UINT32_MAX)
        return 0;
    const uint32_t heap = device->memory.memoryTypes[type].heapIndex;
    const uint64_t left = wfi_budget_left(device, heap),
                   all = device->memory.memoryHeaps[heap].size;
    return left < all ? left : all;
}

/* Why the application's block cannot be used; NULL: it can. */
static const char *refusal(const wf_device *device, const wf_memory_request *request,
                           const wf_memory_block *block)
{
    if (!block->memory)
        return "no VkDeviceMemory";
    if (block->type >= device->memory.memoryTypeCount ||
        !(request->requirements.memoryTypeBits >> block->type & 1))
        return "a memory type that the buffer cannot have";
    if (request->required & ~device->memory.memoryTypes[block->type].propertyFlags)
        return "a memory type without the properties required";
    if (block->offset % request->requirements.alignment)
        return "an offset that is not a multiple of the alignment required";
    if (request->required && !block->mapped)
        return "memory that is not mapped";
    return NULL;
}

static wf_result from_application(wf_device *device, const wf_memory_request *request,
                                  wfi_memory *out)
{
    wf_memory_source *source = &device->memory_source;
    wf_memory_block block = {.size = sizeof block};
    const VkResult vk = source->allocate(source->user, request, &block);
    if (vk != VK_SUCCESS)
        return wfi_check_vk(&device->log, vk < VK_SUCCESS ? vk : VK_ERROR_UNKNOWN,
                            "wf_memory_source.allocate");
    *out = (wfi_memory){.block = block, .lent = true};
    const char *why = refusal(device, request, &block);
    if (why)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_memory_source.allocate gave %s", why);
    const VkMemoryPropertyFlags flags = device->memory.memoryTypes[block.type].propertyFlags;
    if (!request->mapped || (flags & COHERENT) != COHERENT)
        out->block.mapped = NULL;
    return WF_SUCCESS;
}

wf_result wfi_memory_allocate(wf_device *device, VkBuffer buffer, uint64_t extent, wf_memory kind,
                              wfi_memory *out)
{
    wf_memory_request request = request_of(device, kind);
    request.buffer = buffer;
    device->fn.vkGetBufferMemoryRequirements(device->vk, buffer, &request.requirements);
    wfi_memory memory = {.block = {.size = sizeof memory.block}};
    wf_result result = device->memory_source.allocate
                           ? from_application(device, &request, &memory)
                           : from_driver(device, &request, extent, &memory);
    const bool bound = memory.buffer && memory.buffer != buffer;
    if (result == WF_SUCCESS && !bound)
        result = wfi_check_vk(&device->log,
                              device->fn.vkBindBufferMemory(device->vk, buffer, memory.block.memory,
                                                            memory.block.offset),
                              "vkBindBufferMemory");
    if (result != WF_SUCCESS) {
        wfi_log_write(&device->log, WF_LOG_INFO, "a buffer of %llu bytes was wanted",
                      (unsigned long long)request.requirements.size);
        if (memory.buffer) { /* which is the caller's still */
            memory.kept = false;
            memory.buffer = VK_NULL_HANDLE;
        }
        wfi_memory_free(device, &memory);
        return result;
    }
    *out = memory;
    return WF_SUCCESS;
}

void wfi_memory_free(wf_device *device, wfi_memory *memory)
{
    if (memory->lent && !device->keeps)
        device->memory_source.free(device->memory_source.user, &memory->block);
    else if (memory->chunk)
        wfi_chunk_leave(device, memory->chunk, memory->block.offset, memory->bytes);
    else if (memory->kept) {
        const wfi_block block = {memory->block.memory, memory->block.mapped, memory->bytes,
                                 memory->block.type,   memory->buffer,       memory->extent};
        wfi_block_leave(device, &block);
    } else if (memory->block.memory && !device->keeps)
        device->fn.vkFreeMemory(device->vk, memory->block.memory, device->allocator);
    *memory = (wfi_memory){0};
}
