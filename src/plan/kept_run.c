/* Executions that are recorded once and submitted by every wf_plan_run with the same bindings. */
#include <string.h>

#include "core/command.h"
#include "plan/object.h"

/* Of the bound on a dispatch: executions that take more are recorded each time, since how they are
 * cut depends on what is known of their time by then. */
#define KEPT_FRACTION 0.25

static bool has_parity(const wf_plan *plan)
{
    for (uint32_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].parity_at)
            return true;
    return false;
}

/* Whether an execution is one submission that is recorded the same way each time. */
static bool is_steady(const wf_plan *plan)
{
    const double bound = plan->device->dispatch_seconds;
    const bool known = plan->seconds > 0 || !wfi_plan_may_be_long(plan);
    return known && !plan->wants_upload && !plan->sizes && plan->step_count > 0 &&
           wfi_plan_steps_at_once(plan, 0) == plan->step_count &&
           !(bound > 0 && wfi_plan_expected_seconds(plan) > KEPT_FRACTION * bound);
}

/* A handle of the caller's may be another buffer's by now: only buffers of wavefit's are known. */
static bool are_ours(const wf_plan *plan, const wfi_bound *all)
{
    for (uint32_t i = 0; i <= plan->binding_count; i++)
        if ((all[i].buffer && !all[i].number) || all[i].view)
            return false;
    return true;
}

static bool has_sizes(const wf_bindings *bindings)
{
    for (uint32_t i = 0; i < WF_MAX_EXTENTS; i++)
        if (bindings->extent[i])
            return true;
    return false;
}

static bool same_bound(const wf_plan *plan, const wfi_bound *a, const wfi_bound *b)
{
    for (uint32_t i = 0; i <= plan->binding_count; i++)
        if (a[i].number != b[i].number || a[i].offset != b[i].offset || a[i].bytes != b[i].bytes)
            return false;
    return true;
}

/* The run with these bindings, or the one to be recorded anew: the least recently used. */
static wfi_kept_run *find(wf_plan *plan, const wfi_bound *all, uint32_t parity)
{
    wfi_kept_run *oldest = &plan->kept_runs[0];
    for (int i = 0; i < WFI_KEPT_RUNS; i++) {
        wfi_kept_run *run = &plan->kept_runs[i];
        if (run->command_buffer && run->parity == parity && same_bound(plan, run->bound, all))
            return run;
        if (run->used < oldest->used)
            oldest = run;
    }
    wfi_plan_drop_run(plan, oldest);
    return oldest;
}

typedef struct recording {
    wf_plan *plan;
    const wfi_kept_run *run;
} recording;

static wf_result record(void *user, VkCommandBuffer command_buffer)
{
    const recording *r = user;
    return wfi_plan_record_kept(r->plan, command_buffer, r->run->arena, r->run->bound);
}

static wf_result make(wf_plan *plan, wfi_kept_run *run, const wfi_bound *all, uint32_t parity)
{
    wf_result result = WF_SUCCESS;
    if (plan->sets)
        result =
            run->arena ? wf_arena_reset(run->arena) : wf_arena_create(plan->device, &run->arena);
    if (result != WF_SUCCESS)
        return result;
    memcpy(run->bound, all, sizeof run->bound);
    run->parity = parity;
    bool to_host = false;
    for (uint32_t i = 0; i <= plan->binding_count; i++)
        to_host |= all[i].mapped;
    return wfi_commands_record(plan->device, record, &(recording){plan, run}, to_host,
                               &run->command_buffer);
}

wf_result wfi_plan_run_kept(wf_plan *plan, const wf_bindings *bindings, bool *done)
{
    wfi_bound all[WF_MAX_BINDINGS + 1] = {{0}};
    *done = false;
    if (!is_steady(plan))
        return WF_SUCCESS;
    wf_bindings read;
    const wfi_log *log = &plan->device->log;
    wf_result result = wfi_plan_begin_recording(plan, log, bindings, &read);
    if (result == WF_SUCCESS && has_sizes(&read))
        return WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = wfi_plan_resolve(plan, log, &read, all);
    if (result == WF_SUCCESS && !are_ours(plan, all))
        return WF_SUCCESS;
    *done = true;
    if (result != WF_SUCCESS)
        return result;
    const uint32_t parity = has_parity(plan) ? plan->recordings & 1 : 0;
    wfi_kept_run *run = find(plan, all, parity);
    if (!run->command_buffer)
        result = make(plan, run, all, parity);
    if (result == WF_SUCCESS)
        result = wfi_commands_run(plan->device, run->command_buffer);
    run->used = ++plan->runs;
    plan->recordings++;
    if (result != WF_SUCCESS)
        wfi_plan_drop_runs(plan);
    return result;
}
