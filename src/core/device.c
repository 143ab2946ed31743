#include "core/device.h"

#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/block.h"
#include "core/caps.h"
#include "core/device_kind.h"
#include "core/doom.h"
#include "core/file.h"
#include "core/heap.h"
#include "core/names.h"
#include "core/params.h"
#include "core/pipeline_pool.h"
#include "core/queue.h"
#include "core/quirks.h"
#include "core/select.h"

/* The caps of every device, in the loader's order, clamped as asked. Devices that wavefit cannot
 * use at all (no compute queue, Vulkan 1.0) keep a place in `physical` out of the list. */
static wf_result query_all(const wfi_instance *instance, const wfi_log *log, wf_limits limits,
                           VkPhysicalDevice **physical, wf_caps **caps, uint32_t *count)
{
    VkPhysicalDevice *devices = NULL;
    uint32_t n = 0, usable = 0;
    wf_result result = wfi_instance_devices(instance, log, &devices, &n);
    bool no_memory = false;
    if (result != WF_SUCCESS)
        return result;
    wf_caps *list = wfi_calloc(n, sizeof *list);
    if (!list) {
        wfi_free(devices);
        return wfi_no_memory(log);
    }
    for (uint32_t i = 0; i < n; i++) {
        wfi_features features;
        result = wfi_features_query(instance, log, devices[i], &features);
        if (result == WF_SUCCESS)
            result = wfi_caps_query(instance, log, devices[i], &features, &list[usable]);
        no_memory = no_memory || result == WF_ERROR_OUT_OF_HOST_MEMORY;
        if (result != WF_SUCCESS)
            continue;
        if (limits == WF_LIMITS_MINIMUM)
            wfi_caps_clamp_minimum(&list[usable]);
        list[usable].index = usable;
        devices[usable++] = devices[i];
    }
    if (usable == 0) {
        wfi_free(devices);
        wfi_free(list);
        if (no_memory) /* of a device that may well be there */
            return wfi_no_memory(log);
        return wfi_fail(log, WF_ERROR_NO_DEVICE, "no Vulkan device offers Vulkan 1.1 compute");
    }
    *physical = devices;
    *caps = list;
    *count = usable;
    return WF_SUCCESS;
}

static wf_result list_devices(const wf_device_params *params, wf_caps *caps, uint32_t *count)
{
    const wfi_log log = {params->log, params->log_user};
    wfi_instance instance;
    VkPhysicalDevice *physical = NULL;
    wf_caps *list = NULL;
    uint32_t n = 0;
    wf_result result = wfi_instance_create(params, &log, params->allocator, &instance);
    if (result != WF_SUCCESS)
        return result;
    result = query_all(&instance, &log, params->limits, &physical, &list, &n);
    if (result == WF_SUCCESS) {
        for (uint32_t i = 0; caps && i < n && i < *count; i++)
            wfi_quirks_apply(&list[i], wfi_quirks_known(&list[i]), &caps[i]);
        *count = n;
    }
    wfi_free(physical);
    wfi_free(list);
    wfi_instance_destroy(&instance);
    return result;
}

wf_result wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count)
{
    wf_device_params read;
    const wf_result result =
        wfi_params_read(&(wfi_log){0}, "wf_devices_list", params, &read, sizeof read);
    if (result != WF_SUCCESS || !count)
        return wfi_fail(&((wfi_log){read.log, read.log_user}), WF_ERROR_INVALID_ARGUMENT,
                        "wf_devices_list: bad parameters");
    const wfi_heap outer = wfi_heap_enter(read.allocator);
    return wfi_heap_leave(outer, list_devices(&read, caps, count));
}

/* Chooses the physical device and fills device->physical and device->caps. */
static wf_result choose(wf_device *device, const wf_device_params *params)
{
    VkPhysicalDevice *physical = NULL;
    wf_caps *list = NULL;
    uint32_t count = 0, index = 0;
    const char *selector = params->selector ? params->selector : getenv("WAVEFIT_DEVICE");
    wf_result result =
        query_all(&device->instance, &device->log, params->limits, &physical, &list, &count);
    if (result == WF_SUCCESS)
        result = wfi_select(&device->log, list, count, selector, &index);
    if (result == WF_SUCCESS) {
        device->physical = physical[index];
        device->offered = list[index];
        wfi_quirks_apply(&device->offered, wfi_quirks_known(&device->offered), &device->caps);
    }
    wfi_free(physical);
    wfi_free(list);
    return result;
}

