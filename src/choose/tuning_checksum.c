/* The checksum of tuning data as text: on a line behind the first, over all the others. */
#include "choose/tuning_checksum.h"

#include <stdio.h>
#include <string.h>

#include "core/heap.h"
#include "core/pipeline_cache.h"

#define BEFORE "\n  \"checksum\": \""
#define AFTER "\","
#define DIGITS 16
#define LINE (sizeof BEFORE - 1 + DIGITS + sizeof AFTER - 1)

/* FNV-1a of the text before the line and of the text after it, so that any changed byte shows. */
static uint64_t checksum(const char *head, size_t head_bytes, const char *tail, size_t tail_bytes)
{
    return wfi_hash(head, head_bytes) * 31 + wfi_hash(tail, tail_bytes);
}

static void print_line(uint64_t sum, char line[LINE + 1])
{
    snprintf(line, LINE + 1, BEFORE "%016llx" AFTER, (unsigned long long)sum);
}

char *wfi_tuning_add_checksum(char *text, size_t *bytes)
{
    char line[LINE + 1];
    const size_t plain = *bytes;
    char *whole = wfi_realloc(text, plain + LINE + 1);
    if (!whole) {
        wfi_free(text);
        return NULL;
    }
    const char *rest = memchr(whole, '\n', plain);
    const size_t head = rest ? (size_t)(rest - whole) : plain;
    print_line(checksum(whole, head, whole + head, plain - head), line);
    memmove(whole + head + LINE, whole + head, plain - head + 1);
    memcpy(whole + head, line, LINE);
    *bytes = plain + LINE;
    return whole;
}

bool wfi_tuning_checksum_holds(const char *text, size_t bytes)
{
    char line[LINE + 1];
    const char *at = memchr(text, '\n', bytes);
    const size_t head = at ? (size_t)(at - text) : bytes;
    /* Rows that ship, and files of before, have none. */
    if (bytes - head < LINE || memcmp(at, BEFORE, sizeof BEFORE - 1) != 0)
        return true;
    print_line(checksum(text, head, at + LINE, bytes - head - LINE), line);
    return memcmp(at, line, LINE) == 0;
}
