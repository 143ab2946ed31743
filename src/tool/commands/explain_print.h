/* What `wavefit explain` says of a measured case, or of a kernel that was only compiled. */
#ifndef WFI_TOOL_COMMANDS_EXPLAIN_PRINT_H
#define WFI_TOOL_COMMANDS_EXPLAIN_PRINT_H

#include "model/advice.h"
#include "tool/cases/study.h"

void wfi_explain_print(wfi_session *session, const wfi_study *study, const wfi_result_case *c,
                       const wfi_observation *o);
/* Work-group, occupancy and statistics alone. */
void wfi_explain_print_kernel(const wf_caps *caps, const wf_kernel_info *kernel);
/* The bytes of each level alone. */
void wfi_explain_print_bytes(const wfi_result_case *c);
/* The advice alone. */
void wfi_explain_print_advice(const wfi_result_case *c);

#endif
