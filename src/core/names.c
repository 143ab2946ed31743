#include "core/names.h"

#include <stdarg.h>
#include <stdio.h>

void wfi_name(const wf_device *device, VkObjectType type, uint64_t handle, const char *format, ...)
{
    char text[WFI_NAME_BYTES] = "wavefit ";
    const size_t begin = 8;
    va_list args;
    if (!device->debug_names || !handle)
        return;
    va_start(args, format);
    vsnprintf(text + begin, sizeof text - begin, format, args);
    va_end(args);
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = text,
    };
    /* A failure leaves the object without a name, and harms nothing. */
    device->instance.set_object_name(device->vk, &info);
}

void wfi_label_begin(const wf_device *device, VkCommandBuffer command_buffer, const char *text)
{
    const VkDebugUtilsLabelEXT label = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
        .pLabelName = text,
    };
    if (device->debug_names)
        device->instance.begin_label(command_buffer, &label);
}

void wfi_label_end(const wf_device *device, VkCommandBuffer command_buffer)
{
    if (device->debug_names)
        device->instance.end_label(command_buffer);
}
