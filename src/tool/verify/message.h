/* What a search and the process that runs its cases tell each other through pipes. */
#ifndef WFI_TOOL_VERIFY_MESSAGE_H
#define WFI_TOOL_VERIFY_MESSAGE_H

#include "tool/cli/process.h"
#include "tool/verify/verify.h"

#define WFI_ROLE_VERIFY "--run-cases"

/* What the process is started for. */
typedef struct wfi_verify_job {
    wfi_verify_request request;
    uint64_t first, most; /* cases; most 0: as many as there is time for */
    double until;         /* on the host's clock */
    wfi_common common;    /* its device is the text behind the job; other pointers are none */
} wfi_verify_job;

/* False: the process is gone, or there is no memory. */
bool wfi_verify_job_send(const wfi_process *process, const wfi_verify_job *job);
/* False: the starter is gone. What the job has lasts as long as the process. */
bool wfi_verify_job_hear(const wfi_starter *starter, wfi_verify_job *job);

/* What a message tells: what the device is, where the process is within a case, what a case came
 * to, that its device is lost, or its own end with the tool's exit code. A process that ends
 * without one of the last two was ended by its driver. */
typedef enum wfi_verify_tells {
    WFI_VERIFY_OPENED,
    WFI_VERIFY_AT,
    WFI_VERIFY_CASE,
    WFI_VERIFY_LOSS,
    WFI_VERIFY_END
} wfi_verify_tells;

typedef struct wfi_verify_message {
    wfi_verify_tells tells;
    int code;            /* END */
    wf_caps caps;        /* OPENED */
    wfi_verdict verdict; /* AT, CASE; its names are the texts behind the message */
} wfi_verify_message;

/* Where a verdict has names: all point into memory of their process. Returns how many there are. */
#define WFI_VERDICT_NAMES (4 + WF_MAX_PARAMETERS + WFI_VERDICT_KERNELS)
uint32_t wfi_verdict_names(wfi_verdict *verdict, const char **names[WFI_VERDICT_NAMES]);

/* False: the starter is gone. */
bool wfi_verify_tell(const wfi_starter *starter, wfi_verify_message *message);

/* What that process does. Returns its exit code. */
int wfi_verify_child_main(const wfi_starter *starter);

#endif
