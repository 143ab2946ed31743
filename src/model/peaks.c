/* The table of peaks, and the two that the library itself compares with, copy bandwidth and
 * multiply-add rate, which a device object keeps. */
#include "model/peaks.h"
#include "model/rough.h"

#include "core/arithmetic.h"
#include "core/caps.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "core/timing.h"
#include "profiles/peaks.h"

#include <stdlib.h>
#include <string.h>

typedef struct peak {
    wf_peak_info info;
    wf_result (*measure)(wf_device *device, const wf_peak_params *params, wf_peak *out);
} peak;

static const peak peaks[] = {
    {{"copy", "GB/s", "memory read and written by a shader, both counted", true}, wfi_peak_copy},
    {{"read", "GB/s", "memory read by a shader", true}, wfi_peak_read},
    {{"write", "GB/s", "memory written by a shader", true}, wfi_peak_write},
    {{"shared", "GB/s", "shared memory read, all work-groups together", false}, wfi_peak_shared},
    {{"fma_f32", "GFLOPS", "f32 multiply-adds, two operations each", false}, wfi_peak_fma_f32},
    {{"fma_f16", "GFLOPS", "f16 multiply-adds in pairs, two operations each", false},
     wfi_peak_fma_f16},
    {{"fma_f64", "GFLOPS", "f64 multiply-adds, two operations each", false}, wfi_peak_fma_f64},
    {{"dot_i8", "GOPS", "dot products of four 8-bit integers, eight operations each", false},
     wfi_peak_dot},
    {{"matrix_f16", "GFLOPS", "cooperative matrices of f16, sums in f16", false},
     wfi_peak_matrix_f16},
    {{"matrix_f16_f32", "GFLOPS", "cooperative matrices of f16, sums in f32", false},
     wfi_peak_matrix_f16_f32},
    {{"matrix_bf16", "GFLOPS", "cooperative matrices of bf16, sums in f32", false},
     wfi_peak_matrix_bf16},
    {{"matrix_i8", "GOPS", "cooperative matrices of i8, sums in i32", false}, wfi_peak_matrix_i8},
    {{"shuffle", "GOPS", "32-bit words exchanged within subgroups", false}, wfi_peak_shuffle},
    {{"atomic_i32", "GOPS", "integers added atomically, neighbours to neighbouring sums", false},
     wfi_peak_atomic_i32},
    {{"atomic_f32", "GOPS", "the same with f32", false}, wfi_peak_atomic_f32},
    {{"atomic_f64", "GOPS", "the same with f64", false}, wfi_peak_atomic_f64},
    {{"atomic_one_i32", "GOPS", "integers added atomically, all to one sum", false},
     wfi_peak_atomic_one_i32},
    {{"atomic_one_f32", "GOPS", "the same with f32", false}, wfi_peak_atomic_one_f32},
    {{"atomic_one_f64", "GOPS", "the same with f64", false}, wfi_peak_atomic_one_f64},
    {{"dispatch", "us", "one more empty dispatch, independent of the one before", false},
     wfi_peak_dispatch},
    {{"barrier", "us", "one more empty dispatch behind a barrier", false}, wfi_peak_barrier},
    {{"submit", "us", "recording, submitting and awaiting an empty command buffer, host clock",
      false},
     wfi_peak_submit},
    {{"upload", "GB/s", "copies from host-visible to device memory", false}, wfi_peak_upload},
    {{"download", "GB/s", "copies from device to host-visible memory", false}, wfi_peak_download},
};

uint32_t wf_peak_count(void)
{
    return WFI_COUNT(peaks);
}

wf_result wf_peak_describe(uint32_t index, wf_peak_info *out)
{
    if (index >= wf_peak_count() || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    *out = peaks[index].info;
    return WF_SUCCESS;
}

static wf_result measure_peak(wf_device *device, uint32_t index, const wf_peak_params *params,
                              wf_peak *out)
{
    if (!device || !out || index >= wf_peak_count())
        return WF_ERROR_INVALID_ARGUMENT;
    wf_peak measured = {0};
    wf_peak_params read;
    wf_result result = wfi_params_read(&device->log, "wf_peak_measure", params, &read, sizeof read);
    if (result == WF_SUCCESS)
        result = peaks[index].measure(device, &read, &measured);
    if (result == WF_SUCCESS)
        *out = measured;
    return result;
}

wf_result wf_peak_measure(wf_device *device, uint32_t index, const wf_peak_params *params,
                          wf_peak *out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, measure_peak(device, index, params, out));
}