static void load_memory(wf_device *device)
{
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    device->instance.vkGetPhysicalDeviceMemoryProperties2(device->physical, &memory);
    device->memory = memory.memoryProperties;
}

/* A driver resets a GPU whose dispatch takes seconds where the GPU also drives a display, as
 * integrated ones do, and some systems reset any, so dispatches are kept short there. */
double wfi_longest_dispatch(const wf_caps *caps, double asked)
{
    const bool watched = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                         caps->device_type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU ||
                         (caps->device_type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU &&
                          (caps->display_attached || wfi_system_watches_gpus()));
    if (asked != 0)
        return asked > 0 ? asked : 0;
    return watched ? 0.05 : 0;
}

static void use_debug_names(wf_device *device)
{
    const wfi_instance *instance = &device->instance;
    device->debug_names = instance->set_object_name && instance->begin_label && instance->end_label;
}

/* WAVEFIT_SIDE_QUEUES=0: all work goes to one queue; 1: what can run beside something else is
 * submitted by itself, to the one queue where the device has no family for it. */
static void choose_side_queues(wf_device *device)
{
    const char *asked = getenv("WAVEFIT_SIDE_QUEUES");
    const bool never = asked && strcmp(asked, "0") == 0;
    uint32_t families[WFI_SIDE_QUEUES];
    wfi_caps_side_families(&device->instance, device->physical, device->queue_family,
                           &families[WFI_SIDE_KERNELS], &families[WFI_SIDE_COPIES]);
    device->works_beside = asked && !never;
    for (int i = 0; i < WFI_SIDE_QUEUES; i++) {
        const bool has = !never && families[i] != UINT32_MAX;
        device->sides[i].family = has ? families[i] : device->queue_family;
        device->works_beside |= has;
    }
    device->kernels_beside =
        device->sides[WFI_SIDE_KERNELS].family != device->queue_family || (asked && !never);
}

uint32_t wfi_device_families(const wf_device *device, uint32_t families[WFI_MOST_FAMILIES])
{
    uint32_t count = 0;
    families[count++] = device->queue_family;
    for (int i = 0; i < WFI_SIDE_QUEUES; i++)
        if (device->sides[i].family != device->queue_family)
            families[count++] = device->sides[i].family;
    return count;
}

static VkResult make_device(wf_device *device, const wfi_features *features)
{
    const float priority = 1.0f;
    uint32_t families[WFI_MOST_FAMILIES];
    VkDeviceQueueCreateInfo queues[WFI_MOST_FAMILIES];
    const uint32_t count = wfi_device_families(device, families);
    for (uint32_t i = 0; i < count; i++)
        queues[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = families[i],
            .queueCount = 1,
            .pQueuePriorities = &priority,
        };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features->core,
        .queueCreateInfoCount = count,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = features->extension_count,
        .ppEnabledExtensionNames = features->extensions,
    };
    return WFI_MADE(
        device->instance.vkCreateDevice(device->physical, &info, device->allocator, &device->vk),
        &device->vk);
}

static wf_result open_device(wf_device *device)
{
    wfi_features features;
    wf_result result =
        wfi_features_query(&device->instance, &device->log, device->physical, &features);
    if (result != WF_SUCCESS)
        return result;
    uint32_t bits;
    device->queue_family = wfi_caps_queue_family(&device->instance, device->physical, &bits);
    choose_side_queues(device);
    const VkResult vk = make_device(device, &features);
    if (vk < VK_SUCCESS)
        return wfi_check_vk(&device->log, vk, "vkCreateDevice");
    device->has_events = !features.portability;
    wfi_volk_load_device_table(&device->fn, device->vk, device->instance.vkGetDeviceProcAddr);
    device->fn.vkGetDeviceQueue(device->vk, device->queue_family, 0, &device->queue);
    for (int i = 0; i < WFI_SIDE_QUEUES; i++)
        device->fn.vkGetDeviceQueue(device->vk, device->sides[i].family, 0, &device->sides[i].vk);
    load_memory(device);
    use_debug_names(device);
    return WF_SUCCESS;
}

