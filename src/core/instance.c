#include "core/instance.h"

#include <string.h>

#include "core/heap.h"
#include "core/platform.h"
#include "core/words.h"

static wf_result open_loader(wfi_instance *instance, const wfi_log *log)
{
    for (const char *const *name = wfi_vulkan_loaders; *name && !instance->module; name++)
        instance->module = wfi_library_open(*name);
    if (!instance->module)
        return wfi_fail(log, WF_ERROR_NO_LOADER, "no Vulkan loader: %s cannot be opened",
                        wfi_vulkan_loaders[0]);
    instance->get_proc =
        (PFN_vkGetInstanceProcAddr)wfi_library_symbol(instance->module, "vkGetInstanceProcAddr");
    if (!instance->get_proc)
        return wfi_fail(log, WF_ERROR_NO_LOADER, "%s has no vkGetInstanceProcAddr",
                        wfi_vulkan_loaders[0]);
    return WF_SUCCESS;
}

/* What of the extensions that wavefit knows the loader offers. */
typedef struct offered {
    bool portability, debug_utils;
} offered;

static offered offers(const wfi_instance *instance)
{
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)instance->get_proc(
            NULL, "vkEnumerateInstanceExtensionProperties");
    offered found = {false, false};
    uint32_t count = 0;
    if (!enumerate || enumerate(NULL, &count, NULL) != VK_SUCCESS || count == 0)
        return found;
    VkExtensionProperties *list = wfi_calloc(count, sizeof *list);
    if (!list || enumerate(NULL, &count, list) < VK_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = list[i].extensionName;
        found.portability |= strcmp(name, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME) == 0;
        found.debug_utils |= strcmp(name, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0;
    }
    wfi_free(list);
    return found;
}

static wf_result create_instance(wfi_instance *instance, const wfi_log *log)
{
    PFN_vkEnumerateInstanceVersion version =
        (PFN_vkEnumerateInstanceVersion)instance->get_proc(NULL, "vkEnumerateInstanceVersion");
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)instance->get_proc(NULL, "vkCreateInstance");
    instance->api_version = VK_API_VERSION_1_0;
    if (version)
        version(&instance->api_version);
    if (!create || instance->api_version < VK_API_VERSION_1_1)
        return wfi_fail(log, WF_ERROR_NO_LOADER,
                        "the Vulkan loader offers Vulkan 1.0 only; wavefit needs 1.1");
    if (instance->api_version > VK_API_VERSION_1_3)
        instance->api_version = VK_API_VERSION_1_3;

    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "wavefit",
        .pEngineName = "wavefit",
        .engineVersion = VK_MAKE_VERSION(WF_VERSION_MAJOR, WF_VERSION_MINOR, WF_VERSION_PATCH),
        .apiVersion = instance->api_version,
    };
    /* Portability drivers (MoltenVK) are listed only to instances that ask for them. */
    const char *extensions[2];
    uint32_t count = 0;
    const offered has = offers(instance);
    if (has.portability)
        extensions[count++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
    if (instance->debug_utils && !has.debug_utils) {
        instance->debug_utils = false;
        wfi_log_write(log, WF_LOG_WARNING,
                      "debug_names: the loader has no VK_EXT_debug_utils; nothing is named");
    }
    const bool listens = has.debug_utils && log->fn;
    if (instance->debug_utils || listens)
        extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .flags = has.portability ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
        .pApplicationInfo = &application,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult vk = WFI_MADE(create(&info, instance->allocator, &instance->vk), &instance->vk);
    if (vk == VK_ERROR_INCOMPATIBLE_DRIVER)
        return wfi_fail(log, WF_ERROR_NO_DEVICE, "no Vulkan driver was found");
    if (vk == VK_SUCCESS && listens)
        instance->messenger =
            wfi_words_listen(instance->vk, instance->get_proc, instance->allocator, log);
    return wfi_check_vk(log, vk, "vkCreateInstance");
}

static void load_debug_functions(wfi_instance *instance)
{
    instance->set_object_name = (PFN_vkSetDebugUtilsObjectNameEXT)instance->get_proc(
        instance->vk, "vkSetDebugUtilsObjectNameEXT");
    instance->begin_label = (PFN_vkCmdBeginDebugUtilsLabelEXT)instance->get_proc(
        instance->vk, "vkCmdBeginDebugUtilsLabelEXT");
    instance->end_label = (PFN_vkCmdEndDebugUtilsLabelEXT)instance->get_proc(
        instance->vk, "vkCmdEndDebugUtilsLabelEXT");
}

