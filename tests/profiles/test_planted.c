/* The pretending driver finds what is beyond its profile: calls that are made so on purpose, and a
 * plan of a device whose capabilities were raised. What is within the profile it leaves alone. It
 * runs without a validation layer, which would find most of these too. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/device.h"
#include "harness.h"

static char told[65536]; /* on standard error since the last call of begin */
static FILE *told_file;
static int standard_error;

static void begin(void)
{
    fflush(stderr);
    told_file = tmpfile();
    assert_non_null(told_file);
    standard_error = dup(STDERR_FILENO);
    assert_true(dup2(fileno(told_file), STDERR_FILENO) >= 0);
}

static void end(void)
{
    fflush(stderr);
    assert_true(dup2(standard_error, STDERR_FILENO) >= 0);
    close(standard_error);
    rewind(told_file);
    told[fread(told, 1, sizeof told - 1, told_file)] = '\0';
    fclose(told_file);
}

/* What was called since begin() was told of, with this text; NULL: it was not told of. */
static void expect(const char *text)
{
    end();
    const char *line = strstr(told, "outside the profile: least: ");
    if (text ? !line || !strstr(line, text) : line != NULL)
        fail_msg("expected '%s', told was: %s", text ? text : "nothing", told);
}

static void buffers(void **state)
{
    wf_device *device = *state;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBufferView view = VK_NULL_HANDLE;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = (UINT64_C(1) << 30) + 256,
                               .usage = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT};
    begin();
    if (device->fn.vkCreateBuffer(device->vk, &info, NULL, &buffer) == VK_SUCCESS)
        device->fn.vkDestroyBuffer(device->vk, buffer, NULL);
    expect("over maxBufferSize");
    info.size = 1 << 20;
    begin();
    assert_int_equal(device->fn.vkCreateBuffer(device->vk, &info, NULL, &buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    device->fn.vkGetBufferMemoryRequirements(device->vk, buffer, &needs);
    expect(NULL);
    assert_int_equal(needs.memoryTypeBits, 3); /* not the protected one */
    VkBufferViewCreateInfo texels = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                     .buffer = buffer,
                                     .format = VK_FORMAT_R32_SFLOAT,
                                     .range = 4 * 65540};
    begin();
    device->fn.vkCreateBufferView(device->vk, &texels, NULL, &view);
    device->fn.vkDestroyBufferView(device->vk, view, NULL);
    expect("over maxTexelBufferElements");
    texels.range = 256;
    texels.offset = 64;
    begin();
    device->fn.vkCreateBufferView(device->vk, &texels, NULL, &view);
    device->fn.vkDestroyBufferView(device->vk, view, NULL);
    expect("texels at 64");
    device->fn.vkDestroyBuffer(device->vk, buffer, NULL);
}

static void memory(void **state)
{
    wf_device *device = *state;
    VkDeviceMemory block = VK_NULL_HANDLE;
    void *data;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = 4096,
                                 .memoryTypeIndex = 3};
    begin();
    assert_true(device->fn.vkAllocateMemory(device->vk, &info, NULL, &block) < 0);
    expect("memory of type 3, of 3");
    info.memoryTypeIndex = 2;
    begin();
    device->fn.vkAllocateMemory(device->vk, &info, NULL, &block);
    device->fn.vkFreeMemory(device->vk, block, NULL);
    expect("protected");
    info = (VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                  .allocationSize = (UINT64_C(1) << 30) + 1};
    begin();
    if (device->fn.vkAllocateMemory(device->vk, &info, NULL, &block) == VK_SUCCESS)
        device->fn.vkFreeMemory(device->vk, block, NULL);
    expect("over maxMemoryAllocationSize");
    info.allocationSize = 4096;
    begin();
    assert_int_equal(device->fn.vkAllocateMemory(device->vk, &info, NULL, &block), VK_SUCCESS);
    expect(NULL);
    begin();
    assert_true(device->fn.vkMapMemory(device->vk, block, 0, 4096, 0, &data) < 0);
    expect("the host does not see");
    device->fn.vkFreeMemory(device->vk, block, NULL);
    info.memoryTypeIndex = 1;
    begin();
    assert_int_equal(device->fn.vkAllocateMemory(device->vk, &info, NULL, &block), VK_SUCCESS);
    assert_int_equal(device->fn.vkMapMemory(device->vk, block, 0, 4096, 0, &data), VK_SUCCESS);
    device->fn.vkFreeMemory(device->vk, block, NULL);
    expect(NULL);
}

