#include "core/device.h"

#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
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
    if (result != WF_SUCCESS)
        return result;
    wf_caps *list = calloc(n, sizeof *list);
    if (!list) {
        free(devices);
        return wfi_fail(log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    }
    for (uint32_t i = 0; i < n; i++) {
        wfi_features features;
        if (wfi_features_query(instance, log, devices[i], &features) != WF_SUCCESS ||
            wfi_caps_query(instance, log, devices[i], &features, &list[usable]) != WF_SUCCESS)
            continue;
        if (limits == WF_LIMITS_MINIMUM)
            wfi_caps_clamp_minimum(&list[usable]);
        list[usable].index = usable;
        devices[usable++] = devices[i];
    }
    if (usable == 0) {
        free(devices);
        free(list);
        return wfi_fail(log, WF_ERROR_NO_DEVICE, "no Vulkan device offers Vulkan 1.1 compute");
    }
    *physical = devices;
    *caps = list;
    *count = usable;
    return WF_SUCCESS;
}

static wfi_log log_of(const wf_device_params *params)
{
    return params ? (wfi_log){params->log, params->log_user} : (wfi_log){0};
}

wf_result wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count)
{
    const wfi_log log = log_of(params);
    if (!count || (params && params->size < sizeof *params))
        return wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT, "wf_devices_list: bad parameters");
    wfi_instance instance;
    VkPhysicalDevice *physical = NULL;
    wf_caps *list = NULL;
    uint32_t n = 0;
    const VkAllocationCallbacks *allocator = params ? params->allocator : NULL;
    wf_result result = wfi_instance_create(params, &log, allocator, &instance);
    if (result != WF_SUCCESS)
        return result;
    result = query_all(&instance, &log, params ? params->limits : WF_LIMITS_DEVICE, &physical,
                       &list, &n);
    if (result == WF_SUCCESS) {
        for (uint32_t i = 0; caps && i < n && i < *count; i++)
            wfi_quirks_apply(&list[i], wfi_quirks_known(&list[i]), &caps[i]);
        *count = n;
    }
    free(physical);
    free(list);
    wfi_instance_destroy(&instance);
    return result;
}

/* Chooses the physical device and fills device->physical and device->caps. */
static wf_result choose(wf_device *device, const wf_device_params *params)
{
    VkPhysicalDevice *physical = NULL;
    wf_caps *list = NULL;
    uint32_t count = 0, index = 0;
    const char *selector = params ? params->selector : NULL;
    if (!selector)
        selector = getenv("WAVEFIT_DEVICE");
    wf_result result =
        query_all(&device->instance, &device->log, params ? params->limits : WF_LIMITS_DEVICE,
                  &physical, &list, &count);
    if (result == WF_SUCCESS)
        result = wfi_select(&device->log, list, count, selector, &index);
    if (result == WF_SUCCESS) {
        device->physical = physical[index];
        device->offered = list[index];
        wfi_quirks_apply(&device->offered, wfi_quirks_known(&device->offered), &device->caps);
    }
    free(physical);
    free(list);
    return result;
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
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = device->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features.core,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = features.extension_count,
        .ppEnabledExtensionNames = features.extensions,
    };
    VkResult vk =
        device->instance.vkCreateDevice(device->physical, &info, device->allocator, &device->vk);
    if (vk < VK_SUCCESS)
        return wfi_check_vk(&device->log, vk, "vkCreateDevice");
    wfi_volk_load_device_table(&device->fn, device->vk, device->instance.vkGetDeviceProcAddr);
    device->fn.vkGetDeviceQueue(device->vk, device->queue_family, 0, &device->queue);

    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    device->instance.vkGetPhysicalDeviceMemoryProperties2(device->physical, &memory);
    device->memory = memory.memoryProperties;
    return WF_SUCCESS;
}

wf_result wf_device_create(const wf_device_params *params, wf_device **out)
{
    const wfi_log log = log_of(params);
    if (!out || (params && params->size < sizeof *params))
        return wfi_fail(&log, WF_ERROR_INVALID_ARGUMENT, "wf_device_create: bad parameters");
    wf_device *device = calloc(1, sizeof *device);
    if (!device)
        return wfi_fail(&log, WF_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    device->log = log;
    if (params && params->allocator) {
        device->allocator_storage = *params->allocator;
        device->allocator = &device->allocator_storage;
    }
    wf_result result = WF_SUCCESS;
    device->locks_made = mtx_init(&device->queue_lock, mtx_plain) == thrd_success &&
                         mtx_init(&device->peaks_lock, mtx_plain) == thrd_success;
    if (!device->locks_made)
        result = wfi_fail(&log, WF_ERROR_OUT_OF_HOST_MEMORY, "a mutex could not be made");
    if (result == WF_SUCCESS)
        result = wfi_instance_create(params, &log, device->allocator, &device->instance);
    if (result == WF_SUCCESS)
        result = choose(device, params);
    if (result == WF_SUCCESS)
        result = open_device(device);
    if (result == WF_SUCCESS)
        result = wfi_pipeline_cache_create(&log, device->vk, &device->fn, device->allocator,
                                           &device->caps, params ? params->cache_directory : NULL,
                                           &device->cache);
    if (result != WF_SUCCESS) {
        wf_device_destroy(&device);
        return result;
    }
    *out = device;
    return WF_SUCCESS;
}

static void close_device(wf_device *device)
{
    if (device->command_pool)
        device->fn.vkDeviceWaitIdle(device->vk);
    wfi_pipeline_cache_destroy(&device->log, device->vk, &device->fn, device->allocator,
                               &device->caps, &device->cache);
    if (device->queries)
        device->fn.vkDestroyQueryPool(device->vk, device->queries, device->allocator);
    if (device->fence)
        device->fn.vkDestroyFence(device->vk, device->fence, device->allocator);
    if (device->command_pool)
        device->fn.vkDestroyCommandPool(device->vk, device->command_pool, device->allocator);
    device->fn.vkDestroyDevice(device->vk, device->allocator);
}

void wf_device_destroy(wf_device **handle)
{
    wf_device *device = handle ? *handle : NULL;
    if (!device)
        return;
    if (device->vk)
        close_device(device);
    wfi_instance_destroy(&device->instance);
    if (device->locks_made) {
        mtx_destroy(&device->queue_lock);
        mtx_destroy(&device->peaks_lock);
    }
    free(device);
    *handle = NULL;
}

const wf_caps *wf_device_caps(const wf_device *device)
{
    return &device->caps;
}
