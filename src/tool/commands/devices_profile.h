/* wavefit devices --profile: what would run on a device that is not here. */
#ifndef WFI_TOOL_COMMANDS_DEVICES_PROFILE_H
#define WFI_TOOL_COMMANDS_DEVICES_PROFILE_H

#include "tool/cli/options.h"

/* Reads the profile and prints, or writes as --json asks. Returns the tool's exit code. */
int wfi_devices_profile(const char *file, const wfi_common *common);

#endif
