/* What processes that search have in common: journals, the end of a child, that of a parent. */
#ifndef WFI_TOOL_TUNE_PROCESS_H
#define WFI_TOOL_TUNE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* How long a process that is told to end may take to do so by itself. */
#define WFI_GRACE_SECONDS 1

/* Empties the file that names the point being tried; true where there is none ("" too). */
bool wfi_journal_empty(const char *path);

/* Waits for the end of a child; one that hangs is killed, and one that cannot be killed is left. */
bool wfi_child_reap(pid_t pid, bool hangs, int *status);

/* A child's view of its parent, which holds the other end of the pipe: when that closes the parent
 * is gone, however it ended, and nobody reads what is found. A driver that does not come back is
 * left then, as the parent would leave it. */
typedef struct wfi_parent_watch {
    int pipe;
    const char *journal; /* "": none */
} wfi_parent_watch;

/* Ends this process soon after its parent. *watch stays where it is until the process ends. */
void wfi_parent_watch_start(wfi_parent_watch *watch);

#endif
