/* What a process is started for: the work, as its starter writes it into the pipe. */
#ifndef WFI_TOOL_TUNE_JOB_H
#define WFI_TOOL_TUNE_JOB_H

#include "tool/cli/process.h"
#include "tool/tune/worker.h"

typedef struct wfi_tune_job {
    uint32_t first; /* problem to begin with */
    double left;    /* seconds that the problems share */
    bool one_by_one;
    wfi_tune_work work; /* its pointers lead into what follows */
    wfi_common common;
    wfi_tune_device device;
    wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS];
    char *texts;
} wfi_tune_job;

/* From work alone: common, device (NULL: it is not known yet) and problems go with it. False: the
 * process is gone, or there is no memory. */
bool wfi_job_send(const wfi_process *process, const wfi_tune_work *work, uint32_t first,
                  double left, bool one_by_one);
/* False: the starter is gone. What the job has lasts as long as the process. */
bool wfi_job_hear(const wfi_starter *starter, wfi_tune_job *job);

#endif
