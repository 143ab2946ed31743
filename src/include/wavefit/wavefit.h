/* wavefit: stencils, sparse matrix-vector products and dense matrix products on any Vulkan device.
 *
 * The only public header. Conventions that hold for every function here:
 *  - A parameter structure's first member is its size (sizeof); members that the caller leaves zero
 *    mean "default"; a NULL structure means all defaults. Members are only ever added at the end: a
 *    program built against an older header works with a newer library, and one built against a newer
 *    header works with an older library as long as it leaves what that one lacks zero. Structures
 *    that do not begin with their size, and wf_caps, grow with the minor version alone.
 *  - Functions that can fail return wf_result; the text of a failure goes to the log callback of
 *    the device (or of the parameters, before there is a device). Nothing prints, exits or aborts.
 *  - The codes named at a function are its own. Besides, what needs memory, compiles or runs can give
 *    WF_ERROR_OUT_OF_HOST_MEMORY, WF_ERROR_OUT_OF_DEVICE_MEMORY, WF_ERROR_DEVICE_LOST and
 *    WF_ERROR_DRIVER; a NULL where an object or an output must be, or a structure of a wrong size,
 *    WF_ERROR_INVALID_ARGUMENT; what blocks, WF_ERROR_UNSUPPORTED on an adopted device without a queue;
 *    and an object whose device is gone, WF_ERROR_DEVICE_CLOSED.
 *  - Output handles are written only on success. A destroy function takes the address of a handle,
 *    accepts NULL or a NULL handle, and sets the handle to NULL.
 *  - Host arrays are row-major and tightly packed unless a leading dimension is given.
 *  - "Blocks" means: submits to the device's own queue and waits for that. A function that does not
 *    say so does neither.
 *  - Threads: calls on different devices are independent. Calls on one wf_device may come from
 *    several threads unless a function says otherwise; calls on one wf_plan, wf_buffer or solver
 *    object must be serialised by the caller.
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

#if defined(_WIN32)
#define WF_API
#else
#define WF_API __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------------------- results, log */

typedef enum wf_result {
    WF_SUCCESS = 0,
    WF_NOT_READY = 1, /* a plan that is still being compiled, or whose upload is not recorded yet */
    WF_ERROR_INVALID_ARGUMENT = -1,     /* a parameter is out of its stated range */
    WF_ERROR_OUT_OF_HOST_MEMORY = -2,   /* host allocation failed */
    WF_ERROR_OUT_OF_DEVICE_MEMORY = -3, /* the driver had no memory of the kind needed */
    WF_ERROR_NO_LOADER = -4,            /* no Vulkan loader library on this machine */
    WF_ERROR_NO_DEVICE = -5,            /* no Vulkan device, or none that matches the selector */
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

/* A short constant English text for a result code; never NULL. */
WF_API const char *wf_result_string(wf_result result);

typedef enum wf_log_level { WF_LOG_ERROR = 0, WF_LOG_WARNING = 1, WF_LOG_INFO = 2 } wf_log_level;

/* Receives one line of text without a newline. May be called from any thread that calls wavefit. */
typedef void (*wf_log_fn)(void *user, wf_log_level level, const char *text);

/* The version of the library linked at run time, "major.minor.patch". */
WF_API const char *wf_version(void);

/* Asked every few milliseconds by the calls that work long on the host, wf_*_check. */
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

/* Element `index` of an array of the type, and its setting, rounded to nearest, ties to even: what
 * is too large becomes infinite, or the nearest number of I8; NaN stays NaN, or 0. */
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

/* What a device can do, as wavefit sees it: after the clamping of wf_device_params.limits. */
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
    uint32_t max_invocations;     /* work-items a work-group */
    uint32_t max_group_size[3];   /* work-items a work-group along x, y, z */
    uint32_t max_groups[3];       /* work-groups a dispatch along x, y, z */
    uint32_t max_shared_bytes;    /* shared memory a work-group */
    uint32_t max_push_bytes;      /* push constants */
    uint32_t max_storage_buffers; /* storage buffers a compute stage can bind */
    uint64_t max_storage_range;   /* bytes of one storage-buffer binding */
    uint64_t max_allocation;      /* bytes of one device-memory allocation */
    uint64_t max_buffer;          /* bytes of one VkBuffer */
    uint64_t storage_alignment;   /* minStorageBufferOffsetAlignment */
    /* subgroups in compute shaders */
    uint32_t subgroup_size; /* the default; 1 where compute has no subgroup operations */
    uint32_t subgroup_min, subgroup_max;
    uint32_t max_group_subgroups; /* a work-group, in pipelines that require a subgroup size */
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
    uint64_t device_local_bytes; /* the largest device-local heap */
    uint64_t available_bytes;    /* budget left there by VK_EXT_memory_budget, else its size */
    bool unified_memory;         /* device-local memory is the host's and can be mapped */
    /* measuring and introspection */
    double timestamp_period_ns;    /* of one tick */
    uint32_t timestamp_valid_bits; /* 0: the queue has no timestamps; host time is used */
    bool push_descriptors, pipeline_statistics, memory_budget;
    uint32_t compute_units;  /* multiprocessors, compute units, cores; 0 where no extension tells */
    uint32_t unit_subgroups; /* most resident on one of them; 0 where no extension tells */
    uint32_t limits;         /* wf_limits in force */
    uint32_t faults; /* WF_FAULT_… of the driver: what they concern is not offered above */
    /* uniform texel buffers of 32-bit floats and pairs of 32-bit words */
    uint32_t max_texel_elements; /* elements that one can have; 0: not offered */
    uint64_t texel_alignment;    /* minTexelBufferOffsetAlignment */
    bool display_attached; /* a monitor is connected, as the system tells (Linux: sysfs, for drivers
                              with VK_EXT_physical_device_drm); false also where it does not */
    uint32_t withheld; /* WF_WITHHELD_… of an adopted device: the physical device has them, but the
                              application did not enable what they need */
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
    WF_WITHHELD_FULL_SUBGROUPS = 1 << 10
};

/* What a driver offers and wavefit leaves unused, since it is known or was seen not to work. */
enum {
    WF_FAULT_SHUFFLE = 1 << 0,             /* subgroup shuffles give wrong values */
    WF_FAULT_SUBGROUP_ARITHMETIC = 1 << 1, /* so do subgroup reductions and scans */
    WF_FAULT_COOPERATIVE_MATRIX = 1 << 2,  /* wrong, or emulated and slower than plain code */
    WF_FAULT_SHARED_MEMORY = 1 << 3        /* values passed through shared memory do not arrive */
};

/* A documented fault behind caps.faults; the texts live as long as the library. */
typedef struct wf_quirk {
    uint32_t faults; /* WF_FAULT_… */
    const char *what, *instead, *reference;
} wf_quirk;

/* The index-th documented fault that is in force on the device (0, 1, …); false: there are no more.
 * Faults found by wavefit's own tests alone have no such entry. */
WF_API bool wf_caps_quirk(const wf_caps *caps, uint32_t index, wf_quirk *out);

typedef enum wf_limits {
    WF_LIMITS_DEVICE = 0,
    /* Pretend the device offers no more than Vulkan 1.1 guarantees: 128 work-items a work-group
     * (128 x 128 x 64), 65535 work-groups an axis, 16 KiB shared memory, 128 MiB a storage-buffer
     * binding, 1 GiB an allocation, 4 storage buffers a stage, 128 bytes of push constants, no
     * subgroup operations and no optional feature. */
    WF_LIMITS_MINIMUM = 1
} wf_limits;

typedef struct wf_device_params {
    size_t size;
    /* Index in wf_devices_list ("0"), part of a name (any case), or a UUID (32 hexadecimal digits,
     * hyphens allowed). NULL: the environment variable WAVEFIT_DEVICE, else the best device:
     * discrete, integrated, virtual, CPU. */
    const char *selector;
    wf_limits limits;
    wf_log_fn log; /* NULL: no log */
    void *log_user;
    /* NULL: the Vulkan loader library of the system is opened. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    const VkAllocationCallbacks *allocator; /* copied; NULL: the driver's own */
    /* Where compiled pipelines are kept between runs. NULL: $XDG_CACHE_HOME/wavefit or
     * $HOME/.cache/wavefit; "": nowhere. A stale or damaged file is rebuilt silently. A folder or
     * file that another user owns (root may) or anybody may write, and a file that is a symbolic
     * link, are named in a warning and not used. */
    const char *cache_directory;
    /* Asks the driver what it made of each pipeline (caps.pipeline_statistics), for
     * wf_plan_info.kernel. Compiling takes longer. */
    bool capture_statistics;
    /* The longest that one dispatch may take, by prediction, before it is recorded in parts: drivers
     * end what keeps the device too long. 0: 0.05 s on integrated and virtual GPUs and on discrete ones
     * with caps.display_attached, no bound on others (set it where such a GPU drives a display that the
     * system does not tell of); negative: no bound. */
    double dispatch_seconds;
    /* Asked between submissions by calls that block for long: measuring, ceilings, Himeno, conjugate
     * gradients, Laplace, plans of many dispatches; and between the arrays that wf_spmv_plan makes of a
     * matrix. True: the call returns
     * WF_ERROR_CANCELLED, and the device goes on to be usable. Called on the thread of the call; it
     * must not call wavefit. NULL: nothing is asked. */
    bool (*cancelled)(void *user);
    void *cancelled_user;
} wf_device_params;

