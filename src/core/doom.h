/* Objects that wait for a timeline semaphore before they are destroyed. */
#ifndef WFI_CORE_DOOM_H
#define WFI_CORE_DOOM_H

#include <stdint.h>

#include "core/log.h"
#include "core/volk.h"

/* In an object that can wait. */
typedef struct wfi_doom {
    struct wfi_doom *next;
    VkSemaphore timeline;
    uint64_t value;
    void (*destroy)(void *owner);
    void *owner;
} wfi_doom;

/* Destroys the owner once the semaphore has the value: now, or at a later call of this kind, of
 * wf_device_collect, or at the device's end. The errors leave the object to the caller. */
wf_result wfi_doom_after(wf_device *device, const char *function, wfi_doom *doom,
                         VkSemaphore timeline, uint64_t value, void (*destroy)(void *owner),
                         void *owner);
/* Defines wf_<kind>_destroy_after; a wf_<kind> has the members `device` and `doom`. */
#define WFI_DESTROY_AFTER(kind)                                                                    \
    static void destroy_##kind##_later(void *owner)                                                \
    {                                                                                              \
        wf_##kind *object = owner;                                                                 \
        wf_##kind##_destroy(&object);                                                              \
    }                                                                                              \
    wf_result wf_##kind##_destroy_after(wf_##kind **handle, VkSemaphore timeline, uint64_t value)  \
    {                                                                                              \
        wf_##kind *object = handle ? *handle : NULL;                                               \
        if (!object)                                                                               \
            return WF_SUCCESS;                                                                     \
        const wf_result result =                                                                   \
            wfi_doom_after(object->device, "wf_" #kind "_destroy_after", &object->doom, timeline,  \
                           value, destroy_##kind##_later, object);                                 \
        if (result == WF_SUCCESS)                                                                  \
            *handle = NULL;                                                                        \
        return result;                                                                             \
    }

/* Destroys all that wait, whatever their semaphores say. */
void wfi_doom_all(wf_device *device);

#endif
