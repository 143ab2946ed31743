/* One problem with its data on the device, on which points are tried: planned, run once on poisoned
 * outputs, verified, timed. */
#ifndef WFI_TUNE_TRIAL_H
#define WFI_TUNE_TRIAL_H

#include "api/families.h"
#include "core/device.h"
#include "plan/plan.h"

typedef struct wfi_trial {
    wf_device *device;
    wf_tune_params params;
    const wfi_searched *searched; /* its family */
    void *own;                    /* the family's public structure, filled from params */
    wfi_problem problem;
    /* Of families whose work is one plan. */
    uint32_t binding_count;
    wfi_binding_spec specs[WF_MAX_BINDINGS];
    void *host[WF_MAX_BINDINGS];
    wf_buffer *buffers[WF_MAX_BINDINGS];
    float *p; /* Himeno: the result on the host */
} wfi_trial;

/* A point ready to run. */
typedef struct wfi_runner {
    const wfi_trial *trial;
    wf_plan *plan;
    wf_buffer *workspace;
    wf_himeno *himeno;
    uint32_t unit; /* executions that one run makes at least */
    bool begun;    /* it ran since its data were as they begin */
    wf_plan_info info;
} wfi_runner;

/* Makes random inputs and uploads them. */
wf_result wfi_trial_open(wf_device *device, const wf_tune_params *params, wfi_trial *out);
void wfi_trial_close(wfi_trial *trial);

/* The plan that `tuning` asks for. */
wf_result wfi_runner_open(const wfi_trial *trial, const wf_tuning *tuning, wfi_runner *out);
void wfi_runner_close(wfi_runner *runner);

/* Runs once on poisoned outputs and compares with the f64 reference; *right is the verdict. */
wf_result wfi_runner_verify(wfi_runner *runner, bool *right);

/* Runs `count` units; *seconds is the time of one execution. */
wf_result wfi_runner_time(wfi_runner *runner, uint32_t count, double *seconds);

/* The point as a wf_tuning that forces it; constants has room for WF_MAX_PARAMETERS. */
wf_tuning wfi_point_tuning(const wfi_point *point, wf_constant *constants);

#endif
