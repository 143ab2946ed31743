/* A Vulkan driver for tests: lavapipe (REAL_ICD), but making a compute pipeline whose
 * specialization constant ID has VALUE, as WAVEFIT_FAULT="crash|hang|lost ID VALUE" asks, ends the
 * process, never returns (and then makes the file WAVEFIT_FAULT_MARK), or loses the device; its
 * memory budget is WAVEFIT_BUDGET bytes. WAVEFIT_SLOW="COUNT FACTOR": the first COUNT times that are
 * asked of it are FACTOR times as long, as beside busy neighbours. WAVEFIT_OVERWRITE="BYTES NUMBER WORD":
 * whenever the device is done, this word of the allocation that was mapped as the NUMBER-th (from 0) of
 * those of so many bytes is 1000.0f. */
#include <dlfcn.h>
#include <signal.h>
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
static PFN_vkAllocateMemory real_allocate;
static PFN_vkMapMemory real_map;
static PFN_vkWaitForFences real_wait;
static PFN_vkGetQueryPoolResults real_times;
static VkDeviceMemory victim; /* of WAVEFIT_OVERWRITE */
static float *victim_words;
static unsigned victims_before, times_asked;

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
    if (file)
        fclose(file);
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
        return VK_ERROR_DEVICE_LOST;
    }
    return real_create(device, cache, count, infos, allocator, pipelines);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDeviceMemory *memory)
{
    unsigned long long bytes = 0;
    unsigned number = 0;
    const char *fault = getenv("WAVEFIT_OVERWRITE");
    const VkResult result = real_allocate(device, info, allocator, memory);
    if (fault && sscanf(fault, "%llu %u", &bytes, &number) == 2 && info->allocationSize == bytes &&
        victims_before++ == number)
        victim = *memory;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice device, VkDeviceMemory memory,
                                          VkDeviceSize offset, VkDeviceSize size,
                                          VkMemoryMapFlags flags, void **data)
{
    const VkResult result = real_map(device, memory, offset, size, flags, data);
    if (result == VK_SUCCESS && memory == victim)
        victim_words = *data;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, uint32_t count, const VkFence *fences,
                                           VkBool32 all, uint64_t timeout)
{
    unsigned word = 0;
    const char *fault = getenv("WAVEFIT_OVERWRITE");
    const VkResult result = real_wait(device, count, fences, all, timeout);
    if (fault && victim_words && sscanf(fault, "%*u %*u %u", &word) == 1)
        victim_words[word] = 1000.0f;
    return result;
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

/* Ours in place of what the driver found; *kept gets the driver's. */
#define REPLACE(called, kept, ours)                                                                \
    if (strcmp(name, called) == 0) {                                                               \
        const PFN_vkVoidFunction found = real_device_proc(device, name);                           \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    REPLACE("vkAllocateMemory", real_allocate, allocate)
    REPLACE("vkMapMemory", real_map, map)
    REPLACE("vkWaitForFences", real_wait, wait)
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
    for (VkBaseOutStructure *s = asked ? out->pNext : NULL; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)s;
            budget->heapBudget[0] = strtoull(asked, NULL, 10);
            budget->heapUsage[0] = 0;
        }
}

/* Ours in place of the driver's, which is kept. */
static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found)
{
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
