#include "host.h"

static VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data,
                                         void *user)
{
    host *h = user;
    (void)severity;
    (void)types;
    h->messages++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static void print_wavefit(void *user, wf_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "wavefit: %s\n", text);
}

static void lock(void *user)
{
    host *h = user;
    h->vk->lock_queue(h->context, h->family, 0);
}

static void unlock(void *user)
{
    host *h = user;
    h->vk->unlock_queue(h->context, h->family, 0);
}

/* Host memory for wavefit, counted. */
static void *VKAPI_CALL give(void *user, size_t bytes, size_t alignment,
                             VkSystemAllocationScope scope)
{
    host *h = user;
    void *block = NULL;
    (void)scope;
    h->blocks++;
    return posix_memalign(&block, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes)
               ? NULL
               : block;
}

static void *VKAPI_CALL give_more(void *user, void *block, size_t bytes, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    host *h = user;
    (void)alignment; /* realloc keeps 16 bytes, the most that drivers ask for here */
    (void)scope;
    h->blocks++;
    return realloc(block, bytes);
}

static void VKAPI_CALL take_back(void *user, void *block)
{
    (void)user;
    free(block);
}

static void adopt(host *h)
{
    const VkAllocationCallbacks allocator = {
        .pUserData = h, .pfnAllocation = give, .pfnReallocation = give_more, .pfnFree = take_back};
    const wf_device_params params = {
        .size = sizeof params, .log = print_wavefit, .allocator = &allocator};
    h->family = (uint32_t)h->vk->queue_family_comp_index;
    vkGetDeviceQueue(h->vk->act_dev, h->family, 0, &h->queue);
    const wf_vulkan vulkan = {.size = sizeof vulkan,
                              .get_instance_proc_addr = h->vk->get_proc_addr,
                              .instance = h->vk->inst,
                              .api_version = VK_API_VERSION_1_3, /* FFmpeg's */
                              .physical_device = h->vk->phys_dev,
                              .device = h->vk->act_dev,
                              .enabled_features = &h->vk->device_features,
                              .enabled_extensions = h->vk->enabled_dev_extensions,
                              .enabled_extension_count = (uint32_t)h->vk->nb_enabled_dev_extensions,
                              .queue_family = h->family,
                              .queue = h->queue,
                              .lock_queue = lock,
                              .unlock_queue = unlock,
                              .queue_user = h,
                              .debug_utils = true};
    CHECK(wf_device_adopt(&vulkan, &params, &h->wavefit));
}

static void open_commands(host *h, commands *c)
{
    const VkDevice device = h->vk->act_dev;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = h->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    CHECK(vkCreateCommandPool(device, &pool, NULL, &c->pool));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->pool,
        .commandBufferCount = 1};
    CHECK(vkAllocateCommandBuffers(device, &allocate, &c->buffer));
    CHECK(vkCreateFence(device, &fence, NULL, &c->fence));
    CHECK(wf_arena_create(h->wavefit, &c->arena));
}

void host_open(host *h)
{
    AVDictionary *options = NULL;
    *h = (host){.messages = 0};
    av_dict_set(&options, "instance_extensions", VK_EXT_DEBUG_UTILS_EXTENSION_NAME, 0);
    CHECK(av_hwdevice_ctx_create(&h->reference, AV_HWDEVICE_TYPE_VULKAN, NULL, options, 0));
    av_dict_free(&options);
    h->context = (AVHWDeviceContext *)h->reference->data;
    h->vk = h->context->hwctx;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = count_message,
        .pUserData = h};
    const PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(h->vk->inst,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    CHECK(create(h->vk->inst, &messenger, NULL, &h->messenger));
    adopt(h);
    for (int i = 0; i < IN_FLIGHT; i++)
        open_commands(h, &h->commands[i]);
}

void host_close(host *h)
{
    const VkDevice device = h->vk->act_dev;
    vkDeviceWaitIdle(device);
    for (int i = 0; i < IN_FLIGHT; i++) {
        wf_arena_destroy(&h->commands[i].arena);
        vkDestroyFence(device, h->commands[i].fence, NULL);
        vkDestroyCommandPool(device, h->commands[i].pool, NULL);
    }
    wf_device_destroy(&h->wavefit);
    const PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            h->vk->inst, "vkDestroyDebugUtilsMessengerEXT");
    destroy(h->vk->inst, h->messenger, NULL);
    av_buffer_unref(&h->reference);
}

commands *host_begin(host *h, unsigned number)
{
    commands *c = &h->commands[number % IN_FLIGHT];
    const VkDevice device = h->vk->act_dev;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    CHECK(vkWaitForFences(device, 1, &c->fence, VK_TRUE, UINT64_MAX));
    CHECK(vkResetFences(device, 1, &c->fence));
    CHECK(vkResetCommandPool(device, c->pool, 0));
    CHECK(wf_arena_reset(c->arena));
    CHECK(vkBeginCommandBuffer(c->buffer, &begin));
    return c;
}

void host_submit(host *h, commands *c, AVVkFrame *const frames[2])
{
    VkSemaphore semaphores[2];
    uint64_t before[2], after[2];
    const VkPipelineStageFlags stages[2] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    for (int i = 0; i < 2; i++) {
        semaphores[i] = frames[i]->sem[0];
        before[i] = frames[i]->sem_value[0];
        after[i] = ++frames[i]->sem_value[0];
    }
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 2,
        .pWaitSemaphoreValues = before,
        .signalSemaphoreValueCount = 2,
        .pSignalSemaphoreValues = after};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = 2,
                                 .pWaitSemaphores = semaphores,
                                 .pWaitDstStageMask = stages,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &c->buffer,
                                 .signalSemaphoreCount = 2,
                                 .pSignalSemaphores = semaphores};
    CHECK(vkEndCommandBuffer(c->buffer));
    lock(h);
    CHECK(vkQueueSubmit(h->queue, 1, &submit, c->fence));
    unlock(h);
}
