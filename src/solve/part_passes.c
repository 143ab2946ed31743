#include "solve/part_passes.h"

#include "core/arithmetic.h"
#include "core/clock.h"

static wf_result make_semaphores(wfi_part_passes *p)
{
    wf_device *device = p->device;
    VkSemaphore *const made[] = {&p->arrived, &p->updated, &p->rest};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkResult vk = VK_SUCCESS;
    for (size_t i = 0; i < WFI_COUNT(made) && vk >= VK_SUCCESS; i++)
        if (!*made[i])
            vk = WFI_MADE(
                device->fn.vkCreateSemaphore(device->vk, &info, device->allocator, made[i]),
                made[i]);
    return wfi_check_vk(&device->log, vk, "vkCreateSemaphore");
}

static void free_semaphores(wfi_part_passes *p)
{
    const wf_device *device = p->device;
    VkSemaphore *const made[] = {&p->arrived, &p->updated, &p->rest};
    for (size_t i = 0; i < WFI_COUNT(made); i++) {
        if (*made[i] && !device->keeps)
            device->fn.vkDestroySemaphore(device->vk, *made[i], device->allocator);
        *made[i] = VK_NULL_HANDLE;
    }
    p->rest_signalled = false;
}

static void close_streams(void *owner)
{
    wfi_part_passes *p = owner;
    wfi_stream_close(&p->early);
    wfi_stream_close(&p->late);
    wfi_stream_close(&p->copies);
    if (p->device)
        free_semaphores(p);
}

wf_result wfi_part_passes_open(wf_device *device, bool beside, wfi_part_passes *p)
{
    /* Neighbours wait for the first part, so it goes to the family whose work the device begins
     * first: on an H100 that is the one with graphics, which the side queue is of. */
    const wfi_stream_queue early =
        beside && device->works_beside ? WFI_STREAM_KERNELS : WFI_STREAM_FIRST;
    *p = (wfi_part_passes){.device = device};
    wfi_object_enlist(device, &p->object, close_streams, p);
    wf_result result = wfi_stream_open(device, early, &p->early);
    if (result == WF_SUCCESS)
        result = wfi_stream_open(device, WFI_STREAM_FIRST, &p->late);
    if (result == WF_SUCCESS && device->works_beside)
        result = wfi_stream_open(device, WFI_STREAM_COPIES, &p->copies);
    return result;
}

void wfi_part_passes_close(wfi_part_passes *p)
{
    close_streams(p);
    wfi_object_leave(&p->object);
}

/* A submission of kernels. */
typedef struct kernels {
    const wfi_pass_parts *parts;
    wf_device *device;
    bool with_copies;
} kernels;

static wf_result record_first(void *user, VkCommandBuffer command_buffer)
{
    const kernels *k = user;
    const wfi_pass_parts *parts = k->parts;
    wf_result result =
        k->with_copies && parts->arrive ? parts->arrive(parts->user, command_buffer) : WF_SUCCESS;
    wfi_barrier(k->device, command_buffer);
    if (result == WF_SUCCESS)
        result = parts->early(parts->user, command_buffer);
    if (result != WF_SUCCESS || !k->with_copies || !parts->leave)
        return result;
    wfi_barrier(k->device, command_buffer);
    return parts->leave(parts->user, command_buffer);
}

/* What the first part of the pass before wrote is there: the host has seen its end. */
static wf_result record_rest(void *user, VkCommandBuffer command_buffer)
{
    const kernels *k = user;
    wfi_barrier(k->device, command_buffer);
    return k->parts->late(k->parts->user, command_buffer);
}

/* In the order in which one queue can take it all, too. */
static wf_result submit_first(wfi_part_passes *p, const wfi_pass_parts *parts, bool with_copies)
{
    kernels first = {parts, p->device, with_copies};
    const bool arrives = parts->arrive && !with_copies, leaves = parts->leave && !with_copies;
    const VkSemaphore none = VK_NULL_HANDLE;
    const wfi_stream_links in = {.signal = p->arrived}, out = {.wait = {p->updated}},
                           between = {.wait = {arrives ? p->arrived : none,
                                               p->rest_signalled ? p->rest : none},
                                      .signal = leaves ? p->updated : none};
    wf_result result = WF_SUCCESS;
    if (arrives)
        result = wfi_stream_submit_linked(&p->copies, &in, parts->arrive, parts->user);
    if (result == WF_SUCCESS)
        result = wfi_stream_submit_linked(&p->early, &between, record_first, &first);
    if (result != WF_SUCCESS)
        return result;
    p->rest_signalled = false;
    return leaves ? wfi_stream_submit_linked(&p->copies, &out, parts->leave, parts->user)
                  : WF_SUCCESS;
}

