#include "core/words.h"

#include "core/platform.h"

static WFI_THREAD_LOCAL wfi_words *keeper;

void wfi_words_keep(wfi_words *words)
{
    keeper = words;
}

/* On one line, without spaces at its ends. */
static void keep(const char *text)
{
    size_t used = 0;
    bool space = false;
    for (; *text && used + 2 < sizeof keeper->text; text++) {
        if (*text == ' ' || *text == '\n' || *text == '\t') {
            space = used > 0;
            continue;
        }
        if (space)
            keeper->text[used++] = ' ';
        keeper->text[used++] = *text;
        space = false;
    }
    keeper->text[used] = '\0';
}

/* Layers that check calls give the other types; what they warn of is not a failure. The loader's
 * and drivers' general messages are of use where a call fails, whose caller keeps them. */
static VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT types,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data,
                                           void *user)
{
    if (!data->pMessage)
        return VK_FALSE;
    if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) {
        if (keeper)
            keep(data->pMessage);
    } else if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)
        wfi_log_write(user, WF_LOG_ERROR, "%s", data->pMessage);
    return VK_FALSE;
}

VkDebugUtilsMessengerEXT wfi_words_listen(VkInstance instance, PFN_vkGetInstanceProcAddr get_proc,
                                          const VkAllocationCallbacks *allocator,
                                          const wfi_log *log)
{
    const PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)get_proc(instance, "vkCreateDebugUtilsMessengerEXT");
    const VkDebugUtilsMessengerCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        /* ANV warns of what it refuses. */
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = hear,
        .pUserData = (void *)log,
    };
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    if (!create || create(instance, &info, allocator, &messenger) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    return messenger;
}

void wfi_words_leave(VkInstance instance, PFN_vkGetInstanceProcAddr get_proc,
                     const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT messenger)
{
    const PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)get_proc(instance, "vkDestroyDebugUtilsMessengerEXT");
    if (destroy)
        destroy(instance, messenger, allocator);
}
