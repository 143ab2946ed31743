// The engine's Vulkan: instance, device with what wavefit would like enabled, a graphics queue and
// VMA; and wavefit on top of it.
#pragma once

#include <stdexcept>
#include <string>

#include <vulkan/vulkan.h>

#include <vk_mem_alloc.h>
#include <wavefit/wavefit.h>

inline void check(long long code, const char *what)
{
    if (code != 0)
        throw std::runtime_error(std::string(what) + " gave " + std::to_string(code));
}
#define CHECK(call) check(static_cast<long long>(call), #call)

struct Buffer {
    VkBuffer vk = VK_NULL_HANDLE;
    VmaAllocation memory = VK_NULL_HANDLE;
    void *mapped = nullptr;
    VkDeviceSize bytes = 0;
};

struct Image {
    VkImage vk = VK_NULL_HANDLE;
    VmaAllocation memory = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
};

class Gpu
{
  public:
    // With `counts` it has timeline semaphores, and counts what wavefit allocates and what the
    // validation layer says.
    explicit Gpu(bool counts = false);
    ~Gpu();
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    Buffer make_buffer(VkDeviceSize bytes, VkBufferUsageFlags usage, bool host);
    Image make_image(VkFormat format, uint32_t width, uint32_t height, VkImageUsageFlags usage);
    // Host memory need not be coherent.
    void write(const Buffer &buffer, const void *data);
    const void *read(const Buffer &buffer);
    void destroy(Buffer &buffer);
    void destroy(Image &image);

    VkCommandBuffer begin();
    void submit_and_wait(VkCommandBuffer commands);
    // For frames in flight: a pool of one command buffer, and a submission that a timeline
    // semaphore follows.
    VkCommandPool make_pool(VkCommandBuffer *commands);
    void submit(VkCommandBuffer commands, VkSemaphore timeline, uint64_t value);
    // Of VMA's allocations.
    VkDeviceSize bytes() const;

    VkDevice device = VK_NULL_HANDLE;
    wf_device *wavefit = nullptr;
    unsigned messages = 0, allocations = 0;

  private:
    void open(bool counts);
    void open_instance(bool counts);
    void open_allocator();
    void adopt(const wf_vulkan &vulkan, bool counts);

    uint32_t version = VK_API_VERSION_1_1;
    VkInstance instance = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t family = 0;
    VkQueue queue = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer frame = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VmaAllocator allocator = VK_NULL_HANDLE;
};
