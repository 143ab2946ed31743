/* A Vulkan driver for tests: lavapipe (REAL_ICD) that shows itself as the device of the profile in
 * the file WAVEFIT_TEST_PROFILE. What the profile lacks is taken away; what it has beyond lavapipe
 * is told once on standard error, "profile beyond the driver: …". Calls that the profile's device
 * would not allow are told as "outside the profile: …", and fail where they can. Validation layers
 * lie above and see the profile's limits, too.
 *
 * Subgroups keep the size that lavapipe has, but for profiles whose sizes vary and cannot be
 * chosen: these show their range, widened to the size that there is. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "checks.h"
#include "core/chain.h"
#include "profile_icd.h"
#include "tool/profile/fields.h"

EXPORT PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORT PFN_vkVoidFunction vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
EXPORT VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);

struct profile_icd icd;

static PFN_vkGetInstanceProcAddr real_instance_proc;
static PFN_vkGetDeviceProcAddr real_device_proc;
static PFN_vkGetPhysicalDeviceProperties2 real_properties;
static PFN_vkGetPhysicalDeviceFeatures2 real_features;
static PFN_vkGetPhysicalDeviceMemoryProperties2 real_memory;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties2 real_families2;
static PFN_vkEnumerateDeviceExtensionProperties real_extensions;
static PFN_vkCreateDevice real_create_device;
static bool telling; /* of what is beyond the driver; only the first device's is told */

void outside(const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "outside the profile: %s: %s\n", icd.profile.name, text);
}

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

static void open_profile(void)
{
    char why[192] = "it is no JSON file";
    const char *path = getenv("WAVEFIT_TEST_PROFILE");
    yyjson_doc *doc = path ? yyjson_read_file(path, 0, NULL, NULL) : NULL;
    if (doc && wfi_profile_open(doc, &icd.profile, why))
        return;
    fprintf(stderr, "outside the profile: WAVEFIT_TEST_PROFILE=%s: %s\n", path ? path : "", why);
    abort();
}

static void tell_beyond(void *user, const char *field, uint64_t profile, uint64_t driver)
{
    (void)user;
    if (telling && strcmp(field, "maxComputeSharedMemorySize") != 0) /* show_shared */
        fprintf(stderr, "profile beyond the driver: %s: %llu, shown as %llu\n", field,
                (unsigned long long)profile, (unsigned long long)driver);
}

static const wfi_profile_report report = {.beyond = tell_beyond};

/* ---------------------------------------------------------------------------------- properties */

/* The real size stays, within the profile's range where the driver may choose in it. */
static void show_subgroups(VkPhysicalDeviceProperties2 *out)
{
    uint32_t sizes[3];
    VkPhysicalDeviceSubgroupProperties *subgroup =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    VkPhysicalDeviceSubgroupSizeControlProperties *control =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    VkPhysicalDeviceSubgroupProperties real = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 asked = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &real};
    VkPhysicalDeviceSubgroupSizeControlProperties stages = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
        .requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT};
    wfi_profile_subgroups(&icd.profile, sizes);
    real_properties(icd.physical, &asked);
    wfi_profile_apply(&icd.profile, &stages, WFI_PROFILE_LOWER, NULL);
    const bool chosen = (stages.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    if (sizes[1] < sizes[2] && !chosen) {
        if (control) {
            control->minSubgroupSize = sizes[1] < real.subgroupSize ? sizes[1] : real.subgroupSize;
            control->maxSubgroupSize = sizes[2] > real.subgroupSize ? sizes[2] : real.subgroupSize;
        }
        if (subgroup)
            subgroup->subgroupSize = sizes[0];
    } else if (sizes[0] && sizes[0] != real.subgroupSize)
        tell_beyond(NULL, "subgroupSize", sizes[0], real.subgroupSize);
}

/* The profile's shared memory: lavapipe gives a work-group what its shader declares, whatever limit
 * it tells. */
static void show_shared(VkPhysicalDeviceLimits *limits)
{
    VkPhysicalDeviceProperties2 profile = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                           .properties.limits = *limits};
    wfi_profile_apply(&icd.profile, &profile, WFI_PROFILE_SET, NULL);
    limits->maxComputeSharedMemorySize = profile.properties.limits.maxComputeSharedMemorySize;
}

static void VKAPI_CALL properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *out)
{
    icd.physical = device;
    real_properties(device, out);
    wfi_profile_apply(&icd.profile, out, WFI_PROFILE_LOWER, &report);
    show_shared(&out->properties.limits);
    show_subgroups(out);
}

