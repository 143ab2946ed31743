#include "gpu.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static void print_log(void *, wf_log_level, const char *text)
{
    std::fprintf(stderr, "wavefit: %s\n", text);
}

// wavefit's device memory comes out of VMA's blocks.
static VkResult give_memory(void *user, const wf_memory_request *request, wf_memory_block *block)
{
    VmaAllocationCreateInfo wanted{};
    wanted.flags = request->mapped ? VMA_ALLOCATION_CREATE_MAPPED_BIT : 0;
    wanted.requiredFlags = request->required;
    wanted.preferredFlags = request->preferred;
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo info{};
    const VkResult result = vmaAllocateMemoryForBuffer(
        static_cast<VmaAllocator>(user), request->buffer, &wanted, &allocation, &info);
    block->memory = info.deviceMemory;
    block->offset = info.offset;
    block->type = info.memoryType;
    block->mapped = info.pMappedData;
    block->owner = allocation;
    return result;
}

static void take_memory(void *user, const wf_memory_block *block)
{
    vmaFreeMemory(static_cast<VmaAllocator>(user), static_cast<VmaAllocation>(block->owner));
}

static uint32_t graphics_family(VkPhysicalDevice physical)
{
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    for (uint32_t i = 0; i < count; i++)
        if ((families[i].queueFlags & wanted) == wanted)
            return i;
    throw std::runtime_error("no queue with graphics and compute");
}

