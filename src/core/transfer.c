/* A transfer goes in pieces through the slots of a ring: while the device copies one piece, threads
 * of the host copy slices of the next. The caller's thread submits, and copies slices meanwhile. */
#include "core/transfer.h"

#include <stdatomic.h>
#include <string.h>

#include "core/clock.h"
#include "core/command.h"
#include "core/host_memory.h"
#include "core/queue.h"
#include "core/staging.h"

#define KIB UINT64_C(1024)
/* Between two submissions an H100 does nothing for 13 us, in which the bus could move 700 KB. */
#define LEAST_PIECE (512 * KIB)
#define MOST_PIECE (8192 * KIB)
#define MOST_RING (32768 * KIB)
#define LEAST_SLICE (64 * KIB)
#define MOST_SLICE (512 * KIB)
#define PIECES 10                   /* that a transfer is cut into, if they come to these sizes */
#define THREADED_BYTES (2048 * KIB) /* from which waking threads pays */
#define POLL_TIMES 8       /* what a sleep loses is a 25th of what 64 MiB take a bus of 50 GB/s */
#define RESTLESS_ROUNDS 64 /* in which nothing was to be done, before the processor is lent */

#define NONE UINT64_MAX

typedef struct move {
    wf_device *device;
    wfi_staging *staging; /* NULL: a copy on the host */
    const wf_buffer *buffer;
    uint64_t offset; /* in the buffer */
    const unsigned char *in;
    unsigned char *out;
    uint64_t bytes, piece, slice, pieces, slots, slices, piece_slices;
    atomic_uint_fast64_t next;  /* slice that no thread has taken */
    atomic_uint_fast64_t ready; /* pieces before this one may be copied by the host */
    atomic_bool stops;
    atomic_uint_fast64_t copied[WFI_STAGING_SLOTS]; /* slices of the piece in the slot */
    /* Of the caller's thread: pieces submitted, those that the device is done with, those whose
     * slots are free again, and a slice that it took and may not copy yet. */
    uint64_t submitted, arrived, freed, held;
} move;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t parts(uint64_t all, uint64_t part)
{
    return (all + part - 1) / part;
}

static uint64_t piece_bytes(const move *m, uint64_t piece)
{
    return least(m->piece, m->bytes - piece * m->piece);
}

/* ---------------------------------------------------------------------------------- host copies */

static unsigned char *slot_of(const move *m, uint64_t piece)
{
    return (unsigned char *)m->staging->ring->mapped + piece % m->slots * m->piece;
}

static void copy_slice(move *m, uint64_t slice)
{
    const uint64_t piece = slice / m->piece_slices, at = slice % m->piece_slices * m->slice,
                   there = piece * m->piece + at, n = least(m->slice, piece_bytes(m, piece) - at);
    if (!m->staging)
        memcpy(m->out + there, m->in + there, (size_t)n);
    else if (m->in)
        memcpy(slot_of(m, piece) + at, m->in + there, (size_t)n);
    else
        memcpy(m->out + there, slot_of(m, piece) + at, (size_t)n);
    atomic_fetch_add(&m->copied[piece % m->slots], 1);
}

/* Whether all slices of the piece are copied. */
static bool is_copied(const move *m, uint64_t piece)
{
    return atomic_load(&m->copied[piece % m->slots]) == parts(piece_bytes(m, piece), m->slice);
}

static uint64_t take_slice(move *m)
{
    const uint64_t slice = atomic_fetch_add(&m->next, 1);
    return slice < m->slices ? slice : NONE;
}

/* What a worker does. */
static void help(void *user)
{
    move *m = user;
    uint64_t slice;
    while ((slice = take_slice(m)) != NONE) {
        for (unsigned round = 0; slice / m->piece_slices >= atomic_load(&m->ready); round++) {
            if (atomic_load(&m->stops))
                return;
            if (round > RESTLESS_ROUNDS)
                wfi_thread_yield();
        }
        copy_slice(m, slice);
    }
}

