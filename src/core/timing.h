/* Timestamps and the statistics of samples. */
#ifndef WFI_CORE_TIMING_H
#define WFI_CORE_TIMING_H

#include "core/clock.h"
#include "core/command.h"

/* Fills median, quartiles, minimum and spread from timing->samples_us[0 … count-1]. */
void wfi_timing_summarise(wf_timing *timing);

/* Goes on to the next part of an execution; false: that was the last one, and the first is next. */
typedef bool (*wfi_next_fn)(void *user);

/* Repeats `record` (one execution a call; executions are separated by compute barriers) until
 * params are satisfied. Sizes the batch so that a sample is long enough for the clock.
 * With `next` (NULL: none) an execution is long, and goes in several submissions. */
wf_result wfi_measure(wf_device *device, wfi_record_fn record, wfi_next_fn next, void *user,
                      const wf_measure_params *params, wf_timing *timing);

#endif
