/* 2,000 frames, three in flight: wavefit's heat stencil makes the next temperatures in a command
 * buffer of the program, which copies them into a texture of libplacebo's; libplacebo enlarges that
 * into its screen texture. Now and then the screen is compared with the same steps on the CPU.
 * Prints "ok". */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "host.h"

enum { SIDE = 48, FRAMES = 2000, STEPS = 2, ZOOM = 2, PROBE_EVERY = 250, RENEW_EVERY = 400 };
#define FLOW 0.2 /* of the difference to each neighbour, a step */

static void start(double *plate)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        plate[i] = i % SIDE < 4 || (i * i) % 97 < 9 ? 1 : 0;
}

static void advance(double *plate)
{
    static double next[SIDE * SIDE];
    for (int step = 0; step < STEPS; step++) {
        memcpy(next, plate, sizeof next);
        for (int y = 1; y + 1 < SIDE; y++)
            for (int x = 1; x + 1 < SIDE; x++) {
                const int i = y * SIDE + x;
                next[i] = (1 - 4 * FLOW) * plate[i] +
                          FLOW * (plate[i - 1] + plate[i + 1] + plate[i - SIDE] + plate[i + SIDE]);
            }
        memcpy(plate, next, sizeof next);
    }
}

typedef struct heat {
    wf_plan *plan;
    wf_buffer *plates[2], *workspace;
    pl_tex screen;
} heat;

static wf_plan *make_plan(const host *h)
{
    const double coefficients[5] = {1 - 4 * FLOW, FLOW, FLOW, FLOW, FLOW};
    const wf_stencil_params params = {.size = sizeof params,
                                      .nx = SIDE,
                                      .ny = SIDE,
                                      .border = WF_BORDER_DIRICHLET,
                                      .coefficients = coefficients,
                                      .steps = STEPS};
    wf_plan *plan = NULL;
    CHECK(wf_stencil_plan(h->wavefit, &params, &plan));
    return plan;
}

static void open_heat(host *h, heat *heat)
{
    double plate[SIDE * SIDE];
    float values[SIDE * SIDE];
    start(plate);
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (float)plate[i];
    heat->plan = make_plan(h);
    for (int i = 0; i < 2; i++)
        CHECK(wf_buffer_create(h->wavefit, sizeof values, WF_MEMORY_DEVICE, &heat->plates[i]));
    const uint64_t scratch = wf_plan_workspace(heat->plan);
    CHECK(wf_buffer_create(h->wavefit, scratch ? scratch : 4, WF_MEMORY_DEVICE, &heat->workspace));
    CHECK(wf_buffer_write(heat->plates[0], 0, values, sizeof values));
    /* Once on wavefit's own account, through libplacebo's lock. */
    wf_bindings bindings = {.size = sizeof bindings, .workspace = {.buffer = heat->workspace}};
    bindings.items[WF_STENCIL_IN].buffer = heat->plates[0];
    bindings.items[WF_STENCIL_OUT].buffer = heat->plates[1];
    CHECK(wf_plan_run(heat->plan, &bindings));
    heat->screen =
        pl_tex_create(h->vk->gpu, pl_tex_params(.w = ZOOM * SIDE, .h = ZOOM * SIDE,
                                                .host_readable = true, .blit_dst = true,
                                                .format = pl_find_named_fmt(h->vk->gpu, "r32f")));
    if (!heat->screen)
        exit(1);
}

