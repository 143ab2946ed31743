/* wavefit: stencils, sparse matrix-vector products and dense matrix products on any Vulkan device.
 *
 * This is the only public header. These conventions hold for every function in it:
 *  - Structures. A parameter structure's first member is its size (sizeof). Members that the caller
 *    leaves zero mean "default", and a NULL structure means all defaults. Members are only ever
 *    added at the end: a program built against an older header works with a newer library, and one
 *    built against a newer header works with an older library as long as it leaves zero what that
 *    library does not have. wf_caps, and structures that do not begin with their size, grow only
 *    with the minor version.
 *  - Errors. Functions that can fail return wf_result. The text of a failure goes to the log
 *    callback of the device (or of the parameters, before there is a device). Nothing prints, exits
 *    or aborts.
 *  - Codes. A function's comment names the codes that are its own. Besides those, what needs
 *    memory, compiles or runs can return WF_ERROR_OUT_OF_HOST_MEMORY,
 *    WF_ERROR_OUT_OF_DEVICE_MEMORY, WF_ERROR_DEVICE_LOST and WF_ERROR_DRIVER. Every function
 *    returns WF_ERROR_INVALID_ARGUMENT for a NULL where an object or an output must be and for a
 *    structure of a wrong size, and WF_ERROR_DEVICE_CLOSED for an object whose device is gone. What
 *    blocks returns WF_ERROR_UNSUPPORTED on an adopted device without a queue.
 *  - Ownership. Output handles are written only on success. A destroy function takes the address of
 *    a handle, accepts NULL or a NULL handle, and sets the handle to NULL.
 *  - Arrays. Host arrays are row-major and tightly packed unless a leading dimension is given.
 *  - Blocking. "Blocks" means that a function submits to the device's own queue and waits for it. A
 *    function that does not say so does neither.
 *  - Threads. Calls on different devices are independent. Calls on one wf_device may come from
 *    several threads unless a function says otherwise. The caller must serialise calls on one
 *    wf_plan, wf_buffer, wf_arena, wf_queue or solver object.
 *
 * docs/glossary.md explains the terms, docs/embedding.md the use inside an application.
 */
#ifndef WAVEFIT_WAVEFIT_H
#define WAVEFIT_WAVEFIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WF_VERSION_MAJOR 0
#define WF_VERSION_MINOR 1
#define WF_VERSION_PATCH 0

/* On Windows, programs that link the static library define WF_STATIC; its CMake package does. */
#if defined(_WIN32) && defined(WF_STATIC)
#define WF_API
#elif defined(_WIN32)
#define WF_API __declspec(dllimport)
#else
#define WF_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------------------- results, log */

typedef enum wf_result {
    WF_SUCCESS = 0,
    WF_NOT_READY = 1, /* a plan is still being compiled, or its upload is not recorded yet */
    WF_ERROR_INVALID_ARGUMENT = -1,     /* a parameter is out of its stated range */
    WF_ERROR_OUT_OF_HOST_MEMORY = -2,   /* host allocation failed */
    WF_ERROR_OUT_OF_DEVICE_MEMORY = -3, /* the driver had no memory of the kind needed */
    WF_ERROR_NO_LOADER = -4,            /* this machine has no Vulkan loader library */
    WF_ERROR_NO_DEVICE = -5,            /* there is no Vulkan device that matches the selector */
    WF_ERROR_DEVICE_LOST = -6,          /* the driver reported VK_ERROR_DEVICE_LOST */
    WF_ERROR_UNSUPPORTED = -7,          /* the device lacks what was asked for; the log says what */
    WF_ERROR_TOO_LARGE = -8,       /* the problem exceeds a limit of the device or of wavefit */
    WF_ERROR_UNKNOWN_VARIANT = -9, /* a forced variant or constant has no such name */
    WF_ERROR_CONSTRAINT = -10,     /* a forced constant breaks a constraint; the log has why */
    WF_ERROR_BINDING = -11,        /* a binding is missing, too small, misaligned or aliased */
    WF_ERROR_CANCELLED = -12,      /* a callback asked to stop */
    WF_ERROR_DRIVER = -13,         /* any other VkResult; the log has its name */
    WF_ERROR_DEVICE_CLOSED = -14   /* the object's wf_device was destroyed before it */
} wf_result;

/* Returns a short constant English text for a result code; never NULL. */
WF_API const char *wf_result_string(wf_result result);

typedef enum wf_log_level { WF_LOG_ERROR = 0, WF_LOG_WARNING = 1, WF_LOG_INFO = 2 } wf_log_level;

/* Receives one line of text without a newline, on any thread that calls wavefit, and of what fails
 * in wf_buffer_write_begin and wf_buffer_read_begin on a thread of the device's. */
typedef void (*wf_log_fn)(void *user, wf_log_level level, const char *text);

/* Returns the version of the library that is linked at run time, "major.minor.patch". */
WF_API const char *wf_version(void);

/* A way to end calls that work long on the host (wf_*_check). They ask every few milliseconds. */
typedef struct wf_cancel {
    size_t size;
    bool (*cancelled)(void *user); /* true: the call returns WF_ERROR_CANCELLED */
    void *user;
} wf_cancel;

/* Element types. */
typedef enum wf_type {
    WF_TYPE_F32 = 0,
    WF_TYPE_F64 = 1,
    WF_TYPE_F16 = 2,
    WF_TYPE_BF16 = 3,
    WF_TYPE_I8 = 4,
    WF_TYPE_COUNT = 5
} wf_type;

WF_API size_t wf_type_size(wf_type type);      /* bytes of an element, 0 for an unknown type */
WF_API const char *wf_type_name(wf_type type); /* "f32", "f64", …; "?" for an unknown type */

/* These read and write element `index` of an array of the type. Writing rounds to nearest, ties to
 * even. A value that is too large becomes infinite, or the nearest number of I8; NaN stays NaN, or
 * becomes 0 in I8. */
WF_API double wf_element_get(wf_type type, const void *data, uint64_t index);
WF_API void wf_element_set(wf_type type, void *data, uint64_t index, double value);

/* ------------------------------------------------------------------------------------- devices */

typedef struct wf_device wf_device;

#define WF_MAX_HEAPS 16
#define WF_MAX_COOPERATIVE_SHAPES 64

/* One shape of VK_KHR_cooperative_matrix: D (m x n) = A (m x k) B (k x n) + C. */
typedef struct wf_cooperative_shape {
    uint32_t m, n, k;
    uint32_t a_type, b_type, c_type, result_type; /* VkComponentTypeKHR */
    uint32_t scope;                               /* VkScopeKHR */
    bool saturating;
} wf_cooperative_shape;

typedef struct wf_memory_heap {
    uint64_t bytes;
    bool device_local;
    bool host_visible; /* some memory type of the heap can be mapped */
} wf_memory_heap;

/* What a device can do and wavefit uses. wf_device_params.limits is applied already. */
typedef struct wf_caps {
    size_t size;
    /* identity */
    char name[256];
    uint32_t index;       /* position in wf_devices_list */
    uint32_t device_type; /* VkPhysicalDeviceType */
    uint32_t vendor_id, device_id, driver_version, driver_id;
    char driver_name[256];
    char driver_info[256];
    uint8_t uuid[16];
    uint8_t cache_uuid[16]; /* VkPhysicalDeviceProperties.pipelineCacheUUID */
    uint32_t api_version;
    /* limits */
    uint32_t max_invocations;     /* work-items in a work-group */
    uint32_t max_group_size[3];   /* work-items in a work-group along x, y, z */
    uint32_t max_groups[3];       /* work-groups in a dispatch along x, y, z */
    uint32_t max_shared_bytes;    /* shared memory of a work-group */
    uint32_t max_push_bytes;      /* push constants */
    uint32_t max_storage_buffers; /* storage buffers that a compute stage can bind */
    uint64_t max_storage_range;   /* bytes of one storage-buffer binding */
    uint64_t max_allocation;      /* bytes of one device-memory allocation */
    uint64_t max_buffer;          /* bytes of one VkBuffer */
    uint64_t storage_alignment;   /* minStorageBufferOffsetAlignment */
    /* subgroups in compute shaders */
    uint32_t subgroup_size; /* the default; 1 where compute has no subgroup operations */
    uint32_t subgroup_min, subgroup_max;
    uint32_t max_group_subgroups; /* in a work-group of a pipeline that requires a subgroup size */
    uint32_t subgroup_operations; /* VkSubgroupFeatureFlags usable in compute shaders */
    bool subgroup_size_control;   /* a pipeline can require any power of two in [min, max] */
    bool full_subgroups;
    /* arithmetic and storage */
    bool f16_arithmetic, f16_storage, f64, int8_arithmetic, int8_storage, int16, int64;
    bool bf16, bf16_dot, bf16_cooperative, integer_dot, integer_dot_accelerated;
    bool cooperative_matrix, cooperative_matrix2, vulkan_memory_model, buffer_device_address;
    uint32_t cooperative_shape_count;
    wf_cooperative_shape cooperative_shapes[WF_MAX_COOPERATIVE_SHAPES];
    /* memory */
    uint32_t heap_count;
    wf_memory_heap heaps[WF_MAX_HEAPS];
    uint64_t device_local_bytes; /* size of the largest device-local heap */
    uint64_t available_bytes;    /* what VK_EXT_memory_budget leaves of it; else its size */
    bool unified_memory;         /* device-local memory is the host's and can be mapped */
    /* measuring and introspection */
    double timestamp_period_ns;    /* nanoseconds of one tick */
    uint32_t timestamp_valid_bits; /* 0: the queue has no timestamps, and host time is used */
    bool push_descriptors, pipeline_statistics, memory_budget;
    uint32_t compute_units;  /* multiprocessors, compute units or cores; 0: no extension tells */
    uint32_t unit_subgroups; /* most subgroups resident on one of them; 0: no extension tells */
    uint32_t limits;         /* the wf_limits in force */
    uint32_t faults; /* WF_FAULT_… of the driver; what they concern is not offered above */
    /* uniform texel buffers of 32-bit floats and pairs of 32-bit words */
    uint32_t max_texel_elements; /* elements that one can have; 0: they are not offered */
    uint64_t texel_alignment;    /* minTexelBufferOffsetAlignment */
    /* A monitor is connected, as the system tells (Linux: sysfs, for drivers with
     * VK_EXT_physical_device_drm). It is false also where the system does not tell. */
    bool display_attached;
    /* WF_WITHHELD_… of an adopted device: the physical device has them, but the application did not
     * enable what they need. */
    uint32_t withheld;
    /* minImportedHostPointerAlignment; 0: wf_host_memory_create and wf_buffer_import_host are not
     * offered. */
    uint64_t host_import_alignment;
    /* Atomics on storage buffers: 64-bit integers; additions of f32 and f64. */
    bool int64_atomics, f32_atomic_add, f64_atomic_add;
    bool extended_images; /* storage images can be of r16f */
    /* VK_EXT_conditional_rendering: recorded solves may skip what is behind their end by it. */
    bool conditional_rendering;
    bool memory_fds; /* VK_KHR_external_memory_fd: wf_buffer_create_exportable is offered */
} wf_caps;

enum {
    WF_WITHHELD_F64 = 1 << 0,
    WF_WITHHELD_F16_ARITHMETIC = 1 << 1,
    WF_WITHHELD_F16_STORAGE = 1 << 2,
    WF_WITHHELD_INT8 = 1 << 3, /* arithmetic or storage */
    WF_WITHHELD_INT64 = 1 << 4,
    WF_WITHHELD_BF16 = 1 << 5,
    WF_WITHHELD_INTEGER_DOT = 1 << 6,
    WF_WITHHELD_COOPERATIVE_MATRIX = 1 << 7,
    WF_WITHHELD_COOPERATIVE_MATRIX2 = 1 << 8,
    WF_WITHHELD_SUBGROUP_SIZE_CONTROL = 1 << 9,
    WF_WITHHELD_FULL_SUBGROUPS = 1 << 10,
    WF_WITHHELD_EXTENDED_IMAGES = 1 << 11 /* storage images of r16f */
};

/* What a driver offers and wavefit does not use, because it is known or was seen not to work. */
enum {
    WF_FAULT_SHUFFLE = 1 << 0,             /* subgroup shuffles give wrong values */
    WF_FAULT_SUBGROUP_ARITHMETIC = 1 << 1, /* subgroup reductions and scans give wrong values */
    WF_FAULT_COOPERATIVE_MATRIX = 1 << 2,  /* wrong, or emulated and slower than plain code */
    WF_FAULT_SHARED_MEMORY = 1 << 3,       /* values passed through shared memory do not arrive */
    WF_FAULT_FULL_SUBGROUPS = 1 << 4       /* compilers crash on full ones of the largest size */
};

/* A documented fault behind caps.faults. The texts live as long as the library. */
typedef struct wf_quirk {
    uint32_t faults; /* WF_FAULT_… */
    const char *what, *instead, *reference;
} wf_quirk;

/* Writes the index-th documented fault (0, 1, …) that is in force on the device; returns false when
 * there are no more. Faults that only wavefit's own tests found have no such entry. */
WF_API bool wf_caps_quirk(const wf_caps *caps, uint32_t index, wf_quirk *out);

typedef enum wf_limits {
    WF_LIMITS_DEVICE = 0,
    /* The device counts as offering no more than Vulkan 1.1 guarantees: 128 work-items in a
     * work-group (128 x 128 x 64), 65535 work-groups along an axis, 16 KiB of shared memory,
     * 128 MiB in a storage-buffer binding, 1 GiB in an allocation, 4 storage buffers in a stage,
     * 128 bytes of push constants, no subgroup operations and no optional feature. */
    WF_LIMITS_MINIMUM = 1
} wf_limits;

/* Memory that wavefit asks an application's allocator for. */
typedef struct wf_memory_request {
    size_t size;
    VkBuffer buffer;                   /* the memory is for this buffer alone; wavefit binds it */
    VkMemoryRequirements requirements; /* of the buffer */
    VkMemoryPropertyFlags required;    /* the memory's type must have these */
    VkMemoryPropertyFlags preferred;   /* and should have these too */
    bool mapped; /* the host writes or reads it, where its type is HOST_VISIBLE and HOST_COHERENT */
} wf_memory_request;

/* What the application's allocator gave. */
typedef struct wf_memory_block {
    size_t size;
    VkDeviceMemory memory;
    uint64_t offset; /* of the block in `memory`; a multiple of requirements.alignment */
    uint32_t type;   /* index of the memory type, in VkPhysicalDeviceMemoryProperties */
    void *mapped;    /* where the host sees the block's first byte; NULL: it is not mapped */
    void *owner;     /* the application's own */
} wf_memory_block;

/* The application's allocator of device memory, for every buffer that wavefit makes. The functions
 * are called on the threads that call wavefit, on several of them at once, and must not call
 * wavefit themselves. Blocks stay mapped as long as they live. All are given back before
 * wf_device_destroy returns, except after a failure that leaves open whether the device still uses
 * them (the log then has a warning). wavefit asks no memory budget before a call. */
typedef struct wf_memory_source {
    size_t size;
    /* Returns VK_SUCCESS with *block filled (its size is set before the call), or an error, which
     * wavefit logs and returns as its own. A block without what is required, or one that is not
     * mapped although HOST_VISIBLE is required, is given back: WF_ERROR_INVALID_ARGUMENT. */
    VkResult (*allocate)(void *user, const wf_memory_request *request, wf_memory_block *block);
    void (*free)(void *user, const wf_memory_block *block);
    void *user;
} wf_memory_source;

