#include "core/host_memory.h"

#include "core/heap.h"
#include "core/names.h"
#include "core/staging.h"

#define HANDLE VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
#define USAGE (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define COHERENT (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

VkExternalMemoryFeatureFlags wfi_external_features(const wf_device *device,
                                                   VkBufferUsageFlags usage,
                                                   VkExternalMemoryHandleTypeFlagBits handle)
{
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = usage,
        .handleType = handle,
    };
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    device->instance.vkGetPhysicalDeviceExternalBufferProperties(device->physical, &info,
                                                                 &properties);
    return properties.externalMemoryProperties.externalMemoryFeatures;
}

/* Whether buffers can be bound to imported memory, and if so, whether each needs a dedicated
 * import. */
static bool importable(const wf_device *device, bool *dedicated)
{
    const VkExternalMemoryFeatureFlags features = wfi_external_features(device, USAGE, HANDLE);
    *dedicated = features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    return features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
}

static wf_result create_vk_buffer(wf_host_memory *host)
{
    wf_device *device = host->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = HANDLE,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = host->bytes,
        .usage = USAGE,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    return wfi_check_vk(
        &device->log,
        WFI_MADE(device->fn.vkCreateBuffer(device->vk, &info, device->allocator, &host->vk),
                 &host->vk),
        "vkCreateBuffer");
}

uint32_t wfi_host_memory_type(const wf_device *device, const void *begin, VkBuffer buffer,
                              uint64_t *required)
{
    VkMemoryHostPointerPropertiesEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkMemoryRequirements needs;
    if (device->fn.vkGetMemoryHostPointerPropertiesEXT(device->vk, HANDLE, begin, &pointer) <
        VK_SUCCESS)
        return UINT32_MAX;
    device->fn.vkGetBufferMemoryRequirements(device->vk, buffer, &needs);
    *required = needs.size;
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++)
        if ((pointer.memoryTypeBits & needs.memoryTypeBits) >> i & 1 &&
            (device->memory.memoryTypes[i].propertyFlags & COHERENT) == COHERENT)
            return i;
    return UINT32_MAX;
}

/* Drivers refuse memory that they cannot pin, such as mapped files. */
static wf_result import(wf_host_memory *host, bool dedicated)
{
    wf_device *device = host->device;
    uint64_t required = 0;
    const uint32_t type = wfi_host_memory_type(device, host->begin, host->vk, &required);
    const VkMemoryDedicatedAllocateInfo own = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = host->vk,
    };
    const VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .pNext = dedicated ? &own : NULL,
        .handleType = HANDLE,
        .pHostPointer = host->begin,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &pointer,
        .allocationSize = host->bytes,
        .memoryTypeIndex = type,
    };
    if (type == UINT32_MAX || required > host->bytes ||
        WFI_MADE(device->fn.vkAllocateMemory(device->vk, &info, device->allocator, &host->memory),
                 &host->memory) < VK_SUCCESS)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_host_memory_create: the driver does not take this memory");
    wfi_name(device, VK_OBJECT_TYPE_BUFFER, WFI_HANDLE(host->vk), "imported: buffer");
    wfi_name(device, VK_OBJECT_TYPE_DEVICE_MEMORY, WFI_HANDLE(host->memory), "imported: memory");
    return wfi_check_vk(&device->log,
                        device->fn.vkBindBufferMemory(device->vk, host->vk, host->memory, 0),
                        "vkBindBufferMemory");
}

static void close_host_memory(void *owner)
{
    wf_host_memory *host = owner;
    wf_device *device = host->device;
    if (host->vk && !device->keeps)
        device->fn.vkDestroyBuffer(device->vk, host->vk, device->allocator);
    if (host->memory && !device->keeps)
        device->fn.vkFreeMemory(device->vk, host->memory, device->allocator);
    host->vk = VK_NULL_HANDLE;
    host->memory = VK_NULL_HANDLE;
}

static wf_result check(wf_device *device, const void *data, uint64_t bytes)
{
    if (!data || bytes == 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_host_memory_create: bad parameters");
    wf_result result = wfi_device_usable(device, "wf_host_memory_create");
    if (result == WF_SUCCESS && !device->caps.host_import_alignment)
        result = wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                          "wf_host_memory_create: the device has no VK_EXT_external_memory_host, "
                          "or the application did not enable it");
    return result;
}

