/* Bandwidths: of memory and caches by working set, of shared memory, between host and device. */
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/caps.h"
#include "core/command.h"
#include "core/timing.h"
#include "plan/fixed.h"
#include "plan/plan.h"
#include "model/peaks.h"
#include "profiles/peaks.h"
#include "peaks/peaks_ids.h"
#include "wfi_shaders.h"

#define CHUNK_ITEM_BYTES 64 /* four vec4 a work-item and turn */
#define SHARED_UNROLL 16
#define VEC4_BYTES 16
#define STRAIGHT_BYTES (UINT64_C(128) << 20) /* both buffers: over most caches */
#define GB 1e9

#define MEMORY_ROW(direction, buffers)                                                             \
    {                                                                                              \
        .name = #direction, .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_memory_##direction},        \
        .storage_buffers = (buffers), .push_bytes = 16, .group_size = wfi_peak_group_size          \
    }
static const wfi_variant read_row = MEMORY_ROW(read, 2);
static const wfi_variant write_row = MEMORY_ROW(write, 1);
static const wfi_variant copy_row = MEMORY_ROW(copy, 2);

static uint64_t power_below(uint64_t value)
{
    while (value & (value - 1))
        value &= value - 1;
    return value;
}

/* The working set of one buffer: a power of two, at least `least` (roughly) and two chunks, at most
 * what the device binds. */
static uint64_t set_bytes(const wf_caps *caps, uint64_t wanted, uint64_t least)
{
    const uint64_t most = wfi_peaks_profile_of(caps)->most_set_bytes;
    const uint64_t bounds[] = {most, caps->max_storage_range, caps->max_buffer,
                               caps->available_bytes / 8};
    const uint64_t chunks = UINT64_C(2) * wfi_peak_group_items(caps) * CHUNK_ITEM_BYTES;
    uint64_t bytes = wanted ? wanted : most;
    bytes = bytes > least ? bytes : least;
    for (size_t i = 0; i < WFI_COUNT(bounds); i++)
        bytes = bytes < bounds[i] ? bytes : bounds[i];
    bytes = power_below(bytes);
    return bytes > chunks ? bytes : chunks;
}

wf_result wfi_peak_buffer(wf_device *device, uint64_t bytes, wf_buffer **out)
{
    wf_result result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, out);
    return result == WF_SUCCESS ? wf_buffer_fill(*out, 0, bytes, 0x3f9e0651u) : result;
}

/* `buffers` is 2 for a copy, whose working set is both; else the second buffer is never stored
 * to. */
static wf_result measure_set(wf_device *device, const wfi_variant *row, bool copies,
                             const wf_peak_params *params, wf_peak *out)
{
    const wf_caps *caps = &device->caps;
    const uint64_t wanted = params ? params->bytes : 0;
    const uint64_t chunk = (uint64_t)wfi_peak_group_items(caps) * CHUNK_ITEM_BYTES;
    const uint64_t least = row == &read_row ? 0 : wfi_peak_least_written(caps);
    const uint64_t bytes = set_bytes(caps, copies ? wanted / 2 : wanted, least);
    wf_buffer *buffers[2] = {NULL, NULL};
    wfi_peak_kernel kernel = {
        .row = row,
        .groups = wfi_peak_groups(caps),
        .buffer_count = row->storage_buffers,
        .push_words = 4,
        .push = {0, (uint32_t)(bytes / chunk - 1), wfi_peak_groups(caps) | 1, 0x3f9e0651u},
        .bytes = {bytes, copies ? bytes : chunk},
    };
    double rate = 0;
    kernel.amount = (double)kernel.groups * (double)chunk * (copies ? 2 : 1);
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < row->storage_buffers && result == WF_SUCCESS; i++) {
        result = wfi_peak_buffer(device, kernel.bytes[i], &buffers[i]);
        kernel.buffers[i] = buffers[i];
    }
    if (result == WF_SUCCESS)
        result = wfi_peak_rate(device, &kernel, params, &rate, out);
    wf_buffer_destroy(&buffers[0]);
    wf_buffer_destroy(&buffers[1]);
    out->bytes = copies ? 2 * bytes : bytes;
    out->value = rate / GB;
    return result;
}

wf_result wfi_peak_read(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_set(device, &read_row, false, params, out);
}

wf_result wfi_peak_write(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_set(device, &write_row, false, params, out);
}

/* One vec4 a work-item, and as many work-groups as that takes; `params` has the bytes of a
 * buffer. */
static wf_result build_straight(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint64_t bytes = *(const uint64_t *)params;
    const uint32_t count = (uint32_t)(bytes / VEC4_BYTES);
    const uint32_t items = wfi_peak_group_items(point->caps);
    const uint32_t groups = (count + items - 1) / items;
    const uint32_t columns = groups < 32768 ? groups : 32768;
    const wfi_binding_spec specs[] = {{"from", WFI_READS, bytes}, {"to", WFI_WRITES, bytes}};
    wfi_step step = {
        .groups = {columns, (groups + columns - 1) / columns, 1},
        .push_bytes = sizeof count,
    };
    memcpy(step.push, &count, sizeof count);
    return wfi_fixed_build(plan, point, specs, 2, &step);
}

