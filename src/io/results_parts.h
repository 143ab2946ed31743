/* Parts of a results file that files of other schemas have too. */
#ifndef WFI_IO_RESULTS_PARTS_H
#define WFI_IO_RESULTS_PARTS_H

#include <yyjson.h>

#include "io/results_read.h"

/* Makes `root` the document's, with the schema, the version and the date. */
void wfi_results_heading(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *schema);
/* The document of a results file of a schema that this wavefit knows; NULL and the error. */
yyjson_doc *wfi_results_valid_document(const char *path, uint32_t *cases, wfi_io_error *error);
wfi_read_time wfi_read_time_of(yyjson_val *item);
/* The variant and its constants. */
void wfi_results_point(yyjson_mut_doc *doc, yyjson_mut_val *object, const wf_plan_info *plan);

#endif
