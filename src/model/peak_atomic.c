/* Atomic additions to sums in memory: of integers, floats and doubles, by the device's own addition
 * or, where it has none, by comparing and exchanging the bits. */
#include <stdio.h>

#include "core/caps.h"
#include "model/peaks.h"
#include "wfi_shaders.h"

#define SUMS 65536u /* of one buffer, all of which caches hold */
#define GIGA 1e9

/* One step brings a work-item to sums that no neighbour is near. */
#define STEP 4099u

typedef struct sums {
    const char *type;
    const wfi_spirv *add, *exchange; /* NULL: there is none */
    bool can_add, can_exchange;
    uint64_t bytes; /* of a sum */
} sums;

static const wfi_spirv *module_of(const sums *s)
{
    const bool adds = s->can_add && s->add && s->add->packed;
    return adds ? s->add : s->can_exchange ? s->exchange : NULL;
}

static wf_result measure(wf_device *device, const sums *s, bool one, const wf_peak_params *params,
                         wf_peak *out)
{
    const wfi_spirv *module = module_of(s);
    const wfi_variant row = {
        .name = "atomic",
        .modules = {[WF_TYPE_F32] = module},
        .storage_buffers = 1,
        .push_bytes = 12,
        .group_size = wfi_peak_group_size,
    };
    wf_buffer *buffer = NULL;
    double rate = 0;
    if (!module)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "the device has no atomics that could add %s", s->type);
    wf_result result = wf_buffer_create(device, SUMS * s->bytes, WF_MEMORY_DEVICE, &buffer);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(buffer, 0, SUMS * s->bytes, 0);
    wfi_peak_kernel kernel = {
        .row = &row,
        .type = WF_TYPE_F32,
        .groups = wfi_peak_groups(&device->caps),
        .buffer_count = 1,
        .buffers = {buffer},
        .bytes = {SUMS * s->bytes},
        .push_words = 3,
        .push = {0, one ? 0 : SUMS - 1, STEP},
    };
    kernel.amount = (double)wfi_peak_group_items(&device->caps) * kernel.groups;
    if (result == WF_SUCCESS)
        result = wfi_peak_rate(device, &kernel, params, &rate, out);
    wf_buffer_destroy(&buffer);
    out->value = rate / GIGA;
    if (result == WF_SUCCESS)
        snprintf(out->how, sizeof out->how, "%s",
                 module == s->add ? "the device's own addition" : "compared and exchanged");
    return result;
}

static sums integers(void)
{
    return (sums){"integers", &wfi_spv_peaks_atomic_i32, NULL, true, false, 4};
}

static sums floats(const wf_device *device)
{
    return (sums){"floats",
                  &wfi_spv_peaks_atomic_add_f32,
                  &wfi_spv_peaks_atomic_f32,
                  device->caps.f32_atomic_add,
                  true,
                  4};
}

static sums doubles(const wf_device *device)
{
    return (sums){"doubles",
                  &wfi_spv_peaks_atomic_add_f64,
                  &wfi_spv_peaks_atomic_f64,
                  device->caps.f64_atomic_add,
                  device->caps.f64 && device->caps.int64_atomics,
                  8};
}

#define ATOMIC(name, sums_, one)                                                                   \
    wf_result name(wf_device *device, const wf_peak_params *params, wf_peak *out)                  \
    {                                                                                              \
        const sums s = sums_;                                                                      \
        return measure(device, &s, one, params, out);                                              \
    }

ATOMIC(wfi_peak_atomic_i32, integers(), false)
ATOMIC(wfi_peak_atomic_f32, floats(device), false)
ATOMIC(wfi_peak_atomic_f64, doubles(device), false)
ATOMIC(wfi_peak_atomic_one_i32, integers(), true)
ATOMIC(wfi_peak_atomic_one_f32, floats(device), true)
ATOMIC(wfi_peak_atomic_one_f64, doubles(device), true)
