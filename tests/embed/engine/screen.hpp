// The engine's rendering: a temperature texture drawn through a colour map into an offscreen image.
#pragma once

#include "gpu.hpp"

class Screen
{
  public:
    Screen(Gpu &gpu, uint32_t width, uint32_t height);
    ~Screen();
    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;

    // Copies a buffer of floats, whose compute writes were made available to TRANSFER reads, into
    // the texture and draws it.
    void draw(VkCommandBuffer commands, const Buffer &temperature);
    // Copies what was drawn to a host buffer, 4 bytes a pixel.
    void read(VkCommandBuffer commands, const Buffer &pixels);

  private:
    void make_pass();
    void make_pipeline();
    void make_set();

    Gpu &gpu;
    uint32_t width, height;
    Image texture, target;
    VkSampler sampler = VK_NULL_HANDLE;
    VkRenderPass pass = VK_NULL_HANDLE;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
};