static void VKAPI_CALL properties1(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties2(device, &all);
    *out = all.properties;
}

static void VKAPI_CALL features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *out)
{
    real_features(device, out);
    wfi_profile_apply(&icd.profile, out, WFI_PROFILE_LOWER, &report);
}

static void VKAPI_CALL features1(VkPhysicalDevice device, VkPhysicalDeviceFeatures *out)
{
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    features2(device, &all);
    *out = all.features;
}

/* -------------------------------------------------------------------------------------- memory */

/* Heaps are no larger than the driver's, whose first one stands behind all of them. */
static void VKAPI_CALL memory2(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out)
{
    VkPhysicalDeviceMemoryProperties shown;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget =
        wfi_chain_find(out, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    real_memory(device, out);
    const VkDeviceSize most = out->memoryProperties.memoryHeaps[0].size;
    VkDeviceSize left = most; /* lavapipe counts what the whole machine uses */
    if (budget)
        left = budget->heapBudget[0] > budget->heapUsage[0]
                   ? budget->heapBudget[0] - budget->heapUsage[0]
                   : 0;
    if (!wfi_profile_memory(&icd.profile, &shown))
        return;
    for (uint32_t i = 0; i < shown.memoryHeapCount; i++) {
        VkMemoryHeap *heap = &shown.memoryHeaps[i];
        if (heap->size > most) {
            tell_beyond(NULL, "memoryHeaps", heap->size, most);
            heap->size = most;
        }
        if (budget) {
            budget->heapBudget[i] = left < heap->size ? left : heap->size;
            budget->heapUsage[i] = 0;
        }
    }
    out->memoryProperties = shown;
}

static void VKAPI_CALL memory1(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
    VkPhysicalDeviceMemoryProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    memory2(device, &all);
    *out = all.memoryProperties;
}

static void VKAPI_CALL families(VkPhysicalDevice device, uint32_t *count,
                                VkQueueFamilyProperties *out)
{
    uint32_t bits;
    real_families(device, count, out);
    for (uint32_t i = 0; out && i < *count; i++)
        if (wfi_profile_timestamps(&icd.profile, &bits) && bits < out[i].timestampValidBits)
            out[i].timestampValidBits = bits;
}

static void VKAPI_CALL families2(VkPhysicalDevice device, uint32_t *count,
                                 VkQueueFamilyProperties2 *out)
{
    uint32_t bits;
    real_families2(device, count, out);
    for (uint32_t i = 0; out && i < *count; i++)
        if (wfi_profile_timestamps(&icd.profile, &bits) &&
            bits < out[i].queueFamilyProperties.timestampValidBits)
            out[i].queueFamilyProperties.timestampValidBits = bits;
}

/* ---------------------------------------------------------------------------------- extensions */

#define PORTABILITY "VK_KHR_portability_subset"
enum { MOST_EXTENSIONS = 512 };

/* Those that both have, and the portability subset, which adds no function. */
static VkResult VKAPI_CALL extensions(VkPhysicalDevice device, const char *layer, uint32_t *count,
                                      VkExtensionProperties *out)
{
    static VkExtensionProperties all[MOST_EXTENSIONS];
    uint32_t there = MOST_EXTENSIONS, n = 0;
    const VkResult result = real_extensions(device, layer, &there, all);
    if (result != VK_SUCCESS || layer || !wfi_profile_lists_extensions(&icd.profile))
        return real_extensions(device, layer, count, out);
    if (wfi_profile_has_extension(&icd.profile, PORTABILITY)) {
        snprintf(all[there].extensionName, sizeof all[there].extensionName, PORTABILITY);
        all[there++].specVersion = 1;
    }
    for (uint32_t i = 0; i < there; i++)
        if (wfi_profile_has_extension(&icd.profile, all[i].extensionName)) {
            if (out && n < *count)
                out[n] = all[i];
            n++;
        }
    const bool whole = !out || n <= *count;
    if (whole)
        *count = n;
    return whole ? VK_SUCCESS : VK_INCOMPLETE;
}

/* ------------------------------------------------------------------------------------- devices */

static bool allows_extensions(const VkDeviceCreateInfo *info)
{
    bool allowed = true, portability = false;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        const char *name = info->ppEnabledExtensionNames[i];
        portability = portability || strcmp(name, PORTABILITY) == 0;
        if (wfi_profile_lists_extensions(&icd.profile) &&
            !wfi_profile_has_extension(&icd.profile, name)) {
            outside("extension %s is enabled", name);
            allowed = false;
        }
    }
    if (!portability && wfi_profile_has_extension(&icd.profile, PORTABILITY))
        outside("%s is there and not enabled, which it must be", PORTABILITY);
    return allowed;
}

