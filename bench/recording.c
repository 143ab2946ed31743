/* What recording a plan costs the host: one wf_plan_record of a product into a command buffer,
 * with push descriptors and with sets of an arena, its reset included; then the same with sizes
 * that change from recording to recording. No validation layer should be on. */
#include <stdio.h>
#include <stdlib.h>

#include "core/command.h"
#include "core/timing.h"

enum { RECORDINGS = 2000, ROUNDS = 15 };

typedef struct recordings {
    wf_plan *plan;
    wf_arena *arena;
    const wf_bindings *bindings;
    bool sizes; /* change */
    double seconds;
} recordings;

static wf_result record_many(void *user, VkCommandBuffer command_buffer)
{
    recordings *r = user;
    wf_bindings bindings = *r->bindings;
    wf_result result = WF_SUCCESS;
    const double start = wfi_host_seconds();
    for (int i = 0; i < RECORDINGS && result == WF_SUCCESS; i++) {
        bindings.extent[0] = r->sizes ? 1 + (uint64_t)i % 7 : 0;
        result = wf_plan_record(r->plan, command_buffer, r->arena, &bindings);
    }
    r->seconds = wfi_host_seconds() - start;
    return result;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static wf_result measure(wf_device *device, wf_plan *plan, wf_arena *arena,
                         const wf_bindings *bindings, bool sizes, const char *name)
{
    double samples[ROUNDS];
    wf_plan_info info = {.size = sizeof info};
    wf_plan_describe(plan, &info);
    for (int i = 0; i < ROUNDS; i++) {
        recordings r = {plan, arena, bindings, sizes, 0};
        wf_result result = wfi_run(device, record_many, &r);
        if (result != WF_SUCCESS)
            return result;
        const double start = wfi_host_seconds();
        wf_arena_reset(arena);
        samples[i] = (r.seconds + wfi_host_seconds() - start) / RECORDINGS * 1e6;
    }
    qsort(samples, ROUNDS, sizeof *samples, compare);
    printf("%-16s %-13s %u dispatch: %.3f us a recording (median of %d, least %.3f)\n", name,
           sizes ? "sizes change" : "one size", info.dispatches, samples[ROUNDS / 2], ROUNDS,
           samples[0]);
    return WF_SUCCESS;
}

static wf_result run(wf_device *device, const char *name)
{
    const wf_matmul_params params = {.size = sizeof params, .m = 8, .n = 8, .k = 8, .vary_m = 1};
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    wf_plan *plan = NULL;
    wf_arena *arena = NULL;
    wf_result result = wf_matmul_plan(device, &params, &plan);
    if (result == WF_SUCCESS)
        result = wf_arena_create(device, &arena);
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(device, 256, WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, 256, 0);
        bindings.items[i].buffer = buffers[i];
    }
    if (result == WF_SUCCESS)
        result = measure(device, plan, arena, &bindings, false, name);
    if (result == WF_SUCCESS)
        result = measure(device, plan, arena, &bindings, true, name);
    wf_plan_destroy(&plan);
    wf_arena_destroy(&arena);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    return result;
}

int main(void)
{
    wf_device *device = NULL;
    wf_result result = wf_device_create(NULL, &device);
    if (result == WF_SUCCESS) {
        printf("%s\n", device->caps.name);
        if (device->caps.push_descriptors)
            result = run(device, "push descriptors");
        device->caps.push_descriptors = false;
    }
    if (result == WF_SUCCESS)
        result = run(device, "descriptor sets");
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
