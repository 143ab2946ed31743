/* A matrix in compressed sparse rows in device memory: the caller's, or a copy of the host's, for
 * the shaders that analyse and convert it. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_DEVICE_CSR_H
#define WFI_KERNELS_SPMV_ANALYSIS_DEVICE_CSR_H

#include "kernels/spmv/analysis/passes.h"
#include "kernels/spmv/statistics.h"

typedef struct wfi_device_csr {
    wf_device *device;
    wf_type type;
    uint32_t rows, columns, entries;
    VkDescriptorBufferInfo row_offsets, column_indices, values;
    wf_buffer *own[3];      /* of a copy; NULL: the buffers are the caller's */
    wf_transfer *coming[3]; /* that fill them; NULL: they are filled */
} wfi_device_csr;

/* Whether shaders can work on a matrix of these sizes at all: rows and columns in 31 bits, so that
 * diagonals are whole numbers of 32, and each array in one binding. */
bool wfi_device_csr_fits(const wf_caps *caps, wf_type type, uint64_t rows, uint64_t columns,
                         uint64_t entries);
/* Whether the device is faster at analysing the host's matrix than the host, by what is known of
 * its kind, and has the memory that it takes. Shaders are compiled for a large matrix, or once the
 * matrices of this device come to as many entries: the host has then lost as much time as that
 * takes. */
bool wfi_device_csr_pays(wf_device *device, const wf_spmv_params *matrix);
/* Copies the matrix, whose offsets ascend, to the device. Large arrays are still on their way when
 * it returns, so that the device works on one while the next comes; the host's must stay. */
wf_result wfi_device_csr_upload(wf_device *device, const wf_spmv_params *matrix,
                                wfi_device_csr *out);
/* Takes the caller's buffers; the number of entries is known once they are counted. Logs and
 * returns WF_ERROR_BINDING for what cannot be bound. */
wf_result wfi_device_csr_bind(wf_device *device, const wf_spmv_params *params, wfi_device_csr *out);
/* Waits until the first so many arrays (row_offsets, column_indices, values) have come. */
enum { WFI_CSR_OFFSETS = 1, WFI_CSR_COLUMNS, WFI_CSR_VALUES };
wf_result wfi_device_csr_wait(const wfi_device_csr *csr, int arrays);
/* Whether any is still on its way. */
bool wfi_device_csr_comes(const wfi_device_csr *csr);
/* Checks the arrays as the host's are checked, in shaders, and counts; sets csr->entries.
 * WF_NOT_READY: shaders cannot, since the matrix does not fit. */
wf_result wfi_device_csr_count(wfi_device_csr *csr, wfi_spmv_counts *counts);
/* Copies the arrays to the host; the caller frees them (wfi_free), also after a failure. */
wf_result wfi_device_csr_download(const wfi_device_csr *csr, uint32_t **row_offsets,
                                  uint32_t **column_indices, void **values);
/* Waits for what is on its way, and frees copies. Accepts a zeroed one. */
void wfi_device_csr_close(wfi_device_csr *csr);

#endif
