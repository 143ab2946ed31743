#include "core/timing.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "core/caps.h"
#include "core/device_kind.h"

#define DEFAULT_BUDGET_SECONDS 1.0
#define ENOUGH_SPREAD 0.02
#define LEAST_SAMPLES 5
#define SAMPLE_SECONDS 2e-3 /* long against the clock's tick and a submit's jitter */
#define MAX_BATCH 1024
/* An idle GPU takes time to raise its clocks (an H100 over a second, from 345 MHz). */
#define WARM_UP_SECONDS 0.3
#define WARM_UP_MOST_SECONDS 2.0
#define WARM_UP_GAIN 0.01                 /* warm: runs gained less in WARM_UP_SECONDS */
#define EVICT_BYTES (UINT64_C(256) << 20) /* over any device's last-level cache */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile by linear interpolation between the order statistics. */
static double quantile(const double *sorted, uint32_t count, double q)
{
    const double at = q * (count - 1);
    const uint32_t low = (uint32_t)at;
    const uint32_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

void wfi_timing_summarise(wf_timing *timing)
{
    double sorted[WF_MAX_SAMPLES];
    const uint32_t count = timing->count;
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = timing->samples_us[i];
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    timing->min_us = sorted[0];
    timing->q1_us = quantile(sorted, count, 0.25);
    timing->median_us = quantile(sorted, count, 0.5);
    timing->q3_us = quantile(sorted, count, 0.75);
    timing->spread =
        timing->median_us > 0 ? (timing->q3_us - timing->q1_us) / timing->median_us : 0;
}

typedef struct measurement {
    wf_device *device;
    wfi_record_fn record;
    wfi_next_fn next; /* NULL: an execution is one submission */
    void *user;
    uint32_t batch;
    wf_buffer *evict; /* NULL: hot */
} measurement;

static wf_result record_batch(void *user, VkCommandBuffer command_buffer)
{
    const measurement *m = user;
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < m->batch && result == WF_SUCCESS; i++) {
        if (i > 0)
            wfi_barrier_compute(m->device, command_buffer);
        result = m->record(m->user, command_buffer);
    }
    return result;
}

static wf_result record_evict(void *user, VkCommandBuffer command_buffer)
{
    const measurement *m = user;
    if (m->evict)
        m->device->fn.vkCmdFillBuffer(command_buffer, m->evict->vk, 0, m->evict->bytes, 0);
    return WF_SUCCESS;
}

static wf_result run_batch(measurement *m, wf_timing *timing, double *seconds)
{
    wfi_record_fn prepare = record_evict;
    *seconds = 0;
    do {
        double part = 0;
        bool gpu_clock = false;
        wf_result result = wfi_device_goes_on(m->device);
        if (result == WF_SUCCESS)
            result = wfi_run_timed(m->device, prepare, record_batch, m, &part, &gpu_clock);
        if (result != WF_SUCCESS)
            return result;
        /* That of all samples. */
        timing->gpu_clock = gpu_clock && (timing->count == 0 || timing->gpu_clock);
        *seconds += part;
        prepare = NULL;
    } while (m->next && m->next(m->user));
    return WF_SUCCESS;
}

/* Runs once unbatched to warm up and once to size the batch. */
static wf_result size_batch(measurement *m, wf_timing *timing)
{
    double seconds = 0;
    m->batch = 1;
    for (int i = 0; i < 2; i++) {
        wf_result result = run_batch(m, timing, &seconds);
        if (result != WF_SUCCESS)
            return result;
    }
    /* With a cold cache only the first execution of a batch would be cold, so a batch is one. */
    if (!m->evict && !m->next && seconds < SAMPLE_SECONDS) {
        const double wanted = SAMPLE_SECONDS / (seconds > 1e-6 ? seconds : 1e-6);
        m->batch = wanted > MAX_BATCH ? MAX_BATCH : (uint32_t)wanted + 1;
    }
    return WF_SUCCESS;
}

/* Runs batches until they get no faster, where the device raises its clock under work. */
static wf_result warm_up(measurement *m, wf_timing *timing)
{
    const double start = wfi_host_seconds();
    double before = 0, best = 0, checked = start;
    while (wfi_device_kind_of(&m->device->caps)->raises_clock) {
        double seconds = 0;
        wf_result result = run_batch(m, timing, &seconds);
        if (result != WF_SUCCESS)
            return result;
        if (best == 0 || seconds < best)
            best = seconds;
        const double now = wfi_host_seconds();
        if (now - start > WARM_UP_MOST_SECONDS)
            break;
        if (now - checked < WARM_UP_SECONDS)
            continue;
        if (before > 0 && best > before * (1 - WARM_UP_GAIN))
            break;
        before = best;
        checked = now;
    }
    return WF_SUCCESS;
}

static bool enough(const wf_timing *timing, const wf_measure_params *params, double elapsed)
{
    const uint32_t repeat = params ? params->repeat : 0;
    const double budget =
        params && params->budget_seconds > 0 ? params->budget_seconds : DEFAULT_BUDGET_SECONDS;
    if (timing->count == WF_MAX_SAMPLES)
        return true;
    if (repeat)
        return timing->count >= repeat;
    if (timing->count == 0)
        return false;
    return elapsed > budget || (timing->count >= LEAST_SAMPLES && timing->spread < ENOUGH_SPREAD);
}

static wf_result take_samples(measurement *m, const wf_measure_params *params, wf_timing *timing)
{
    const double start = wfi_host_seconds();
    while (!enough(timing, params, wfi_host_seconds() - start)) {
        double seconds = 0;
        wf_result result = run_batch(m, timing, &seconds);
        if (result != WF_SUCCESS)
            return result;
        timing->samples_us[timing->count++] = seconds / m->batch * 1e6;
        wfi_timing_summarise(timing);
    }
    return WF_SUCCESS;
}

wf_result wfi_measure(wf_device *device, wfi_record_fn record, wfi_next_fn next, void *user,
                      const wf_measure_params *params, wf_timing *timing)
{
    measurement m = {.device = device, .record = record, .next = next, .user = user};
    wf_result result = WF_SUCCESS;
    *timing = (wf_timing){.cold = params && params->cold};
    if (timing->cold) {
        uint64_t bytes = device->caps.available_bytes / 8;
        bytes = bytes < EVICT_BYTES ? bytes : EVICT_BYTES;
        result = wf_buffer_create(device, bytes ? bytes : 4, WF_MEMORY_DEVICE, &m.evict);
    }
    if (result == WF_SUCCESS)
        result = size_batch(&m, timing);
    if (result == WF_SUCCESS && !(params && (params->warm || params->repeat == 1)))
        result = warm_up(&m, timing);
    if (result == WF_SUCCESS)
        result = take_samples(&m, params, timing);
    timing->batch = m.batch;
    wf_buffer_destroy(&m.evict);
    return result;
}
