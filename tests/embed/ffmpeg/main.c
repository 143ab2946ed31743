/* 2,000 frames, three in flight: wavefit's heat stencil makes one video frame of another, both in
 * FFmpeg's own images, which it reads and writes as they are. Now and then FFmpeg brings a frame to
 * the host, where it is compared with the same steps on the CPU. Prints "ok". */
#include "host.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

enum { SIDE = 48, FRAMES = 2000, PROBE_EVERY = 250 };
#define FLOW 0.2 /* of the difference to each neighbour, a step */

static void start(double *plate)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        plate[i] = i % SIDE < 4 || (i * i) % 97 < 9 ? 1 : 0;
}

static void advance(double *plate)
{
    static double before[SIDE * SIDE];
    memcpy(before, plate, sizeof before);
    for (int y = 1; y + 1 < SIDE; y++)
        for (int x = 1; x + 1 < SIDE; x++) {
            const double *at = before + y * SIDE + x;
            plate[y * SIDE + x] =
                (1 - 4 * FLOW) * *at + FLOW * (at[-1] + at[1] + at[-SIDE] + at[SIDE]);
        }
}

typedef struct video {
    AVBufferRef *reference;
    AVHWFramesContext *context;
    AVVulkanFramesContext *vk;
    AVFrame *frames[2], *host;
    wf_plan *plan;
} video;

static void open_video(host *h, video *v)
{
    v->reference = av_hwframe_ctx_alloc(h->reference);
    v->context = (AVHWFramesContext *)v->reference->data;
    v->vk = v->context->hwctx;
    v->context->format = AV_PIX_FMT_VULKAN;
    v->context->sw_format = AV_PIX_FMT_GRAYF32;
    v->context->width = v->context->height = SIDE;
    v->vk->usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                   VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    CHECK(av_hwframe_ctx_init(v->reference));
    for (int i = 0; i < 2; i++) {
        v->frames[i] = av_frame_alloc();
        CHECK(av_hwframe_get_buffer(v->reference, v->frames[i], 0));
    }
    v->host = av_frame_alloc();
    v->host->format = AV_PIX_FMT_GRAYF32;
    v->host->width = v->host->height = SIDE;
    CHECK(av_frame_get_buffer(v->host, 0));
    const double taps[5] = {1 - 4 * FLOW, FLOW, FLOW, FLOW, FLOW};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = SIDE,
                                      .ny = SIDE,
                                      .border = WF_BORDER_DIRICHLET,
                                      .coefficients = taps,
                                      .image = WF_IMAGE_R32F};
    CHECK(wf_stencil_plan(h->wavefit, &params, &v->plan));
}

static void close_video(video *v)
{
    wf_plan_destroy(&v->plan);
    for (int i = 0; i < 2; i++)
        av_frame_free(&v->frames[i]);
    av_frame_free(&v->host);
    av_buffer_unref(&v->reference);
}

static float *row_of(const AVFrame *frame, int y)
{
    return (float *)(void *)(frame->data[0] + (ptrdiff_t)y * frame->linesize[0]);
}

static void upload(const video *v, const double *plate)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            row_of(v->host, y)[x] = (float)plate[y * SIDE + x];
    CHECK(av_hwframe_transfer_data(v->frames[0], v->host, 0));
}

static VkImageView view_of(const host *h, const AVVkFrame *frame)
{
    VkImageView view;
    const VkImageViewUsageCreateInfo usage = {.sType =
                                                  VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO,
                                              .usage = VK_IMAGE_USAGE_STORAGE_BIT};
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .pNext = &usage,
        .image = frame->img[0],
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R32_SFLOAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    CHECK(vkCreateImageView(h->vk->act_dev, &info, NULL, &view));
    return view;
}

/* The frame's last use, as FFmpeg keeps it, before the stencil's. */
static void use(const host *h, VkCommandBuffer buffer, AVVkFrame *frame, VkAccessFlags access)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = (VkAccessFlags)frame->access[0],
        .dstAccessMask = access,
        .oldLayout = frame->layout[0],
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = frame->img[0],
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    (void)h;
    vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    frame->layout[0] = VK_IMAGE_LAYOUT_GENERAL;
    frame->access[0] = access;
}

static void draw(host *h, const video *v, const VkImageView views[2], unsigned number)
{
    AVVkFrame *const frames[2] = {(AVVkFrame *)v->frames[number % 2]->data[0],
                                  (AVVkFrame *)v->frames[1 - number % 2]->data[0]};
    wf_bindings bindings = {.size = sizeof bindings};
    commands *c = host_begin(h, number);
    bindings.images[WF_STENCIL_IN] = views[number % 2];
    bindings.images[WF_STENCIL_OUT] = views[1 - number % 2];
    for (int i = 0; i < 2; i++)
        v->vk->lock_frame(v->context, frames[i]);
    use(h, c->buffer, frames[0], VK_ACCESS_SHADER_READ_BIT);
    use(h, c->buffer, frames[1], VK_ACCESS_SHADER_WRITE_BIT);
    CHECK(wf_plan_record(v->plan, c->buffer, c->arena, &bindings));
    host_submit(h, c, frames);
    for (int i = 1; i >= 0; i--)
        v->vk->unlock_frame(v->context, frames[i]);
}

static double compare(const video *v, unsigned number, const double *plate)
{
    double worst = 0;
    CHECK(av_hwframe_transfer_data(v->host, v->frames[1 - number % 2], 0));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            worst = fmax(worst, fabs(row_of(v->host, y)[x] - plate[y * SIDE + x]));
    return worst;
}

static long resident_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int main(void)
{
    host h;
    video v;
    VkImageView views[2];
    static double plate[SIDE * SIDE];
    double worst = 0;
    long early = 0;
    unsigned blocks = 0;
    host_open(&h);
    open_video(&h, &v);
    start(plate);
    upload(&v, plate);
    for (int i = 0; i < 2; i++)
        views[i] = view_of(&h, (const AVVkFrame *)v.frames[i]->data[0]);
    for (unsigned i = 0; i < FRAMES; i++) {
        draw(&h, &v, views, i);
        advance(plate);
        if (i % PROBE_EVERY == PROBE_EVERY - 1)
            worst = fmax(worst, compare(&v, i, plate));
        if (i == FRAMES / 2) {
            early = resident_kib();
            blocks = h.blocks;
        }
    }
    const long growth = resident_kib() - early;
    const unsigned more = h.blocks - blocks;
    vkDeviceWaitIdle(h.vk->act_dev);
    for (int i = 0; i < 2; i++)
        vkDestroyImageView(h.vk->act_dev, views[i], NULL);
    close_video(&v);
    host_close(&h);
    /* f32 adds at most 2^-24 of 1 in each of five terms; the sum of coefficients is 1. */
    const double bound = 5.0 * FRAMES / (1 << 24);
    const int good = worst <= bound && worst > 0 && growth < 1024 && h.messages == 0 && more == 0;
    printf("%s: %d frames, %u messages, probes differ by at most %.1e (bound %.1e), %u allocations "
           "and %ld KiB more in the last half\n",
           good ? "ok" : "wrong", FRAMES, h.messages, worst, bound, more, growth);
    return good ? 0 : 1;
}
