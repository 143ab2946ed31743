/* A Vulkan driver for tests: another one (REAL_ICD) behind functions that fail when they are told
 * to. A call that fails is not made; what it would have written is then undefined, and holds what
 * is no handle, unless Vulkan says that it is null. The driver counts calls and the objects that
 * exist, and ends the process where one is destroyed that it never made.
 * A test in the same process tells it by faulty.h. Another program's environment does:
 *   WAVEFIT_FAULTY="FUNCTION N CODE"   the N-th call fails with that VkResult
 *   WAVEFIT_FAULTY="FUNCTION N CODE+"  and the device, which CODE says is lost, stays so
 *   WAVEFIT_FAULTY="FUNCTION K@PLACE CODE"  the K-th call at that place fails (places.h), and
 *                                      likewise with "+"
 *   WAVEFIT_FAULTY_PLACES=1            the counts have a line for each place
 *   WAVEFIT_FAULTY_COUNT=FILE          the counts are appended to FILE when an instance is
 *                                      destroyed and when the process ends
 *   WAVEFIT_CLOCK="wraps|stands|none|backwards"  of timestamps: the 36 bits that they have are full
 *                                      within the first pair; all are the same; the device has
 *                                      none; the second of a pair is before the first
 *   WAVEFIT_LESS="WHAT N"              the device has less than it announces: allocation,
 *                                      buffer (bytes of one), allocations (that exist at once),
 *                                      sets (descriptor sets of a pool), group (work-items of a
 *                                      pipeline's work-groups), queries (of a pool), memory (bytes
 *                                      in all), map (bytes of an allocation that is mapped); what
 *                                      asks for more than N fails, but mapping "succeeds" with the
 *                                      address by which mmap fails, as lavapipe's does
 *   WAVEFIT_FAULTY_DISCRETE=1          the device says that it is a discrete GPU, and when it is
 *                                      lost it has ended its work
 *   WAVEFIT_FAULTY_BEHIND=FILE         the other driver, in place of REAL_ICD: a library */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include "faulty.h"
#include "places.h"

#define EXPORT __attribute__((visibility("default")))
#define NO_HANDLE UINT64_C(0xbadbadbadbadbad0)
#define TICK_BITS 36
#define TICKS ((UINT64_C(1) << TICK_BITS) - 1)

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
EXPORT faulty *wavefit_faulty(void);
EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);

#define CODES(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
static faulty_call calls[FAULTY_CALLS] = {
#define CALL(name, codes, output, parameters, arguments) {#name, codes, false},
#include "calls.def"
#undef CALL
};
static const char *const objects[FAULTY_OBJECTS] = {
#define OBJECT(type, make, destroy) #type,
#include "objects.def"
#undef OBJECT
};
static faulty state = {.calls = calls, .objects = objects, .call = -1};

faulty *wavefit_faulty(void)
{
    return &state;
}

static struct {
#define CALL(name, codes, output, parameters, arguments) PFN_##name name;
#include "calls.def"
#undef CALL
#define OBJECT(type, make, destroy) PFN_##destroy destroy;
#include "objects.def"
#undef OBJECT
    PFN_vkGetInstanceProcAddr instance_proc;
    PFN_vkGetDeviceProcAddr device_proc;
    PFN_vkDestroyDevice vkDestroyDevice;
    PFN_vkDestroyInstance vkDestroyInstance;
    PFN_vkGetPhysicalDeviceProperties2 properties;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties families;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties2 families2;
} real;

static VkDevice last_device;
static faulty_at asked_place;

static bool discrete(void)
{
    return getenv("WAVEFIT_FAULTY_DISCRETE") != NULL;
}

/* VK_SUCCESS unless this call is to fail. */
static VkResult fault_of(int call)
{
    faulty *f = &state;
    if (!atomic_load(&f->on))
        return VK_SUCCESS;
    const unsigned n = atomic_fetch_add(&f->count[call], 1) + 1;
    const bool is_there =
        (asked_place.k == 0 || call == f->call) && faulty_place(call, &asked_place);
    if (atomic_load(&f->is_lost) && calls[call].loses_device)
        return VK_ERROR_DEVICE_LOST;
    if (call != f->call || (asked_place.k ? !is_there : n != f->at))
        return VK_SUCCESS;
    atomic_fetch_add(&f->failed, 1);
    if (f->code == VK_ERROR_DEVICE_LOST && last_device && (f->stays || discrete()))
        real.vkDeviceWaitIdle(last_device); /* a lost device works no more */
    if (f->code == VK_ERROR_DEVICE_LOST && f->stays)
        atomic_store(&f->is_lost, true);
    return f->code;
}

/* ----------------------------------------------------------------------------- calls that fail */

