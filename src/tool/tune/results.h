/* The results file of `wavefit tune --json`. */
#ifndef WFI_TOOL_TUNE_RESULTS_H
#define WFI_TOOL_TUNE_RESULTS_H

#include "tool/tune/worker.h"

/* Writes what the searches came to, one case a problem, to the file of --json, if one was given.
 * Returns the tool's exit code. */
int wfi_tune_write(const wfi_tune_work *work, int argc, char **argv);

#endif
