/* A host with frames in flight on one or several queues, for long runs: each queue has a thread,
 * three frames, a plan of a matrix product and a copy of one sparse plan, whose matrix all share,
 * and binds them to another place of a ring in every frame.
 *
 *   bench_frames FRAMES QUEUES PUSH [SIZES]
 *
 * PUSH 0: VK_KHR_push_descriptor is not enabled. SIZES 1: the product is a copy of one plan whose
 * sizes vary, and each frame draws its m, n and k.
 * Prints one line: queues, time of recording, wrong results, growth of memory. */
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vulkan.h>

#include <wavefit/wavefit.h>

enum { IN_FLIGHT = 3, MOST_QUEUES = 8, RING = 61, N = 24, ROWS = 300, PROBE_EVERY = 500 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (int)(call);                                                              \
        if (code != 0) {                                                                           \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static struct host {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family, queues;
    char name[256];
    wf_device *wavefit;
    wf_plan *sparse, *product;
    unsigned frames;
    bool sizes; /* are drawn */
} host;

typedef struct frame {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    wf_arena *arena;
} frame;

/* What one queue's thread has. */
typedef struct lane {
    pthread_t thread;
    VkQueue queue;
    frame frames[IN_FLIGHT];
    wf_plan *product, *sparse;
    wf_buffer *in, *out; /* RING places each: A, B, x; C, y */
    unsigned wrong, probes;
    double record_seconds;
    size_t early, late; /* bytes of the process' heap at a tenth of the frames and at the end */
} lane;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level != WF_LOG_INFO)
        fprintf(stderr, "wavefit: %s\n", text);
}

static void open_host(uint32_t queues, int push)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    VkQueueFamilyProperties families[16];
    VkPhysicalDeviceProperties properties;
    uint32_t count = 1, family_count = 16, extension_count = 0, kept = 0;
    const char *extensions[64];
    CHECK(vkCreateInstance(&instance, NULL, &host.instance));
    vkEnumeratePhysicalDevices(host.instance, &count, &host.physical);
    vkGetPhysicalDeviceProperties(host.physical, &properties);
    snprintf(host.name, sizeof host.name, "%s", properties.deviceName);
    vkGetPhysicalDeviceQueueFamilyProperties(host.physical, &family_count, families);
    while (!(families[host.family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        host.family++;
    host.queues =
        queues < families[host.family].queueCount ? queues : families[host.family].queueCount;
    wf_vulkan vulkan = {.size = sizeof vulkan,
                        .get_instance_proc_addr = vkGetInstanceProcAddr,
                        .instance = host.instance,
                        .api_version = VK_API_VERSION_1_2,
                        .physical_device = host.physical,
                        .queue_family = host.family};
    wf_features *wanted = NULL;
    CHECK(wf_required_features(&vulkan, 0, NULL, &wanted));
    const char *const *all = wf_features_extensions(wanted, &extension_count);
    for (uint32_t i = 0; i < extension_count && kept < 64; i++)
        if (push || strcmp(all[i], VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME) != 0)
            extensions[kept++] = all[i];
    const float priorities[MOST_QUEUES] = {1, 1, 1, 1, 1, 1, 1, 1};
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = host.family,
                                           .queueCount = host.queues,
                                           .pQueuePriorities = priorities};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = wf_features_chain(wanted),
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue,
                                       .enabledExtensionCount = kept,
                                       .ppEnabledExtensionNames = extensions};
    CHECK(vkCreateDevice(host.physical, &device, NULL, &host.device));
    vulkan.device = host.device;
    vulkan.enabled_features = device.pNext;
    vulkan.enabled_extensions = extensions;
    vulkan.enabled_extension_count = kept;
    /* wavefit uses it before the threads begin. */
    vkGetDeviceQueue(host.device, host.family, 0, &vulkan.queue);
    const wf_device_params params = {.size = sizeof params, .log = print_log};
    CHECK(wf_device_adopt(&vulkan, &params, &host.wavefit));
    wf_features_destroy(&wanted);
}

/* A band of three entries a row, and one long row that several work-groups sum. */
static void open_sparse(void)
{
    static uint32_t offsets[ROWS + 1], columns[4 * ROWS];
    static float values[4 * ROWS];
    const wf_tuning tuning = {.size = sizeof tuning, .variant = "sliced"};
    wf_spmv_params params = {.size = sizeof params,
                             .rows = ROWS,
                             .columns = ROWS,
                             .row_offsets = offsets,
                             .column_indices = columns,
                             .values = values,
                             .tuning = &tuning};
    uint32_t n = 0;
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t first = row == 7 ? 0 : row, end = row == 7 ? ROWS : row + 1;
        for (uint32_t column = first; column < end; column++, n++) {
            columns[n] = column;
            values[n] = 2;
        }
        offsets[row + 1] = n;
    }
    if (wf_spmv_plan(host.wavefit, &params, &host.sparse) != WF_SUCCESS) {
        params.tuning = NULL;
        CHECK(wf_spmv_plan(host.wavefit, &params, &host.sparse));
    }
}