static VkBool32 VKAPI_CALL count_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                         VkDebugUtilsMessageTypeFlagsEXT,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data,
                                         void *user)
{
    static_cast<Gpu *>(user)->messages++;
    std::fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

// Host memory for wavefit, counted.
static void *VKAPI_CALL give_host(void *user, size_t bytes, size_t alignment,
                                  VkSystemAllocationScope)
{
    void *block = nullptr;
    static_cast<Gpu *>(user)->allocations++;
    const size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return posix_memalign(&block, least, bytes) ? nullptr : block;
}

static void *VKAPI_CALL give_more_host(void *user, void *block, size_t bytes, size_t,
                                       VkSystemAllocationScope)
{
    static_cast<Gpu *>(user)->allocations++; // realloc aligns by 16, as drivers ask for here
    return std::realloc(block, bytes);
}

static void VKAPI_CALL take_host(void *, void *block)
{
    std::free(block);
}

void Gpu::open_instance(bool counts)
{
    const char *debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = version;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    info.enabledExtensionCount = counts ? 1 : 0;
    info.ppEnabledExtensionNames = &debug_utils;
    CHECK(vkCreateInstance(&info, nullptr, &instance));
    if (!counts)
        return;
    VkDebugUtilsMessengerCreateInfoEXT told{
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    told.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    told.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    told.pfnUserCallback = count_message;
    told.pUserData = this;
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
    CHECK(create(instance, &told, nullptr, &messenger));
}

void Gpu::open(bool counts)
{
    version = counts ? VK_API_VERSION_1_2 : VK_API_VERSION_1_1;
    open_instance(counts);
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(instance, &count, &physical);
    family = graphics_family(physical);

    wf_vulkan vulkan{};
    vulkan.size = sizeof vulkan;
    vulkan.get_instance_proc_addr = vkGetInstanceProcAddr;
    vulkan.instance = instance;
    vulkan.api_version = version;
    vulkan.physical_device = physical;
    vulkan.queue_family = family;
    wf_features *wanted = nullptr;
    const uint32_t families = 1u << WF_FAMILY_HIMENO | (counts ? 1u << WF_FAMILY_MATMUL : 0u);
    CHECK(wf_required_features(&vulkan, families, nullptr, &wanted));

    // The engine has features of its own; wavefit's are added to its chain.
    VkPhysicalDeviceVulkan12Features features12{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    features12.timelineSemaphore = VK_TRUE;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    features.pNext = counts ? &features12 : nullptr;
    wf_features_merge(wanted, &features);
    const float priority = 1;
    VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue_info.queueFamilyIndex = family;
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device_info.pNext = &features;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    device_info.ppEnabledExtensionNames =
        wf_features_extensions(wanted, &device_info.enabledExtensionCount);
    CHECK(vkCreateDevice(physical, &device_info, nullptr, &device));
    vkGetDeviceQueue(device, family, 0, &queue);

    vulkan.device = device;
    vulkan.enabled_features = &features;
    vulkan.enabled_extensions = device_info.ppEnabledExtensionNames;
    vulkan.enabled_extension_count = device_info.enabledExtensionCount;
    open_allocator();
    adopt(vulkan, counts);
    wf_features_destroy(&wanted);
}

void Gpu::open_allocator()
{
    VmaAllocatorCreateInfo info{};
    info.instance = instance;
    info.physicalDevice = physical;
    info.device = device;
    info.vulkanApiVersion = version;
    CHECK(vmaCreateAllocator(&info, &allocator));
}

void Gpu::adopt(const wf_vulkan &vulkan, bool counts)
{
    wf_memory_source source{};
    source.size = sizeof source;
    source.allocate = give_memory;
    source.free = take_memory;
    source.user = allocator;
    wf_device_params params{};
    params.size = sizeof params;
    params.log = print_log;
    params.memory_source = &source;
    VkAllocationCallbacks counted{};
    counted.pUserData = this;
    counted.pfnAllocation = give_host;
    counted.pfnReallocation = give_more_host;
    counted.pfnFree = take_host;
    params.allocator = counts ? &counted : nullptr;
    CHECK(wf_device_adopt(&vulkan, &params, &wavefit));
}

Gpu::Gpu(bool counts)
{
    open(counts);
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.queueFamilyIndex = family;
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    CHECK(vkCreateCommandPool(device, &pool_info, nullptr, &pool));
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    CHECK(vkAllocateCommandBuffers(device, &allocate, &frame));
    VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK(vkCreateFence(device, &fence_info, nullptr, &fence));
}

Gpu::~Gpu()
{
    wf_device_destroy(&wavefit);
    vkDestroyFence(device, fence, nullptr);
    vkDestroyCommandPool(device, pool, nullptr);
    vmaDestroyAllocator(allocator);
    vkDestroyDevice(device, nullptr);
    if (messenger)
        reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(vkGetInstanceProcAddr(
            instance, "vkDestroyDebugUtilsMessengerEXT"))(instance, messenger, nullptr);
    vkDestroyInstance(instance, nullptr);
}

Buffer Gpu::make_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage, bool host)
{
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = usage;
    VmaAllocationCreateInfo memory{};
    memory.usage = VMA_MEMORY_USAGE_AUTO;
    if (host)
        memory.flags =
            VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
    Buffer buffer;
    VmaAllocationInfo allocated{};
    buffer.bytes = bytes;
    CHECK(vmaCreateBuffer(allocator, &info, &memory, &buffer.vk, &buffer.memory, &allocated));
    buffer.mapped = allocated.pMappedData;
    return buffer;
}

Image Gpu::make_image(VkFormat format, uint32_t width, uint32_t height, VkImageUsageFlags usage)
{
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {width, height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = usage;
    VmaAllocationCreateInfo memory{};
    memory.usage = VMA_MEMORY_USAGE_AUTO;
    Image image;
    CHECK(vmaCreateImage(allocator, &info, &memory, &image.vk, &image.memory, nullptr));
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image.vk;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    CHECK(vkCreateImageView(device, &view, nullptr, &image.view));
    return image;
}

void Gpu::write(const Buffer &buffer, const void *data)
{
    std::memcpy(buffer.mapped, data, buffer.bytes);
    CHECK(vmaFlushAllocation(allocator, buffer.memory, 0, VK_WHOLE_SIZE));
}

const void *Gpu::read(const Buffer &buffer)
{
    CHECK(vmaInvalidateAllocation(allocator, buffer.memory, 0, VK_WHOLE_SIZE));
    return buffer.mapped;
}

void Gpu::destroy(Buffer &buffer)
{
    vmaDestroyBuffer(allocator, buffer.vk, buffer.memory);
    buffer = Buffer();
}

void Gpu::destroy(Image &image)
{
    vkDestroyImageView(device, image.view, nullptr);
    vmaDestroyImage(allocator, image.vk, image.memory);
    image = Image();
}

VkCommandBuffer Gpu::begin()
{
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    CHECK(vkBeginCommandBuffer(frame, &info));
    return frame;
}

void Gpu::submit_and_wait(VkCommandBuffer commands)
{
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(queue, 1, &info, fence));
    CHECK(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    CHECK(vkResetFences(device, 1, &fence));
}

VkCommandPool Gpu::make_pool(VkCommandBuffer *commands)
{
    VkCommandPool made = VK_NULL_HANDLE;
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = family;
    CHECK(vkCreateCommandPool(device, &info, nullptr, &made));
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = made;
    allocate.commandBufferCount = 1;
    CHECK(vkAllocateCommandBuffers(device, &allocate, commands));
    return made;
}

void Gpu::submit(VkCommandBuffer commands, VkSemaphore timeline, uint64_t value)
{
    VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &value;
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline;
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
}

VkDeviceSize Gpu::bytes() const
{
    VmaTotalStatistics all{};
    vmaCalculateStatistics(allocator, &all);
    return all.total.statistics.allocationBytes;
}