/* All of them or none. */
static bool make_locks(wf_device *device)
{
    wfi_mutex *const locks[] = {&device->objects_lock, &device->queue_lock, &device->memory_lock,
                                &device->staging_lock, &device->kept_lock,  &device->pool_lock,
                                &device->peaks_lock,   &device->tuning_lock};
    if (!wfi_condition_init(&device->pool_compiled))
        return false;
    for (size_t i = 0; i < WFI_COUNT(locks); i++)
        if (!wfi_mutex_init(locks[i])) {
            while (i-- > 0)
                wfi_mutex_destroy(locks[i]);
            wfi_condition_destroy(&device->pool_compiled);
            return false;
        }
    return true;
}

/* Makes the object with its locks, log and allocator. */
static wf_result make_object(const wf_device_params *params, wf_device **out)
{
    const wfi_log log = {params->log, params->log_user};
    wf_memory_source source;
    wf_result result =
        wfi_params_read(&log, "wf_memory_source", params->memory_source, &source, sizeof source);
    if (result == WF_SUCCESS && !source.allocate != !source.free)
        result = wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT,
                          "wf_memory_source: allocate and free go together");
    if (result != WF_SUCCESS)
        return result;
    wf_device *device = wfi_calloc(1, sizeof *device);
    if (!device)
        return wfi_no_memory(&log);
    if (!make_locks(device)) {
        wfi_free(device);
        return wfi_fail(&log, WF_ERROR_OUT_OF_HOST_MEMORY, "a mutex could not be made");
    }
    device->log = log;
    device->memory_source = source;
    device->cancelled = params->cancelled;
    device->cancelled_user = params->cancelled_user;
    if (params->allocator) {
        device->allocator_storage = *params->allocator;
        device->allocator = &device->allocator_storage;
    }
    *out = device;
    return WF_SUCCESS;
}

/* What is the application's keeps its names. */
static void name_own(const wf_device *device)
{
    if (!device->cache.lent)
        wfi_name(device, VK_OBJECT_TYPE_PIPELINE_CACHE, WFI_HANDLE(device->cache.vk), "pipelines");
    if (device->adopted)
        return;
    wfi_name(device, VK_OBJECT_TYPE_DEVICE, (uint64_t)(uintptr_t)device->vk, "device");
    wfi_name(device, VK_OBJECT_TYPE_QUEUE, (uint64_t)(uintptr_t)device->queue, "queue");
}

/* Sets what goes by the kind of device and by what the caller wants. */
static void set_ways(wf_device *device, const wf_device_params *params)
{
    device->dispatch_seconds = wfi_longest_dispatch(&device->caps, params->dispatch_seconds);
    device->poll_seconds = wfi_device_kind_of(&device->caps)->poll_seconds;
    device->dedicates = wfi_blocks_are_dedicated(device);
}

static wf_result open_own(const wf_device_params *params, wf_device **out)
{
    wf_device *device = NULL;
    wf_result result = make_object(params, &device);
    if (result != WF_SUCCESS)
        return result;
    result = wfi_instance_create(params, &device->log, device->allocator, &device->instance);
    if (result == WF_SUCCESS)
        result = choose(device, params);
    if (result == WF_SUCCESS)
        result = open_device(device);
    device->cache_directory = wfi_cache_directory(&device->log, params->cache_directory);
    device->capture_statistics = params->capture_statistics && device->caps.pipeline_statistics;
    set_ways(device, params);
    wfi_blocks_keep(device);
    if (result == WF_SUCCESS)
        result = wfi_pipeline_cache_create(&device->log, device->vk, &device->fn, device->allocator,
                                           &device->caps, device->cache_directory, &device->cache);
    if (result == WF_SUCCESS)
        name_own(device);
    if (result != WF_SUCCESS) {
        wf_device_destroy(&device);
        return result;
    }
    *out = device;
    return WF_SUCCESS;
}

