/* What the readers and writers of JSON files share. */
#ifndef WFI_IO_JSON_H
#define WFI_IO_JSON_H

#include <yyjson.h>

#include "io/io_error.h"

#define WFI_JSON_MOST_BYTES ((size_t)64 << 20) /* of a file; in memory it takes 20 times as much */

/* The file's document; NULL and the error where the file is no JSON or over WFI_JSON_MOST_BYTES (a
 * pipe need not end). */
yyjson_doc *wfi_json_read(const char *path, wfi_io_error *error);

/* A document to be written, NULL without memory. The document notes when there was no memory for a
 * member, so that callers need not look at each result: wfi_json_write then fails. */
yyjson_mut_doc *wfi_json_create(void);
void wfi_json_free(yyjson_mut_doc *doc);
/* Whether there was no memory for a part of the document. */
bool wfi_json_incomplete(const yyjson_mut_doc *doc);

/* Adds a copy of the text; nothing where it is NULL or empty. Drivers' names need not be valid
 * UTF-8, which JSON demands: what is not ASCII becomes '?'. */
void wfi_json_put_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                       const char *text);

/* Adds the number, a whole one without a fraction; nothing where it is not finite. */
void wfi_json_put_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                         double value);

/* Writes the document and a line's end to the file, which appears whole or not at all; "-" is
 * standard output. */
bool wfi_json_write(const char *path, yyjson_mut_doc *doc, wfi_io_error *error);

#endif
