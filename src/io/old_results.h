/* Results and comparisons of schema 1, which differ from those of schema 2 in names alone
 * (core/old_names.h). */
#ifndef WFI_IO_OLD_RESULTS_H
#define WFI_IO_OLD_RESULTS_H

#include <yyjson.h>

#include "io/io_error.h"

/* As wfi_json_read; a document of schema 1 comes as one of schema 2, with the present names. */
yyjson_doc *wfi_results_document(const char *path, wfi_io_error *error);

#endif
