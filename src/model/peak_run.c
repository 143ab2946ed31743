/* Runs a repeating kernel long enough to measure it. */
#include <string.h>

#include "core/architectures.h"
#include "core/caps.h"
#include "plan/fixed.h"
#include "model/peaks.h"
#include "profiles/peaks.h"

#define DEFAULT_BUDGET_SECONDS 0.3
#define MOST_LOOPS (1u << 22)
#define WAVES 4         /* of work-groups that the device runs at once */
#define UNIT_ITEMS 2048 /* resident work-items of a compute unit where nobody has published them */
#define GROUPS 2112     /* where the device does not tell its units */

uint32_t wfi_peak_group_items(const wf_caps *caps)
{
    return caps->max_invocations >= 256 && caps->max_group_size[0] >= 256 ? 256 : 128;
}

void wfi_peak_group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_peak_group_items(point->caps);
    size[1] = size[2] = 1;
}

/* Work-groups that a GPU runs at once; 0: not known. */
static uint32_t resident_groups(const wf_caps *caps)
{
    const uint32_t items = wfi_unit_of(caps).items, group = wfi_peak_group_items(caps);
    const uint32_t groups = (items ? items : UNIT_ITEMS) / group;
    return caps->compute_units * (groups ? groups : 1);
}

uint32_t wfi_peak_groups(const wf_caps *caps)
{
    const uint32_t fixed = wfi_peaks_profile_of(caps)->groups;
    if (fixed)
        return fixed;
    const uint32_t resident = resident_groups(caps);
    const uint32_t groups = resident ? resident * WAVES : GROUPS;
    return groups < caps->max_groups[0] ? groups : caps->max_groups[0];
}

uint64_t wfi_peak_least_written(const wf_caps *caps)
{
    if (!wfi_peaks_profile_of(caps)->lines_wait)
        return 0;
    const uint32_t resident = resident_groups(caps);
    return UINT64_C(2) * (resident ? resident : GROUPS / WAVES) * wfi_peak_group_items(caps) * 16;
}

wf_measure_params wfi_peak_measure(const wf_peak_params *params)
{
    const bool given = params && params->budget_seconds > 0;
    return (wf_measure_params){.size = sizeof(wf_measure_params),
                               .budget_seconds =
                                   given ? params->budget_seconds : DEFAULT_BUDGET_SECONDS,
                               .warm = params && params->warm};
}

/* Every row of this folder is built by this. */
static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_peak_kernel *kernel = params;
    const wfi_binding_spec specs[WFI_PEAK_BUFFERS] = {
        {"first", WFI_READS_WRITES, kernel->bytes[0]},
        {"second", WFI_READS_WRITES, kernel->bytes[1]}};
    wfi_step step = {
        .groups = {kernel->groups, 1, 1},
        .push_bytes = kernel->push_words * (uint32_t)sizeof *kernel->push,
    };
    memcpy(step.push, kernel->push, step.push_bytes);
    return wfi_fixed_build(plan, point, specs, kernel->buffer_count, &step);
}

static wf_result time_loops(wf_device *device, const wfi_peak_kernel *kernel,
                            const wf_measure_params *measure, wf_timing *timing)
{
    const wfi_problem problem = {.type = kernel->type};
    wfi_variant row = *kernel->row;
    row.build = build;
    wf_bindings bindings = {.size = sizeof bindings};
    wf_plan *plan = NULL;
    for (uint32_t i = 0; i < kernel->buffer_count; i++)
        bindings.items[i].buffer = kernel->buffers[i];
    wf_result result =
        wfi_fixed_plan(device, &wfi_family_none, &problem, &row, kernel->value, kernel, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, measure, timing);
    wf_plan_destroy(&plan);
    return result;
}

/* At least doubles the repetitions until a run takes half a sample's time; steps are so small that
 * no run comes near a watchdog. */
static wf_result find_loops(wf_device *device, wfi_peak_kernel *kernel, wf_timing *timing)
{
    const wf_measure_params once = {.size = sizeof once, .repeat = 1};
    const double target = wfi_peaks_profile_of(&device->caps)->sample_seconds;
    for (kernel->push[0] = 1;;) {
        wf_result result = time_loops(device, kernel, &once, timing);
        const double seconds = timing->median_us * 1e-6;
        if (result != WF_SUCCESS || seconds >= target / 2 || kernel->push[0] >= MOST_LOOPS)
            return result;
        const double grow = target / (seconds + 1e-6);
        kernel->push[0] = grow > 16  ? kernel->push[0] * 16
                          : grow > 2 ? (uint32_t)(kernel->push[0] * grow)
                                     : kernel->push[0] * 2;
    }
}

wf_result wfi_peak_rate(wf_device *device, wfi_peak_kernel *kernel, const wf_peak_params *params,
                        double *rate, wf_peak *out)
{
    const wf_measure_params measure = wfi_peak_measure(params);
    wf_timing timing = {0};
    wf_result result = find_loops(device, kernel, &timing);
    if (result == WF_SUCCESS)
        result = time_loops(device, kernel, &measure, &timing);
    if (result == WF_SUCCESS && !(timing.median_us > 0))
        result = wfi_fail(&device->log, WF_ERROR_DRIVER, "the device's clock did not advance");
    if (result != WF_SUCCESS)
        return result;
    out->spread = timing.spread;
    out->count = timing.count;
    out->gpu_clock = timing.gpu_clock;
    *rate = kernel->amount * kernel->push[0] / (timing.median_us * 1e-6);
    return WF_SUCCESS;
}
