/* Rates of arithmetic and of exchanges within a subgroup. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/element.h"
#include "core/bfloat16.h"
#include "core/caps.h"
#include "core/heap.h"
#include "model/peaks.h"
#include "peaks/peaks_ids.h"
#include "wfi_shaders.h"

#define UNROLL 16
#define CHAINS 8
#define SHUFFLE_CHAINS 4
#define MATRIX_SUMS 4 /* products a turn and subgroup */
#define MATRIX_SUBGROUPS 8
#define GIGA 1e9

static void unroll(const wfi_point *point, wfi_pipeline_desc *desc)
{
    (void)point;
    wfi_pipeline_constant(desc, PEAKS_ID_UNROLL, UNROLL);
}

/* A kernel of dependent operations: one buffer that is never stored to, push constants, and
 * `per_item` operations a work-item and repetition. */
static wf_result measure_chains(wf_device *device, const wfi_variant *row, wf_type type,
                                const uint32_t push[2], double per_item,
                                const wf_peak_params *params, wf_peak *out)
{
    const uint32_t items = wfi_peak_group_items(&device->caps);
    wf_buffer *to = NULL;
    double rate = 0;
    wf_result result = wf_buffer_create(device, items * sizeof(float), WF_MEMORY_DEVICE, &to);
    wfi_peak_kernel kernel = {
        .row = row,
        .type = type,
        .groups = wfi_peak_groups(&device->caps),
        .buffer_count = 1,
        .buffers = {to},
        .bytes = {items * sizeof(float)},
        .push_words = 3,
        .push = {0, push[0], push[1]},
    };
    kernel.amount = per_item * items * kernel.groups;
    if (result == WF_SUCCESS)
        result = wfi_peak_rate(device, &kernel, params, &rate, out);
    wf_buffer_destroy(&to);
    out->value = rate / GIGA;
    return result;
}

static bool has_type(const wf_caps *caps, wf_type type)
{
    return type == WF_TYPE_F32 || (type == WF_TYPE_F64 && caps->f64) ||
           (type == WF_TYPE_F16 && caps->f16_arithmetic);
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

wf_result wfi_peak_fma(wf_device *device, wf_type type, const wf_peak_params *params, wf_peak *out)
{
    static const wfi_variant row = {
        .name = "fma",
        .modules = WFI_MODULES_peaks_fma,
        .storage_buffers = 1,
        .push_bytes = 12,
        .group_size = wfi_peak_group_size,
        .constants = unroll,
    };
    /* Values stay on a bounded orbit: they neither grow, vanish nor settle. */
    const uint32_t push[2] = {float_bits(-0.9999f), float_bits(0.7f)};
    const double lanes = type == WF_TYPE_F16 ? 2 : 1;
    if (!has_type(&device->caps, type))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "the device has no %s arithmetic",
                        wf_type_name(type));
    return measure_chains(device, &row, type, push, 2.0 * lanes * CHAINS * UNROLL, params, out);
}

wf_result wfi_peak_fma_f32(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return wfi_peak_fma(device, WF_TYPE_F32, params, out);
}

wf_result wfi_peak_fma_f16(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return wfi_peak_fma(device, WF_TYPE_F16, params, out);
}

wf_result wfi_peak_fma_f64(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    return wfi_peak_fma(device, WF_TYPE_F64, params, out);
}

wf_result wfi_peak_dot(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const wfi_variant row = {
        .name = "dot",
        .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_dot},
        .storage_buffers = 1,
        .push_bytes = 12,
        .group_size = wfi_peak_group_size,
        .constants = unroll,
    };
    const uint32_t push[2] = {0x0301ff02u, 12345u};
    if (!device->caps.integer_dot)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "the device has no integer dot products");
    wf_result result =
        measure_chains(device, &row, WF_TYPE_F32, push, 8.0 * CHAINS * UNROLL, params, out);
    if (!device->caps.integer_dot_accelerated)
        snprintf(out->how, sizeof out->how, "the driver says: not accelerated");
    return result;
}

