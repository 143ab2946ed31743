/* volk and wavefit in one program, each with functions of its own; two wf_devices, one of them on
 * volk's instance. Prints "ok". */
#define VOLK_IMPLEMENTATION
#include <volk.h>

#include <stdio.h>

#include <wavefit/wavefit.h>

static int product_is_right(wf_device *device)
{
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, expected[4] = {19, 22, 43, 50};
    float c[4] = {0};
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    wf_plan *plan = NULL;
    const wf_matmul_params params = {.size = sizeof params, .m = 2, .n = 2, .k = 2};
    wf_bindings bindings = {.size = sizeof bindings};
    int right = wf_matmul_plan(device, &params, &plan) == WF_SUCCESS;
    for (int i = 0; i < 3; i++) {
        right = right &&
                wf_buffer_create(device, sizeof a, WF_MEMORY_DEVICE, &buffers[i]) == WF_SUCCESS;
        bindings.items[i].buffer = buffers[i];
    }
    right = right && wf_buffer_write(buffers[0], 0, a, sizeof a) == WF_SUCCESS &&
            wf_buffer_write(buffers[1], 0, b, sizeof b) == WF_SUCCESS &&
            wf_plan_run(plan, &bindings) == WF_SUCCESS &&
            wf_buffer_read(buffers[2], 0, c, sizeof c) == WF_SUCCESS;
    for (int i = 0; i < 4; i++)
        right = right && c[i] == expected[i];
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_plan_destroy(&plan);
    return right;
}

int main(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &application};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue};
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice vk;
    uint32_t count = 1;
    wf_device *own = NULL, *adopted = NULL;
    wf_vulkan vulkan = {.size = sizeof vulkan, .api_version = VK_API_VERSION_1_1};
    if (volkInitialize() != VK_SUCCESS || wf_device_create(NULL, &own) != WF_SUCCESS ||
        vkCreateInstance(&instance_info, NULL, &instance) != VK_SUCCESS)
        return 1;
    volkLoadInstance(instance);
    vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (vkCreateDevice(physical, &device_info, NULL, &vk) != VK_SUCCESS)
        return 1;
    volkLoadDevice(vk);
    vulkan.get_instance_proc_addr = vkGetInstanceProcAddr;
    vulkan.instance = instance;
    vulkan.physical_device = physical;
    vulkan.device = vk;
    vkGetDeviceQueue(vk, 0, 0, &vulkan.queue);
    if (wf_device_adopt(&vulkan, NULL, &adopted) != WF_SUCCESS)
        return 1;
    const int right = product_is_right(own) && product_is_right(adopted);
    wf_device_destroy(&own);
    const int still_right = product_is_right(adopted);
    wf_device_destroy(&adopted);
    vkDestroyDevice(vk, NULL);
    vkDestroyInstance(instance, NULL);
    puts(right && still_right ? "ok" : "wrong");
    return !(right && still_right);
}