/* Lists the Vulkan devices of this machine. On entry *count is the room in caps (caps may be NULL),
 * on return the number of devices there are; WF_SUCCESS also when caps was too small (what fits is
 * filled). params->selector is not looked at. WF_ERROR_NO_LOADER, WF_ERROR_NO_DEVICE (none at all).
 * Opens and closes Vulkan; does not block. */
WF_API wf_result wf_devices_list(const wf_device_params *params, wf_caps *caps, uint32_t *count);

/* Opens a device headless, with a compute queue of its own. WF_ERROR_NO_LOADER, WF_ERROR_NO_DEVICE
 * (none, or the selector matches none: the log lists what there is), WF_ERROR_INVALID_ARGUMENT (the
 * selector matches several). What is made from the device must be destroyed before it. Blocks where
 * cache_directory has no outcome yet of the small tests that find faults of the driver: it runs them. */
WF_API wf_result wf_device_create(const wf_device_params *params, wf_device **out);

/* Blocks until the device is idle (an adopted one: does not, the application must have waited for
 * all work of wavefit's), then closes it. What was made from it should be gone: what is still there
 * loses its Vulkan objects, with a warning in the log, gives WF_ERROR_DEVICE_CLOSED when used, and
 * must still be destroyed. Jobs given to wf_jobs.submit must not be running. */
WF_API void wf_device_destroy(wf_device **device);

/* Owned by the device, valid as long as it. */
WF_API const wf_caps *wf_device_caps(const wf_device *device);

/* Bytes of device memory that can be had right now: what the driver's budget leaves in the largest
 * device-local heap, its size where the driver tells no budget. WF_ERROR_INVALID_ARGUMENT. */
WF_API wf_result wf_device_available(const wf_device *device, uint64_t *bytes);

/* ------------------------------------------------------------------------- an engine's own device */

/* The application's Vulkan. wavefit copies the structure, owns none of it, uses only what is said
 * here to be enabled, and must be closed (wf_device_destroy) before any of it is destroyed. */
typedef struct wf_vulkan {
    size_t size;
    /* Of the loader that made `instance`; NULL: the loader library of the system is opened. */
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    VkInstance instance;
    /* VkApplicationInfo.apiVersion of `instance` (not what the device offers); at least Vulkan
     * 1.1. The lower of it and the device's version decides what counts as core: below the true
     * one, features of later versions are used only if their extensions are listed; above it,
     * wavefit uses what the instance was not made for, which Vulkan leaves undefined and
     * validation layers report. 0 is refused. */
    uint32_t api_version;
    VkPhysicalDevice physical_device;
    VkDevice device;
    /* As given to vkCreateDevice; read during the call only. enabled_features is
     * VkDeviceCreateInfo.pNext, enabled_core_features its pEnabledFeatures; each may be NULL. */
    const void *enabled_features;
    const VkPhysicalDeviceFeatures *enabled_core_features;
    const char *const *enabled_extensions; /* of the device */
    uint32_t enabled_extension_count;
    /* The family of the command buffers that plans are recorded into; it must have compute.
     * Buffers that wavefit makes belong to it: for queues of another family adopt the VkDevice
     * once more. One wf_device serves all queues of the family. */
    uint32_t queue_family;
    /* A queue of that family for the functions that say they block (wf_plan_run, wf_buffer_read and
     * wf_buffer_write of memory that cannot be mapped, measuring, solvers). VK_NULL_HANDLE: those
     * give WF_ERROR_UNSUPPORTED, and nothing of wavefit's ever submits. */
    VkQueue queue;
    /* Called around each vkQueueSubmit on `queue`, and each vkQueueWaitIdle, which follows a failure
     * alone; for queues that others use too; both or neither. */
    void (*lock_queue)(void *user);
    void (*unlock_queue)(void *user);
    void *queue_user;
    /* Where compiled pipelines go, from any thread that compiles: that of the call, or those of
     * wf_jobs. Vulkan locks it: it must not have been created with EXTERNALLY_SYNCHRONIZED, nor be
     * destroyed or merged into meanwhile. VK_NULL_HANDLE: a cache of wavefit's own, in memory, and
     * on disk only if wf_device_params.cache_directory is given. */
    VkPipelineCache pipeline_cache;
} wf_vulkan;

/* Makes a wf_device of the application's VkDevice. Of params, limits, log, allocator, cancelled,
 * cache_directory and dispatch_seconds are used. Never submits, and does not block. WF_ERROR_INVALID_ARGUMENT (a handle is missing, or the
 * queue family does not exist or has no compute), WF_ERROR_UNSUPPORTED (Vulkan 1.0),
 * WF_ERROR_NO_LOADER. */
WF_API wf_result wf_device_adopt(const wf_vulkan *vulkan, const wf_device_params *params,
                                 wf_device **out);

/* What wavefit would use of a physical device if the application enabled it. Nothing of it is
 * required: every family has variants that need none. */
typedef struct wf_features wf_features;

typedef struct wf_feature {
    const char *name;      /* of the VkBool32, as in Vulkan's structures */
    const char *extension; /* to be enabled with it on this device; NULL: none */
    uint32_t families;     /* bit (1 << wf_family) for each family that uses it */
    bool offered;          /* by this physical device */
    const char *gives;     /* what it is used for */
    const char *without;   /* what happens where it is not enabled */
} wf_feature;

/* families: bits (1 << wf_family), 0 for all; STENCIL has what wf_stencil_plan uses (GRID) too. Of
 * vulkan, get_instance_proc_addr, instance, api_version and physical_device are used; of params,
 * the log. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED, WF_ERROR_NO_LOADER,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_required_features(const wf_vulkan *vulkan, uint32_t families,
                                      const wf_device_params *params, wf_features **out);
/* A chain for VkDeviceCreateInfo.pNext with all of it that the device offers; valid as long as the
 * object. */
WF_API const VkPhysicalDeviceFeatures2 *wf_features_chain(const wf_features *features);
/* The device extensions that go with the chain. */
WF_API const char *const *wf_features_extensions(const wf_features *features, uint32_t *count);
/* One line a feature, offered or not. */
WF_API const wf_feature *wf_features_list(const wf_features *features, uint32_t *count);
/* Adds it to the application's own chain: sets the VkBool32 where the chain has the structure (the
 * feature's own or VkPhysicalDeviceVulkan1xFeatures), and appends structures of `features` for the
 * rest, which therefore must outlive the use of the chain. To be called once. */
WF_API void wf_features_merge(wf_features *features, VkPhysicalDeviceFeatures2 *chain);
WF_API void wf_features_destroy(wf_features **features);

/* ------------------------------------------------------------------------------------- buffers */

typedef struct wf_buffer wf_buffer;

typedef enum wf_memory {
    WF_MEMORY_DEVICE = 0,  /* device-local; mapped too where memory is unified */
    WF_MEMORY_UPLOAD = 1,  /* host-visible, for writing by the host */
    WF_MEMORY_READBACK = 2 /* host-visible, cached where offered, for reading by the host */
} wf_memory;

/* A storage buffer of at least `bytes` bytes (> 0) that can be source and target of copies and read as
 * a uniform texel buffer.
 * WF_ERROR_TOO_LARGE beyond caps.max_buffer or caps.max_allocation, before anything is allocated;
 * WF_ERROR_OUT_OF_DEVICE_MEMORY beyond what the driver's memory budget leaves. */
WF_API wf_result wf_buffer_create(wf_device *device, uint64_t bytes, wf_memory memory,
                                  wf_buffer **out);
WF_API void wf_buffer_destroy(wf_buffer **buffer);
WF_API VkBuffer wf_buffer_handle(const wf_buffer *buffer);
WF_API uint64_t wf_buffer_size(const wf_buffer *buffer);
/* Where the host sees the buffer's memory, coherently and as long as the buffer lives: device memory
 * too where caps.unified_memory, so that nothing need be copied. NULL: it is not mapped. The caller
 * sees to it that the device is not using what the host touches. */
WF_API void *wf_buffer_mapped(const wf_buffer *buffer);

/* Copies between host memory and a buffer; the range must lie inside the buffer, data not be NULL
 * (WF_ERROR_INVALID_ARGUMENT). Block; direct where the buffer is mapped, staged elsewhere. */
WF_API wf_result wf_buffer_write(wf_buffer *buffer, uint64_t offset, const void *data,
                                 uint64_t bytes);
WF_API wf_result wf_buffer_read(wf_buffer *buffer, uint64_t offset, void *data, uint64_t bytes);

