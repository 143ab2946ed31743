/* Moving data between the host's memory and buffers that the host does not see, and copies on the
 * host by several threads. */
#ifndef WFI_CORE_TRANSFER_H
#define WFI_CORE_TRANSFER_H

#include "core/buffer.h"

/* What transfers check: the range, and that there is data. */
wf_result wfi_buffer_check(const wf_buffer *buffer, uint64_t offset, const void *data,
                           uint64_t bytes);

/* Moves `bytes` bytes at `offset` of the buffer, from or to imported memory without a copy and else
 * through the device's staging, and waits; exactly one of `in` and `out` is given. The range is not
 * checked. */
wf_result wfi_transfer_data(wf_buffer *buffer, uint64_t offset, const unsigned char *in,
                            unsigned char *out, uint64_t bytes);

/* Waits until a transfer of wf_buffer_write_begin or wf_buffer_read_begin is done, and returns what
 * came of it; NULL: there is none. wf_transfer_end is still to be called. */
wf_result wfi_transfer_wait(const wf_transfer *transfer);

/* memcpy, by several threads where it takes long. */
void wfi_copy(wf_device *device, unsigned char *to, const unsigned char *from, uint64_t bytes);

#endif
