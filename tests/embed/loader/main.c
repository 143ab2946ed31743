/* A program with Vulkan of its own: one submission fills two matrices, a second one, ordered behind
 * it by a timeline semaphore, has wavefit's product and the program's own sums in one command
 * buffer. Prints "ok". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include <wavefit/wavefit.h>

#include "fill.h"
#include "sum.h"

enum { N = 100 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (int)(call);                                                              \
        if (code != 0) {                                                                           \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct program {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands;
    VkSemaphore timeline;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool descriptors;
    VkBuffer buffers[4]; /* A, B, C, sums */
    VkDeviceMemory memory[4];
} program;

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "wavefit: %s\n", text);
}

static void open_device(program *p, wf_device **wavefit)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    uint32_t count = 1;
    CHECK(vkCreateInstance(&instance, NULL, &p->instance));
    vkEnumeratePhysicalDevices(p->instance, &count, &p->physical);

    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .timelineSemaphore = 1};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    wf_vulkan vulkan = {.size = sizeof vulkan,
                        .get_instance_proc_addr = vkGetInstanceProcAddr,
                        .instance = p->instance,
                        .api_version = VK_API_VERSION_1_2,
                        .physical_device = p->physical};
    wf_features *wanted = NULL;
    CHECK(wf_required_features(&vulkan, 1u << WF_FAMILY_MATMUL, NULL, &wanted));
    wf_features_merge(wanted, &features);

    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &features,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queue};
    device.ppEnabledExtensionNames = wf_features_extensions(wanted, &device.enabledExtensionCount);
    CHECK(vkCreateDevice(p->physical, &device, NULL, &p->device));
    vkGetDeviceQueue(p->device, 0, 0, &p->queue);

    vulkan.device = p->device;
    vulkan.enabled_features = &features;
    vulkan.enabled_extensions = device.ppEnabledExtensionNames;
    vulkan.enabled_extension_count = device.enabledExtensionCount;
    const wf_device_params params = {.size = sizeof params, .log = print_log};
    CHECK(wf_device_adopt(&vulkan, &params, wavefit));
    wf_features_destroy(&wanted);
}

static uint32_t host_memory(const program *p, uint32_t allowed)
{
    VkPhysicalDeviceMemoryProperties memory;
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    vkGetPhysicalDeviceMemoryProperties(p->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    exit(1);
}

static void make_buffer(program *p, int index, VkDeviceSize bytes)
{
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = bytes,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements needs;
    CHECK(vkCreateBuffer(p->device, &buffer, NULL, &p->buffers[index]));
    vkGetBufferMemoryRequirements(p->device, p->buffers[index], &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = host_memory(p, needs.memoryTypeBits)};
    CHECK(vkAllocateMemory(p->device, &memory, NULL, &p->memory[index]));
    CHECK(vkBindBufferMemory(p->device, p->buffers[index], p->memory[index], 0));
}

static void make_objects(program *p)
{
    const VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkSemaphoreTypeCreateInfo timeline = {.sType =
                                                    VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &timeline};
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 2,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    CHECK(vkCreateCommandPool(p->device, &commands, NULL, &p->commands));
    CHECK(vkCreateSemaphore(p->device, &semaphore, NULL, &p->timeline));
    CHECK(vkCreateDescriptorSetLayout(p->device, &set_layout, NULL, &p->set_layout));
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &p->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(p->device, &layout, NULL, &p->layout));
    CHECK(vkCreateDescriptorPool(p->device, &pool, NULL, &p->descriptors));
    for (int i = 0; i < 3; i++)
        make_buffer(p, i, N * N * sizeof(float));
    make_buffer(p, 3, N * sizeof(float));
}

static VkPipeline make_pass(const program *p, const uint32_t *spirv, size_t bytes)
{
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = spirv};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = p->layout};
    VkPipeline pipeline;
    CHECK(vkCreateShaderModule(p->device, &module_info, NULL, &info.stage.module));
    CHECK(vkCreateComputePipelines(p->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vkDestroyShaderModule(p->device, info.stage.module, NULL);
    return pipeline;
}

static VkCommandBuffer begin(const program *p)
{
    VkCommandBuffer commands;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->commands,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkAllocateCommandBuffers(p->device, &allocate, &commands));
    CHECK(vkBeginCommandBuffer(commands, &info));
    return commands;
}

