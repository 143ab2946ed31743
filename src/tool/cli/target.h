/* Devices of another vendor that are not there: their compiler runs without them. */
#ifndef WFI_TOOL_CLI_TARGET_H
#define WFI_TOOL_CLI_TARGET_H

/* Points the Vulkan loader at Mesa's RADV, pretending to the chip of "amd:navi31". Prints one line
 * and returns the exit code where that cannot be. Changes the environment: before any device is
 * opened. */
int wfi_target_select(const char *target);

#endif