wf_result wfi_device_open(const wf_device_params *params, wf_device **out)
{
    wf_device_params read;
    const wf_result result =
        wfi_params_read(&(wfi_log){0}, "wf_device_create", params, &read, sizeof read);
    if (result != WF_SUCCESS || !out)
        return wfi_fail(&((wfi_log){read.log, read.log_user}), WF_ERROR_INVALID_ARGUMENT,
                        "wf_device_create: bad parameters");
    const wfi_heap outer = wfi_heap_enter(read.allocator);
    return wfi_heap_leave(outer, open_own(&read, out));
}

/* Fills device->offered with what the enabled features allow, and notes what they withhold. */
static wf_result query_enabled(wf_device *device, const wf_vulkan *vulkan, wfi_features *features)
{
    wf_caps *physical = wfi_malloc(sizeof *physical);
    if (!physical)
        return wfi_no_memory(&device->log);
    wf_result result =
        wfi_caps_query(&device->instance, &device->log, device->physical, features, physical);
    wfi_features_restrict(features, vulkan);
    if (result == WF_SUCCESS)
        result = wfi_caps_query(&device->instance, &device->log, device->physical, features,
                                &device->offered);
    if (result == WF_SUCCESS)
        wfi_caps_withhold(physical, &device->offered);
    wfi_free(physical);
    return result;
}

/* Fills the object from the application's handles: caps by the enabled features, queue and
 * locks. */
static wf_result take_over(wf_device *device, const wf_vulkan *vulkan, wf_limits limits)
{
    wfi_features features;
    uint32_t timestamp_bits = 0;
    device->physical = vulkan->physical_device;
    wf_result result =
        wfi_features_query(&device->instance, &device->log, device->physical, &features);
    if (result != WF_SUCCESS)
        return result;
    result = query_enabled(device, vulkan, &features);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_caps_compute_family(&device->instance, device->physical, vulkan->queue_family,
                                 &timestamp_bits))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vulkan: queue family %u of %s does not exist or has no compute",
                        vulkan->queue_family, device->offered.name);
    device->offered.timestamp_valid_bits = timestamp_bits;
    if (limits == WF_LIMITS_MINIMUM)
        wfi_caps_clamp_minimum(&device->offered);
    wfi_quirks_apply(&device->offered, wfi_quirks_known(&device->offered), &device->caps);
    device->vk = vulkan->device;
    wfi_volk_load_device_table(&device->fn, device->vk, device->instance.vkGetDeviceProcAddr);
    device->has_events = !features.portability;
    device->queue = vulkan->queue;
    device->queue_family = vulkan->queue_family;
    for (int i = 0; i < WFI_SIDE_QUEUES; i++)
        device->sides[i] = (wfi_side_queue){vulkan->queue, vulkan->queue_family};
    device->lock_queue = vulkan->lock_queue;
    device->unlock_queue = vulkan->unlock_queue;
    device->queue_user = vulkan->queue_user;
    load_memory(device);
    use_debug_names(device);
    return WF_SUCCESS;
}

static wf_result check_handles(const wfi_log *log, const wf_vulkan *vulkan)
{
    if (!vulkan->device)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT, "wf_vulkan: device must be given");
    if (vulkan->enabled_extension_count && !vulkan->enabled_extensions)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vulkan: enabled_extensions is NULL but their number is %u",
                        vulkan->enabled_extension_count);
    if (!vulkan->lock_queue != !vulkan->unlock_queue)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vulkan: lock_queue and unlock_queue go together");
    return WF_SUCCESS;
}

