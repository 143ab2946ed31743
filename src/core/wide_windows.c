#define WIN32_LEAN_AND_MEAN
#include "core/wide.h"

#include <windows.h>

#include <errno.h>
#include <stdlib.h>

wchar_t *wfi_wide(const char *text)
{
    const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = units > 0 ? malloc((size_t)units * sizeof *wide) : NULL;
    if (wide)
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, units);
    else
        errno = units > 0 ? ENOMEM : EILSEQ;
    return wide;
}

char *wfi_narrow(const wchar_t *text)
{
    const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (narrow)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, bytes, NULL, NULL);
    return narrow;
}
