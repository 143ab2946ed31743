/* Durations and amounts as people read them. */
#ifndef WFI_MODEL_DURATION_H
#define WFI_MODEL_DURATION_H

#include <stddef.h>

/* Four significant digits and the unit that suits: "0.25 us", "45.6 us", "28.13 ms", "90 s". */
void wfi_format_time(double microseconds, char *text, size_t bytes);
void wfi_format_bytes(double value, char *text, size_t bytes); /* "512 B", "2.5 MiB" */

#endif
