/* `wavefit bench --again`: the command line of a results file once more, with the points that it
 * had, and whether it came out the same. */
#ifndef WFI_TOOL_COMMANDS_AGAIN_H
#define WFI_TOOL_COMMANDS_AGAIN_H

#include "io/again_read.h"
#include "tool/cases/problem.h"
#include "tool/cli/options.h"

/* Runs a command of the tool; argv as main has it. */
typedef int (*wfi_again_fn)(int argc, char **argv);

/* Runs it and returns the exit code: FAILED where a case came out otherwise. */
int wfi_again(const wfi_common *common, const char *path, char *program,
              wfi_again_fn (*command_of)(const char *name));

/* The point that a case of a suite had in the file that is run again. False: none is run again, or
 * the case is not in it. `constants` is valid as long as that run. */
bool wfi_again_point(const wfi_case_problem *problem, wf_tuning *tuning,
                     wf_constant constants[WF_MAX_PARAMETERS]);

/* Whether results are compared and then gone, so that no page is to be made of them. */
bool wfi_again_keeps_nothing(void);

#endif
