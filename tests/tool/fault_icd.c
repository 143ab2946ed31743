/* A Vulkan driver for tests: lavapipe (REAL_ICD), but making a compute pipeline whose
 * specialization constant ID has VALUE, as WAVEFIT_FAULT="crash|exit|hang|lost|refuse ID VALUE"
 * asks, crashes, ends the process, fails with VK_ERROR_UNKNOWN, never returns (and then writes the
 * process's number into the file WAVEFIT_FAULT_MARK), or loses the device; with "dead N" every
 * submission after more than N dispatches were recorded loses it; its memory budget is
 * WAVEFIT_BUDGET bytes; and with WAVEFIT_FAIL="FUNCTION N CODE" the N-th call of vkQueueSubmit,
 * vkWaitForFences or vkQueueWaitIdle fails with that VkResult, with "N+" each from the N-th on; a
 * part of the name, "Wait", stands for all that have it. A wait that fails has not waited; a
 * submission that fails with VK_ERROR_DEVICE_LOST was made all the same, as Vulkan allows. The
 * calls are counted in the file WAVEFIT_FAIL_COUNT. WAVEFIT_SLOW="COUNT FACTOR": the first COUNT
 * times that are asked of it are FACTOR times as long, as beside busy neighbours.
 * WAVEFIT_OVERWRITE="BYTES NUMBER WORD": whenever the device is done, this word of the buffer that
 * was made as the NUMBER-th (from 0) of those of so many bytes is 1000.0f; its memory must be
 * mapped before it is bound. A fence that is asked for its status is not signalled yet, so that
 * each wait is one of vkWaitForFences, unless "vkGetFenceStatus" is to fail. WAVEFIT_DISCRETE: the
 * device says that it is a discrete GPU. WAVEFIT_LOST_GROUP="N FIRST": of a dispatch of N
 * work-groups along x the last ones along x do not run, from the FIRST-th dispatch on. */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);

static PFN_vkGetInstanceProcAddr real_instance_proc;
static PFN_vkGetDeviceProcAddr real_device_proc;
static PFN_vkCreateComputePipelines real_create;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkCmdDispatch real_dispatch;
static unsigned dispatched;
static PFN_vkCreateBuffer real_buffer;
static PFN_vkBindBufferMemory real_bind;
static PFN_vkMapMemory real_map;
static PFN_vkGetQueryPoolResults real_times;
static VkBuffer victim; /* of WAVEFIT_OVERWRITE */
static float *victim_words;
static unsigned victims_before, times_asked;
/* Where memory is mapped, the latest ones. */
enum { MAPPINGS = 256 };
static struct mapping {
    VkDeviceMemory memory;
    char *at;
} mappings[MAPPINGS];
static unsigned mapped;

/* An object pointer made a function pointer, as POSIX allows and ISO C does not say. */
static PFN_vkVoidFunction symbol(const char *name)
{
    static void *library;
    PFN_vkVoidFunction function = NULL;
    if (!library)
        library = dlopen(REAL_ICD, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(&function, &found, sizeof function);
    return function;
}

static int has_value(const VkSpecializationInfo *info, uint32_t id, uint32_t value)
{
    for (uint32_t i = 0; info && i < info->mapEntryCount; i++) {
        uint32_t there;
        memcpy(&there, (const char *)info->pData + info->pMapEntries[i].offset, sizeof there);
        if (info->pMapEntries[i].constantID == id && there == value)
            return 1;
    }
    return 0;
}

static void hang(void)
{
    const char *mark = getenv("WAVEFIT_FAULT_MARK");
    FILE *file = mark ? fopen(mark, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)getpid());
        fclose(file);
    }
    for (;;)
        pause();
}