/* Fills the range with a repeated 32-bit value; offset and bytes are multiples of 4
 * (WF_ERROR_INVALID_ARGUMENT). Blocks; direct where the buffer is mapped. */
WF_API wf_result wf_buffer_fill(wf_buffer *buffer, uint64_t offset, uint64_t bytes, uint32_t value);

/* ---------------------------------------------------------------------------- families, tuning */

/* One value forced or reported for a named parameter of a variant. */
typedef struct wf_constant {
    const char *name;
    uint32_t value;
} wf_constant;

/* Overrides the choice that wavefit makes. */
typedef struct wf_tuning {
    size_t size;
    const char *variant;          /* NULL: wavefit's choice */
    const wf_constant *constants; /* the others keep wavefit's choice */
    uint32_t constant_count;
    bool no_tuning;       /* use the model only: no measured or shipped tuning data */
    uint32_t skip_levels; /* wf_tuning_level bits of what is not used */
} wf_tuning;

/* Where a choice can come from, most trusted first; the model is last and always there. */
typedef enum wf_tuning_level {
    WF_TUNING_MEASURED = 1,         /* measured on this device with this driver and shaders */
    WF_TUNING_DEVICE_ROWS = 2,      /* rows for this device that ship with wavefit */
    WF_TUNING_ARCHITECTURE_ROWS = 4 /* rows for a device of the same vendor with like limits */
} wf_tuning_level;

#define WF_MAX_PARAMETERS 32

/* The table that the library, tuner, tests, bench and tool read; strings live as long as the
 * library. */
typedef struct wf_parameter_info {
    const char *name;
    const char *meaning;
    uint32_t default_value;
    uint32_t candidate_count;
    const uint32_t *candidates;
} wf_parameter_info;

typedef struct wf_variant_info {
    const char *name;
    const char *summary; /* what this step changes */
    const char *source;  /* the text it follows, "" if none */
    uint32_t types;      /* bit (1 << wf_type) for each element type it is built for */
    uint32_t parameter_count;
    wf_parameter_info parameters[WF_MAX_PARAMETERS];
} wf_variant_info;

typedef enum wf_family {
    WF_FAMILY_HIMENO = 0,
    WF_FAMILY_SPMV = 1,
    WF_FAMILY_MATMUL = 2,
    WF_FAMILY_VECTOR = 3,
    WF_FAMILY_STENCIL = 4, /* star and box stencils; WF_FAMILY_HIMENO is Himeno's */
    WF_FAMILY_COUNT = 5
} wf_family;

WF_API const char *wf_family_name(wf_family family); /* "stencil", …; "?" if unknown */
WF_API uint32_t wf_family_variant_count(wf_family family);
/* WF_ERROR_INVALID_ARGUMENT when there is no such variant. */
WF_API wf_result wf_family_variant(wf_family family, uint32_t index, wf_variant_info *out);

/* --------------------------------------------------------------------------------------- plans */

/* A plan is a compiled, sized sequence of dispatches for one problem on one device. On an adopted
 * device creating one never touches a queue. */
typedef struct wf_plan wf_plan;

/* The application's job system, for plans whose pipelines must not be compiled in the call that
 * creates them. submit is called in that call, once a pipeline; it must see to it that run(job) is
 * called once, on any thread, now or later, even if the plan is destroyed meanwhile (the job then
 * does nothing). Until all have run, wf_plan_status and wf_plan_record give WF_NOT_READY. */
typedef struct wf_jobs {
    size_t size;
    void (*submit)(void *user, void (*run)(void *job), void *job);
    void *user;
} wf_jobs;

#define WF_MAX_BINDINGS 8

typedef struct wf_binding {
    const wf_buffer *buffer; /* wavefit's buffer, or */
    VkBuffer handle;         /* the caller's own (used when buffer is NULL) */
    uint64_t offset;         /* bytes, a multiple of caps.storage_alignment */
    uint64_t bytes;          /* 0: to the end of a wf_buffer; must be given for a handle */
} wf_binding;

/* Indexed by the family's binding numbers (WF_MATMUL_A, …). */
typedef struct wf_bindings {
    size_t size;
    wf_binding items[WF_MAX_BINDINGS];
    wf_binding workspace; /* of wf_plan_workspace bytes; needed only when that is not 0 */
} wf_bindings;

#define WF_MAX_STATISTICS 24

/* What the driver says of a pipeline (VK_KHR_pipeline_executable_properties), in its own words. */
typedef struct wf_statistic {
    char name[48]; /* "Register Count", "VGPRs", … */
    double value;
} wf_statistic;

/* One kernel; of a plan that has several its variant's own, in its largest dispatch. */
typedef struct wf_kernel_info {
    uint32_t group_size[3];   /* work-items of a work-group */
    uint64_t groups;          /* work-groups of the dispatch */
    uint64_t shared_bytes;    /* of a work-group, as the variant declares it */
    uint32_t subgroup_size;   /* 1 where compute has no subgroup operations */
    uint32_t registers;       /* 32-bit ones a work-item, by the statistics; 0: not told */
    uint32_t spilled;         /* of them, kept in memory; 0: none, or not told */
    uint32_t statistic_count; /* 0 unless the device was opened with capture_statistics */
    wf_statistic statistics[WF_MAX_STATISTICS];
} wf_kernel_info;

typedef struct wf_plan_info {
    size_t size;
    const char *family;
    const char *variant;
    const char *chosen_by; /* "forced", "tuned", "device row", "architecture row", "model" */
    uint32_t constant_count;
    wf_constant constants[WF_MAX_PARAMETERS];
    uint32_t dispatches;
    double flops;       /* arithmetic of one execution by the algorithm's own count */
    double least_bytes; /* each input read once, each output written once */
    wf_kernel_info kernel;
    /* Bytes that the variant's kernel asks for in one execution, counted from its algorithm and
     * constants; 0: not counted. */
    double requested_bytes;        /* of memory: each load and store of its work-items */
    double stored_bytes;           /* of those, stores */
    double shared_requested_bytes; /* of shared memory, likewise */
    double group_bytes;            /* of memory, each byte once a work-group */
    /* Recordings write memory that the plan keeps, which wf_plan_record says how to order. */
    bool writes_own_memory;
} wf_plan_info;

/* A problem by its sizes, without data. */
typedef struct wf_problem {
    size_t size;
    wf_family family; /* STENCIL, SPMV, MATMUL or GRID */
    wf_type type;
    uint64_t extent[3];   /* stencil: cells; spmv: rows, columns, entries; matmul: m, n, k */
    uint32_t longest_row; /* spmv, of entries a row */
    double row_deviation; /* likewise, the standard deviation */
    /* grid: in place of type and extent; coefficients, tuning and jobs are not looked at */
    const struct wf_stencil_params *stencil;
} wf_problem;

/* Chooses variant and constants for the problem and compiles the kernel, without memory for data and
 * without running it: devices that only compile will do. info->kernel.groups is 0. The results
 * of wf_matmul_plan. */
WF_API wf_result wf_kernel_compile(wf_device *device, const wf_problem *problem,
                                   const wf_tuning *tuning, wf_plan_info *info);

/* An estimate, by what is published about the device's architecture and what the driver told of the
 * kernel. A unit is what holds whole work-groups: multiprocessor, compute unit, core. */
typedef struct wf_occupancy {
    double fraction;          /* subgroups / most_subgroups */
    uint32_t groups;          /* work-groups that a unit keeps at once */
    uint32_t subgroups;       /* subgroups that it keeps so */
    uint32_t most_subgroups;  /* that it could keep */
    const char *limited_by;   /* "registers", "shared memory", …; "nothing" when it is full */
    const char *architecture; /* "Hopper" */
    const char *source;       /* where the architecture's figures are from */
    uint32_t counted_units;   /* of caps.compute_units that make a unit: 2 for AMD's work-group
                                 processors of two compute units, else 1 */
} wf_occupancy;

/* WF_ERROR_UNSUPPORTED: too little is published about the device. */
WF_API wf_result wf_kernel_occupancy(const wf_caps *caps, const wf_kernel_info *kernel,
                                     wf_occupancy *out);

/* What recordings need of Vulkan besides the command buffer: descriptor sets and, for the sparse
 * variant "texel", buffer views. The application makes one for each frame in flight (and each
 * thread that records at the same time), records the frame's plans with it, and resets it once the
 * fence of that frame has passed, as it does with its command pool. Each recording takes sets of
 * its own and writes them, so there is no limit to the bindings and nothing of an ended buffer is
 * ever used again. On devices with push descriptors most plans take nothing of it; it must be
 * given all the same, so that what runs on one device runs on all. An arena is used by one thread
 * at a time and may be used with any plan of its device; different arenas are independent. */
typedef struct wf_arena wf_arena;

/* Recordings make what they need and find nothing free of; that stays, so an arena stops growing,
 * and recording stops allocating, once it has seen its largest frame. */
