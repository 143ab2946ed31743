#include "kernels/spmv/analysis/device_csr.h"

#include <stdatomic.h>
#include <string.h>

#include "analysis/analysis_counts.h"
#include "core/budget.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "core/transfer.h"
#include "kernels/spmv/checks.h"
#include "plan/bind.h"
#include "profiles/spmv.h"
#include "wfi_shaders.h"

/* Entries that a work-group looks at: as many as make ENOUGH_TILES of them. */
#define LEAST_TILE 512
#define MOST_TILE 2048
#define ENOUGH_TILES 2048
#define MOST_ROW_GROUPS 2048
#define LEAST_COMING (UINT64_C(1) << 20) /* bytes whose transfer is not waited for at once */
#define NONE UINT32_MAX

static uint64_t value_bytes(wf_type type, uint64_t entries)
{
    const uint64_t bytes = (entries * wf_type_size(type) + 3) / 4 * 4;
    return bytes ? bytes : 4;
}

bool wfi_device_csr_fits(const wf_caps *caps, wf_type type, uint64_t rows, uint64_t columns,
                         uint64_t entries)
{
    const uint64_t limit = UINT64_C(1) << 31;
    const uint64_t range =
        caps->max_storage_range < caps->max_buffer ? caps->max_storage_range : caps->max_buffer;
    return rows < limit && columns < limit && entries < limit && (rows + 1) * 4 <= range &&
           entries * 4 <= range && value_bytes(type, entries) <= range;
}

/* The bytes that a conversion takes at its peak: the arrays, a place and a value for each slot, of
 * which padding makes up to half, and what orders rows and slices. */
static double peak_bytes(wf_type type, double rows, double entries)
{
    const double size = (double)wf_type_size(type);
    return entries * (4 + size) + 2 * entries * (4 + size) + rows * 24;
}

static bool has_memory(const wf_device *device, double bytes)
{
    for (uint32_t i = 0; i < device->memory.memoryHeapCount; i++)
        if ((device->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            (double)device->memory.memoryHeaps[i].size >= bytes &&
            (double)wfi_budget_left(device, i) >= bytes)
            return true;
    return false;
}

bool wfi_device_csr_pays(wf_device *device, const wf_spmv_params *m)
{
    const wfi_spmv_profile *profile = wfi_spmv_profile_of(&device->caps);
    const uint32_t entries = m->row_offsets[m->rows];
    if (!profile->device_entries || entries < profile->compiled_entries || m->transpose ||
        device->adopted ||
        !wfi_device_csr_fits(&device->caps, m->type, m->rows, m->columns, entries) ||
        !has_memory(device, peak_bytes(m->type, m->rows, entries)))
        return false;
    return atomic_fetch_add(&device->analysed_entries, entries) + entries >=
           profile->device_entries;
}

/* ----------------------------------------------------------------------------------- the arrays */

/* Begins to copy one of the arrays. */
static wf_result upload(wfi_device_csr *csr, int array, const void *data, uint64_t bytes,
                        VkDescriptorBufferInfo *info)
{
    wf_device *device = csr->device;
    const uint64_t rounded = bytes ? (bytes + 3) / 4 * 4 : 4;
    wf_buffer **own = &csr->own[array];
    wf_result result = wfi_device_goes_on(device);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, rounded, WF_MEMORY_DEVICE, own);
    if (result != WF_SUCCESS)
        return result;
    if (bytes >= LEAST_COMING)
        result = wf_buffer_write_begin(*own, 0, data, bytes, &csr->coming[array]);
    /* Where no thread can be had, this one makes the transfer. */
    if (!csr->coming[array] && (result == WF_SUCCESS || result == WF_ERROR_OUT_OF_HOST_MEMORY))
        result = wf_buffer_write(*own, 0, data, bytes);
    if (result == WF_SUCCESS)
        *info = (VkDescriptorBufferInfo){(*own)->vk, 0, rounded};
    return result;
}

wf_result wfi_device_csr_upload(wf_device *device, const wf_spmv_params *m, wfi_device_csr *out)
{
    const uint32_t entries = m->row_offsets[m->rows];
    *out = (wfi_device_csr){device, m->type, m->rows, m->columns, .entries = entries};
    wf_result result =
        upload(out, 0, m->row_offsets, (m->rows + UINT64_C(1)) * 4, &out->row_offsets);
    if (result == WF_SUCCESS)
        result = upload(out, 1, m->column_indices, entries * UINT64_C(4), &out->column_indices);
    if (result == WF_SUCCESS)
        result = upload(out, 2, m->values, entries * (uint64_t)wf_type_size(m->type), &out->values);
    if (result != WF_SUCCESS)
        wfi_device_csr_close(out);
    return result;
}

