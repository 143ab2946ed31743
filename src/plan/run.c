/* What a plan reports of itself, and running it on the device's own queue. */
#include <string.h>

#include "core/command.h"
#include "core/params.h"
#include "core/timing.h"
#include "plan/object.h"

uint64_t wf_plan_workspace(const wf_plan *plan)
{
    return plan->workspace;
}

wf_result wf_plan_describe(const wf_plan *plan, wf_plan_info *info)
{
    if (!plan || !info)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_device_usable(plan->device, "wf_plan_describe") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    wf_plan_info local = wfi_describe_choice(&plan->choice);
    local.dispatches = plan->step_count;
    local.writes_own_memory = plan->writes_own;
    if (plan->traffic.requested > 0) {
        local.requested_bytes = plan->traffic.requested;
        local.stored_bytes = plan->traffic.stored;
    }
    wfi_plan_main_kernel(plan, &local.kernel);
    return wfi_params_write(info, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

typedef struct plan_run {
    wf_plan *plan;
    const wf_bindings *bindings;
    uint32_t count;      /* for record_times */
    uint32_t first, end; /* steps of this submission */
} plan_run;

static wf_result record_run(void *user, VkCommandBuffer command_buffer)
{
    const plan_run *run = user;
    wf_result result = wf_plan_record_upload(run->plan, command_buffer);
    return result == WF_SUCCESS ? wfi_plan_record_steps(run->plan, command_buffer, NULL,
                                                        run->bindings, 0, run->first, run->end)
                                : result;
}

/* The next steps that one submission can make; false: there are none, and the first ones are
 * next. */
static bool next_piece(void *user)
{
    plan_run *run = user;
    const bool more = run->end < run->plan->step_count;
    run->first = more ? run->end : 0;
    run->end = wfi_plan_steps_at_once(run->plan, run->first);
    return more;
}

/* A submission that failed may not have uploaded its data: the next one uploads it again. */
static wf_result keep_upload(wf_plan *plan, bool wanted, wf_result result)
{
    if (result != WF_SUCCESS && wanted)
        plan->wants_upload = true;
    return result;
}

static wf_result record_upload(void *user, VkCommandBuffer command_buffer)
{
    return wf_plan_record_upload(user, command_buffer);
}

wf_result wfi_plan_upload(wf_plan *plan)
{
    if (!plan->wants_upload)
        return WF_SUCCESS;
    const wf_result result = keep_upload(plan, true, wfi_run(plan->device, record_upload, plan));
    if (result == WF_SUCCESS)
        wf_plan_trim(plan);
    return result;
}

/* One execution in as many submissions as it takes. Where none has run yet, the first submission
 * tells how long the others' steps take. */
static wf_result run_pieces(plan_run *run, double *seconds)
{
    wf_plan *plan = run->plan;
    wf_result result = WF_SUCCESS;
    const bool known = plan->seconds > 0 || !wfi_plan_may_be_long(plan);
    bool more = true;
    run->end = known ? wfi_plan_steps_at_once(plan, 0) : 1;
    for (*seconds = 0; more && result == WF_SUCCESS; more = next_piece(run)) {
        const double start = wfi_host_seconds();
        if (run->first > 0)
            result = wfi_device_goes_on(plan->device);
        if (result == WF_SUCCESS)
            result = wfi_run(plan->device, record_run, run);
        *seconds += wfi_host_seconds() - start;
        if (result == WF_SUCCESS && !known && run->end < plan->step_count)
            plan->seconds = *seconds / wfi_plan_fraction(plan, 0, run->end);
    }
    if (result != WF_SUCCESS && !known)
        plan->seconds = 0;
    return result;
}

wf_result wf_plan_run(wf_plan *plan, const wf_bindings *bindings)
{
    plan_run run = {.plan = plan, .bindings = bindings, .count = 1};
    bool done;
    if (!plan)
        return WF_ERROR_INVALID_ARGUMENT;
    const double start = wfi_host_seconds();
    wf_result result = wfi_plan_run_kept(plan, bindings, &done);
    double seconds = wfi_host_seconds() - start;
    if (!done) {
        wfi_plan_forget_sets(plan);
        const bool upload = plan->wants_upload;
        result = keep_upload(plan, upload, run_pieces(&run, &seconds));
    }
    if (result == WF_SUCCESS) {
        plan->seconds = seconds;
        wfi_plan_learn(plan, seconds);
    }
    return result;
}

static wf_result record_times(void *user, VkCommandBuffer command_buffer)
{
    const plan_run *run = user;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < run->count && result == WF_SUCCESS; i++) {
        if (i > 0)
            wfi_barrier_compute(run->plan->device, command_buffer);
        result = record_run(user, command_buffer);
    }
    return result;
}

wf_result wf_plan_run_times(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                            double *seconds, bool *gpu_clock)
{
    plan_run run = {plan, bindings, count, 0, UINT32_MAX};
    if (!plan || !count || !seconds || !gpu_clock)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_run_times: bad parameters");
    wfi_plan_forget_sets(plan);
    const bool upload = plan->wants_upload;
    return keep_upload(plan, upload,
                       wfi_run_timed(plan->device, NULL, record_times, &run, seconds, gpu_clock));
}

wf_result wf_plan_measure(wf_plan *plan, const wf_bindings *bindings,
                          const wf_measure_params *params, wf_timing *timing)
{
    plan_run run = {.plan = plan, .bindings = bindings, .count = 1};
    wf_measure_params read;
    if (!plan || !timing)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_measure: bad parameters");
    wf_result result =
        wfi_params_read(&plan->device->log, "wf_plan_measure", params, &read, sizeof read);
    /* The first execution may have taken long because it was the first. */
    const bool long_so_far =
        plan->seconds > 0 ? plan->seconds > plan->submit_seconds : wfi_plan_may_be_long(plan);
    if (result == WF_SUCCESS && plan->step_count > 1 && long_so_far)
        result = wf_plan_run(plan, bindings);
    if (result != WF_SUCCESS)
        return result;
    wfi_plan_forget_sets(plan);
    run.end = wfi_plan_steps_at_once(plan, 0);
    const bool upload = plan->wants_upload;
    result = wfi_measure(plan->device, record_run, run.end < plan->step_count ? next_piece : NULL,
                         &run, &read, timing);
    result = keep_upload(plan, upload, result);
    if (result == WF_SUCCESS)
        wfi_plan_learn(plan, timing->median_us * 1e-6);
    return result;
}