WF_API wf_result wf_arena_create(wf_device *device, wf_arena **out);
/* Gives back all that recordings took: the command buffers must have finished, and those recorded
 * with the arena must not be executed again. Does not wait; destroys views, and keeps sets to be
 * written anew. */
WF_API wf_result wf_arena_reset(wf_arena *arena);
/* The same, for good. Plans and buffers that were used with it may have ended before. */
WF_API void wf_arena_destroy(wf_arena **arena);

/* Records the plan's dispatches into a command buffer in the recording state, outside a render
 * pass, on a queue family with compute. Never submits, waits or compiles, and allocates only where
 * the arena has no room left, and for views of the sparse variant "texel". The arena must not be
 * reset before the command buffer has been executed for the last time; the bindings are read
 * during the call, their buffers during the execution.
 *
 * wavefit places the barriers between its own dispatches; the caller orders its own accesses
 * before and after with stage COMPUTE_SHADER, access SHADER_READ for inputs and SHADER_WRITE (and
 * READ, where a binding says so) for outputs; the workspace counts as SHADER_READ | SHADER_WRITE.
 * Inputs and outputs must not overlap. A plan may be recorded many times, into command buffers
 * that overlap, with different outputs and workspaces. Where it writes memory of its own
 * (wf_plan_info.writes_own_memory: sparse plans that sum long rows over work-groups, products that
 * share sums or copy A or B) each recording begins with a barrier of its own, COMPUTE_SHADER /
 * SHADER_WRITE to COMPUTE_SHADER / SHADER_READ | SHADER_WRITE, which orders it behind all that the
 * queue was given before. Between two queues nothing but a semaphore orders: there such a plan
 * needs one, or a second plan.
 *
 * Disturbs the compute bind point's pipeline and its descriptor sets of all numbers, since
 * wavefit's layouts have their own set 0, and push constants, which all bind points share: bind
 * and push yours again. The pipeline and sets of other bind points stay.
 *
 * WF_ERROR_BINDING, WF_NOT_READY, WF_ERROR_INVALID_ARGUMENT (no arena, or one of another device),
 * and want of memory: nothing was recorded. The text of a failure goes to the log once a plan,
 * however many frames repeat it. */
WF_API wf_result wf_plan_record(wf_plan *plan, VkCommandBuffer command_buffer, wf_arena *arena,
                                const wf_bindings *bindings);

/* WF_SUCCESS: compiled. WF_NOT_READY: jobs (wf_jobs) have still to run. Otherwise why compiling
 * failed. Does not block. */
WF_API wf_result wf_plan_status(wf_plan *plan);

/* Whether the plan holds data (a matrix, or the padding of the copies that some large products make of A
 * and B) that an adopted device must be sent: true where device memory cannot be mapped, until
 * wf_plan_record_upload. Other devices have it when the plan is created. */
WF_API bool wf_plan_needs_upload(const wf_plan *plan);
/* Records that upload, with a barrier behind it; to be executed once, before the plan is. Records
 * nothing where none is needed. */
WF_API wf_result wf_plan_record_upload(wf_plan *plan, VkCommandBuffer command_buffer);
/* Frees the host's copy of the data once the upload was executed. */
WF_API void wf_plan_trim(wf_plan *plan);

/* Bytes of scratch memory a recording needs bound as workspace. */
WF_API uint64_t wf_plan_workspace(const wf_plan *plan);
/* What was chosen, and of its kernel what the driver tells; complete once it is compiled. */
WF_API wf_result wf_plan_describe(const wf_plan *plan, wf_plan_info *info);
/* The work recorded from the plan must have finished. */
WF_API void wf_plan_destroy(wf_plan **plan);

/* Submits one execution on the device's own queue and blocks until it is done. An execution of several
 * dispatches that takes over half a second goes in several submissions, between which
 * wf_device_params.cancelled is asked (WF_ERROR_CANCELLED: the outputs are of no use). Otherwise what
 * wf_plan_record returns. */
WF_API wf_result wf_plan_run(wf_plan *plan, const wf_bindings *bindings);

/* The same for `count` (> 0) executions, one after the other in one submission; *seconds is what
 * they took, by timestamps (*gpu_clock true) or by the host's clock. No warm-up. Blocks. */
WF_API wf_result wf_plan_run_times(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                                   double *seconds, bool *gpu_clock);

/* One of a plan's kernels: a plan may copy its inputs or add up parts around the variant's own. */
typedef struct wf_plan_kernel {
    size_t size;
    const char *name;    /* of its shader */
    bool main;           /* the variant's own */
    uint32_t dispatches; /* of one execution */
    wf_kernel_info info; /* of the largest of them */
} wf_plan_kernel;

/* The plan's kernels; dispatches is 0 where one is made but not used. WF_ERROR_INVALID_ARGUMENT:
 * there is none of that index. */
WF_API uint32_t wf_plan_kernel_count(const wf_plan *plan);
WF_API wf_result wf_plan_describe_kernel(const wf_plan *plan, uint32_t index, wf_plan_kernel *out);
/* Executes the plan's dispatches one at a time, a few times over, and fills us[0 … count-1], count
 * being wf_plan_kernel_count, with the microseconds that each kernel's take in one execution, by
 * timestamps (*gpu_clock true) or by the host's clock. What would overlap does not, so that they
 * may sum to more than an execution. Blocks. */
WF_API wf_result wf_plan_time_kernels(wf_plan *plan, const wf_bindings *bindings, uint32_t count,
                                      double *us, bool *gpu_clock);

/* ------------------------------------------------------------------------------------ measuring */

#define WF_MAX_SAMPLES 512

typedef struct wf_measure_params {
    size_t size;
    /* Samples; 0: until the quartile spread is under 2 %, or the budget. 1: no warm-up either. */
    uint32_t repeat;
    double budget_seconds; /* 0: 1 s */
    bool cold;             /* evict the caches before each sample by writing a large buffer */
    bool warm;             /* the device was busy until just now: no warm-up */
} wf_measure_params;

typedef struct wf_timing {
    double median_us, min_us, q1_us, q3_us; /* of one execution */
    double spread;                          /* (q3 - q1) / median */
    uint32_t count;                         /* samples */
    uint32_t batch;                         /* executions a sample */
    bool gpu_clock;                         /* false: host clock around submit and wait */
    bool cold;
    double samples_us[WF_MAX_SAMPLES];
} wf_timing;

/* Times repeated executions of a plan on the device's own queue, with warm-up. Blocks. Results as those
 * of wf_plan_run. */
WF_API wf_result wf_plan_measure(wf_plan *plan, const wf_bindings *bindings,
                                 const wf_measure_params *params, wf_timing *timing);

/* Measured ceilings of the device, made once a device object and kept. Block on first use. */
WF_API wf_result wf_device_copy_bandwidth(wf_device *device, double *bytes_per_second);
/* Fused multiply-adds count two. WF_ERROR_UNSUPPORTED when the device lacks the type. */
WF_API wf_result wf_device_fma_rate(wf_device *device, wf_type type, double *flops_per_second);

/* Every ceiling that wavefit can measure, by a micro-benchmark of its own; strings live as long as
 * the library. */
typedef struct wf_peak_info {
    const char *name;    /* "copy", "fma_f32", … */
    const char *unit;    /* "GB/s", "GFLOPS", "GOPS", "us" */
    const char *meaning; /* one sentence: what is counted */
    bool over_bytes;     /* measured for a working set of some size */
} wf_peak_info;

WF_API uint32_t wf_peak_count(void);
/* WF_ERROR_INVALID_ARGUMENT when there is no such ceiling. */
WF_API wf_result wf_peak_describe(uint32_t index, wf_peak_info *out);

typedef struct wf_peak_params {
    size_t size;
    double budget_seconds; /* for the samples; 0: 0.3 s */
    uint64_t bytes;        /* working set, rounded to a power of two; 0: past any cache */
    bool warm;             /* the device was busy until just now: no warm-up */
} wf_peak_params;

typedef struct wf_peak {
    double value;   /* in the ceiling's unit, of the median sample */
    double spread;  /* quartile spread of the samples over their median */
    uint32_t count; /* samples */
    uint64_t bytes; /* the working set, all buffers together; 0 where there is none */
    bool gpu_clock;
    char how[64]; /* "16x16x16, 8 subgroups a work-group"; "" where there is no choice */
} wf_peak;

/* Measures one ceiling. WF_ERROR_UNSUPPORTED: the device lacks what it needs, and the log says what.
 * Blocks. */
WF_API wf_result wf_peak_measure(wf_device *device, uint32_t index, const wf_peak_params *params,
                                 wf_peak *out);

/* A verification against the f64 reference: error_over_bound is the largest |result - reference|
 * divided by its derived rounding bound; the result is right when it is <= 1 and not NaN. */
typedef struct wf_check {
    double error_over_bound;
    uint64_t checked; /* elements compared, one by one */
    uint64_t total;   /* elements there are */
    uint64_t worst;   /* index of the worst element */
    /* Where not all were compared: elements that random sums cover, with what probability an error of a
     * row's root mean square in one of them is missed, and elements whose range alone was looked at. */
    uint64_t summed;
    double missed;
    uint64_t ranged;
} wf_check;

