/* Rates of wf_buffer_write and wf_buffer_read by size, from and to memory of malloc, before and
 * after it is imported, and the time of short calls and of a small result from the call
 * that computes it until the host has it. bench/peers/cuda/transfers.cu prints CUDA's figures for
 * the same sizes.
 * usage: bench_transfers [THREADS]     (that copy; without it what the library takes) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/staging.h"

#define LEAST (UINT64_C(4) << 10)
#define MOST (UINT64_C(1) << 30)
#define MOST_SMALL (UINT64_C(256) << 10) /* sizes by twos up to it, by fours from there on */
#define SECONDS 0.3                      /* a size and direction */
#define SAMPLES 400
#define CALLS 2000
#define SIDE 64 /* of the short calls' product */

static void print_log(void *user, wf_log_level level, const char *text)
{
    (void)user;
    if (level == WF_LOG_ERROR)
        fprintf(stderr, "%s\n", text);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* The median time of a transfer, in seconds; negative: it failed. */
static double time_of(wf_buffer *buffer, unsigned char *data, uint64_t bytes, bool up)
{
    static double times[SAMPLES];
    int count = 0;
    const double begin = wfi_host_seconds();
    while (count < SAMPLES && (count < 3 || wfi_host_seconds() - begin < SECONDS)) {
        const double start = wfi_host_seconds();
        if ((up ? wf_buffer_write(buffer, 0, data, bytes)
                : wf_buffer_read(buffer, 0, data, bytes)) != WF_SUCCESS)
            return -1;
        times[count++] = wfi_host_seconds() - start;
    }
    return median(times, count);
}

static bool print_rates(wf_device *device, uint64_t most, bool imported)
{
    wf_buffer *buffer = NULL;
    wf_host_memory *host = NULL;
    unsigned char *data = malloc(most);
    bool ok = data && wf_buffer_create(device, most, WF_MEMORY_DEVICE, &buffer) == WF_SUCCESS;
    if (data)
        memset(data, 1, most);
    const double start = wfi_host_seconds();
    if (ok && imported && wf_host_memory_create(device, data, most, &host) == WF_SUCCESS)
        printf("importing: %.1f ms\n", (wfi_host_seconds() - start) * 1e3);
    else if (imported) /* the log says why */
        most = 0;
    printf("%12s %10s %10s %10s %10s  %s\n", "bytes", "up us", "GB/s", "down us", "GB/s",
           imported ? "imported" : "malloc");
    for (uint64_t bytes = LEAST; ok && bytes <= most; bytes *= bytes < MOST_SMALL ? 2 : 4) {
        const double up = time_of(buffer, data, bytes, true),
                     down = time_of(buffer, data, bytes, false);
        ok = up > 0 && down > 0;
        printf("%12llu %10.1f %10.2f %10.1f %10.2f\n", (unsigned long long)bytes, up * 1e6,
               (double)bytes / up * 1e-9, down * 1e6, (double)bytes / down * 1e-9);
    }
    wf_host_memory_destroy(&host);
    wf_buffer_destroy(&buffer);
    free(data);
    return ok;
}

typedef struct answer {
    wf_plan *plan;
    wf_buffer *buffers[4];
    wf_bindings bindings;
} answer;

/* A product whose result has so many bytes and is in memory of the kind. */
static bool open_answer(wf_device *device, uint64_t bytes, wf_memory kind, answer *a)
{
    const wf_matmul_params params = {
        .size = sizeof params, .m = bytes / SIDE / sizeof(float), .n = SIDE, .k = SIDE};
    *a = (answer){.bindings = {.size = sizeof a->bindings}};
    bool ok = wf_matmul_plan(device, &params, &a->plan) == WF_SUCCESS;
    const uint64_t sizes[] = {bytes, SIDE * SIDE * sizeof(float), bytes,
                              ok ? wf_plan_workspace(a->plan) : 0};
    for (int i = 0; ok && i < 4; i++) {
        wf_buffer **b = &a->buffers[i];
        ok = !sizes[i] || (wf_buffer_create(device, sizes[i], i == 2 ? kind : WF_MEMORY_DEVICE,
                                            b) == WF_SUCCESS &&
                           wf_buffer_fill(*b, 0, sizes[i], 0) == WF_SUCCESS);
        *(i < 3 ? &a->bindings.items[i] : &a->bindings.workspace) = (wf_binding){.buffer = *b};
    }
    return ok;
}

/* The median time of a run and of reading its result, in seconds; negative: it failed. */
static double time_answer(wf_device *device, uint64_t bytes, wf_memory kind)
{
    static double times[SAMPLES];
    static unsigned char data[MOST_SMALL];
    answer a;
    bool ok = open_answer(device, bytes, kind, &a);
    for (int i = 0; ok && i < SAMPLES; i++) {
        const double start = wfi_host_seconds();
        ok = wf_plan_run(a.plan, &a.bindings) == WF_SUCCESS &&
             wf_buffer_read(a.buffers[2], 0, data, bytes) == WF_SUCCESS;
        times[i] = wfi_host_seconds() - start;
    }
    for (int i = 0; i < 4; i++)
        wf_buffer_destroy(&a.buffers[i]);
    wf_plan_destroy(&a.plan);
    return ok ? median(times, SAMPLES) : -1;
}

static bool print_answers(wf_device *device)
{
    printf("a product and its result read, by where that is\n%12s %10s %10s\n", "bytes",
           "device us", "host us");
    for (uint64_t bytes = LEAST; bytes <= MOST_SMALL; bytes *= 2) {
        const double there = time_answer(device, bytes, WF_MEMORY_DEVICE),
                     here = time_answer(device, bytes, WF_MEMORY_READBACK);
        if (there < 0 || here < 0)
            return false;
        printf("%12llu %10.1f %10.1f\n", (unsigned long long)bytes, there * 1e6, here * 1e6);
    }
    return true;
}

static bool print_calls(wf_device *device)
{
    static double times[CALLS];
    const wf_matmul_params params = {.size = sizeof params, .m = SIDE, .n = SIDE, .k = SIDE};
    wf_plan *plan = NULL, *again = NULL;
    wf_buffer *buffers[4] = {NULL};
    wf_bindings bindings = {.size = sizeof bindings};
    double seconds = 0, before = wfi_host_seconds();
    bool gpu_clock = false, ok = wf_matmul_plan(device, &params, &plan) == WF_SUCCESS;
    const double first = wfi_host_seconds() - before;
    before = wfi_host_seconds();
    ok = ok && wf_matmul_plan(device, &params, &again) == WF_SUCCESS;
    const double second = wfi_host_seconds() - before;
    for (int i = 0; ok && i < 4; i++) {
        const uint64_t bytes = i < 3 ? SIDE * SIDE * sizeof(float) : wf_plan_workspace(plan);
        ok = !bytes ||
             (wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffers[i]) == WF_SUCCESS &&
              wf_buffer_fill(buffers[i], 0, bytes, 0) == WF_SUCCESS);
        *(i < 3 ? &bindings.items[i] : &bindings.workspace) = (wf_binding){.buffer = buffers[i]};
    }
    for (int i = 0; ok && i < CALLS; i++) {
        before = wfi_host_seconds();
        ok = wf_plan_run(plan, &bindings) == WF_SUCCESS;
        times[i] = wfi_host_seconds() - before;
    }
    ok = ok && wf_plan_run_times(plan, &bindings, 100, &seconds, &gpu_clock) == WF_SUCCESS;
    if (ok)
        printf("wf_plan_run of %d^3: %.1f us; on the device %.1f us\n"
               "a plan: %.2f ms; the same again: %.2f ms\n",
               SIDE, median(times, CALLS) * 1e6, seconds / 100 * 1e6, first * 1e3, second * 1e3);
    for (int i = 0; i < 4; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_plan_destroy(&plan);
    wf_plan_destroy(&again);
    return ok;
}

int main(int argc, char **argv)
{
    const wf_device_params params = {.size = sizeof params, .log = print_log};
    wf_device *device = NULL;
    if (wf_device_create(&params, &device) != WF_SUCCESS)
        return 3;
    const uint64_t left = device->caps.available_bytes / 4;
    uint64_t most = MOST;
    while (most > left)
        most /= 4;
    wfi_staging *staging = NULL;
    if (wfi_staging_of(device, &staging) == WF_SUCCESS && argc > 1) {
        staging->threads = (uint32_t)strtoul(argv[1], NULL, 10);
        staging->workers.most = staging->threads - 1;
    }
    printf("%s, %u threads\n", device->caps.name, staging ? staging->threads : 1);
    const bool ok = staging && print_calls(device) && print_answers(device) &&
                    print_rates(device, most, false) &&
                    (!device->caps.host_import_alignment || print_rates(device, most, true));
    wf_device_destroy(&device);
    return ok ? 0 : 1;
}