wf_result wfi_peak_shuffle(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const wfi_variant row = {
        .name = "shuffle",
        .modules = {[WF_TYPE_F32] = &wfi_spv_peaks_shuffle},
        .storage_buffers = 1,
        .push_bytes = 12,
        .group_size = wfi_peak_group_size,
        .constants = unroll,
    };
    const uint32_t push[2] = {1, 1};
    if (!(device->caps.subgroup_operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) ||
        device->caps.subgroup_size < 2)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "the device has no subgroup shuffles in compute shaders");
    return measure_chains(device, &row, WF_TYPE_F32, push, (double)SHUFFLE_CHAINS * UNROLL, params,
                          out);
}

/* ------------------------------------------------------------------------- cooperative matrices */

typedef struct matrix_types {
    const char *text;
    wf_type element;
    uint32_t component, sum; /* VkComponentTypeKHR */
    uint32_t sum_bytes;
    const wfi_spirv *module;
} matrix_types;

void wfi_matrix_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wf_cooperative_shape *shape = &point->caps->cooperative_shapes[point->values[0]];
    wfi_pipeline_constant(desc, PEAKS_ID_M, shape->m);
    wfi_pipeline_constant(desc, PEAKS_ID_N, shape->n);
    wfi_pipeline_constant(desc, PEAKS_ID_K, shape->k);
}

/* MATRIX_SUBGROUPS subgroups, or as many as a work-group may have. */
static void matrix_group_size(const wfi_point *point, uint32_t size[3])
{
    const wf_caps *caps = point->caps;
    size[0] = caps->subgroup_size * MATRIX_SUBGROUPS;
    while (size[0] > caps->subgroup_size &&
           (size[0] > caps->max_invocations || size[0] > caps->max_group_size[0]))
        size[0] /= 2;
    size[1] = size[2] = 1;
}

static void matrix_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    unroll(point, desc);
    wfi_matrix_constants(point, desc);
}

static uint32_t matrix_pinned_size(const wfi_point *point)
{
    return point->caps->subgroup_size_control ? point->caps->subgroup_size : 0;
}

/* Of A and B: 0.125 to 0.5 with either sign, or 1 to 16 where they are integers. */
static double random_element(wf_type type, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double random = (double)(*state >> 56);
    const bool whole = wfi_element_of(type)->whole;
    const double size = whole ? 1 + floor(random / 16) : 0.125 + random * 0x1p-10;
    return *state >> 32 & 1 ? -size : size;
}

/* Two matrices A, the same negated, and two matrices B. */
static wf_result fill_elements(wf_buffer *buffer, wf_type type, uint64_t a, uint64_t b)
{
    const uint64_t count = 4 * a + 2 * b;
    uint64_t state = 1;
    void *elements = wfi_malloc((size_t)count * wf_type_size(type));
    if (!elements)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint64_t i = 0; i < 2 * a; i++) {
        const double element = random_element(type, &state);
        wf_element_set(type, elements, i, element);
        wf_element_set(type, elements, 2 * a + i, -element);
    }
    for (uint64_t i = 4 * a; i < count; i++)
        wf_element_set(type, elements, i, random_element(type, &state));
    const wf_result result = wf_buffer_write(buffer, 0, elements, count * wf_type_size(type));
    wfi_free(elements);
    return result;
}