static void change_objects(int call, VkResult result)
{
#define OBJECT(type, make, destroy)                                                                \
    if (call == FAULTY_##make && result == VK_SUCCESS)                                             \
        atomic_fetch_add(&state.alive[FAULTY_##type], 1);
#include "objects.def"
#undef OBJECT
}

static void spoil(void *out)
{
    const uint64_t no_handle = NO_HANDLE;
    memcpy(out, &no_handle, sizeof no_handle);
}

/* What becomes of the output of a call that fails: it stays; it is no handle; it is null; a list
 * has no element. NONE and WAITED make the call where it cannot return that code. */
#define KEPT
#define SPOILT spoil((void *)out);
#define EMPTIED(handles) memset((void *)out, 0, (handles) * sizeof *out);
#define NONE(count, list)                                                                          \
    if (fault == VK_INCOMPLETE && !(list))                                                         \
        fault = VK_SUCCESS;                                                                        \
    else if (fault == VK_INCOMPLETE)                                                               \
        *(count) = 0;
#define WAITED(timeout)                                                                            \
    if (fault == VK_TIMEOUT && (timeout) == UINT64_MAX)                                            \
        fault = VK_SUCCESS;

#define CALL(name, codes, output, parameters, arguments)                                           \
    static VKAPI_ATTR VkResult VKAPI_CALL our_##name parameters                                    \
    {                                                                                              \
        VkResult fault = fault_of(FAULTY_##name);                                                  \
        if (fault != VK_SUCCESS) {                                                                 \
            output                                                                                 \
        }                                                                                          \
        if (fault != VK_SUCCESS)                                                                   \
            return fault;                                                                          \
        const VkResult result = real.name arguments;                                               \
        change_objects(FAULTY_##name, result);                                                     \
        return result;                                                                             \
    }
#include "calls.def"
#undef CALL

#define OBJECT(type, make, destroy)                                                                \
    static VKAPI_ATTR void VKAPI_CALL our_##destroy(VkDevice device, type object,                  \
                                                    const VkAllocationCallbacks *allocator)        \
    {                                                                                              \
        uint64_t handle = 0;                                                                       \
        memcpy(&handle, &object, sizeof object);                                                   \
        if (handle == NO_HANDLE) {                                                                 \
            fprintf(stderr, "faulty driver: %s of what was not made\n", #destroy);                 \
            abort();                                                                               \
        }                                                                                          \
        if (handle)                                                                                \
            atomic_fetch_sub(&state.alive[FAULTY_##type], 1);                                      \
        real.destroy(device, object, allocator);                                                   \
    }
#include "objects.def"
#undef OBJECT

static VKAPI_ATTR void VKAPI_CALL our_vkDestroyDevice(VkDevice device,
                                                      const VkAllocationCallbacks *allocator)
{
    if (device == last_device)
        last_device = VK_NULL_HANDLE;
    real.vkDestroyDevice(device, allocator);
}

/* ---------------------------------------------------------------------- less than is announced */

static struct {
    char what[32];
    unsigned long long most;
} less;

static bool over(const char *what, unsigned long long asked)
{
    const bool is_over = strcmp(less.what, what) == 0 && asked > less.most;
    if (is_over)
        atomic_fetch_add(&state.failed, 1);
    return is_over;
}

static struct {
    VkDeviceMemory memory;
    VkDeviceSize bytes;
} held[4096];
static atomic_ullong held_bytes;

/* One thread at a time allocates: wavefit has a lock. */
static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDeviceMemory *out)
{
    const int alive = atomic_load(&state.alive[FAULTY_VkDeviceMemory]);
    if (over("allocation", info->allocationSize) ||
        over("memory", atomic_load(&held_bytes) + info->allocationSize)) {
        spoil(out);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (over("allocations", (unsigned)alive + 1)) {
        spoil(out);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    const VkResult result = our_vkAllocateMemory(device, info, allocator, out);
    for (int i = 0; i < 4096 && result == VK_SUCCESS; i++)
        if (!held[i].memory) {
            held[i].memory = *out;
            held[i].bytes = info->allocationSize;
            atomic_fetch_add(&held_bytes, info->allocationSize);
            break;
        }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *allocator)
{
    for (int i = 0; i < 4096 && memory; i++)
        if (held[i].memory == memory) {
            held[i].memory = VK_NULL_HANDLE;
            atomic_fetch_sub(&held_bytes, held[i].bytes);
        }
    our_vkFreeMemory(device, memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize bytes,
                                          VkMemoryMapFlags flags, void **out)
{
    const VkResult result = our_vkMapMemory(device, memory, offset, bytes, flags, out);
    for (int i = 0; i < 4096 && result == VK_SUCCESS; i++)
        if (held[i].memory == memory && over("map", held[i].bytes))
            *out = (void *)UINTPTR_MAX;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *out)
{
    if (!over("buffer", info->size))
        return our_vkCreateBuffer(device, info, allocator, out);
    spoil(out);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_queries(VkDevice device,
                                                     const VkQueryPoolCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkQueryPool *out)
{
    if (!over("queries", info->queryCount))
        return our_vkCreateQueryPool(device, info, allocator, out);
    spoil(out);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_sets(VkDevice device,
                                                  const VkDescriptorPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkDescriptorPool *out)
{
    if (!over("sets", info->maxSets))
        return our_vkCreateDescriptorPool(device, info, allocator, out);
    spoil(out);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* All shaders of wavefit's take their work-groups' sizes from the constants 0, 1 and 2. */
static unsigned long long group_of(const VkSpecializationInfo *constants)
{
    unsigned long long items = 1;
    for (uint32_t i = 0; constants && i < constants->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &constants->pMapEntries[i];
        uint32_t value = 1;
        if (entry->constantID < 3 && entry->size == sizeof value)
            memcpy(&value, (const char *)constants->pData + entry->offset, sizeof value);
        items *= value;
    }
    return items;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache,
                                                       uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkPipeline *out)
{
    for (uint32_t i = 0; i < count; i++)
        if (over("group", group_of(infos[i].stage.pSpecializationInfo))) {
            memset((void *)out, 0, count * sizeof *out);
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
    return our_vkCreateComputePipelines(device, cache, count, infos, allocator, out);
}

/* --------------------------------------------------------------------------------------- clocks */

static VKAPI_ATTR VkResult VKAPI_CALL times(VkDevice device, VkQueryPool pool, uint32_t first,
                                            uint32_t count, size_t bytes, void *data,
                                            VkDeviceSize stride, VkQueryResultFlags flags)
{
    const char *clock = getenv("WAVEFIT_CLOCK");
    uint64_t *ticks = data; /* pairs of 64 bits */
    const VkResult result =
        our_vkGetQueryPoolResults(device, pool, first, count, bytes, data, stride, flags);
    for (uint32_t i = 0; clock && result == VK_SUCCESS && i + 1 < count; i += 2) {
        const uint64_t taken = ticks[i + 1] - ticks[i];
        if (strcmp(clock, "wraps") == 0) {
            ticks[i] = TICKS;
            ticks[i + 1] = (TICKS + taken) & TICKS;
        } else if (strcmp(clock, "stands") == 0) {
            ticks[i] = ticks[i + 1] = 12345;
        } else if (strcmp(clock, "backwards") == 0) {
            ticks[i + 1] = 12345;
            ticks[i] = 12345 + taken;
        }
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceProperties2 *out)
{
    real.properties(device, out);
    if (discrete())
        out->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

static uint32_t tick_bits(uint32_t bits)
{
    const char *clock = getenv("WAVEFIT_CLOCK");
    if (clock && strcmp(clock, "none") == 0)
        return 0;
    return clock && bits > TICK_BITS ? TICK_BITS : bits;
}

static VKAPI_ATTR void VKAPI_CALL families(VkPhysicalDevice device, uint32_t *count,
                                           VkQueueFamilyProperties *list)
{
    real.families(device, count, list);
    for (uint32_t i = 0; list && i < *count; i++)
        list[i].timestampValidBits = tick_bits(list[i].timestampValidBits);
}

static VKAPI_ATTR void VKAPI_CALL families2(VkPhysicalDevice device, uint32_t *count,
                                            VkQueueFamilyProperties2 *list)
{
    real.families2(device, count, list);
    for (uint32_t i = 0; list && i < *count; i++)
        list[i].queueFamilyProperties.timestampValidBits =
            tick_bits(list[i].queueFamilyProperties.timestampValidBits);
}

/* ------------------------------------------------------------------ the environment, the counts */

__attribute__((constructor)) static void read_environment(void)
{
    char name[64] = "", stays = '\0';
    int code = 0, length = 0;
    const char *asked = getenv("WAVEFIT_FAULTY"), *has = getenv("WAVEFIT_LESS");
    if (has && sscanf(has, "%31s %llu", less.what, &less.most) != 2)
        abort();
    for (int i = 0; i < FAULTY_CALLS; i++)
        for (int n = 0; n < FAULTY_MOST_CODES; n++)
            calls[i].loses_device |= calls[i].codes[n] == VK_ERROR_DEVICE_LOST;
    atomic_store(&state.on, asked || getenv("WAVEFIT_FAULTY_COUNT"));
    if (!asked || sscanf(asked, "%63s %n", name, &length) < 1)
        return;
    const int place = faulty_at_read(asked + length, &asked_place);
    if (place > 0 ? sscanf(asked + length + place, "%d%c", &code, &stays) < 1
                  : sscanf(asked + length, "%u %d%c", &state.at, &code, &stays) < 2)
        abort();
    state.code = (VkResult)code;
    state.stays = stays == '+';
    for (int i = 0; i < FAULTY_CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            state.call = i;
}

static const char *call_name(int call)
{
    return calls[call].name;
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("WAVEFIT_FAULTY_COUNT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    for (int i = 0; i < FAULTY_CALLS; i++) {
        fprintf(file, "call %s %u", calls[i].name, atomic_load(&state.count[i]));
        for (int n = 0; n < FAULTY_MOST_CODES && calls[i].codes[n] != VK_SUCCESS; n++)
            fprintf(file, " %d", calls[i].codes[n]);
        fputc('\n', file);
    }
    for (int i = 0; i < FAULTY_OBJECTS; i++)
        if (atomic_load(&state.alive[i]))
            fprintf(file, "left %s %d\n", objects[i], atomic_load(&state.alive[i]));
    faulty_places_write(file, call_name);
    fprintf(file, "failed %u\n", atomic_load(&state.failed));
    fclose(file);
}

static VKAPI_ATTR void VKAPI_CALL our_vkDestroyInstance(VkInstance instance,
                                                        const VkAllocationCallbacks *allocator)
{
    real.vkDestroyInstance(instance, allocator);
    write_counts();
}

/* ----------------------------------------------------------------------------------- the loader */

/* Ours in place of the driver's function, which is kept. */
static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found)
{
#define TAKE(called, kept, ours)                                                                   \
    if (found && strcmp(name, called) == 0) {                                                      \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }
    TAKE("vkGetQueryPoolResults", real.vkGetQueryPoolResults, times)
    TAKE("vkAllocateMemory", real.vkAllocateMemory, allocate)
    TAKE("vkFreeMemory", real.vkFreeMemory, free_memory)
    TAKE("vkMapMemory", real.vkMapMemory, map)
    TAKE("vkCreateBuffer", real.vkCreateBuffer, create_buffer)
    TAKE("vkCreateQueryPool", real.vkCreateQueryPool, create_queries)
    TAKE("vkCreateDescriptorPool", real.vkCreateDescriptorPool, create_sets)
    TAKE("vkCreateComputePipelines", real.vkCreateComputePipelines, create_pipelines)
#define CALL(name, codes, output, parameters, arguments) TAKE(#name, real.name, our_##name)
#include "calls.def"
#undef CALL
#define OBJECT(type, make, destroy) TAKE(#destroy, real.destroy, our_##destroy)
#include "objects.def"
#undef OBJECT
    TAKE("vkDestroyInstance", real.vkDestroyInstance, our_vkDestroyInstance)
    TAKE("vkDestroyDevice", real.vkDestroyDevice, our_vkDestroyDevice)
    TAKE("vkGetPhysicalDeviceProperties2", real.properties, properties)
    TAKE("vkGetPhysicalDeviceProperties2KHR", real.properties, properties)
    TAKE("vkGetPhysicalDeviceQueueFamilyProperties", real.families, families)
    TAKE("vkGetPhysicalDeviceQueueFamilyProperties2", real.families2, families2)
    TAKE("vkGetPhysicalDeviceQueueFamilyProperties2KHR", real.families2, families2)
    return found;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    last_device = device;
    return replaced(name, real.device_proc(device, name));
}

static PFN_vkVoidFunction symbol(const char *name)
{
    static void *library;
    PFN_vkVoidFunction function = NULL;
    const char *behind = getenv("WAVEFIT_FAULTY_BEHIND");
    if (!library)
        library = dlopen(behind ? behind : REAL_ICD, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(&function, &found, sizeof function);
    return function;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!real.instance_proc)
        real.instance_proc = (PFN_vkGetInstanceProcAddr)symbol("vk_icdGetInstanceProcAddr");
    if (!real.instance_proc)
        return NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real.device_proc = (PFN_vkGetDeviceProcAddr)real.instance_proc(instance, name);
        return (PFN_vkVoidFunction)device_proc;
    }
    return replaced(name, real.instance_proc(instance, name));
}

PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    typedef PFN_vkVoidFunction (*get_proc)(VkInstance, const char *);
    const get_proc get = (get_proc)symbol("vk_icdGetPhysicalDeviceProcAddr");
    return replaced(name, get ? get(instance, name) : NULL);
}

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    typedef VkResult (*negotiate)(uint32_t *);
    const negotiate get = (negotiate)symbol("vk_icdNegotiateLoaderICDInterfaceVersion");
    return get ? get(version) : VK_ERROR_INCOMPATIBLE_DRIVER;
}