typedef struct wf_device_params {
    size_t size;
    /* An index in wf_devices_list ("0"), part of a name (in any case), or a UUID (32 hexadecimal
     * digits, hyphens allowed). NULL: the environment variable WAVEFIT_DEVICE selects; where it is
     * not set, the first kind that there is among discrete, integrated, virtual, CPU. */
    const char *selector;
    wf_limits limits;
    /* NULL: there is no log. Where there is one and the instance is wavefit's own, drivers tell by
     * VK_EXT_debug_utils why they refuse a kernel, and errors that layers find go there, too. */
    wf_log_fn log;
    void *log_user;
    /* NULL: wavefit opens the Vulkan loader library of the system. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    /* Host memory: for the driver, to which it is handed in every call of Vulkan, and for wavefit's
     * own objects and arrays, in calls that have a device (wf_*_check have none) or these
     * parameters. What the C library allocates for files and threads is not wavefit's to redirect.
     * Copied; NULL: the driver's own, and malloc. The functions are called from any thread that
     * calls wavefit or runs a job and from threads of wavefit's own, must not call wavefit
     * themselves, and must work until the last object of the device is destroyed. */
    const VkAllocationCallbacks *allocator;
    /* The folder that keeps compiled pipelines and tuning data between runs. NULL:
     * $XDG_CACHE_HOME/wavefit or $HOME/.cache/wavefit; "": none. A stale or damaged pipeline cache
     * is rebuilt silently. A folder or file that another user owns (root may) or that anybody may
     * write, and a file that is a symbolic link, are named in a warning and not used. */
    const char *cache_directory;
    /* Asks the driver what it made of each pipeline, for wf_plan_info.kernel (where
     * caps.pipeline_statistics is true). Compiling takes longer. */
    bool capture_statistics;
    /* Seconds that one dispatch may take, by prediction. A longer one is recorded as several
     * dispatches, because drivers end what keeps the device too long. 0: 0.05 s on integrated and
     * virtual GPUs and on discrete ones with caps.display_attached, on all of them on Windows.
     * Set it where there is a display that the system does not tell of. Negative: no bound. */
    double dispatch_seconds;
    /* Calls that block for long ask this between submissions: measuring, peaks, Himeno, conjugate
     * gradients, Laplace, plans of many dispatches. wf_spmv_plan asks it between the arrays that it
     * makes of a matrix. When it returns true, the call returns WF_ERROR_CANCELLED, and the device
     * stays usable. It is called on the thread of the call and must not call wavefit. NULL: nothing
     * is asked. */
    bool (*cancelled)(void *user);
    void *cancelled_user;
    /* Where device memory comes from. Copied; NULL: vkAllocateMemory, once for each buffer of over
     * 64 KiB; smaller ones share allocations of 1 MiB. */
    const wf_memory_source *memory_source;
    /* Gives each Vulkan object a name and each dispatch a label, for debuggers and captures, where
     * the loader offers VK_EXT_debug_utils. For adopted devices wf_vulkan.debug_utils says so. */
    bool debug_names;
} wf_device_params;

/* Lists the Vulkan devices of this machine. On entry *count is the room in caps (which may be
 * NULL), on return the number of devices that there are. The function returns WF_SUCCESS also when
 * caps was too small; it then fills what fits. It ignores params->selector. It opens and closes
 * Vulkan and does not block. Errors: WF_ERROR_NO_LOADER, WF_ERROR_NO_DEVICE (there is none). */
WF_API wf_result wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count);

/* Opens a device headless, with a compute queue of its own. What is made from the device must be
 * destroyed before it. Blocks where cache_directory does not yet hold the outcome of the small
 * tests that find faults of the driver: the call then runs them. Errors: WF_ERROR_NO_LOADER,
 * WF_ERROR_NO_DEVICE (there is none, or the selector matches none; the log lists what there is),
 * WF_ERROR_INVALID_ARGUMENT (the selector matches several). */
WF_API wf_result wf_device_create(const wf_device_params *params, wf_device **out);

/* Closes the device. It first blocks until the device is idle; on an adopted device it does not,
 * and the application must have waited for all work of wavefit's. What was made from the device
 * should be gone: what is still there loses its Vulkan objects, with a warning in the log, returns
 * WF_ERROR_DEVICE_CLOSED when used, and must still be destroyed. No job that was given to
 * wf_jobs.submit may be running. */
WF_API void wf_device_destroy(wf_device **device);

/* Destroys what wf_plan_destroy_after, wf_buffer_destroy_after and wf_arena_destroy_after were
 * given and whose time has come. Those functions do so too; call this now and then where they are
 * not called. It does not wait. *left (which may be NULL) is the number of objects that still wait.
 * It also gives back the memory that the device keeps for buffers to come (wf_buffer_create).
 * Error: WF_ERROR_INVALID_ARGUMENT. */
WF_API wf_result wf_device_collect(wf_device *device, uint32_t *left);

/* Returns what the device can do. The device owns it; it is valid as long as the device. */
WF_API const wf_caps *wf_device_caps(const wf_device *device);

/* Tells how many bytes of device memory can be had right now: what the driver's budget leaves in
 * the largest device-local heap, or that heap's size where the driver tells no budget. Error:
 * WF_ERROR_INVALID_ARGUMENT. */
WF_API wf_result wf_device_available(const wf_device *device, uint64_t *bytes);

/* Sets how long a thread that waits for the device asks for the end, which takes a processor,
 * before it sleeps, from which the system wakes it some tens of microseconds late. A GPU begins
 * with 200 us. wf_spmv_plan, which analyses a matrix on the device in several steps, asks eight
 * times as long for each. Devices that are the host's own cores are never asked so. No other call
 * on the device, and no transfer that was begun, may be under way. */
WF_API void wf_device_poll(wf_device *device, double seconds);

/* ---------------------------------------------------------------------- an engine's own device */

/* The application's Vulkan. wavefit copies the structure and owns none of what it names. It uses
 * only what the structure says to be enabled. Destroy the wf_device (wf_device_destroy) before any
 * of it. */
typedef struct wf_vulkan {
    size_t size;
    /* That of the loader that made `instance`. NULL: wavefit opens the system's loader library. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    /* VkApplicationInfo.apiVersion of `instance` (not what the device offers); at least Vulkan 1.1.
     * The lower of it and the device's version decides what counts as core. If it is below the true
     * one, features of later versions are used only if their extensions are listed. If it is above,
     * wavefit uses what the instance was not made for, which Vulkan leaves undefined and validation
     * layers report. 0 is refused. */
    uint32_t api_version;
    VkPhysicalDevice physical_device;
    VkDevice device;
    /* What was given to vkCreateDevice: enabled_features is VkDeviceCreateInfo.pNext,
     * enabled_core_features its pEnabledFeatures; each may be NULL. They are read during the call
     * only. */
    const void *enabled_features;
    const VkPhysicalDeviceFeatures *enabled_core_features;
    const char *const *enabled_extensions; /* of the device */
    uint32_t enabled_extension_count;
    /* The family of the command buffers that plans are recorded into; it must have compute. Buffers
     * that wavefit makes belong to it: for queues of another family adopt the VkDevice once more.
     * One wf_device serves all queues of the family. */
    uint32_t queue_family;
    /* A queue of that family for the functions that block (wf_plan_run, wf_buffer_read and
     * wf_buffer_write of memory that cannot be mapped, measuring, solvers). VK_NULL_HANDLE: those
     * return WF_ERROR_UNSUPPORTED, and wavefit never submits. */
    VkQueue queue;
    /* These are called around each vkQueueSubmit on `queue`, and around each vkQueueWaitIdle, which
     * only follows a failure. Give both where others use the queue too, else neither. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;
    /* The cache that pipelines are compiled through, from the thread of a call or those of wf_jobs.
     * Vulkan locks it: it must not have been created with EXTERNALLY_SYNCHRONIZED, nor be destroyed
     * or merged into meanwhile. VK_NULL_HANDLE: wavefit uses a cache of its own, in memory, and on
     * disk only if wf_device_params.cache_directory is given. */
    VkPipelineCache pipeline_cache;
    /* VK_EXT_debug_utils is enabled on `instance`: wavefit names its objects and puts labels around
     * its dispatches. */
    bool debug_utils;
} wf_vulkan;

/* Makes a wf_device of the application's VkDevice. Of params it uses limits, log, allocator,
 * cancelled, cache_directory, dispatch_seconds and memory_source. It never submits and does not
 * block. Errors: WF_ERROR_INVALID_ARGUMENT (a handle is missing, or the queue family does not exist
 * or has no compute), WF_ERROR_UNSUPPORTED (Vulkan 1.0), WF_ERROR_NO_LOADER. */
WF_API wf_result wf_device_adopt(const wf_vulkan *vulkan, const wf_device_params *params,
                                 wf_device **out);

/* What wavefit would use of a physical device if the application enabled it. Nothing of it is
 * required: every family has variants that need none. */
typedef struct wf_features wf_features;

typedef struct wf_feature {
    const char *name;      /* of the VkBool32, as in Vulkan's structures */
    const char *extension; /* to be enabled with it on this device; NULL: none */
    uint32_t families;     /* bit (1 << wf_family) for each family that uses it */
    bool offered;          /* this physical device has it */
    const char *gives;     /* what it is used for */
    const char *without;   /* what happens where it is not enabled */
} wf_feature;

/* Lists the features for `families`: bits (1 << wf_family), 0 for all. The bit of WF_FAMILY_HIMENO
 * stands for WF_FAMILY_STENCIL too. Of vulkan the function uses get_instance_proc_addr, instance,
 * api_version and physical_device; of params, the log. Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED, WF_ERROR_NO_LOADER,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_required_features(const wf_vulkan *vulkan, uint32_t families,
                                      const wf_device_params *params, wf_features **out);
/* Returns a chain for VkDeviceCreateInfo.pNext that enables all of them that the device offers. It
 * is valid as long as the object. */
WF_API const VkPhysicalDeviceFeatures2 *wf_features_chain(const wf_features *features);
/* Returns the names of the device extensions that go with the chain. */
WF_API const char *const *wf_features_extensions(const wf_features *features, uint32_t *count);
/* Returns one element for each feature, offered or not. */
WF_API const wf_feature *wf_features_list(const wf_features *features, uint32_t *count);
/* Adds the features to the application's own chain. Where the chain has the structure (the
 * feature's own or VkPhysicalDeviceVulkan1xFeatures), the function sets the VkBool32 in it; for
 * the others it appends structures of `features`, which must therefore outlive the use of the
 * chain. Call it once. */
WF_API void wf_features_merge(wf_features *features, VkPhysicalDeviceFeatures2 *chain);
WF_API void wf_features_destroy(wf_features **features);

/* ------------------------------------------------------------------------------------- buffers */

typedef struct wf_buffer wf_buffer;

typedef enum wf_memory {
    WF_MEMORY_DEVICE = 0,  /* device-local; mapped too where memory is unified */
    WF_MEMORY_UPLOAD = 1,  /* host-visible, for writing by the host */
    WF_MEMORY_READBACK = 2 /* host-visible, cached where offered, for reading by the host */
} wf_memory;

/* Creates a storage buffer of at least `bytes` bytes (> 0). It can also be the source and target of
 * copies and be read as a uniform texel buffer. Errors: WF_ERROR_TOO_LARGE (beyond caps.max_buffer
 * or caps.max_allocation; nothing was allocated), WF_ERROR_OUT_OF_DEVICE_MEMORY (beyond what the
 * driver's memory budget leaves). A card's driver takes milliseconds to give and take memory: a
 * device of wavefit's own keeps up to a 32nd of the card's that buffers leave, and 64 MiB of the
 * host's, for those to come (wf_device_collect gives it back). On a card device memory of 2 MiB and
 * more is dedicated to its VkBuffer, which then has a whole multiple of 2 MiB. */
WF_API wf_result wf_buffer_create(wf_device *device, uint64_t bytes, wf_memory memory,
                                  wf_buffer **out);
WF_API void wf_buffer_destroy(wf_buffer **buffer);
/* Destroys the buffer once the timeline semaphore has the value; see wf_plan_destroy_after. */
WF_API wf_result wf_buffer_destroy_after(wf_buffer **buffer, VkSemaphore timeline, uint64_t value);
WF_API VkBuffer wf_buffer_handle(const wf_buffer *buffer);
WF_API uint64_t wf_buffer_size(const wf_buffer *buffer);
/* Returns where the host sees the buffer's memory, coherently and as long as the buffer lives; NULL
 * where it is not mapped. Device memory is mapped too where caps.unified_memory is true, so that
 * nothing needs to be copied. The caller must not touch what the device is using. */
WF_API void *wf_buffer_mapped(const wf_buffer *buffer);

/* These copy between host memory and a buffer. Both block; they copy directly where the buffer is
 * mapped. Elsewhere the device keeps memory for them of up to 32 MiB, through which they move the
 * data in pieces; transfers of one device take turns. On a card of wavefit's own whose memory the
 * host sees in full (resizable BAR), writes of up to 16 MiB go there without the device's doing.
 * Copies on the host of 2 MiB and more are made by several threads, which the device starts at the
 * first of them and which sleep in between. Error: WF_ERROR_INVALID_ARGUMENT (the range is not
 * inside the buffer, or data is NULL). */
WF_API wf_result wf_buffer_write(wf_buffer *buffer, uint64_t offset, const void *data,
                                 uint64_t bytes);
WF_API wf_result wf_buffer_read(wf_buffer *buffer, uint64_t offset, void *data, uint64_t bytes);

/* The same without waiting: a thread of the device's makes these transfers one after the other, in
 * the order in which they were begun, and logs what fails. Until wf_transfer_end the data and the
 * range belong to the transfer, and work that is submitted meanwhile may come before or after it.
 * On an adopted device that thread submits to the queue, under its lock. Errors: as above, at once
 * for bad parameters, else from the two functions below. */
typedef struct wf_transfer wf_transfer;
WF_API wf_result wf_buffer_write_begin(wf_buffer *buffer, uint64_t offset, const void *data,
                                       uint64_t bytes, wf_transfer **out);
WF_API wf_result wf_buffer_read_begin(wf_buffer *buffer, uint64_t offset, void *data,
                                      uint64_t bytes, wf_transfer **out);
/* Returns WF_NOT_READY, or how the transfer ended. Never blocks. */
WF_API wf_result wf_transfer_status(const wf_transfer *transfer);
/* Blocks until the transfer is done, frees it and returns how it ended. Accepts a NULL handle. */
WF_API wf_result wf_transfer_end(wf_transfer **transfer);

/* Memory of the application's that the device reads and writes itself
 * (VK_EXT_external_memory_host). As long as it lives, wf_buffer_write from it and wf_buffer_read to
 * it make no copy on the host, but for what lies before the first and behind the last multiple of
 * caps.host_import_alignment. Importing pins the memory, which takes longer than one transfer of
 * it: it is for memory that is used again and again. The memory must stay allocated until the
 * object is destroyed, which is before the device. Errors: WF_ERROR_UNSUPPORTED (the device does
 * not offer it, or the driver does not take this memory, as mapped files). */
typedef struct wf_host_memory wf_host_memory;
WF_API wf_result wf_host_memory_create(wf_device *device, void *data, uint64_t bytes,
                                       wf_host_memory **out);
WF_API void wf_host_memory_destroy(wf_host_memory **memory);

/* Makes a buffer of memory that the application has, which executions then read and write where it
 * is (VK_EXT_external_memory_host). The buffer has all units of caps.host_import_alignment that
 * have a part of the data, so that the process must be able to write to all of these; *offset is
 * where in it the data begin. It is mapped. A card works on such memory at the speed of its bus.
 * The memory must stay allocated until the buffer is destroyed. Errors: WF_ERROR_UNSUPPORTED (the
 * device does not offer it, the driver does not take this memory, or *offset would be no multiple
 * of caps.storage_alignment), WF_ERROR_TOO_LARGE. */
WF_API wf_result wf_buffer_import_host(wf_device *device, void *data, uint64_t bytes,
                                       wf_buffer **out, uint64_t *offset);

/* Makes a buffer of device memory that others can have by wf_buffer_export_fd: another wf_device,
 * another process, another interface such as CUDA (cuImportExternalMemory with
 * CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD). It takes an allocation of its own. Who shares it takes
 * turns: one begins when the work of the other has ended. Errors: WF_ERROR_UNSUPPORTED (the device
 * has no caps.memory_fds, or the driver exports no buffers), those of wf_buffer_create. */
WF_API wf_result wf_buffer_create_exportable(wf_device *device, uint64_t bytes, wf_buffer **out);
/* Returns a new file descriptor (opaque, of Vulkan's OPAQUE_FD_BIT) of the buffer's memory, at
 * whose beginning the buffer is. *memory_bytes is the size of that memory, which who imports it
 * must tell. The descriptor is the caller's; importing it takes it. Error:
 * WF_ERROR_INVALID_ARGUMENT (the buffer is not of wf_buffer_create_exportable). */
WF_API wf_result wf_buffer_export_fd(const wf_buffer *buffer, int *fd, uint64_t *memory_bytes);
/* Makes a buffer of all the memory of a descriptor that a wf_device of the same physical device and
 * driver exported. If the function succeeds, the descriptor is the driver's; else it is still the
 * caller's, but where the log names vkBindBufferMemory: the driver has taken it by then. Errors: as
 * of wf_buffer_create_exportable. */