/* Whole units of the alignment inside [data, data + bytes). */
static bool cut_to_units(wf_host_memory *host, unsigned char *data, uint64_t bytes)
{
    const uint64_t unit = host->device->caps.host_import_alignment,
                   skipped = (unit - (uintptr_t)data % unit) % unit;
    if (skipped >= bytes || bytes - skipped < unit)
        return false;
    host->begin = data + skipped;
    host->bytes = (bytes - skipped) / unit * unit;
    return true;
}

static void enlist(wf_host_memory *host)
{
    wfi_staging *staging = host->device->staging;
    wfi_mutex_lock(&staging->lock);
    host->next = staging->imported;
    staging->imported = host;
    atomic_fetch_add(&staging->imports, 1);
    wfi_mutex_unlock(&staging->lock);
}

static void unlist(wf_host_memory *host)
{
    wfi_staging *staging = host->device->staging;
    if (!staging) /* the device is closed */
        return;
    wfi_mutex_lock(&staging->lock);
    wf_host_memory **at = &staging->imported;
    while (*at && *at != host)
        at = &(*at)->next;
    if (*at) {
        *at = host->next;
        atomic_fetch_sub(&staging->imports, 1);
    }
    wfi_mutex_unlock(&staging->lock);
}

static wf_result import_memory(wf_device *device, void *data, uint64_t bytes, wf_host_memory **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = check(device, data, bytes);
    if (result != WF_SUCCESS)
        return result;
    wf_host_memory *host = wfi_calloc(1, sizeof *host);
    if (!host)
        return wfi_no_memory(&device->log);
    bool dedicated = false;
    wfi_staging *staging; /* where it is enlisted */
    host->device = device;
    wfi_object_enlist(device, &host->object, close_host_memory, host);
    result = wfi_staging_of(device, &staging);
    if (result == WF_SUCCESS &&
        cut_to_units(host, data, bytes)) { /* less has nothing to be imported */
        result = importable(device, &dedicated)
                     ? create_vk_buffer(host)
                     : wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                                "wf_host_memory_create: the driver imports no memory for buffers");
        if (result == WF_SUCCESS)
            result = import(host, dedicated);
    }
    if (result != WF_SUCCESS) {
        wf_host_memory_destroy(&host);
        return result;
    }
    enlist(host);
    *out = host;
    return WF_SUCCESS;
}

wf_result wf_host_memory_create(wf_device *device, void *data, uint64_t bytes, wf_host_memory **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, import_memory(device, data, bytes, out));
}

void wf_host_memory_destroy(wf_host_memory **handle)
{
    wf_host_memory *host = handle ? *handle : NULL;
    if (!host)
        return;
    unlist(host);
    close_host_memory(host);
    wfi_object_leave(&host->object);
    wfi_free(host);
    *handle = NULL;
}

const wf_host_memory *wfi_host_memory_find(const wf_device *device, const unsigned char *at,
                                           uint64_t bytes, uint64_t *first, uint64_t *end)
{
    const uintptr_t begin = (uintptr_t)at;
    for (const wf_host_memory *host = device->staging->imported; host; host = host->next) {
        const uintptr_t low = (uintptr_t)host->begin, high = low + host->bytes;
        if (!host->vk || high <= begin || low >= begin + bytes)
            continue;
        *first = low > begin ? low - begin : 0;
        *end = high < begin + bytes ? high - begin : bytes;
        return host;
    }
    return NULL;
}

bool wfi_host_memory_has(wf_device *device, const void *at, uint64_t bytes)
{
    wfi_staging *staging;
    uint64_t first = 0, end = 0;
    if (wfi_staging_of(device, &staging) != WF_SUCCESS)
        return false;
    if (atomic_load(&staging->imports) == 0) /* not to wait for a transfer under way */
        return false;
    wfi_mutex_lock(&staging->lock);
    const bool found = wfi_host_memory_find(device, at, bytes, &first, &end) != NULL;
    wfi_mutex_unlock(&staging->lock);
    return found && end - first >= bytes / 2;
}
