#include "tool/cli/thread_jobs.h"

#include <stdlib.h>

#include "core/platform.h"

typedef struct job {
    void (*run)(void *job);
    void *job;
} job;

static void *run_job(void *memory)
{
    const job *j = memory;
    j->run(j->job);
    free(memory);
    return NULL;
}

/* Where no thread can be had, in the call. */
static void submit_job(void *user, void (*run)(void *job), void *what)
{
    job *j = malloc(sizeof *j);
    (void)user;
    if (j)
        *j = (job){run, what};
    if (j && wfi_thread_start(NULL, run_job, j))
        return;
    free(j);
    run(what);
}

const wf_jobs wfi_thread_jobs = {.size = sizeof wfi_thread_jobs, .submit = submit_job};
