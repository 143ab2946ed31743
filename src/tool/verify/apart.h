/* Runs what may crash or hang in a process of its own, where the system can copy the present one.
 * On Windows it cannot: there it runs in this process, which ends where the driver crashes. */
#ifndef WFI_TOOL_VERIFY_APART_H
#define WFI_TOOL_VERIFY_APART_H

#include <stddef.h>
#include <stdint.h>

/* Zeros, which both processes see; NULL without memory. */
void *wfi_apart_memory(size_t bytes);
void wfi_apart_free(void *memory, size_t bytes);

/* Calls run(user) and returns what it returns; -1: its process ended otherwise, and *how says how.
 * One whose *progress stays the same for so many seconds, or that goes on after an interrupt, is
 * killed. */
int wfi_apart_run(int (*run)(void *user), void *user, const uint64_t *progress, double seconds,
                  const char **how);

#endif
