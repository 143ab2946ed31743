/* Debug names and labels (VK_EXT_debug_utils): functions between wavefit and the loader see every
 * object that is made and every dispatch that is recorded. None may lack its name or its labels, on
 * devices of wavefit's own and on an application's, and none may have one where the extension is
 * not enabled. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "product.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MOST_OBJECTS 20000
#define MOST_DEPTH 4

typedef struct object {
    VkObjectType type;
    uint64_t handle;
    const char *made_by;
    bool named;
} object;

static struct seen {
    object objects[MOST_OBJECTS];
    uint32_t count;
    unsigned names, labels, dispatches, unlabelled, foreign;
    int depth;
    char open[MOST_DEPTH][160]; /* the labels that are open, outermost first */
    char paths[64][330];        /* labels around dispatches, "plan / dispatch", each once */
    uint32_t path_count;
} seen;

/* ------------------------------------------------------------------------------ what is watched */

static PFN_vkGetInstanceProcAddr real_get_proc;
static PFN_vkGetDeviceProcAddr real_get_device_proc;
static PFN_vkSetDebugUtilsObjectNameEXT real_set_name;
static PFN_vkCmdBeginDebugUtilsLabelEXT real_begin_label;
static PFN_vkCmdEndDebugUtilsLabelEXT real_end_label;

static void made(VkObjectType type, uint64_t handle, const char *by)
{
    assert_true(seen.count < MOST_OBJECTS);
    seen.objects[seen.count++] = (object){type, handle, by, false};
}

/* Drivers use handles again: the name is for the latest object that has the handle. */
static VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice device,
                                               const VkDebugUtilsObjectNameInfoEXT *info)
{
    seen.names++;
    seen.foreign += strncmp(info->pObjectName, "wavefit ", 8) != 0;
    for (uint32_t i = seen.count; i-- > 0;)
        if (seen.objects[i].type == info->objectType &&
            seen.objects[i].handle == info->objectHandle) {
            seen.objects[i].named = true;
            break;
        }
    return real_set_name(device, info);
}

static VKAPI_ATTR void VKAPI_CALL begin_label(VkCommandBuffer commands,
                                              const VkDebugUtilsLabelEXT *label)
{
    assert_true(seen.depth < MOST_DEPTH);
    snprintf(seen.open[seen.depth++], sizeof seen.open[0], "%s", label->pLabelName);
    seen.labels++;
    real_begin_label(commands, label);
}

static VKAPI_ATTR void VKAPI_CALL end_label(VkCommandBuffer commands)
{
    assert_true(seen.depth > 0);
    seen.depth--;
    real_end_label(commands);
}

static void dispatched(void)
{
    char path[330];
    seen.dispatches++;
    if (seen.depth < 2) {
        seen.unlabelled++;
        return;
    }
    snprintf(path, sizeof path, "%s / %s", seen.open[0], seen.open[1]);
    for (uint32_t i = 0; i < seen.path_count; i++)
        if (strcmp(seen.paths[i], path) == 0)
            return;
    if (seen.path_count < 64)
        memcpy(seen.paths[seen.path_count++], path, sizeof path);
}

#define CREATES(X)                                                                                 \
    X(vkCreateBuffer, VkBufferCreateInfo, VkBuffer, BUFFER)                                        \
    X(vkCreateBufferView, VkBufferViewCreateInfo, VkBufferView, BUFFER_VIEW)                       \
    X(vkAllocateMemory, VkMemoryAllocateInfo, VkDeviceMemory, DEVICE_MEMORY)                       \
    X(vkCreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule, SHADER_MODULE)               \
    X(vkCreatePipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache, PIPELINE_CACHE)           \
    X(vkCreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout, PIPELINE_LAYOUT)       \
    X(vkCreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout,         \
      DESCRIPTOR_SET_LAYOUT)                                                                       \
    X(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool, DESCRIPTOR_POOL)       \
    X(vkCreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool, COMMAND_POOL)                   \
    X(vkCreateFence, VkFenceCreateInfo, VkFence, FENCE)                                            \
    X(vkCreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore, SEMAPHORE)                            \
    X(vkCreateQueryPool, VkQueryPoolCreateInfo, VkQueryPool, QUERY_POOL)

