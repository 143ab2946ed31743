/* What halos cost a Himeno subdomain on one device: the time of its passes beside that of a whole
 * grid of the same extents, for slabs and blocks. Halos go through the object's own memory of the
 * host's; nobody reads what leaves, and what arrives is what lies there.
 * usage: bench_halos [I J K] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wavefit/wavefit.h"

#define WARM_SECONDS 0.2 /* clocks fall while pipelines are compiled */
#define PASSES 60
#define SAMPLES 7

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples)
{
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

static void require(wf_result result, const char *what)
{
    if (result == WF_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", what, (int)result);
    exit(1);
}

/* Microseconds of an iteration of a whole grid. */
static double whole(wf_device *device, const uint32_t cells[3], const wf_tuning *tuning,
                    uint32_t steps)
{
    const wf_himeno_params params = {.size = sizeof params,
                                     .ni = cells[0] + 2,
                                     .nj = cells[1] + 2,
                                     .nk = cells[2] + 2,
                                     .tuning = tuning};
    wf_himeno *h = NULL;
    double samples[SAMPLES], seconds = 0;
    require(wf_himeno_create(device, &params, &h), "a whole grid");
    require(wf_himeno_start(h), "start");
    for (const double begin = now(); now() - begin < WARM_SECONDS;)
        require(wf_himeno_run(h, steps, NULL, NULL, NULL), "run");
    for (int n = 0; n < SAMPLES; n++) {
        require(wf_himeno_run(h, PASSES * steps, NULL, &seconds, NULL), "run");
        samples[n] = seconds / (PASSES * steps) * 1e6;
    }
    wf_himeno_destroy(&h);
    return median(samples);
}

/* Passes behind each other, as under MPI; seconds of one by the host's clock. */
static double passes(wf_himeno *h, uint32_t steps, bool arrived)
{
    const double begin = now();
    require(wf_himeno_pass_begin(h, steps, arrived), "a pass");
    for (int n = 1; n < PASSES; n++)
        require(wf_himeno_pass_next(h, steps, arrived, NULL), "a pass");
    require(wf_himeno_pass_end(h, NULL), "a pass");
    return (now() - begin) / PASSES;
}

static double timed(wf_himeno *h, uint32_t steps, bool arrived)
{
    double samples[SAMPLES];
    for (const double begin = now(); now() - begin < WARM_SECONDS;)
        passes(h, steps, arrived);
    for (int n = 0; n < SAMPLES; n++)
        samples[n] = passes(h, steps, arrived) / steps * 1e6;
    return median(samples);
}

/* The block in the middle, or beside it, in cells of whole work-groups. */
static void measure(wf_device *device, const uint32_t extent[3], const uint32_t blocks[3])
{
    wf_himeno_params params = {
        .size = sizeof params, .ni = extent[0], .nj = extent[1], .nk = extent[2]};
    wf_himeno_cut cut = {.size = sizeof cut};
    require(wf_himeno_plan_cut(device, &params, &cut), "a choice");
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = cut.variant,
                              .constants = cut.constants,
                              .constant_count = cut.constant_count};
    uint32_t first[3], cells[3];
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t inner = extent[axis] - 2, group = cut.group[axis],
                       units = (inner / blocks[axis] + group / 2) / group,
                       each = (units ? units : 1) * group, place = blocks[axis] / 2;
        first[axis] = place * each;
        if (first[axis] + each > inner + group)
            return; /* work-groups are too large for so many */
        cells[axis] =
            place + 1 == blocks[axis] || first[axis] + each > inner ? inner - first[axis] : each;
    }
    params.tuning = &tuning;
    params.first_plane = first[2];
    params.planes = cells[2];
    params.first_row = first[1];
    params.rows = cells[1];
    params.first_cell = first[0];
    params.cells = cells[0];
    wf_himeno *h = NULL;
    wf_halo halo = {.size = sizeof halo};
    require(wf_himeno_create(device, &params, &h), "a block");
    require(wf_himeno_start(h), "start");
    require(wf_himeno_halos(h, &halo), "halos");
    uint64_t bytes = 0;
    int neighbours = 0;
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        bytes += halo.bytes[side];
        neighbours += halo.bytes[side] > 0;
        if (halo.from[side])
            memset(halo.from[side], 0, halo.bytes[side]);
    }
    const double leaves = timed(h, cut.steps, false), both = timed(h, cut.steps, true);
    wf_himeno_destroy(&h);
    const double alone = whole(device, cells, &tuning, cut.steps);
    printf("%ux%ux%u %s %u steps, %ux%ux%u cells, %d neighbours, %.3f MB each way a pass: "
           "alone %.1f us, halos leave %.1f us, and arrive %.1f us an iteration\n",
           blocks[0], blocks[1], blocks[2], cut.variant, cut.steps, cells[0], cells[1], cells[2],
           neighbours, (double)bytes * 1e-6, alone, leaves, both);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const uint32_t cuts[][3] = {{1, 1, 4}, {1, 1, 8}, {1, 2, 4}, {2, 2, 2}, {4, 4, 4}};
    const uint32_t extent[3] = {argc > 3 ? (uint32_t)atoi(argv[1]) : 1024,
                                argc > 3 ? (uint32_t)atoi(argv[2]) : 512,
                                argc > 3 ? (uint32_t)atoi(argv[3]) : 512};
    wf_device *device = NULL;
    require(wf_device_create(NULL, &device), "a device");
    wf_device_poll(device, 1);
    printf("%s, %ux%ux%u\n", wf_device_caps(device)->name, extent[0], extent[1], extent[2]);
    for (size_t n = 0; n < sizeof cuts / sizeof *cuts; n++)
        if (extent[2] / cuts[n][2] > 3)
            measure(device, extent, cuts[n]);
    wf_device_destroy(&device);
    return 0;
}
