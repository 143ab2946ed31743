/* A binding of the caller's, checked. */
#ifndef WFI_PLAN_BIND_H
#define WFI_PLAN_BIND_H

#include "core/device.h"

/* A caller's binding made concrete. */
typedef struct wfi_bound {
    VkBuffer buffer;
    uint64_t number; /* wf_buffer.number; 0: a handle of the caller's */
    bool mapped;     /* the host may read it without another submission */
    uint64_t offset, bytes;
    VkImageView view; /* of a binding that is a storage image; the others mean nothing then */
} wfi_bound;

/* WF_ERROR_BINDING, with a line in the log that has the name, for what is missing, misaligned or of
 * fewer than `needed` bytes. */
wf_result wfi_bind(const wf_device *device, const wfi_log *log, const wf_binding *binding,
                   const char *name, uint64_t needed, wfi_bound *out);

#endif
