// 2,000 frames, three in flight by a timeline semaphore: a heat stencil whose plates are buffers of
// VMA's that are made anew now and then, so that handles come back, and a product whose sizes each
// frame draws. wavefit's own memory is VMA's, too. Now and then both are compared with the CPU.
// Prints "ok".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gpu.hpp"

namespace
{

constexpr uint32_t side = 48, in_flight = 3, frame_count = 2000, probe_every = 250;
constexpr uint32_t renew_every = 40, most = 24;
constexpr double flow = 0.2; // of the difference to each neighbour, a step

struct Slot {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    wf_arena *arena = nullptr;
    uint64_t done = 0; // the semaphore's value at its end
};

struct Host {
    Gpu gpu{true};
    VkSemaphore timeline = VK_NULL_HANDLE;
    uint64_t value = 0;
    std::array<Slot, in_flight> slots;
    std::array<Buffer, 2> plates;
    std::array<Buffer, 3> matrices;
    Buffer workspace;
    wf_plan *heat = nullptr, *product = nullptr;
    std::vector<double> plate = std::vector<double>(side * side);
    uint32_t random = 1;
};

uint32_t draw(Host &h, uint32_t below)
{
    h.random = h.random * 1664525u + 1013904223u;
    return (h.random >> 16) % below;
}

void advance(std::vector<double> &plate)
{
    const std::vector<double> t = plate;
    for (uint32_t y = 1; y + 1 < side; y++)
        for (uint32_t x = 1; x + 1 < side; x++) {
            const size_t i = y * side + x;
            plate[i] =
                (1 - 4 * flow) * t[i] + flow * (t[i - 1] + t[i + 1] + t[i - side] + t[i + side]);
        }
}

wf_plan *make_heat(Host &h)
{
    const double taps[5] = {1 - 4 * flow, flow, flow, flow, flow};
    wf_stencil_params params{};
    params.size = sizeof params;
    params.nx = params.ny = side;
    params.border = WF_BORDER_DIRICHLET;
    params.coefficients = taps;
    wf_plan *plan = nullptr;
    CHECK(wf_stencil_plan(h.gpu.wavefit, &params, &plan));
    return plan;
}

wf_plan *make_product(Host &h)
{
    wf_matmul_params params{};
    params.size = sizeof params;
    params.m = params.n = params.k = most;
    params.vary_m = params.vary_n = params.vary_k = 1;
    wf_plan *plan = nullptr;
    CHECK(wf_matmul_plan(h.gpu.wavefit, &params, &plan));
    return plan;
}

Buffer make_plate(Host &h)
{
    return h.gpu.make_buffer(side * side * sizeof(float), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true);
}

float small(uint32_t i)
{
    return static_cast<float>(i * 7 % 5) - 2.0f;
}

void open(Host &h)
{
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    info.pNext = &type;
    CHECK(vkCreateSemaphore(h.gpu.device, &info, nullptr, &h.timeline));
    for (Slot &slot : h.slots) {
        slot.pool = h.gpu.make_pool(&slot.commands);
        CHECK(wf_arena_create(h.gpu.wavefit, &slot.arena));
    }
    std::vector<float> values(side * side);
    for (uint32_t i = 0; i < side * side; i++)
        values[i] = static_cast<float>(h.plate[i] = i % side < 4 || i * i % 97 < 9 ? 1 : 0);
    for (Buffer &plate : h.plates)
        plate = make_plate(h);
    h.gpu.write(h.plates[0], values.data());
    std::vector<float> numbers(most * most);
    for (uint32_t i = 0; i < most * most; i++)
        numbers[i] = small(i);
    for (Buffer &matrix : h.matrices) {
        matrix = h.gpu.make_buffer(most * most * sizeof(float), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                   true);
        h.gpu.write(matrix, numbers.data());
    }
    h.heat = make_heat(h);
    h.product = make_product(h);
    const VkDeviceSize scratch =
        std::max<VkDeviceSize>({wf_plan_workspace(h.heat), wf_plan_workspace(h.product), 4});
    h.workspace = h.gpu.make_buffer(scratch, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false);
}

void await(Host &h, uint64_t value)
{
    VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    wait.semaphoreCount = 1;
    wait.pSemaphores = &h.timeline;
    wait.pValues = &value;
    CHECK(vkWaitSemaphores(h.gpu.device, &wait, UINT64_MAX));
}

void close(Host &h)
{
    await(h, h.value);
    wf_plan_destroy(&h.heat);
    wf_plan_destroy(&h.product);
    for (Slot &slot : h.slots) {
        wf_arena_destroy(&slot.arena);
        vkDestroyCommandPool(h.gpu.device, slot.pool, nullptr);
    }
    for (Buffer *buffer :
         {&h.plates[0], &h.plates[1], &h.matrices[0], &h.matrices[1], &h.matrices[2], &h.workspace})
        h.gpu.destroy(*buffer);
    vkDestroySemaphore(h.gpu.device, h.timeline, nullptr);
}

void bind(wf_binding &binding, const Buffer &buffer)
{
    binding.handle = buffer.vk;
    binding.bytes = buffer.bytes;
}

// What the frame before wrote is read, and what it read is written; the host may read it all.
void after_compute(VkCommandBuffer commands)
{
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask =
        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
}

void frame(Host &h, uint32_t number, uint64_t extent[3])
{
    Slot &slot = h.slots[number % in_flight];
    await(h, slot.done);
    CHECK(vkResetCommandPool(h.gpu.device, slot.pool, 0));
    CHECK(wf_arena_reset(slot.arena));
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    CHECK(vkBeginCommandBuffer(slot.commands, &begin));
    wf_bindings bindings{};
    bindings.size = sizeof bindings;
    bind(bindings.workspace, h.workspace);
    bind(bindings.items[WF_STENCIL_IN], h.plates[number % 2]);
    bind(bindings.items[WF_STENCIL_OUT], h.plates[1 - number % 2]);
    CHECK(wf_plan_record(h.heat, slot.commands, slot.arena, &bindings));
    after_compute(slot.commands); // the workspace is one for both
    for (int i = 0; i < 3; i++) {
        bind(bindings.items[i], h.matrices[i]);
        bindings.extent[i] = extent[i] = 1 + draw(h, most);
    }
    CHECK(wf_plan_record(h.product, slot.commands, slot.arena, &bindings));
    after_compute(slot.commands);
    slot.done = ++h.value;
    h.gpu.submit(slot.commands, h.timeline, slot.done);
}

// A plate that nobody reads any more ends, and another begins, often with its handle.
void renew_plate(Host &h, uint32_t number)
{
    await(h, h.value);
    Buffer &stale = h.plates[number % 2]; // what the last frame read
    h.gpu.destroy(stale);
    stale = make_plate(h);
}

double compare(Host &h, uint32_t number, const uint64_t extent[3])
{
    await(h, h.value);
    double worst = 0;
    const float *plate = static_cast<const float *>(h.gpu.read(h.plates[1 - number % 2]));
    for (uint32_t i = 0; i < side * side; i++)
        worst = std::max(worst, std::fabs(plate[i] - h.plate[i]));
    const float *c = static_cast<const float *>(h.gpu.read(h.matrices[WF_MATMUL_C]));
    for (uint64_t i = 0; i < extent[0]; i++)
        for (uint64_t j = 0; j < extent[1]; j++) {
            double sum = 0; // of small whole numbers, which f32 adds without error
            for (uint64_t k = 0; k < extent[2]; k++)
                sum += double(small(uint32_t(i * most + k))) * small(uint32_t(k * most + j));
            worst = std::max(worst, std::fabs(c[i * most + j] - sum));
        }
    return worst;
}

int run()
{
    Host h;
    open(h);
    double worst = 0;
    unsigned allocations = 0;
    VkDeviceSize early = 0;
    for (uint32_t i = 0; i < frame_count; i++) {
        uint64_t extent[3];
        frame(h, i, extent);
        advance(h.plate);
        if (i % probe_every == probe_every - 1)
            worst = std::max(worst, compare(h, i, extent));
        if (i % renew_every == renew_every - 1)
            renew_plate(h, i);
        if (i < frame_count / 2 && i % probe_every == probe_every / 2) {
            CHECK(wf_plan_destroy_after(&h.heat, h.timeline, h.value));
            h.heat = make_heat(h);
        }
        if (i == frame_count / 2) {
            allocations = h.gpu.allocations;
            early = h.gpu.bytes();
        }
    }
    allocations = h.gpu.allocations - allocations;
    const long long growth = static_cast<long long>(h.gpu.bytes() - early);
    uint32_t left = 1;
    await(h, h.value);
    CHECK(wf_device_collect(h.gpu.wavefit, &left));
    close(h);
    // f32 adds at most 2^-24 of 1 in each of five terms; the sum of coefficients is 1.
    const double bound = 5.0 * frame_count / (1 << 24);
    const bool good = worst <= bound && worst > 0 && allocations == 0 && growth == 0 &&
                      h.gpu.messages == 0 && left == 0;
    std::printf("%s: %u frames, %u messages, probes differ by at most %.1e (bound %.1e), in the "
                "last half %u allocations, %lld bytes more of VMA's\n",
                good ? "ok" : "wrong", frame_count, h.gpu.messages, worst, bound, allocations,
                growth);
    return good ? 0 : 1;
}

} // namespace

int main()
{
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