WF_API wf_result wf_buffer_import_fd(wf_device *device, int fd, uint64_t memory_bytes,
                                     wf_buffer **out);

/* Copies between two buffers of one device; blocks. Error: WF_ERROR_INVALID_ARGUMENT (a range is
 * not inside its buffer, or the buffers are the same one). */
WF_API wf_result wf_buffer_copy(const wf_buffer *from, uint64_t from_offset, wf_buffer *to,
                                uint64_t to_offset, uint64_t bytes);
/* Fills the range with a repeated 32-bit value. Blocks; writes directly where the buffer is mapped.
 * Error: WF_ERROR_INVALID_ARGUMENT (offset or bytes is no multiple of 4). */
WF_API wf_result wf_buffer_fill(wf_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t value);

/* ---------------------------------------------------------------------------- families, tuning */

/* A value for a named parameter of a variant. */
typedef struct wf_constant {
    const char *name;
    uint32_t value;
} wf_constant;

/* Overrides the choice that wavefit makes. */
typedef struct wf_tuning {
    size_t size;
    const char *variant;          /* NULL: wavefit's choice */
    const wf_constant *constants; /* parameters that are not named keep wavefit's choice */
    uint32_t constant_count;
    bool no_tuning;       /* only the model chooses: no measured or shipped tuning data are used */
    uint32_t skip_levels; /* bits of wf_tuning_level: tuning data that are not used */
} wf_tuning;

/* Where a choice can come from, most trusted first. The model comes last and always has one. */
typedef enum wf_tuning_level {
    WF_TUNING_MEASURED = 1,          /* measured on this device with this driver and shaders */
    WF_TUNING_DEVICE_ROWS = 2,       /* rows for this device that ship with wavefit */
    WF_TUNING_ARCHITECTURE_ROWS = 4, /* rows for a device of the same vendor with like limits */
    WF_TUNING_RATES = 8 /* rates that were measured (wf_calibrate), with which the model chooses */
} wf_tuning_level;

#define WF_MAX_PARAMETERS 32

/* A parameter of a variant. The library, the tuner, the tests and the tool read this same table;
 * its strings live as long as the library. */
typedef struct wf_parameter_info {
    const char *name;
    const char *meaning;
    uint32_t default_value;
    uint32_t candidate_count;
    const uint32_t *candidates;
} wf_parameter_info;

typedef struct wf_variant_info {
    const char *name;
    const char *summary; /* what this variant does */
    const char *source;  /* the text that it follows; "" if there is none */
    uint32_t types;      /* bit (1 << wf_type) for each element type that it is built for */
    uint32_t parameter_count;
    wf_parameter_info parameters[WF_MAX_PARAMETERS];
} wf_variant_info;

typedef enum wf_family {
    WF_FAMILY_HIMENO = 0, /* Himeno's relaxation */
    WF_FAMILY_SPMV = 1,
    WF_FAMILY_MATMUL = 2,
    WF_FAMILY_VECTOR = 3,
    WF_FAMILY_STENCIL = 4, /* star and box stencils */
    WF_FAMILY_COUNT = 5
} wf_family;

WF_API const char *wf_family_name(wf_family family); /* "stencil", …; "?" if unknown */
WF_API uint32_t wf_family_variant_count(wf_family family);
/* Describes a variant. Error: WF_ERROR_INVALID_ARGUMENT (there is none of that index). */
WF_API wf_result wf_family_variant(wf_family family, uint32_t index, wf_variant_info *out);

/* --------------------------------------------------------------------------------------- plans */

/* A plan is a compiled sequence of dispatches for one problem on one device: of fixed size, or of
 * any size up to a largest (wf_matmul_params.vary_m, wf_stencil_params.vary_x). On an adopted
 * device creating a plan never touches a queue. Plans of one device that need the same pipeline
 * have it in common, and the device keeps the latest 64 pipelines that no plan needs any more, so
 * that a plan made again compiles nothing. */
typedef struct wf_plan wf_plan;

/* The application's job system, for plans whose pipelines must not be compiled in the call that
 * creates them. That call calls submit once for each pipeline that is not compiled yet. submit must
 * see to it that run(job) is called once, on any thread, now or later, even if the plan is
 * destroyed meanwhile (the job then does nothing). Until all jobs have run, wf_plan_status and
 * wf_plan_record return WF_NOT_READY. */
typedef struct wf_jobs {
    size_t size;
    void (*submit)(void *user, void (*run)(void *job), void *job);
    void *user;
} wf_jobs;

#define WF_MAX_BINDINGS 8
#define WF_MAX_EXTENTS 4

typedef struct wf_binding {
    const wf_buffer *buffer; /* a buffer of wavefit's; or NULL, and */
    VkBuffer handle;         /* a buffer of the caller's */
    uint64_t offset;         /* bytes, a multiple of caps.storage_alignment */
    uint64_t bytes;          /* 0: to the end of a wf_buffer; must be given for a handle */
} wf_binding;

/* The buffers of an execution, indexed by the family's binding numbers (WF_MATMUL_A, …). */
typedef struct wf_bindings {
    size_t size;
    wf_binding items[WF_MAX_BINDINGS];
    wf_binding workspace; /* of wf_plan_workspace bytes; needed only where that is not 0 */
    /* The sizes of this execution, for plans that were made with vary_...: m, n, k, batch of a
     * product, nx, ny, nz of a grid; 0: that of the plan. */
    uint64_t extent[WF_MAX_EXTENTS];
    /* Views of bindings that are storage images (wf_stencil_params.image, wf_matmul_params.image_a
     * and its like), by binding number; the same elements of items are not read. They are in layout
     * GENERAL. */
    VkImageView images[WF_MAX_BINDINGS];
} wf_bindings;

/* Formats of storage images. R16F needs the feature shaderStorageImageExtendedFormats. */
typedef enum wf_image {
    WF_IMAGE_NONE = 0,    /* buffers */
    WF_IMAGE_R32F = 1,    /* VK_FORMAT_R32_SFLOAT */
    WF_IMAGE_R16F = 2,    /* VK_FORMAT_R16_SFLOAT */
    WF_IMAGE_RGBA16F = 3, /* VK_FORMAT_R16G16B16A16_SFLOAT */
    WF_IMAGE_RGBA8 = 4    /* VK_FORMAT_R8G8B8A8_UNORM */
} wf_image;

#define WF_MAX_STATISTICS 32

/* What the driver says of a pipeline (VK_KHR_pipeline_executable_properties), in its own words. */
typedef struct wf_statistic {
    char name[48]; /* "Register Count", "VGPRs", … */
    double value;
} wf_statistic;

/* One kernel. In wf_plan_info it is the variant's own kernel in its largest dispatch. */
typedef struct wf_kernel_info {
    uint32_t group_size[3];   /* work-items in a work-group along x, y, z */
    uint64_t groups;          /* work-groups in the dispatch */
    uint64_t shared_bytes;    /* shared memory of a work-group, as the variant declares it */
    uint32_t subgroup_size;   /* 1 where compute has no subgroup operations */
    uint32_t registers;       /* 32-bit registers of a work-item, by the statistics; 0: not told */
    uint32_t spilled;         /* registers kept in memory; 0: none, or not told */
    uint32_t statistic_count; /* 0 unless the device was opened with capture_statistics */
    wf_statistic statistics[WF_MAX_STATISTICS];
    uint64_t spirv_hash; /* of what its SPIR-V module does, before specialization; 0: not known */
} wf_kernel_info;

/* How the lanes of a kernel reach memory, counted from its algorithm and constants for a problem of
 * this size. 0: nothing of the kind occurs, or it is not counted. */
typedef struct wf_access {
    double busy;          /* fraction of the lanes that have a place in the problem */
    double sectors;       /* sectors of 32 bytes that the loads of a subgroup touch … */
    double least_sectors; /* … and those that their elements would fill side by side */
    double bank_passes;   /* passes a subgroup takes for an element of shared memory, on average */
    double meeting;       /* atomic additions that meet at one address */
    uint32_t row_lanes;   /* sparse matrices: lanes that multiply a row together … */
    uint32_t group_rows;  /* … and rows of a work-group */
} wf_access;

/* In which order a kernel's work-groups take the tiles of its result, and what they read: strips of
 * `swizzle` rows of tiles, down each column of a strip before the next. rows 0: not counted. */
typedef struct wf_tile_order {
    uint64_t rows, columns, batch;
    uint32_t swizzle;
    /* That all tiles of a row have in common, all of a column, and that a tile has alone. */
    double row_bytes, column_bytes, tile_bytes;
} wf_tile_order;

typedef struct wf_plan_info {
    size_t size;
    const char *family;
    const char *variant;
    const char *chosen_by; /* "forced", "tuned", "device row", "architecture row", "model" */
    uint32_t constant_count;
    wf_constant constants[WF_MAX_PARAMETERS];
    uint32_t dispatches; /* in one execution */
    double flops;        /* arithmetic of one execution by the algorithm's own count */
    double least_bytes;  /* memory traffic if each input is read and each output written once */
    wf_kernel_info kernel;
    /* Bytes that the variant's kernel moves in one execution, counted from its algorithm and
     * constants; 0 where they are not counted. */
    double requested_bytes;        /* memory: all loads and stores of its work-items */
    double stored_bytes;           /* memory: stores alone */
    double shared_requested_bytes; /* shared memory: all loads and stores of its work-items */
    double group_bytes;            /* memory, if a work-group moves each byte only once */
    /* Executions write memory that the plan keeps; wf_plan_record says how they are ordered. */
    bool writes_own_memory;
    wf_access access;         /* of the variant's kernel */
    wf_tile_order tile_order; /* likewise */
} wf_plan_info;

/* A problem by its sizes, without data. */
typedef struct wf_problem {
    size_t size;
    wf_family family; /* HIMENO, SPMV, MATMUL or STENCIL */
    wf_type type;
    uint64_t extent[3];   /* HIMENO: cells; SPMV: rows, columns, entries; MATMUL: m, n, k */
    uint32_t longest_row; /* SPMV: the most entries in a row */
    double row_deviation; /* SPMV: the standard deviation of the entries in a row */
    /* STENCIL: used in place of type and extent; its coefficients, tuning and jobs are ignored. */
    const struct wf_stencil_params *stencil;
    /* MATMUL: transposes, batch and whatever else a product has beside the type and the sizes
     * above; sizes that vary, images, tuning and jobs are ignored. NULL: nothing. */
    const struct wf_matmul_params *matmul;
} wf_problem;

/* Chooses variant and constants for the problem and compiles the kernel. It needs no memory for
 * data and does not run the kernel, so that devices that only compile will do. info->kernel.groups
 * is 0 where they are not counted. Errors: those of wf_matmul_plan. */
WF_API wf_result wf_kernel_compile(wf_device *device, const wf_problem *problem,
                                   const wf_tuning *tuning, wf_plan_info *info);

/* Tells what wf_kernel_compile would choose on a device of these capabilities, without a device:
 * nothing is compiled, and what was measured on this machine does not count. tuning->variant asks
 * for one variant. In info->kernel it sets group_size, shared_bytes and subgroup_size. Where the
 * device cannot do the problem or the variant, reason says why. Errors: those of
 * wf_kernel_compile. */
WF_API wf_result wf_caps_choose(const wf_caps *caps, const wf_problem *problem,
                                const wf_tuning *tuning, wf_plan_info *info, char reason[256]);

/* An estimate of how full a kernel keeps a device, from what is published about the device's
 * architecture and what the driver told of the kernel. A unit is what holds whole work-groups: a
 * multiprocessor, compute unit or core. */
typedef struct wf_occupancy {
    double fraction;          /* subgroups / most_subgroups */
    uint32_t groups;          /* work-groups that are resident on a unit at once */
    uint32_t subgroups;       /* subgroups of those work-groups */
    uint32_t most_subgroups;  /* subgroups that a unit can hold */
    const char *limited_by;   /* "registers", "shared memory", …; "nothing" when a unit is full */
    const char *architecture; /* "Hopper" */
    const char *source;       /* where the architecture's figures are from */
    const char *unit;         /* what holds whole work-groups: "multiprocessor" */
    uint32_t counted_units;   /* how many of caps.compute_units make a unit: 2 for AMD's work-group
                                 processors of two compute units, else 1 */
    /* Work-groups that each limit alone leaves room for; UINT32_MAX: it is none. */
    uint32_t by_subgroups, by_groups, by_registers, by_shared;
} wf_occupancy;

/* Error: WF_ERROR_UNSUPPORTED (too little is published about the device). */
WF_API wf_result wf_kernel_occupancy(const wf_caps *caps, const wf_kernel_info *kernel,
                                     wf_occupancy *out);

/* The limits of an architecture, as they are published; 0: they are not. No device is needed. */
typedef struct wf_architecture {
    size_t size;
    const char *name;                     /* "nvidia:sm90" */
    const char *generation;               /* "Hopper" */
    const char *devices;                  /* pieces of its devices' names, separated by '|' */
    const char *unit;                     /* what holds whole work-groups: "multiprocessor" */
    const char *source;                   /* where the limits are from */
    uint32_t subgroup_size;               /* the usual one */
    uint32_t most_subgroups, most_groups; /* that a unit holds */
    bool groups_by_barriers;              /* most_groups does not count groups of one subgroup */
    uint32_t registers;                   /* of 32 bits in a unit */
    uint32_t item_registers;              /* most of a work-item */
    uint32_t shared_bytes;                /* of a unit */
} wf_architecture;

WF_API uint32_t wf_architecture_count(void);
/* Finds one by its name or what stands behind the colon ("rdna3"), by a chip ("navi31"), a device
 * ("GTX 480") or a generation ("Kepler": the first of several), whatever the case. Error:
 * WF_ERROR_INVALID_ARGUMENT (there is none). */
WF_API wf_result wf_architecture_find(const char *name, uint32_t *index);
/* Error: WF_ERROR_INVALID_ARGUMENT (there is none of that index). */
WF_API wf_result wf_architecture_describe(uint32_t index, wf_architecture *out);
/* As wf_kernel_occupancy, of a kernel with that group_size, shared_bytes, registers and
 * subgroup_size (0: the usual one). */
WF_API wf_result wf_architecture_occupancy(uint32_t index, const wf_kernel_info *kernel,
                                           wf_occupancy *out);

/* What recordings need of Vulkan besides the command buffer: descriptor sets and, for the sparse
 * variant "texel", buffer views.
 *
 * The application makes one arena for each frame in flight (and for each thread that records at the
 * same time), records that frame's plans with it, and resets it once the frame's fence has passed,
 * as it does with its command pool. Each recording takes sets of its own and writes them. So there
 * is no limit to distinct bindings, and no set refers to a buffer that was destroyed. On devices
 * with push descriptors most plans take nothing from the arena; it must be given all the same, so
 * that what runs on one device runs on all. One thread at a time may use an arena, with any plans
 * of its device. Different arenas are independent. */
typedef struct wf_arena wf_arena;

/* Creates an empty arena. Recordings add what they find nothing free of, and the arena keeps it.
 * Once it has seen its largest frame it stops growing, and recording allocates nothing more. */
WF_API wf_result wf_arena_create(wf_device *device, wf_arena **out);
/* Takes back all that recordings took. Their command buffers must have finished and must not be
 * executed again. The function does not wait. It destroys buffer views; sets are kept and written
 * anew. */
WF_API wf_result wf_arena_reset(wf_arena *arena);
/* Takes back all that recordings took, as wf_arena_reset does, and frees it. Plans and buffers that
 * were used with the arena may be destroyed before it. */
WF_API void wf_arena_destroy(wf_arena **arena);
/* The same once the timeline semaphore has the value; see wf_plan_destroy_after. */
WF_API wf_result wf_arena_destroy_after(wf_arena **arena, VkSemaphore timeline, uint64_t value);

