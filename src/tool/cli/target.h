/* Devices of other vendors that are not there: their compilers run without them. */
#ifndef WFI_TOOL_CLI_TARGET_H
#define WFI_TOOL_CLI_TARGET_H

#include "tool/cli/process.h"

/* Points the Vulkan loader at the driver of "amd:navi31" or "intel:dg2" (targets.def), with the
 * shim in front that stands in for the card. For that, and since compilers crash, the tool starts
 * again, with argv: the first process ends here as the second does. *target may name the chip as
 * the driver does ("nvk:172") and becomes the usual name. Prints one line and returns the exit code
 * where that cannot be. Changes the environment: before any device is opened. */
int wfi_target_select(const char **target, char **argv);

/* The targets' names, and WFI_EXIT_DONE where there is one of that name; else one line. */
uint32_t wfi_target_count(void);
const char *wfi_target_name(uint32_t index);
int wfi_target_check(const char **target);
/* The usual name of a target that may be named by the driver's number; NULL: it is none. */
const char *wfi_target_usual(const char *target);
/* Has the processes that this one starts from now on find the target's driver, with the shim in
 * front of it. False, and why: what it needs is not here. */
bool wfi_target_prepare(const char *target, char *reason, size_t bytes);

/* What a process of that role does: it opens the driver, and tells its starter how many devices
 * there are. Returns the process's exit code. */
#define WFI_ROLE_TARGET "--open-target"
int wfi_target_probe_main(const wfi_starter *starter);

#endif
