/* Windows' texts of 16-bit units, from and to UTF-8. For the sources of that system alone. */
#ifndef WFI_CORE_WIDE_H
#define WFI_CORE_WIDE_H

#include <stddef.h>

/* Malloc'ed; NULL with errno ENOMEM, or EILSEQ where the text is not UTF-8. */
wchar_t *wfi_wide(const char *text);
/* Malloc'ed; NULL without memory. */
char *wfi_narrow(const wchar_t *text);

#endif