wf_result wfi_device_csr_wait(const wfi_device_csr *csr, int arrays)
{
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < arrays && result == WF_SUCCESS; i++)
        result = wfi_transfer_wait(csr->coming[i]);
    return result;
}

bool wfi_device_csr_comes(const wfi_device_csr *csr)
{
    for (int i = 0; i < 3; i++)
        if (csr->coming[i] && wf_transfer_status(csr->coming[i]) == WF_NOT_READY)
            return true;
    return false;
}

void wfi_device_csr_close(wfi_device_csr *csr)
{
    for (int i = 0; i < 3; i++) {
        wf_transfer_end(&csr->coming[i]);
        wf_buffer_destroy(&csr->own[i]);
    }
    *csr = (wfi_device_csr){0};
}

/* The binding as it is, in whole words. */
static wf_result bind(const wf_device *device, const wf_binding *binding, const char *name,
                      uint64_t needed, VkDescriptorBufferInfo *info)
{
    wfi_bound bound;
    wf_result result = wfi_bind(device, &device->log, binding, name, needed, &bound);
    if (result == WF_SUCCESS)
        *info = (VkDescriptorBufferInfo){bound.buffer, bound.offset, bound.bytes / 4 * 4};
    return result;
}

wf_result wfi_device_csr_bind(wf_device *device, const wf_spmv_params *p, wfi_device_csr *out)
{
    const uint64_t offset_bytes = (p->rows + UINT64_C(1)) * 4;
    wf_spmv_buffers b;
    *out = (wfi_device_csr){device, p->type, p->rows, p->columns, .entries = 0};
    wf_result result = wfi_params_read(&device->log, "wf_spmv_buffers", p->buffers, &b, sizeof b);
    if (result == WF_SUCCESS)
        result = bind(device, &b.row_offsets, "row_offsets", offset_bytes, &out->row_offsets);
    if (result == WF_SUCCESS)
        result = bind(device, &b.column_indices, "column_indices", 4, &out->column_indices);
    if (result == WF_SUCCESS)
        result = bind(device, &b.values, "values", 4, &out->values);
    out->row_offsets.range = offset_bytes;
    return result;
}

typedef struct copy_job {
    const wf_device *device;
    VkDescriptorBufferInfo from;
    VkBuffer to;
} copy_job;

static wf_result record_copy(void *user, VkCommandBuffer command_buffer)
{
    const copy_job *job = user;
    const VkBufferCopy region = {job->from.offset, 0, job->from.range};
    job->device->fn.vkCmdCopyBuffer(command_buffer, job->from.buffer, job->to, 1, &region);
    return WF_SUCCESS;
}

/* Copies the first bytes, a multiple of 4, of an array: on the device into a buffer that the host
 * can read, since the caller's need not be one of wavefit's. */
static wf_result download(const wfi_device_csr *csr, VkDescriptorBufferInfo from, uint64_t bytes,
                          void *data)
{
    wf_device *device = csr->device;
    wf_buffer *copy = NULL;
    if (bytes > from.range)
        return wfi_fail(&device->log, WF_ERROR_BINDING,
                        "wf_spmv_plan: a binding has %llu bytes; %llu are needed",
                        (unsigned long long)from.range, (unsigned long long)bytes);
    from.range = bytes;
    wf_result result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &copy);
    copy_job job = {device, from, copy ? copy->vk : VK_NULL_HANDLE};
    if (result == WF_SUCCESS)
        result = wfi_run(device, record_copy, &job);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(copy, 0, data, bytes);
    wf_buffer_destroy(&copy);
    return result;
}

wf_result wfi_device_csr_download(const wfi_device_csr *csr, uint32_t **row_offsets,
                                  uint32_t **column_indices, void **values)
{
    const wfi_log *log = &csr->device->log;
    wf_result result = wfi_device_csr_wait(csr, WFI_CSR_VALUES);
    *row_offsets = wfi_malloc((csr->rows + (size_t)1) * sizeof **row_offsets);
    *column_indices = NULL;
    *values = NULL;
    if (!*row_offsets)
        return wfi_no_memory(log);
    if (result == WF_SUCCESS)
        result = download(csr, csr->row_offsets, (csr->rows + UINT64_C(1)) * 4, *row_offsets);
    if (result != WF_SUCCESS)
        return result;
    const uint64_t entries = (*row_offsets)[csr->rows];
    *column_indices = wfi_malloc((size_t)entries * 4 + 4);
    *values = wfi_malloc((size_t)value_bytes(csr->type, entries));
    if (!*column_indices || !*values)
        return wfi_no_memory(log);
    if (entries)
        result = download(csr, csr->column_indices, entries * 4, *column_indices);
    if (result == WF_SUCCESS && entries)
        result = download(csr, csr->values, value_bytes(csr->type, entries), *values);
    return result;
}

