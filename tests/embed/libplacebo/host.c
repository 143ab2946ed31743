#include "host.h"

#include <string.h>

/* What libplacebo and the validation layer say. Libplacebo 7.349 asks about dma-bufs without their
 * extension while it makes its device; that message is no one's who uses it. */
static void print_libplacebo(void *user, enum pl_log_level level, const char *text)
{
    host *h = user;
    if (level > PL_LOG_WARN ||
        strstr(text, "VUID-VkPhysicalDeviceExternalBufferInfo-handleType-parameter"))
        return;
    h->messages += strstr(text, "VUID-") || strstr(text, "SYNC-HAZARD");
    fprintf(stderr, "libplacebo: %s\n", text);
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
    h->locks++;
    h->vk->lock_queue(h->vk, h->vk->queue_compute.index, 0);
}

static void unlock(void *user)
{
    const host *h = user;
    h->vk->unlock_queue(h->vk, h->vk->queue_compute.index, 0);
}

static void adopt(host *h, wf_vulkan *vulkan)
{
    const wf_device_params params = {.size = sizeof params, .log = print_wavefit};
    vkGetDeviceQueue(h->vk->device, h->vk->queue_compute.index, 0, &h->queue);
    vulkan->device = h->vk->device;
    vulkan->enabled_features = h->vk->features;
    vulkan->enabled_extensions = h->vk->extensions;
    vulkan->enabled_extension_count = (uint32_t)h->vk->num_extensions;
    vulkan->queue_family = h->vk->queue_compute.index;
    vulkan->queue = h->queue;
    vulkan->lock_queue = lock;
    vulkan->unlock_queue = unlock;
    vulkan->queue_user = h;
    CHECK(wf_device_adopt(vulkan, &params, &h->wavefit));
}

static void open_device(host *h)
{
    h->log = pl_log_create(PL_API_VER, pl_log_params(.log_cb = print_libplacebo, .log_priv = h,
                                                     .log_level = PL_LOG_WARN));
    /* debug: what the validation layer says goes to the log, where the layer is loaded. */
    h->instance = pl_vk_inst_create(h->log, pl_vk_inst_params(.debug = true));
    if (!h->instance)
        exit(1);
    const VkPhysicalDevice physical = pl_vulkan_choose_device(
        h->log, pl_vulkan_device_params(.instance = h->instance->instance,
                                        .get_proc_addr = h->instance->get_proc_addr,
                                        .allow_software = true));
    wf_vulkan vulkan = {.size = sizeof vulkan,
                        .get_instance_proc_addr = h->instance->get_proc_addr,
                        .instance = h->instance->instance,
                        .api_version = h->instance->api_version,
                        .physical_device = physical};
    wf_features *wanted = NULL;
    uint32_t count = 0;
    CHECK(wf_required_features(&vulkan, 1u << WF_FAMILY_STENCIL, NULL, &wanted));
    const char *const *extensions = wf_features_extensions(wanted, &count);
    h->vk = pl_vulkan_create(
        h->log, pl_vulkan_params(.instance = h->instance->instance,
                                 .get_proc_addr = h->instance->get_proc_addr, .device = physical,
                                 .allow_software = true, .features = wf_features_chain(wanted),
                                 .opt_extensions = extensions, .num_opt_extensions = (int)count));
    if (!h->vk)
        exit(1);
    adopt(h, &vulkan);
    wf_features_destroy(&wanted);
}

static void open_frame(host *h, frame *f, int width, int height)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = h->vk->queue_compute.index};
    CHECK(vkCreateCommandPool(h->vk->device, &pool, NULL, &f->pool));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = f->pool,
        .commandBufferCount = 1};
    CHECK(vkAllocateCommandBuffers(h->vk->device, &allocate, &f->commands));
    CHECK(wf_arena_create(h->wavefit, &f->arena));
    f->picture = pl_tex_create(
        h->vk->gpu, pl_tex_params(.w = width, .h = height, .host_writable = true, .blit_src = true,
                                  .format = pl_find_named_fmt(h->vk->gpu, "r32f")));
    if (!f->picture)
        exit(1);
}

void host_open(host *h, int width, int height)
{
    *h = (host){.value = 0};
    open_device(h);
    h->timeline =
        pl_vulkan_sem_create(h->vk->gpu, pl_vulkan_sem_params(.type = VK_SEMAPHORE_TYPE_TIMELINE));
    for (int i = 0; i < IN_FLIGHT; i++)
        open_frame(h, &h->frames[i], width, height);
}

void host_close(host *h)
{
    pl_gpu_finish(h->vk->gpu);
    for (int i = 0; i < IN_FLIGHT; i++) {
        pl_tex_destroy(h->vk->gpu, &h->frames[i].picture);
        wf_arena_destroy(&h->frames[i].arena);
        vkDestroyCommandPool(h->vk->device, h->frames[i].pool, NULL);
    }
    wf_device_destroy(&h->wavefit);
    pl_vulkan_sem_destroy(h->vk->gpu, &h->timeline);
    pl_vulkan_destroy(&h->vk);
    pl_vk_inst_destroy(&h->instance);
    pl_log_destroy(&h->log);
}

frame *host_begin(host *h, unsigned number)
{
    frame *f = &h->frames[number % IN_FLIGHT];
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &h->timeline,
                                      .pValues = &f->done};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    CHECK(vkWaitSemaphores(h->vk->device, &wait, UINT64_MAX));
    CHECK(vkResetCommandPool(h->vk->device, f->pool, 0));
    CHECK(wf_arena_reset(f->arena));
    CHECK(vkBeginCommandBuffer(f->commands, &begin));
    return f;
}

void host_submit(host *h, frame *f, uint64_t wait)
{
    f->done = ++h->value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &f->done};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &h->timeline,
                                 .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &f->commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &h->timeline};
    CHECK(vkEndCommandBuffer(f->commands));
    h->vk->lock_queue(h->vk, h->vk->queue_compute.index, 0);
    const VkResult result = vkQueueSubmit(h->queue, 1, &submit, VK_NULL_HANDLE);
    h->vk->unlock_queue(h->vk, h->vk->queue_compute.index, 0);
    CHECK(result);
}
