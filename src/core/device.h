/* The device object: one loader, instance, VkDevice and queue, made here or lent by the
 * application; no process-wide state. */
#ifndef WFI_CORE_DEVICE_H
#define WFI_CORE_DEVICE_H

#include <stdatomic.h>

#include "core/instance.h"
#include "core/log.h"
#include "core/object.h"
#include "core/pipeline_cache.h"
#include "core/platform.h"
#include "core/volk.h"
#include "wavefit/wavefit.h"

#define WFI_KEPT_BLOCKS 48

/* An allocation of device memory. */
typedef struct wfi_block {
    VkDeviceMemory memory;
    void *at; /* NULL: not mapped */
    uint64_t bytes;
    uint32_t type;
    VkBuffer buffer; /* that it is dedicated to, and that goes with it; else VK_NULL_HANDLE */
    uint64_t extent; /* bytes of that buffer; 0: any can be bound */
} wfi_block;

/* Queues of other families, for what runs beside the work of the first: kernels and copies. It is
 * the first queue where the device has no such family. */
enum { WFI_SIDE_KERNELS, WFI_SIDE_COPIES, WFI_SIDE_QUEUES };
typedef struct wfi_side_queue {
    VkQueue vk;
    uint32_t family;
} wfi_side_queue;

/* Descriptor sets and memory of the host's side, for the time of a call (scratch.h). */
typedef struct wfi_scratch {
    wf_arena *arena;
    wf_buffer *readback;
} wfi_scratch;

struct wf_device {
    wfi_log log;
    wfi_instance instance; /* loader, VkInstance and its functions */
    VkPhysicalDevice physical;
    VkDevice vk;
    struct VolkDeviceTable fn;              /* device functions */
    const VkAllocationCallbacks *allocator; /* NULL or &allocator_storage */
    VkAllocationCallbacks allocator_storage;
    wf_caps offered; /* with the limits that were asked for */
    wf_caps caps;    /* what is offered, less what driver faults take away (quirks.h) */
    VkPhysicalDeviceMemoryProperties memory;
    wf_memory_source memory_source; /* allocate NULL: the driver */

    bool debug_names; /* objects get names, dispatches labels */
    bool adopted;     /* instance, VkDevice and queue are the application's */
    bool released;    /* destroyed; kept for objects that are still enlisted */
    wfi_mutex objects_lock;
    wfi_object *objects;     /* what lives on the device */
    struct wfi_doom *doomed; /* what waits for a semaphore to be destroyed; of objects_lock too */

    VkQueue queue; /* VK_NULL_HANDLE: an application that lends none */
    uint32_t queue_family;
    wfi_side_queue sides[WFI_SIDE_QUEUES];
    bool works_beside;              /* what can run beside something else is submitted by itself */
    bool kernels_beside;            /* kernels can, on a side queue, and not copies alone */
    void (*lock_queue)(void *user); /* the application's own lock, or NULL */
    void (*unlock_queue)(void *user);
    void *queue_user;
    wfi_mutex queue_lock; /* all queues, command pool, fence and queries */
    double poll_seconds;  /* how long wfi_wait asks before it sleeps; 0: not at all */
    bool has_events;      /* VkEvents can be made: not a driver with the portability subset */
    atomic_bool keeps;    /* nothing is freed: the device may still be at work (wfi_settle) */
    /* Allocations that nothing uses, the oldest first (block.h), and how much of each heap may be
     * and is in them. */
    wfi_mutex kept_lock;
    wfi_block kept[WFI_KEPT_BLOCKS];
    uint32_t kept_count;
    uint64_t kept_most[VK_MAX_MEMORY_HEAPS];
    bool dedicates; /* large buffers have dedicated allocations (block.h) */
    atomic_uint_fast64_t kept_bytes[VK_MAX_MEMORY_HEAPS];
    wfi_scratch scratch; /* zeroed while a call has it; of kept_lock too */
    void (*scratch_end)(wf_device *device);
    wfi_mutex memory_lock;
    struct wfi_chunk *chunks; /* memory that small buffers share (chunk.h) */
    /* What transfers go through (staging.h), made at the first that needs it. */
    wfi_mutex staging_lock;
    struct wfi_staging *staging;
    void (*staging_end)(wf_device *device);
    atomic_uint_fast64_t buffer_count; /* ever made: each has a number of its own */
    bool submitted;                    /* anything, to the queue */
    bool submission_made;              /* makes the three below */
    VkCommandPool command_pool;
    VkFence fence;
    VkQueryPool queries;    /* 2 timestamps; VK_NULL_HANDLE where the queue has none */
    atomic_bool clock_errs; /* the last interval of timestamps was of no use … */
    atomic_bool clock_told; /* … and the log has that one was */

    wfi_mutex pool_lock;
    wfi_condition pool_compiled;
    struct wfi_pooled *pipelines; /* of plans (pipeline_pool.h) */
    uint64_t pool_clock;          /* counts pipelines that became idle; of pool_lock too */

    /* Entries of the host's sparse matrices so far whose analysis shaders could have made. */
    atomic_uint_fast64_t analysed_entries;

    double dispatch_seconds; /* longest dispatch by prediction; 0: no bound */
    /* Measured over predicted time, of what ran so far: the bits of a double, since not every
     * compiler has atomic ones. */
    atomic_uint_fast64_t slowness_bits;
    bool capture_statistics;       /* asked for, and offered */
    bool (*cancelled)(void *user); /* NULL: calls that block are never cut short */
    void *cancelled_user;
    bool asks; /* cancelled is asked; not before the device is ready */
    wfi_pipeline_cache cache;
    char *cache_directory; /* NULL: nothing is kept on disk */
    /* What src/choose keeps of this device, made at its first use. core only calls tuning_end. */
    wfi_mutex tuning_lock;
    struct wfi_tuning *tuning;
    void (*tuning_end)(struct wfi_tuning *tuning);
    wfi_mutex peaks_lock;
    double copy_bandwidth;          /* bytes a second; 0: not measured yet */
    double fma_rate[WF_TYPE_COUNT]; /* flops a second; 0: not measured yet */
};

/* wf_device_create and wf_device_adopt without what the self-test finds, and never cancelled. */
wf_result wfi_device_open(const wf_device_params *params, wf_device **out);
wf_result wfi_device_open_adopted(const wf_vulkan *vulkan, const wf_device_params *params,
                                  wf_device **out);

/* The families of all its queues, each once; how many they are. */
#define WFI_MOST_FAMILIES (1 + WFI_SIDE_QUEUES)
uint32_t wfi_device_families(const wf_device *device, uint32_t families[WFI_MOST_FAMILIES]);

/* Seconds that a dispatch may take by prediction, 0: any; `asked` as wf_device_params has it. */
double wfi_longest_dispatch(const wf_caps *caps, double asked);

/* WF_ERROR_DEVICE_CLOSED, with a line in the log, once the device was destroyed. */
wf_result wfi_device_usable(const wf_device *device, const char *function);

/* WF_ERROR_CANCELLED, with a line in the log, once the application asks to stop. */
wf_result wfi_device_goes_on(const wf_device *device);

#endif
