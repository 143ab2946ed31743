#include "core/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform_file.h"

#define FIRST_ROOM 1024

/* Makes room for `bytes` more and the 0 behind them. */
static bool make_room(wfi_text *text, size_t bytes)
{
    const size_t needed = text->used + bytes + 1;
    if (text->failed || needed <= text->room)
        return !text->failed;
    size_t room = text->room ? text->room : FIRST_ROOM;
    while (room < needed)
        room *= 2;
    char *larger = wfi_realloc(text->data, room);
    text->failed = !larger;
    if (!larger)
        return false;
    text->data = larger;
    text->room = room;
    return true;
}

static void add(wfi_text *text, const char *data, size_t bytes)
{
    if (!make_room(text, bytes))
        return;
    memcpy(text->data + text->used, data, bytes);
    text->used += bytes;
    text->data[text->used] = '\0';
}

void wfi_text_add(wfi_text *text, const char *string)
{
    add(text, string, strlen(string));
}

void wfi_text_add_char(wfi_text *text, char c)
{
    add(text, &c, 1);
}

void wfi_text_print(wfi_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        text->failed = true;
    else if (make_room(text, (size_t)length)) {
        vsnprintf(text->data + text->used, (size_t)length + 1, format, again);
        text->used += (size_t)length;
    }
    va_end(again);
}

char *wfi_copy_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = wfi_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

char *wfi_path_join(const char *a, const char *b)
{
    const size_t bytes = strlen(a) + strlen(b) + 2;
    char *path = wfi_malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s%c%s", a, WFI_SEPARATOR, b);
    return path;
}

bool wfi_begins_with(const char *text, const char *word)
{
    while (*word && tolower((unsigned char)*text) == tolower((unsigned char)*word)) {
        text++;
        word++;
    }
    return *word == '\0';
}

bool wfi_same_word(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && wfi_begins_with(a, b);
}

void wfi_text_fill_name(char *text, uint64_t bits)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *const end = text + strlen(text) - 6;
    for (int i = 0; i < 6; i++, bits /= sizeof letters - 1)
        end[i] = letters[bits % (sizeof letters - 1)];
}
