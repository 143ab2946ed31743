/* Matrices made by name, "KIND:SIZE": what --generate offers. */
#ifndef WFI_TOOL_CASES_GENERATE_H
#define WFI_TOOL_CASES_GENERATE_H

#include <stdio.h>

#include "io/csr.h"

/* Makes the matrix; false on wrong usage or without memory, with one line in message. */
bool wfi_generate(const char *text, uint64_t seed, wfi_csr *out, char message[256]);
/* Whether the text names a kind and a size; else false, with one line in message. */
bool wfi_generate_check(const char *text, char message[256]);
/* Whether the text names a kind, whatever its size; whether that stands in for a known matrix. */
bool wfi_generate_is_kind(const char *text);
bool wfi_generate_is_stand_in(const char *text);
/* The kinds, one a line. */
void wfi_generate_list(FILE *to);

#endif