/* Records the plan's dispatches into a command buffer that is in the recording state, outside a
 * render pass, for a queue family with compute. It never submits, waits or compiles. It allocates
 * only where the arena has nothing left, and views for the sparse variant "texel". The bindings are
 * read during the call, their buffers during the execution. The arena must not be reset before the
 * command buffer has been executed for the last time.
 *
 * Barriers. wavefit records the barriers between its own dispatches. The caller orders what comes
 * before and after: in stage COMPUTE_SHADER, inputs are accessed by SHADER_READ, outputs by
 * SHADER_WRITE (and SHADER_READ, where a binding says so), the workspace by both. Inputs and
 * outputs must not overlap.
 *
 * Many recordings. A plan may be recorded many times, into command buffers that overlap, with
 * different outputs and workspaces. Some plans write memory of their own
 * (wf_plan_info.writes_own_memory): sparse plans that sum long rows over work-groups, and products
 * that use split-K, stream-K or packing. Each recording of those begins with a barrier,
 * COMPUTE_SHADER / SHADER_WRITE to COMPUTE_SHADER / SHADER_READ | SHADER_WRITE, which orders it
 * behind all that the queue was given before. Barriers do not reach another queue: such a plan
 * needs a semaphore there, or a second plan.
 *
 * Disturbed state. A recording disturbs the compute bind point's pipeline, its descriptor sets of
 * all numbers (wavefit's layouts have their own set 0) and push constants, which all bind points
 * share: bind and push yours again. Pipelines and sets of other bind points stay.
 *
 * Errors: WF_ERROR_BINDING, WF_NOT_READY, WF_ERROR_INVALID_ARGUMENT (no arena, or one of another
 * device; an extent that the plan was not made for), and those of want of memory; nothing was
 * recorded then. The text of a failure goes to the log once for each plan, however many frames
 * repeat it. */
WF_API wf_result wf_plan_record(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                                const wf_bindings *bindings);

/* Returns WF_SUCCESS when the plan is compiled, WF_NOT_READY while jobs (wf_jobs) have still to
 * run, otherwise why compiling failed. */
WF_API wf_result wf_plan_status(wf_plan *plan);

/* Tells whether the plan holds data that must still be sent to an adopted device: a matrix, or the
 * padding of the packed copies that some large products make of A and B. It is true where device
 * memory cannot be mapped, until wf_plan_record_upload. Other devices have the data when the plan
 * is created. */
WF_API bool wf_plan_needs_upload(const wf_plan *plan);
/* Records that upload, with a barrier behind it. Execute it once, before the plan. It records
 * nothing where nothing is needed. */
WF_API wf_result wf_plan_record_upload(wf_plan *plan, VkCommandBuffer command_buffer);
/* Frees the host's copy of the data. Call it once the upload was executed. */
WF_API void wf_plan_trim(wf_plan *plan);

/* Returns the bytes of scratch memory that a recording needs bound as workspace. */
WF_API uint64_t wf_plan_workspace(const wf_plan *plan);
/* Tells what was chosen, and what the driver says of the kernel. It is complete once the plan is
 * compiled. */
WF_API wf_result wf_plan_describe(const wf_plan *plan, wf_plan_info *info);
/* Destroys the plan without waiting. The work recorded from it must have finished. */
WF_API void wf_plan_destroy(wf_plan **plan);
/* Destroys the plan once the timeline semaphore has the value: now, if it has it, or at a later
 * call of such a function or of wf_device_collect, at the latest when the device is destroyed. So
 * an application gives up a plan that frames in flight still use. The handle becomes NULL; the
 * semaphore must live until then. The plan may end on any thread that makes such a call. Errors,
 * after which the plan is still the caller's: WF_ERROR_INVALID_ARGUMENT (no semaphore),
 * WF_ERROR_UNSUPPORTED (the device has no timeline semaphores). */
WF_API wf_result wf_plan_destroy_after(wf_plan **plan, VkSemaphore timeline, uint64_t value);

/* Makes a plan of the same problem that shares with `plan` its pipelines and all memory that
 * executions only read: a sparse matrix is analysed, converted and uploaded once. What executions
 * write (wf_plan_info.writes_own_memory) the copy has for itself. So each queue or thread may
 * record a copy of its own, beside others, without locks and semaphores between them. The caller
 * serialises calls on one copy, as on any plan; wf_plan_copy itself must not run beside another
 * call on `plan`. Plans may be destroyed in any order; what they share goes with the last.
 *
 * wf_spmv_scale changes one copy alone. New values (wf_spmv_update, wf_spmv_record_update) are seen
 * by all: executions of other copies must not run then. A copy that has memory of its own may need
 * an upload (wf_plan_needs_upload), or blocks where the device is wavefit's own. Buffers belong to
 * the device's queue family: queues of another family need a wf_device, and a plan, of their own.
 *
 * Errors: WF_NOT_READY (`plan` is still being compiled, or its upload is not recorded),
 * WF_ERROR_UNSUPPORTED (the plan's sizes vary), and those of want of memory. */
WF_API wf_result wf_plan_copy(wf_plan *plan, wf_plan **out);

/* Submits one execution on the device's own queue. Blocks until it is done. An execution of several
 * dispatches that takes over half a second goes in several submissions, between which
 * wf_device_params.cancelled is asked. The plan keeps the command buffers of the last few bindings,
 * so that a call with the same wf_buffers again only submits; bindings by VkBuffer are recorded in
 * each call. On a GPU the thread asks for the end for up to 200 us, which takes a processor, before
 * it sleeps, from which the system wakes it some tens of microseconds late. Errors:
 * WF_ERROR_CANCELLED (the outputs are of no use), and those of wf_plan_record. */
WF_API wf_result wf_plan_run(wf_plan *plan, const wf_bindings *bindings);

/* Runs `count` (> 0) executions one after the other in one submission, without warm-up. *seconds is
 * what they took together, by timestamps (*gpu_clock is true) or by the host's clock. Blocks.
 * Errors: those of wf_plan_run. */
WF_API wf_result wf_plan_run_times(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                                   double *seconds, bool *gpu_clock);

/* Executions that the host does not wait for, on the device's own queue. They are executed in the
 * order in which they were given, each behind a barrier: what one wrote, later ones may read, write
 * and bind as another binding. The plans and buffers must live, and the host must leave the buffers
 * alone, until the execution has ended. Executions are numbered from 1. While several submissions
 * are under way, further executions are gathered and go in one. */
typedef struct wf_queue wf_queue;

/* Error: WF_ERROR_UNSUPPORTED (an adopted device without a queue). */
WF_API wf_result wf_queue_create(wf_device *device, wf_queue **out);
/* The same on a second queue, whose executions run beside those of the first. Nothing orders the
 * two but the host: what one queue is given may use what an execution of the other did once a wait
 * for that has returned. What goes in several submissions is made on the device's own queue.
 * Error: WF_ERROR_UNSUPPORTED, without a word in the log (the device has no second queue for
 * kernels, or is an adopted one). */
WF_API wf_result wf_queue_create_beside(wf_device *device, wf_queue **out);
/* Gives an execution to the queue; *number, which may be NULL, is its number. Blocks where many
 * submissions are under way, and where the execution goes in several submissions or the plan still
 * needs an upload: it is then made by wf_plan_run. The failure of a submission is returned by the
 * call that makes it, this one or one of the next two; the executions gathered in it are not made.
 * Errors: those of wf_plan_record, WF_ERROR_CANCELLED (while it blocked; the execution was not
 * given), WF_ERROR_INVALID_ARGUMENT (a plan of another device). */
WF_API wf_result wf_queue_run(wf_queue *queue, wf_plan *plan, const wf_bindings *bindings,
                              uint64_t *number);
/* Executions gather from now on until something submits them: wf_queue_submit, a wait, or that they
 * are many. For several short ones that nobody waits for one by one. */
WF_API wf_result wf_queue_hold(wf_queue *queue);
/* Submits what is gathered. Executions given from now on are recorded, and submitted by none but
 * wf_queue_submit or a wait for one of them: what they read, host memory too, may still be written
 * until then. wf_queue_run gives WF_NOT_READY, and nothing is recorded, where an execution cannot
 * be in one submission with those before it or the plan still needs an upload. */
WF_API wf_result wf_queue_prepare(wf_queue *queue);
/* Forgets what is gathered and not submitted, and the numbers of these executions. */
WF_API wf_result wf_queue_drop(wf_queue *queue);
/* The next execution goes without a barrier before it: it may run beside those that were given
 * since the last one that had a barrier. */
WF_API wf_result wf_queue_beside(wf_queue *queue);
/* Lets a wait for what was given so far return as soon as that has ended, also where more is given
 * behind it in the same submission. A submission has at most one mark. Where it has one already, or
 * the device has no VkEvents, this submits what is gathered; between wf_queue_prepare and
 * wf_queue_submit, when nothing else submits, it returns WF_NOT_READY instead, and what was given
 * ends, for a wait, with its submission. */
WF_API wf_result wf_queue_mark(wf_queue *queue);
/* Submits what is gathered. Does not wait. */
WF_API wf_result wf_queue_submit(wf_queue *queue);
/* Tells the number of the last execution that has ended, as all before it have. Never blocks. */
WF_API wf_result wf_queue_ended(wf_queue *queue, uint64_t *number);
/* Submits what is gathered and blocks until the execution of that number, and those before it, have
 * ended; 0: all. Error: WF_ERROR_CANCELLED (the device goes on; wait again before buffers and plans
 * are touched or destroyed). */
WF_API wf_result wf_queue_wait(wf_queue *queue, uint64_t number);
/* Submits what is gathered, but for what wf_queue_prepare left, waits for all and frees the
 * queue. */
WF_API void wf_queue_destroy(wf_queue **queue);

/* One of a plan's kernels. A plan may pack its inputs before the variant's own kernel, or add
 * partial sums after it. */
typedef struct wf_plan_kernel {
    size_t size;
    const char *name;    /* of its shader */
    bool main;           /* it is the variant's own */
    uint32_t dispatches; /* in one execution; 0: it was compiled, but is not used */
    wf_kernel_info info; /* in the largest of these dispatches */
} wf_plan_kernel;

WF_API uint32_t wf_plan_kernel_count(const wf_plan *plan);
/* Describes one kernel. Error: WF_ERROR_INVALID_ARGUMENT (there is none of that index). */
WF_API wf_result wf_plan_describe_kernel(const wf_plan *plan, uint32_t index, wf_plan_kernel *out);
/* Executes the plan's dispatches one at a time, a few times over. It fills us[0 … count-1], where
 * count is wf_plan_kernel_count, with the microseconds that each kernel takes in one execution, by
 * timestamps (*gpu_clock is true) or by the host's clock. Dispatches that would overlap in an
 * execution do not overlap here, so the sum may be more than an execution takes. Blocks. */
WF_API wf_result wf_plan_time_kernels(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                                      double *us, bool *gpu_clock);

/* ------------------------------------------------------------------------------------ measuring */

#define WF_MAX_SAMPLES 512

typedef struct wf_measure_params {
    size_t size;
    /* Samples to take. 0: until their quartile spread is under 2 % or the budget ends. 1: one
     * sample without warm-up. */
    uint32_t repeat;
    double budget_seconds; /* 0: 1 s */
    bool cold;             /* evict the caches before each sample by writing a large buffer */
    bool warm;             /* leave out the warm-up: the device was busy until just now */
} wf_measure_params;

typedef struct wf_timing {
    double median_us, min_us, q1_us, q3_us; /* of one execution */
    double spread;                          /* (q3 - q1) / median */
    uint32_t count;                         /* samples */
    uint32_t batch;                         /* executions in a sample */
    bool gpu_clock;                         /* false: host clock around submit and wait */
    bool cold;
    double samples_us[WF_MAX_SAMPLES];
} wf_timing;

/* Times repeated executions of a plan on the device's own queue, with warm-up. Blocks. Errors:
 * those of wf_plan_run. */
WF_API wf_result wf_plan_measure(wf_plan *plan, const wf_bindings *bindings,
                                 const wf_measure_params *params, wf_timing *timing);

/* Returns the measured copy bandwidth of the device. It is measured once for a device object, in
 * the first call, which blocks. */
WF_API wf_result wf_device_copy_bandwidth(wf_device *device, double *bytes_per_second);
/* Returns the measured rate of fused multiply-adds, each of which counts as two operations. The
 * first call blocks. Error: WF_ERROR_UNSUPPORTED (the device lacks the type). */
WF_API wf_result wf_device_fma_rate(wf_device *device, wf_type type, double *flops_per_second);

/* A peak: a limit of the device that wavefit measures by a micro-benchmark of its own. The strings
 * live as long as the library. */
typedef struct wf_peak_info {
    const char *name;    /* "copy", "fma_f32", … */
    const char *unit;    /* "GB/s", "GFLOPS", "GOPS", "us" */
    const char *meaning; /* one sentence: what is counted */
    bool over_bytes;     /* it is measured for a working set of some size */
} wf_peak_info;

WF_API uint32_t wf_peak_count(void);
/* Describes a peak. Error: WF_ERROR_INVALID_ARGUMENT (there is none of that index). */
WF_API wf_result wf_peak_describe(uint32_t index, wf_peak_info *out);

typedef struct wf_peak_params {
    size_t size;
    double budget_seconds; /* for the samples; 0: 0.3 s */
    uint64_t bytes;        /* working set, rounded to a power of two; 0: larger than any cache */
    bool warm;             /* leave out the warm-up: the device was busy until just now */
} wf_peak_params;

typedef struct wf_peak {
    double value;   /* of the median sample, in the peak's unit */
    double spread;  /* quartile spread of the samples over their median */
    uint32_t count; /* samples */
    uint64_t bytes; /* working set of all buffers together; 0 where there is none */
    bool gpu_clock;
    char how[64]; /* "16x16x16, 8 subgroups a work-group"; "" where there is no choice */
} wf_peak;

/* Measures one peak. Blocks. Error: WF_ERROR_UNSUPPORTED (the device lacks what the peak needs; the
 * log says what). */
WF_API wf_result wf_peak_measure(wf_device *device, uint32_t index, const wf_peak_params *params,
                                 wf_peak *out);

#define WF_CHECK_MISMATCHES 8

/* An element that is further from its reference than its bound allows. */
typedef struct wf_mismatch {
    uint64_t index;
    double result, expected, bound;
} wf_mismatch;

/* A comparison of a result with a reference that is computed in f64 on the host. A result is right
 * if error_over_bound is <= 1 and not NaN. */
typedef struct wf_check {
    double error_over_bound; /* largest |result - reference| over its derived rounding bound */
    uint64_t checked;        /* elements compared one by one; none whose bound is infinite */
    uint64_t total;          /* elements that the result has */
    uint64_t worst;          /* index of the worst element */
    /* Where not all elements were compared one by one, the others were checked in other ways:
     * `summed` elements are covered by random sums, which miss an error as large as a row's root
     * mean square in one of them with probability `missed`; of `ranged` elements only the range was
     * checked. */
    uint64_t summed;
    double missed;
    uint64_t ranged;
    uint64_t wrong;                              /* comparisons that did not hold … */
    wf_mismatch mismatches[WF_CHECK_MISMATCHES]; /* … and the first of them */
} wf_check;

/* -------------------------------------------------------------------------------------- matmul */

/* Bindings of a matmul plan. C is also read where beta is not 0, or where a plan of several
 * dispatches adds to it. A binding that the product does not use may stay empty. */
enum {
    WF_MATMUL_A = 0,
    WF_MATMUL_B = 1,
    WF_MATMUL_C = 2,
    WF_MATMUL_BIAS = 3,
    WF_MATMUL_BINDINGS = 4
};

typedef enum wf_activation {
    WF_ACTIVATION_NONE = 0,
    WF_ACTIVATION_RELU = 1, /* max(x, 0) */
    /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, the tanh form of Hendrycks and Gimpel 2016;
     * not for I8 */
    WF_ACTIVATION_GELU = 2
} wf_activation;

/* The type of C. Sums are kept in f32 (F32, F16, BF16), f64 (F64) or 32-bit integers (I8). */
typedef enum wf_matmul_output {
    WF_MATMUL_OUTPUT_TYPE = 0, /* the type of A and B; 32-bit integers for I8 */
    WF_MATMUL_OUTPUT_SUMS = 1  /* the type of the sums */
} wf_matmul_output;

typedef enum wf_math {
    WF_MATH_EXACT = 0, /* products and sums are computed in the type of the sums */
    /* An F32 operand may be held as the sum of two f16 numbers, with each row of op(A) and column
     * of op(B) scaled by a power of two, and be multiplied on matrix units. The error is within
     * gamma_{2k+20} |A||B| + k 2^-48 max|row| max|column|. Infinities may become NaN. */
    WF_MATH_FAST = 1
} wf_math;

/* A value of stride_a or stride_b: all products of the batch read the same matrix. */
#define WF_STRIDE_SHARED UINT64_MAX

/* C = activation(alpha op(A) op(B) + beta C + bias), `batch` times. op(A) is m x k, op(B) is k x n,
 * C is m x n; all are row-major. A structure that is zero but for its sizes means C = A B. Where m
 * or n is 0 nothing is done; where k or alpha is 0, A and B are not read. I8 adds modulo 2^32. */
