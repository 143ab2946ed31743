#include "core/pipeline_pool.h"

#include "core/heap.h"

struct wfi_pooled {
    wfi_pooled *next;
    wfi_pipeline_desc desc;
    bool pushed, dispatch_base; /* what else of the device a pipeline depends on */
    uint32_t users;             /* under the device's pool_lock, as all but the pipeline */
    uint64_t idle_since;        /* by device->pool_clock, where there are no users */
    bool compiling;
    wf_result result; /* of compiling */
    wfi_pipeline pipeline;
};

static bool same_constants(const wfi_pipeline_desc *a, const wfi_pipeline_desc *b)
{
    for (uint32_t i = 0; i < a->constant_count; i++)
        if (a->constants[i].id != b->constants[i].id ||
            a->constants[i].value != b->constants[i].value)
            return false;
    return true;
}

/* Every member but the name. */
static bool same_desc(const wfi_pipeline_desc *a, const wfi_pipeline_desc *b)
{
    return a->spirv == b->spirv && a->constant_count == b->constant_count &&
           a->storage_buffers == b->storage_buffers && a->texel_buffers == b->texel_buffers &&
           a->storage_images == b->storage_images && a->uniform_buffers == b->uniform_buffers &&
           a->push_bytes == b->push_bytes && a->subgroup_size == b->subgroup_size &&
           a->full_subgroups == b->full_subgroups && a->bound_sets == b->bound_sets &&
           same_constants(a, b);
}

static wfi_pooled *find(const wf_device *device, const wfi_pipeline_desc *desc)
{
    wfi_pooled *pooled = device->pipelines;
    while (pooled &&
           !(same_desc(&pooled->desc, desc) && pooled->pushed == device->caps.push_descriptors &&
             pooled->dispatch_base == (device->dispatch_seconds > 0)))
        pooled = pooled->next;
    return pooled;
}

static void unlist(wf_device *device, const wfi_pooled *pooled)
{
    wfi_pooled **at = &device->pipelines;
    while (*at && *at != pooled)
        at = &(*at)->next;
    if (*at)
        *at = pooled->next;
}

static void destroy(wf_device *device, wfi_pooled *pooled)
{
    unlist(device, pooled);
    wfi_pipeline_destroy(device, &pooled->pipeline);
    wfi_free(pooled);
}

/* Destroys those that have been idle the longest until `most` are left. */
static void keep_idle(wf_device *device, uint32_t most)
{
    for (;;) {
        wfi_pooled *oldest = NULL;
        uint32_t count = 0;
        for (wfi_pooled *p = device->pipelines; p; p = p->next) {
            if (p->users > 0)
                continue;
            count++;
            oldest = !oldest || p->idle_since < oldest->idle_since ? p : oldest;
        }
        if (count <= most)
            return;
        destroy(device, oldest);
    }
}

/* The caller holds the lock. A pipeline that failed to compile is not in the list any more. */
static void release(wf_device *device, wfi_pooled *pooled)
{
    if (--pooled->users > 0)
        return;
    pooled->idle_since = ++device->pool_clock;
    if (pooled->result != WF_SUCCESS)
        destroy(device, pooled);
    keep_idle(device, WFI_POOL_IDLE);
}

static wfi_pooled *add(wf_device *device, const wfi_pipeline_desc *desc)
{
    wfi_pooled *pooled = wfi_calloc(1, sizeof *pooled);
    if (!pooled)
        return NULL;
    pooled->desc = *desc;
    pooled->pushed = device->caps.push_descriptors;
    pooled->dispatch_base = device->dispatch_seconds > 0;
    pooled->users = 1;
    pooled->compiling = true;
    pooled->next = device->pipelines;
    device->pipelines = pooled;
    return pooled;
}

/* The caller holds the lock, which is released while the pipeline compiles. */
static void compile(wf_device *device, wfi_pooled *pooled)
{
    wfi_mutex_unlock(&device->pool_lock);
    const wf_result result = wfi_pipeline_create(device, &pooled->desc, &pooled->pipeline);
    wfi_mutex_lock(&device->pool_lock);
    pooled->result = result;
    pooled->compiling = false;
    if (result != WF_SUCCESS) /* the next caller compiles it again */
        unlist(device, pooled);
    wfi_condition_broadcast(&device->pool_compiled);
}

wf_result wfi_pool_take(wf_device *device, const wfi_pipeline_desc *desc, wfi_pooled **out)
{
    wfi_mutex_lock(&device->pool_lock);
    wfi_pooled *pooled = find(device, desc);
    if (pooled) {
        pooled->users++;
        while (pooled->compiling)
            wfi_condition_wait(&device->pool_compiled, &device->pool_lock);
    } else {
        pooled = add(device, desc);
        if (pooled)
            compile(device, pooled);
    }
    const wf_result result = pooled ? pooled->result : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (pooled && result != WF_SUCCESS)
        release(device, pooled);
    else
        *out = pooled;
    wfi_mutex_unlock(&device->pool_lock);
    return pooled ? result : wfi_no_memory(&device->log);
}

wfi_pooled *wfi_pool_take_compiled(wf_device *device, const wfi_pipeline_desc *desc)
{
    wfi_mutex_lock(&device->pool_lock);
    wfi_pooled *pooled = find(device, desc);
    if (pooled && pooled->compiling)
        pooled = NULL;
    if (pooled)
        pooled->users++;
    wfi_mutex_unlock(&device->pool_lock);
    return pooled;
}

const wfi_pipeline *wfi_pooled_pipeline(const wfi_pooled *pooled)
{
    return &pooled->pipeline;
}

void wfi_pool_give_back(wf_device *device, wfi_pooled **handle)
{
    if (!*handle)
        return;
    wfi_mutex_lock(&device->pool_lock);
    release(device, *handle);
    wfi_mutex_unlock(&device->pool_lock);
    *handle = NULL;
}

void wfi_pool_clear(wf_device *device)
{
    wfi_mutex_lock(&device->pool_lock);
    keep_idle(device, 0);
    wfi_mutex_unlock(&device->pool_lock);
}
