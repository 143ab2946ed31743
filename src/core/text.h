/* A text that grows as it is written, and what else is made and compared of texts. */
#ifndef WFI_CORE_TEXT_H
#define WFI_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/log.h"

/* {0} at first; whoever has it frees `data` (wfi_free). */
typedef struct wfi_text {
    char *data; /* with a 0 behind it; NULL: nothing was written yet */
    size_t used, room;
    bool failed; /* memory ran out: what came after is missing */
} wfi_text;

void wfi_text_add(wfi_text *text, const char *string);
void wfi_text_add_char(wfi_text *text, char c);
void wfi_text_print(wfi_text *text, const char *format, ...) WFI_PRINTF(2, 3);

/* NULL without memory. */
char *wfi_copy_text(const char *text);
/* "a/b", as the system writes it; NULL without memory. */
char *wfi_path_join(const char *a, const char *b);

/* Whether the text begins with the word, whether the two are the same, whatever the case of
 * letters. */
bool wfi_begins_with(const char *text, const char *word);
bool wfi_same_word(const char *a, const char *b);

/* Replaces the six characters that the text ends in by letters and digits of `bits`. */
void wfi_text_fill_name(char *text, uint64_t bits);

#endif
