/* The memory that boundary cells leave through, and neighbours' cells arrive in. */
#include "core/device.h"
#include "core/params.h"
#include "solve/part_passes.h"

/* Directions counted with k changing fastest: behind the centre, number 13, come those that sides
 * with odd numbers have; the opposite ones are as far before it. */
void wf_halo_direction(uint32_t side, int32_t direction[3])
{
    if (side >= WF_HALO_SIDES || !direction)
        return;
    const int32_t number = 14 + (int32_t)(side / 2), sign = side % 2 ? 1 : -1;
    direction[0] = sign * (number / 9 - 1);
    direction[1] = sign * (number / 3 % 3 - 1);
    direction[2] = sign * (number % 3 - 1);
}

wf_result wfi_halos_make_sides(wf_device *device, wfi_halos *h)
{
    wf_result result = WF_SUCCESS;
    for (int side = 0; side < WF_HALO_SIDES && result == WF_SUCCESS; side++) {
        if (!h->bytes[side])
            continue;
        result = wf_buffer_create(device, h->bytes[side], WF_MEMORY_READBACK, &h->to[side]);
        if (result == WF_SUCCESS)
            result = wf_buffer_create(device, h->bytes[side], WF_MEMORY_READBACK, &h->from[side]);
    }
    return result;
}

wf_result wfi_halos_make(wf_device *device, uint64_t bytes, const bool there[WFI_SIDES],
                         wfi_halos *h)
{
    for (int side = 0; side < WFI_SIDES; side++)
        h->bytes[side] = there[side] ? bytes : 0;
    return wfi_halos_make_sides(device, h);
}

void wfi_halos_destroy(wfi_halos *h)
{
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        wf_buffer_destroy(&h->to[side]);
        wf_buffer_destroy(&h->from[side]);
    }
}

bool wfi_halos_any(const wfi_halos *h)
{
    bool any = false;
    for (int side = 0; side < WF_HALO_SIDES; side++)
        any |= h->to[side] != NULL;
    return any;
}

wf_result wfi_halos_tell(const wf_device *device, const char *function, const wfi_halos *h,
                         wf_halo *out)
{
    if (wfi_device_usable(device, function) != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    wf_halo found = {.size = sizeof found};
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        if (!h->to[side])
            continue;
        found.bytes[side] = h->bytes[side];
        found.to[side] = wf_buffer_mapped(h->to[side]);
        found.from[side] = wf_buffer_mapped(h->from[side]);
    }
    return wfi_params_write(out, &found, sizeof found) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

static bool has_room(const wf_device *device, uint64_t bytes, const wf_binding *halo)
{
    if (!halo->buffer || halo->handle)
        return !halo->buffer && !halo->handle;
    return halo->buffer->device == device && (!halo->bytes || halo->bytes >= bytes) &&
           halo->offset % device->caps.storage_alignment == 0 &&
           halo->offset <= halo->buffer->bytes && halo->buffer->bytes - halo->offset >= bytes;
}

wf_result wfi_halos_bind(const wf_device *device, const char *function,
                         const wf_halo_bindings *given, wfi_halos *h)
{
    wf_halo_bindings read;
    if (wfi_device_usable(device, function) != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    wf_result result = wfi_params_read(&device->log, function, given, &read, sizeof read);
    for (int side = 0; side < WF_HALO_SIDES && result == WF_SUCCESS; side++)
        if (!has_room(device, h->bytes[side], &read.to[side]) ||
            !has_room(device, h->bytes[side], &read.from[side]))
            result = wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                              "%s: a binding is a handle or not aligned, or a buffer has no %llu "
                              "bytes for a halo",
                              function, (unsigned long long)h->bytes[side]);
    if (result == WF_SUCCESS)
        h->bound = read;
    return result;
}

static wf_binding place(wf_buffer *own, uint64_t bytes, const wf_binding *bound)
{
    if (!own)
        return (wf_binding){0};
    return (wf_binding){.buffer = bound->buffer ? bound->buffer : own,
                        .offset = bound->buffer ? bound->offset : 0,
                        .bytes = bytes};
}

wf_binding wfi_halo_to(const wfi_halos *h, int side)
{
    return place(h->to[side], h->bytes[side], &h->bound.to[side]);
}

wf_binding wfi_halo_from(const wfi_halos *h, int side)
{
    return place(h->from[side], h->bytes[side], &h->bound.from[side]);
}