static wf_result open_adopted(const wf_vulkan *vulkan, const wf_device_params *params,
                              wf_device **out)
{
    wf_vulkan handles;
    wf_device *device = NULL;
    const wfi_log log = {params->log, params->log_user};
    wf_result result = wfi_params_read(&log, "wf_device_adopt", vulkan, &handles, sizeof handles);
    if (result == WF_SUCCESS)
        result = check_handles(&log, &handles);
    if (result == WF_SUCCESS)
        result = make_object(params, &device);
    if (result != WF_SUCCESS)
        return result;
    device->adopted = true;
    /* Files are read and written only where the application says so. */
    const char *directory = params->cache_directory ? params->cache_directory : "";
    device->cache_directory = wfi_cache_directory(&log, directory);
    result = wfi_instance_adopt(&handles, &log, device->allocator, &device->instance);
    if (result == WF_SUCCESS)
        result = take_over(device, &handles, params->limits);
    if (result == WF_SUCCESS && handles.pipeline_cache)
        device->cache = (wfi_pipeline_cache){.vk = handles.pipeline_cache, .lent = true};
    else if (result == WF_SUCCESS)
        result = wfi_pipeline_cache_create(&log, device->vk, &device->fn, device->allocator,
                                           &device->caps, device->cache_directory, &device->cache);
    set_ways(device, params);
    if (result == WF_SUCCESS)
        name_own(device);
    if (result != WF_SUCCESS) {
        wf_device_destroy(&device);
        return result;
    }
    *out = device;
    return WF_SUCCESS;
}

wf_result wfi_device_open_adopted(const wf_vulkan *vulkan, const wf_device_params *params,
                                  wf_device **out)
{
    wf_device_params read;
    const wf_result result =
        wfi_params_read(&(wfi_log){0}, "wf_device_adopt", params, &read, sizeof read);
    if (result != WF_SUCCESS || !vulkan || !out)
        return wfi_fail(&((wfi_log){read.log, read.log_user}), WF_ERROR_INVALID_ARGUMENT,
                        "wf_device_adopt: bad parameters");
    const wfi_heap outer = wfi_heap_enter(read.allocator);
    return wfi_heap_leave(outer, open_adopted(vulkan, &read, out));
}

/* A transfer that nobody waited for may still be submitting, on a thread of the device's. */
static void wait_for_own(wf_device *device)
{
    wfi_mutex_lock(&device->queue_lock);
    if (device->submitted && !device->adopted &&
        device->fn.vkDeviceWaitIdle(device->vk) < VK_SUCCESS)
        wfi_settle(device, VK_NULL_HANDLE);
    wfi_mutex_unlock(&device->queue_lock);
}

static void close_device(wf_device *device)
{
    wait_for_own(device);
    if (device->staging)
        device->staging_end(device);
    if (device->scratch_end)
        device->scratch_end(device);
    wfi_doom_all(device);
    const unsigned left = wfi_objects_close(device);
    if (left)
        wfi_log_write(
            &device->log, WF_LOG_WARNING,
            "wf_device_destroy: %u objects of the device were still there; they are closed", left);
    wfi_pool_clear(device);
    wfi_blocks_free(device);
    if (device->keeps) {
        wfi_free(device->cache.path);
        device->vk = VK_NULL_HANDLE;
        return;
    }
    wfi_pipeline_cache_destroy(&device->log, device->vk, &device->fn, device->allocator,
                               &device->caps, &device->cache);
    if (device->queries)
        device->fn.vkDestroyQueryPool(device->vk, device->queries, device->allocator);
    if (device->fence)
        device->fn.vkDestroyFence(device->vk, device->fence, device->allocator);
    if (device->command_pool)
        device->fn.vkDestroyCommandPool(device->vk, device->command_pool, device->allocator);
    if (!device->adopted)
        device->fn.vkDestroyDevice(device->vk, device->allocator);
    device->vk = VK_NULL_HANDLE;
}

void wf_device_destroy(wf_device **handle)
{
    wf_device *device = handle ? *handle : NULL;
    if (!device)
        return;
    const wfi_heap outer = wfi_heap_enter_device(device);
    if (device->tuning)
        device->tuning_end(device->tuning);
    if (device->vk)
        close_device(device);
    if (!device->keeps)
        wfi_instance_destroy(&device->instance);
    wfi_device_release(device);
    wfi_heap_leave(outer, WF_SUCCESS);
    *handle = NULL;
}

wf_result wfi_device_usable(const wf_device *device, const char *function)
{
    if (device->vk)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_DEVICE_CLOSED,
                    "%s: the device of this object was destroyed", function);
}

wf_result wfi_device_goes_on(const wf_device *device)
{
    if (!device->asks || !device->cancelled || !device->cancelled(device->cancelled_user))
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_CANCELLED, "the application asked to stop");
}

const wf_caps *wf_device_caps(const wf_device *device)
{
    return &device->caps;
}
