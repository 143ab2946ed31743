/* What a submission takes from the call until the host knows of its end, on a queue of each family,
 * by each way of asking, without work and with a copy to the host; and what the host's own reading
 * of a card's memory takes. It uses Vulkan alone: no transfer of a library can be faster.
 *   bench_submissions     medians in microseconds */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vulkan.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_STREAMING 1
#endif

enum { SAMPLES = 300, WARM = 40, MOST = 1 << 18, MOST_READ = 1 << 16 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int code = (int)(call);                                                              \
        if (code != 0) {                                                                           \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, code);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *at; /* NULL: the host does not see it */
} memory;

static struct {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties types;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkFence fence;
    VkSemaphore timeline;
    uint64_t value; /* that the timeline has */
    memory card, host, word;
} v;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* A buffer in the first type of memory that has these properties; zeroed where there is none. */
static memory make(VkDeviceSize bytes, VkMemoryPropertyFlags wanted)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = bytes,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    memory m = {.at = NULL};
    VkMemoryRequirements needs;
    CHECK(vkCreateBuffer(v.device, &info, NULL, &m.buffer));
    vkGetBufferMemoryRequirements(v.device, m.buffer, &needs);
    for (uint32_t i = 0; i < v.types.memoryTypeCount && !m.memory; i++) {
        const VkMemoryPropertyFlags flags = v.types.memoryTypes[i].propertyFlags;
        const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                               .allocationSize = needs.size,
                                               .memoryTypeIndex = i};
        if (!(needs.memoryTypeBits >> i & 1) || (flags & wanted) != wanted)
            continue;
        CHECK(vkAllocateMemory(v.device, &allocate, NULL, &m.memory));
        CHECK(vkBindBufferMemory(v.device, m.buffer, m.memory, 0));
        if (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
            CHECK(vkMapMemory(v.device, m.memory, 0, VK_WHOLE_SIZE, 0, &m.at));
    }
    return m;
}

static void open_device(uint32_t family)
{
    const float priority = 1;
    const VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    const VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                         VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    CHECK(vkCreateDevice(v.physical, &info, NULL, &v.device));
    vkGetDeviceQueue(v.device, family, 0, &v.queue);
    CHECK(vkCreateCommandPool(v.device, &pool, NULL, &v.pool));
    CHECK(vkCreateFence(v.device, &fence, NULL, &v.fence));
    CHECK(vkCreateSemaphore(v.device, &semaphore, NULL, &v.timeline));
    v.value = 0;
    v.card = make(MOST, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    v.host = make(MOST, cached);
    v.word = make(4, cached);
}

static void free_memory(const memory *m)
{
    vkDestroyBuffer(v.device, m->buffer, NULL);
    vkFreeMemory(v.device, m->memory, NULL);
}

static void close_device(void)
{
    vkDeviceWaitIdle(v.device);
    free_memory(&v.card);
    free_memory(&v.host);
    free_memory(&v.word);
    vkDestroySemaphore(v.device, v.timeline, NULL);
    vkDestroyFence(v.device, v.fence, NULL);
    vkDestroyCommandPool(v.device, v.pool, NULL);
    vkDestroyDevice(v.device, NULL);
}

/* ---------------------------------------------------------------------------------- submissions */

typedef enum ending { FENCE, TIMELINE, WORD, WAITED, ENDINGS } ending;
static const char *const endings[ENDINGS] = {"fence asked", "semaphore asked", "word asked",
                                             "fence waited"};

static void barrier_to_host(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

/* A copy of so many bytes to the host, made visible there; and a word behind it, if asked for. */
static void record(VkCommandBuffer commands, VkDeviceSize bytes, ending how)
{
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, /* a word comes before the end */
    };
    const VkBufferCopy region = {0, 0, bytes};
    CHECK(vkBeginCommandBuffer(commands, &info));
    if (bytes) {
        vkCmdCopyBuffer(commands, v.card.buffer, v.host.buffer, 1, &region);
        barrier_to_host(commands);
    }
    if (how == WORD) {
        vkCmdFillBuffer(commands, v.word.buffer, 0, 4, 1);
        barrier_to_host(commands);
    }
    CHECK(vkEndCommandBuffer(commands));
}

static void submit(VkCommandBuffer commands, ending how)
{
    v.value++;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &v.value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = how == TIMELINE ? &values : NULL,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = how == TIMELINE,
                               .pSignalSemaphores = &v.timeline};
    const bool fenced = how == FENCE || how == WAITED;
    CHECK(vkQueueSubmit(v.queue, 1, &info, fenced ? v.fence : VK_NULL_HANDLE));
}

