/* The checksum of tuning data as text: on a line behind the first, over all the others. */
#ifndef WFI_CHOOSE_TUNING_CHECKSUM_H
#define WFI_CHOOSE_TUNING_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>

/* Puts the line into the text, which is malloc'ed and of *bytes; gives the new text, NULL without
 * memory. The old one is the caller's no more. */
char *wfi_tuning_add_checksum(char *text, size_t *bytes);
/* False: the text has a checksum, and its content another. */
bool wfi_tuning_checksum_holds(const char *text, size_t bytes);

#endif
