/* An application with Vulkan of its own, as tests of adopted devices need one: instance, device,
 * queue and command buffer, made through the loader, with what wavefit calls counted. */
#ifndef WFI_TESTS_ENGINE_H
#define WFI_TESTS_ENGINE_H

#include "wavefit/wavefit.h"

/* Calls that went through the device functions handed to wavefit, of all engines. */
typedef struct engine_calls {
    unsigned submits, pipelines, memories, buffers, descriptor_pools, command_pools;
    unsigned conditions; /* blocks of conditional rendering */
    int views;           /* buffer views that exist */
} engine_calls;

typedef struct engine {
    void *loader;
    PFN_vkGetInstanceProcAddr get_proc; /* the loader's own */
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
    VkFence fence;
} engine;

typedef enum engine_features {
    ENGINE_NOTHING,  /* no feature, no extension */
    ENGINE_REQUIRED, /* wf_required_features' own chain */
    ENGINE_MERGED    /* the required chain, merged into structures of Vulkan 1.1 to 1.3 */
} engine_features;

/* Opens the first device. *vulkan (its queue included) describes it, with counting functions. Fails
 * the test when it cannot. The strings and structures in *vulkan live until engine_close. */
void engine_open(engine *engine, engine_features features, wf_vulkan *vulkan);
void engine_close(engine *engine);
PFN_vkVoidFunction engine_function(const engine *engine, const char *name);

VkCommandBuffer engine_begin(engine *engine);
/* Makes what shaders wrote visible to the host, ends and submits; the fence tells of the end. */
void engine_submit(engine *engine, VkCommandBuffer command_buffer, VkFence fence);
/* The same, of transfers too, and waits. */
void engine_finish(engine *engine, VkCommandBuffer command_buffer);

engine_calls engine_counted(void);
/* Makes wavefit's next `count` submissions fail for lack of memory. */
void engine_fail_submits(unsigned count);

/* The device parameters of the environment's limits with the harness' log. */
wf_device_params engine_params(void);
/* The device adopted with these; fails the test where it is not taken. */
wf_device *engine_adopt(const wf_vulkan *vulkan);

#endif
