#include "tool/cli/thread_jobs.h"

#include <pthread.h>
#include <stdlib.h>

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
    pthread_t thread;
    job *j = malloc(sizeof *j);
    (void)user;
    if (j)
        *j = (job){run, what};
    if (j && pthread_create(&thread, NULL, run_job, j) == 0) {
        pthread_detach(thread);
        return;
    }
    free(j);
    run(what);
}

const wf_jobs wfi_thread_jobs = {.size = sizeof wfi_thread_jobs, .submit = submit_job};
