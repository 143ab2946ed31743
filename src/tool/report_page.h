/* The self-contained page made of results files. */
#ifndef WFI_TOOL_REPORT_PAGE_H
#define WFI_TOOL_REPORT_PAGE_H

#include "io/results_read.h"

/* Writes the page whole or not at all. */
bool wfi_report_write(const wfi_report *report, const char *path, wfi_io_error *error);

/* The page of one results file, beside it: "x.json" gives "x.html". Does nothing for standard output.
 * `path` gets the page's, "" if none. */
bool wfi_report_write_beside(const char *json, char *path, size_t bytes, wfi_io_error *error);

#endif
