/* What searches came to, for people. */
#ifndef WFI_TOOL_TUNE_OUTCOMES_H
#define WFI_TOOL_TUNE_OUTCOMES_H

#include "tool/tune/worker.h"

/* Prints a line for each problem and the points before and after. Returns the tool's exit code. */
int wfi_tune_print(const wfi_case_problem *problems, const wfi_tune_outcome *outcomes,
                   uint32_t count);
/* One line on standard error when Ctrl-C ended it. Returns the tool's exit code. */
int wfi_tune_tell_interruption(const wfi_tune_work *work);

#endif
