#include "io/io_error.h"

#include <stdarg.h>
#include <stdio.h>

void wfi_io_set_error(wfi_io_error *error, wfi_io_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    for (unsigned char *at = (unsigned char *)error->text; *at; at++)
        if (*at < 0x20 || *at == 0x7f)
            *at = '?';
    error->kind = kind;
}
