/* What starting work costs: a dispatch, a barrier, a submission. */
#include "core/command.h"
#include "core/names.h"
#include "core/pipeline.h"
#include "core/timing.h"
#include "model/peaks.h"
#include "wfi_shaders.h"

#define DISPATCHES 64
#define SUBMISSIONS_LEAST 20

typedef struct empties {
    wf_device *device;
    wfi_pipeline pipeline;
    bool barriers;
} empties;

static wf_result record_empties(void *user, VkCommandBuffer command_buffer)
{
    const empties *e = user;
    e->device->fn.vkCmdBindPipeline(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE, e->pipeline.vk);
    wfi_label_begin(e->device, command_buffer, "wavefit peaks: empty dispatches");
    for (int i = 0; i < DISPATCHES; i++) {
        if (i > 0 && e->barriers)
            wfi_barrier_compute(e->device, command_buffer);
        e->device->fn.vkCmdDispatch(command_buffer, 1, 1, 1);
    }
    wfi_label_end(e->device, command_buffer);
    return WF_SUCCESS;
}

static wf_result measure_dispatch(wf_device *device, bool barriers, const wf_peak_params *params,
                                  wf_peak *out)
{
    const wfi_pipeline_desc desc = {
        .name = "empty",
        .spirv = &wfi_spv_peaks_empty,
        .constant_count = 3,
        .constants = {{0, wfi_peak_group_items(&device->caps)}, {1, 1}, {2, 1}},
    };
    const wf_measure_params measure = wfi_peak_measure(params);
    empties e = {.device = device, .barriers = barriers};
    wf_timing timing = {0};
    wf_result result = wfi_pipeline_create(device, &desc, &e.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_measure(device, record_empties, NULL, &e, &measure, &timing);
    wfi_pipeline_destroy(device, &e.pipeline);
    *out = (wf_peak){.value = timing.median_us / DISPATCHES,
                     .spread = timing.spread,
                     .count = timing.count,
                     .gpu_clock = timing.gpu_clock};
    return result;
}

wf_result wfi_peak_dispatch(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_dispatch(device, false, params, out);
}

wf_result wfi_peak_barrier(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_dispatch(device, true, params, out);
}

static wf_result record_nothing(void *user, VkCommandBuffer command_buffer)
{
    (void)user;
    (void)command_buffer;
    return WF_SUCCESS;
}

wf_result wfi_peak_submit(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    const double start = wfi_host_seconds(), budget = wfi_peak_measure(params).budget_seconds;
    wf_timing timing = {.batch = 1};
    wf_result result = wfi_run(device, record_nothing, NULL); /* makes pool and fence */
    while (result == WF_SUCCESS && timing.count < WF_MAX_SAMPLES &&
           (timing.count < SUBMISSIONS_LEAST || wfi_host_seconds() - start < budget)) {
        const double before = wfi_host_seconds();
        result = wfi_device_goes_on(device);
        if (result != WF_SUCCESS)
            return result;
        result = wfi_run(device, record_nothing, NULL);
        timing.samples_us[timing.count++] = (wfi_host_seconds() - before) * 1e6;
    }
    wfi_timing_summarise(&timing);
    *out = (wf_peak){.value = timing.median_us, .spread = timing.spread, .count = timing.count};
    return result;
}
