#include "core/object.h"

#include "core/device.h"
#include "core/heap.h"

void wfi_object_enlist(wf_device *device, wfi_object *object, void (*close)(void *owner),
                       void *owner)
{
    *object = (wfi_object){.device = device, .close = close, .owner = owner};
    wfi_mutex_lock(&device->objects_lock);
    object->next = device->objects;
    if (object->next)
        object->next->previous = object;
    device->objects = object;
    wfi_mutex_unlock(&device->objects_lock);
}

static void free_device(wf_device *device)
{
    wfi_mutex_destroy(&device->objects_lock);
    wfi_mutex_destroy(&device->queue_lock);
    wfi_mutex_destroy(&device->memory_lock);
    wfi_mutex_destroy(&device->staging_lock);
    wfi_mutex_destroy(&device->kept_lock);
    wfi_mutex_destroy(&device->pool_lock);
    wfi_condition_destroy(&device->pool_compiled);
    wfi_mutex_destroy(&device->peaks_lock);
    wfi_mutex_destroy(&device->tuning_lock);
    wfi_free(device->cache_directory);
    wfi_free(device);
}

void wfi_object_leave(wfi_object *object)
{
    wf_device *device = object->device;
    if (!device)
        return;
    wfi_mutex_lock(&device->objects_lock);
    if (object->previous)
        object->previous->next = object->next;
    else
        device->objects = object->next;
    if (object->next)
        object->next->previous = object->previous;
    const bool last = device->released && !device->objects;
    wfi_mutex_unlock(&device->objects_lock);
    *object = (wfi_object){0};
    if (last)
        free_device(device);
}

unsigned wfi_objects_close(wf_device *device)
{
    unsigned count = 0;
    wfi_mutex_lock(&device->objects_lock);
    for (wfi_object *object = device->objects; object; object = object->next, count++)
        object->close(object->owner);
    wfi_mutex_unlock(&device->objects_lock);
    return count;
}

void wfi_device_release(wf_device *device)
{
    wfi_mutex_lock(&device->objects_lock);
    device->released = true;
    const bool last = !device->objects;
    wfi_mutex_unlock(&device->objects_lock);
    if (last)
        free_device(device);
}
