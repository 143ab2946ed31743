/* Reading results files: validated, compared with a base, and merged for the report. */
#ifndef WFI_IO_RESULTS_READ_H
#define WFI_IO_RESULTS_READ_H

#include <stddef.h>

#include "io/ratios.h"
#include "io/results.h"

typedef struct wfi_report wfi_report;

typedef struct wfi_comparison {
    uint32_t compared, slower, faster, broken; /* broken: ok in the base, and no more */
    uint32_t missing;                          /* in the base alone */
    uint32_t other_ranks;                      /* compared, but run by another number of ranks */
    bool same_device;
    wfi_ratios ratios; /* the base's median over that of now, of cases that are no study's */
} wfi_comparison;

/* One case that is not as in the base. */
typedef void (*wfi_difference_fn)(void *user, const char *name, const char *verdict, double base_us,
                                  double us);

/* The time of a case, as a file has it; NaN: not there. */
typedef struct wfi_read_time {
    bool ok; /* the case ran and was verified */
    double median, q1, q3, spread;
} wfi_read_time;

/* "same", "slower", "faster" or "broken", as wfi_report_compare says it, and the noise of both;
 * NULL: nothing is to be said. */
const char *wfi_compare_times(const wfi_read_time *base, const wfi_read_time *now, double *noise);

/* NULL without memory. */
wfi_report *wfi_report_create(void);
void wfi_report_destroy(wfi_report **report);

/* Adds a whole results file of a schema that this wavefit knows, or one of `wavefit tune --compare`
 * or `wavefit compare`. */
bool wfi_report_add(wfi_report *report, const char *path, wfi_io_error *error);

/* Compares every case added with the base's of the same family, name, type and place in a study,
 * and notes the verdict in it. Slower or faster: the medians differ by more than 3 % and by more
 * than both quartile spreads together, and the quartiles do not overlap. Of whole runs, which have
 * one sample, the times must differ by more than 20 %; they decide where a median is missing. */
bool wfi_report_compare(wfi_report *report, const char *base, wfi_difference_fn tell, void *user,
                        wfi_comparison *out, wfi_io_error *error);

/* The merged data as JSON that can stand inside a <script> element, malloc'ed; NULL without
 * memory. */
char *wfi_report_json(const wfi_report *report, size_t *length);

#endif
