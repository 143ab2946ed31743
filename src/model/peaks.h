/* What the micro-benchmarks of ceilings share. */
#ifndef WFI_MODEL_PEAKS_H
#define WFI_MODEL_PEAKS_H

#include "core/buffer.h"
#include "plan/family.h"

#define WFI_PEAK_BUFFERS 2
#define WFI_PEAK_PUSH_WORDS 4

/* A kernel that repeats its work; its first push constant is the number of repetitions. */
typedef struct wfi_peak_kernel {
    const wfi_variant *row;
    wf_type type;
    uint32_t groups;
    uint32_t buffer_count;
    const wf_buffer *buffers[WFI_PEAK_BUFFERS];
    uint64_t bytes[WFI_PEAK_BUFFERS]; /* bound of each */
    uint32_t push_words;
    uint32_t push[WFI_PEAK_PUSH_WORDS]; /* [0] is filled in */
    double amount;                      /* of work a repetition, over all work-items */
    uint32_t value;                     /* the point's first value, for rows that read it */
} wfi_peak_kernel;

/* Finds the repetitions that make a good sample, measures them, and sets *rate to the amount a
 * second of the median sample, and spread, count and clock of *out. */
wf_result wfi_peak_rate(wf_device *device, wfi_peak_kernel *kernel, const wf_peak_params *params,
                        double *rate, wf_peak *out);

/* The budget and warmth that params ask for. */
wf_measure_params wfi_peak_measure(const wf_peak_params *params);
/* A buffer in the device's memory that was written once: unwritten pages may all be one page of
 * zeros. */
wf_result wfi_peak_buffer(wf_device *device, uint64_t bytes, wf_buffer **out);

/* The device's own copy of a buffer, to be timed by wfi_measure. */
typedef struct wfi_transfer {
    wf_device *device;
    const wf_buffer *from, *to;
    uint64_t bytes;
} wfi_transfer;
wf_result wfi_record_transfer(void *transfer, VkCommandBuffer command_buffer);

/* The hook `constants` of a row whose point's first value, which is no parameter, is the index of a
 * cooperative-matrix shape: appends M, N and K. */
void wfi_matrix_constants(const wfi_point *point, wfi_pipeline_desc *desc);

/* The work-group size of these kernels: 256 or 128 work-items along x. */
void wfi_peak_group_size(const wfi_point *point, uint32_t size[3]);
uint32_t wfi_peak_group_items(const wf_caps *caps);
/* Work-groups that fill the device evenly, several times over. */
uint32_t wfi_peak_groups(const wf_caps *caps);
/* Twice the bytes that a GPU's resident work-items write at a time, a vec4 each. In a smaller set
 * several work-items write a line at once and wait for each other, which says nothing of the cache;
 * in a set of just that size, work-groups that are ahead still meet those behind. */
uint64_t wfi_peak_least_written(const wf_caps *caps);

/* Times a copy of `bytes` that starts a work-item for every 16 of them. */
wf_result wfi_straight_copy(wf_device *device, const wf_buffer *from, const wf_buffer *to,
                            uint64_t bytes, const wf_measure_params *measure, wf_timing *timing);

/* Each measures one peak; out->value is in the peak's unit. */
wf_result wfi_peak_copy(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_read(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_write(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_upload(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_download(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_shared(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_fma(wf_device *device, wf_type type, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_fma_f32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_fma_f16(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_fma_f64(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_dot(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_matrix_f16(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_matrix_f16_f32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_matrix_bf16(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_matrix_i8(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_shuffle(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_i32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_f32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_f64(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_one_i32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_one_f32(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_atomic_one_f64(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_dispatch(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_barrier(wf_device *device, const wf_peak_params *params, wf_peak *out);
wf_result wfi_peak_submit(wf_device *device, const wf_peak_params *params, wf_peak *out);

#endif