/* ----------------------------------------------------------------------------------- statistics */

/* As in analysis_rows.comp, analysis_entries.comp and analysis_blocks.comp. */
typedef struct rows_push {
    uint32_t rows, slice_rows, slice_longest;
} rows_push;
typedef struct entries_push {
    uint32_t rows, columns, room, tile;
} entries_push;
typedef struct blocks_push {
    uint32_t room, side, step, block_rows;
} blocks_push;

static void add_rows(wfi_passes *passes, const wfi_device_csr *csr, VkDescriptorBufferInfo counts)
{
    const wfi_pass_kernel kernel = {
        &wfi_spv_analysis_rows, WFI_PASS_GROUP, 2, sizeof(rows_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {csr->row_offsets, counts};
    const rows_push push = {csr->rows, WFI_SPMV_SLICE_ROWS, WFI_SPMV_SLICE_LONGEST};
    const uint64_t groups = (csr->rows + UINT64_C(127)) / WFI_PASS_GROUP;
    wfi_passes_dispatch(passes, &kernel, groups < MOST_ROW_GROUPS ? groups : MOST_ROW_GROUPS,
                        buffers, &push);
}

/* The columns as far as a binding reaches. */
static VkDescriptorBufferInfo columns_of(const wfi_device_csr *csr, uint32_t room)
{
    VkDescriptorBufferInfo columns = csr->column_indices;
    columns.range = room ? room * UINT64_C(4) : 4;
    return columns;
}

static void add_entries(wfi_passes *passes, const wfi_device_csr *csr,
                        VkDescriptorBufferInfo counts, uint32_t room)
{
    const wfi_pass_kernel kernel = {
        &wfi_spv_analysis_entries, WFI_PASS_GROUP, 3, sizeof(entries_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {csr->row_offsets, columns_of(csr, room), counts};
    const uint32_t even = room / ENOUGH_TILES / WFI_PASS_GROUP * WFI_PASS_GROUP;
    const uint32_t tile = even < LEAST_TILE ? LEAST_TILE : even > MOST_TILE ? MOST_TILE : even;
    const entries_push push = {csr->rows, csr->columns, room, tile};
    wfi_passes_dispatch(passes, &kernel, ((uint64_t)room + tile - 1) / tile, buffers, &push);
}

/* A long row is one work-group's, so that groups are large. */
static uint32_t block_group(const wf_caps *caps)
{
    const bool large = caps->max_invocations >= 512 && caps->max_group_size[0] >= 512;
    return large ? 512 : WFI_PASS_GROUP;
}

static void add_blocks(wfi_passes *passes, const wfi_device_csr *csr, VkDescriptorBufferInfo counts,
                       uint32_t room)
{
    const wfi_pass_kernel kernel = {
        &wfi_spv_analysis_blocks, block_group(&csr->device->caps), 3, sizeof(blocks_push), {0}, 0};
    const VkDescriptorBufferInfo buffers[] = {csr->row_offsets, columns_of(csr, room), counts};
    for (uint32_t side = 2; side < 2 + WFI_SPMV_SIDES; side++) {
        const uint32_t all = csr->rows / side, step = wfi_spmv_sample_step(csr->rows, side);
        const blocks_push push = {room, side, step, (all + step - 1) / step};
        wfi_passes_dispatch(passes, &kernel, push.block_rows, buffers, &push);
    }
}

static uint64_t wide(const uint32_t *words, uint32_t at)
{
    return words[at] | (uint64_t)words[at + 1] << 32;
}

static void take_counts(const uint32_t *words, uint32_t entries, wfi_spmv_counts *c)
{
    *c = (wfi_spmv_counts){.entries = entries,
                           .shortest = words[COUNTS_SHORTEST],
                           .longest = words[COUNTS_LONGEST],
                           .bandwidth = words[COUNTS_BANDWIDTH],
                           .squares = wide(words, COUNTS_SQUARES),
                           .taken = wide(words, COUNTS_TAKEN),
                           .needed = wide(words, COUNTS_NEEDED)};
    memcpy(c->histogram, words + COUNTS_HISTOGRAM, sizeof c->histogram);
    for (uint32_t i = 0; i < WFI_SPMV_SIDES; i++) {
        c->block_entries[i] = wide(words, COUNTS_BLOCK_ENTRIES + 2 * i);
        c->blocks[i] = wide(words, COUNTS_BLOCKS + 2 * i);
    }
}

_Static_assert(COUNTS_BLOCKS == COUNTS_BLOCK_ENTRIES + 2 * WFI_SPMV_SIDES &&
                   COUNTS_HISTOGRAM == COUNTS_BLOCKS + 2 * WFI_SPMV_SIDES &&
                   COUNTS_FIRST == COUNTS_HISTOGRAM + WFI_SPMV_HISTOGRAM,
               "words of the counts follow each other");

/* Says what is wrong with the arrays, if anything. */
static wf_result judge(wfi_passes *passes, wfi_device_csr *csr, const uint32_t *words)
{
    wf_device *device = csr->device;
    const uint32_t bad = words[COUNTS_BAD_ENTRY];
    uint32_t column = 0;
    csr->entries = words[COUNTS_ENTRIES];
    if (words[COUNTS_FIRST] != 0)
        return wfi_spmv_bad_first(device, words[COUNTS_FIRST]);
    if (words[COUNTS_BAD_ROW] != NONE)
        return wfi_spmv_bad_row(device, words[COUNTS_BAD_ROW]);
    if (csr->entries * UINT64_C(4) > csr->column_indices.range ||
        value_bytes(csr->type, csr->entries) > csr->values.range)
        return wfi_fail(&device->log, WF_ERROR_BINDING,
                        "wf_spmv_plan: the bindings column_indices and values of %llu and %llu "
                        "bytes do not hold %u entries",
                        (unsigned long long)csr->column_indices.range,
                        (unsigned long long)csr->values.range, csr->entries);
    if (!wfi_device_csr_fits(&device->caps, csr->type, csr->rows, csr->columns, csr->entries))
        return WF_NOT_READY;
    if (bad == NONE)
        return WF_SUCCESS;
    VkDescriptorBufferInfo at = csr->column_indices;
    at.offset += bad * UINT64_C(4);
    at.range = 4;
    wfi_passes_read(passes, at, &column);
    wf_result result = wfi_passes_run(passes);
    return result == WF_SUCCESS ? wfi_spmv_bad_column(device, bad, column, csr->columns) : result;
}

static wf_result count_with(wfi_passes *passes, wfi_device_csr *csr, wf_buffer *buffer,
                            wfi_spmv_counts *counts)
{
    const uint64_t range = csr->column_indices.range, most = csr->device->caps.max_storage_range;
    const uint32_t room =
        csr->own[1] ? csr->entries : (uint32_t)((range < most ? range : most) / 4);
    const VkDescriptorBufferInfo info = wfi_pass_whole(buffer);
    uint32_t words[COUNTS_WORDS];
    wfi_passes_together(passes, true);
    wfi_passes_fill(passes, buffer, 0, COUNTS_LEAST * 4, NONE);
    wfi_passes_fill(passes, buffer, COUNTS_LEAST * 4, (COUNTS_WORDS - COUNTS_LEAST) * 4, 0);
    wfi_passes_together(passes, true); /* all they do to the counts is atomic */
    add_rows(passes, csr, info);
    add_entries(passes, csr, info, room);
    add_blocks(passes, csr, info, room);
    wfi_passes_together(passes, false);
    wfi_passes_see(passes, buffer, 0, sizeof words, words);
    wf_result result = wfi_device_csr_wait(csr, WFI_CSR_COLUMNS);
    passes->beside = wfi_device_csr_comes(csr);
    if (result == WF_SUCCESS)
        result = wfi_passes_run(passes);
    if (result == WF_SUCCESS)
        result = judge(passes, csr, words);
    if (result != WF_SUCCESS)
        return result;
    csr->column_indices.range = csr->entries ? csr->entries * UINT64_C(4) : 4;
    csr->values.range = value_bytes(csr->type, csr->entries);
    take_counts(words, csr->entries, counts);
    return WF_SUCCESS;
}

wf_result wfi_device_csr_count(wfi_device_csr *csr, wfi_spmv_counts *counts)
{
    wfi_passes passes;
    wf_buffer *buffer = NULL;
    wf_result result = wfi_passes_open(csr->device, &passes);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(csr->device, COUNTS_WORDS * 4, WF_MEMORY_DEVICE, &buffer);
    if (result == WF_SUCCESS)
        result = count_with(&passes, csr, buffer, counts);
    wf_buffer_destroy(&buffer);
    wfi_passes_close(&passes);
    return result;
}
