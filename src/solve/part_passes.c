#include "solve/part_passes.h"

#include "core/clock.h"

static void close_streams(void *owner)
{
    wfi_part_passes *p = owner;
    wfi_stream_close(&p->early);
    wfi_stream_close(&p->late);
}

wf_result wfi_part_passes_open(wf_device *device, wfi_part_passes *p)
{
    *p = (wfi_part_passes){.device = device};
    wfi_object_enlist(device, &p->object, close_streams, p);
    const wf_result result = wfi_stream_open(device, &p->early);
    return result == WF_SUCCESS ? wfi_stream_open(device, &p->late) : result;
}

void wfi_part_passes_close(wfi_part_passes *p)
{
    close_streams(p);
    wfi_object_leave(&p->object);
}

static wf_result submit(wfi_part_passes *p, const wfi_pass_parts *parts, double *seconds)
{
    wf_result result = wfi_device_usable(p->device, "a pass over a part of a grid");
    if (result == WF_SUCCESS)
        result = wfi_device_goes_on(p->device);
    if (result == WF_SUCCESS)
        result = wfi_stream_submit_beside(&p->early, parts->early, parts->user);
    if (result != WF_SUCCESS)
        return result;
    if (parts->late)
        result = wfi_stream_submit_beside(&p->late, parts->late, parts->user);
    const wf_result waited = wfi_stream_wait(&p->early, seconds);
    return result == WF_SUCCESS ? waited : result;
}

/* Waits for all that is under way: a pass came to nothing. */
static wf_result give_up(wfi_part_passes *p, wf_result result)
{
    double unused = 0;
    while (!wfi_stream_idle(&p->late))
        wfi_stream_wait(&p->late, &unused);
    p->under_way = false;
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
