/* What ladder prints: a table of rungs, and below it what each is. */
#ifndef WFI_TOOL_COMMANDS_LADDER_PRINT_H
#define WFI_TOOL_COMMANDS_LADDER_PRINT_H

#include "tool/cases/ladders.h"

void wfi_ladder_print(const wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                      const wfi_result_case *cases, uint32_t count);

/* The same of kernels that were compiled for a device that is not there. */
void wfi_ladder_print_compiled(const wfi_session *session, const wfi_ladder *ladder,
                               const wfi_study *study, const wfi_result_case *cases,
                               uint32_t count);

#endif
