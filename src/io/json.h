/* What the writers of JSON files share. */
#ifndef WFI_IO_JSON_H
#define WFI_IO_JSON_H

#include <yyjson.h>

#include "io/io_error.h"

/* Adds a copy of the text; nothing where it is NULL or empty. Drivers' names need not be valid
 * UTF-8, which JSON demands: what is not ASCII becomes '?'. */
void wfi_json_put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                       const char *text);

/* Writes the document and a line's end to the file, which appears whole or not at all; "-" is
 * standard output. */
bool wfi_json_write(const char *path, yyjson_mut_doc *doc, wfi_io_error *error);

#endif
