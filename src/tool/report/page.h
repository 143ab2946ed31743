/* The self-contained page made of results files. */
#ifndef WFI_TOOL_REPORT_PAGE_H
#define WFI_TOOL_REPORT_PAGE_H

#include "io/results_read.h"

/* Writes the page whole or not at all. */
bool wfi_report_write(const wfi_report *report, const char *path, wfi_io_error *error);

/* Writes the page of one results file beside it, "x.json" gives "x.html", and says so; nothing for
 * standard output. Prints one line and returns the exit code on failure. */
int wfi_report_beside(const char *json);

#endif
