#include "kernels/spmv/analysis/passes.h"

#include <stdatomic.h>
#include <string.h>

#include "core/arena.h"
#include "core/arithmetic.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/names.h"
#include "core/pipeline_pool.h"
#include "core/workers.h"
#include "plan/dispatch_size.h"

#define MOST_SEEN 512 /* bytes */
#define POLL_TIMES 8  /* what a sleep loses, a plan of a million entries lost three times */

/* ------------------------------------------------------------------------------------ pipelines */

static wfi_pipeline_desc describe(const wfi_pass_kernel *kernel)
{
    wfi_pipeline_desc desc = {.name = kernel->spirv->name,
                              .spirv = kernel->spirv,
                              .storage_buffers = kernel->storage_buffers,
                              .push_bytes = kernel->push_bytes,
                              .subgroup_size = kernel->subgroup,
                              .bound_sets = true};
    const uint32_t constants[] = {kernel->group, 1, 1, kernel->constants[0], kernel->constants[1]};
    for (uint32_t id = 0; id < WFI_COUNT(constants); id++)
        wfi_pipeline_constant(&desc, id, constants[id]);
    return desc;
}

static bool needs_pipeline(const wfi_pass *pass)
{
    return pass->kernel.spirv && !pass->pooled;
}

/* Takes what is compiled already; returns how many passes are left without a pipeline. */
static uint32_t take_compiled(wfi_passes *passes)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < passes->count; i++) {
        wfi_pass *pass = &passes->items[i];
        if (!needs_pipeline(pass))
            continue;
        const wfi_pipeline_desc desc = describe(&pass->kernel);
        pass->pooled = wfi_pool_take_compiled(passes->device, &desc);
        left += !pass->pooled;
    }
    return left;
}

/* Passes whose pipelines threads compile, each the next that none has begun. */
typedef struct compiling {
    wfi_passes *passes;
    atomic_uint next;
    atomic_int result; /* wf_result of one that failed */
} compiling;

/* A thread that compiles, and what it would log. */
typedef struct compiler {
    compiling *shared;
    wfi_thread thread;
    wfi_held held;
} compiler;

static void compile_some(compiling *c)
{
    const wfi_heap outer = wfi_heap_enter_device(c->passes->device);
    uint32_t i;
    while ((i = atomic_fetch_add(&c->next, 1)) < c->passes->count) {
        wfi_pass *pass = &c->passes->items[i];
        if (!needs_pipeline(pass))
            continue;
        const wfi_pipeline_desc desc = describe(&pass->kernel);
        const wf_result result = wfi_pool_take(c->passes->device, &desc, &pass->pooled);
        if (result != WF_SUCCESS)
            atomic_store(&c->result, result);
    }
    wfi_heap_leave(outer, WF_SUCCESS);
}

static void *compile_beside(void *user)
{
    compiler *own = user;
    wfi_log_hold(&own->held);
    compile_some(own->shared);
    wfi_log_hold(NULL);
    return NULL;
}

/* A driver takes milliseconds for each kernel, and the first analysis needs a dozen or two. An
 * adopted device's application says on which threads they compile. */
static wf_result take_pipelines(wfi_passes *passes)
{
    compiler others[WFI_MOST_WORKERS];
    compiling c = {.passes = passes};
    uint32_t count = 0, wanted = take_compiled(passes);
    wanted = wanted < wfi_copy_threads() ? wanted : wfi_copy_threads();
    while (count + 1 < wanted && !passes->device->adopted) {
        others[count].shared = &c;
        others[count].held.used = 0;
        if (!wfi_thread_start(&others[count].thread, compile_beside, &others[count]))
            break;
        count++;
    }
    if (wanted)
        compile_some(&c);
    while (count-- > 0) {
        wfi_thread_join(others[count].thread);
        wfi_log_say(&passes->device->log, &others[count].held);
    }
    return (wf_result)atomic_load(&c.result);
}

static void give_back_pipelines(wfi_passes *passes)
{
    for (uint32_t i = 0; i < passes->count; i++)
        wfi_pool_give_back(passes->device, &passes->items[i].pooled);
}

/* ----------------------------------------------------------------------------------------- list */

wf_result wfi_passes_open(wf_device *device, wfi_passes *out)
{
    *out = (wfi_passes){.device = device};
    const wf_result result = wfi_scratch_take(device, &out->scratch);
    if (result != WF_SUCCESS)
        wfi_passes_close(out);
    return result;
}