/* Copies one slice on the caller's thread; false: there is none that may be copied now. */
static bool copy_one(move *m)
{
    if (m->held == NONE)
        m->held = take_slice(m);
    if (m->held == NONE || m->held / m->piece_slices >= atomic_load(&m->ready))
        return false;
    copy_slice(m, m->held);
    m->held = NONE;
    return true;
}

/* ------------------------------------------------------------------------------ device's copies */

static wf_result record(wf_device *device, const wfi_staging_copy *c,
                        VkCommandBuffer command_buffer)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult vk = device->fn.vkBeginCommandBuffer(command_buffer, &info);
    if (vk >= VK_SUCCESS) {
        if (c->first) /* what was submitted before; pieces do not touch each other */
            wfi_barrier(device, command_buffer);
        device->fn.vkCmdCopyBuffer(command_buffer, c->from, c->to, 1, &c->region);
        if (c->to_host)
            wfi_barrier_host(device, command_buffer);
        vk = device->fn.vkEndCommandBuffer(command_buffer);
    }
    return wfi_check_vk(&device->log, vk, "recording a transfer");
}

/* Whether the slot's commands are this copy already: recording it takes a third of what a small
 * transfer lasts. */
static bool is_recorded(const wfi_staging_copy *c, const wfi_staging_copy *recorded)
{
    const VkBufferCopy *a = &c->region, *b = &recorded->region;
    return c->numbers[0] && c->numbers[1] && c->numbers[0] == recorded->numbers[0] &&
           c->numbers[1] == recorded->numbers[1] && a->srcOffset == b->srcOffset &&
           a->dstOffset == b->dstOffset && a->size == b->size && c->first == recorded->first &&
           c->to_host == recorded->to_host;
}

static wf_result submit_copy(wf_device *device, const wfi_staging_copy *c, wfi_staging_slot *slot)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &slot->command_buffer,
    };
    wf_result result = WF_SUCCESS;
    if (!is_recorded(c, &slot->recorded)) {
        slot->recorded = (wfi_staging_copy){0};
        result = record(device, c, slot->command_buffer);
    }
    if (result != WF_SUCCESS)
        return result;
    slot->recorded = *c;
    wfi_mutex_lock(&device->queue_lock);
    /* Reset before the submission, since a wait that failed may have left the fence signalled. */
    VkResult vk = device->fn.vkResetFences(device->vk, 1, &slot->fence);
    if (vk >= VK_SUCCESS)
        vk = wfi_submit(device, &info, slot->fence);
    wfi_mutex_unlock(&device->queue_lock);
    return wfi_check_vk(&device->log, vk, "submitting a transfer");
}

static wf_result submit(move *m)
{
    const uint64_t piece = m->submitted, staged = piece % m->slots * m->piece,
                   there = m->offset + piece * m->piece, n = piece_bytes(m, piece);
    const wf_buffer *ring = m->staging->ring, *from = m->in ? ring : m->buffer,
                    *to = m->in ? m->buffer : ring;
    const wfi_staging_copy c = {.from = from->vk,
                                .to = to->vk,
                                .numbers = {from->number, to->number},
                                .region = {m->in ? staged : there, m->in ? there : staged, n},
                                .first = piece == 0,
                                .to_host = m->out != NULL};
    const wf_result result = submit_copy(m->device, &c, &m->staging->slots[piece % m->slots]);
    m->submitted += result == WF_SUCCESS;
    return result;
}

static VkFence oldest_fence(const move *m)
{
    return m->staging->slots[m->arrived % m->slots].fence;
}

/* Looks whether the oldest pieces under way have arrived. */
static wf_result look(move *m)
{
    VkResult vk = VK_SUCCESS;
    while (m->arrived < m->submitted) {
        vk = m->device->fn.vkGetFenceStatus(m->device->vk, oldest_fence(m));
        if (vk != VK_SUCCESS)
            break;
        m->arrived++;
    }
    return wfi_check_vk(&m->device->log, vk, "waiting for a transfer");
}

/* -------------------------------------------------------------------------------- the two ways */

