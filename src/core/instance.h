/* The Vulkan loader and a VkInstance, with its functions in a table of its own. */
#ifndef WFI_CORE_INSTANCE_H
#define WFI_CORE_INSTANCE_H

#include "core/log.h"
#include "core/volk.h"

/* Every instance-level function that wavefit calls. */
#define WFI_INSTANCE_FUNCTIONS(X)                                                                  \
    X(vkDestroyInstance)                                                                           \
    X(vkEnumeratePhysicalDevices)                                                                  \
    X(vkGetPhysicalDeviceProperties)                                                               \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                        \
    X(vkGetPhysicalDeviceFormatProperties)                                                         \
    X(vkGetPhysicalDeviceExternalBufferProperties)                                                 \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkEnumerateDeviceExtensionProperties)                                                        \
    X(vkCreateDevice)                                                                              \
    X(vkGetDeviceProcAddr)

typedef struct wfi_instance {
    void *module; /* the loader library where we opened it, else NULL */
    PFN_vkGetInstanceProcAddr get_proc;
    VkInstance vk;
    bool lent;            /* the VkInstance is the application's */
    bool debug_utils;     /* wanted; then, VK_EXT_debug_utils is enabled */
    uint32_t api_version; /* what the application asked of the instance */
    const VkAllocationCallbacks *allocator;
#define WFI_MEMBER(name) PFN_##name name;
    WFI_INSTANCE_FUNCTIONS(WFI_MEMBER)
#undef WFI_MEMBER
    /* NULL where the loader knows no such extension */
    PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR cooperative_properties;
    /* Of VK_EXT_debug_utils; NULL where it is not enabled. */
    PFN_vkSetDebugUtilsObjectNameEXT set_object_name;
    PFN_vkCmdBeginDebugUtilsLabelEXT begin_label;
    PFN_vkCmdEndDebugUtilsLabelEXT end_label;
    VkDebugUtilsMessengerEXT messenger; /* of instances of our own with a log (core/words.h) */
} wfi_instance;

/* Opens the loader (unless params bring vkGetInstanceProcAddr) and creates an instance, which the
 * log must outlive.
 * WF_ERROR_NO_LOADER; WF_ERROR_NO_DEVICE when no driver offers Vulkan 1.1. */
wf_result wfi_instance_create(const wf_device_params *params, const wfi_log *log,
                              const VkAllocationCallbacks *allocator, wfi_instance *out);
/* The application's own instance; its loader is opened where vulkan brings no
 * vkGetInstanceProcAddr. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (Vulkan 1.0),
 * WF_ERROR_NO_LOADER. */
wf_result wfi_instance_adopt(const wf_vulkan *vulkan, const wfi_log *log,
                             const VkAllocationCallbacks *allocator, wfi_instance *out);
/* Accepts a half-built instance. */
void wfi_instance_destroy(wfi_instance *instance);

/* The physical devices, in the loader's order; *devices is to be freed. WF_ERROR_NO_DEVICE. */
wf_result wfi_instance_devices(const wfi_instance *instance, const wfi_log *log,
                               VkPhysicalDevice **devices, uint32_t *count);

#endif