static wf_result submit_rest(wfi_part_passes *p, const wfi_pass_parts *parts)
{
    kernels rest = {parts, p->device, false};
    const wfi_stream_links links = {.signal = p->rest};
    if (p->late.queue == p->early.queue)
        return wfi_stream_submit_beside(&p->late, parts->late, parts->user);
    const wf_result result = wfi_stream_submit_linked(&p->late, &links, record_rest, &rest);
    p->rest_signalled = result == WF_SUCCESS;
    return result;
}

static wf_result wait_all(wfi_stream *stream, wf_result result, double *seconds)
{
    while (!wfi_stream_idle(stream)) {
        const wf_result waited = wfi_stream_wait(stream, seconds);
        result = result == WF_SUCCESS ? waited : result;
    }
    return result;
}

/* Where there is no rest, nothing is left that copies could run beside, and another queue would
 * cost more than it gains. */
static bool go_with_copies(const wfi_part_passes *p, const wfi_pass_parts *parts)
{
    return !p->device->works_beside || parts->by_kernels || !parts->late;
}

static wf_result submit(wfi_part_passes *p, const wfi_pass_parts *parts, double *seconds)
{
    double unused = 0;
    wf_result result = wfi_device_usable(p->device, "a pass over a part of a grid");
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(p->device);
    if (result == WF_SUCCESS && p->device->works_beside)
        result = make_semaphores(p);
    if (result == WF_SUCCESS)
        result = submit_first(p, parts, go_with_copies(p, parts));
    if (result == WF_SUCCESS && parts->late)
        result = submit_rest(p, parts);
    result = wait_all(&p->copies, result, &unused);
    return wait_all(&p->early, result, seconds);
}

/* Waits for all that is under way: a pass came to nothing. A semaphore that nothing waited for is
 * signalled and cannot be used again. */
static wf_result give_up(wfi_part_passes *p, wf_result result)
{
    double unused = 0;
    wait_all(&p->late, result, &unused);
    p->under_way = false;
    free_semaphores(p);
    return result;
}

wf_result wfi_part_passes_begin(wfi_part_passes *p, const wfi_pass_parts *parts)
{
    p->begun = wfi_host_seconds();
    const wf_result result = submit(p, parts, &p->early_seconds);
    p->under_way = result == WF_SUCCESS;
    return p->under_way ? WF_SUCCESS : give_up(p, result);
}

/* The device may begin the second part while it makes the first: the two took no longer than the
 * host saw. */
static void note_end(wfi_part_passes *p, double late, double *seconds)
{
    const double now = wfi_host_seconds(), elapsed = now - p->begun, sum = p->early_seconds + late;
    if (seconds)
        *seconds = sum < elapsed ? sum : elapsed;
    p->begun = now;
}

wf_result wfi_part_passes_next(wfi_part_passes *p, const wfi_pass_parts *parts, double *seconds)
{
    const bool in_two = !wfi_stream_idle(&p->late);
    double late = 0, early = 0;
    wf_result result = submit(p, parts, &early);
    if (result == WF_SUCCESS && in_two)
        result = wfi_stream_wait(&p->late, &late);
    if (result != WF_SUCCESS)
        return give_up(p, result);
    note_end(p, late, seconds);
    p->early_seconds = early;
    return WF_SUCCESS;
}

wf_result wfi_part_passes_end(wfi_part_passes *p, double *seconds)
{
    double late = 0;
    wf_result result = WF_SUCCESS;
    if (!wfi_stream_idle(&p->late))
        result = wfi_stream_wait(&p->late, &late);
    p->under_way = false;
    if (result == WF_SUCCESS)
        note_end(p, late, seconds);
    return result;
}
