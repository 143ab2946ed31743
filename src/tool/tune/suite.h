/* The problems that tune and its measurements work on. */
#ifndef WFI_TOOL_TUNE_SUITE_H
#define WFI_TOOL_TUNE_SUITE_H

#include "tool/cases/drawn.h"

#define WFI_MAX_TUNE_PROBLEMS WFI_MOST_DRAWN

/* The suite's problems of a family (WF_FAMILY_COUNT: of all) for a device; returns how many. */
uint32_t wfi_tune_suite(bool quick, bool cpu, wf_family family,
                        wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS]);

/* Makes or reads what the problem needs and sets the problem in *params. False: `error` says
 * why. */
bool wfi_tune_data_make(const wfi_case_problem *problem, uint64_t seed, wfi_problem_data *data,
                        wf_tune_params *params, char error[1024]);
void wfi_tune_data_free(wfi_problem_data *data);

#endif
