/* Names of Vulkan objects and labels around dispatches, for debuggers and captures
 * (VK_EXT_debug_utils). They cost one test of a flag where the extension is not enabled. */
#ifndef WFI_CORE_NAMES_H
#define WFI_CORE_NAMES_H

#include "core/device.h"

#define WFI_NAME_BYTES 128

/* Names an object, whose handle is given by WFI_HANDLE; "wavefit " is put before the text. */
void wfi_name(const wf_device *device, VkObjectType type, uint64_t handle, const char *format, ...);

/* A handle as Vulkan's debug functions take it, whether it is a pointer here or a number. */
#define WFI_HANDLE(handle) ((uint64_t)(handle))

/* Debuggers show commands between the two under the text; labels may nest. */
void wfi_label_begin(const wf_device *device, VkCommandBuffer command_buffer, const char *text);
void wfi_label_end(const wf_device *device, VkCommandBuffer command_buffer);

#endif
