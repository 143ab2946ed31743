/* Storage images of an application's, with their texels in a buffer of the host's. */
#ifndef WFI_TESTS_TEXTURE_H
#define WFI_TESTS_TEXTURE_H

#include "engine.h"

typedef struct texture_format {
    wf_image image;
    VkFormat vk;
    uint32_t components, bytes; /* bytes of a component */
} texture_format;

enum { TEXTURE_FORMATS = 4 };
extern const texture_format texture_formats[TEXTURE_FORMATS];

typedef struct texture {
    const texture_format *format;
    VkExtent3D extent;
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    wf_buffer *host; /* its texels */
} texture;

/* An image of three dimensions where its depth is over 1, else of two. */
void texture_make(const engine *e, wf_device *device, const texture_format *format,
                  VkExtent3D extent, texture *out);
void texture_destroy(const engine *e, texture *t);

/* From and to the host's buffer, with all barriers; the image is in layout GENERAL afterwards. */
void texture_record_upload(const engine *e, VkCommandBuffer commands, const texture *t);
void texture_record_download(const engine *e, VkCommandBuffer commands, const texture *t);

/* Component `at` of all in the host's buffer; what is set of RGBA8 is the magnitude. */
double texture_get(const texture *t, uint64_t at);
void texture_set(const texture *t, uint64_t at, double value);

#endif
