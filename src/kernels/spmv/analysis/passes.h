/* Lists of dispatches that analyse a matrix: each waits for those before it, all are submitted at
 * once, and what the host asks for is read back with them. The kernels' pipelines come from the
 * device's pool; those that are not there yet are compiled by several threads. */
#ifndef WFI_KERNELS_SPMV_ANALYSIS_PASSES_H
#define WFI_KERNELS_SPMV_ANALYSIS_PASSES_H

#include "core/buffer.h"
#include "core/pipeline_pool.h"
#include "core/scratch.h"
#include "core/stream.h"

#define WFI_PASS_BUFFERS 6
#define WFI_PASS_PUSH 96
#define WFI_PASS_GROUP 128             /* work-items of kernels that need no other number */
#define WFI_PASS_READ WFI_SCRATCH_READ /* bytes that one list can read back */
#define WFI_PASS_SEEN 4                /* what one list can read where the host sees it */

/* A kernel: a module, and what it is compiled for. */
typedef struct wfi_pass_kernel {
    const wfi_spirv *spirv;
    uint32_t group; /* work-items a work-group */
    uint32_t storage_buffers, push_bytes;
    uint32_t constants[2]; /* specialization constants 3 and 4 */
    uint32_t subgroup;     /* size to pin; 0: none */
} wfi_pass_kernel;

typedef struct wfi_pass {
    wfi_pass_kernel kernel; /* no module: a fill, or a copy where `copies` or `read` is set */
    wfi_pooled *pooled;     /* the kernel's pipeline, while the list runs */
    bool copies;            /* from the first buffer to the second */
    uint32_t groups[3], push_bytes, buffer_count;
    VkDescriptorBufferInfo buffers[WFI_PASS_BUFFERS];
    VkDescriptorSet set;
    unsigned char push[WFI_PASS_PUSH];
    uint32_t value; /* of a fill */
    void *read;     /* where the host wants the bytes */
    uint64_t read_at;
    bool beside; /* needs nothing of the pass before it */
} wfi_pass;

/* What the host reads where it lies, once a list has run. */
typedef struct wfi_pass_seen {
    const unsigned char *from;
    void *data;
    uint64_t bytes;
} wfi_pass_seen;

/* The first failure is kept and returned by wfi_passes_run; what is added behind it is dropped. */
typedef struct wfi_passes {
    wf_device *device;
    wfi_scratch scratch;
    /* Transfers go on meanwhile: the lists are then no run of the device's, which keeps the queue
     * to itself, but have a stream of their own. */
    bool beside;
    wfi_stream stream;
    wfi_pass *items;
    uint32_t count, room;
    wfi_pass_seen seen[WFI_PASS_SEEN];
    uint32_t seen_count;
    uint64_t read_bytes;
    bool together, begun; /* wfi_passes_together; and a pass was added since */
    wf_result result;
} wfi_passes;

wf_result wfi_passes_open(wf_device *device, wfi_passes *out);
/* Accepts half-open and zeroed lists. */
void wfi_passes_close(wfi_passes *passes);

/* A whole buffer as a binding. */
VkDescriptorBufferInfo wfi_pass_whole(const wf_buffer *buffer);
/* Adds a dispatch of `groups` work-groups, which the kernel numbers along x and then y; none where
 * groups is 0. */
void wfi_passes_dispatch(wfi_passes *passes, const wfi_pass_kernel *kernel, uint64_t groups,
                         const VkDescriptorBufferInfo *buffers, const void *push);
/* A few bytes that nothing in the list comes before are written by the host, at once, where it
 * can. */
void wfi_passes_fill(wfi_passes *passes, const wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                     uint32_t value);
/* Passes that are added while this is set wait for what was added before, not for each other. */
void wfi_passes_together(wfi_passes *passes, bool together);
/* Copies as many bytes as `from` has. */
void wfi_passes_copy(wfi_passes *passes, VkDescriptorBufferInfo from, VkDescriptorBufferInfo to);
/* *data has the bytes once wfi_passes_run succeeded. */
void wfi_passes_read(wfi_passes *passes, VkDescriptorBufferInfo from, void *data);
/* The same of one of wavefit's buffers, and of few bytes: where the host sees them, it takes less
 * time to read them there than the device to copy them. */
void wfi_passes_see(wfi_passes *passes, const wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                    void *data);
/* Runs and forgets what was added; blocks. */
wf_result wfi_passes_run(wfi_passes *passes);

#endif
