/* Measuring the rates that the model chooses by. */
#ifndef WFI_TOOL_TUNE_CALIBRATE_H
#define WFI_TOOL_TUNE_CALIBRATE_H

#include "tool/cli/session.h"
#include "tool/tune/worker.h"

/* Measures them for so long (0: 2 s) and prints them. Returns an exit code. */
int wfi_calibrate_print(wfi_session *session, double seconds);

/* Whether the rates are measured before a search of products: once, and where that takes little of
 * the time that was given. Sets work->calibrates and says so. */
void wfi_calibrate_before(wfi_tune_work *work);

/* One line: whether the device's rates were measured, where the model has any. */
void wfi_calibration_tell(wf_device *device);

#endif
