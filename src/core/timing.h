/* Timestamps and the statistics of samples. */
#ifndef WFI_CORE_TIMING_H
#define WFI_CORE_TIMING_H

#include "core/clock.h"
#include "core/command.h"

/* Fills median, quartiles, minimum and spread from timing->samples_us[0 … count-1]. */
void wfi_timing_summarise(wf_timing *timing);

/* Goes on to the next part of an execution; false: that was the last one, and the first is next. */
typedef bool (*wfi_next_fn)(void *user);

/* Measures `record` (a call records one execution; compute barriers separate executions) until
 * params are satisfied, in batches that are long enough for the clock. With `next` (NULL: none) an
 * execution is long and goes in several submissions. */
wf_result wfi_measure(wf_device *device, wfi_record_fn record, wfi_next_fn next, void *user,
                      const wf_measure_params *params, wf_timing *timing);

#endif
