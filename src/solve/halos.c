/* The memory that boundary planes leave through, and neighbours' planes arrive in. */
#include "core/params.h"
#include "solve/part_passes.h"

wf_result wfi_halos_make(wf_device *device, uint64_t bytes, const bool there[WFI_SIDES],
                         wfi_halos *h)
{
    wf_result result = WF_SUCCESS;
    h->bytes = bytes;
    for (int side = 0; side < WFI_SIDES && result == WF_SUCCESS; side++) {
        if (!there[side])
            continue;
        result = wf_buffer_create(device, bytes, WF_MEMORY_READBACK, &h->to[side]);
        if (result == WF_SUCCESS)
            result = wf_buffer_create(device, bytes, WF_MEMORY_READBACK, &h->from[side]);
    }
    return result;
}

void wfi_halos_destroy(wfi_halos *h)
{
    for (int side = 0; side < WFI_SIDES; side++) {
        wf_buffer_destroy(&h->to[side]);
        wf_buffer_destroy(&h->from[side]);
    }
}

static void *mapped(const wf_buffer *buffer)
{
    return buffer ? wf_buffer_mapped(buffer) : NULL;
}

wf_result wfi_halos_tell(const wfi_halos *h, wf_halo *out)
{
    const wf_halo found = {.bytes = h->bytes,
                           .to_lower = mapped(h->to[WFI_LOWER]),
                           .to_upper = mapped(h->to[WFI_UPPER]),
                           .from_lower = mapped(h->from[WFI_LOWER]),
                           .from_upper = mapped(h->from[WFI_UPPER])};
    return wfi_params_write(out, &found, sizeof found) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

static bool has_room(const wf_device *device, const wfi_halos *h, const wf_binding *halo)
{
    if (!halo->buffer || halo->handle)
        return !halo->buffer && !halo->handle;
    return halo->buffer->device == device && (!halo->bytes || halo->bytes >= h->bytes) &&
           halo->offset <= halo->buffer->bytes && halo->buffer->bytes - halo->offset >= h->bytes;
}

wf_result wfi_halos_bind(const wf_device *device, const char *function,
                         const wf_halo_bindings *given, wfi_halos *h)
{
    wf_halo_bindings read;
    wf_result result = wfi_params_read(&device->log, function, given, &read, sizeof read);
    if (result != WF_SUCCESS)
        return result;
    if (!has_room(device, h, &read.to_lower) || !has_room(device, h, &read.to_upper) ||
        !has_room(device, h, &read.from_lower) || !has_room(device, h, &read.from_upper))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: a binding is a handle, or a buffer has no %llu bytes for a halo",
                        function, (unsigned long long)h->bytes);
    h->bound = read;
    return WF_SUCCESS;
}

static wf_binding place(wf_buffer *own, const wf_binding *bound)
{
    return own && bound->buffer ? *bound : (wf_binding){.buffer = own};
}

wf_binding wfi_halo_to(const wfi_halos *h, int side)
{
    return place(h->to[side], side == WFI_LOWER ? &h->bound.to_lower : &h->bound.to_upper);
}

wf_binding wfi_halo_from(const wfi_halos *h, int side)
{
    return place(h->from[side], side == WFI_LOWER ? &h->bound.from_lower : &h->bound.from_upper);
}
