/* Plans that are made for a largest size and recorded with smaller ones: a recording of other sizes
 * than the last one's has the variant build its steps again, with the pipelines and own buffers
 * that the plan has. It allocates nothing. */
#include <string.h>

#include "core/heap.h"
#include "plan/object.h"

wf_result wfi_plan_allow_sizes(wf_plan *plan, const wfi_ranges *ranges, void *params)
{
    wfi_sized *sized = wfi_calloc(1, sizeof *sized);
    if (!sized) {
        if (!plan->first)
            wfi_free(params);
        return wfi_no_memory(&plan->device->log);
    }
    plan->sized = sized;
    sized->ranges = *ranges;
    sized->params = params;
    sized->room = plan->step_count;
    sized->problem = plan->problem;
    sized->steps = wfi_calloc(plan->step_count ? plan->step_count : 1, sizeof *sized->steps);
    return sized->steps ? WF_SUCCESS : wfi_no_memory(&plan->device->log);
}

wf_result wfi_plan_copy_sizes(wf_plan *plan, const wf_plan *from)
{
    return from->sized ? wfi_plan_allow_sizes(plan, &from->sized->ranges, from->sized->params)
                       : WF_SUCCESS;
}

void wfi_sized_destroy(wf_plan *plan)
{
    wfi_sized *sized = plan->sized;
    if (!sized)
        return;
    if (!plan->first) /* whose parameters its copies use, too */
        wfi_free(sized->params);
    wfi_free(sized->steps);
    wfi_free(sized);
}

/* Exchanges what depends on sizes. */
static void swap(wf_plan *plan)
{
    wfi_sized *sized = plan->sized;
    const wfi_sized held = *sized;
    sized->steps = plan->steps;
    sized->step_count = plan->step_count;
    sized->binding_count = plan->binding_count;
    sized->workspace = plan->workspace;
    sized->problem = plan->problem;
    memcpy(sized->bindings, plan->bindings, sizeof sized->bindings);
    plan->steps = held.steps;
    plan->step_count = held.step_count;
    plan->binding_count = held.binding_count;
    plan->workspace = held.workspace;
    plan->problem = held.problem;
    memcpy(plan->bindings, held.bindings, sizeof plan->bindings);
}

static wf_result rebuild(wf_plan *plan, const uint64_t extent[WF_MAX_EXTENTS])
{
    wfi_sized *sized = plan->sized;
    plan->step_count = plan->binding_count = 0;
    plan->workspace = 0;
    sized->next_pipeline = sized->next_own = 0;
    sized->ranges.resize(&plan->problem, extent);
    sized->rebuilding = true;
    const wf_result result = wfi_plan_build(plan, sized->params);
    sized->rebuilding = false;
    return result;
}

static wf_result check_extent(const wfi_log *log, const wfi_range *range, uint64_t extent)
{
    const char *name = range->name;
    const unsigned long long given = extent, most = range->most;
    if (extent == range->most)
        return WF_SUCCESS;
    if (!range->unit)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: %s is %llu, but the plan was made for %llu alone; make it "
                        "with vary_%s to record it with less",
                        name, given, most, name);
    if (extent > range->most)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: %s is %llu, over the %llu that the plan was made for; "
                        "make it for the largest size",
                        name, given, most);
    if (extent < range->least)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: %s is %llu, less than the %llu (2 radius + 1) that the "
                        "stencil needs",
                        name, given, (unsigned long long)range->least);
    if (extent % range->unit)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: %s is %llu, no multiple of the plan's vary_%s, %llu", name,
                        given, name, (unsigned long long)range->unit);
    return WF_SUCCESS;
}

wf_result wfi_plan_enter_sizes(wf_plan *plan, const wfi_log *log,
                               const uint64_t given[WF_MAX_EXTENTS], bool *entered)
{
    wfi_sized *sized = plan->sized;
    uint64_t extent[WF_MAX_EXTENTS] = {0};
    wf_result result = WF_SUCCESS;
    bool any = false, own = true;
    *entered = false;
    for (uint32_t i = 0; i < WF_MAX_EXTENTS; i++)
        any |= given[i] != 0;
    if (!any)
        return WF_SUCCESS;
    if (!sized)
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_plan_record: wf_bindings.extent is given, but the sizes of this plan "
                        "are fixed; leave it zero, or make the plan with vary_...");
    for (uint32_t i = 0; i < WF_MAX_EXTENTS && result == WF_SUCCESS; i++) {
        const bool used = i < sized->ranges.count;
        if (given[i] && !used)
            return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_plan_record: extent[%u] is given, but this plan has %u sizes", i,
                            sized->ranges.count);
        extent[i] = given[i] ? given[i] : used ? sized->ranges.of[i].most : 0;
        if (used)
            result = check_extent(log, &sized->ranges.of[i], extent[i]);
        own = own && (!used || extent[i] == sized->ranges.of[i].most);
    }
    if (result != WF_SUCCESS || own)
        return result;
    swap(plan);
    if (memcmp(extent, sized->extent, sizeof extent) != 0)
        result = rebuild(plan, extent);
    if (result != WF_SUCCESS) {
        memset(sized->extent, 0, sizeof sized->extent);
        swap(plan);
        return result;
    }
    memcpy(sized->extent, extent, sizeof extent);
    *entered = true;
    return WF_SUCCESS;
}

void wfi_plan_leave_sizes(wf_plan *plan, bool entered)
{
    if (entered)
        swap(plan);
}
