/* Measuring the rates that the model chooses by. */
#ifndef WFI_TOOL_TUNE_CALIBRATE_H
#define WFI_TOOL_TUNE_CALIBRATE_H

#include "tool/cli/session.h"

/* Measures them for so long (0: 2 s) and prints them. Returns an exit code. */
int wfi_calibrate_print(wfi_session *session, double seconds);

/* One line: whether the device's rates were measured, where the model has any. */
void wfi_calibration_tell(wf_device *device);

#endif
