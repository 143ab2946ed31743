/* Whether a display is connected to a GPU, as Linux reports it. */
#ifndef WFI_CORE_DISPLAY_H
#define WFI_CORE_DISPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* True when a connector of the device has status "connected"; false also where nothing can be read.
 * Major and minor number the device node as VK_EXT_physical_device_drm does; `system` is where
 * sysfs is mounted ("/sys"). */
bool wfi_display_connected(const char *system, int64_t major, int64_t minor);

#endif