typedef struct wf_matmul_params {
    size_t size;
    uint64_t m, n, k; /* 0 … 2^31 */
    wf_type type;     /* of A and B */
    const wf_tuning *tuning;
    const wf_jobs *jobs;           /* NULL: wf_matmul_plan compiles the pipelines itself */
    bool transpose_a, transpose_b; /* A is stored as k x m, B as n x k */
    /* Leading dimensions: elements from one row of a matrix to the next, as it is stored; 0: as
     * many as a row has. */
    uint64_t lda, ldb, ldc;
    /* Both are rounded to the type of the sums and must be finite there; for I8 they must be whole
     * numbers of 32 bits. alpha is read during the call; NULL: 1. Where beta is 0, C may hold
     * anything before, NaN too. */
    const double *alpha;
    double beta;
    uint64_t batch; /* 0: 1 */
    /* Elements from one product's matrix to the next; 0: as many as its rows take. The matrices C
     * of a batch must not overlap. */
    uint64_t stride_a, stride_b, stride_c;
    bool bias; /* binding BIAS holds n elements of the type of the sums, added to every row */
    wf_activation activation;
    wf_matmul_output output;
    wf_math math;
    const wf_cancel *cancel; /* asked by wf_matmul_check; NULL: nothing is asked */
    /* Sizes that recordings may lower (wf_bindings.extent) without another plan: m, n, k and batch
     * are then the largest ones. 0: the size is fixed. Else recordings give any multiple of it: 1
     * allows every size, 4 (for 16-bit types 8, for I8 16) keeps the loads of vectors. Leading
     * dimensions and strides stay those of the plan. Each operand of a product that varies must fit
     * one storage-buffer binding. wf_tune ignores these. */
    uint32_t vary_m, vary_n, vary_k, vary_batch;
    /* Not WF_IMAGE_NONE: the binding is a storage image of this format (wf_bindings.images), 2D, of
     * one mip level: row y of the image holds row y of the matrix as it is stored (BIAS is one
     * row), texel x its element x or, in formats of four components, elements 4 x to 4 x + 3. What
     * C's last texel of a row has beyond the row becomes 0. A step of the plan copies between the
     * images and the workspace; the product is that of buffers, rounded to the formats. The type
     * must be F32 or F16, batch 1 and the operand's leading dimension 0. wf_tune and
     * wf_matmul_check ignore these. */
    wf_image image_a, image_b, image_c, image_bias;
} wf_matmul_params;

/* Tells how many bytes each binding must have at least; 0: it is not used. Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_TOO_LARGE. */
WF_API wf_result wf_matmul_bytes(const wf_matmul_params *params,
                                 uint64_t bytes[WF_MATMUL_BINDINGS]);

/* Makes a plan of the product. Every execution gives the same bits. (Variants for few rows or
 * columns of C begin every second execution at the other end of the large matrix, which a cache may
 * still hold.) Blocks where the variant makes packed copies of A or B, whose padding it then
 * clears; on an adopted device it never does (wf_plan_needs_upload). Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_TOO_LARGE, WF_ERROR_UNSUPPORTED (type),
 * WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT. */
WF_API wf_result wf_matmul_plan(wf_device *device, const wf_matmul_params *params, wf_plan **out);

/* The host's copies of what a product read, each of wf_matmul_bytes; NULL where it is not used. */
typedef struct wf_matmul_inputs {
    size_t size;
    const void *a, *b, *bias;
    const void *c; /* before the product; NULL where beta is 0 */
    /* C of the same product without its activation, computed by the device in another execution;
     * NULL: there is none. */
    const void *linear;
} wf_matmul_inputs;

/* Compares c with the product in f64 (in long double where the type is F64, in whole numbers where
 * it is I8). It compares at most max_checked elements (0: all), drawn with `seed`. check->worst
 * counts elements along rows of C, then rows, then products of the batch.
 *
 * The bound of an element is gamma_{k+4} of the type of the sums times |alpha| |A||B| + |beta C| +
 * |bias| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.5), plus the
 * activation's error and one rounding to the type of C. Before the activation it is 0 where no sum
 * can round, as with small whole numbers.
 *
 * Where not all elements are compared, Freivalds' test finds the rows of C that are farthest off,
 * and those rows are compared whole. With an activation, that test runs on `linear`, and every
 * element of c is compared with the activation of linear's. Without `linear`, only the range of the
 * other elements is checked.
 *
 * Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_matmul_check(const wf_matmul_params *params, const wf_matmul_inputs *inputs,
                                 const void *c, uint64_t max_checked, uint64_t seed,
                                 wf_check *check);

/* ---------------------------------------------------------------------------------------- spmv */

/* Bindings of an spmv plan; the matrix itself lives in the plan. Variant "texel" reads x through a
 * uniform texel buffer. For it a VkBuffer of the application's needs usage UNIFORM_TEXEL_BUFFER,
 * and its offset must be a multiple of caps.texel_alignment (else WF_ERROR_BINDING). */
enum { WF_SPMV_X = 0, WF_SPMV_Y = 1, WF_SPMV_BINDINGS = 2 };

#define WF_SPMV_MOST_VECTORS 32

/* A matrix in device memory, as an engine or a solver makes it there: the arrays of wf_spmv_params
 * in buffers, F16 values packed two to a word. What writes them must have ended before the call. A
 * VkBuffer of the application's needs usage TRANSFER_SRC too. */
typedef struct wf_spmv_buffers {
    size_t size;
    wf_binding row_offsets, column_indices, values;
} wf_spmv_buffers;

/* y = alpha A x + beta y, or the same with A transposed, for A in compressed sparse rows. The
 * arrays are read during the call only. x and y are f64 for F64, and f32 for F32 and F16: F16 is
 * the type of the matrix's values alone, and sums are made in f32. Infinities and NaN in x or in
 * the matrix reach the rows that have them and no others, whatever padding a variant's format has.
 * Every execution gives the same bits, except with the variant "atomic", which is never chosen
 * unless forced. */
typedef struct wf_spmv_params {
    size_t size;
    /* Where x has no elements, y is beta y, and binding X may stay empty; where y has none, nothing
     * is done and nothing needs to be bound. Variant "row" does that, whichever is forced. */
    uint32_t rows, columns;
    const uint32_t *row_offsets;    /* rows + 1 elements, ascending, the first 0 */
    const uint32_t *column_indices; /* row_offsets[rows], each < columns; duplicates add up */
    const void *values;             /* row_offsets[rows] elements of the type */
    wf_type type;                   /* F32, F64 or F16 */
    const wf_tuning *tuning;
    const wf_jobs *jobs; /* NULL: wf_spmv_plan compiles the pipelines itself */
    bool transpose;      /* x has `rows` elements, y `columns`; the plan makes a transposed copy */
    bool updatable;      /* wf_spmv_update will be called; this takes 4 more bytes an entry */
    /* Number of right-hand sides, at most WF_SPMV_MOST_VECTORS; 0: 1. X and Y are then row-major
     * matrices of as many columns, whose rows are x_stride and y_stride elements apart (0:
     * `vectors` elements). */
    uint32_t vectors, x_stride, y_stride;
    const double *alpha;     /* NULL: 1 */
    double beta;             /* 0: y is not read and may hold anything */
    const wf_cancel *cancel; /* asked by wf_spmv_check; NULL: nothing is asked */
    /* The matrix in device memory, for wf_spmv_plan alone; the three arrays above are then NULL.
     * The call blocks and submits to the device's queue, an adopted device's too. */
    const wf_spmv_buffers *buffers;
} wf_spmv_params;

/* Checks the arrays, chooses variant and constants by the row lengths, and converts and uploads the
 * matrix. GPUs check, count and convert large matrices themselves; for that time device memory has
 * to hold the arrays beside the plan, and 4 to 8 more bytes an entry; where it does not, the host
 * does it. Blocks where device memory cannot be mapped; on an adopted device, unless the matrix is
 * in buffers, it never does (wf_plan_needs_upload). Errors: WF_ERROR_INVALID_ARGUMENT (arrays,
 * vectors, strides; alpha or beta is not finite), WF_ERROR_BINDING (buffers), WF_ERROR_TOO_LARGE (x
 * or a row is larger than a binding may be), WF_ERROR_UNSUPPORTED (type, forced variant),
 * WF_ERROR_CANCELLED. */
WF_API wf_result wf_spmv_plan(wf_device *device, const wf_spmv_params *params, wf_plan **out);

/* Sets alpha and beta for what is recorded from now on. Errors: WF_ERROR_INVALID_ARGUMENT (the plan
 * is not of spmv, or a factor is not finite in the type of x and y), WF_ERROR_UNSUPPORTED (a plan
 * of variant `equal` or `stream` that was made with alpha 1 and beta 0 is compiled for these: make
 * it with other factors, which it may have later). */
WF_API wf_result wf_spmv_scale(wf_plan *plan, double alpha, double beta);

/* These give new values to the same pattern, in the order of column_indices, of a plan that was
 * made with `updatable`. Nothing is analysed again. wf_spmv_update takes a host array and blocks;
 * work that was recorded from the plan must not be running. wf_spmv_record_update records the
 * change from a device buffer, as wf_plan_record does, with a barrier before it and one behind. F16
 * values in that buffer are packed two to a word, and its size is rounded up to whole words.
 * Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_BINDING; WF_NOT_READY where an upload is still to be
 * recorded (wf_plan_needs_upload), which wf_spmv_update makes itself. */
WF_API wf_result wf_spmv_update(wf_plan *plan, const void *values);
WF_API wf_result wf_spmv_record_update(wf_plan *plan, VkCommandBuffer command_buffer,
                                       wf_arena *arena, const wf_binding *values);

#define WF_SPMV_MOST_CANDIDATES 16

/* A variant that the model weighed. */
typedef struct wf_spmv_candidate {
    const char *variant;
    double expected;  /* time in the model's units, lower is better; < 0: not for this matrix */
    char reason[256]; /* why the device cannot run it; "" when it can */
} wf_spmv_candidate;

/* What the analysis of a plan found and cost. */
typedef struct wf_spmv_analysis {
    size_t size;
    uint64_t rows, columns, entries; /* of what is multiplied: of the transposed matrix, if asked */
    uint32_t shortest_row, longest_row;
    double mean_row, row_deviation;
    uint64_t row_histogram[33]; /* [0]: empty rows; [i]: rows of 2^(i-1) to 2^i - 1 entries */
    uint32_t bandwidth;         /* largest |column - row| */
    uint32_t block;             /* side (2 to 4) of the aligned blocks that entries fill best */
    double block_fill;          /* fraction of those blocks' places that they fill, in a sample */
    uint64_t matrix_bytes;      /* the matrix as the plan keeps it; a product reads all of it */
    double statistics_seconds;  /* time of statistics and choice, on the host */
    double seconds;             /* time of wf_spmv_plan with conversion, pipelines and upload */
    uint32_t candidate_count;
    wf_spmv_candidate candidates[WF_SPMV_MOST_CANDIDATES];
} wf_spmv_analysis;

/* Error: WF_ERROR_INVALID_ARGUMENT (the plan is not of spmv). */
WF_API wf_result wf_spmv_analysis_of(const wf_plan *plan, wf_spmv_analysis *analysis);

/* Compares y with the f64 product, in all elements of all vectors. y_before is y as it was before
 * the product (NULL where beta is 0). The bound of an element of n entries is gamma_(n+c) (|alpha|
 * |A||x| + |beta||y|), where c is 0 if alpha is 1 and beta 0, else 5 for scaling and for rounding
 * alpha and beta. Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (type),
 * WF_ERROR_CANCELLED. */
WF_API wf_result wf_spmv_check_scaled(const wf_spmv_params *params, const void *x,
                                      const void *y_before, const void *y, wf_check *check);
/* The same with y_before NULL. */
WF_API wf_result wf_spmv_check(const wf_spmv_params *params, const void *x, const void *y,
                               wf_check *check);

/* ------------------------------------------------------------------------- conjugate gradients */

/* wf_cg_solve solves A x = b for a symmetric positive definite A by conjugate gradients (Hestenes
 * and Stiefel 1952, in the form of Chronopoulos and Gear 1989, which has one pass of dot products
 * an iteration). It starts from x = 0. All scalars stay on the device, which also finds the end;
 * the host looks every check_every iterations, while the next ones are already under way. Every
 * solve gives the same bits. */
typedef enum wf_precondition {
    WF_PRECONDITION_NONE = 0,
    WF_PRECONDITION_JACOBI = 1, /* by the diagonal, which must be positive */
    WF_PRECONDITION_BLOCK_JACOBI =
        2 /* by blocks on the diagonal, which must be positive definite */
} wf_precondition;

typedef enum wf_cg_status {
    WF_CG_CONVERGED = 0,
    WF_CG_MAX_ITERATIONS = 1, /* the tolerance was not met */
    WF_CG_INDEFINITE = 2,     /* a direction p has p A p < 0: A is not positive definite */
    WF_CG_NOT_FINITE = 3,     /* an overflow or NaN occurred; x is of no use */
    WF_CG_BREAKDOWN = 4,      /* p A p is 0 within rounding: A is singular */
    /* The iteration came to its end, but b - A x is larger than the tolerance and rounding explain.
     * Either the device erred or A is too ill-conditioned for the type. */
    WF_CG_INACCURATE = 5
} wf_cg_status;

#define WF_CG_MOST_BLOCK 16

/* Called now and then with how far a solve is: the iterations done, and |r| / |b| of the last of
 * them. If it returns false, the solve stops. It must not call wavefit. */
typedef bool (*wf_cg_fn)(void *user, uint32_t iterations, double residual);

/* Where the time of a solve goes, in seconds on the host's clock. From the data in host memory to
 * the solution in host memory it is the sum of all but check. */
typedef struct wf_solve_stages {
    size_t size;
    double analysis; /* choices, the matrix's conversion and its way to the device, pipelines */
    double upload;   /* of the right-hand side or the grid, scaled */
    double run;      /* the iterations, as the host waits for them */
    double download; /* of the solution */
    double check;    /* the true residual, on the host */
} wf_solve_stages;

typedef struct wf_cg_params {
    size_t size;
    const wf_spmv_params *matrix; /* square, F32 or F64, one vector, unscaled */
    wf_precondition precondition;
    double tolerance;        /* of |r| / |b|; 0: 1e-6 in f32, 1e-10 in f64 */
    uint32_t max_iterations; /* 0: 1000 */
    uint32_t check_every;    /* iterations in a submission; 0: 32, or as many as take 0.2 s */
    uint32_t repeat;         /* samples of the product alone, which is timed first; 0: none */
    double *history; /* max_iterations elements: |r| / |b| of each iteration; NULL: not kept */
    uint32_t block;  /* side of block-Jacobi's blocks, at most WF_CG_MOST_BLOCK; 0: 4 */
    /* Iterate in f32 and refine the answer in pairs of floats, on devices without f64 too. The
     * matrix, b and x are F64; the matrix's values must be within f32's range. */
    bool mixed;
    wf_cg_fn progress; /* NULL: none */
    void *user;
    wf_solve_stages *stages; /* gets where the time went, with *result; NULL: nobody asks */
} wf_cg_params;

typedef struct wf_cg_result {
    wf_cg_status status;
    uint32_t iterations;
    double residual; /* |r| / |b| as the iteration carries it along */
    /* |b - A x| / |b|, computed on the host from the x returned. For WF_CG_CONVERGED it is at most
     * tolerance + (4 k + 2 m + 8) u (1 + |A| |x| / |b|). Here k is the number of iterations (mixed:
     * refinements), m the entries of the longest row, |A| the largest sum of magnitudes of a row,
     * and u the unit roundoff of the type (mixed: 2^-44): every iteration rounds x, and the
     * residual that it carries along, by some u. Above that bound the status is WF_CG_INACCURATE.
     */
    double true_residual;
    double
        iteration_us;  /* mean; a first batch, in which drivers may compile, counts only if alone */
    double product_us; /* median of the product alone; 0: not measured */
    bool gpu_clock;
    bool fused;           /* the product also leaves the dot product: two dispatches an iteration */
    uint32_t refinements; /* mixed: corrections that were added to x */
    wf_plan_info product; /* the plan of A p */
    double dot_us;        /* median of its dot product's own dispatch; 0: not measured, or fused */
} wf_cg_result;