static void wait_for(ending how)
{
    const volatile unsigned char *word = v.word.at;
    uint64_t value = 0;
    if (how == WAITED)
        CHECK(vkWaitForFences(v.device, 1, &v.fence, VK_TRUE, UINT64_MAX));
    while (how == FENCE && vkGetFenceStatus(v.device, v.fence) == VK_NOT_READY) {
    }
    while (how == TIMELINE && value < v.value)
        CHECK(vkGetSemaphoreCounterValue(v.device, v.timeline, &value));
    while (how == WORD && *word == 0) {
    }
}

static double time_of(VkDeviceSize bytes, ending how)
{
    static double times[SAMPLES];
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = v.pool,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(v.device, &allocate, &commands));
    record(commands, bytes, how);
    for (int i = -WARM; i < SAMPLES; i++) {
        CHECK(vkResetFences(v.device, 1, &v.fence));
        memset(v.word.at, 0, 4);
        const double start = now();
        submit(commands, how);
        wait_for(how);
        if (i >= 0)
            times[i] = now() - start;
        CHECK(vkQueueWaitIdle(v.queue));
    }
    vkFreeCommandBuffers(v.device, v.pool, 1, &commands);
    return median(times, SAMPLES) * 1e6;
}

static void print_submissions(uint32_t family, VkQueueFlags flags)
{
    static const VkDeviceSize sizes[] = {0, 4096, 16384, 65536, 262144};
    printf("family %u, flags %#x\n%-16s", family, flags, "bytes");
    for (int how = 0; how < ENDINGS; how++)
        printf(" %16s", endings[how]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        printf("\n%-16llu", (unsigned long long)sizes[i]);
        for (int how = 0; how < ENDINGS; how++)
            printf(" %16.1f", time_of(sizes[i], (ending)how));
    }
    printf("\n");
    fflush(stdout);
}

/* -------------------------------------------------------------------------- reading by the host */

typedef void (*reader)(unsigned char *to, const unsigned char *from, size_t bytes);

static void read_plainly(unsigned char *to, const unsigned char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#ifdef HAS_STREAMING
/* Loads that fetch a line of such memory whole. */
__attribute__((target("sse4.1"))) static void read_16(unsigned char *to, const unsigned char *from,
                                                      size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 16)
        _mm_storeu_si128((__m128i *)(to + i), _mm_stream_load_si128((__m128i *)(from + i)));
}

__attribute__((target("avx2"))) static void read_32(unsigned char *to, const unsigned char *from,
                                                    size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 32)
        _mm256_storeu_si256((__m256i *)(to + i),
                            _mm256_stream_load_si256((const __m256i *)(from + i)));
}
#endif

static void print_reader(const char *name, reader read, const memory *m)
{
    static unsigned char to[MOST_READ];
    static double times[SAMPLES];
    printf("%-24s", name);
    for (size_t bytes = 64; bytes <= MOST_READ; bytes *= 4) {
        for (int i = 0; i < SAMPLES; i++) {
            const double start = now();
            read(to, m->at, bytes);
            times[i] = now() - start;
        }
        printf(" %zu: %.2f", bytes, median(times, SAMPLES) * 1e6);
    }
    printf("\n");
}

static void print_reading(void)
{
    const memory m =
        make(MOST_READ, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
    if (m.at) {
        printf("the host reads the device's memory, bytes: us\n");
        memset(m.at, 1, MOST_READ);
        print_reader("memcpy", read_plainly, &m);
#ifdef HAS_STREAMING
        if (__builtin_cpu_supports("sse4.1"))
            print_reader("streaming loads of 16", read_16, &m);
        if (__builtin_cpu_supports("avx2"))
            print_reader("streaming loads of 32", read_32, &m);
#endif
    }
    free_memory(&m);
}

int main(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    const VkQueueFlags any = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    VkPhysicalDeviceProperties properties;
    VkQueueFamilyProperties families[16];
    uint32_t devices = 1, count = 16;
    CHECK(vkCreateInstance(&instance, NULL, &v.instance));
    vkEnumeratePhysicalDevices(v.instance, &devices, &v.physical);
    if (!devices)
        return 3;
    vkGetPhysicalDeviceProperties(v.physical, &properties);
    vkGetPhysicalDeviceMemoryProperties(v.physical, &v.types);
    uint32_t there = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(v.physical, &there, NULL);
    count = there < count ? there : count;
    vkGetPhysicalDeviceQueueFamilyProperties(v.physical, &count, families);
    printf("%s\n", properties.deviceName);
    for (uint32_t i = 0; i < count; i++) {
        if (!(families[i].queueFlags & any))
            continue;
        open_device(i);
        print_submissions(i, families[i].queueFlags);
        if (i == 0)
            print_reading();
        close_device();
    }
    vkDestroyInstance(v.instance, NULL);
    return 0;
}
