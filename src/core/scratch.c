#include "core/scratch.h"

#include "core/arena.h"
#include "core/buffer.h"

static void destroy(wfi_scratch *scratch)
{
    wf_arena_destroy(&scratch->arena);
    wf_buffer_destroy(&scratch->readback);
}

static void end(wf_device *device)
{
    destroy(&device->scratch);
}

/* Exchanges what the device keeps for *scratch. */
static void exchange(wf_device *device, wfi_scratch *scratch)
{
    wfi_mutex_lock(&device->kept_lock);
    const wfi_scratch kept = device->scratch;
    device->scratch = *scratch;
    device->scratch_end = end;
    wfi_mutex_unlock(&device->kept_lock);
    *scratch = kept;
}

wf_result wfi_scratch_take(wf_device *device, wfi_scratch *out)
{
    *out = (wfi_scratch){NULL, NULL};
    exchange(device, out);
    if (out->arena)
        return WF_SUCCESS;
    wf_result result = wf_arena_create(device, &out->arena);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, WFI_SCRATCH_READ, WF_MEMORY_READBACK, &out->readback);
    if (result != WF_SUCCESS)
        destroy(out);
    return result;
}

void wfi_scratch_give_back(wf_device *device, wfi_scratch *scratch)
{
    if (scratch->arena)
        wf_arena_reset(scratch->arena);
    /* Where the device may still use the sets, nothing is written to them any more. */
    if (scratch->arena && !device->keeps)
        exchange(device, scratch);
    destroy(scratch);
}
