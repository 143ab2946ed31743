/* The stages of a command: shown while they last (progress.h), and timed. */
#ifndef WFI_TOOL_CLI_STAGES_H
#define WFI_TOOL_CLI_STAGES_H

#include "io/results.h"
#include "tool/cli/options.h"

/* Ends the stage before and begins this one. `what` (NULL: nothing) names it in the progress line:
 * "reading a.npy". Stages that come again add up. */
void wfi_stage_begin(bool quiet, wfi_stage stage, const char *what);
/* Ends the stage; what follows belongs to none. */
void wfi_stage_end(bool quiet);
/* Adds a solver's own stages, and subtracts their time from the stage that runs. */
void wfi_stages_note(const wf_solve_stages *of_solve);

/* Ends the stage, gives the case what all of them took since the process began, and prints
 * "stages    read 1.2 ms, …" and "whole     …", where the case came so far. */
void wfi_stages_finish(const wfi_common *common, wfi_result_case *c);

#endif
