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
/* Gives up the job: what is not compiled yet never will be. Accepts NULL. */
void wfi_compile_drop(wfi_compile **compile);

#endif