static wf_result measure_shape(wf_device *device, const matrix_types *types, uint32_t index,
                               const wf_peak_params *params, wf_peak *out)
{
    const wf_cooperative_shape *s = &device->caps.cooperative_shapes[index];
    const uint64_t a = (uint64_t)s->m * s->k, b = (uint64_t)s->k * s->n;
    const wfi_variant row = {
        .name = types->text,
        .modules = {[WF_TYPE_F32] = types->module},
        .storage_buffers = 2,
        .push_bytes = 8,
        .group_size = matrix_group_size,
        .subgroup_size = matrix_pinned_size,
        .constants = matrix_constants,
    };
    const wfi_point point = {.caps = &device->caps, .variant = &row, .values = {index}};
    uint32_t size[3];
    wf_buffer *to = NULL, *from = NULL;
    double rate = 0;
    wfi_peak_kernel kernel = {
        .row = &row,
        .buffer_count = 2,
        .groups = wfi_peak_groups(&device->caps),
        .value = index,
        .push_words = 2,
        .bytes = {UINT64_C(4) * s->m * s->n * types->sum_bytes,
                  (4 * a + 2 * b) * wf_type_size(types->element)},
    };
    matrix_group_size(&point, size);
    const uint32_t subgroups = size[0] / device->caps.subgroup_size;
    kernel.amount = 2.0 * s->m * s->n * s->k * MATRIX_SUMS * UNROLL * subgroups * kernel.groups;
    wf_result result = wf_buffer_create(device, kernel.bytes[0], WF_MEMORY_DEVICE, &to);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, kernel.bytes[1], WF_MEMORY_DEVICE, &from);
    if (result == WF_SUCCESS)
        result = fill_elements(from, types->element, a, b);
    kernel.buffers[0] = to;
    kernel.buffers[1] = from;
    if (result == WF_SUCCESS)
        result = wfi_peak_rate(device, &kernel, params, &rate, out);
    wf_buffer_destroy(&to);
    wf_buffer_destroy(&from);
    out->value = rate / GIGA;
    snprintf(out->how, sizeof out->how, "%ux%ux%u, %u subgroups a work-group", s->m, s->n, s->k,
             subgroups);
    return result;
}

static bool multiplies(const wf_caps *caps, wf_type type)
{
    const wfi_element *element = wfi_element_of(type);
    return element->multiplied(caps) && element->stored(caps);
}

static wf_result measure_matrix(wf_device *device, const matrix_types *types,
                                const wf_peak_params *params, wf_peak *out)
{
    const wf_caps *caps = &device->caps;
    if (!caps->cooperative_matrix)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "the device has no cooperative matrices (VK_KHR_cooperative_matrix)");
    const wf_cooperative_shape *shape = wfi_caps_shape(caps, types->component, types->sum, 0, 0, 0);
    if (!shape || !multiplies(caps, types->element))
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "the device has no cooperative matrices of %s", types->text);
    return measure_shape(device, types, (uint32_t)(shape - caps->cooperative_shapes), params, out);
}

wf_result wfi_peak_matrix_f16(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const matrix_types types = {
        "f16 with f16 sums",           WF_TYPE_F16, VK_COMPONENT_TYPE_FLOAT16_KHR,
        VK_COMPONENT_TYPE_FLOAT16_KHR, 2,           &wfi_spv_peaks_matrix_f16};
    return measure_matrix(device, &types, params, out);
}

wf_result wfi_peak_matrix_f16_f32(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const matrix_types types = {
        "f16 with f32 sums",           WF_TYPE_F16, VK_COMPONENT_TYPE_FLOAT16_KHR,
        VK_COMPONENT_TYPE_FLOAT32_KHR, 4,           &wfi_spv_peaks_matrix_f16_f32};
    return measure_matrix(device, &types, params, out);
}

wf_result wfi_peak_matrix_bf16(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const matrix_types types = {"bf16 with f32 sums",
                                       WF_TYPE_BF16,
                                       WFI_COMPONENT_BFLOAT16,
                                       VK_COMPONENT_TYPE_FLOAT32_KHR,
                                       4,
                                       &wfi_spv_peaks_matrix_bf16};
    return measure_matrix(device, &types, params, out);
}

wf_result wfi_peak_matrix_i8(wf_device *device, const wf_peak_params *params, wf_peak *out)
{
    static const matrix_types types = {
        "i8 with i32 sums",           WF_TYPE_I8, VK_COMPONENT_TYPE_SINT8_KHR,
        VK_COMPONENT_TYPE_SINT32_KHR, 4,          &wfi_spv_peaks_matrix_i8};
    return measure_matrix(device, &types, params, out);
}
