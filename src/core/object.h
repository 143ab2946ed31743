/* What lives on a device: buffers, plans and compile jobs enlist themselves, so that closing the
 * device first is an error with a name and not a crash. */
#ifndef WFI_CORE_OBJECT_H
#define WFI_CORE_OBJECT_H

#include <stdbool.h>

typedef struct wf_device wf_device;

typedef struct wfi_object {
    wf_device *device;
    void (*close)(void *owner); /* gives back the Vulkan objects; the owner stays */
    void *owner;
    struct wfi_object *next, *previous;
} wfi_object;

/* From any thread. `close` is called by wf_device_destroy for what is still enlisted then; it must
 * neither enlist nor leave. */
void wfi_object_enlist(wf_device *device, wfi_object *object, void (*close)(void *owner),
                       void *owner);
/* Takes the object off the list; the last one off a destroyed device frees its memory. Nothing for
 * a zeroed object. */
void wfi_object_leave(wfi_object *object);

/* Closes everything enlisted; the number of objects there were. */
unsigned wfi_objects_close(wf_device *device);
/* Frees the device's memory now, or when the last object leaves. */
void wfi_device_release(wf_device *device);

#endif