/* Submits what is copied, and lets the host copy to the slots that are free again. */
static wf_result go_up(move *m)
{
    wf_result result = look(m);
    for (; m->freed < m->arrived; m->freed++)
        atomic_store(&m->copied[m->freed % m->slots], 0);
    atomic_store(&m->ready, m->freed + m->slots);
    while (result == WF_SUCCESS && m->submitted < m->pieces && m->submitted < m->freed + m->slots &&
           is_copied(m, m->submitted))
        result = submit(m);
    return result;
}

/* Lets the host copy what has arrived, and submits to the slots that are free again. */
static wf_result go_down(move *m)
{
    wf_result result = look(m);
    atomic_store(&m->ready, m->arrived);
    for (; m->freed < m->arrived && is_copied(m, m->freed); m->freed++)
        atomic_store(&m->copied[m->freed % m->slots], 0);
    while (result == WF_SUCCESS && m->submitted < m->pieces && m->submitted < m->freed + m->slots)
        result = submit(m);
    return result;
}

/* Nothing is to be done but to wait: for a thread that copies, or for the device, which is asked
 * for a while before the thread sleeps, as in wfi_wait. */
static wf_result rest(move *m, double since)
{
    wf_device *device = m->device;
    if (m->arrived == m->submitted)
        wfi_thread_yield();
    if (m->arrived == m->submitted || wfi_host_seconds() - since < device->poll_seconds)
        return WF_SUCCESS;
    const VkFence fence = oldest_fence(m);
    const VkResult vk = device->fn.vkWaitForFences(device->vk, 1, &fence, VK_TRUE, UINT64_MAX);
    m->arrived += vk >= VK_SUCCESS;
    return wfi_check_vk(&device->log, vk, "waiting for a transfer");
}

static wf_result go(move *m)
{
    wf_result result = WF_SUCCESS;
    double since = 0;
    while (result == WF_SUCCESS) {
        const uint64_t before = m->submitted + m->arrived;
        result = m->in ? go_up(m) : go_down(m);
        if (m->freed == m->pieces)
            break;
        const bool moved = copy_one(m) || m->submitted + m->arrived > before;
        if (moved)
            since = 0;
        else if (since == 0)
            since = wfi_host_seconds();
        else if (result == WF_SUCCESS)
            result = rest(m, since);
    }
    return result;
}

/* After a failure: no thread copies any more, and the device is done with what was submitted. */
static void give_up(move *m)
{
    atomic_store(&m->stops, true);
    for (; m->arrived < m->submitted; m->arrived++) {
        wfi_mutex_lock(&m->device->queue_lock);
        wfi_settle(m->device, oldest_fence(m));
        wfi_mutex_unlock(&m->device->queue_lock);
    }
}

/* ------------------------------------------------------------------------------------ transfers */

