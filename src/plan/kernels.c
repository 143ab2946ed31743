/* The kernels of a plan: what each is, and how long its dispatches take. */

#include "core/heap.h"
#include "core/params.h"
#include "core/timing.h"
#include "plan/object.h"

#define TIME_SECONDS 0.3 /* after which no further round of all dispatches begins */
#define MOST_ROUNDS 5

static const wfi_pipeline *pipeline_of(const wf_plan *plan, uint32_t step)
{
    return wfi_plan_pipeline(plan, plan->steps[step].pipeline);
}

static uint64_t groups_of(const wfi_step *step)
{
    return (uint64_t)step->groups[0] * step->groups[1] * step->groups[2];
}

void wfi_plan_main_kernel(const wf_plan *plan, wf_kernel_info *kernel)
{
    double most = -1;
    bool main_found = false;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const wfi_pipeline *pipeline = pipeline_of(plan, i);
        const bool main = wfi_is_main_kernel(&plan->choice.point, pipeline->spirv);
        const uint64_t groups = groups_of(&plan->steps[i]);
        const double items = (double)groups * pipeline->group_size[0] * pipeline->group_size[1] *
                             pipeline->group_size[2];
        if (main == main_found ? items <= most : main_found)
            continue;
        most = items;
        main_found = main;
        wfi_describe_pipeline(&plan->choice.point, pipeline, groups, kernel);
    }
}

uint32_t wf_plan_kernel_count(const wf_plan *plan)
{
    return plan ? plan->pipeline_count : 0;
}

wf_result wf_plan_describe_kernel(const wf_plan *plan, uint32_t index, wf_plan_kernel *out)
{
    if (!plan || !out || index >= plan->pipeline_count)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_device_usable(plan->device, "wf_plan_describe_kernel") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    wf_plan_kernel local = {.name = ""};
    uint64_t most = 0;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const uint64_t groups = groups_of(&plan->steps[i]);
        if (plan->steps[i].pipeline != index)
            continue;
        const wfi_pipeline *pipeline = pipeline_of(plan, i);
        if (local.dispatches++ > 0 && groups <= most)
            continue;
        most = groups;
        local.name = pipeline->spirv->name;
        local.main = wfi_is_main_kernel(&plan->choice.point, pipeline->spirv);
        wfi_describe_pipeline(&plan->choice.point, pipeline, groups, &local.info);
    }
    return wfi_params_write(out, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

typedef struct one_step {
    wf_plan *plan;
    const wf_bindings *bindings;
    uint32_t step;
} one_step;

static wf_result record_one(void *user, VkCommandBuffer command_buffer)
{
    const one_step *one = user;
    return wfi_plan_record_steps(one->plan, command_buffer, NULL, one->bindings, 0, one->step,
                                 one->step + 1);
}

static wf_result record_upload(void *user, VkCommandBuffer command_buffer)
{
    const one_step *one = user;
    return wf_plan_record_upload(one->plan, command_buffer);
}

/* One round of all steps; us gets the sums of each kernel's. */
static wf_result time_round(wf_plan *plan, const wf_bindings *bindings, double *us, bool *gpu_clock)
{
    one_step one = {plan, bindings, 0};
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < plan->pipeline_count; i++)
        us[i] = 0;
    for (; one.step < plan->step_count && result == WF_SUCCESS; one.step++) {
        double seconds = 0;
        result = wfi_device_goes_on(plan->device);
        if (result == WF_SUCCESS)
            result =
                wfi_run_timed(plan->device, record_upload, record_one, &one, &seconds, gpu_clock);
        us[plan->steps[one.step].pipeline] += seconds * 1e6;
    }
    return result;
}

static wf_result time_all(wf_plan *plan, const wf_bindings *bindings, uint32_t count, double *us,
                          bool *gpu_clock)
{
    if (!plan || !bindings || !us || !gpu_clock || count != plan->pipeline_count)
        return wfi_fail(plan ? &plan->device->log : NULL, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_time_kernels: bad parameters");
    wfi_plan_forget_sets(plan);
    double *round = wfi_calloc(count ? count : 1, sizeof *round);
    wf_result result = round ? WF_SUCCESS : wfi_no_memory(&plan->device->log);
    const double start = wfi_host_seconds();
    for (uint32_t n = 0; n < MOST_ROUNDS && result == WF_SUCCESS; n++) {
        if (n > 1 && wfi_host_seconds() - start > TIME_SECONDS)
            break;
        result = time_round(plan, bindings, round, gpu_clock);
        /* The first round may include work that is done once; of the others the shortest time
         * counts. */
        for (uint32_t i = 0; i < count; i++)
            if (n < 2 || round[i] < us[i])
                us[i] = round[i];
    }
    wfi_free(round);
    return result;
}

wf_result wf_plan_time_kernels(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                               double *us, bool *gpu_clock)
{
    const wfi_heap outer = wfi_heap_enter_device(plan ? plan->device : NULL);
    return wfi_heap_leave(outer, time_all(plan, bindings, count, us, gpu_clock));
}
