#include "kernels/spmv/analysis/csr_copy.h"

#include "kernels/spmv/analysis/cut.h"
#include "wfi_shaders.h"

/* As in analysis_numbers.comp. */
typedef struct numbers_push {
    uint32_t count;
} numbers_push;

static void write_numbers(wfi_passes *passes, const wf_buffer *places, uint32_t count)
{
    const wfi_pass_kernel kernel = {
        &wfi_spv_analysis_numbers, WFI_PASS_GROUP, 1, sizeof(numbers_push), {0}, 0};
    const VkDescriptorBufferInfo whole = wfi_pass_whole(places);
    const numbers_push push = {count};
    wfi_passes_dispatch(passes, &kernel, wfi_groups_of(count, WFI_PASS_GROUP), &whole, &push);
}

static wf_result make_buffers(const wfi_device_csr *csr, bool places, wfi_csr_copied *made)
{
    const uint64_t size = wf_type_size(csr->type);
    made->pattern_words = csr->rows + UINT64_C(1) + csr->entries;
    wf_result result = wfi_cut_buffer(csr, made->pattern_words, &made->pattern);
    if (result == WF_SUCCESS)
        result = wfi_cut_buffer(csr, (csr->entries * size + 3) / 4, &made->values);
    if (result == WF_SUCCESS && places)
        result = wfi_cut_buffer(csr, csr->entries, &made->places);
    return result;
}

static void add_copies(wfi_passes *passes, const wfi_device_csr *csr, const wfi_csr_copied *made)
{
    const uint64_t offsets = csr->row_offsets.range;
    wfi_passes_together(passes, true);
    wfi_passes_copy(passes, csr->row_offsets,
                    (VkDescriptorBufferInfo){made->pattern->vk, 0, offsets});
    if (csr->entries) {
        wfi_passes_copy(
            passes, csr->column_indices,
            (VkDescriptorBufferInfo){made->pattern->vk, offsets, csr->column_indices.range});
        wfi_passes_copy(passes, csr->values, wfi_pass_whole(made->values));
    } else {
        wfi_passes_fill(passes, made->values, 0, made->values->bytes, 0);
    }
    if (made->places)
        write_numbers(passes, made->places, csr->entries);
    wfi_passes_together(passes, false);
}

wf_result wfi_csr_copy(wfi_passes *passes, const wfi_device_csr *csr, bool places,
                       wfi_csr_copied *made)
{
    *made = (wfi_csr_copied){.pattern = NULL};
    wf_result result = make_buffers(csr, places, made);
    if (result == WF_SUCCESS)
        result = wfi_device_csr_wait(csr, WFI_CSR_VALUES);
    if (result == WF_SUCCESS) {
        add_copies(passes, csr, made);
        result = wfi_passes_run(passes);
    }
    if (result != WF_SUCCESS)
        wfi_csr_copied_free(made);
    return result;
}

void wfi_csr_copied_free(wfi_csr_copied *made)
{
    wf_buffer_destroy(&made->pattern);
    wf_buffer_destroy(&made->values);
    wf_buffer_destroy(&made->places);
}