/* Solves A x = b. b and x have `rows` elements of the type on the host and must not overlap; where
 * there are no rows they may be NULL. x is written whenever WF_SUCCESS is returned, whatever
 * result->status says. Blocks. Errors: WF_ERROR_CANCELLED (a callback asked to stop: x, *result and
 * the history are as far as the solve came, and result->status means nothing),
 * WF_ERROR_INVALID_ARGUMENT (the matrix is not square, a diagonal entry or block cannot be used by
 * Jacobi, or b is not finite), WF_ERROR_TOO_LARGE (three vectors are larger than one binding), and
 * those of wf_spmv_plan. */
WF_API wf_result wf_cg_solve(wf_device *device, const wf_cg_params *params, const void *b, void *x,
                             wf_cg_result *result);

/* -------------------------------------------------------------------------- solves in a frame */

/* A solve that is recorded into the application's command buffers, as plans are: the host submits
 * nothing and waits for nothing. A number of iterations is recorded, and the device ends the solve.
 * Dispatches of iterations take their sizes from the device, and those behind the end have no
 * work-groups. With WF_SOLVE_CONDITIONAL, where wf_caps.conditional_rendering is true, each
 * iteration is a block of conditional rendering in place of that. Such blocks do not nest: give the
 * flag outside of the application's own alone. It is not the default, since on the one GPU where
 * both were timed indirect dispatches were faster (bench/notes/core.md). */

/* What a recorded solve leaves in its binding STATE, for shaders and the host. */
typedef struct wf_solve_state {
    uint32_t status;      /* wf_cg_status: of 0 to 4; wf_laplace_status: of 0 to 3 */
    uint32_t iterations;  /* done */
    float residual;       /* |r| / |b| */
    uint32_t refinements; /* mixed: corrections that were added to x; else 0 */
} wf_solve_state;

enum {
    WF_SOLVE_WARM = 1,  /* begins from what binding X holds, as an earlier frame left it; else 0 */
    WF_SOLVE_FIXED = 2, /* makes all iterations, whatever the residual */
    WF_SOLVE_CONDITIONAL = 4, /* by conditional rendering where the device has it */
    /* Goes on with the solve of the recording before, which a solve of many iterations needs that
     * several frames carry: nothing is taken up or begun anew, and iterations count on. What is
     * behind the end of the solve does nothing. Recordings must execute in their order. */
    WF_SOLVE_CONTINUE = 8
};

/* Bindings of a recorded solve of A x = b: b (read), x (written, and read where it begins from it)
 * and a wf_solve_state (written). b and x are of the matrix's type. */
enum { WF_CG_B = 0, WF_CG_X = 1, WF_CG_STATE = 2, WF_CG_BINDINGS = 3 };

typedef struct wf_cg wf_cg;

/* Makes a solve to be recorded. Of params it uses matrix (whose arrays are read during the call;
 * its `jobs` compile the product), precondition, block, tolerance and max_iterations, the most that
 * a solve makes. b is not scaled: the squares of its elements, and their sums, must be within the
 * type's range. On an adopted device the call touches no queue. Errors: those of wf_cg_solve.
 *
 * With `mixed` the matrix is F64, but b and x on the device are pairs of floats, high and low,
 * whose sum is the value: shaders without f64 write b as (b, 0) and read x.x. The range is that of
 * F32. Every check_every iterations (0: 8; rounded up to an even number) a correction that has come
 * to its end may be added to x, and the next one begins. */
WF_API wf_result wf_cg_create(wf_device *device, const wf_cg_params *params, wf_cg **out);
/* As the functions of the same names do for plans. */
WF_API wf_result wf_cg_status_of(wf_cg *cg);
WF_API bool wf_cg_needs_upload(const wf_cg *cg);
WF_API wf_result wf_cg_record_upload(wf_cg *cg, VkCommandBuffer command_buffer);
WF_API void wf_cg_trim(wf_cg *cg);
/* Records a solve of 1 to max_iterations iterations. flags: WF_SOLVE_... All that wf_plan_record
 * says of command buffers, arenas, disturbed state, barriers and errors holds here, too. The solve
 * writes memory of its own: recordings on one queue follow one another, each begins with a barrier,
 * and another queue needs a semaphore between, or a second solve. */
WF_API wf_result wf_cg_record(wf_cg *cg, VkCommandBuffer command_buffer, wf_arena *arena,
                              const wf_bindings *bindings, uint32_t iterations, uint32_t flags);
/* Destroys it without waiting. The work recorded from it must have finished. */
WF_API void wf_cg_destroy(wf_cg **cg);

/* ------------------------------------------------------- conjugate gradients by several devices */

/* The kernels of wf_cg_solve as plans, for solvers that cut a system's rows into parts, one a
 * device: the host adds the devices' sums up and tells each what follows (libwavefit_mpi does it by
 * MPI). The vectors of a part lie in buffers of their own, `stride` elements apart: A has x, r and
 * p, B has s and w, and C, where there is a preconditioner, u and M, the inverted diagonal; without
 * one u is r, and C has four elements that nobody reads. An iteration is w = A u by the part's
 * products, REST and SUM, and UPDATE once the host has all parts' sums. */
typedef enum wf_cg_step {
    WF_CG_STEP_START = 0, /* x = p = s = 0 and u = M r, and their sums */
    /* Dot products of u and w that products leave out: those of `rest` elements. Offsets of the
     * bindings A, B and C say where these begin. Their partial sums are the last ones, which a plan
     * with rest 0 does not have: one may bind PARTIALS to other memory here, add them up oneself
     * and make SUM with rest 0. */
    WF_CG_STEP_REST = 1,
    WF_CG_STEP_SUM = 2, /* adds this part's up: SUMS is r u, u w and r r */
    /* p = u + beta p, s = w + beta s, r = r - alpha s, u = M r, and their sums. x is read and
     * written by every second execution alone, which adds two steps: FACTORS is alpha, beta, the
     * alpha before, and whether this is a second one, 1 or 0. The first of two leaves x without
     * alpha p. */
    WF_CG_STEP_UPDATE = 3
} wf_cg_step;

/* Bindings of START, REST and UPDATE, the last of UPDATE alone. */
enum {
    WF_CG_STEP_A = 0,
    WF_CG_STEP_B = 1,
    WF_CG_STEP_C = 2,
    WF_CG_STEP_PARTIALS = 3, /* partial sums; the same buffer for all steps, REST's but for that */
    WF_CG_STEP_FACTORS = 4
};
/* Those of SUM: partial sums of the product (any buffer where it leaves none), and three sums. */
enum { WF_CG_STEP_PRODUCT = 0, WF_CG_STEP_SUMS = 1, WF_CG_STEP_OF_ALL = 2 };

typedef struct wf_cg_step_params {
    size_t size;
    wf_type type; /* F32 or F64 */
    wf_cg_step step;
    uint32_t count, stride; /* of a vector: elements, and from one vector to the next */
    bool jacobi;            /* there is M */
    uint32_t product;       /* partial sums that the product leaves (wf_cg_product_plan) */
    uint32_t rest;          /* elements of the dot product that it leaves out */
} wf_cg_step_params;

/* *partials (may be NULL): elements that the binding PARTIALS of all steps needs. Errors:
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (type), WF_ERROR_TOO_LARGE (three vectors are
 * larger than one binding). */
WF_API wf_result wf_cg_step_plan(wf_device *device, const wf_cg_step_params *params,
                                 uint64_t *partials, wf_plan **out);

/* As wf_spmv_plan, but the product leaves *partials partial sums of the dot product of y and the
 * first elements of x in the binding WF_CG_PRODUCT_PARTIALS. 0: the variant that was chosen
 * leaves none. */
enum { WF_CG_PRODUCT_PARTIALS = 2 };
WF_API wf_result wf_cg_product_plan(wf_device *device, const wf_spmv_params *params,
                                    uint32_t *partials, wf_plan **out);

/* ------------------------------------------------------------------------------------- vectors */

/* Bindings of a vector plan. */
enum { WF_VECTOR_X = 0, WF_VECTOR_Y = 1, WF_VECTOR_SCALARS = 2, WF_VECTOR_BINDINGS = 3 };

typedef enum wf_vector_operation {
    WF_VECTOR_AXPY = 0, /* y = y + a x; reads and writes y */
    WF_VECTOR_XPAY = 1, /* y = x + a y; reads and writes y */
    WF_VECTOR_DOT = 2   /* scalars[result] = a sum x y; x and y may be the same memory */
} wf_vector_operation;

/* What an iterative solver needs besides its products, with scalars that stay on the device:
 * a = alpha * scalars[numerator - 1] / scalars[denominator - 1], where an index of 0 leaves its
 * factor out. WF_VECTOR_SCALARS must be bound where scalars are read or written. A dot product
 * needs a workspace and gives the same bits in every execution. */
typedef struct wf_vector_params {
    size_t size;
    wf_vector_operation operation;
    uint64_t count; /* elements of x and of y; 0: nothing is done, and a dot product is 0 */
    wf_type type;   /* of x, y and scalars: F32 or F64 */
    double alpha;   /* 0: 1 */
    uint32_t numerator, denominator;
    uint32_t result; /* index in scalars */
    const wf_tuning *tuning;
    const wf_jobs *jobs; /* NULL: wf_vector_plan compiles the pipelines itself */
} wf_vector_params;

/* Makes a plan of the operation. Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_TOO_LARGE,
 * WF_ERROR_UNSUPPORTED (type), WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT. */
WF_API wf_result wf_vector_plan(wf_device *device, const wf_vector_params *params, wf_plan **out);

/* ------------------------------------------------------------- grids that several devices have */

/* A grid may be cut into parts, a device each: wf_himeno_create makes an object of a part (a
 * subdomain), and so does wf_stencil_slab_create. Parts are slabs, cut along the slowest axis, or
 * blocks, cut along several. Passes of an object take its neighbours' cells and leave its own
 * boundary cells, its halos, in mapped memory, and whoever moves them is free in how
 * (libwavefit_mpi does it by MPI).
 *
 * A block has up to 26 neighbours, across its faces, edges and corners, each on a side. A slab has
 * the first two: below it and above it along the slowest axis. */
#define WF_HALO_SIDES 26
enum { WF_HALO_LOWER = 0, WF_HALO_UPPER = 1 };
/* Where the neighbour on a side is along i (the contiguous axis), j and k: -1, 0 or 1. The side
 * opposite to `side` is side ^ 1. */
WF_API void wf_halo_direction(uint32_t side, int32_t direction[3]);

/* Mapped memory through which a part's boundary cells leave and its neighbours' arrive, by side;
 * NULL where the grid ends. It belongs to the object. */
typedef struct wf_halo {
    size_t size;
    uint64_t bytes[WF_HALO_SIDES];
    void *to[WF_HALO_SIDES], *from[WF_HALO_SIDES];
} wf_halo;

/* The same in buffers of the caller's, such as memory that another process has too
 * (wf_buffer_import_host). A binding without a buffer stands for the object's own halo. Offsets
 * must be multiples of caps.storage_alignment. */
typedef struct wf_halo_bindings {
    size_t size;
    wf_binding to[WF_HALO_SIDES], from[WF_HALO_SIDES];
} wf_halo_bindings;

/* -------------------------------------------------------------------------------------- himeno */

/* The Himeno benchmark (RIKEN): a 19-point Jacobi relaxation in f32. Arrays are indexed [k][j][i]
 * with i contiguous. Of ni x nj x nk cells the inner ones are updated. */
typedef struct wf_himeno wf_himeno;
/* Operations of an inner cell in one iteration, by the benchmark's own count. */
#define WF_HIMENO_FLOPS 34

typedef struct wf_himeno_params {
    size_t size;
    uint32_t ni, nj, nk; /* each >= 3 */
    float omega;         /* 0: 0.8 */
    const wf_tuning *tuning;
    const wf_cancel *cancel; /* asked by wf_himeno_check; NULL: nothing is asked */
    /* A subdomain: the inner planes, counted from 0 along k, that this object updates of a grid
     * which is cut among several devices. planes 0: all. See wf_himeno_pass. */
    uint32_t first_plane, planes;
    /* Where the grid is cut along j and i, too: its inner rows, and its inner cells of a row. 0 of
     * them: all. */
    uint32_t first_row, rows;
    uint32_t first_cell, cells;
} wf_himeno_params;

/* Host arrays of ni*nj*nk floats each. */
typedef struct wf_himeno_arrays {
    const float *p, *a[4], *b[3], *c[3], *bnd, *wrk1;
} wf_himeno_arrays;

/* Returns about how many bytes of device memory the problem needs; 0 if the parameters are out of
 * range. */
WF_API uint64_t wf_himeno_memory(const wf_himeno_params *params);
/* Allocates the arrays and compiles. Where an allocation or a binding would be too large, it cuts
 * the arrays into slabs along k. Errors: WF_ERROR_TOO_LARGE (nothing was allocated),
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT, WF_ERROR_UNSUPPORTED
 * (forced variant). */
WF_API wf_result wf_himeno_create(wf_device *device, const wf_himeno_params *params,
                                  wf_himeno **out);
/* wf_himeno_start sets the benchmark's own start values, wf_himeno_write those of `arrays`, all of
 * which must be given. Both block. */
WF_API wf_result wf_himeno_start(wf_himeno *himeno);
WF_API wf_result wf_himeno_write(wf_himeno *himeno, const wf_himeno_arrays *arrays);
/* Sets p alone, to go on from what wf_himeno_read gave: planes [first, first + planes) of the whole
 * grid, borders counted, of ni*nj floats each. Those that a subdomain does not hold are passed
 * over; it holds its own and, on either side, as many as cut.steps of wf_himeno_plan_cut. Where it
 * is cut along j or i, planes have the rows and cells alone that it holds, likewise. Blocks. */
WF_API wf_result wf_himeno_write_planes(wf_himeno *himeno, uint32_t first, uint32_t planes,
                                        const float *p);
/* Runs `iterations` (> 0). *gosa is the gosa of the last one: the sum of the squares of the
 * residual. *seconds is by the device's clock where it has one. gosa, seconds and gpu_clock may be
 * NULL. Blocks. Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED (p is then as far as the run
 * came). A subdomain is run by wf_himeno_pass instead. */
WF_API wf_result wf_himeno_run(wf_himeno *himeno, uint32_t iterations, float *gosa, double *seconds,
                               bool *gpu_clock);
/* Does the same and writes the gosa of every iteration: gosa has `iterations` floats and must not
 * be NULL. */
WF_API wf_result wf_himeno_run_each(wf_himeno *himeno, uint32_t iterations, float *gosa,
                                    double *seconds, bool *gpu_clock);
/* Copies p to the host (ni*nj*nk floats). Of a subdomain these are its own planes (rows, cells),
 * with the grid's border ones where it has the first or the last inner one. Blocks. */
WF_API wf_result wf_himeno_read(wf_himeno *himeno, float *p);
/* Tells what was chosen; info->dispatches are those of a pass. slabs may be NULL. */
WF_API wf_result wf_himeno_describe(const wf_himeno *himeno, wf_plan_info *info, uint32_t *slabs);
/* Times what an iteration consists of by itself, a few times over: [0] the relaxation of all slabs,
 * with the copies between them, and [1] the sum of the partial sums of gosa, which one dispatch
 * makes for many iterations. us gets the microseconds that each takes of one iteration. p and gosa
 * are of no use afterwards. Blocks. Errors: those of wf_himeno_run. */
#define WF_HIMENO_KERNELS 2
WF_API wf_result wf_himeno_time_kernels(wf_himeno *himeno,
                                        wf_plan_kernel kernels[WF_HIMENO_KERNELS],
                                        double us[WF_HIMENO_KERNELS], bool *gpu_clock);
WF_API void wf_himeno_destroy(wf_himeno **himeno);

/* How a grid can be cut into subdomains, and what was chosen for it: the parameters of all
 * subdomains must name this variant and these constants in their tuning. */
typedef struct wf_himeno_cut {
    size_t size;
    uint32_t planes; /* inner planes of the grid */
    /* Where each subdomain begins at a multiple of it, their partial sums of gosa, one subdomain
     * after the other, are those of the whole grid. */
    uint32_t unit;
    /* Iterations that a pass makes at most. A subdomain has at least as many planes (rows, cells
     * of a row) where it has a neighbour. */
    uint32_t steps;
    const char *variant, *chosen_by; /* as in wf_plan_info */
    uint32_t constant_count;
    wf_constant constants[WF_MAX_PARAMETERS];
    /* Cells along i, j and k that a work-group updates. Where each subdomain begins at multiples of
     * them along i and j, too, and its partial sums are sorted by the work-groups' places along k,
     * j and i among all, they are those of the whole grid. A subdomain has its own in that order,
     * as many from each work-group. */
    uint32_t group[3];
} wf_himeno_cut;

