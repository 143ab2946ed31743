/* The process that opens the device once. */
#ifndef WFI_TOOL_TUNE_PROBE_H
#define WFI_TOOL_TUNE_PROBE_H

#include "tool/cli/process.h"

#define WFI_ROLE_PROBE "--open-for-tune"

/* Takes up the starter's job (job.h) and tells what the device is. Returns the process's exit
 * code. */
int wfi_probe_main(const wfi_starter *starter);

#endif
