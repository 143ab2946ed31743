/* Work of a call on the host, done by several threads, and buffers that it fills. */
#ifndef WFI_CORE_SHARE_H
#define WFI_CORE_SHARE_H

#include "core/buffer.h"

/* Calls work(user, n) for each n below `parts`, on the caller's thread and on those that copy for
 * the device's transfers; returns when all are done. `work` transfers nothing and allocates nothing
 * of the library's. */
void wfi_share(wf_device *device, uint32_t parts, void (*work)(void *user, uint32_t part),
               void *user);

/* Writes `bytes` bytes that are made for it: `make` writes those from `at` on to `to`, which is the
 * buffer's memory where the host sees it, and reads nothing there. It is called for parts of `part`
 * bytes, the last one less, by several threads. The range is not checked. */
typedef struct wfi_maker {
    void (*make)(void *user, uint64_t at, uint64_t bytes, void *to);
    void *user;
    uint64_t part;
} wfi_maker;
wf_result wfi_buffer_make(wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                          const wfi_maker *maker);

#endif
