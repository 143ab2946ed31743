/* A Vulkan driver for tests: lavapipe (REAL_ICD) whose clock counts work. A timestamp is the sum of
 * what was recorded before it, by WAVEFIT_CLOCK="DISPATCH GROUP BARRIER": nanoseconds that a
 * dispatch, each of its work-groups and a barrier take, however long lavapipe needs for them.
 * WAVEFIT_CLOCK_F64=N: a dispatch whose module has f64 takes N times as long.
 * WAVEFIT_CLOCK_GROUPS="N NS …": a dispatch of N work-groups takes NS nanoseconds in all.
 *
 * It shows itself as a chip of RDNA 3 with 4 compute units, of which the occupancy is published,
 * but as a processor still, whose clock nobody waits for to rise; and with little memory. One
 * thread records at a time. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))
#define BUDGET (32u << 20) /* bytes, so that ceilings are measured on small buffers */
#define CORE_PROPERTIES VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);

static PFN_vkGetInstanceProcAddr real_instance_proc;
static PFN_vkGetDeviceProcAddr real_device_proc;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkCreateDevice real_create_device;
static PFN_vkCreateShaderModule real_module;
static PFN_vkCreateComputePipelines real_pipelines;
static PFN_vkCmdBindPipeline real_bind;
static PFN_vkCmdDispatch real_dispatch;
static PFN_vkCmdDispatchBase real_dispatch_base;
static PFN_vkCmdPipelineBarrier real_barrier;
static PFN_vkCmdWriteTimestamp real_stamp;
static PFN_vkGetQueryPoolResults real_results;

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

/* ---------------------------------------------------------------------------------------- clock */

static double now; /* nanoseconds of all that was recorded */
static bool wide;  /* the pipeline that is bound has f64 */

/* The latest timestamps, with their places. */
enum { STAMPS = 256 };
static struct stamp {
    VkQueryPool pool;
    uint32_t query;
    double at;
} stamps[STAMPS];
static unsigned stamped;

/* Handles of what has f64. */
enum { WIDE = 4096 };
static uint64_t wide_ones[WIDE];
static unsigned wide_count;

static bool is_wide(uint64_t handle)
{
    for (unsigned i = 0; i < wide_count && i < WIDE; i++)
        if (wide_ones[i] == handle)
            return true;
    return false;
}

static void set_wide(uint64_t handle, bool value)
{
    for (unsigned i = 0; i < wide_count && i < WIDE; i++)
        if (wide_ones[i] == handle)
            wide_ones[i] = 0; /* one of before that ended */
    if (value)
        wide_ones[wide_count++ % WIDE] = handle;
}

/* The n-th number of WAVEFIT_CLOCK, from 0. */
static double clock_number(unsigned n)
{
    double number = 0;
    for (char *at = getenv("WAVEFIT_CLOCK"); at && *at; n--) {
        number = strtod(at, &at);
        if (n == 0)
            return number;
    }
    return 0;
}

/* What WAVEFIT_CLOCK_GROUPS tells of a dispatch of so many work-groups; below 0: nothing. */
static double given_time(double groups)
{
    char *at = getenv("WAVEFIT_CLOCK_GROUPS");
    while (at && *at) {
        const double count = strtod(at, &at), time = strtod(at, &at);
        if (groups >= count && groups <= count)
            return time;
    }
    return -1;
}

static void count_groups(uint32_t x, uint32_t y, uint32_t z)
{
    const double groups = (double)x * y * z, given = given_time(groups);
    const char *factor = wide ? getenv("WAVEFIT_CLOCK_F64") : NULL;
    const double time = given >= 0 ? given : clock_number(0) + groups * clock_number(1);
    now += time * (factor ? strtod(factor, NULL) : 1);
}

