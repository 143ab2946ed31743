/* wavefit tune --drawn: a device as a whole, in a given time. */
#ifndef WFI_TOOL_TUNE_FIT_H
#define WFI_TOOL_TUNE_FIT_H

#include "tool/tune/options.h"

/* Searches for problems drawn by the seed that have no row yet, and then times others, of another
 * seed, without and with what is kept of the device. Prints both. Returns the tool's exit code. */
int wfi_tune_fit(const wfi_tune_arguments *args, const wfi_common *common);

#endif