static void close_heat(host *h, heat *heat)
{
    wf_plan_destroy(&heat->plan);
    for (int i = 0; i < 2; i++)
        wf_buffer_destroy(&heat->plates[i]);
    wf_buffer_destroy(&heat->workspace);
    pl_tex_destroy(h->vk->gpu, &heat->screen);
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags writes,
                    VkPipelineStageFlags to, VkAccessFlags accesses)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = writes,
                                    .dstAccessMask = accesses};
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* The frame before has written what this one reads, and has read what this one writes. */
static void record(const heat *heat, const frame *f, unsigned number, VkImage picture)
{
    const unsigned out = 1 - number % 2;
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {SIDE, SIDE, 1}};
    wf_bindings bindings = {.size = sizeof bindings, .workspace = {.buffer = heat->workspace}};
    bindings.items[WF_STENCIL_IN].buffer = heat->plates[1 - out];
    bindings.items[WF_STENCIL_OUT].buffer = heat->plates[out];
    barrier(f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    CHECK(wf_plan_record(heat->plan, f->commands, f->arena, &bindings));
    barrier(f->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    vkCmdCopyBufferToImage(f->commands, wf_buffer_handle(heat->plates[out]), picture,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

static void draw(host *h, const heat *heat, unsigned number)
{
    frame *f = host_begin(h, number);
    const VkImage picture = pl_vulkan_unwrap(h->vk->gpu, f->picture, NULL, NULL);
    const uint64_t held = ++h->value;
    if (!pl_vulkan_hold_ex(
            h->vk->gpu,
            pl_vulkan_hold_params(.tex = f->picture, .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                  .qf = VK_QUEUE_FAMILY_IGNORED, .semaphore = {h->timeline, held})))
        exit(1);
    record(heat, f, number, picture);
    host_submit(h, f, held);
    pl_vulkan_release_ex(h->vk->gpu,
                         pl_vulkan_release_params(.tex = f->picture,
                                                  .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                                  .qf = VK_QUEUE_FAMILY_IGNORED,
                                                  .semaphore = {h->timeline, f->done}));
    pl_tex_blit(h->vk->gpu,
                &(struct pl_tex_blit_params){.src = f->picture,
                                             .dst = heat->screen,
                                             .src_rc = {0, 0, 0, SIDE, SIDE, 1},
                                             .dst_rc = {0, 0, 0, ZOOM * SIDE, ZOOM * SIDE, 1},
                                             .sample_mode = PL_TEX_SAMPLE_NEAREST});
    pl_gpu_flush(h->vk->gpu);
}

/* The largest difference of a pixel of the screen. */
static double compare(host *h, const heat *heat, const double *plate)
{
    static float pixels[ZOOM * SIDE * ZOOM * SIDE];
    double worst = 0;
    if (!pl_tex_download(h->vk->gpu, pl_tex_transfer_params(.tex = heat->screen, .ptr = pixels)))
        exit(1);
    for (int y = 0; y < ZOOM * SIDE; y++)
        for (int x = 0; x < ZOOM * SIDE; x++)
            worst =
                fmax(worst, fabs(pixels[y * ZOOM * SIDE + x] - plate[y / ZOOM * SIDE + x / ZOOM]));
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
    heat heat = {0};
    static double plate[SIDE * SIDE];
    double worst = 0;
    long early = 0;
    host_open(&h, SIDE, SIDE);
    open_heat(&h, &heat);
    const unsigned locks = h.locks;
    start(plate);
    for (unsigned i = 0; i < FRAMES; i++) {
        draw(&h, &heat, i);
        /* Frames in flight still use the plan. Drivers' compilers keep some memory, so that this is
         * done before memory is looked at. */
        if (i < FRAMES / 2 && i % RENEW_EVERY == RENEW_EVERY - 1) {
            CHECK(wf_plan_destroy_after(&heat.plan, h.timeline, h.value));
            heat.plan = make_plan(&h);
        }
        advance(plate);
        if (i % PROBE_EVERY == PROBE_EVERY - 1)
            worst = fmax(worst, compare(&h, &heat, plate));
        if (i == FRAMES / 2)
            early = resident_kib();
    }
    const long growth = resident_kib() - early;
    pl_gpu_finish(h.vk->gpu);
    uint32_t left = 1;
    CHECK(wf_device_collect(h.wavefit, &left));
    close_heat(&h, &heat);
    host_close(&h);
    /* f32 adds at most 2^-24 of 1 in each of five terms; the sum of coefficients is 1. */
    const double bound = 5.0 * FRAMES * STEPS / (1 << 24);
    const int good =
        worst <= bound && worst > 0 && locks > 0 && growth < 1024 && h.messages == 0 && left == 0;
    printf("%s: %d frames, %u messages, probes differ by at most %.1e (bound %.1e), %u locked "
           "submissions, %ld KiB more in the last half\n",
           good ? "ok" : "wrong", FRAMES, h.messages, worst, bound, locks, growth);
    return good ? 0 : 1;
}
