#include "kernels/spmv/arrays.h"

#include <string.h>

#include "core/heap.h"
#include "kernels/spmv/push.h"

static uint64_t real_bytes(const wfi_spmv_job *job)
{
    return wf_type_size(wfi_spmv_real(job->matrix.type));
}

uint64_t wfi_spmv_range(const wf_caps *caps)
{
    return caps->max_storage_range < caps->max_buffer ? caps->max_storage_range : caps->max_buffer;
}

wf_result wfi_spmv_row_too_long(wf_plan *plan, const wfi_spmv_job *job, uint32_t row)
{
    return wfi_fail(&wfi_plan_device(plan)->log, WF_ERROR_TOO_LARGE,
                    "row %u has %u entries, more than one binding of this device holds", row,
                    job->matrix.row_offsets[row + 1] - job->matrix.row_offsets[row]);
}

uint64_t wfi_spmv_x_bytes(const wfi_spmv_job *job)
{
    const wf_spmv_params *p = &job->matrix;
    return p->columns ? ((p->columns - UINT64_C(1)) * p->x_stride + p->vectors) * real_bytes(job)
                      : 0;
}

uint64_t wfi_spmv_y_bytes(const wfi_spmv_job *job, uint32_t rows)
{
    const wf_spmv_params *p = &job->matrix;
    return rows ? ((rows - UINT64_C(1)) * p->y_stride + p->vectors) * real_bytes(job) : 0;
}

wfi_slot wfi_spmv_x_slot(const wfi_spmv_job *job)
{
    /* Vulkan wants a buffer; nothing is read of it where x has no elements. */
    return job->matrix.columns ? (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_X, 0, wfi_spmv_x_bytes(job)}
                               : (wfi_slot){WFI_SLOT_BINDING, WF_SPMV_Y, 0, real_bytes(job)};
}

wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                         uint32_t rows, uint32_t *base_y)
{
    const uint64_t real = real_bytes(job);
    return wfi_slot_at(caps, WF_SPMV_Y, first * (uint64_t)job->matrix.y_stride,
                       wfi_spmv_y_bytes(job, rows) / real, real, base_y);
}

wf_result wfi_spmv_check_x(const wf_device *device, const wfi_spmv_job *job)
{
    if (wfi_spmv_x_bytes(job) <= device->caps.max_storage_range)
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                    "x of %llu bytes is over this device's binding of %llu bytes",
                    (unsigned long long)wfi_spmv_x_bytes(job),
                    (unsigned long long)device->caps.max_storage_range);
}

bool wfi_spmv_rearranged_fits(const wf_caps *caps, const wfi_spmv_job *job, uint32_t rows,
                              uint64_t pattern_words, uint64_t place_count, uint64_t scratch)
{
    const uint64_t range = wfi_spmv_range(caps), size = wf_type_size(job->matrix.type);
    const uint64_t map_bytes = job->kept->updatable ? place_count * 4 : 0;
    return pattern_words * 4 <= range && place_count * size <= range && map_bytes <= range &&
           wfi_spmv_y_bytes(job, rows) + caps->storage_alignment <= range && scratch <= range;
}

wf_result wfi_spmv_own(wf_plan *plan, const wfi_spmv_job *job, const void *data, uint64_t bytes,
                       wfi_slot *slot)
{
    uint32_t index = 0;
    bytes = bytes ? bytes : 4;
    wf_result result = wfi_device_goes_on(wfi_plan_device(plan));
    if (result == WF_SUCCESS)
        result = wfi_plan_add_own(plan, data, bytes, &index);
    *slot = (wfi_slot){WFI_SLOT_OWN, index, 0, bytes};
    if (data)
        job->kept->analysis.matrix_bytes += bytes;
    return result;
}

/* Values in the order of their places; to be freed, a multiple of four bytes. Padding is a negative
 * zero, which no entry is kept as, so that kernels can tell padding from entries
 * (spmv_padding.glsl). */
static void *gather(const wfi_spmv_job *job, const uint32_t *places, uint64_t count, uint32_t begin,
                    uint64_t bytes)
{
    const size_t size = wf_type_size(job->matrix.type);
    const char *from = job->matrix.values;
    char padding[sizeof(double)], *values = wfi_calloc(1, (size_t)bytes);
    wf_element_set(job->matrix.type, padding, 0, -0.0);
    if (values && !places && count)
        memcpy(values, from + begin * size, (size_t)count * size);
    for (uint64_t i = 0; values && places && i < count; i++) {
        char *to = values + i * size;
        if (places[i] == UINT32_MAX)
            memcpy(to, padding, size);
        else if (memcmp(from + places[i] * size, padding, size) != 0)
            memcpy(to, from + places[i] * size, size);
    }
    return values;
}

wf_result wfi_spmv_values(wf_plan *plan, const wfi_spmv_job *job, const uint32_t *places,
                          uint64_t count, uint32_t begin, uint32_t end, wfi_slot *slot)
{
    const uint64_t size = wf_type_size(job->matrix.type);
    const uint64_t bytes = count ? (count * size + 3) / 4 * 4 : 4;
    void *values = gather(job, places, count, begin, bytes);
    if (!values)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    wf_result result = wfi_spmv_own(plan, job, values, bytes, slot);
    job->kept->places += count;
    wfi_free(values);
    if (result == WF_SUCCESS && job->kept->updatable && end > begin) /* else all is padding */
        result = wfi_spmv_map(plan, job, slot, places, count, begin, end);
    return result;
}

wf_result wfi_spmv_adopt(wf_plan *plan, const wfi_spmv_job *job, wf_buffer **buffer, uint64_t bytes,
                         wfi_slot *slot)
{
    uint32_t index = 0;
    wf_result result = wfi_plan_adopt_own(plan, buffer, &index);
    *slot = (wfi_slot){WFI_SLOT_OWN, index, 0, bytes ? bytes : 4};
    job->kept->analysis.matrix_bytes += slot->bytes;
    return result;
}

wf_result wfi_spmv_adopt_values(wf_plan *plan, const wfi_spmv_job *job, wf_buffer **values,
                                wf_buffer **places, uint64_t count, wfi_slot *slot)
{
    const uint64_t bytes = (count * wf_type_size(job->matrix.type) + 3) / 4 * 4;
    uint32_t map = 0;
    wf_result result = wfi_spmv_adopt(plan, job, values, bytes, slot);
    job->kept->places += count;
    if (result != WF_SUCCESS || !job->kept->updatable || job->kept->entries == 0)
        return result;
    result = wfi_plan_adopt_own(plan, places, &map);
    return result == WF_SUCCESS
               ? wfi_spmv_add_update(plan, job, slot, map, count, 0, job->kept->entries)
               : result;
}