static VKAPI_ATTR void VKAPI_CALL dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                           uint32_t z)
{
    count_groups(x, y, z);
    real_dispatch(commands, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL dispatch_base(VkCommandBuffer commands, uint32_t at_x,
                                                uint32_t at_y, uint32_t at_z, uint32_t x,
                                                uint32_t y, uint32_t z)
{
    count_groups(x, y, z);
    real_dispatch_base(commands, at_x, at_y, at_z, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                          VkPipelineStageFlags after, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier *memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier *buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier *images)
{
    now += clock_number(2);
    real_barrier(commands, before, after, flags, memory_count, memory, buffer_count, buffers,
                 image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL stamp(VkCommandBuffer commands, VkPipelineStageFlagBits stage,
                                        VkQueryPool pool, uint32_t query)
{
    unsigned at = 0;
    while (at < stamped && at < STAMPS && (stamps[at].pool != pool || stamps[at].query != query))
        at++;
    if (at == stamped || at == STAMPS)
        at = stamped++ % STAMPS;
    stamps[at] = (struct stamp){pool, query, now};
    real_stamp(commands, stage, pool, query);
}

static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first,
                                              uint32_t count, size_t bytes, void *data,
                                              VkDeviceSize stride, VkQueryResultFlags flags)
{
    const VkResult result = real_results(device, pool, first, count, bytes, data, stride, flags);
    for (unsigned i = 0; result == VK_SUCCESS && flags & VK_QUERY_RESULT_64_BIT && i < stamped;
         i++) {
        const struct stamp *s = &stamps[i % STAMPS];
        const uint64_t ticks = (uint64_t)s->at;
        if (s->pool == pool && s->query >= first && s->query - first < count)
            memcpy((char *)data + (s->query - first) * stride, &ticks, sizeof ticks);
    }
    return result;
}

/* --------------------------------------------------------------------------------- what has f64 */

static bool declares_f64(const uint32_t *code, size_t words)
{
    enum { HEADER = 5, OP_CAPABILITY = 17, FLOAT64 = 10 };
    for (size_t at = HEADER; at + 1 < words && (code[at] & 0xffff) == OP_CAPABILITY;
         at += code[at] >> 16)
        if (code[at + 1] == FLOAT64)
            return true;
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL make_module(VkDevice device,
                                                  const VkShaderModuleCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkShaderModule *module)
{
    const VkResult result = real_module(device, info, allocator, module);
    if (result == VK_SUCCESS)
        set_wide((uint64_t)(uintptr_t)*module, declares_f64(info->pCode, info->codeSize / 4));
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL make_pipelines(VkDevice device, VkPipelineCache cache,
                                                     uint32_t count,
                                                     const VkComputePipelineCreateInfo *infos,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkPipeline *pipelines)
{
    const VkResult result = real_pipelines(device, cache, count, infos, allocator, pipelines);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++)
        set_wide((uint64_t)(uintptr_t)pipelines[i],
                 is_wide((uint64_t)(uintptr_t)infos[i].stage.module));
    return result;
}

static VKAPI_ATTR void VKAPI_CALL bind(VkCommandBuffer commands, VkPipelineBindPoint point,
                                       VkPipeline pipeline)
{
    wide = is_wide((uint64_t)(uintptr_t)pipeline);
    real_bind(commands, point, pipeline);
}

/* ------------------------------------------------------------------------------------- identity */

static VKAPI_ATTR void VKAPI_CALL properties(VkPhysicalDevice device,
                                             VkPhysicalDeviceProperties2 *out)
{
    real_properties(device, out);
    out->properties.vendorID = 0x1002;
    snprintf(out->properties.deviceName, sizeof out->properties.deviceName,
             "AMD Radeon RX 7900 XTX (RADV NAVI31)");
    VkBaseOutStructure head; /* of each structure, copied: none is of this type */
    for (void *at = out->pNext; at; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        if (head.sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD)
            continue;
        VkPhysicalDeviceShaderCorePropertiesAMD *core = at;
        core->shaderEngineCount = 1;
        core->shaderArraysPerEngineCount = 1;
        core->computeUnitsPerShaderArray = 4;
        core->simdPerComputeUnit = 2;
        core->wavefrontsPerSimd = 16;
    }
}

static VKAPI_ATTR void VKAPI_CALL memory(VkPhysicalDevice device,
                                         VkPhysicalDeviceMemoryProperties2 *out)
{
    real_memory(device, out);
    VkBaseOutStructure head;
    for (void *at = out->pNext; at; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        if (head.sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = at;
            budget->heapBudget[0] = BUDGET;
            budget->heapUsage[0] = 0;
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char *layer,
                                                 uint32_t *count, VkExtensionProperties *out)
{
    const uint32_t room = *count;
    const VkResult result = real_extensions(device, layer, count, out);
    if (layer || (result != VK_SUCCESS && result != VK_INCOMPLETE))
        return result;
    if (out && *count >= room)
        return VK_INCOMPLETE;
    if (out) {
        out[*count] = (VkExtensionProperties){.specVersion = 2};
        snprintf(out[*count].extensionName, sizeof out->extensionName, CORE_PROPERTIES);
    }
    ++*count;
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice device,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    const char *names[256];
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->enabledExtensionCount && count < 256; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], CORE_PROPERTIES) != 0)
            names[count++] = info->ppEnabledExtensionNames[i];
    VkDeviceCreateInfo passed = *info;
    passed.enabledExtensionCount = count;
    passed.ppEnabledExtensionNames = names;
    return real_create_device(device, &passed, allocator, out);
}

/* ------------------------------------------------------------------------------------ functions */

/* Ours in place of what was found; *kept gets that. */
#define REPLACE(called, kept, ours)                                                                \
    if (found && (strcmp(name, called) == 0 || strcmp(name, called "KHR") == 0)) {                 \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction found = real_device_proc(device, name);
    REPLACE("vkCreateShaderModule", real_module, make_module)
    REPLACE("vkCreateComputePipelines", real_pipelines, make_pipelines)
    REPLACE("vkCmdBindPipeline", real_bind, bind)
    REPLACE("vkCmdDispatch", real_dispatch, dispatch)
    REPLACE("vkCmdDispatchBase", real_dispatch_base, dispatch_base)
    REPLACE("vkCmdPipelineBarrier", real_barrier, barrier)
    REPLACE("vkCmdWriteTimestamp", real_stamp, stamp)
    REPLACE("vkGetQueryPoolResults", real_results, results)
    return found;
}

static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found)
{
    REPLACE("vkGetPhysicalDeviceProperties2", real_properties, properties)
    REPLACE("vkGetPhysicalDeviceMemoryProperties2", real_memory, memory)
    REPLACE("vkEnumerateDeviceExtensionProperties", real_extensions, extensions)
    REPLACE("vkCreateDevice", real_create_device, create_device)
    REPLACE("vkGetDeviceProcAddr", real_device_proc, device_proc)
    return found;
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (!real_instance_proc)
        real_instance_proc = (PFN_vkGetInstanceProcAddr)symbol("vk_icdGetInstanceProcAddr");
    return real_instance_proc ? replaced(name, real_instance_proc(instance, name)) : NULL;
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
