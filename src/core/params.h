/* Parameter structures of other versions of the header: a caller built against an older one gives
 * fewer members, which mean their defaults; one built against a newer one gives more, of which
 * those that this library does not know must be zero. */
#ifndef WFI_CORE_PARAMS_H
#define WFI_CORE_PARAMS_H

#include "core/log.h"

/* Copies *given (NULL: all defaults), whose first member is its size, to *local of `bytes` bytes.
 * WF_ERROR_INVALID_ARGUMENT when the size cannot be, or a member unknown here is set. */
wf_result wfi_params_read(const wfi_log *log, const char *function, const void *given, void *local,
                          size_t bytes);

/* Copies *local to *result, as much as the size that the caller set there holds. False when that
 * size cannot be. */
bool wfi_params_write(void *result, const void *local, size_t bytes);

#endif