/* A set of `count` storage buffers. */
static VkDescriptorSetLayout make_layout(wf_device *device, uint32_t count)
{
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = count,
                                                  .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    device->fn.vkCreateDescriptorSetLayout(device->vk, &info, NULL, &layout);
    return layout;
}

static void layouts(void **state)
{
    wf_device *device = *state;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    begin();
    device->fn.vkDestroyDescriptorSetLayout(device->vk, make_layout(device, 4), NULL);
    expect(NULL);
    begin();
    device->fn.vkDestroyDescriptorSetLayout(device->vk, make_layout(device, 5), NULL);
    expect("5 storage buffers in a set, of 4");
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = 132};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    begin();
    device->fn.vkCreatePipelineLayout(device->vk, &info, NULL, &layout);
    device->fn.vkDestroyPipelineLayout(device->vk, layout, NULL);
    expect("132 bytes of push constants, of 128");
}

/* A binding is told of where it is not aligned, or too large. */
static void bindings(void **state)
{
    wf_device *device = *state;
    wf_buffer *buffer = NULL;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkDescriptorSetLayout layout = make_layout(device, 1);
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool_info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                  .maxSets = 1,
                                                  .poolSizeCount = 1,
                                                  .pPoolSizes = &size};
    assert_int_equal(wf_buffer_create(device, 1 << 20, WF_MEMORY_DEVICE, &buffer), WF_SUCCESS);
    assert_int_equal(device->fn.vkCreateDescriptorPool(device->vk, &pool_info, NULL, &pool),
                     VK_SUCCESS);
    const VkDescriptorSetAllocateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout};
    assert_int_equal(device->fn.vkAllocateDescriptorSets(device->vk, &set_info, &set), VK_SUCCESS);
    VkDescriptorBufferInfo range = {wf_buffer_handle(buffer), 256, 1024};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &range};
    begin();
    device->fn.vkUpdateDescriptorSets(device->vk, 1, &write, 0, NULL);
    expect(NULL);
    range.offset = 64;
    begin();
    device->fn.vkUpdateDescriptorSets(device->vk, 1, &write, 0, NULL);
    expect("a binding at 64, which is no multiple of 256");
    range = (VkDescriptorBufferInfo){wf_buffer_handle(buffer), 0, (1 << 27) + 4};
    begin();
    device->fn.vkUpdateDescriptorSets(device->vk, 1, &write, 0, NULL);
    expect("over maxStorageBufferRange");
    device->fn.vkDestroyDescriptorPool(device->vk, pool, NULL);
    device->fn.vkDestroyDescriptorSetLayout(device->vk, layout, NULL);
    wf_buffer_destroy(&buffer);
}

static void shaders(void **state)
{
    wf_device *device = *state;
    VkShaderModule module = VK_NULL_HANDLE;
    VkEvent event = VK_NULL_HANDLE;
    const uint32_t code[] = {0x07230203, 0x00010300, 0, 1, 0, 2u << 16 | 17, 10}; /* Float64 */
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = sizeof code,
                                           .pCode = code};
    const VkEventCreateInfo event_info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    begin();
    if (device->fn.vkCreateShaderModule(device->vk, &info, NULL, &module) == VK_SUCCESS)
        device->fn.vkDestroyShaderModule(device->vk, module, NULL);
    expect("shaderFloat64 is missing");
    begin();
    if (device->fn.vkCreateEvent(device->vk, &event_info, NULL, &event) == VK_SUCCESS)
        device->fn.vkDestroyEvent(device->vk, event, NULL);
    expect("an event");
}

