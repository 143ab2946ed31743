/* Checks that several threads make together. */
#ifndef WFI_KERNELS_CHECK_CREW_H
#define WFI_KERNELS_CHECK_CREW_H

#include <stdatomic.h>

#include "core/workers.h"
#include "kernels/check/bound.h"

typedef struct wfi_crew {
    wfi_workers workers;
    uint32_t others;  /* threads that may help; 0: `workers` is not open */
    wfi_watch *watch; /* of the thread that opened it */
    wf_cancel heard;  /* what the others ask: whether that thread was told to stop */
    atomic_bool stopped;
    uint32_t parts;
    atomic_uint next; /* part that no thread has taken */
    void (*work)(void *user, uint32_t part, wfi_watch *watch);
    void *user;
} wfi_crew;

/* Starts no thread yet. Where the system gives none, the caller's does all. */
void wfi_crew_open(wfi_crew *crew, wfi_watch *watch);
void wfi_crew_close(wfi_crew *crew);

/* Calls work(user, n, watch) for each n below `parts`, on the caller's thread and on others, and
 * returns when all are done. `work` ends early where its watch stops, and allocates nothing of the
 * library's. The application is asked on the caller's thread alone. False: cancelled. */
bool wfi_crew_run(wfi_crew *crew, uint32_t parts,
                  void (*work)(void *user, uint32_t part, wfi_watch *watch), void *user);

#endif
