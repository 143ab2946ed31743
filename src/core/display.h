/* Whether a display hangs on a GPU, as Linux tells. */
#ifndef WFI_CORE_DISPLAY_H
#define WFI_CORE_DISPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* A node of the kernel's, as VK_EXT_physical_device_drm numbers it. `system` is where sysfs is
 * mounted ("/sys"). True when a connector of the node's device has status "connected"; false also
 * where there is nothing to read. */
bool wfi_display_connected(const char *system, int64_t major, int64_t minor);

#endif
