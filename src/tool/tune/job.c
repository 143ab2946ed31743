#include "tool/tune/job.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform.h"
#include "core/heap.h"
#include "core/platform_file.h"
#include "core/text.h"
#include "tool/cli/console.h"

/* The starter ends by force what does not end by itself in time; without one it is done here. */
#define LEFT_SECONDS (1.5 * WFI_GRACE_SECONDS)

/* ---------------------------------------------------------------------------------- the texts */

/* Pointers do not go from process to process: what they lead to stands behind the job, one text
 * behind the other, each with a byte before it that says whether there is one. */
static void put(wfi_text *texts, const char *text)
{
    wfi_text_add_char(texts, text ? '+' : '-');
    if (text)
        wfi_text_add(texts, text);
    wfi_text_add_char(texts, '\0');
}

static const char *take(const char **at)
{
    const char *text = **at == '+' ? *at + 1 : NULL;
    *at += strlen(*at) + 1;
    return text;
}

static void put_all(wfi_text *texts, const wfi_tune_job *job)
{
    put(texts, job->common.device);
    put(texts, job->common.variant);
    for (uint32_t i = 0; i < job->work.count; i++)
        put(texts, job->problems[i].path);
}

static void take_all(wfi_tune_job *job)
{
    const char *at = job->texts;
    job->common.device = take(&at);
    job->common.variant = take(&at);
    for (uint32_t i = 0; i < job->work.count; i++)
        job->problems[i].path = take(&at);
    for (uint32_t i = 0; i < job->common.constant_count; i++)
        job->common.constants[i].name = job->common.names[i];
    job->common.json = NULL;
    job->common.positional_count = 0;
    job->work.common = &job->common;
    job->work.device = &job->device;
    job->work.problems = job->problems;
    job->work.outcomes = NULL;
}

/* --------------------------------------------------------------------------------- both sides */

bool wfi_job_send(const wfi_process *process, const wfi_tune_work *work, uint32_t first,
                  double left, bool one_by_one)
{
    wfi_text texts = {0};
    wfi_tune_job *job = calloc(1, sizeof *job);
    if (!job)
        return false;
    job->first = first;
    job->left = left;
    job->one_by_one = one_by_one;
    job->work = *work;
    job->common = *work->common;
    if (work->device)
        job->device = *work->device;
    if (work->count)
        memcpy(job->problems, work->problems, work->count * sizeof *work->problems);
    put_all(&texts, job);
    const uint64_t bytes = texts.used;
    const bool ok = !texts.failed && wfi_pipe_write(process->to, job, sizeof *job) &&
                    wfi_pipe_write(process->to, &bytes, sizeof bytes) &&
                    wfi_pipe_write(process->to, texts.data, texts.used);
    wfi_free(texts.data);
    free(job);
    return ok;
}

bool wfi_job_hear(const wfi_starter *starter, wfi_tune_job *job)
{
    uint64_t bytes = 0;
    if (!wfi_pipe_read_all(starter->from, job, sizeof *job) ||
        !wfi_pipe_read_all(starter->from, &bytes, sizeof bytes))
        return false;
    job->texts = malloc((size_t)bytes);
    if (!job->texts || !wfi_pipe_read_all(starter->from, job->texts, (size_t)bytes))
        return false;
    take_all(job);
    return true;
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

void wfi_job_watch_starter(const wfi_starter *starter, const wfi_tune_job *job)
{
    static watch of_starter;
    of_starter = (watch){starter->from, job->device.journal};
    wfi_thread_start(NULL, watch_starter, &of_starter);
}