#define WATCHED(function, info_type, handle_type, object_type)                                     \
    static PFN_##function real_##function;                                                         \
    static VKAPI_ATTR VkResult VKAPI_CALL watched_##function(                                      \
        VkDevice device, const info_type *info, const VkAllocationCallbacks *allocator,            \
        handle_type *out)                                                                          \
    {                                                                                              \
        const VkResult result = real_##function(device, info, allocator, out);                     \
        if (result == VK_SUCCESS)                                                                  \
            made(VK_OBJECT_TYPE_##object_type, (uint64_t)*out, #function);                         \
        return result;                                                                             \
    }
CREATES(WATCHED)

static PFN_vkCreateComputePipelines real_vkCreateComputePipelines;
static PFN_vkAllocateDescriptorSets real_vkAllocateDescriptorSets;
static PFN_vkAllocateCommandBuffers real_vkAllocateCommandBuffers;
static PFN_vkCmdDispatch real_vkCmdDispatch;
static PFN_vkCmdDispatchBase real_vkCmdDispatchBase;

static VKAPI_ATTR VkResult VKAPI_CALL
watched_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                 const VkComputePipelineCreateInfo *infos,
                                 const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    const VkResult result =
        real_vkCreateComputePipelines(device, cache, count, infos, allocator, out);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++)
        made(VK_OBJECT_TYPE_PIPELINE, (uint64_t)out[i], "vkCreateComputePipelines");
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL watched_vkAllocateDescriptorSets(
    VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out)
{
    const VkResult result = real_vkAllocateDescriptorSets(device, info, out);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->descriptorSetCount; i++)
        made(VK_OBJECT_TYPE_DESCRIPTOR_SET, (uint64_t)out[i], "vkAllocateDescriptorSets");
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL watched_vkAllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
    const VkResult result = real_vkAllocateCommandBuffers(device, info, out);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; i++)
        made(VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)out[i],
             "vkAllocateCommandBuffers");
    return result;
}

static VKAPI_ATTR void VKAPI_CALL watched_vkCmdDispatch(VkCommandBuffer commands, uint32_t x,
                                                        uint32_t y, uint32_t z)
{
    dispatched();
    real_vkCmdDispatch(commands, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL watched_vkCmdDispatchBase(VkCommandBuffer commands, uint32_t x0,
                                                            uint32_t y0, uint32_t z0, uint32_t x,
                                                            uint32_t y, uint32_t z)
{
    dispatched();
    real_vkCmdDispatchBase(commands, x0, y0, z0, x, y, z);
}

/* Functions that make objects and are not watched are NULL, so that a call of one crashes. */
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction function = real_get_device_proc(device, name);
#define ANSWER(vulkan_name)                                                                        \
    if (strcmp(name, #vulkan_name) == 0) {                                                         \
        real_##vulkan_name = (PFN_##vulkan_name)function;                                          \
        return (PFN_vkVoidFunction)watched_##vulkan_name;                                          \
    }
#define ANSWER_CREATE(function_name, info, handle, type) ANSWER(function_name)
    CREATES(ANSWER_CREATE)
    ANSWER(vkCreateComputePipelines)
    ANSWER(vkAllocateDescriptorSets)
    ANSWER(vkAllocateCommandBuffers)
    ANSWER(vkCmdDispatch)
    ANSWER(vkCmdDispatchBase)
    return strncmp(name, "vkCreate", 8) == 0 || strncmp(name, "vkAllocate", 10) == 0 ? NULL
                                                                                     : function;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction function = real_get_proc(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        real_get_device_proc = (PFN_vkGetDeviceProcAddr)function;
        return (PFN_vkVoidFunction)device_proc;
    }
    if (strcmp(name, "vkSetDebugUtilsObjectNameEXT") == 0) {
        real_set_name = (PFN_vkSetDebugUtilsObjectNameEXT)function;
        return (PFN_vkVoidFunction)set_name;
    }
    if (strcmp(name, "vkCmdBeginDebugUtilsLabelEXT") == 0) {
        real_begin_label = (PFN_vkCmdBeginDebugUtilsLabelEXT)function;
        return (PFN_vkVoidFunction)begin_label;
    }
    if (strcmp(name, "vkCmdEndDebugUtilsLabelEXT") == 0) {
        real_end_label = (PFN_vkCmdEndDebugUtilsLabelEXT)function;
        return (PFN_vkVoidFunction)end_label;
    }
    return function;
}

/* ------------------------------------------------------------------------------------ what runs */

/* A split-K product, whose partial sums another dispatch adds. */
static void run_split_product(wf_device *device)
{
    enum { N = 16, K = 512 };
    const wf_constant constants[] = {{"split_k", 2}};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "vector", .constants = constants, .constant_count = 1};
    const wf_matmul_params params = {
        .size = sizeof params, .m = N, .n = N, .k = K, .tuning = &tuning};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_plan *plan = NULL;
    wf_buffer *buffers[3], *workspace = NULL;
    const uint64_t bytes[3] = {N * K * 4, K * N * 4, N * N * 4};
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wf_buffer_create(device, bytes[i], WF_MEMORY_DEVICE, &buffers[i]),
                         WF_SUCCESS);
        assert_int_equal(wf_buffer_fill(buffers[i], 0, bytes[i], 0), WF_SUCCESS);
        bindings.items[i].buffer = buffers[i];
    }
    if (wf_plan_workspace(plan)) {
        assert_int_equal(
            wf_buffer_create(device, wf_plan_workspace(plan), WF_MEMORY_DEVICE, &workspace),
            WF_SUCCESS);
        bindings.workspace.buffer = workspace;
    }
    assert_int_equal(wf_plan_run(plan, &bindings), WF_SUCCESS);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_buffer_destroy(&workspace);
    wf_plan_destroy(&plan);
}

