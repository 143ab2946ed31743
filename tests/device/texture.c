#include "texture.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FUNCTION(e, name) ((PFN_##name)engine_function((e), #name))

const texture_format texture_formats[TEXTURE_FORMATS] = {
    {WF_IMAGE_R32F, VK_FORMAT_R32_SFLOAT, 1, 4},
    {WF_IMAGE_R16F, VK_FORMAT_R16_SFLOAT, 1, 2},
    {WF_IMAGE_RGBA16F, VK_FORMAT_R16G16B16A16_SFLOAT, 4, 2},
    {WF_IMAGE_RGBA8, VK_FORMAT_R8G8B8A8_UNORM, 4, 1}};

static uint32_t memory_type(uint32_t bits)
{
    for (uint32_t i = 0; i < 32; i++)
        if (bits & 1u << i)
            return i;
    fail_msg("no memory for an image");
    return 0;
}

void texture_make(const engine *e, wf_device *device, const texture_format *format,
                  VkExtent3D extent, texture *t)
{
    const bool solid = extent.depth > 1;
    *t = (texture){.format = format, .extent = extent};
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = solid ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
                                    .format = format->vk,
                                    .extent = extent,
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_STORAGE_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    assert_int_equal(FUNCTION(e, vkCreateImage)(e->device, &info, NULL, &t->image), VK_SUCCESS);
    FUNCTION(e, vkGetImageMemoryRequirements)(e->device, t->image, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = memory_type(needs.memoryTypeBits)};
    assert_int_equal(FUNCTION(e, vkAllocateMemory)(e->device, &memory, NULL, &t->memory),
                     VK_SUCCESS);
    assert_int_equal(FUNCTION(e, vkBindImageMemory)(e->device, t->image, t->memory, 0), VK_SUCCESS);
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = t->image,
        .viewType = solid ? VK_IMAGE_VIEW_TYPE_3D : VK_IMAGE_VIEW_TYPE_2D,
        .format = format->vk,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    assert_int_equal(FUNCTION(e, vkCreateImageView)(e->device, &view, NULL, &t->view), VK_SUCCESS);
    const uint64_t texels = (uint64_t)extent.width * extent.height * extent.depth;
    assert_int_equal(wf_buffer_create(device, texels * format->components * format->bytes,
                                      WF_MEMORY_UPLOAD, &t->host),
                     WF_SUCCESS);
}

void texture_destroy(const engine *e, texture *t)
{
    FUNCTION(e, vkDestroyImageView)(e->device, t->view, NULL);
    FUNCTION(e, vkDestroyImage)(e->device, t->image, NULL);
    FUNCTION(e, vkFreeMemory)(e->device, t->memory, NULL);
    wf_buffer_destroy(&t->host);
}

static void record_barrier(const engine *e, VkCommandBuffer commands, const texture *t,
                           VkImageLayout from)
{
    const VkAccessFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = all,
        .dstAccessMask = all,
        .oldLayout = from,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = t->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    FUNCTION(e, vkCmdPipelineBarrier)
    (commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL,
     0, NULL, 1, &barrier);
}

static VkBufferImageCopy whole(const texture *t)
{
    return (VkBufferImageCopy){.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = t->extent};
}

void texture_record_upload(const engine *e, VkCommandBuffer commands, const texture *t)
{
    const VkBufferImageCopy region = whole(t);
    record_barrier(e, commands, t, VK_IMAGE_LAYOUT_UNDEFINED);
    FUNCTION(e, vkCmdCopyBufferToImage)
    (commands, wf_buffer_handle(t->host), t->image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    record_barrier(e, commands, t, VK_IMAGE_LAYOUT_GENERAL);
}

void texture_record_download(const engine *e, VkCommandBuffer commands, const texture *t)
{
    const VkBufferImageCopy region = whole(t);
    record_barrier(e, commands, t, VK_IMAGE_LAYOUT_GENERAL);
    FUNCTION(e, vkCmdCopyImageToBuffer)
    (commands, t->image, VK_IMAGE_LAYOUT_GENERAL, wf_buffer_handle(t->host), 1, &region);
}

double texture_get(const texture *t, uint64_t at)
{
    const void *data = wf_buffer_mapped(t->host);
    if (t->format->bytes == 1)
        return ((const unsigned char *)data)[at] / 255.0;
    return wf_element_get(t->format->bytes == 4 ? WF_TYPE_F32 : WF_TYPE_F16, data, at);
}

void texture_set(const texture *t, uint64_t at, double value)
{
    void *data = wf_buffer_mapped(t->host);
    if (t->format->bytes == 1)
        ((unsigned char *)data)[at] = (unsigned char)lrint(fabs(value) * 255);
    else
        wf_element_set(t->format->bytes == 4 ? WF_TYPE_F32 : WF_TYPE_F16, data, at, value);
}