/* -------------------------------------------------------------------------------------- matmul */

/* Bindings of a matmul plan. C is read only where beta is not 0 (or a plan of several dispatches
 * adds to it); a binding that the product does not use may stay empty. */
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
    WF_ACTIVATION_GELU = 2  /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 (Hendrycks, Gimpel
                             * 2016, the tanh form); not for I8 */
} wf_activation;

/* The type of C. Sums are kept in f32 (F32, F16, BF16), f64 or 32-bit integers (I8). */
typedef enum wf_matmul_output {
    WF_MATMUL_OUTPUT_TYPE = 0, /* that of A and B; 32-bit integers for I8 */
    WF_MATMUL_OUTPUT_SUMS = 1  /* that of the sums */
} wf_matmul_output;

typedef enum wf_math {
    WF_MATH_EXACT = 0, /* products and sums in the type of the sums */
    /* F32 may be split into pairs of f16 numbers, each row of op(A) and column of op(B) scaled by a
     * power of two, and multiplied on matrix units: within gamma_{2k+20} |A||B| + k 2^-48 max|row|
     * max|column|. Infinities may become NaN. */
    WF_MATH_FAST = 1
} wf_math;

/* A stride_a or stride_b: all products of the batch read the same matrix. */
#define WF_STRIDE_SHARED UINT64_MAX

/* C = activation(alpha op(A) op(B) + beta C + bias), `batch` times; op(A) is m x k, op(B) k x n, C
 * m x n, all row-major. Zero-initialised but for the sizes: C = A B. Where m or n is 0 nothing is
 * done; where k or alpha is 0, A and B are not read. I8 adds modulo 2^32. */
typedef struct wf_matmul_params {
    size_t size;
    uint64_t m, n, k; /* 0 … 2^31 */
    wf_type type;     /* of A and B */
    const wf_tuning *tuning;
    const wf_jobs *jobs;           /* NULL: pipelines are compiled in wf_matmul_plan */
    bool transpose_a, transpose_b; /* A holds k x m, B holds n x k */
    /* Elements from one row of a matrix to the next, as it is stored; 0: as many as a row has. */
    uint64_t lda, ldb, ldc;
    /* Rounded to the type of the sums, finite there; I8: whole numbers of 32 bits. alpha is read
     * during the call; NULL: 1. With beta 0, C may hold anything, NaN too. */
    const double *alpha;
    double beta;
    uint64_t batch; /* 0: 1 */
    /* Elements from one product's matrix to the next; 0: as many as its rows take. Those of C must
     * not overlap. */
    uint64_t stride_a, stride_b, stride_c;
    bool bias; /* binding BIAS: n elements of the type of the sums, added to every row */
    wf_activation activation;
    wf_matmul_output output;
    wf_math math;
    const wf_cancel *cancel; /* of wf_matmul_check; NULL: none */
} wf_matmul_params;

/* Bytes that each binding must have at least; 0: it is not used. WF_ERROR_INVALID_ARGUMENT,
 * WF_ERROR_TOO_LARGE. */
WF_API wf_result wf_matmul_bytes(const wf_matmul_params *params,
                                 uint64_t bytes[WF_MATMUL_BINDINGS]);

/* Blocks where the variant makes copies of A or B, whose padding is then cleared; on an adopted
 * device never (wf_plan_needs_upload). WF_ERROR_INVALID_ARGUMENT, WF_ERROR_TOO_LARGE,
 * WF_ERROR_UNSUPPORTED (type), WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT. Every run gives the
 * same bits, although every other execution of the variants for few rows or columns of C begins at
 * the large matrix's other end, which a cache may still hold. */
WF_API wf_result wf_matmul_plan(wf_device *device, const wf_matmul_params *params, wf_plan **out);

/* The host's copies of what a product read, each of wf_matmul_bytes; NULL where it is not used. */
typedef struct wf_matmul_inputs {
    size_t size;
    const void *a, *b, *bias;
    const void *c; /* before the product; NULL where beta is 0 */
    /* C of the same product without its activation, on the device again; NULL: there is none. */
    const void *linear;
} wf_matmul_inputs;

/* Compares c with the f64 product (long double where the type is F64, whole numbers where it is I8)
 * in at most max_checked elements (0: all) drawn with `seed`; check->worst counts elements along
 * rows of C, then rows, then products of the batch. Bound: gamma_{k+4} of the type of the sums times
 * |alpha| |A||B| + |beta C| + |bias| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
 * ed., section 3.5), the activation's error, and one rounding to the type of C; 0 before the activation
 * where no sum can round, as with small whole numbers. Where not all are compared, Freivalds' test finds
 * the rows of C that are farthest off, which are compared whole; with an activation `linear` is what it
 * sums, and every element of c is compared with the activation of linear's. Without `linear` the
 * elements that are not compared are only seen to be in range.
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED, WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_matmul_check(const wf_matmul_params *params, const wf_matmul_inputs *inputs,
                                 const void *c, uint64_t max_checked, uint64_t seed,
                                 wf_check *check);

/* ---------------------------------------------------------------------------------------- spmv */

/* Bindings of an spmv plan; the matrix itself lives in the plan. Variant "texel" reads x through a
 * uniform texel buffer: a VkBuffer of the application's then needs usage UNIFORM_TEXEL_BUFFER, and its
 * offset must be a multiple of caps.texel_alignment (WF_ERROR_BINDING). */
enum { WF_SPMV_X = 0, WF_SPMV_Y = 1, WF_SPMV_BINDINGS = 2 };

#define WF_SPMV_MOST_VECTORS 32

/* y = alpha A x + beta y for A in compressed sparse rows, or with A transposed; the arrays are read
 * during the call only. x and y are f64 for F64 and f32 for F32 and F16: F16 is the type of the
 * matrix's values alone, and sums are made in f32. Infinities and NaN, of x or of the matrix, reach the
 * rows that have them and no others, whatever padding a variant's format has. Every run gives the same bits, but for the variant "atomic",
 * which is never chosen unless forced. */
typedef struct wf_spmv_params {
    size_t size;
    uint32_t rows, columns;
    const uint32_t *row_offsets;    /* rows + 1, ascending, first 0 */
    const uint32_t *column_indices; /* row_offsets[rows], each < columns; duplicates add up */
    const void *values;             /* of the type, row_offsets[rows] */
    wf_type type;                   /* F32, F64 or F16 */
    const wf_tuning *tuning;
    const wf_jobs *jobs; /* NULL: pipelines are compiled in wf_spmv_plan */
    bool transpose;      /* x has rows elements and y columns; the plan makes a transposed copy */
    bool updatable;      /* wf_spmv_update will be called: 4 bytes more an entry */
    /* Right-hand sides, at most WF_SPMV_MOST_VECTORS; 0: 1. X and Y are then row-major matrices of
     * as many columns, rows x_stride and y_stride elements apart (0: vectors). */
    uint32_t vectors, x_stride, y_stride;
    const double *alpha;     /* NULL: 1 */
    double beta;             /* 0: y is not read and may hold anything */
    const wf_cancel *cancel; /* of wf_spmv_check; NULL: none */
} wf_spmv_params;

/* Checks the arrays, picks variant and constants from the row lengths, converts and uploads the
 * matrix. Blocks where device memory cannot be mapped; on an adopted device never
 * (wf_plan_needs_upload). WF_ERROR_INVALID_ARGUMENT (arrays, vectors, strides, alpha or beta not
 * finite), WF_ERROR_TOO_LARGE (x or a row is over a binding), WF_ERROR_UNSUPPORTED (type, forced
 * variant), WF_ERROR_CANCELLED. */
WF_API wf_result wf_spmv_plan(wf_device *device, const wf_spmv_params *params, wf_plan **out);

/* Sets alpha and beta for what is recorded from now on. WF_ERROR_INVALID_ARGUMENT: not a plan of
 * spmv, or not finite in the type of x and y. */
WF_API wf_result wf_spmv_scale(wf_plan *plan, double alpha, double beta);

/* New values under the same pattern, in the order of column_indices, for a plan made with
 * `updatable`; nothing is analysed again. wf_spmv_update takes a host array and blocks; work that
 * was recorded from the plan must not be running. wf_spmv_record_update records the change from a
 * device buffer, as wf_plan_record does, with a barrier before it and one behind; F16 values there
 * are packed, the last word filled up. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_BINDING. */
WF_API wf_result wf_spmv_update(wf_plan *plan, const void *values);
WF_API wf_result wf_spmv_record_update(wf_plan *plan, VkCommandBuffer command_buffer,
                                       wf_arena *arena, const wf_binding *values);

#define WF_SPMV_MOST_CANDIDATES 16

/* A variant that the model weighed. */
typedef struct wf_spmv_candidate {
    const char *variant;
    double expected;  /* time in units of the model, lower is better; < 0: not for this matrix */
    char reason[256]; /* why the device cannot run it; "" when it can */
} wf_spmv_candidate;