/* A solve uses streams, kernels of its own and an uploaded matrix. */
static void run_solve(wf_device *device)
{
    const uint32_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
    const float values[] = {4, -1, -1, 4, -1, -1, 4}, b[] = {1, 2, 3};
    float x[3] = {0};
    wf_cg_result result;
    const wf_spmv_params matrix = {.size = sizeof matrix,
                                   .rows = 3,
                                   .columns = 3,
                                   .row_offsets = offsets,
                                   .column_indices = columns,
                                   .values = values};
    const wf_cg_params params = {.size = sizeof params, .matrix = &matrix};
    memset(&result, 0, sizeof result);
    assert_int_equal(wf_cg_solve(device, &params, b, x, &result), WF_SUCCESS);
}

static void run_everything(wf_device *device)
{
    product p;
    product_open(&p, device, NULL);
    product_poison(&p);
    assert_int_equal(wf_plan_run(p.plan, &p.bindings), WF_SUCCESS);
    product_check(&p);
    product_close(&p);
    run_split_product(device);
    run_solve(device);
}

static bool has_path(const char *plan, const char *dispatch)
{
    for (uint32_t i = 0; i < seen.path_count; i++) {
        const char *slash = strstr(seen.paths[i], " / ");
        const char *at = strstr(seen.paths[i], plan);
        if (slash && at && at < slash && strstr(slash, dispatch))
            return true;
    }
    return false;
}

static void check_all_named(void)
{
    unsigned missing = 0;
    for (uint32_t i = 0; i < seen.count; i++)
        if (!seen.objects[i].named && missing++ < 10)
            print_error("an object of %s has no name\n", seen.objects[i].made_by);
    for (uint32_t i = 0; i < seen.path_count; i++)
        print_message("%s\n", seen.paths[i]);
    print_message("%u objects, %u names, %u dispatches, %u labels\n", seen.count, seen.names,
                  seen.dispatches, seen.labels);
    assert_true(seen.count > 30 && seen.dispatches > 4);
    assert_int_equal(missing, 0);
    assert_int_equal(seen.foreign, 0);
    assert_int_equal(seen.unlabelled, 0);
    assert_int_equal(seen.depth, 0);
    assert_true(has_path("wavefit matmul f32", "product"));
    assert_true(has_path(" 37x41x29", "product"));
    assert_true(has_path("wavefit matmul f32 vector 16x16x512", "reduce"));
    assert_true(has_path("wavefit spmv f32 cg_", "cg_"));
}

static void forget(PFN_vkGetInstanceProcAddr loader)
{
    memset(&seen, 0, sizeof seen);
    real_get_proc = loader;
}

static void own_device(void **state)
{
    (void)state;
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    PFN_vkGetInstanceProcAddr get_proc;
    wf_device *device = NULL;
    assert_non_null(loader);
    void *symbol = dlsym(loader, "vkGetInstanceProcAddr");
    memcpy(&get_proc, &symbol, sizeof get_proc);
    wf_device_params params = engine_params();
    params.get_instance_proc_addr = instance_proc;
    for (int on = 1; on >= 0; on--) {
        forget(get_proc);
        params.debug_names = on;
        assert_int_equal(wf_device_create(&params, &device), WF_SUCCESS);
        run_everything(device);
        wf_device_destroy(&device);
        if (on)
            check_all_named();
        else
            assert_true(seen.names == 0 && seen.labels == 0 && seen.count > 30);
    }
    dlclose(loader);
}

static void adopted_device(void **state)
{
    (void)state;
    engine e;
    wf_vulkan vulkan;
    engine_open(&e, ENGINE_REQUIRED, &vulkan);
    vulkan.get_instance_proc_addr = instance_proc;
    for (int on = 1; on >= 0; on--) {
        forget(e.get_proc);
        vulkan.debug_utils = on;
        wf_device *device = engine_adopt(&vulkan);
        run_everything(device);
        wf_device_destroy(&device);
        if (on)
            check_all_named();
        else
            assert_true(seen.names == 0 && seen.labels == 0 && seen.count > 30);
    }
    engine_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_device),
        cmocka_unit_test(adopted_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
