/* FFmpeg's Vulkan device (libavutil's hwcontext) with wavefit on it; submissions take FFmpeg's
 * queue lock. */
#ifndef HOST_H
#define HOST_H

#include <stdio.h>
#include <stdlib.h>

#include <vulkan/vulkan.h>

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vulkan.h>
#include <libavutil/pixdesc.h>
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

typedef struct commands {
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkFence fence;
    wf_arena *arena;
} commands;

typedef struct host {
    AVBufferRef *reference;
    AVHWDeviceContext *context;
    AVVulkanDeviceContext *vk;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t family;
    VkQueue queue;
    wf_device *wavefit;
    commands commands[IN_FLIGHT];
    unsigned messages; /* of the validation layer */
    unsigned blocks;   /* of host memory that wavefit and the driver asked for on its behalf */
} host;

void host_open(host *h);
void host_close(host *h);
/* Waits for the commands' last use and begins them anew. */
commands *host_begin(host *h, unsigned number);
/* Submits under FFmpeg's lock, behind the last use of both frames, whose next use waits for it. */
void host_submit(host *h, commands *c, AVVkFrame *const frames[2]);

#endif
