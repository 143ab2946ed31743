/* Transfers that nobody waits for yet, made by a thread of the device. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/heap.h"
#include "core/staging.h"
#include "core/transfer.h"

struct wf_transfer {
    wfi_object object;
    wf_transfer *next; /* that comes after it */
    wf_buffer *buffer;
    uint64_t offset, bytes;
    const void *in;
    void *out;
    atomic_int result; /* a wf_result; WF_NOT_READY until it is done */
};

static void *run(void *user)
{
    wfi_mover *mover = user;
    wfi_mutex_lock(&mover->lock);
    while (!mover->ends || mover->first) {
        wf_transfer *t = mover->first;
        if (!t) {
            wfi_condition_wait(&mover->wake, &mover->lock);
            continue;
        }
        wfi_mutex_unlock(&mover->lock);
        const wf_result result = t->in ? wf_buffer_write(t->buffer, t->offset, t->in, t->bytes)
                                       : wf_buffer_read(t->buffer, t->offset, t->out, t->bytes);
        wfi_mutex_lock(&mover->lock);
        mover->first = t->next;
        atomic_store(&t->result, result);
        wfi_condition_broadcast(&mover->done);
    }
    wfi_mutex_unlock(&mover->lock);
    return NULL;
}

static void end_mover(wfi_mover *mover)
{
    wfi_mutex_lock(&mover->lock);
    mover->ends = true;
    wfi_condition_broadcast(&mover->wake);
    wfi_mutex_unlock(&mover->lock);
    wfi_thread_join(mover->thread);
}

static void close_transfer(void *owner)
{
    (void)owner; /* the device's end waits for all transfers before */
}

/* The caller holds the mover's lock. */
static bool start_thread(wfi_staging *staging)
{
    wfi_mover *mover = &staging->mover;
    if (!mover->started)
        mover->started = wfi_thread_start(&mover->thread, run, mover);
    if (mover->started)
        staging->mover_end = end_mover;
    return mover->started;
}

/* Exactly one of `in` and `out` is given, unless there are no bytes. */
static wf_result begin(wf_buffer *buffer, uint64_t offset, const void *in, void *out,
                       uint64_t bytes, wf_transfer **transfer)
{
    wf_result result = wfi_buffer_check(buffer, offset, in ? in : out, bytes);
    if (result != WF_SUCCESS || !transfer)
        return transfer ? result : WF_ERROR_INVALID_ARGUMENT;
    wf_device *device = buffer->device;
    wfi_staging *staging;
    result = wfi_staging_of(device, &staging);
    if (result != WF_SUCCESS)
        return result;
    wfi_mover *mover = &staging->mover;
    const wfi_heap outer = wfi_heap_enter_device(device);
    wf_transfer *t = wfi_calloc(1, sizeof *t);
    wfi_heap_leave(outer, WF_SUCCESS);
    if (!t)
        return wfi_no_memory(&device->log);
    t->buffer = buffer;
    t->offset = offset;
    t->in = in;
    t->out = out;
    t->bytes = bytes;
    atomic_init(&t->result, WF_NOT_READY);
    wfi_object_enlist(device, &t->object, close_transfer, t);
    wfi_mutex_lock(&mover->lock);
    const bool started = start_thread(staging);
    if (started) {
        wf_transfer **at = &mover->first;
        while (*at)
            at = &(*at)->next;
        *at = t;
        wfi_condition_signal(&mover->wake);
    }
    wfi_mutex_unlock(&mover->lock);
    if (!started) {
        wfi_object_leave(&t->object);
        wfi_free(t);
        return wfi_fail(&device->log, WF_ERROR_OUT_OF_HOST_MEMORY,
                        "the system gives no thread for transfers");
    }
    *transfer = t;
    return WF_SUCCESS;
}

wf_result wf_buffer_write_begin(wf_buffer *buffer, uint64_t offset, const void *data,
                                uint64_t bytes, wf_transfer **out)
{
    return begin(buffer, offset, data, NULL, bytes, out);
}

wf_result wf_buffer_read_begin(wf_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                               wf_transfer **out)
{
    return begin(buffer, offset, NULL, data, bytes, out);
}

wf_result wf_transfer_status(const wf_transfer *transfer)
{
    return transfer ? (wf_result)atomic_load(&transfer->result) : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wfi_transfer_wait(const wf_transfer *t)
{
    if (!t)
        return WF_SUCCESS;
    wfi_staging *staging = t->object.device->staging; /* NULL: the device's end waited */
    if (staging) {
        wfi_mutex_lock(&staging->mover.lock);
        while (atomic_load(&t->result) == WF_NOT_READY)
            wfi_condition_wait(&staging->mover.done, &staging->mover.lock);
        wfi_mutex_unlock(&staging->mover.lock);
    }
    return (wf_result)atomic_load(&t->result);
}

wf_result wf_transfer_end(wf_transfer **handle)
{
    wf_transfer *t = handle ? *handle : NULL;
    if (!t)
        return WF_SUCCESS;
    const wf_result result = wfi_transfer_wait(t);
    wfi_object_leave(&t->object);
    wfi_free(t);
    *handle = NULL;
    return result;
}