void wfi_passes_close(wfi_passes *passes)
{
    wfi_stream_close(&passes->stream);
    give_back_pipelines(passes);
    wfi_scratch_give_back(passes->device, &passes->scratch);
    wfi_free(passes->items);
    *passes = (wfi_passes){0};
}

VkDescriptorBufferInfo wfi_pass_whole(const wf_buffer *buffer)
{
    return (VkDescriptorBufferInfo){buffer->vk, 0, buffer->bytes};
}

/* The next pass; NULL after a failure. */
static wfi_pass *add(wfi_passes *passes)
{
    if (passes->result != WF_SUCCESS)
        return NULL;
    if (passes->count == passes->room) {
        const uint32_t room = passes->room ? 2 * passes->room : 64;
        wfi_pass *items = wfi_realloc(passes->items, room * sizeof *items);
        if (!items) {
            passes->result = wfi_no_memory(&passes->device->log);
            return NULL;
        }
        passes->items = items;
        passes->room = room;
    }
    wfi_pass *pass = &passes->items[passes->count++];
    *pass = (wfi_pass){.beside = passes->together && passes->begun};
    passes->begun = true;
    return pass;
}

void wfi_passes_together(wfi_passes *passes, bool together)
{
    passes->together = together;
    passes->begun = false;
}

static wf_result write_set(wfi_passes *passes, wfi_pass *pass)
{
    wf_device *device = passes->device;
    VkWriteDescriptorSet writes[WFI_PASS_BUFFERS];
    wf_result result = wfi_arena_set(passes->scratch.arena, &device->log,
                                     wfi_pooled_pipeline(pass->pooled), &pass->set);
    if (result != WF_SUCCESS)
        return result;
    for (uint32_t i = 0; i < pass->buffer_count; i++)
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = pass->set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &pass->buffers[i]};
    device->fn.vkUpdateDescriptorSets(device->vk, pass->buffer_count, writes, 0, NULL);
    return WF_SUCCESS;
}

void wfi_passes_dispatch(wfi_passes *passes, const wfi_pass_kernel *kernel, uint64_t groups,
                         const VkDescriptorBufferInfo *buffers, const void *push)
{
    wfi_pass *pass = groups ? add(passes) : NULL;
    if (!pass)
        return;
    pass->buffer_count = kernel->storage_buffers;
    pass->push_bytes = kernel->push_bytes;
    memcpy(pass->buffers, buffers, pass->buffer_count * sizeof *buffers);
    if (pass->push_bytes)
        memcpy(pass->push, push, pass->push_bytes);
    pass->kernel = *kernel;
    passes->result = wfi_dispatch_groups(passes->device, groups, pass->groups);
}

/* Whether the host gets at the bytes directly, and they are few: reading a line of them took it 1
 * to 2 us on an H200, a copy by the device and what it waits for 3.3 and more. */
static bool sees(const wf_buffer *buffer, uint64_t bytes)
{
    return buffer->window && bytes <= MOST_SEEN;
}

void wfi_passes_fill(wfi_passes *passes, const wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                     uint32_t value)
{
    if (passes->count == 0 && sees(buffer, bytes)) {
        uint32_t *words = (uint32_t *)(void *)(buffer->window + offset);
        for (uint64_t i = 0; i < bytes / 4; i++)
            words[i] = value;
        atomic_thread_fence(memory_order_seq_cst); /* flushes write-combining buffers */
        return;
    }
    wfi_pass *pass = bytes ? add(passes) : NULL;
    if (!pass)
        return;
    pass->buffers[0] = (VkDescriptorBufferInfo){buffer->vk, offset, bytes};
    pass->value = value;
}

void wfi_passes_copy(wfi_passes *passes, VkDescriptorBufferInfo from, VkDescriptorBufferInfo to)
{
    wfi_pass *pass = from.range ? add(passes) : NULL;
    if (!pass)
        return;
    pass->buffers[0] = from;
    pass->buffers[1] = to;
    pass->copies = true;
}

void wfi_passes_read(wfi_passes *passes, VkDescriptorBufferInfo from, void *data)
{
    wfi_pass *pass = add(passes);
    if (!pass)
        return;
    pass->buffers[0] = from;
    pass->read = data;
    pass->read_at = passes->read_bytes;
    passes->read_bytes += from.range;
}

