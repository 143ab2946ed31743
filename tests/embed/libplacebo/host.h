/* libplacebo's Vulkan with wavefit on it: features are asked for before the device is made, and
 * submissions take libplacebo's queue lock. */
#ifndef HOST_H
#define HOST_H

#include <stdio.h>
#include <stdlib.h>

#include <vulkan/vulkan.h>

#include <libplacebo/gpu.h>
#include <libplacebo/log.h>
#include <libplacebo/vulkan.h>
#include <wavefit/wavefit.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (int)(call);                                                              \
        if (code != 0) {                                                                           \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { IN_FLIGHT = 3 };

typedef struct frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
    wf_arena *arena;
    pl_tex picture; /* libplacebo's; wavefit's result is copied into it */
    uint64_t done;  /* value of the timeline at the frame's end */
} frame;

typedef struct host {
    pl_log log;
    pl_vk_inst instance;
    pl_vulkan vk;
    VkQueue queue;
    VkSemaphore timeline;
    uint64_t value; /* the timeline's last */
    wf_device *wavefit;
    frame frames[IN_FLIGHT];
    unsigned locks;    /* how often wavefit took libplacebo's lock */
    unsigned messages; /* of the validation layer */
} host;

void host_open(host *h, int width, int height);
void host_close(host *h);
/* Waits for the frame's last use and begins its commands anew. */
frame *host_begin(host *h, unsigned number);
/* Submits under libplacebo's lock, behind `wait` and up to the frame's own value. */
void host_submit(host *h, frame *f, uint64_t wait);

#endif
