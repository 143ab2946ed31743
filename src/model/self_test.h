/* What a device offers but does wrong, found by trying. */
#ifndef WFI_MODEL_SELF_TEST_H
#define WFI_MODEL_SELF_TEST_H

#include "core/device.h"

/* Tries what the device offers on its own queue, applies what it finds to device->caps and keeps it
 * for the next run. wfi_self_test_recall applies what an earlier run kept; it returns false where
 * nothing was kept for this driver. */
void wfi_self_test_run(wf_device *device);
bool wfi_self_test_recall(wf_device *device);

#endif
