#include "engine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(engine, name) ((PFN_##name)engine_function((engine), #name))

/* --------------------------------------------------------------------------- counted functions */

static atomic_uint failing_submits, submits, pipelines, memories, buffers, descriptor_pools,
    command_pools, conditions;
static atomic_int views;
static PFN_vkGetDeviceProcAddr real_get_device_proc;
static PFN_vkGetInstanceProcAddr real_get_proc;
static PFN_vkQueueSubmit real_queue_submit;
static PFN_vkCreateComputePipelines real_create_pipelines;
static PFN_vkAllocateMemory real_allocate_memory;
static PFN_vkCreateBuffer real_create_buffer;
static PFN_vkCreateDescriptorPool real_create_descriptors;
static PFN_vkCreateBufferView real_create_view;
static PFN_vkDestroyBufferView real_destroy_view;
static PFN_vkCreateCommandPool real_create_pool;
static PFN_vkCmdBeginConditionalRenderingEXT real_begin_condition;

static VKAPI_ATTR VkResult VKAPI_CALL counted_queue_submit(VkQueue queue, uint32_t count,
                                                           const VkSubmitInfo *infos, VkFence fence)
{
    atomic_fetch_add(&submits, 1);
    if (atomic_load(&failing_submits)) {
        atomic_fetch_sub(&failing_submits, 1);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return real_queue_submit(queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL
counted_create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                         const VkComputePipelineCreateInfo *infos,
                         const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    atomic_fetch_add(&pipelines, count);
    return real_create_pipelines(device, cache, count, infos, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
counted_allocate_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                        const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    atomic_fetch_add(&memories, 1);
    return real_allocate_memory(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL counted_create_buffer(VkDevice device,
                                                            const VkBufferCreateInfo *info,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkBuffer *out)
{
    atomic_fetch_add(&buffers, 1);
    return real_create_buffer(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
counted_create_descriptors(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                           const VkAllocationCallbacks *allocator, VkDescriptorPool *out)
{
    atomic_fetch_add(&descriptor_pools, 1);
    return real_create_descriptors(device, info, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL counted_create_view(VkDevice device,
                                                          const VkBufferViewCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkBufferView *out)
{
    atomic_fetch_add(&views, 1);
    return real_create_view(device, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL counted_destroy_view(VkDevice device, VkBufferView view,
                                                       const VkAllocationCallbacks *allocator)
{
    atomic_fetch_sub(&views, 1);
    real_destroy_view(device, view, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL counted_create_pool(VkDevice device,
                                                          const VkCommandPoolCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkCommandPool *out)
{
    atomic_fetch_add(&command_pools, 1);
    return real_create_pool(device, info, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL
counted_begin_condition(VkCommandBuffer commands, const VkConditionalRenderingBeginInfoEXT *info)
{
    atomic_fetch_add(&conditions, 1);
    real_begin_condition(commands, info);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL counting_device_proc(VkDevice device,
                                                                     const char *name)
{
    PFN_vkVoidFunction function = real_get_device_proc(device, name);
#define COUNTED(vulkan_name, real, counted)                                                        \
    if (strcmp(name, #vulkan_name) == 0) {                                                         \
        real = (PFN_##vulkan_name)function;                                                        \
        return (PFN_vkVoidFunction)(counted);                                                      \
    }
    COUNTED(vkQueueSubmit, real_queue_submit, counted_queue_submit)
    COUNTED(vkCreateComputePipelines, real_create_pipelines, counted_create_pipelines)
    COUNTED(vkAllocateMemory, real_allocate_memory, counted_allocate_memory)
    COUNTED(vkCreateBuffer, real_create_buffer, counted_create_buffer)
    COUNTED(vkCreateDescriptorPool, real_create_descriptors, counted_create_descriptors)
    COUNTED(vkCreateBufferView, real_create_view, counted_create_view)
    COUNTED(vkDestroyBufferView, real_destroy_view, counted_destroy_view)
    COUNTED(vkCreateCommandPool, real_create_pool, counted_create_pool)
    if (function)
        COUNTED(vkCmdBeginConditionalRenderingEXT, real_begin_condition, counted_begin_condition)
#undef COUNTED
    return function;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL counting_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function = real_get_proc(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return function;
    real_get_device_proc = (PFN_vkGetDeviceProcAddr)function;
    return (PFN_vkVoidFunction)counting_device_proc;
}

void engine_fail_submits(unsigned count)
{
    atomic_store(&failing_submits, count);
}

engine_calls engine_counted(void)
{
    return (engine_calls){.submits = atomic_load(&submits),
                          .pipelines = atomic_load(&pipelines),
                          .memories = atomic_load(&memories),
                          .buffers = atomic_load(&buffers),
                          .descriptor_pools = atomic_load(&descriptor_pools),
                          .command_pools = atomic_load(&command_pools),
                          .conditions = atomic_load(&conditions),
                          .views = atomic_load(&views)};
}

/* ----------------------------------------------------------------------------------- the engine */

PFN_vkVoidFunction engine_function(const engine *e, const char *name)
{
    PFN_vkVoidFunction function = e->get_proc(e->instance, name);
    if (!function)
        fail_msg("the loader has no %s", name);
    return function;
}

static void open_instance(engine *e)
{
    e->loader = wfi_library_open(wfi_vulkan_loaders[0]);
    assert_non_null(e->loader);
    e->get_proc = (PFN_vkGetInstanceProcAddr)wfi_library_symbol(e->loader, "vkGetInstanceProcAddr");
    const char *debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME; /* the loader has it */
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "engine",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application,
                                       .enabledExtensionCount = 1,
                                       .ppEnabledExtensionNames = &debug_utils};
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)e->get_proc(NULL, "vkCreateInstance");
    assert_int_equal(create(&info, NULL, &e->instance), VK_SUCCESS);
    uint32_t count = 1;
    FUNCTION(e, vkEnumeratePhysicalDevices)(e->instance, &count, &e->physical);
    assert_int_equal(count, 1);
}

/* The structures of a Vulkan 1.3 application. */
static VkPhysicalDeviceVulkan13Features features13;
static VkPhysicalDeviceVulkan12Features features12;
static VkPhysicalDeviceVulkan11Features features11;
static VkPhysicalDeviceFeatures2 features2;
static wf_features *wanted;

static void *application_chain(void)
{
    features13 = (VkPhysicalDeviceVulkan13Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    features12 = (VkPhysicalDeviceVulkan12Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &features13,
        .timelineSemaphore = VK_TRUE};
    features11 = (VkPhysicalDeviceVulkan11Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &features12};
    features2 = (VkPhysicalDeviceFeatures2){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                            .pNext = &features11};
    return &features2;
}

static void find_family(engine *e)
{
    VkQueueFamilyProperties families[8];
    uint32_t count = 8;
    FUNCTION(e, vkGetPhysicalDeviceQueueFamilyProperties)(e->physical, &count, families);
    while (e->family < count && !(families[e->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        e->family++;
    assert_true(e->family < count);
}

static void choose_features(engine_features features, wf_vulkan *vulkan)
{
    if (features == ENGINE_NOTHING)
        return;
    const wf_device_params params = engine_params();
    assert_int_equal(wf_required_features(vulkan, 0, &params, &wanted), WF_SUCCESS);
    vulkan->enabled_extensions = wf_features_extensions(wanted, &vulkan->enabled_extension_count);
    vulkan->enabled_features = wf_features_chain(wanted);
    if (features == ENGINE_MERGED) {
        vulkan->enabled_features = application_chain();
        wf_features_merge(wanted, &features2);
    }
}

static void open_device(engine *e, const wf_vulkan *vulkan)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = e->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = vulkan->enabled_features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = vulkan->enabled_extension_count,
                                     .ppEnabledExtensionNames = vulkan->enabled_extensions};
    assert_int_equal(FUNCTION(e, vkCreateDevice)(e->physical, &info, NULL, &e->device), VK_SUCCESS);
    FUNCTION(e, vkGetDeviceQueue)(e->device, e->family, 0, &e->queue);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = e->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_int_equal(FUNCTION(e, vkCreateCommandPool)(e->device, &pool, NULL, &e->pool),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkCreateFence)(e->device, &fence, NULL, &e->fence), VK_SUCCESS);
}

void engine_open(engine *e, engine_features features, wf_vulkan *vulkan)
{
    *e = (engine){0};
    open_instance(e);
    find_family(e);
    real_get_proc = e->get_proc;
    *vulkan = (wf_vulkan){.size = sizeof *vulkan,
                          .get_instance_proc_addr = counting_proc,
                          .instance = e->instance,
                          .api_version = VK_API_VERSION_1_3,
                          .physical_device = e->physical,
                          .queue_family = e->family};
    choose_features(features, vulkan);
    open_device(e, vulkan);
    vulkan->device = e->device;
    vulkan->queue = e->queue;
}

void engine_close(engine *e)
{
    FUNCTION(e, vkDestroyFence)(e->device, e->fence, NULL);
    FUNCTION(e, vkDestroyCommandPool)(e->device, e->pool, NULL);
    FUNCTION(e, vkDestroyDevice)(e->device, NULL);
    FUNCTION(e, vkDestroyInstance)(e->instance, NULL);
    wf_features_destroy(&wanted);
    wfi_library_close(e->loader);
}

VkCommandBuffer engine_begin(engine *e)
{
    VkCommandBuffer command_buffer;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = e->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(FUNCTION(e, vkAllocateCommandBuffers)(e->device, &allocate, &command_buffer),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkBeginCommandBuffer)(command_buffer, &begin), VK_SUCCESS);
    return command_buffer;
}

/* Makes what the stages write visible to the host, ends and submits. */
static void submit(const engine *e, VkCommandBuffer commands, VkPipelineStageFlags stages,
                   VkAccessFlags writes, VkFence fence)
{
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = writes,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    FUNCTION(e, vkCmdPipelineBarrier)
    (commands, stages, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    assert_int_equal(FUNCTION(e, vkEndCommandBuffer)(commands), VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkQueueSubmit)(e->queue, 1, &info, fence), VK_SUCCESS);
}

void engine_submit(engine *e, VkCommandBuffer command_buffer, VkFence fence)
{
    submit(e, command_buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
           fence);
}

void engine_finish(engine *e, VkCommandBuffer command_buffer)
{
    submit(e, command_buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
           VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, e->fence);
    assert_int_equal(FUNCTION(e, vkWaitForFences)(e->device, 1, &e->fence, VK_TRUE, UINT64_MAX),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkResetFences)(e->device, 1, &e->fence), VK_SUCCESS);
}

wf_device_params engine_params(void)
{
    wf_device_params params = test_device_params();
    params.cache_directory = "";
    return params;
}

wf_device *engine_adopt(const wf_vulkan *vulkan)
{
    wf_device *device = NULL;
    const wf_device_params params = engine_params();
    assert_int_equal(wf_device_adopt(vulkan, &params, &device), WF_SUCCESS);
    return device;
}
