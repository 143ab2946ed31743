/* What calls that run lists of dispatches need while they run, and a device keeps from one to the
 * next: making it anew took an H200's driver tens of microseconds a call. */
#ifndef WFI_CORE_SCRATCH_H
#define WFI_CORE_SCRATCH_H

#include "core/device.h"

#define WFI_SCRATCH_READ 1024 /* bytes of the buffer */

/* Takes the device's, or makes another one where a thread has that already. After a failure *out is
 * zeroed. */
wf_result wfi_scratch_take(wf_device *device, wfi_scratch *out);
/* Resets the arena and keeps both, or destroys them where the device has some. Accepts zeroed
 * ones. */
void wfi_scratch_give_back(wf_device *device, wfi_scratch *scratch);

#endif