/* What the analysis of a plan found and cost. */
typedef struct wf_spmv_analysis {
    size_t size;
    uint64_t rows, columns, entries; /* of what is multiplied: transposed, if it is */
    uint32_t shortest_row, longest_row;
    double mean_row, row_deviation;
    uint64_t row_histogram[33]; /* [0]: empty rows; [i]: rows of 2^(i-1) to 2^i - 1 entries */
    uint32_t bandwidth;         /* largest |column - row| */
    uint32_t block;             /* side of aligned blocks that entries fill best, 2 to 4 */
    double block_fill;          /* share of such blocks' places that they fill, of a sample */
    uint64_t matrix_bytes;      /* of the matrix as the plan keeps it, all read by a product */
    double statistics_seconds;  /* statistics and choice, on the host */
    double seconds;             /* all of wf_spmv_plan: conversion, pipelines and upload too */
    uint32_t candidate_count;
    wf_spmv_candidate candidates[WF_SPMV_MOST_CANDIDATES];
} wf_spmv_analysis;

/* WF_ERROR_INVALID_ARGUMENT: not a plan of spmv. */
WF_API wf_result wf_spmv_analysis_of(const wf_plan *plan, wf_spmv_analysis *analysis);

/* Compares y with the f64 product, all elements of all vectors. y_before is y as it was before the
 * product (NULL where beta is 0). Bound of an element of n entries: gamma_(n+c) (|alpha| |A||x| +
 * |beta||y|), c = 0 where alpha is 1 and beta 0, else 5 for scaling and rounding alpha and beta.
 * WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (type), WF_ERROR_CANCELLED. */
WF_API wf_result wf_spmv_check_scaled(const wf_spmv_params *params, const void *x,
                                      const void *y_before, const void *y, wf_check *check);
/* The same with y_before NULL. */
WF_API wf_result wf_spmv_check(const wf_spmv_params *params, const void *x, const void *y,
                               wf_check *check);

/* Solves A x = b for a symmetric positive definite A by conjugate gradients (Hestenes and Stiefel
 * 1952, in the form of Chronopoulos and Gear 1989: one pass of dot products an iteration), x = 0
 * first. All scalars stay on the device, which also finds the end; the host looks every check_every
 * iterations, while the next ones are already under way. Every run gives the same bits. */
typedef enum wf_precondition {
    WF_PRECONDITION_NONE = 0,
    WF_PRECONDITION_JACOBI = 1,      /* by the diagonal, which must be positive */
    WF_PRECONDITION_BLOCK_JACOBI = 2 /* by blocks on the diagonal, positive definite */
} wf_precondition;

typedef enum wf_cg_status {
    WF_CG_CONVERGED = 0,
    WF_CG_MAX_ITERATIONS = 1, /* the tolerance was not met */
    WF_CG_INDEFINITE = 2,     /* a direction p with p A p < 0: A is not positive definite */
    WF_CG_NOT_FINITE = 3,     /* an overflow or NaN; x is of no use */
    WF_CG_BREAKDOWN = 4,      /* p A p is 0 within rounding: A is singular */
    /* The iteration came to its end, but b - A x is larger than the tolerance and rounding explain:
     * the device erred, or A is too ill-conditioned for the type. */
    WF_CG_INACCURATE = 5
} wf_cg_status;

#define WF_CG_MOST_BLOCK 16

/* Told now and then how far a solve is: iterations done, |r| / |b| of the last of them. False: stop. It
 * must not call wavefit. */
typedef bool (*wf_cg_fn)(void *user, uint32_t iterations, double residual);

typedef struct wf_cg_params {
    size_t size;
    const wf_spmv_params *matrix; /* square, F32 or F64, one vector, unscaled */
    wf_precondition precondition;
    double tolerance;        /* of |r| / |b|; 0: 1e-6 in f32, 1e-10 in f64 */
    uint32_t max_iterations; /* 0: 1000 */
    uint32_t check_every;    /* iterations a submission; 0: 32, or as many as take 0.2 s */
    uint32_t repeat;         /* samples of the product alone, timed first; 0: it is not */
    double *history; /* max_iterations elements: |r| / |b| of each iteration; NULL: not kept */
    uint32_t block;  /* side of block-Jacobi's blocks, at most WF_CG_MOST_BLOCK; 0: 4 */
    /* Iterates in f32 and refines the answer in pairs of floats, on devices without f64 too; the
     * matrix, b and x are F64, its values within f32's range. */
    bool mixed;
    wf_cg_fn progress; /* NULL: none */
    void *user;
} wf_cg_params;

typedef struct wf_cg_result {
    wf_cg_status status;
    uint32_t iterations;
    double residual; /* |r| / |b| as the iteration has it */
    /* |b - A x| / |b|, worked out on the host from the x returned. Of what has converged it is at most
     * tolerance + (4 k + 2 m + 8) u (1 + |A| |x| / |b|), where k is the iterations (mixed: the
     * refinements), m the entries of the longest row, |A| the largest sum of magnitudes of a row, u the
     * unit roundoff of the type (mixed: 2^-44): every iteration rounds x, and the residual that it
     * carries along, by some u. What is over that is WF_CG_INACCURATE. */
    double true_residual;
    double iteration_us; /* mean; the first batch, where drivers may compile, counts only alone */
    double product_us;   /* median of the product alone; 0: not measured */
    bool gpu_clock;
    bool fused;           /* the product leaves the dot product: two dispatches an iteration */
    uint32_t refinements; /* mixed: corrections added to x */
    wf_plan_info product; /* the plan of A p */
} wf_cg_result;

/* b and x: rows elements of the type on the host, not overlapping. x is written whenever WF_SUCCESS
 * is returned, whatever result->status says. WF_ERROR_CANCELLED: a callback asked to stop; x, *result
 * (whose status then says nothing) and the history are as far as the solve came. WF_ERROR_INVALID_ARGUMENT
 * (not square, a diagonal entry or block that Jacobi cannot use, b not finite), WF_ERROR_TOO_LARGE (three
 * vectors are over one binding), and what wf_spmv_plan returns. Blocks. */
WF_API wf_result wf_cg_solve(wf_device *device, const wf_cg_params *params, const void *b, void *x,
                             wf_cg_result *result);

/* ------------------------------------------------------------------------------------- vectors */

/* Bindings of a vector plan. */
enum { WF_VECTOR_X = 0, WF_VECTOR_Y = 1, WF_VECTOR_SCALARS = 2, WF_VECTOR_BINDINGS = 3 };

typedef enum wf_vector_operation {
    WF_VECTOR_AXPY = 0, /* y = y + a x; reads and writes y */
    WF_VECTOR_XPAY = 1, /* y = x + a y; reads and writes y */
    WF_VECTOR_DOT = 2   /* scalars[result] = a sum x y; x and y may be the same memory */
} wf_vector_operation;

/* What an iterative solver needs beside its products, its scalars staying on the device:
 * a = alpha * scalars[numerator - 1] / scalars[denominator - 1], where an index of 0 leaves its factor
 * out. WF_VECTOR_SCALARS is bound where scalars are read or written. A dot product needs a workspace
 * and gives the same bits in every run. */
typedef struct wf_vector_params {
    size_t size;
    wf_vector_operation operation;
    uint64_t count; /* elements of x and of y, > 0 */
    wf_type type;   /* F32 or F64; that of x, y and scalars */
    double alpha;   /* 0: 1 */
    uint32_t numerator, denominator;
    uint32_t result; /* index in scalars */
    const wf_tuning *tuning;
    const wf_jobs *jobs; /* NULL: pipelines are compiled in wf_vector_plan */
} wf_vector_params;

/* WF_ERROR_INVALID_ARGUMENT, WF_ERROR_TOO_LARGE, WF_ERROR_UNSUPPORTED (type),
 * WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT. */
WF_API wf_result wf_vector_plan(wf_device *device, const wf_vector_params *params, wf_plan **out);

/* ------------------------------------------------------------------------------------- stencil */

/* The Himeno benchmark: 19-point Jacobi relaxation in f32 (RIKEN, Himeno). Arrays are indexed
 * [k][j][i] with i contiguous; ni x nj x nk cells, of which the inner ones are updated. */
typedef struct wf_himeno wf_himeno;

typedef struct wf_himeno_params {
    size_t size;
    uint32_t ni, nj, nk; /* each >= 3 */
    float omega;         /* 0: 0.8 */
    const wf_tuning *tuning;
    const wf_cancel *cancel; /* of wf_himeno_check; NULL: none */
} wf_himeno_params;

/* Host arrays of ni*nj*nk floats each. */
typedef struct wf_himeno_arrays {
    const float *p, *a[4], *b[3], *c[3], *bnd, *wrk1;
} wf_himeno_arrays;