/* Bytes of a place of the ring, and of the arrays in it. */
static uint64_t aligned(uint64_t bytes)
{
    const uint64_t to = wf_device_caps(host.wavefit)->storage_alignment;
    return (bytes + to - 1) / to * to;
}

static uint64_t in_place(void)
{
    return 2 * aligned(N * N * 4) + aligned(ROWS * 4);
}

static uint64_t out_place(void)
{
    return aligned(N * N * 4) + aligned(ROWS * 4);
}

/* Place p: A is p + 1 everywhere, B and x are 1; so C is N (p + 1) and y 2, or 2 ROWS in row 7. */
static void fill_ring(const lane *l)
{
    for (uint32_t p = 0; p < RING; p++) {
        const float a = (float)(p + 1), one = 1;
        uint32_t bits[2];
        memcpy(&bits[0], &a, 4);
        memcpy(&bits[1], &one, 4);
        CHECK(wf_buffer_fill(l->in, p * in_place(), aligned(N * N * 4), bits[0]));
        CHECK(wf_buffer_fill(l->in, p * in_place() + aligned(N * N * 4),
                             in_place() - aligned(N * N * 4), bits[1]));
    }
}

/* m, n and k of frame `number`. */
static void draw_sizes(unsigned number, uint64_t extent[3])
{
    const uint32_t bits = (number + 1) * UINT32_C(2654435761);
    for (int i = 0; i < 3; i++)
        extent[i] = host.sizes ? 1 + (bits >> (5 + 9 * i)) % N : N;
}

static void upload(wf_plan *plan, lane *l)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = l->frames[0].commands;
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    if (!wf_plan_needs_upload(plan))
        return;
    CHECK(vkBeginCommandBuffer(commands, &begin));
    CHECK(wf_plan_record_upload(plan, commands));
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(l->queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(l->queue));
    CHECK(vkResetCommandPool(host.device, l->frames[0].pool, 0));
}

static void open_lane(lane *l, uint32_t index)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = host.family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                     .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    *l = (lane){.wrong = 0};
    vkGetDeviceQueue(host.device, host.family, index, &l->queue);
    for (int i = 0; i < IN_FLIGHT; i++) {
        frame *f = &l->frames[i];
        CHECK(vkCreateCommandPool(host.device, &pool, NULL, &f->pool));
        const VkCommandBufferAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = f->pool,
            .commandBufferCount = 1};
        CHECK(vkAllocateCommandBuffers(host.device, &allocate, &f->commands));
        CHECK(vkCreateFence(host.device, &fence, NULL, &f->fence));
        CHECK(wf_arena_create(host.wavefit, &f->arena));
    }
    if (index == 0) {
        upload(host.sparse, l);
        upload(host.product, l);
    }
    CHECK(wf_plan_copy(host.sparse, &l->sparse));
    upload(l->sparse, l);
    CHECK(wf_plan_copy(host.product, &l->product));
    upload(l->product, l);
    CHECK(wf_buffer_create(host.wavefit, RING * in_place(), WF_MEMORY_DEVICE, &l->in));
    CHECK(wf_buffer_create(host.wavefit, RING * out_place(), WF_MEMORY_READBACK, &l->out));
    fill_ring(l);
}

static void record(lane *l, const frame *f, unsigned number)
{
    const uint32_t place = number % RING;
    const uint64_t in = place * in_place(), out = place * out_place(), square = aligned(N * N * 4);
    wf_bindings product = {.size = sizeof product,
                           .items = {[WF_MATMUL_A] = {.buffer = l->in, .offset = in},
                                     [WF_MATMUL_B] = {.buffer = l->in, .offset = in + square},
                                     [WF_MATMUL_C] = {.buffer = l->out, .offset = out}}};
    const wf_bindings sparse = {
        .size = sizeof sparse,
        .items = {[WF_SPMV_X] = {.buffer = l->in, .offset = in + 2 * square},
                  [WF_SPMV_Y] = {.buffer = l->out, .offset = out + square}}};
    const VkMemoryBarrier reused = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_SHADER_WRITE_BIT};
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &reused, 0, NULL, 0, NULL);
    if (host.sizes)
        draw_sizes(number, product.extent);
    const double begin = now();
    CHECK(wf_plan_record(l->product, f->commands, f->arena, &product));
    CHECK(wf_plan_record(l->sparse, f->commands, f->arena, &sparse));
    l->record_seconds += now() - begin;
    vkCmdPipelineBarrier(f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
}

