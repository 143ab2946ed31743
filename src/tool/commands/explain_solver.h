/* Where the time of a solver's iteration goes: its parts, and the bytes that each must move. */
#ifndef WFI_TOOL_COMMANDS_EXPLAIN_SOLVER_H
#define WFI_TOOL_COMMANDS_EXPLAIN_SOLVER_H

#include "tool/cli/session.h"

typedef struct wfi_solver_part {
    const char *name, *what;
    double us;    /* 0: it is in another part, or could not be told */
    double bytes; /* that it moves at least */
} wfi_solver_part;

#define WFI_SOLVER_ADVICE 4

typedef struct wfi_solver_explain {
    double iteration_us;
    uint32_t dispatches; /* of an iteration */
    uint32_t count;
    wfi_solver_part parts[3];
    const char *largest_text, *largest_command; /* what explains the part that takes the most */
    wfi_result_advice advice[WFI_SOLVER_ADVICE];
} wfi_solver_explain;

/* Prints the parts with their rates and the floor of the iteration, and advice, which it leaves in
 * the case. */
void wfi_explain_solver(wfi_session *session, wfi_solver_explain *e, wfi_result_case *c);

#endif
