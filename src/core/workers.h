/* Threads of a device that copy memory beside the thread of a call. */
#ifndef WFI_CORE_WORKERS_H
#define WFI_CORE_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/platform.h"

#define WFI_MOST_WORKERS 11

typedef struct wfi_workers {
    wfi_mutex lock;
    wfi_condition wake, done;
    wfi_thread threads[WFI_MOST_WORKERS];
    uint32_t most, count; /* that may be started, that were */
    uint32_t wanted;      /* that have still to take up the work */
    uint32_t busy;
    bool ends;
    void (*work)(void *user);
    void *user;
} wfi_workers;

/* How many threads a copy pays for on this machine, the caller's among them: three quarters of its
 * processors, at least two where there are two, and at most twelve, which fill a bus. */
uint32_t wfi_copy_threads(void);

/* Starts no thread yet. False: the system has no more locks. */
bool wfi_workers_open(wfi_workers *workers, uint32_t most);
void wfi_workers_close(wfi_workers *workers);

/* Calls work(user) on up to `count` threads while the caller goes on. They may begin late or, where
 * the system gives no thread, never: the caller must be able to do all of the work itself. One at a
 * time; wfi_workers_end returns once no thread is in `work` and none will begin. */
void wfi_workers_begin(wfi_workers *workers, uint32_t count, void (*work)(void *user), void *user);
void wfi_workers_end(wfi_workers *workers);

#endif