static void probe(lane *l, unsigned number)
{
    const uint32_t place = number % RING;
    uint64_t extent[3];
    draw_sizes(number, extent);
    const unsigned char *mapped = wf_buffer_mapped(l->out);
    const float *c = (const float *)(const void *)(mapped + place * out_place());
    const float *y =
        (const float *)(const void *)(mapped + place * out_place() + aligned(N * N * 4));
    unsigned wrong = 0;
    for (uint64_t i = 0; i < extent[0]; i++)
        for (uint64_t j = 0; j < extent[1]; j++)
            wrong += c[i * N + j] != (float)(extent[2] * (place + 1));
    for (int i = 0; i < ROWS; i++)
        wrong += y[i] != (float)(i == 7 ? 2 * ROWS : 2);
    memset((void *)(uintptr_t)c, 0xff, N * N * 4);
    memset((void *)(uintptr_t)y, 0xff, ROWS * 4);
    l->wrong += wrong > 0;
    l->probes++;
}

static void *run_lane(void *user)
{
    lane *l = user;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    for (unsigned i = 0; i < host.frames; i++) {
        frame *f = &l->frames[i % IN_FLIGHT];
        const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &f->commands};
        CHECK(vkWaitForFences(host.device, 1, &f->fence, VK_TRUE, UINT64_MAX));
        CHECK(vkResetFences(host.device, 1, &f->fence));
        CHECK(vkResetCommandPool(host.device, f->pool, 0));
        CHECK(wf_arena_reset(f->arena));
        CHECK(vkBeginCommandBuffer(f->commands, &begin));
        record(l, f, i);
        CHECK(vkEndCommandBuffer(f->commands));
        CHECK(vkQueueSubmit(l->queue, 1, &submit, f->fence));
        if (i % PROBE_EVERY == PROBE_EVERY - 1 || i + 1 == host.frames) {
            CHECK(vkWaitForFences(host.device, 1, &f->fence, VK_TRUE, UINT64_MAX));
            probe(l, i);
        }
        if (i == host.frames / 10)
            l->early = mallinfo2().uordblks;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        CHECK(vkWaitForFences(host.device, 1, &l->frames[i].fence, VK_TRUE, UINT64_MAX));
    l->late = mallinfo2().uordblks;
    return NULL;
}

static void close_lane(lane *l)
{
    for (int i = 0; i < IN_FLIGHT; i++) {
        wf_arena_destroy(&l->frames[i].arena);
        vkDestroyFence(host.device, l->frames[i].fence, NULL);
        vkDestroyCommandPool(host.device, l->frames[i].pool, NULL);
    }
    wf_plan_destroy(&l->product);
    wf_plan_destroy(&l->sparse);
    wf_buffer_destroy(&l->in);
    wf_buffer_destroy(&l->out);
}

int main(int argc, char **argv)
{
    static lane lanes[MOST_QUEUES];
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: bench_frames FRAMES QUEUES PUSH [SIZES]\n");
        return 2;
    }
    const unsigned queues = (unsigned)atoi(argv[2]);
    host.frames = (unsigned)atoi(argv[1]);
    open_host(queues < 1 ? 1 : queues > MOST_QUEUES ? MOST_QUEUES : queues, atoi(argv[3]));
    host.sizes = argc == 5 && atoi(argv[4]) != 0;
    open_sparse();
    const uint32_t unit = host.sizes;
    const wf_matmul_params product = {.size = sizeof product,
                                      .m = N,
                                      .n = N,
                                      .k = N,
                                      .vary_m = unit,
                                      .vary_n = unit,
                                      .vary_k = unit};
    CHECK(wf_matmul_plan(host.wavefit, &product, &host.product));
    for (uint32_t i = 0; i < host.queues; i++)
        open_lane(&lanes[i], i);
    wf_plan_destroy(&host.sparse); /* its copies keep the matrix */
    wf_plan_destroy(&host.product);
    const double begin = now();
    for (uint32_t i = 0; i < host.queues; i++)
        CHECK(pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]));
    unsigned wrong = 0, probes = 0;
    double record_seconds = 0;
    long growth = 0;
    for (uint32_t i = 0; i < host.queues; i++) {
        pthread_join(lanes[i].thread, NULL);
        wrong += lanes[i].wrong;
        probes += lanes[i].probes;
        record_seconds += lanes[i].record_seconds;
        growth = (long)lanes[i].late - (long)lanes[i].early;
    }
    const double seconds = now() - begin;
    printf("%s: %u of %u queues, %s, %s, %u frames each in %.1f s, %.2f us to record a plan, "
           "%u of %u probes wrong, heap %+ld bytes after a tenth\n",
           host.name, host.queues, queues,
           wf_device_caps(host.wavefit)->push_descriptors ? "pushed" : "sets",
           host.sizes ? "sizes drawn" : "one size", host.frames, seconds,
           record_seconds * 1e6 / (2.0 * host.frames * host.queues), wrong, probes, growth);
    for (uint32_t i = 0; i < host.queues; i++)
        close_lane(&lanes[i]);
    wf_device_destroy(&host.wavefit);
    vkDestroyDevice(host.device, NULL);
    vkDestroyInstance(host.instance, NULL);
    return wrong > 0 || probes == 0;
}