/* wavefit believes that it has more than it does: the driver tells of the plan. */
static void plans(void **state)
{
    wf_device *device = *state;
    const wf_caps caps = device->caps;
    const wf_constant constants[] = {{"local_x", 16}, {"local_y", 16}};
    const wf_tuning tuning = {
        .size = sizeof tuning, .variant = "naive", .constants = constants, .constant_count = 2};
    const wf_matmul_params params = {
        .size = sizeof params, .m = 64, .n = 64, .k = 64, .tuning = &tuning};
    wf_plan *plan = NULL;
    test_expect_errors(true);
    begin();
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_ERROR_CONSTRAINT);
    expect(NULL);
    test_expect_errors(false);
    device->caps.max_invocations = 1024;
    begin();
    assert_int_equal(wf_matmul_plan(device, &params, &plan), WF_SUCCESS);
    expect("256 work-items in a work-group, of 128");
    wf_plan_destroy(&plan);
    device->caps = caps;
}

static void devices(void **state)
{
    const wf_device *device = *state;
    const float priority = 1;
    VkDevice other = VK_NULL_HANDLE;
    const char *const extension = "VK_KHR_portability_subset";
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkPhysicalDeviceFeatures features = {.shaderFloat64 = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = &extension,
                               .pEnabledFeatures = &features};
    begin();
    assert_int_equal(device->instance.vkCreateDevice(device->physical, &info, NULL, &other),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    expect("feature shaderFloat64");
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
        .shaderFloat16 = VK_TRUE};
    info.pEnabledFeatures = NULL;
    info.pNext = &half;
    begin();
    assert_int_equal(device->instance.vkCreateDevice(device->physical, &info, NULL, &other),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    expect("feature shaderFloat16");
    /* The loader itself refuses extensions that were not listed. */
    const char *const absent = "VK_EXT_shader_atomic_float";
    info.pNext = NULL;
    info.ppEnabledExtensionNames = &absent;
    begin();
    assert_int_equal(device->instance.vkCreateDevice(device->physical, &info, NULL, &other),
                     VK_ERROR_EXTENSION_NOT_PRESENT);
    end();
    info.enabledExtensionCount = 0;
    begin();
    assert_int_equal(device->instance.vkCreateDevice(device->physical, &info, NULL, &other),
                     VK_SUCCESS);
    expect("VK_KHR_portability_subset is there and not enabled");
    /* Destroyed through the loader, whose functions for it are its own. */
    PFN_vkDestroyDevice destroy =
        (PFN_vkDestroyDevice)device->instance.vkGetDeviceProcAddr(other, "vkDestroyDevice");
    assert_non_null(destroy);
    destroy(other, NULL);
}

static void dispatches(void **state)
{
    wf_device *device = *state;
    VkCommandPool pool;
    VkCommandBuffer commands;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = device->queue_family};
    assert_int_equal(device->fn.vkCreateCommandPool(device->vk, &pool_info, NULL, &pool),
                     VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(device->fn.vkAllocateCommandBuffers(device->vk, &info, &commands), VK_SUCCESS);
    assert_int_equal(device->fn.vkBeginCommandBuffer(commands, &start), VK_SUCCESS);
    begin();
    device->fn.vkCmdDispatch(commands, 65535, 1, 1);
    expect(NULL);
    begin();
    device->fn.vkCmdDispatch(commands, 1, 65536, 1); /* is never submitted */
    expect("65536 work-groups along y, of 65535");
    device->fn.vkDestroyCommandPool(device->vk, pool, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers),  cmocka_unit_test(memory),     cmocka_unit_test(layouts),
        cmocka_unit_test(bindings), cmocka_unit_test(shaders),    cmocka_unit_test(plans),
        cmocka_unit_test(devices),  cmocka_unit_test(dispatches),
    };
    return cmocka_run_group_tests(tests, test_device_setup, test_device_teardown);
}
