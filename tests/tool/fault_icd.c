/* A Vulkan driver for tests: lavapipe (REAL_ICD), but making a compute pipeline whose
 * specialization constant ID has VALUE, as WAVEFIT_FAULT="crash|hang|lost ID VALUE" asks, ends the
 * process, never returns (and then makes the file WAVEFIT_FAULT_MARK), or loses the device; with
 * "dead N" every submission after more than N dispatches were recorded loses it; and its memory
 * budget is WAVEFIT_BUDGET bytes. */
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
static PFN_vkCmdDispatch real_dispatch;
static PFN_vkQueueSubmit real_submit;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static unsigned dispatched;

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

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    dispatched++;
    real_dispatch(commands, x, y, z);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count,
                                             const VkSubmitInfo *infos, VkFence fence)
{
    const char *fault = getenv("WAVEFIT_FAULT");
    unsigned most = 0;
    if (fault && sscanf(fault, "dead %u", &most) == 1 && dispatched > most)
        return VK_ERROR_DEVICE_LOST;
    return real_submit(queue, count, infos, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    if (strcmp(name, "vkCreateComputePipelines") == 0) {
        real_create = (PFN_vkCreateComputePipelines)real_device_proc(device, name);
        return (PFN_vkVoidFunction)create;
    }
    if (strcmp(name, "vkCmdDispatch") == 0) {
        real_dispatch = (PFN_vkCmdDispatch)real_device_proc(device, name);
        return (PFN_vkVoidFunction)dispatch;
    }
    if (strcmp(name, "vkQueueSubmit") == 0) {
        real_submit = (PFN_vkQueueSubmit)real_device_proc(device, name);
        return (PFN_vkVoidFunction)submit;
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
