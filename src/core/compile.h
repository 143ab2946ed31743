/* A pipeline compiled as a job on threads of the application's. */
#ifndef WFI_CORE_COMPILE_H
#define WFI_CORE_COMPILE_H

#include "core/pipeline_pool.h"

typedef struct wfi_compile wfi_compile;

/* Takes a pipeline that is compiled already, or hands its compilation to jobs->submit, which may
 * run it right away. */
wf_result wfi_compile_start(wf_device *device, const wf_jobs *jobs, const wfi_pipeline_desc *desc,
                            wfi_compile **out);
/* WF_NOT_READY until the job has run, then its result; never blocks. */
wf_result wfi_compile_status(const wfi_compile *compile);
/* The pipeline; an outline of it before the status is WF_SUCCESS. Owned by the job. */
const wfi_pipeline *wfi_compile_pipeline(const wfi_compile *compile);
/* What compiling took; 0 before the status is known, and of what was compiled already. */
double wfi_compile_seconds(const wfi_compile *compile);
/* What is not being compiled yet never will be: its job then ends with an error. */
void wfi_compile_cancel(wfi_compile *compile);
/* Gives up the job, as wfi_compile_cancel does, and what it compiled. Accepts NULL. */
void wfi_compile_drop(wfi_compile **compile);

#endif
