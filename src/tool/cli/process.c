#include "tool/cli/process.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform.h"
#include "core/platform_file.h"
#include "tool/cli/console.h"
#include "tool/cli/options.h"

/* The starter ends by force what does not end by itself in time; without one it is done here. */
#define LEFT_SECONDS (1.5 * WFI_GRACE_SECONDS)

bool wfi_pipe_read_all(intptr_t from, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        const int64_t got = wfi_pipe_read(from, at, bytes, -1);
        if (got < 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* ---------------------------------------------------------------------------------- the texts */

/* Each has a byte before it that says whether there is one. */
void wfi_texts_put(wfi_text *texts, const char *text)
{
    wfi_text_add_char(texts, text ? '+' : '-');
    if (text)
        wfi_text_add(texts, text);
    wfi_text_add_char(texts, '\0');
}

const char *wfi_texts_take(const char **at)
{
    const char *text = **at == '+' ? *at + 1 : NULL;
    *at += strlen(*at) + 1;
    return text;
}

bool wfi_pipe_write_texts(intptr_t to, const wfi_text *texts)
{
    const uint64_t bytes = texts->used;
    return !texts->failed && wfi_pipe_write(to, &bytes, sizeof bytes) &&
           wfi_pipe_write(to, texts->data, texts->used);
}

char *wfi_pipe_read_texts(intptr_t from)
{
    uint64_t bytes = 0;
    char *texts = NULL;
    if (wfi_pipe_read_all(from, &bytes, sizeof bytes))
        texts = malloc((size_t)bytes);
    if (texts && wfi_pipe_read_all(from, texts, (size_t)bytes))
        return texts;
    free(texts);
    return NULL;
}

/* ---------------------------------------------------------------------------- the starter's end */

typedef struct watch {
    intptr_t from;
    const char *journal;
} watch;

static void *watch_starter(void *user)
{
    const watch *w = user;
    char byte;
    while (wfi_pipe_read(w->from, &byte, 1, -1) >= 0)
        ;
    wfi_interrupt();
    wfi_sleep(LEFT_SECONDS);
    if (*w->journal)
        wfi_file_empty(w->journal);
    wfi_process_leave(WFI_EXIT_FAILED);
    return NULL;
}

void wfi_process_watch_starter(const wfi_starter *starter, const char *journal)
{
    static watch of_starter;
    of_starter = (watch){starter->from, journal};
    wfi_thread_start(NULL, watch_starter, &of_starter);
}