void wfi_passes_see(wfi_passes *passes, const wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                    void *data)
{
    if (sees(buffer, bytes) && passes->seen_count < WFI_PASS_SEEN)
        passes->seen[passes->seen_count++] = (wfi_pass_seen){buffer->window + offset, data, bytes};
    else
        wfi_passes_read(passes, (VkDescriptorBufferInfo){buffer->vk, offset, bytes}, data);
}

static void record_pass(const wfi_passes *passes, const wfi_pass *pass,
                        VkCommandBuffer command_buffer)
{
    const struct VolkDeviceTable *fn = &passes->device->fn;
    const VkDescriptorBufferInfo *first = &pass->buffers[0];
    if (pass->pooled) {
        const wfi_pipeline *pipeline = wfi_pooled_pipeline(pass->pooled);
        fn->vkCmdBindPipeline(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->vk);
        fn->vkCmdBindDescriptorSets(command_buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                    pipeline->layout, 0, 1, &pass->set, 0, NULL);
        if (pass->push_bytes)
            fn->vkCmdPushConstants(command_buffer, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   pass->push_bytes, pass->push);
        wfi_label_begin(passes->device, command_buffer, pipeline->spirv->name);
        fn->vkCmdDispatch(command_buffer, pass->groups[0], pass->groups[1], pass->groups[2]);
        wfi_label_end(passes->device, command_buffer);
    } else if (pass->copies) {
        const VkBufferCopy region = {first->offset, pass->buffers[1].offset, first->range};
        fn->vkCmdCopyBuffer(command_buffer, first->buffer, pass->buffers[1].buffer, 1, &region);
    } else if (pass->read) {
        const VkBufferCopy region = {first->offset, pass->read_at, first->range};
        fn->vkCmdCopyBuffer(command_buffer, first->buffer, passes->scratch.readback->vk, 1,
                            &region);
    } else {
        fn->vkCmdFillBuffer(command_buffer, first->buffer, first->offset, first->range,
                            pass->value);
    }
}

static wf_result record(void *user, VkCommandBuffer command_buffer)
{
    wfi_passes *passes = user;
    for (uint32_t i = 0; i < passes->count; i++) {
        wfi_pass *pass = &passes->items[i];
        wf_result result = pass->pooled ? write_set(passes, pass) : WF_SUCCESS;
        if (result != WF_SUCCESS)
            return result;
        if (i > 0 && !pass->beside && !(pass->read && pass[-1].read))
            wfi_barrier(passes->device, command_buffer);
        wfi_label_begin(passes->device, command_buffer, "wavefit spmv analysis");
        record_pass(passes, pass, command_buffer);
        wfi_label_end(passes->device, command_buffer);
    }
    return WF_SUCCESS;
}

static wf_result submit_and_wait(wfi_passes *passes)
{
    double unused;
    wf_result result = WF_SUCCESS;
    if (!passes->beside)
        return wfi_run_patiently(passes->device, record, passes, POLL_TIMES);
    if (!passes->stream.device)
        result = wfi_stream_open(passes->device, WFI_STREAM_FIRST, &passes->stream);
    if (result == WF_SUCCESS)
        result = wfi_stream_submit(&passes->stream, record, passes);
    return result == WF_SUCCESS ? wfi_stream_wait(&passes->stream, &unused) : result;
}

wf_result wfi_passes_run(wfi_passes *passes)
{
    wf_result result = passes->result;
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(passes->device);
    if (result == WF_SUCCESS)
        result = take_pipelines(passes);
    if (result == WF_SUCCESS && passes->count)
        result = submit_and_wait(passes);
    const unsigned char *data = passes->scratch.readback->mapped;
    for (uint32_t i = 0; i < passes->count && result == WF_SUCCESS; i++) {
        const wfi_pass *pass = &passes->items[i];
        if (pass->read)
            memcpy(pass->read, data + pass->read_at, (size_t)pass->buffers[0].range);
    }
    for (uint32_t i = 0; i < passes->seen_count && result == WF_SUCCESS; i++)
        memcpy(passes->seen[i].data, passes->seen[i].from, (size_t)passes->seen[i].bytes);
    wf_arena_reset(passes->scratch.arena);
    give_back_pipelines(passes);
    passes->count = passes->seen_count = 0;
    passes->read_bytes = 0;
    passes->together = false;
    passes->result = WF_SUCCESS;
    return result;
}
