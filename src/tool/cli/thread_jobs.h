/* Jobs for wavefit's pipelines: a thread each. */
#ifndef WFI_TOOL_CLI_THREAD_JOBS_H
#define WFI_TOOL_CLI_THREAD_JOBS_H

#include "wavefit/wavefit.h"

/* For those who start few at a time and wait for them: nobody joins the threads. */
extern const wf_jobs wfi_thread_jobs;

#endif
