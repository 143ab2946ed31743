/* The process that searches, and what it tells its parent through a pipe. */
#ifndef WFI_TOOL_TUNE_CHILD_H
#define WFI_TOOL_TUNE_CHILD_H

#include <signal.h>

#include "tool/tune/worker.h"

#define WFI_TELL_TO_END SIGTERM
#define WFI_INTERRUPTED "interrupted"
/* The exit code of a child that lost its device. */
#define WFI_EXIT_LOST 65

/* Where the child is, or the outcome of a problem. */
typedef struct wfi_child_message {
    uint32_t problem;
    bool is_outcome;
    bool compiles; /* kernels of several points */
    union {
        wf_tune_progress progress;
        wfi_tune_outcome outcome;
    };
} wfi_child_message;

/* Searches from problem `first` on, in `left` seconds, which the problems share, and writes
 * messages to `to`. one_by_one: several kernels are not compiled at once. Returns the process's
 * exit code. */
int wfi_child_main(const wfi_tune_work *work, uint32_t first, double left, bool one_by_one, int to);

#endif
