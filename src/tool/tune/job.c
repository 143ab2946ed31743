#include "tool/tune/job.h"

#include <stdlib.h>
#include <string.h>

#include "core/heap.h"

/* What pointers lead to stands behind the job. */
static void put_all(wfi_text *texts, const wfi_tune_job *job)
{
    wfi_texts_put(texts, job->common.device);
    wfi_texts_put(texts, job->common.variant);
    for (uint32_t i = 0; i < job->work.count; i++)
        wfi_texts_put(texts, job->problems[i].path);
}

static void take_all(wfi_tune_job *job)
{
    const char *at = job->texts;
    job->common.device = wfi_texts_take(&at);
    job->common.variant = wfi_texts_take(&at);
    for (uint32_t i = 0; i < job->work.count; i++)
        job->problems[i].path = wfi_texts_take(&at);
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
    const bool ok =
        wfi_pipe_write(process->to, job, sizeof *job) && wfi_pipe_write_texts(process->to, &texts);
    wfi_free(texts.data);
    free(job);
    return ok;
}

bool wfi_job_hear(const wfi_starter *starter, wfi_tune_job *job)
{
    if (!wfi_pipe_read_all(starter->from, job, sizeof *job))
        return false;
    job->texts = wfi_pipe_read_texts(starter->from);
    if (!job->texts)
        return false;
    take_all(job);
    return true;
}
