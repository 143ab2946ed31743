/* Copies of a plan, which share its pipelines and what executions only read (a matrix), and have
 * memory of their own where executions write; and plans that end behind a semaphore. */
#include <string.h>

#include "core/heap.h"
#include "plan/object.h"

static void *duplicate(const void *from, uint32_t count, size_t item_bytes)
{
    void *to = wfi_calloc(count + (size_t)1, item_bytes);
    if (to && count)
        memcpy(to, from, count * item_bytes);
    return to;
}

static wf_result copy_steps(wf_plan *plan, const wf_plan *from)
{
    plan->pipelines = duplicate(from->pipelines, from->pipeline_count, sizeof *plan->pipelines);
    plan->compiles = wfi_calloc(from->pipeline_count + (size_t)1, sizeof(wfi_compile *));
    plan->steps = duplicate(from->steps, from->step_count, sizeof *plan->steps);
    if (!plan->pipelines || !plan->compiles || !plan->steps)
        return wfi_no_memory(&plan->device->log);
    plan->pipeline_count = from->pipeline_count;
    plan->step_count = from->step_count;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < plan->step_count; i++)
        memset(plan->steps[i].views, 0, sizeof plan->steps[i].views);
    for (uint32_t i = 0; i < plan->step_count && result == WF_SUCCESS; i++)
        result = wfi_plan_view_own(plan, &plan->steps[i]);
    return result;
}

/* What is the same in every copy. */
static void take_over(wf_plan *plan, const wf_plan *from)
{
    plan->device = from->device;
    wfi_plan_set_choice(plan, &from->choice);
    plan->workspace = from->workspace;
    plan->seconds = from->seconds;
    plan->submit_seconds = from->submit_seconds;
    plan->writes_own = from->writes_own;
    plan->bind_sets = from->bind_sets;
    plan->kept = from->kept;
    plan->binding_count = from->binding_count;
    memcpy(plan->bindings, from->bindings, sizeof plan->bindings);
    memcpy(plan->label, from->label, sizeof plan->label);
}

static wf_result ready(wf_plan *plan)
{
    const wfi_log *log = &plan->device->log;
    wf_result result = wfi_device_usable(plan->device, "wf_plan_copy");
    if (result == WF_SUCCESS)
        result = wfi_plan_collect(plan);
    if (result == WF_SUCCESS && plan->wants_upload)
        return wfi_fail(log, WF_NOT_READY,
                        "wf_plan_copy: wf_plan_record_upload must be recorded first");
    return result;
}

static wf_result copy_plan(wf_plan *from, wf_plan **out)
{
    if (!from || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = ready(from);
    if (result != WF_SUCCESS)
        return result;
    wf_plan *plan = wfi_calloc(1, sizeof *plan);
    if (!plan)
        return wfi_no_memory(&from->device->log);
    take_over(plan, from);
    plan->first = from->first ? from->first : from;
    atomic_fetch_add(&plan->first->users, 1);
    wfi_object_enlist(plan->device, &plan->object, wfi_plan_close, plan);
    for (uint32_t i = 0; i < from->own_count && result == WF_SUCCESS; i++)
        result = wfi_plan_copy_own(plan, from, i);
    if (result == WF_SUCCESS)
        result = copy_steps(plan, from);
    if (result == WF_SUCCESS)
        result = wfi_plan_copy_sizes(plan, from);
    if (result == WF_SUCCESS)
        result = wfi_plan_create_sets(plan);
    if (result == WF_SUCCESS)
        result = wfi_plan_name_steps(plan);
    if (result != WF_SUCCESS) {
        wf_plan_destroy(&plan);
        return result;
    }
    *out = plan;
    return WF_SUCCESS;
}

wf_result wf_plan_copy(wf_plan *from, wf_plan **out)
{
    const wfi_heap outer = wfi_heap_enter_device(from ? from->device : NULL);
    return wfi_heap_leave(outer, copy_plan(from, out));
}

WFI_DESTROY_AFTER(plan)