/* Bytes of device memory that the problem needs, about; 0: the parameters are out of range. */
WF_API uint64_t wf_himeno_memory(const wf_himeno_params *params);
/* Allocates the arrays, split into slabs along k where an allocation or a binding would be too
 * large, and compiles. WF_ERROR_TOO_LARGE before anything is allocated; WF_ERROR_INVALID_ARGUMENT,
 * WF_ERROR_UNKNOWN_VARIANT, WF_ERROR_CONSTRAINT, WF_ERROR_UNSUPPORTED (forced variant). */
WF_API wf_result wf_himeno_create(wf_device *device, const wf_himeno_params *params,
                                  wf_himeno **out);
/* Sets the benchmark's own start values; `arrays`, all of which must be given, any. Block. */
WF_API wf_result wf_himeno_start(wf_himeno *himeno);
WF_API wf_result wf_himeno_write(wf_himeno *himeno, const wf_himeno_arrays *arrays);
/* Runs iterations (> 0); *gosa is that of the last one. Seconds are by the device's clock where it has
 * one. gosa, seconds and gpu_clock may be NULL. Blocks. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED: p
 * is then as far as it came. */
WF_API wf_result wf_himeno_run(wf_himeno *himeno, uint32_t iterations, float *gosa, double *seconds,
                               bool *gpu_clock);
/* The same, and gosa (iterations floats, not NULL) is that of every iteration. */
WF_API wf_result wf_himeno_run_each(wf_himeno *himeno, uint32_t iterations, float *gosa,
                                    double *seconds, bool *gpu_clock);
/* Copies p out (ni*nj*nk floats). Blocks. */
WF_API wf_result wf_himeno_read(wf_himeno *himeno, float *p);
/* What was chosen; dispatches are those of a pass. slabs may be NULL. */
WF_API wf_result wf_himeno_describe(const wf_himeno *himeno, wf_plan_info *info, uint32_t *slabs);
WF_API void wf_himeno_destroy(wf_himeno **himeno);

/* Compares p (ni*nj*nk floats) after `iterations` (> 0) from the start values (NULL: the
 * benchmark's own) with the f64 relaxation. The bound follows the rounding errors of each update through
 * the iterations; *gosa_error_over_bound is that of the last iteration's gosa. Start values of the caller's
 * are compared in all cells or, where max_checked is not 0 and smaller, in cubes drawn with `seed`, gosa
 * then being -1. From the benchmark's own all cells and gosa are compared always; past some iterations,
 * where max_checked is not 0, by what is known of them then: each cell's range (check->ranged), sums of
 * all cells with sine waves drawn with `seed`, and gosa. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_CANCELLED,
 * WF_ERROR_OUT_OF_HOST_MEMORY. */
WF_API wf_result wf_himeno_check(const wf_himeno_params *params, const wf_himeno_arrays *start,
                                 uint32_t iterations, const float *p, float gosa,
                                 uint64_t max_checked, uint64_t seed, wf_check *check,
                                 double *gosa_error_over_bound);

/* Star and box stencils with constant coefficients on a grid of two or three dimensions. */
typedef enum wf_stencil_shape {
    WF_STENCIL_STAR = 0, /* neighbours along the axes */
    WF_STENCIL_BOX = 1   /* all cells of the cube (square) around */
} wf_stencil_shape;

typedef enum wf_border {
    WF_BORDER_DIRICHLET = 0, /* the outer `radius` layers of cells keep their values */
    WF_BORDER_NEUMANN = 1,   /* no flux: cells beyond the edge mirror those inside (-1 is 0) */
    WF_BORDER_PERIODIC = 2   /* the grid wraps around */
} wf_border;

/* Bindings of a stencil plan, not overlapping. IN is only read. */
enum { WF_STENCIL_IN = 0, WF_STENCIL_OUT = 1, WF_STENCIL_BINDINGS = 2 };

/* A grid is nx cells a row (contiguous), ny rows a plane, nz planes; an element is at
 * (z * ny + y) * row_stride + x, and those past nx in a row are neither read nor written. */
typedef struct wf_stencil_params {
    size_t size;
    uint32_t nx, ny, nz; /* each at least 2 radius + 1 and at most 2^30; nz 0: two dimensions */
    uint32_t row_stride; /* elements from a row to the next, nx to 2^30; 0: nx */
    wf_stencil_shape shape;
    uint32_t radius; /* 1 to 4; 0: 1 */
    wf_border border;
    /* Read during the call only. F64 computes with them as they are, F32 and F16 rounded to f32; finite
     * then. Star, 1 + 2 radius dimensions of them: the centre's, then for each axis x, y, z and each
     * distance 1 … radius that of the cell before and that of the cell after. Box, (2 radius + 1) to
     * the power of dimensions: in the order of the cells in memory. */
    const double *coefficients;
    uint32_t steps; /* applications a recording makes, each on the last one's result; at most 4096;
                       0: 1 */
    wf_type type;   /* F32, F64, or F16, which is computed with in f32 and rounded each step */
    const wf_tuning *tuning;
    const wf_jobs *jobs;     /* NULL: pipelines are compiled in wf_stencil_plan */
    const wf_cancel *cancel; /* of wf_stencil_check; NULL: none */
} wf_stencil_params;

/* OUT = the stencil applied `steps` times to IN. More than one pass over memory needs a workspace.
 * Variants that make several steps a pass give the same bits as single ones. An array is one range of
 * one buffer; where it is larger than a binding may be (caps.max_storage_range) it is gone through in
 * windows of planes (rows in two dimensions), for which a periodic border needs a workspace too. Does
 * not block and submits nothing. WF_ERROR_INVALID_ARGUMENT (parameters out of range),
 * WF_ERROR_TOO_LARGE (2 radius + 1 planes are over a binding, or a plane needs more work-groups than
 * a dispatch can have), WF_ERROR_UNSUPPORTED (type, forced variant), WF_ERROR_UNKNOWN_VARIANT,
 * WF_ERROR_CONSTRAINT. In wf_plan_info, least_bytes counts a read and a write of each cell a step. */
WF_API wf_result wf_stencil_plan(wf_device *device, const wf_stencil_params *params, wf_plan **out);

/* Compares `out` with the f64 (f64: long double) stencil of `in`, both of the type and laid out as
 * above, in all cells, each by a bound of its own, or, where max_checked is not 0 and smaller, in blocks
 * drawn with `seed` and the one that is farthest off; all others by one bound for all or, where that takes
 * more than about a second, by their range (check->ranged).
 * The bound of a step over n coefficients is gamma_2n |C||x|, and for F16 the rounding of the result,
 * carried through the steps. WF_ERROR_INVALID_ARGUMENT, WF_ERROR_UNSUPPORTED (type), WF_ERROR_CANCELLED. */
WF_API wf_result wf_stencil_check(const wf_stencil_params *params, const void *in, const void *out,
                                  uint64_t max_checked, uint64_t seed, wf_check *check);

/* Solves Laplace's equation on a grid of two dimensions with fixed border values: the mean of its four
 * neighbours is every inner cell's value (five-point differences). */
typedef enum wf_laplace_method {
    WF_LAPLACE_SOR = 0,   /* successive over-relaxation in red-black order (Young 1954) */
    WF_LAPLACE_JACOBI = 1 /* by a star stencil's plan, several iterations a pass where that pays */
} wf_laplace_method;

typedef enum wf_laplace_status {
    WF_LAPLACE_CONVERGED = 0,
    WF_LAPLACE_MAX_ITERATIONS = 1, /* the tolerance was not met */
    WF_LAPLACE_STAGNATED = 2,      /* the type's rounding keeps the residual where it is */
    WF_LAPLACE_NOT_FINITE = 3,     /* an overflow; u is of no use */
    WF_LAPLACE_CANCELLED = 4,      /* a callback asked to stop */
    WF_LAPLACE_INACCURATE = 5      /* the device found the end, but true_residual is over it */
} wf_laplace_status;

/* Called now and then with the last check's outcome. False: stop; u gets what there is. */
typedef bool (*wf_laplace_fn)(void *user, uint32_t iterations, double residual);

/* r is, of each inner cell, the sum of its neighbours less four times itself; b what of the border's
 * values is in these sums. The device adds up |r| every check_every iterations and finds the end by
 * itself; the host looks only after several checks, while the next ones are already under way. Every
 * run gives the same bits. */
typedef struct wf_laplace_params {
    size_t size;
    uint32_t nx, ny; /* cells a row, rows; borders included; 3 to 2^20 each */
    wf_type type;    /* F32 or F64 */
    wf_laplace_method method;
    double tolerance;        /* of |r| / |b|; 0: 1e-4 in f32, 1e-10 in f64 */
    double omega;            /* of SOR, between 0 and 2; 0: the best one of this grid */
    uint32_t max_iterations; /* at most 2^24; 0: 10 million */
    uint32_t check_every;    /* at most 4096; 0: by the grid's size */
    double *history;         /* history_room elements: |r| / |b| of each check; NULL: not kept */
    uint32_t history_room;   /* checks beyond it are not kept */
    const wf_tuning *tuning; /* of Jacobi's stencil */
    wf_laplace_fn progress;  /* NULL: none */
    void *user;
} wf_laplace_params;

