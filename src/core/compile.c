#include "core/compile.h"

#include <stdatomic.h>

#include "core/clock.h"
#include "core/heap.h"

/* The state has two owners, whoever started the job and the job until it has run; the last of them
 * frees it. */
struct wfi_compile {
    wfi_object object;
    wf_device *device;
    wfi_pipeline_desc desc;
    atomic_int owners;
    atomic_bool cancelled;
    atomic_int status; /* wf_result; written once, by the job */
    double seconds;    /* written before it */
    wfi_mutex lock;    /* pooled, between the job and the device's end */
    bool closed;
    wfi_pipeline outline;
    wfi_pooled *pooled;
};

static void close_compile(void *owner)
{
    wfi_compile *compile = owner;
    wfi_mutex_lock(&compile->lock);
    wfi_pool_give_back(compile->device, &compile->pooled);
    compile->closed = true;
    wfi_mutex_unlock(&compile->lock);
}

static void release(wfi_compile *compile)
{
    if (atomic_fetch_sub(&compile->owners, 1) > 1)
        return;
    wfi_pool_give_back(compile->device, &compile->pooled);
    wfi_mutex_destroy(&compile->lock);
    wfi_object_leave(&compile->object);
    wfi_free(compile);
}

static void run(void *job)
{
    wfi_compile *compile = job;
    wf_result result = WF_ERROR_DEVICE_CLOSED;
    const wfi_heap outer = wfi_heap_enter_device(compile->device);
    wfi_mutex_lock(&compile->lock);
    const double begun = wfi_host_seconds();
    if (!compile->closed && !atomic_load(&compile->cancelled))
        result = wfi_pool_take(compile->device, &compile->desc, &compile->pooled);
    wfi_heap_leave(outer, result);
    compile->seconds = wfi_host_seconds() - begun;
    wfi_mutex_unlock(&compile->lock);
    atomic_store(&compile->status, result);
    release(compile);
}

wf_result wfi_compile_start(wf_device *device, const wf_jobs *jobs, const wfi_pipeline_desc *desc,
                            wfi_compile **out)
{
    wfi_compile *compile = wfi_calloc(1, sizeof *compile);
    if (!compile || !wfi_mutex_init(&compile->lock)) {
        wfi_free(compile);
        return wfi_no_memory(&device->log);
    }
    compile->device = device;
    compile->desc = *desc;
    wf_result result = wfi_pipeline_outline(device, desc, &compile->outline);
    if (result != WF_SUCCESS) {
        wfi_mutex_destroy(&compile->lock);
        wfi_free(compile);
        return result;
    }
    compile->pooled = wfi_pool_take_compiled(device, desc);
    const bool waits = !compile->pooled;
    atomic_init(&compile->owners, waits ? 2 : 1);
    atomic_init(&compile->cancelled, false);
    atomic_init(&compile->status, waits ? WF_NOT_READY : WF_SUCCESS);
    wfi_object_enlist(device, &compile->object, close_compile, compile);
    *out = compile;
    if (waits)
        jobs->submit(jobs->user, run, compile);
    return WF_SUCCESS;
}

wf_result wfi_compile_status(const wfi_compile *compile)
{
    return (wf_result)atomic_load(&compile->status);
}

const wfi_pipeline *wfi_compile_pipeline(const wfi_compile *compile)
{
    return wfi_compile_status(compile) == WF_SUCCESS ? wfi_pooled_pipeline(compile->pooled)
                                                     : &compile->outline;
}

double wfi_compile_seconds(const wfi_compile *compile)
{
    return wfi_compile_status(compile) == WF_NOT_READY ? 0 : compile->seconds;
}

void wfi_compile_cancel(wfi_compile *compile)
{
    atomic_store(&compile->cancelled, true);
}

void wfi_compile_drop(wfi_compile **handle)
{
    if (!*handle)
        return;
    wfi_compile_cancel(*handle);
    release(*handle);
    *handle = NULL;
}