/* One of the program's own passes over two buffers. */
static void dispatch(const program *p, VkCommandBuffer commands, VkPipeline pipeline, int first,
                     int second, uint32_t items, uint32_t count)
{
    VkDescriptorSet set;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = p->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &p->set_layout};
    CHECK(vkAllocateDescriptorSets(p->device, &allocate, &set));
    const VkDescriptorBufferInfo infos[2] = {{p->buffers[first], 0, VK_WHOLE_SIZE},
                                             {p->buffers[second], 0, VK_WHOLE_SIZE}};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .descriptorCount = 2,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = infos};
    vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &set, 0,
                            NULL);
    vkCmdPushConstants(commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof count, &count);
    vkCmdDispatch(commands, (items + 63) / 64, 1, 1);
}

static void barrier(VkCommandBuffer commands, VkAccessFlags to, VkPipelineStageFlags stage)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = to};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, stage, 0, 1, &memory, 0,
                         NULL, 0, NULL);
}

static void submit(const program *p, VkCommandBuffer commands, uint64_t after, uint64_t then)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &after,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &then};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &p->timeline,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &p->timeline};
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(p->queue, 1, &info, VK_NULL_HANDLE));
}

static int compare(const program *p)
{
    void *mapped;
    int wrong = 0;
    CHECK(vkMapMemory(p->device, p->memory[3], 0, VK_WHOLE_SIZE, 0, &mapped));
    const float *sums = mapped;
    for (int row = 0; row < N; row++) {
        float expected = 0;
        for (int k = 0; k < N; k++)
            for (int column = 0; column < N; column++)
                expected += ((float)((row * N + k) * 7 % 11) - 5) *
                            ((float)((k * N + column) * 3 % 13) - 6);
        wrong += sums[row] != expected;
    }
    vkUnmapMemory(p->device, p->memory[3]);
    return wrong;
}

static void close_program(program *p)
{
    for (int i = 0; i < 4; i++) {
        vkDestroyBuffer(p->device, p->buffers[i], NULL);
        vkFreeMemory(p->device, p->memory[i], NULL);
    }
    vkDestroyDescriptorPool(p->device, p->descriptors, NULL);
    vkDestroyPipelineLayout(p->device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(p->device, p->set_layout, NULL);
    vkDestroySemaphore(p->device, p->timeline, NULL);
    vkDestroyCommandPool(p->device, p->commands, NULL);
    vkDestroyDevice(p->device, NULL);
    vkDestroyInstance(p->instance, NULL);
}

int main(void)
{
    program p;
    wf_device *wavefit = NULL;
    wf_plan *product = NULL;
    wf_arena *arena = NULL;
    memset(&p, 0, sizeof p);
    open_device(&p, &wavefit);
    make_objects(&p);
    VkPipeline fill = make_pass(&p, fill_spirv, sizeof fill_spirv);
    VkPipeline sum = make_pass(&p, sum_spirv, sizeof sum_spirv);
    const wf_matmul_params params = {.size = sizeof params, .m = N, .n = N, .k = N};
    CHECK(wf_matmul_plan(wavefit, &params, &product));
    CHECK(wf_arena_create(wavefit, &arena));

    VkCommandBuffer first = begin(&p), second = begin(&p);
    dispatch(&p, first, fill, 0, 1, N * N, N * N);
    const VkDeviceSize bytes = N * N * sizeof(float);
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.handle = p.buffers[0], .bytes = bytes},
                                            {.handle = p.buffers[1], .bytes = bytes},
                                            {.handle = p.buffers[2], .bytes = bytes}}};
    CHECK(wf_plan_record(product, second, arena, &bindings));
    barrier(second, VK_ACCESS_SHADER_READ_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    dispatch(&p, second, sum, 2, 3, N, N);
    barrier(second, VK_ACCESS_HOST_READ_BIT, VK_PIPELINE_STAGE_HOST_BIT);
    submit(&p, first, 0, 1);
    submit(&p, second, 1, 2);
    const uint64_t done = 2;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &p.timeline,
                                      .pValues = &done};
    CHECK(vkWaitSemaphores(p.device, &wait, UINT64_MAX));
    const int wrong = compare(&p);
    puts(wrong ? "wrong" : "ok");

    wf_plan_destroy(&product);
    wf_arena_destroy(&arena);
    wf_device_destroy(&wavefit);
    /* Mesa 25.0's queue thread looks at a timeline once more after it has told its last value. */
    CHECK(vkQueueWaitIdle(p.queue));
    vkDestroyPipeline(p.device, fill, NULL);
    vkDestroyPipeline(p.device, sum, NULL);
    close_program(&p);
    return wrong != 0;
}
