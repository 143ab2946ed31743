#include "core/share.h"

#include <stdatomic.h>

#include "core/heap.h"
#include "core/staging.h"
#include "core/transfer.h"

#define PIECE (UINT64_C(8) << 20) /* of memory in which a buffer's bytes are made */

typedef struct shared_work {
    uint32_t parts;
    atomic_uint next; /* part that no thread has taken */
    void (*work)(void *user, uint32_t part);
    void *user;
} shared_work;

static void help(void *user)
{
    shared_work *s = user;
    uint32_t part;
    while ((part = atomic_fetch_add(&s->next, 1)) < s->parts)
        s->work(s->user, part);
}

void wfi_share(wf_device *device, uint32_t parts, void (*work)(void *user, uint32_t part),
               void *user)
{
    wfi_staging *staging = NULL;
    shared_work s = {.parts = parts, .work = work, .user = user};
    if (parts < 2 || wfi_staging_of(device, &staging) != WF_SUCCESS) {
        help(&s);
        return;
    }
    const uint32_t others = staging->threads - 1;
    wfi_mutex_lock(&staging->lock);
    wfi_workers_begin(&staging->workers, others < parts - 1 ? others : parts - 1, help, &s);
    help(&s);
    wfi_workers_end(&staging->workers);
    wfi_mutex_unlock(&staging->lock);
}

/* Some of a buffer's bytes, at `to`. */
typedef struct making {
    const wfi_maker *maker;
    unsigned char *to;
    uint64_t at, bytes;
} making;

static void make_part(void *user, uint32_t part)
{
    const making *m = user;
    const uint64_t from = part * m->maker->part, left = m->bytes - from;
    m->maker->make(m->maker->user, m->at + from, left < m->maker->part ? left : m->maker->part,
                   m->to + from);
}

static void make(wf_device *device, making *m)
{
    wfi_share(device, (uint32_t)((m->bytes + m->maker->part - 1) / m->maker->part), make_part, m);
}

wf_result wfi_buffer_make(wf_buffer *buffer, uint64_t offset, uint64_t bytes,
                          const wfi_maker *maker)
{
    making m = {.maker = maker, .bytes = bytes};
    if (buffer->window) {
        m.to = buffer->window + offset;
        make(buffer->device, &m);
        atomic_thread_fence(memory_order_seq_cst); /* flushes write-combining buffers */
        return WF_SUCCESS;
    }
    const uint64_t rounded = PIECE / maker->part * maker->part,
                   piece = rounded ? rounded : maker->part;
    wf_result result = WF_SUCCESS;
    m.to = wfi_malloc((size_t)(piece < bytes ? piece : bytes));
    if (!m.to)
        return wfi_no_memory(&buffer->device->log);
    for (; m.at < bytes && result == WF_SUCCESS; m.at += piece) {
        m.bytes = bytes - m.at < piece ? bytes - m.at : piece;
        make(buffer->device, &m);
        result = wfi_transfer_data(buffer, offset + m.at, m.to, NULL, m.bytes);
    }
    wfi_free(m.to);
    return result;
}
