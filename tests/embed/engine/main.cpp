// Heat flows over a plate: each frame wavefit's stencil makes the next temperatures in the engine's
// own command buffer, the engine copies them into the texture it samples and draws it. The last
// frame becomes a PNG and is compared with the same steps on the CPU. Prints "ok".
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <png.h>

#include "screen.hpp"

namespace
{

constexpr uint32_t size = 256, frames = 40, steps = 8;
constexpr double flow = 0.2; // of the difference to each neighbour, a step

// A hot ring, a hot bar that the border keeps warm, and cold everywhere else.
std::vector<float> start()
{
    std::vector<float> t(size * size, 0.0f);
    for (uint32_t y = 0; y < size; y++)
        for (uint32_t x = 0; x < size; x++) {
            const double r = std::hypot(double(x) - 150, double(y) - 110);
            if (std::fabs(r - 60) < 6 || (x < 4 && y > 60 && y < 200))
                t[y * size + x] = 1.0f;
        }
    return t;
}

std::vector<double> on_the_cpu()
{
    const std::vector<float> first = start();
    std::vector<double> t(first.begin(), first.end()), next = t;
    for (uint32_t step = 0; step < frames * steps; step++) {
        for (uint32_t y = 1; y + 1 < size; y++)
            for (uint32_t x = 1; x + 1 < size; x++) {
                const size_t i = y * size + x;
                next[i] = (1 - 4 * flow) * t[i] +
                          flow * (t[i - 1] + t[i + 1] + t[i - size] + t[i + size]);
            }
        std::swap(t, next);
    }
    return t;
}

double channel(double temperature, int index)
{
    return 255 * std::clamp(3 * std::clamp(temperature, 0.0, 1.0) - index, 0.0, 1.0);
}

// The largest difference of a colour, of 255.
double compare(const unsigned char *pixels)
{
    const std::vector<double> expected = on_the_cpu();
    double worst = 0;
    for (size_t i = 0; i < expected.size(); i++)
        for (int c = 0; c < 3; c++)
            worst = std::max(worst, std::fabs(pixels[4 * i + c] - channel(expected[i], c)));
    return worst;
}

void write_png(const char *path, const void *pixels)
{
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = image.height = size;
    image.format = PNG_FORMAT_RGBA;
    if (!png_image_write_to_file(&image, path, 0, pixels, 0, nullptr))
        throw std::runtime_error(std::string(path) + " cannot be written");
}

wf_plan *make_plan(wf_device *device)
{
    const double coefficients[5] = {1 - 4 * flow, flow, flow, flow, flow};
    wf_stencil_params params{};
    params.size = sizeof params;
    params.nx = params.ny = size;
    params.shape = WF_STENCIL_STAR;
    params.border = WF_BORDER_DIRICHLET;
    params.coefficients = coefficients;
    params.steps = steps;
    wf_plan *plan = nullptr;
    CHECK(wf_stencil_plan(device, &params, &plan));
    return plan;
}

// The copy into the texture and the next frame's stencil read what compute has written.
void after_stencil(VkCommandBuffer commands)
{
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_SHADER_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0,
                         1, &barrier, 0, nullptr, 0, nullptr);
}

double run(const char *path)
{
    Gpu gpu;
    Screen screen(gpu, size, size);
    const VkDeviceSize bytes = size * size * sizeof(float);
    const VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    Buffer plate[2] = {gpu.make_buffer(bytes, usage, true), gpu.make_buffer(bytes, usage, true)};
    Buffer pixels = gpu.make_buffer(size * size * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true);
    wf_plan *plan = make_plan(gpu.wavefit);
    wf_arena *arena = nullptr;
    CHECK(wf_arena_create(gpu.wavefit, &arena));
    const VkDeviceSize scratch = wf_plan_workspace(plan);
    Buffer workspace = gpu.make_buffer(scratch ? scratch : 4, usage, false);
    const std::vector<float> first = start();
    gpu.write(plate[0], first.data());
    for (uint32_t frame = 0; frame < frames; frame++) {
        wf_bindings bindings{};
        bindings.size = sizeof bindings;
        bindings.items[WF_STENCIL_IN].handle = plate[frame % 2].vk;
        bindings.items[WF_STENCIL_IN].bytes = bytes;
        bindings.items[WF_STENCIL_OUT].handle = plate[1 - frame % 2].vk;
        bindings.items[WF_STENCIL_OUT].bytes = bytes;
        bindings.workspace.handle = workspace.vk;
        bindings.workspace.bytes = workspace.bytes;
        VkCommandBuffer commands = gpu.begin();
        CHECK(wf_plan_record(plan, commands, arena, &bindings));
        after_stencil(commands);
        screen.draw(commands, plate[1 - frame % 2]);
        if (frame + 1 == frames)
            screen.read(commands, pixels);
        gpu.submit_and_wait(commands);
        CHECK(wf_arena_reset(arena));
    }
    const void *picture = gpu.read(pixels);
    if (path)
        write_png(path, picture);
    const double worst = compare(static_cast<const unsigned char *>(picture));
    wf_plan_destroy(&plan);
    wf_arena_destroy(&arena);
    for (Buffer *buffer : {&plate[0], &plate[1], &pixels, &workspace})
        gpu.destroy(*buffer);
    return worst;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const double worst = run(argc > 1 ? argv[1] : nullptr);
        std::printf("%s: colours differ by at most %.2f of 255\n", worst <= 1.5 ? "ok" : "wrong",
                    worst);
        return worst <= 1.5 ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
