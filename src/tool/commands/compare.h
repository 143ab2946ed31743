/* wavefit compare: what the compilers of several GPUs, which are not here, make of a problem. */
#ifndef WFI_TOOL_COMMANDS_COMPARE_H
#define WFI_TOOL_COMMANDS_COMPARE_H

#include "tool/cases/study.h"
#include "tool/cli/process.h"

/* Each target is compiled for in a process of its own, since a process has one driver. */
#define WFI_ROLE_COMPARE "--compare-target"
int wfi_compare_child_main(const wfi_starter *starter);

/* Takes the problem from the command line. *targets gets what --targets named, NULL: nothing. */
int wfi_compare_parse(int argc, char **argv, wfi_common *common, wfi_study *study,
                      const char **targets);
/* Gives the process the command line; false: it is gone. */
bool wfi_compare_tell(const wfi_process *child, int argc, char **argv);

#endif