/* ----------------------------------------------------------------- what is kept with the device */

#define ROUGH_BYTES (UINT64_C(1) << 20)
#define ROUGH_SECONDS 0.001

bool wfi_rates_are_rough(void)
{
    const char *asked = getenv("WAVEFIT_ROUGH_RATES");
    return asked && strcmp(asked, "1") == 0;
}

static uint64_t copy_bytes(const wf_caps *caps)
{
    uint64_t bytes = wfi_rates_are_rough() ? ROUGH_BYTES : wfi_peaks_profile_of(caps)->copy_bytes;
    const uint64_t bounds[] = {caps->max_storage_range, caps->max_buffer,
                               caps->available_bytes / 8};
    for (size_t i = 0; i < WFI_COUNT(bounds); i++)
        if (bytes > bounds[i])
            bytes = bounds[i];
    return bytes & ~UINT64_C(255);
}

/* The better of a compute shader and the driver's own buffer copy. */
static wf_result better_copy(wf_device *device, wf_buffer *from, wf_buffer *to, uint64_t bytes,
                             double *bandwidth)
{
    const wf_measure_params measure = {
        .size = sizeof measure,
        .budget_seconds = wfi_rates_are_rough() ? ROUGH_SECONDS
                                                : wfi_peaks_profile_of(&device->caps)->copy_seconds,
    };
    wf_timing shader, transfer;
    wfi_transfer copy = {device, from, to, bytes};
    wf_result result = wfi_straight_copy(device, from, to, bytes, &measure, &shader);
    if (result == WF_SUCCESS)
        result = wfi_measure(device, wfi_record_transfer, NULL, &copy, &measure, &transfer);
    if (result != WF_SUCCESS)
        return result;
    const double best =
        shader.median_us < transfer.median_us ? shader.median_us : transfer.median_us;
    if (!(best > 0))
        return wfi_fail(&device->log, WF_ERROR_DRIVER, "the device's clock did not advance");
    *bandwidth = 2.0 * (double)bytes / (best * 1e-6);
    return WF_SUCCESS;
}

static wf_result copy_bandwidth(wf_device *device, double *bandwidth)
{
    const uint64_t bytes = copy_bytes(&device->caps);
    wf_buffer *from = NULL, *to = NULL;
    wf_result result = wfi_peak_buffer(device, bytes, &from);
    if (result == WF_SUCCESS)
        result = wfi_peak_buffer(device, bytes, &to);
    if (result == WF_SUCCESS)
        result = better_copy(device, from, to, bytes, bandwidth);
    wf_buffer_destroy(&from);
    wf_buffer_destroy(&to);
    return result;
}

static wf_result find_copy_bandwidth(wf_device *device, double *bytes_per_second)
{
    if (!device || !bytes_per_second)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = WF_SUCCESS;
    double bandwidth = 0;
    wfi_mutex_lock(&device->peaks_lock);
    if (!(device->copy_bandwidth > 0)) {
        result = copy_bandwidth(device, &bandwidth);
        if (result == WF_SUCCESS)
            device->copy_bandwidth = bandwidth;
    }
    if (result == WF_SUCCESS)
        *bytes_per_second = device->copy_bandwidth;
    wfi_mutex_unlock(&device->peaks_lock);
    return result;
}

wf_result wf_device_copy_bandwidth(wf_device *device, double *bytes_per_second)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, find_copy_bandwidth(device, bytes_per_second));
}

static wf_result find_fma_rate(wf_device *device, wf_type type, double *flops_per_second)
{
    if (!device || !flops_per_second || (unsigned)type >= WF_TYPE_COUNT)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = WF_SUCCESS;
    const wf_peak_params rough = {.size = sizeof rough, .budget_seconds = ROUGH_SECONDS};
    wf_peak measured = {0};
    wfi_mutex_lock(&device->peaks_lock);
    if (!(device->fma_rate[type] > 0)) {
        result = wfi_peak_fma(device, type, wfi_rates_are_rough() ? &rough : NULL, &measured);
        if (result == WF_SUCCESS)
            device->fma_rate[type] = measured.value * 1e9;
    }
    if (result == WF_SUCCESS)
        *flops_per_second = device->fma_rate[type];
    wfi_mutex_unlock(&device->peaks_lock);
    return result;
}

wf_result wf_device_fma_rate(wf_device *device, wf_type type, double *flops_per_second)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, find_fma_rate(device, type, flops_per_second));
}