typedef struct wf_laplace_result {
    size_t size;
    wf_laplace_status status;
    uint32_t iterations;
    uint32_t checks, check_every;
    double residual; /* |r| / |b| at the last check */
    /* The same of the u returned, worked out on the host in long double. Of what has converged it is at
     * most tolerance (1 + min(gamma_n, 1)) + gamma_4 |s| / |b|: n cells, s of each the sum of the magnitudes
     * of its neighbours and of four times itself. */
    double true_residual;
    double omega;        /* SOR: that was used */
    double iteration_us; /* mean, the checks' share included; the first batch as in wf_cg_result */
    bool gpu_clock;
    wf_plan_info stencil; /* Jacobi: the plan of check_every iterations */
} wf_laplace_result;

/* u: ny rows of nx elements of the type on the host: the border's values, which stay, and where the
 * inner cells start and end. WF_ERROR_CANCELLED leaves u and *result as far as the solver came; other
 * errors leave both. WF_ERROR_INVALID_ARGUMENT (extents, a value that is not finite, parameters out of
 * range), WF_ERROR_TOO_LARGE, WF_ERROR_UNSUPPORTED (type), and for Jacobi what wf_stencil_plan
 * returns. Blocks. */
WF_API wf_result wf_laplace_solve(wf_device *device, const wf_laplace_params *params, void *u,
                                  wf_laplace_result *result);

/* -------------------------------------------------------------------------------------- tuning */

/* A device finds what was measured on it before in a file of its own in cache_directory (schema
 * "wavefit-tuning/2", bench/tuning.md), read at the first plan. A file that is damaged, of another
 * wavefit's schema or not readable is named in a warning and left alone. Rows of another driver or
 * of other shaders are where a search begins, and nothing more. */

/* The file's path; NULL: nowhere. Lives as long as the device. */
WF_API const char *wf_tuning_path(wf_device *device);

/* Adds tuning data, as `wavefit tune` keeps or exports them, for plans made from now on.
 * WF_ERROR_INVALID_ARGUMENT (not of the schema, or no such file), WF_ERROR_UNSUPPORTED (of another
 * device). Nothing is added then. */
WF_API wf_result wf_tuning_load(wf_device *device, const void *data, size_t bytes);
WF_API wf_result wf_tuning_load_file(wf_device *device, const char *path);

/* One row of what this device keeps. */
typedef struct wf_tuning_row {
    size_t size;
    wf_family family;
    wf_type type;
    char problem[64]; /* that was tuned */
    char variant[32];
    uint32_t constant_count;
    char constant_names[WF_MAX_PARAMETERS][32];
    uint32_t constant_values[WF_MAX_PARAMETERS];
    double time_us;      /* median of one execution */
    double spread;       /* (q3 - q1) / median */
    uint32_t tried, bad; /* points measured; points that failed or were wrong */
    bool finished;       /* the search ended before its budget */
    bool current;        /* of this driver and these shaders; else a hint to the search alone */
    uint32_t level;      /* WF_TUNING_MEASURED, …_DEVICE_ROWS or …_ARCHITECTURE_ROWS */
} wf_tuning_row;

/* WF_ERROR_INVALID_ARGUMENT beyond the last row. */
WF_API wf_result wf_tuning_row_get(wf_device *device, uint32_t index, wf_tuning_row *row);

/* The same of the rows that ship with wavefit for this device, and behind them for its architecture.
 * They are current when they were made with these shaders, whatever the driver. */
WF_API wf_result wf_tuning_shipped_get(wf_device *device, uint32_t index, wf_tuning_row *row);

/* The current rows as text to check in under src/choose/devices/ or to give to wf_tuning_load. On
 * entry *bytes is the room in text (NULL: none), on return the text's length; written only if it
 * fits. */
WF_API wf_result wf_tuning_export(wf_device *device, char *text, size_t *bytes);

/* Removes what the file keeps of a family (WF_FAMILY_COUNT: the file itself, damaged or not) and
 * what the device has of it. WF_ERROR_UNSUPPORTED: it cannot be written; the log says why. */
WF_API wf_result wf_tuning_forget(wf_device *device, wf_family family);

typedef struct wf_tune_progress {
    const char *stage; /* "compiling" (several points), "listing", "measuring", "deciding" */
    double fraction;   /* of the budget, or of the points of an exhaustive search */
    uint32_t measured; /* points so far */
    double best_us;    /* 0: none yet */
    char trying[256];  /* "variant a=1 b=2" */
    char best[256];
} wf_tune_progress;

/* Called before every point is tried and now and then between. False: stop; what was learned is
 * kept. */
typedef bool (*wf_tune_fn)(void *user, const wf_tune_progress *progress);

/* Exactly one of the problems is given; its own `tuning` is not looked at. */
typedef struct wf_tune_params {
    size_t size;
    const wf_matmul_params *matmul;
    const wf_spmv_params *spmv;
    const wf_himeno_params *himeno;
    double budget_seconds; /* 0: 60 s */
    bool exhaustive;       /* every legal point, in random order, until the budget ends */
    bool again;            /* measure points that earlier searches have measured */
    bool discard;          /* keep nothing: neither on disk nor for later plans */
    uint64_t seed;         /* of the inputs and of the points drawn */
    wf_tune_fn progress;   /* NULL: none */
    void *user;
    const wf_stencil_params *stencil; /* a further problem: star and box stencils */
    /* NULL: kernels are compiled one after another. Else those of several points side by side, before
     * the first of these is timed; the search waits for its jobs, which must run on other threads. */
    const wf_jobs *jobs;
    /* Only points of this variant, with these constants, are looked at; what is found is then of a part
     * alone, and kept nowhere; where the model's values do not go with these, the search begins at the legal
     * point that differs from them in the fewest. NULL: all points. Its other members are not looked at. */
    const wf_tuning *within;
} wf_tune_params;

typedef struct wf_tune_result {
    size_t size;
    wf_plan_info best;   /* chosen_by is "tuned" */
    double best_us;      /* median of the decision's samples */
    double spread;       /* (q3 - q1) / median of these */
    wf_plan_info before; /* what wavefit would have chosen without the search */
    double before_us;    /* in the same decision; 0: it did not run */
    uint32_t measured;   /* points timed in this search */
    uint32_t wrong;      /* points whose result was wrong or that failed to run; not used */
    uint64_t legal;      /* points there are */
    bool finished;       /* no better point is in reach: the search ended before its budget */
    bool kept;           /* in the file; else the log has why */
    uint32_t spilling;   /* points left untimed, since their registers spill into memory */
} wf_tune_result;

/* Searches for the fastest legal point of the problem on this device: from the choice that wavefit
 * makes by itself, every variant's model values and what is known of like problems; then around the
 * best of these; by successive halving (Karnin, Koren, Somekh 2013), then in an interleaved re-run of
 * the finalists, where the choice made before keeps its place unless it is beaten by more than the
 * spread. A point's result is verified before the point may win: one that is slower than the best need
 * not be. On a device opened with
 * capture_statistics, points whose kernels the driver says to spill registers are not timed, but for
 * the choice made before and in an exhaustive search. Points that end the process or hang it
 * are left out by the next search: a journal beside the file has them (where several were being
 * compiled, that search compiles one by one, to find out which); a caller who wants to outlive these
 * searches in a child process, as the tool does. Blocks; uses the device's own queue. One
 * search a device at a time (WF_ERROR_UNSUPPORTED). WF_ERROR_CANCELLED: this callback or the device's
 * `cancelled`, which is asked between submissions, said so; *result is filled as far as the search
 * came (best_us 0: nothing was measured). A caller who ends the searching process itself, and not
 * because of a point, empties the journal: wf_tuning_path with ".search" behind it. Otherwise what
 * the plan's functions return. */
WF_API wf_result wf_tune(wf_device *device, const wf_tune_params *params, wf_tune_result *result);

#define WF_TUNE_MOST_RIVALS 8

/* Times what each of `count` (at most WF_TUNE_MOST_RIVALS) tunings leads to for the problem of
 * params, verified, in turn, round after round, for the budget, and for up to four times that while it
 * is not yet clear to 1 % how the better ones stand to each other; equal choices share a time. us[i] is the
 * fastest's median of one execution times the median, over the rounds, of what i took to what the
 * fastest took in the same round, so that other work on the machine, which meets all alike, cancels; 0
 * where a tuning is not possible here. noise[i] (NULL: not wanted) is that ratio's uncertainty, the quartiles'
 * distance over the root of the rounds; 0 for the fastest. infos[i] says what it is. Blocks. Codes as
 * wf_tune. */
WF_API wf_result wf_tune_compare(wf_device *device, const wf_tune_params *params,
                                 const wf_tuning *tunings, uint32_t count, wf_plan_info *infos,
                                 double *us, double *noise);

#ifdef __cplusplus
}
#endif

#endif
