#include "tool/cli/wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int span_columns(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

int wfi_columns(const char *text)
{
    return span_columns(text, strlen(text));
}

void wfi_wrap(int used, int indent, const char *text)
{
    int at = used;
    while (*text) {
        const size_t spaces = strspn(text, " "), length = strcspn(text + spaces, " ");
        const int width = span_columns(text + spaces, length);
        if (at > indent && at + (int)spaces + width > WFI_LINE_COLUMNS) {
            printf("\n%*s", indent, "");
            at = indent;
        } else {
            printf("%*s", (int)spaces, "");
            at += (int)spaces;
        }
        printf("%.*s", (int)length, text + spaces);
        at += width;
        text += spaces + length;
    }
    putchar('\n');
}

void wfi_line(int indent, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wfi_wrap(0, indent, text);
}