static wf_result load_functions(wfi_instance *instance, const wfi_log *log)
{
#define WFI_LOAD(name)                                                                             \
    instance->name = (PFN_##name)instance->get_proc(instance->vk, #name);                          \
    if (!instance->name)                                                                           \
        return wfi_fail(log, WF_ERROR_DRIVER, "the Vulkan loader has no " #name);
    WFI_INSTANCE_FUNCTIONS(WFI_LOAD)
#undef WFI_LOAD
    instance->cooperative_properties =
        (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)instance->get_proc(
            instance->vk, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    if (instance->debug_utils)
        load_debug_functions(instance);
    return WF_SUCCESS;
}

/* What both kinds of instance need once the loader's function is known; a half-built instance is
 * destroyed. */
static wf_result open_instance(wfi_instance *instance, const wfi_log *log, wfi_instance *out)
{
    wf_result result = WF_SUCCESS;
    if (!instance->get_proc)
        result = open_loader(instance, log);
    if (result == WF_SUCCESS && !instance->lent)
        result = create_instance(instance, log);
    if (result == WF_SUCCESS)
        result = load_functions(instance, log);
    if (result != WF_SUCCESS) {
        wfi_instance_destroy(instance);
        return result;
    }
    *out = *instance;
    return WF_SUCCESS;
}

wf_result wfi_instance_create(const wf_device_params *params, const wfi_log *log,
                              const VkAllocationCallbacks *allocator, wfi_instance *out)
{
    wfi_instance instance = {.allocator = allocator,
                             .get_proc = params ? params->get_instance_proc_addr : NULL,
                             .debug_utils = params && params->debug_names};
    return open_instance(&instance, log, out);
}

wf_result wfi_instance_adopt(const wf_vulkan *vulkan, const wfi_log *log,
                             const VkAllocationCallbacks *allocator, wfi_instance *out)
{
    wfi_instance instance = {.allocator = allocator,
                             .lent = true,
                             .get_proc = vulkan->get_instance_proc_addr,
                             .vk = vulkan->instance,
                             .api_version = vulkan->api_version,
                             .debug_utils = vulkan->debug_utils};
    if (!vulkan->instance || !vulkan->physical_device)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_vulkan: instance and physical_device must be given");
    if (vulkan->api_version < VK_API_VERSION_1_1)
        return wfi_fail(
            log, WF_ERROR_UNSUPPORTED,
            "wf_vulkan: api_version, as in the instance's VkApplicationInfo, must be at "
            "least Vulkan 1.1");
    return open_instance(&instance, log, out);
}

void wfi_instance_destroy(wfi_instance *instance)
{
    if (instance->messenger)
        wfi_words_leave(instance->vk, instance->get_proc, instance->allocator, instance->messenger);
    if (!instance->lent && instance->vk && instance->vkDestroyInstance)
        instance->vkDestroyInstance(instance->vk, instance->allocator);
    if (instance->module)
        wfi_library_close(instance->module);
    *instance = (wfi_instance){0};
}

wf_result wfi_instance_devices(const wfi_instance *instance, const wfi_log *log,
                               VkPhysicalDevice **devices, uint32_t *count)
{
    VkPhysicalDevice *list = NULL;
    uint32_t n = 0;
    VkResult vk = instance->vkEnumeratePhysicalDevices(instance->vk, &n, NULL);
    if (vk == VK_ERROR_INITIALIZATION_FAILED || (vk == VK_SUCCESS && n == 0))
        return wfi_fail(log, WF_ERROR_NO_DEVICE, "no Vulkan device was found");
    if (vk == VK_SUCCESS) {
        list = wfi_calloc(n, sizeof(VkPhysicalDevice));
        if (!list)
            return wfi_no_memory(log);
        vk = instance->vkEnumeratePhysicalDevices(instance->vk, &n, list);
    }
    if (vk < VK_SUCCESS) {
        wfi_free(list);
        return wfi_check_vk(log, vk, "vkEnumeratePhysicalDevices");
    }
    *devices = list;
    *count = n;
    return WF_SUCCESS;
}