wf_result wfi_straight_copy(wf_device *device, const wf_buffer *from, const wf_buffer *to,
                            uint64_t bytes, const wf_measure_params *measure, wf_timing *timing)
{
    static const wfi_variant row = {
        .name = "copy",
        .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_copy},
        .storage_buffers = 2,
        .push_bytes = sizeof(uint32_t),
        .group_size = wfi_peak_group_size,
        .build = build_straight,
    };
    const wfi_problem problem = {.type = WF_TYPE_F32};
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = from}, {.buffer = to}}};
    wf_plan *plan = NULL;
    wf_result result = wfi_fixed_plan(device, &wfi_family_none, &problem, &row, 0, &bytes, &plan);
    if (result == WF_SUCCESS)
        result = wf_plan_measure(plan, &bindings, measure, timing);
    wf_plan_destroy(&plan);
    return result;
}

/* A straight copy of the same set, which is the faster one where no cache holds it. */
static wf_result improve_copy(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    const uint64_t bytes = out->bytes / 2;
    wf_measure_params measure = wfi_peak_measure(params);
    measure.warm = true;
    wf_buffer *from = NULL, *to = NULL;
    wf_timing timing = {0};
    wf_result result = wfi_peak_buffer(device, bytes, &from);
    if (result == WF_SUCCESS)
        result = wfi_peak_buffer(device, bytes, &to);
    if (result == WF_SUCCESS)
        result = wfi_straight_copy(device, from, to, bytes, &measure, &timing);
    wf_buffer_destroy(&from);
    wf_buffer_destroy(&to);
    const double value = 2.0 * (double)bytes / (timing.median_us * 1e-6) / GB;
    if (result != WF_SUCCESS || !(timing.median_us > 0) || value <= out->value)
        return result;
    out->value = value;
    out->spread = timing.spread;
    out->count = timing.count;
    snprintf(out->how, sizeof out->how, "one vec4 a work-item");
    return WF_SUCCESS;
}

wf_result wfi_peak_copy(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    wf_result result = measure_set(device, &copy_row, true, params, out);
    if (result == WF_SUCCESS && out->bytes >= STRAIGHT_BYTES)
        result = improve_copy(device, params, out);
    return result;
}

static void shared_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    (void)point;
    wfi_pipeline_constant(desc, PEAKS_ID_UNROLL, SHARED_UNROLL);
}

wf_result wfi_peak_shared(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const wfi_variant row = {
        .name = "shared",
        .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_shared},
        .storage_buffers = 1,
        .push_bytes = 12,
        .group_size = wfi_peak_group_size,
        .constants = shared_constants,
    };
    const uint32_t items = wfi_peak_group_items(&device->caps);
    wf_buffer *to = NULL;
    double rate = 0;
    wf_result result = wfi_peak_buffer(device, items * sizeof(float), &to);
    wfi_peak_kernel kernel = {
        .row = &row,
        .groups = wfi_peak_groups(&device->caps),
        .buffer_count = 1,
        .buffers = {to},
        .bytes = {items * sizeof(float)},
        .push_words = 3,
        .push = {0, 0x3c23d70au, 0x3f800000u}, /* 0.01 and 1 */
    };
    kernel.amount = (double)kernel.groups * items * SHARED_UNROLL * VEC4_BYTES;
    if (result == WF_SUCCESS)
        result = wfi_peak_rate(device, &kernel, params, &rate, out);
    wf_buffer_destroy(&to);
    out->value = rate / GB;
    return result;
}

wf_result wfi_record_transfer(void *user, VkCommandBuffer command_buffer)
{
    const wfi_transfer *t = user;
    /* wfi_measure separates executions by compute barriers only. */
    wfi_barrier(t->device, command_buffer);
    wfi_record_copy(t->device, command_buffer, t->from, 0, t->to, 0, t->bytes);
    return WF_SUCCESS;
}

static wf_result measure_transfer(wf_device *device, wf_memory host, const wf_peak_params *params,
                                  wf_peak *out)
{
    const uint64_t bytes =
        set_bytes(&device->caps, wfi_peaks_profile_of(&device->caps)->transfer_bytes, 0);
    const wf_measure_params measure = wfi_peak_measure(params);
    wf_buffer *inside = NULL, *outside = NULL;
    wf_timing timing = {0};
    wf_result result = wfi_peak_buffer(device, bytes, &inside);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, bytes, host, &outside);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(outside, 0, bytes, 0x3f8ccccdu);
    wfi_transfer t = {device, host == WF_MEMORY_UPLOAD ? outside : inside,
                      host == WF_MEMORY_UPLOAD ? inside : outside, bytes};
    if (result == WF_SUCCESS)
        result = wfi_measure(device, wfi_record_transfer, NULL, &t, &measure, &timing);
    wf_buffer_destroy(&inside);
    wf_buffer_destroy(&outside);
    if (result == WF_SUCCESS && !(timing.median_us > 0))
        result = wfi_fail(&device->log, WF_ERROR_DRIVER, "the device's clock did not advance");
    if (result != WF_SUCCESS)
        return result;
    *out = (wf_peak){.value = (double)bytes / (timing.median_us * 1e-6) / GB,
                     .spread = timing.spread,
                     .count = timing.count,
                     .bytes = bytes,
                     .gpu_clock = timing.gpu_clock};
    if (device->caps.unified_memory)
        snprintf(out->how, sizeof out->how, "unified memory: a copy within it");
    return WF_SUCCESS;
}

wf_result wfi_peak_upload(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_transfer(device, WF_MEMORY_UPLOAD, params, out);
}

wf_result wfi_peak_download(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return measure_transfer(device, WF_MEMORY_READBACK, params, out);
}
