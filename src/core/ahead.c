#include "core/ahead.h"

#include "core/heap.h"

typedef struct job {
    wf_device *device;
    wfi_pipeline_desc desc;
    wfi_pooled *pooled; /* NULL: it could not be compiled */
    wfi_thread thread;
    wfi_held held; /* what it would log */
} job;

struct wfi_ahead {
    uint32_t count; /* of jobs whose threads were started */
    job jobs[];
};

static void *compile(void *user)
{
    job *j = user;
    const wfi_heap outer = wfi_heap_enter_device(j->device);
    wfi_log_hold(&j->held);
    wfi_heap_leave(outer, wfi_pool_take(j->device, &j->desc, &j->pooled));
    wfi_log_hold(NULL);
    return NULL;
}

wfi_ahead *wfi_ahead_begin(wf_device *device, const wfi_pipeline_desc *descs, uint32_t count)
{
    wfi_ahead *ahead = NULL;
    if (!device->adopted && wfi_processors() > 1)
        ahead = wfi_calloc(1, sizeof *ahead + count * sizeof(job));
    for (uint32_t i = 0; ahead && i < count; i++) {
        job *j = &ahead->jobs[ahead->count];
        *j = (job){.device = device, .desc = descs[i]};
        wfi_pooled *compiled = wfi_pool_take_compiled(device, &j->desc);
        if (compiled)
            wfi_pool_give_back(device, &compiled);
        else if (wfi_thread_start(&j->thread, compile, j))
            ahead->count++;
        else
            break;
    }
    if (ahead && ahead->count > 0)
        return ahead;
    wfi_free(ahead);
    return NULL;
}

void wfi_ahead_end(wfi_ahead *ahead)
{
    if (!ahead)
        return;
    for (uint32_t i = 0; i < ahead->count; i++) {
        job *j = &ahead->jobs[i];
        wfi_thread_join(j->thread);
        wfi_log_say(&j->device->log, &j->held);
        wfi_pool_give_back(j->device, &j->pooled);
    }
    wfi_free(ahead);
}