/* Chooses for the whole grid and allocates nothing. Errors: those of wf_himeno_create;
 * WF_ERROR_UNSUPPORTED (a variant that moves all data in each iteration). */
WF_API wf_result wf_himeno_plan_cut(wf_device *device, const wf_himeno_params *params,
                                    wf_himeno_cut *cut);

/* Error: WF_ERROR_INVALID_ARGUMENT (it is no subdomain). */
WF_API wf_result wf_himeno_halos(wf_himeno *himeno, wf_halo *halo);
/* Has passes that are begun from now on use buffers of the caller's for halos. They must live as
 * long as `himeno`, whose descriptor sets name them. */
WF_API wf_result wf_himeno_bind_halos(wf_himeno *himeno, const wf_halo_bindings *halos);
/* Makes one pass of 1 to cut.steps iterations over a subdomain: takes its neighbours' planes from
 * `from` of its halo if `arrived` (not behind wf_himeno_start and wf_himeno_write, which set
 * them too), updates its own and leaves its boundary planes in `to`. *seconds (may
 * be NULL) is by the device's clock where it has one. Blocks. Errors: WF_ERROR_INVALID_ARGUMENT,
 * WF_ERROR_CANCELLED. */
WF_API wf_result wf_himeno_pass(wf_himeno *himeno, uint32_t iterations, bool arrived,
                                double *seconds);
/* The same in two parts, so that halos move while the device works: wf_himeno_pass_begin updates
 * the boundary planes first and returns when they are in `to`; until
 * wf_himeno_pass_end returns, the device updates the others. In between the halos are the caller's,
 * and no other function is called with the object but wf_himeno_destroy. Errors: the same. Behind
 * one of wf_himeno_pass_begin there is nothing to end. */
WF_API wf_result wf_himeno_pass_begin(wf_himeno *himeno, uint32_t iterations, bool arrived);
WF_API wf_result wf_himeno_pass_end(wf_himeno *himeno, double *seconds);
/* Ends the pass under way and begins the next one, which is with the device before the first has
 * ended, so that it does not pause. *seconds (may be NULL) are those of the pass that was ended. To
 * be called when the neighbours' planes have come, as wf_himeno_pass_begin. Behind an error there
 * is nothing to end. */
WF_API wf_result wf_himeno_pass_next(wf_himeno *himeno, uint32_t iterations, bool arrived,
                                     double *seconds);
/* Copies the partial sums of gosa that the last iteration of the last wf_himeno_pass left. On entry
 * *count is the room in partials (which may be NULL), on return their number. Blocks. */
WF_API wf_result wf_himeno_partials(wf_himeno *himeno, float *partials, uint32_t *count);
/* Adds partial sums as wf_himeno_run does: those of all subdomains, one after the other, give the
 * gosa of the whole grid to the last bit. Blocks. Error: WF_ERROR_INVALID_ARGUMENT. */
WF_API wf_result wf_himeno_gosa(wf_device *device, const float *partials, uint32_t count,
                                float *gosa);

/* Compares p (ni*nj*nk floats) after `iterations` (> 0) with the f64 relaxation from the same start
 * values (NULL: the benchmark's own). The bound follows the rounding errors of each update through
 * the iterations; *gosa_error_over_bound is the last iteration's gosa likewise.
 *
 * From start values of the caller's all cells are compared or, where max_checked is not 0 and
 * smaller, cubes of cells drawn with `seed`; gosa is then not compared, and *gosa_error_over_bound
 * is -1. From the benchmark's own start values all cells and gosa are compared. Where that would
 * take many iterations and max_checked is not 0, the check uses what is known of the result
 * instead: the range of each cell (check->ranged), sums of all cells with sine waves drawn with
 * `seed`, and gosa.
 *
 * Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_himeno_check(const wf_himeno_params *params, const wf_himeno_arrays *start,
                                 uint32_t iterations, const float *p, float gosa,
                                 uint64_t max_checked, uint64_t seed, wf_check *check,
                                 double *gosa_error_over_bound);

/* ------------------------------------------------------------------------------------- stencil */

/* Star and box stencils with constant coefficients on a grid of two or three dimensions. */
typedef enum wf_stencil_shape {
    WF_STENCIL_STAR = 0, /* the neighbours along the axes */
    WF_STENCIL_BOX = 1   /* all cells of the surrounding cube (in two dimensions: square) */
} wf_stencil_shape;

typedef enum wf_border {
    WF_BORDER_DIRICHLET = 0, /* the outer `radius` layers of cells keep their values */
    WF_BORDER_NEUMANN = 1,   /* no flux: cells beyond the edge mirror those inside (-1 is 0) */
    WF_BORDER_PERIODIC = 2   /* the grid wraps around */
} wf_border;

/* Bindings of a stencil plan, of ny nz whole rows each. They must not overlap. IN is only read. */
enum { WF_STENCIL_IN = 0, WF_STENCIL_OUT = 1, WF_STENCIL_BINDINGS = 2 };

/* A grid has nx cells in a row (contiguous), ny rows in a plane and nz planes. A cell's element is
 * at (z * ny + y) * row_stride + x. Elements past nx in a row are neither read nor written. */
typedef struct wf_stencil_params {
    size_t size;
    uint32_t nx, ny, nz; /* each at least 2 radius + 1 and at most 2^30; nz 0: two dimensions */
    uint32_t row_stride; /* elements from one row to the next, nx to 2^30; 0: nx */
    wf_stencil_shape shape;
    uint32_t radius; /* 1 to 4; 0: 1 */
    wf_border border;
    /* A star has 1 + 2 radius dimensions of them: the centre's, then for each axis x, y, z and each
     * distance 1 … radius that of the cell before and that of the cell after. A box has (2 radius +
     * 1) to the power of dimensions, in the order of the cells in memory. They are read during the
     * call only. F64 computes with them as they are; F32 and F16 compute with them rounded to f32,
     * in which they must be finite. */
    const double *coefficients;
    /* How many times an execution applies the stencil, each time to the last result; at most 4096;
     * 0: 1. */
    uint32_t steps;
    wf_type type; /* F32, F64, or F16, which is computed in f32 and rounded after each step */
    const wf_tuning *tuning;
    const wf_jobs *jobs;     /* NULL: wf_stencil_plan compiles the pipelines itself */
    const wf_cancel *cancel; /* asked by wf_stencil_check; NULL: nothing is asked */
    /* Extents that recordings may lower (wf_bindings.extent) without another plan, down to 2 radius
     * + 1: nx, ny and nz are then the largest ones. 0: the extent is fixed. Else recordings give
     * any multiple of it: 1 allows every size; vary_x 4 keeps the faster kernels for whole vectors.
     * A cell's element stays at (z * ny + y) * row_stride + x with the plan's ny. */
    uint32_t vary_x, vary_y, vary_z;
    /* Not WF_IMAGE_NONE: IN and OUT are storage images of this format (wf_bindings.images), two- or
     * three-dimensional as the grid, whose texel (x, y, z) is the cell: of one mip level, and at
     * least nx x ny (x nz) large. Each component is a grid of its own. Values are computed in f32
     * and rounded by the device to the format; components of RGBA8 are from 0 to 1. The type must
     * be F32, steps 1 (record the plan again with the images exchanged), and tuning is not used. */
    wf_image image;
} wf_stencil_params;

/* Makes a plan of OUT = the stencil applied `steps` times to IN. The plan needs a workspace where
 * it makes more than one pass over memory. Variants that make several steps a pass give the same
 * bits as single steps. An array is one range of one buffer. Where it is larger than a binding may
 * be (caps.max_storage_range), the plan goes through it in windows of planes (in two dimensions:
 * rows), and a periodic border then needs a workspace too. The call does not block and submits
 * nothing. In wf_plan_info, least_bytes counts one read and one write of each cell in each step.
 *
 * Errors: WF_ERROR_INVALID_ARGUMENT (parameters out of range), WF_ERROR_TOO_LARGE (2 radius + 1
 * planes are larger than a binding, or a plane needs more work-groups than a dispatch can have),
 * WF_ERROR_UNSUPPORTED (type, forced variant), WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT. */
WF_API wf_result wf_stencil_plan(wf_device *device, const wf_stencil_params *params, wf_plan **out);

/* Compares `out` with the stencil of `in` computed in f64 (for F64: in long double). Both arrays
 * are of the type and are laid out as in wf_stencil_params. All cells are compared, each with a
 * bound of its own. Where max_checked is not 0 and smaller, only blocks of cells drawn with `seed`
 * and the block that is farthest off are; all others are then compared with one common bound. Where
 * that would take more than about two seconds on each of up to 12 threads, the range of each cell
 * and sums of each row along x are compared, with weights of magnitude 1 drawn with `seed`: a cell
 * that is off by more than twice the bound of its row's sum is found where the rest of the row is
 * right. check->summed counts cells of rows whose root mean square is more than that, check->ranged
 * the others. Where even the sums would take so long, as they do in runs of many steps on short
 * rows, only ranges are checked.
 *
 * The bound of a step over n coefficients is gamma_2n |C||x|, plus the rounding of the result for
 * F16, carried through the steps. Errors: WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (type),
 * WF_ERROR_CANCELLED. */
WF_API wf_result wf_stencil_check(const wf_stencil_params *params, const void *in, const void *out,
                                  uint64_t max_checked, uint64_t seed, wf_check *check);

/* How a grid is cut along its slowest axis, z or in two dimensions y, into parts for several
 * devices: each has `halo` planes (rows) at least, or all. */
typedef struct wf_stencil_cut {
    size_t size;
    uint32_t planes; /* of the grid */
    uint32_t steps;  /* most that a pass makes */
    uint32_t halo;   /* planes that a part needs of each neighbour: radius times steps */
    uint64_t plane_bytes;
    const char *variant, *chosen_by; /* as in wf_plan_info */
    uint32_t constant_count;
    wf_constant constants[WF_MAX_PARAMETERS];
} wf_stencil_cut;

/* Chooses for the whole grid, of whose execution params->steps says how long it is, and allocates
 * nothing. Errors: those of wf_stencil_plan. */
WF_API wf_result wf_stencil_plan_cut(wf_device *device, const wf_stencil_params *params,
                                     wf_stencil_cut *cut);

/* A part of a grid, twice in device memory, with its neighbours' planes: those below it and above
 * it, of a periodic grid also beyond the ends. */
typedef struct wf_stencil_slab wf_stencil_slab;
typedef struct wf_stencil_slab_params {
    size_t size;
    const wf_stencil_params *grid; /* the whole one; its tuning names the cut's choice */
    uint32_t first_plane, planes;
    /* A block: its rows of a plane (in two dimensions: 0) and its cells of a row, as many as a halo
     * has planes at least, and one more where a pass makes one step and the grid is not periodic. 0
     * of them: all. */
    uint32_t first_row, rows;
    uint32_t first_cell, cells;
} wf_stencil_slab_params;

/* Errors: those of wf_stencil_plan, WF_ERROR_INVALID_ARGUMENT (planes). */
WF_API wf_result wf_stencil_slab_create(wf_device *device, const wf_stencil_slab_params *params,
                                        wf_stencil_slab **out);
/* As the functions of the same names do for wf_himeno, but that the first pass, too, takes its
 * neighbours' planes: wf_stencil_slab_write leaves the boundary planes that it was given. Both it
 * and wf_stencil_slab_read move the part's own planes, of a block its own cells packed, and block.
 * A pass makes 1 to cut.steps steps, the same on all parts; before one, _describe is not ready. */
WF_API wf_result wf_stencil_slab_halos(wf_stencil_slab *slab, wf_halo *halo);
WF_API wf_result wf_stencil_slab_bind_halos(wf_stencil_slab *slab, const wf_halo_bindings *halos);
WF_API wf_result wf_stencil_slab_write(wf_stencil_slab *slab, const void *planes);
WF_API wf_result wf_stencil_slab_read(wf_stencil_slab *slab, void *planes);
WF_API wf_result wf_stencil_slab_pass_begin(wf_stencil_slab *slab, uint32_t steps);
WF_API wf_result wf_stencil_slab_pass_end(wf_stencil_slab *slab, double *seconds);
WF_API wf_result wf_stencil_slab_pass_next(wf_stencil_slab *slab, uint32_t steps, double *seconds);
WF_API wf_result wf_stencil_slab_describe(const wf_stencil_slab *slab, wf_plan_info *info);
WF_API void wf_stencil_slab_destroy(wf_stencil_slab **slab);

/* ------------------------------------------------------------------------------------- laplace */

/* wf_laplace_solve solves Laplace's equation on a grid of two dimensions with fixed border values,
 * by five-point differences: the value of every inner cell is the mean of its four neighbours. */
typedef enum wf_laplace_method {
    WF_LAPLACE_SOR = 0, /* successive over-relaxation in red-black order (Young 1954) */
    WF_LAPLACE_JACOBI =
        1 /* by a star stencil's plan, with several iterations a pass if that pays */
} wf_laplace_method;

typedef enum wf_laplace_status {
    WF_LAPLACE_CONVERGED = 0,
    WF_LAPLACE_MAX_ITERATIONS = 1, /* the tolerance was not met */
    WF_LAPLACE_STAGNATED = 2,      /* the type's rounding keeps the residual where it is */
    WF_LAPLACE_NOT_FINITE = 3,     /* an overflow occurred; u is of no use */
    WF_LAPLACE_CANCELLED = 4,      /* a callback asked to stop */
    /* The device found its end, but true_residual is larger than the tolerance and rounding
     * explain: the device erred. */
    WF_LAPLACE_INACCURATE = 5
} wf_laplace_status;

/* Called now and then with the last check's outcome. If it returns false, the solve stops, and u
 * gets what there is. */
typedef bool (*wf_laplace_fn)(void *user, uint32_t iterations, double residual);

/* For each inner cell, r is the sum of its neighbours less four times the cell itself, and b is
 * what the border's values contribute to that sum. The device adds up |r| every check_every
 * iterations and finds the end by itself. The host looks only after several such checks, while the
 * next ones are already under way. Every solve gives the same bits. */
typedef struct wf_laplace_params {
    size_t size;
    uint32_t nx, ny; /* cells in a row, and rows, with the borders; 3 to 2^20 each */
    wf_type type;    /* F32 or F64 */
    wf_laplace_method method;
    double tolerance;        /* of |r| / |b|; 0: 1e-4 in f32, 1e-10 in f64 */
    double omega;            /* SOR's factor, between 0 and 2; 0: the best one for this grid */
    uint32_t max_iterations; /* at most 2^24; 0: 10 million */
    uint32_t check_every;    /* at most 4096; 0: chosen by the grid's size */
    double *history;         /* history_room elements: |r| / |b| of each check; NULL: not kept */
    uint32_t history_room;   /* further checks are not kept */
    const wf_tuning *tuning; /* of Jacobi's stencil */
    wf_laplace_fn progress;  /* NULL: none */
    void *user;
    wf_solve_stages *stages; /* gets where the time went, with *result; NULL: nobody asks */
} wf_laplace_params;

typedef struct wf_laplace_result {
    size_t size;
    wf_laplace_status status;
    uint32_t iterations;
    uint32_t checks, check_every;
    double residual; /* |r| / |b| at the last check */
    /* |r| / |b| of the u returned, computed on the host in long double. For WF_LAPLACE_CONVERGED it
     * is at most tolerance (1 + min(gamma_n, 1)) + gamma_4 |s| / |b|. Here n is the number of
     * cells, and s is, for each cell, the sum of the magnitudes of its neighbours and of four times
     * itself. Above that bound the status is WF_LAPLACE_INACCURATE. */
    double true_residual;
    double omega;        /* SOR: the factor that was used */
    double iteration_us; /* mean, with the checks; the first batch counts as in wf_cg_result */
    bool gpu_clock;
    wf_plan_info stencil; /* Jacobi: the plan of check_every iterations */
} wf_laplace_result;

/* Solves for u, which has ny rows of nx elements of the type on the host. On entry it holds the
 * border's values, which stay, and the start values of the inner cells; on return it holds the
 * solution. Blocks. Errors: WF_ERROR_CANCELLED (u and *result are as far as the solver came; all
 * other errors leave both as they were), WF_ERROR_INVALID_ARGUMENT (extents, a value that is not
 * finite, parameters out of range), WF_ERROR_TOO_LARGE, WF_ERROR_UNSUPPORTED (type), and for Jacobi
 * those of wf_stencil_plan. */
