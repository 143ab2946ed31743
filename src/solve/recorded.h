/* What recorded solves share. */
#ifndef WFI_SOLVE_RECORDED_H
#define WFI_SOLVE_RECORDED_H

#include "wavefit/wavefit.h"

/* Whether flags are none of WF_SOLVE_... or contradict one another. */
static inline bool wfi_solve_flags_err(uint32_t flags)
{
    const uint32_t begins = WF_SOLVE_WARM | WF_SOLVE_FIXED;
    return (flags & ~(begins | WF_SOLVE_CONDITIONAL | WF_SOLVE_CONTINUE)) ||
           ((flags & WF_SOLVE_CONTINUE) && (flags & begins));
}

#endif