static uint64_t within(uint64_t low, uint64_t value, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Sets sizes and counts; `ring` bytes are there for the slots. */
static void cut(move *m, uint64_t ring)
{
    m->piece = within(LEAST_PIECE, parts(m->bytes, PIECES * LEAST_SLICE) * LEAST_SLICE, MOST_PIECE);
    m->piece = least(m->piece, ring);
    m->slots = within(1, ring / m->piece, WFI_STAGING_SLOTS);
    m->slice = within(LEAST_SLICE, m->piece / 8, MOST_SLICE);
    m->piece_slices = parts(m->piece, m->slice);
    m->pieces = parts(m->bytes, m->piece);
    m->slices = (m->pieces - 1) * m->piece_slices + parts(piece_bytes(m, m->pieces - 1), m->slice);
    m->held = NONE;
}

static uint32_t helpers(const wfi_staging *staging, uint64_t bytes)
{
    return bytes < THREADED_BYTES ? 0 : staging->threads - 1;
}

static wf_result move_staged(wf_buffer *buffer, uint64_t offset, const unsigned char *in,
                             unsigned char *out, uint64_t bytes)
{
    wf_device *device = buffer->device;
    wfi_staging *staging = device->staging;
    move m = {.device = device,
              .staging = staging,
              .buffer = buffer,
              .offset = offset,
              .in = in,
              .out = out,
              .bytes = bytes};
    wf_result result = wfi_staging_prepare(device, least(bytes, MOST_RING));
    if (result != WF_SUCCESS || bytes == 0)
        return result;
    const uint32_t count = helpers(staging, bytes);
    cut(&m, staging->ring->bytes);
    if (count)
        wfi_workers_begin(&staging->workers, count, help, &m);
    result = go(&m);
    if (result != WF_SUCCESS)
        give_up(&m);
    if (count)
        wfi_workers_end(&staging->workers);
    return result;
}

/* One copy between the buffer and imported memory at this address. */
static wf_result move_directly(wf_buffer *buffer, uint64_t offset, const wf_host_memory *host,
                               const unsigned char *at, uint64_t bytes, bool up)
{
    wf_device *device = buffer->device;
    const uint64_t there = (uint64_t)(at - host->begin);
    const wfi_staging_copy c = {.from = up ? host->vk : buffer->vk,
                                .to = up ? buffer->vk : host->vk,
                                .region = {up ? there : offset, up ? offset : there, bytes},
                                .first = true,
                                .to_host = !up};
    wf_result result = wfi_staging_prepare(device, 0);
    wfi_staging_slot *slot = &device->staging->slots[0];
    if (result == WF_SUCCESS)
        result = submit_copy(device, &c, slot);
    if (result != WF_SUCCESS)
        return result;
    const VkResult vk = wfi_wait_patiently(device, slot->fence, POLL_TIMES);
    if (vk < VK_SUCCESS) {
        wfi_mutex_lock(&device->queue_lock);
        wfi_settle(device, slot->fence);
        wfi_mutex_unlock(&device->queue_lock);
    }
    return wfi_check_vk(&device->log, vk, "waiting for a transfer");
}

/* What lies in imported memory goes directly, the ends through staging. */
static wf_result move_parts(wf_buffer *buffer, uint64_t offset, const unsigned char *in,
                            unsigned char *out, uint64_t bytes)
{
    uint64_t done = 0;
    wf_result result = WF_SUCCESS;
    while (done < bytes && result == WF_SUCCESS) {
        const unsigned char *at = (in ? in : out) + done;
        uint64_t first = bytes - done, end = first;
        const wf_host_memory *host =
            wfi_host_memory_find(buffer->device, at, bytes - done, &first, &end);
        if (host && end - first < LEAST_PIECE) { /* two submissions would take longer */
            host = NULL;
            first = end = bytes - done;
        }
        if (first > 0)
            result = move_staged(buffer, offset + done, in ? in + done : NULL,
                                 out ? out + done : NULL, first);
        if (host && result == WF_SUCCESS)
            result = move_directly(buffer, offset + done + first, host, at + first, end - first,
                                   in != NULL);
        done += end;
    }
    return result;
}

wf_result wfi_transfer_data(wf_buffer *buffer, uint64_t offset, const unsigned char *in,
                            unsigned char *out, uint64_t bytes)
{
    wf_device *device = buffer->device;
    wfi_staging *staging;
    wf_result result = wfi_staging_of(device, &staging);
    if (result != WF_SUCCESS)
        return result;
    wfi_mutex_lock(&staging->lock);
    if (device->keeps) /* what is under way may still use the ring */
        result = wfi_fail(&device->log, WF_ERROR_DEVICE_LOST,
                          "a transfer: the driver does not say whether earlier work has ended");
    else
        result = move_parts(buffer, offset, in, out, bytes);
    wfi_mutex_unlock(&staging->lock);
    return result;
}

void wfi_copy(wf_device *device, unsigned char *to, const unsigned char *from, uint64_t bytes)
{
    wfi_staging *staging = NULL;
    const bool large = bytes >= THREADED_BYTES;
    const uint32_t count =
        large && wfi_staging_of(device, &staging) == WF_SUCCESS ? helpers(staging, bytes) : 0;
    if (!count) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    move m = {.device = device, .in = from, .out = to, .bytes = bytes};
    cut(&m, UINT64_MAX);
    m.slots = 1; /* counts are of no use here */
    atomic_store(&m.ready, NONE);
    wfi_mutex_lock(&staging->lock);
    wfi_workers_begin(&staging->workers, count, help, &m);
    help(&m);
    wfi_workers_end(&staging->workers);
    wfi_mutex_unlock(&staging->lock);
}
