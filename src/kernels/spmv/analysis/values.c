#include "kernels/spmv/analysis/values.h"

#include "spmv/spmv_ids.h"
#include "wfi_shaders.h"

/* As in spmv_update.comp. */
typedef struct update_push {
    uint32_t count, base;
} update_push;

static const wfi_spirv *const modules[] = {[WF_TYPE_F32] = &wfi_spv_spmv_update_f32,
                                           [WF_TYPE_F64] = &wfi_spv_spmv_update_f64,
                                           [WF_TYPE_F16] = &wfi_spv_spmv_update_f16};

wf_result wfi_device_values(wfi_passes *passes, const wfi_device_csr *csr, const wf_buffer *places,
                            uint64_t count, wf_buffer **values)
{
    wf_device *device = csr->device;
    const uint64_t bytes = (count * wf_type_size(csr->type) + 3) / 4 * 4;
    const uint64_t words = csr->type == WF_TYPE_F16 ? (count + 1) / 2 : count;
    const uint64_t a_group = SPMV_UPDATE_WORDS * WFI_PASS_GROUP;
    const wfi_pass_kernel kernel = {
        modules[csr->type], WFI_PASS_GROUP, 3, sizeof(update_push), {0}, 0};
    if (bytes > device->caps.max_storage_range || bytes > device->caps.max_buffer)
        return WF_NOT_READY;
    wf_result result = wfi_device_csr_wait(csr, WFI_CSR_VALUES);
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(device);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, bytes ? bytes : 4, WF_MEMORY_DEVICE, values);
    if (result != WF_SUCCESS)
        return result;
    /* The kernel reads a value for padding too, and without entries there is none. */
    const VkDescriptorBufferInfo map = wfi_pass_whole(places),
                                 buffers[] = {csr->entries ? csr->values : map,
                                              wfi_pass_whole(*values), map};
    const update_push push = {(uint32_t)count, 0};
    if (count == 0)
        wfi_passes_fill(passes, *values, 0, (*values)->bytes, 0);
    wfi_passes_dispatch(passes, &kernel, (words + a_group - 1) / a_group, buffers, &push);
    result = wfi_passes_run(passes);
    if (result != WF_SUCCESS)
        wf_buffer_destroy(values);
    return result;
}