static VKAPI_ATTR VkResult VKAPI_CALL create(VkDevice device, VkPipelineCache cache, uint32_t count,
                                             const VkComputePipelineCreateInfo *infos,
                                             const VkAllocationCallbacks *allocator,
                                             VkPipeline *pipelines)
{
    char kind[16] = "";
    unsigned id = 0, value = 0;
    const char *fault = getenv("WAVEFIT_FAULT");
    if (fault && sscanf(fault, "%15s %u %u", kind, &id, &value) == 3 &&
        has_value(infos[0].stage.pSpecializationInfo, id, value)) {
        if (strcmp(kind, "crash") == 0)
            raise(SIGSEGV);
        if (strcmp(kind, "hang") == 0)
            hang();
        if (strcmp(kind, "exit") == 0)
            _exit(3);
        if (strcmp(kind, "refuse") == 0)
            return VK_ERROR_UNKNOWN;
        return VK_ERROR_DEVICE_LOST;
    }
    return real_create(device, cache, count, infos, allocator, pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL make_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkBuffer *buffer)
{
    unsigned long long bytes = 0;
    unsigned number = 0;
    const char *fault = getenv("WAVEFIT_OVERWRITE");
    const VkResult result = real_buffer(device, info, allocator, buffer);
    if (fault && sscanf(fault, "%llu %u", &bytes, &number) == 2 && info->size == bytes &&
        victims_before++ == number)
        victim = *buffer;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **data)
{
    const VkResult result = real_map(device, memory, offset, size, flags, data);
    if (result == VK_SUCCESS)
        mappings[mapped++ % MAPPINGS] = (struct mapping){memory, *data};
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset)
{
    for (unsigned i = 0; buffer == victim && i < MAPPINGS; i++)
        if (mappings[i].memory == memory)
            victim_words = (float *)(mappings[i].at + offset);
    return real_bind(device, buffer, memory, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL times(VkDevice device, VkQueryPool pool, uint32_t first,
                                            uint32_t count, size_t bytes, void *data,
                                            VkDeviceSize stride, VkQueryResultFlags flags)
{
    unsigned slow = 0, factor = 1;
    uint64_t *ticks = data;
    const char *fault = getenv("WAVEFIT_SLOW");
    const VkResult result = real_times(device, pool, first, count, bytes, data, stride, flags);
    if (fault && sscanf(fault, "%u %u", &slow, &factor) == 2 && count == 2 && times_asked++ < slow)
        ticks[1] = ticks[0] + (ticks[1] - ticks[0]) * factor;
    return result;
}

enum { SUBMIT, WAIT, IDLE, STATUS, FUNCTIONS };
static const char *const functions[FUNCTIONS] = {"vkQueueSubmit", "vkWaitForFences",
                                                 "vkQueueWaitIdle", "vkGetFenceStatus"};
static PFN_vkVoidFunction real_functions[FUNCTIONS];
static atomic_uint calls[FUNCTIONS];

/* Counts the call; VK_SUCCESS unless it is one that is to fail. */
static VkResult fault_of(int function)
{
    char name[32] = "", from_there_on = '\0';
    unsigned at = 0;
    int code = 0;
    const unsigned call = atomic_fetch_add(&calls[function], 1) + 1;
    const char *fail = getenv("WAVEFIT_FAIL");
    if (!fail || sscanf(fail, "%31s %u%c %d", name, &at, &from_there_on, &code) != 4 ||
        !strstr(functions[function], name))
        return VK_SUCCESS;
    return call == at || (from_there_on == '+' && call > at) ? (VkResult)code : VK_SUCCESS;
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("WAVEFIT_FAIL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < FUNCTIONS; i++)
        fprintf(file, "%s %u\n", functions[i], atomic_load(&calls[i]));
    if (file)
        fclose(file);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    const char *lost = getenv("WAVEFIT_LOST_GROUP");
    unsigned groups = 0, first = 0;
    dispatched++;
    if (lost && sscanf(lost, "%u %u", &groups, &first) >= 1 && x == groups && dispatched > first)
        x--;
    real_dispatch(commands, x, y, z);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo *submits, VkFence fence)
{
    const PFN_vkQueueSubmit real = (PFN_vkQueueSubmit)real_functions[SUBMIT];
    const VkResult fault = fault_of(SUBMIT);
    const char *dead = getenv("WAVEFIT_FAULT");
    unsigned most = 0;
    if (dead && sscanf(dead, "dead %u", &most) == 1 && dispatched > most)
        return VK_ERROR_DEVICE_LOST;
    if (fault == VK_SUCCESS || fault == VK_ERROR_DEVICE_LOST) {
        const VkResult result = real(queue, count, submits, fence);
        return fault == VK_SUCCESS ? result : fault;
    }
    return fault;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count,
                                                      const VkFence *fences, VkBool32 all,
                                                      uint64_t timeout)
{
    const PFN_vkWaitForFences real = (PFN_vkWaitForFences)real_functions[WAIT];
    const VkResult fault = fault_of(WAIT);
    unsigned word = 0;
    const char *overwrite = getenv("WAVEFIT_OVERWRITE");
    const VkResult result = fault == VK_SUCCESS ? real(device, count, fences, all, timeout) : fault;
    if (overwrite && victim_words && sscanf(overwrite, "%*u %*u %u", &word) == 1)
        victim_words[word] = 1000.0f;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkQueue queue)
{
    const PFN_vkQueueWaitIdle real = (PFN_vkQueueWaitIdle)real_functions[IDLE];
    const VkResult fault = fault_of(IDLE);
    /* A GPU that is lost has ended its work, and what it used may be freed. */
    if (fault == VK_SUCCESS || (fault == VK_ERROR_DEVICE_LOST && getenv("WAVEFIT_DISCRETE"))) {
        const VkResult result = real(queue);
        return fault == VK_SUCCESS ? result : fault;
    }
    return fault;
}

static VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice device, VkFence fence)
{
    const PFN_vkGetFenceStatus real = (PFN_vkGetFenceStatus)real_functions[STATUS];
    const VkResult fault = fault_of(STATUS);
    const bool waits = getenv("WAVEFIT_FAIL") || getenv("WAVEFIT_FAIL_COUNT");
    if (fault != VK_SUCCESS || !waits)
        return fault == VK_SUCCESS ? real(device, fence) : fault;
    return VK_NOT_READY;
}

static const PFN_vkVoidFunction our_functions[FUNCTIONS] = {
    (PFN_vkVoidFunction)submit, (PFN_vkVoidFunction)wait_for_fences, (PFN_vkVoidFunction)wait_idle,
    (PFN_vkVoidFunction)fence_status};

/* Ours in place of what the driver found; *kept gets the driver's. */
#define REPLACE(called, kept, ours)                                                                \
    if (strcmp(name, called) == 0) {                                                               \
        const PFN_vkVoidFunction found = real_device_proc(device, name);                           \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(name, functions[i]) == 0) {
            real_functions[i] = real_device_proc(device, name);
            return our_functions[i];
        }
    REPLACE("vkCreateBuffer", real_buffer, make_buffer)
    REPLACE("vkBindBufferMemory", real_bind, bind_buffer)
    REPLACE("vkMapMemory", real_map, map)
    REPLACE("vkCmdDispatch", real_dispatch, dispatch)
    REPLACE("vkGetQueryPoolResults", real_times, times)
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        real_create = (PFN_vkCreateComputePipelines)real_device_proc(device, name);
        return (PFN_vkVoidFunction)create;
    }
    return real_device_proc(device, name);
}

static VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice device,
                                         VkPhysicalDeviceMemoryProperties2 *out)
{
    const char *asked = getenv("WAVEFIT_BUDGET");
    real_memory(device, out);
    VkBaseOutStructure head; /* of each structure, copied: none is of this type */
    for (void *at = asked ? out->pNext : NULL; at; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        if (head.sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = at;
            budget->heapBudget[0] = strtoull(asked, NULL, 10);
            budget->heapUsage[0] = 0;
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceProperties2 *out)
{
    real_properties(device, out);
    if (getenv("WAVEFIT_DISCRETE"))
        out->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

/* Ours in place of the driver's, which is kept. */
static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found)
{
    if (found && (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 ||
                  strcmp(name, "vkGetPhysicalDeviceProperties2KHR") == 0)) {
        real_properties = (PFN_vkGetPhysicalDeviceProperties2)found;
        return (PFN_vkVoidFunction)properties;
    }
    if (!found || (strcmp(name, "vkGetPhysicalDeviceMemoryProperties2") != 0 &&
                   strcmp(name, "vkGetPhysicalDeviceMemoryProperties2KHR") != 0))
        return found;
    real_memory = (PFN_vkGetPhysicalDeviceMemoryProperties2)found;
    return (PFN_vkVoidFunction)memory;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!real_instance_proc)
        real_instance_proc = (PFN_vkGetInstanceProcAddr)symbol("vk_icdGetInstanceProcAddr");
    if (!real_instance_proc)
        return NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_device_proc = (PFN_vkGetDeviceProcAddr)real_instance_proc(instance, name);
        return (PFN_vkVoidFunction)device_proc;
    }
    return replaced(name, real_instance_proc(instance, name));
}

PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    typedef PFN_vkVoidFunction (*get_proc)(VkInstance, const char *);
    const get_proc real = (get_proc)symbol("vk_icdGetPhysicalDeviceProcAddr");
    return replaced(name, real ? real(instance, name) : NULL);
}

VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    typedef VkResult (*negotiate)(uint32_t *);
    const negotiate real = (negotiate)symbol("vk_icdNegotiateLoaderICDInterfaceVersion");
    return real ? real(version) : VK_ERROR_INCOMPATIBLE_DRIVER;
}