WF_API wf_result wf_laplace_solve(wf_device *device, const wf_laplace_params *params, void *u,
                                  wf_laplace_result *result);

/* Bindings of a recorded solve of Laplace's equation: u, ny rows of nx elements of the type (its
 * border is read, its inner cells are written, and read where the solve begins from them), and a
 * wf_solve_state (written). */
enum { WF_LAPLACE_U = 0, WF_LAPLACE_STATE = 1, WF_LAPLACE_BINDINGS = 2 };

typedef struct wf_laplace wf_laplace;

/* Makes a solve to be recorded, as wf_cg_create does. progress and history are not used.
 * Iterations come in whole checks of check_every. u is not scaled: the square of |b| must be within
 * the type's range. Errors: those of wf_laplace_solve, WF_ERROR_TOO_LARGE (the grid is larger than
 * a binding may be). */
WF_API wf_result wf_laplace_create(wf_device *device, const wf_laplace_params *params,
                                   wf_laplace **out);
WF_API bool wf_laplace_needs_upload(const wf_laplace *laplace);
WF_API wf_result wf_laplace_record_upload(wf_laplace *laplace, VkCommandBuffer command_buffer);
WF_API void wf_laplace_trim(wf_laplace *laplace);
/* Records a solve of 1 to max_iterations iterations, rounded up to whole checks, as wf_cg_record
 * does. With WF_SOLVE_FIXED nothing but a value that is not finite ends it. */
WF_API wf_result wf_laplace_record(wf_laplace *laplace, VkCommandBuffer command_buffer,
                                   wf_arena *arena, const wf_bindings *bindings,
                                   uint32_t iterations, uint32_t flags);
WF_API void wf_laplace_destroy(wf_laplace **laplace);

/* How a grid of Laplace's equation is cut along y into parts for several devices: each begins at a
 * multiple of `unit` and has `halo` rows at least, borders included, or all. */
typedef struct wf_laplace_cut {
    size_t size;
    uint32_t unit;
    uint32_t halo;       /* rows that a part needs of each neighbour */
    uint32_t iterations; /* most that a pass makes */
    uint64_t row_bytes;  /* on the device */
    /* What the parameters of the grid mean: none of them is 0, but omega with Jacobi. */
    double tolerance, omega;
    uint32_t max_iterations, check_every;
    /* Rounding keeps |r| where it is once it has not fallen by a tenth in so many checks. */
    uint32_t patience;
    const char *variant, *chosen_by; /* of Jacobi's stencil, as in wf_plan_info; NULL: SOR */
    uint32_t constant_count;
    wf_constant constants[WF_MAX_PARAMETERS];
} wf_laplace_cut;

/* Chooses for the whole grid and so many parts of the same size, and allocates nothing. progress
 * and history are not used. Errors: those of wf_laplace_solve. */
WF_API wf_result wf_laplace_plan_cut(wf_device *device, const wf_laplace_params *params,
                                     uint32_t parts, wf_laplace_cut *cut);

/* A part of a grid: both colours of its rows, or twice all cells, with its neighbours' rows. */
typedef struct wf_laplace_slab wf_laplace_slab;
typedef struct wf_laplace_slab_params {
    size_t size;
    const wf_laplace_params *grid; /* the whole one; its tuning names the cut's choice */
    uint32_t first_row, rows;
    uint32_t iterations; /* the cut's; SOR: any number, the same on all parts */
} wf_laplace_slab_params;

/* Errors: those of wf_laplace_solve, WF_ERROR_INVALID_ARGUMENT (rows). */
WF_API wf_result wf_laplace_slab_create(wf_device *device, const wf_laplace_slab_params *params,
                                        wf_laplace_slab **out);
/* As the functions of the same names do for wf_stencil_slab; a pass makes iterations. Values on the
 * device are divided by 2^exponent, which is the same for all parts. wf_laplace_slab_read sets the
 * inner cells of the part's rows. */
WF_API wf_result wf_laplace_slab_halos(wf_laplace_slab *slab, wf_halo *halo);
WF_API wf_result wf_laplace_slab_bind_halos(wf_laplace_slab *slab, const wf_halo_bindings *halos);
WF_API wf_result wf_laplace_slab_write(wf_laplace_slab *slab, const void *rows, int exponent);
WF_API wf_result wf_laplace_slab_read(wf_laplace_slab *slab, void *rows);
WF_API wf_result wf_laplace_slab_pass_begin(wf_laplace_slab *slab, uint32_t iterations);
WF_API wf_result wf_laplace_slab_pass_end(wf_laplace_slab *slab, double *seconds);
WF_API wf_result wf_laplace_slab_pass_next(wf_laplace_slab *slab, uint32_t iterations,
                                           double *seconds);
/* Adds up over the part's rows, as they are on the device, the squares of r and of the sums of the
 * magnitudes that r is computed from. Takes the neighbours' rows as a pass does. Blocks. */
WF_API wf_result wf_laplace_slab_residual(wf_laplace_slab *slab, double *squares, double *scales);
WF_API void wf_laplace_slab_destroy(wf_laplace_slab **slab);

/* What the host finds in rows of a grid, in long double. Sums are over the squares of values
 * divided by a unit, whose own square may overflow. */
typedef struct wf_laplace_rows_found {
    size_t size;
    double largest; /* magnitude; infinite where a value is not finite */
    double border;  /* of what the border contributes: of |b| */
    double residual;
    double scale; /* of the sums of the magnitudes that r is computed from */
} wf_laplace_rows_found;

/* `rows` are those of the grid from first_row on, and lower and upper the one before and the one
 * behind them; NULL: there is none, or no residual is asked for. unit 0: the largest alone; else
 * rows beside a border need it. */
WF_API wf_result wf_laplace_rows_look(wf_device *device, const wf_laplace_params *grid,
                                      uint32_t first_row, uint32_t count, const void *rows,
                                      const void *lower, const void *upper, double unit,
                                      wf_laplace_rows_found *found);

/* -------------------------------------------------------------------------------------- tuning */

/* What was measured on a device is kept in a file of its own in cache_directory (schema
 * "wavefit-tuning/2", bench/tuning.md), which is read at the first plan. A file that is damaged, of
 * another wavefit's schema or not readable is named in a warning and left as it is. Rows of another
 * driver or of other shaders choose nothing; a search begins with them. */

/* Returns the file's path; NULL: there is none. It lives as long as the device. */
WF_API const char *wf_tuning_path(wf_device *device);

/* These add tuning data, as `wavefit tune` keeps or exports them, for plans made from now on.
 * Errors, after which nothing was added: WF_ERROR_INVALID_ARGUMENT (not of the schema, or no such
 * file), WF_ERROR_UNSUPPORTED (of another device). */
WF_API wf_result wf_tuning_load(wf_device *device, const void *data, size_t bytes);
WF_API wf_result wf_tuning_load_file(wf_device *device, const char *path);

/* One tuning row: the point that was measured best for a problem. */
typedef struct wf_tuning_row {
    size_t size;
    wf_family family;
    wf_type type;
    char problem[64]; /* the problem that was tuned */
    char variant[32];
    uint32_t constant_count;
    char constant_names[WF_MAX_PARAMETERS][32];
    uint32_t constant_values[WF_MAX_PARAMETERS];
    double time_us;      /* median of one execution */
    double spread;       /* (q3 - q1) / median */
    uint32_t tried, bad; /* points measured; points that failed or were wrong */
    bool finished;       /* the search ended before its budget */
    bool current;        /* of this driver and these shaders; else a hint to searches alone */
    uint32_t level;      /* WF_TUNING_MEASURED, …_DEVICE_ROWS or …_ARCHITECTURE_ROWS */
} wf_tuning_row;

/* Reads a row that this device keeps. Error: WF_ERROR_INVALID_ARGUMENT (beyond the last row). */
WF_API wf_result wf_tuning_row_get(wf_device *device, uint32_t index, wf_tuning_row *row);

/* Reads a row that ships with wavefit: first those for this device, then those for its
 * architecture. They are current when they were made with these shaders, whatever the driver. */
WF_API wf_result wf_tuning_shipped_get(wf_device *device, uint32_t index, wf_tuning_row *row);

/* Writes the current rows as text, for wf_tuning_load or for src/choose/devices/. On entry *bytes
 * is the room in text (which may be NULL), on return the text's length; text is written only if it
 * fits. */
WF_API wf_result wf_tuning_export(wf_device *device, char *text, size_t *bytes);

/* Removes what the file and the device keep of a family (WF_FAMILY_COUNT: the file itself, damaged
 * or not). Error: WF_ERROR_UNSUPPORTED (the file cannot be written; the log says why). */
WF_API wf_result wf_tuning_forget(wf_device *device, wf_family family);

typedef struct wf_tune_progress {
    /* "compiling" (several kernels are waited for), "listing", "measuring" or "deciding" */
    const char *stage;
    double fraction;   /* of the budget, or of the points of an exhaustive search */
    uint32_t measured; /* points so far */
    double best_us;    /* 0: none yet */
    char trying[256];  /* "variant a=1 b=2" */
    char best[256];
} wf_tune_progress;

/* Called before every point is tried, and now and then between. If it returns false, the search
 * stops and keeps what was learned. */
typedef bool (*wf_tune_fn)(void *user, const wf_tune_progress *progress);

/* Exactly one of the problems must be given; its own `tuning` is ignored. */
typedef struct wf_tune_params {
    size_t size;
    const wf_matmul_params *matmul;
    const wf_spmv_params *spmv;
    const wf_himeno_params *himeno;
    double budget_seconds; /* 0: 60 s */
    bool exhaustive;       /* try every legal point, in random order, until the budget ends */
    bool again;            /* measure also points that earlier searches have measured */
    bool discard;          /* keep nothing: neither on disk nor for later plans */
    uint64_t seed;         /* of the inputs and of the points drawn */
    wf_tune_fn progress;   /* NULL: none */
    void *user;
    const wf_stencil_params *stencil; /* a fourth kind of problem */
    /* NULL: kernels are compiled one after another. Otherwise those of several points are compiled
     * side by side: on a discrete GPU with timestamps while others are timed, elsewhere before the
     * first of them is. The search waits for its jobs, which must run on other threads or in the
     * call of submit itself. */
    const wf_jobs *jobs;
    /* Only points of this variant with these constants are searched, and what is found is kept
     * nowhere, because it is the best of a subspace alone. Where the model's values do not go with
     * these constants, the search begins at the legal point that differs from them in the fewest
     * parameters. The structure's other members are ignored. NULL: all points are searched. */
    const wf_tuning *within;
    /* A problem of which this device has a row already, made with this driver and these shaders, is
     * left as it is: the result has the row's point and time, and `measured` is 0. The row may be
     * another size's of the same classes, if its point is possible here. Ignored with `again`,
     * `within` or `exhaustive`. */
    bool unless_kept;
} wf_tune_params;

typedef struct wf_tune_result {
    size_t size;
    wf_plan_info best;   /* its chosen_by is "tuned" */
    double best_us;      /* median of the samples of the final comparison */
    double spread;       /* (q3 - q1) / median of these */
    wf_plan_info before; /* what wavefit would have chosen without the search */
    double before_us;    /* its time in the final comparison; 0: it did not run */
    uint32_t measured;   /* points timed in this search */
    uint32_t wrong;      /* points that failed to run or gave a wrong result; they are not used */
    uint64_t legal;      /* legal points that there are */
    bool finished;       /* no better point is in reach: the search ended before its budget */
    bool kept;           /* the result is in the file; else the log has why */
    uint32_t spilling;   /* points left untimed because their registers spill into memory */
    /* Points drawn from the whole space since the last better one was found, all of them slower.
     * With a certainty of 95 % at most one in drawn / 3 of those that there are is better (the rule
     * of three; where the model knows times, the best of 16 are drawn, which finds more). */
    uint32_t drawn;
} wf_tune_result;

/* Searches for the fastest legal point of the problem on this device. Blocks; uses the device's own
 * queue. One search at a time may run on a device (else WF_ERROR_UNSUPPORTED).
 *
 * The search begins with the choice that wavefit makes by itself, every variant's model values and
 * what is known of similar problems, and goes on around the best of these by successive halving
 * (Karnin, Koren, Somekh 2013). At the end the finalists run again in turn; there the choice made
 * before keeps its place unless it is beaten by more than the spread. A point's result is verified
 * before the point may win. On a device opened with capture_statistics, points whose kernels spill
 * registers by the driver's word are not timed, except for the choice made before and in an
 * exhaustive search.
 *
 * A point may end the process or hang it. A journal beside the file names the points being tried,
 * and the next search leaves them out. (Where several were being compiled, the next search compiles
 * them one by one, to find out which it was; a point that was timed meanwhile is tried again there
 * once another has run.) A caller who wants to outlive such points searches in a child process, as
 * the tool does. A caller who ends the searching process for another reason empties the journal,
 * whose path is wf_tuning_path with ".search" behind it.
 *
 * Errors: WF_ERROR_CANCELLED (the progress callback or the device's `cancelled` asked to stop;
 * *result is filled as far as the search came, and best_us is 0 if nothing was measured), and those
 * of the plan's functions. */
WF_API wf_result wf_tune(wf_device *device, const wf_tune_params *params, wf_tune_result *result);

/* What the model of products knows of a device: measured here by wf_calibrate, or else a guess by
 * the kind of device. */
typedef struct wf_rate {
    size_t size;
    const char *name, *unit, *meaning;
    double value;
    bool measured; /* on this device with this driver */
} wf_rate;

/* Reads a rate. Error: WF_ERROR_INVALID_ARGUMENT (beyond the last rate; there are none where the
 * model knows the kind of device by other means, as it does CPU devices). */
WF_API wf_result wf_rate_get(wf_device *device, uint32_t index, wf_rate *out);

typedef struct wf_calibrate_params {
    size_t size;
    double budget_seconds; /* 0: 2 s */
    bool discard;          /* measure alone: nothing is kept, and choices stay as they are */
    const wf_jobs *jobs;   /* NULL: kernels are compiled one after another */
} wf_calibrate_params;

typedef struct wf_calibration {
    size_t size;
    bool measured;   /* the model has rates of this device and driver; after wf_calibrate, those
                      * that it measured: not where the error is over 0.2 */
    bool kept;       /* they are in the tuning file; else they hold as long as the device object */
    uint32_t points; /* that were timed */
    double error;    /* median of the relative errors of their predicted times */
    double seconds;  /* that it took */
} wf_calibration;

/* Times a few products and works out the rates that the model chooses by, for sizes that nobody
 * measured. Blocks; uses the device's own queue. wavefit calls it by itself nowhere; choices of
 * plans made before stay as they are. What it finds is kept in the tuning file beside the rows, for
 * this driver's version, until wf_tuning_forget removes the file. Rates that predict the products
 * that they were measured by with an error of more than 20 % in the median are not used: `measured`
 * is false, and what was kept before stays.
 *
 * Errors: WF_ERROR_UNSUPPORTED (the model of such devices has no rates; a search is under way; the
 * device runs too few of the products), and those of wf_matmul_plan. */
WF_API wf_result wf_calibrate(wf_device *device, const wf_calibrate_params *params,
                              wf_calibration *out);
/* What an earlier calibration left; its `seconds` is 0. */
WF_API wf_result wf_calibration_get(wf_device *device, wf_calibration *out);

#define WF_TUNE_MOST_RIVALS 8

/* Times what each of `count` (at most WF_TUNE_MOST_RIVALS) tunings leads to for the problem of
 * params. Blocks. Errors: those of wf_tune.
 *
 * Each is verified, and then all are timed in turn, round after round, for the budget, and for up
 * to four times the budget while it is not yet clear to 1 % how the better ones compare. Equal
 * choices share a time. The outputs have `count` elements each:
 *  - us[i] is 0 where a tuning is not possible here. Otherwise it is the fastest's median of one
 *    execution times the median, over the rounds, of i's time over the fastest's in the same round:
 *    other work on the machine meets all of a round alike and cancels out.
 *  - noise[i] is the uncertainty of that ratio: the distance of its quartiles over the square root
 * of the number of rounds; 0 for the fastest. noise may be NULL.
 *  - infos[i] describes what was timed. */
WF_API wf_result wf_tune_compare(wf_device *device, const wf_tune_params *params,
                                 const wf_tuning *tunings, uint32_t count, wf_plan_info *infos,
                                 double *us, double *noise);

#ifdef __cplusplus
}
#endif

#endif