static bool allows_features(const VkDeviceCreateInfo *info)
{
    VkBaseInStructure head;
    const VkPhysicalDeviceFeatures2 core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                            .features = info->pEnabledFeatures
                                                            ? *info->pEnabledFeatures
                                                            : (VkPhysicalDeviceFeatures){VK_FALSE}};
    const char *absent = wfi_profile_absent(&icd.profile, &core);
    for (const void *at = info->pNext; at && !absent; at = head.pNext) {
        memcpy(&head, at, sizeof head);
        absent = wfi_profile_absent(&icd.profile, at);
    }
    if (absent)
        outside("feature %s is enabled", absent);
    return !absent;
}

/* What checks compare with: the limits that were shown. */
static void keep_limits(VkPhysicalDevice device)
{
    VkPhysicalDeviceMaintenance4Properties buffers = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties allocation = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &buffers};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &allocation};
    static bool told;
    telling = !told;
    told = true;
    properties2(device, &all);
    memory1(device, &icd.memory);
    telling = false;
    icd.limits = all.properties.limits;
    icd.max_allocation = allocation.maxMemoryAllocationSize;
    icd.max_buffer = buffers.maxBufferSize;
    icd.own_memory = wfi_profile_memory(&icd.profile, &(VkPhysicalDeviceMemoryProperties){0});
}

static VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *info,
                                         const VkAllocationCallbacks *allocator, VkDevice *out)
{
    const char *names[MOST_EXTENSIONS];
    uint32_t count = 0;
    keep_limits(device);
    if (!allows_extensions(info))
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    if (!allows_features(info))
        return VK_ERROR_FEATURE_NOT_PRESENT;
    for (uint32_t i = 0; i < info->enabledExtensionCount && count < MOST_EXTENSIONS; i++)
        if (strcmp(info->ppEnabledExtensionNames[i], PORTABILITY) != 0)
            names[count++] = info->ppEnabledExtensionNames[i];
    VkDeviceCreateInfo passed = *info;
    passed.enabledExtensionCount = count;
    passed.ppEnabledExtensionNames = names;
    return real_create_device(device, &passed, allocator, out);
}

/* ----------------------------------------------------------------------------------- functions */

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction found = real_device_proc(device, name);
    return found ? checked(name, found) : NULL;
}

#define REPLACE(called, kept, ours)                                                                \
    if (strcmp(name, called) == 0 || strcmp(name, called "KHR") == 0) {                            \
        memcpy(&(kept), &found, sizeof found);                                                     \
        return (PFN_vkVoidFunction)(ours);                                                         \
    }

static PFN_vkVoidFunction replaced(const char *name, PFN_vkVoidFunction found)
{
    PFN_vkVoidFunction unused;
    if (!found)
        return NULL;
    REPLACE("vkGetPhysicalDeviceProperties2", real_properties, properties2)
    REPLACE("vkGetPhysicalDeviceFeatures2", real_features, features2)
    REPLACE("vkGetPhysicalDeviceMemoryProperties2", real_memory, memory2)
    REPLACE("vkGetPhysicalDeviceQueueFamilyProperties2", real_families2, families2)
    REPLACE("vkGetPhysicalDeviceQueueFamilyProperties", real_families, families)
    REPLACE("vkEnumerateDeviceExtensionProperties", real_extensions, extensions)
    REPLACE("vkCreateDevice", real_create_device, create_device)
    REPLACE("vkGetDeviceProcAddr", real_device_proc, device_proc)
    REPLACE("vkGetPhysicalDeviceProperties", unused, properties1)
    REPLACE("vkGetPhysicalDeviceFeatures", unused, features1)
    REPLACE("vkGetPhysicalDeviceMemoryProperties", unused, memory1)
    return found;
}

/* The first versions of these functions ask the second ones. */
static void ask_second_ones(VkInstance instance)
{
    static const char *const names[] = {"vkGetPhysicalDeviceProperties2",
                                        "vkGetPhysicalDeviceFeatures2",
                                        "vkGetPhysicalDeviceMemoryProperties2"};
    for (size_t i = 0; instance && i < sizeof names / sizeof *names; i++)
        replaced(names[i], real_instance_proc(instance, names[i]));
}

PFN_vkVoidFunction vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_profile);
    if (!real_instance_proc)
        real_instance_proc = (PFN_vkGetInstanceProcAddr)symbol("vk_icdGetInstanceProcAddr");
    if (!real_instance_proc)
        return NULL;
    ask_second_ones(instance);
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
