/* The process that searches, and what it tells its parent through a pipe. */
#ifndef WFI_TOOL_TUNE_CHILD_H
#define WFI_TOOL_TUNE_CHILD_H

#include "tool/cli/process.h"
#include "tool/tune/worker.h"

#define WFI_INTERRUPTED "interrupted"
#define WFI_ROLE_SEARCH "--search-for-tune"

/* What a message tells: where the child is, the outcome of a problem, that its device is lost, or
 * its own end with the tool's exit code. A child that ends without one of the last two was ended by
 * its driver. */
typedef enum wfi_child_tells {
    WFI_TELLS_PROGRESS,
    WFI_TELLS_OUTCOME,
    WFI_TELLS_LOSS,
    WFI_TELLS_END
} wfi_child_tells;

typedef struct wfi_child_message {
    wfi_child_tells tells;
    uint32_t problem;
    bool compiles; /* kernels of several points */
    bool decides;  /* between the best points, which have run */
    int code;
    union {
        wf_tune_progress progress;
        wfi_tune_outcome outcome;
    };
} wfi_child_message;

/* Takes up the starter's job (job.h) and writes messages to it. Returns the process's exit code. */
int wfi_child_main(const wfi_starter *starter);

#endif
