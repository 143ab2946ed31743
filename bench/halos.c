/* What halos cost a part of a grid on one device, of Himeno's or of a star of radius 1: the time of
 * its passes beside that of a whole grid of the same extents, for slabs and blocks. Halos go
 * through the object's own memory of the host's; nobody reads what leaves, and what arrives is what
 * lies there. A stencil's halos always arrive.
 * MARCH is Himeno's, in place of its own choice.
 * usage: bench_halos [himeno|stencil [I J K [MARCH]]] */
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

/* A part of a grid of either kind. */
typedef struct part {
    wf_himeno *himeno;
    wf_stencil_slab *stencil; /* NULL: it is Himeno's */
    uint32_t steps;           /* of a pass */
} part;

static wf_result begin_pass(const part *p, bool arrived)
{
    return p->stencil ? wf_stencil_slab_pass_begin(p->stencil, p->steps)
                      : wf_himeno_pass_begin(p->himeno, p->steps, arrived);
}

static wf_result next_pass(const part *p, bool arrived)
{
    return p->stencil ? wf_stencil_slab_pass_next(p->stencil, p->steps, NULL)
                      : wf_himeno_pass_next(p->himeno, p->steps, arrived, NULL);
}

static wf_result end_pass(const part *p)
{
    return p->stencil ? wf_stencil_slab_pass_end(p->stencil, NULL)
                      : wf_himeno_pass_end(p->himeno, NULL);
}

/* Passes behind each other, as under MPI; seconds of one by the host's clock. */
static double passes(const part *p, bool arrived)
{
    const double begin = now();
    require(begin_pass(p, arrived), "a pass");
    for (int n = 1; n < PASSES; n++)
        require(next_pass(p, arrived), "a pass");
    require(end_pass(p), "a pass");
    return (now() - begin) / PASSES;
}

/* Microseconds of an iteration or a step. */
static double timed(const part *p, bool arrived)
{
    double samples[SAMPLES];
    for (const double begin = now(); now() - begin < WARM_SECONDS;)
        passes(p, arrived);
    for (int n = 0; n < SAMPLES; n++)
        samples[n] = passes(p, arrived) / p->steps * 1e6;
    return median(samples);
}

/* Microseconds until a pass that follows no other has left its halos, by the host's clock. */
static double leaving(const part *p)
{
    double samples[SAMPLES];
    for (int n = 0; n < SAMPLES; n++) {
        passes(p, true);
        const double begin = now();
        require(begin_pass(p, true), "a pass");
        samples[n] = (now() - begin) * 1e6;
        require(end_pass(p), "a pass");
    }
    return median(samples);
}

/* Clears what arrives; the bytes that leave, and for how many neighbours. */
static uint64_t look_at_halos(const wf_halo *halo, int *neighbours)
{
    uint64_t bytes = 0;
    *neighbours = 0;
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        bytes += halo->bytes[side];
        *neighbours += halo->bytes[side] > 0;
        if (halo->from[side])
            memset(halo->from[side], 0, halo->bytes[side]);
    }
    return bytes;
}

static void print_part(const uint32_t blocks[3], const char *variant, uint32_t steps,
                       const uint32_t cells[3], const wf_halo *halo)
{
    int neighbours = 0;
    const uint64_t bytes = look_at_halos(halo, &neighbours);
    printf("%ux%ux%u %s %u steps, %ux%ux%u cells, %d neighbours, %.3f MB each way a pass: ",
           blocks[0], blocks[1], blocks[2], variant, steps, cells[0], cells[1], cells[2],
           neighbours, (double)bytes * 1e-6);
}

/* The block in the middle, or beside it, in cells of whole work-groups. */
static void measure_himeno(wf_device *device, const uint32_t extent[3], const uint32_t blocks[3],
                           uint32_t march)
{
    const wf_constant marched = {"march", march};
    const wf_tuning asked = {
        .size = sizeof asked, .constants = &marched, .constant_count = march ? 1 : 0};
    wf_himeno_params params = {
        .size = sizeof params, .ni = extent[0], .nj = extent[1], .nk = extent[2], .tuning = &asked};
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
    print_part(blocks, cut.variant, cut.steps, cells, &halo);
    const part p = {.himeno = h, .steps = cut.steps};
    const double leaves = timed(&p, false), both = timed(&p, true), left = leaving(&p);
    wf_himeno_destroy(&h);
    const double alone = whole(device, cells, &tuning, cut.steps);
    printf("alone %.1f us, halos leave %.1f us, and arrive %.1f us an iteration; a pass's have "
           "left after %.1f us\n",
           alone, leaves, both, left);
    fflush(stdout);
}

static wf_stencil_slab *open_stencil(wf_device *device, const wf_stencil_slab_params *params,
                                     uint64_t bytes)
{
    wf_stencil_slab *slab = NULL;
    void *zeros = calloc(1, bytes);
    require(zeros ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY, "memory");
    require(wf_stencil_slab_create(device, params, &slab), "a part");
    require(wf_stencil_slab_write(slab, zeros), "its cells");
    free(zeros);
    return slab;
}

static void measure_stencil(wf_device *device, const uint32_t extent[3], const uint32_t blocks[3])
{
    static const double coefficients[] = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    wf_stencil_params grid = {.size = sizeof grid,
                              .nx = extent[0],
                              .ny = extent[1],
                              .nz = extent[2],
                              .coefficients = coefficients,
                              .steps = PASSES};
    wf_stencil_cut cut = {.size = sizeof cut};
    require(wf_stencil_plan_cut(device, &grid, &cut), "a choice");
    const wf_tuning tuning = {.size = sizeof tuning,
                              .variant = cut.variant,
                              .constants = cut.constants,
                              .constant_count = cut.constant_count};
    uint32_t cells[3], first[3];
    for (int axis = 0; axis < 3; axis++) {
        cells[axis] = extent[axis] / blocks[axis];
        first[axis] = blocks[axis] / 2 * cells[axis];
    }
    const uint64_t bytes = (uint64_t)cells[0] * cells[1] * cells[2] * sizeof(float);
    grid.tuning = &tuning;
    const wf_stencil_slab_params params = {.size = sizeof params,
                                           .grid = &grid,
                                           .first_plane = first[2],
                                           .planes = cells[2],
                                           .first_row = first[1],
                                           .rows = cells[1],
                                           .first_cell = first[0],
                                           .cells = cells[0]};
    wf_halo halo = {.size = sizeof halo};
    part p = {.stencil = open_stencil(device, &params, bytes), .steps = cut.steps};
    require(wf_stencil_slab_halos(p.stencil, &halo), "halos");
    print_part(blocks, cut.variant, cut.steps, cells, &halo);
    const double both = timed(&p, true), left = leaving(&p);
    wf_stencil_slab_destroy(&p.stencil);
    grid.nx = cells[0];
    grid.ny = cells[1];
    grid.nz = cells[2];
    const wf_stencil_slab_params all = {.size = sizeof all, .grid = &grid, .planes = cells[2]};
    p.stencil = open_stencil(device, &all, bytes);
    const double alone = timed(&p, true);
    wf_stencil_slab_destroy(&p.stencil);
    printf("alone %.1f us, halos leave and arrive %.1f us a step; a pass's have left after %.1f "
           "us\n",
           alone, both, left);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const uint32_t cuts[][3] = {{1, 1, 2}, {1, 1, 4}, {1, 1, 8},
                                       {1, 2, 4}, {2, 2, 2}, {4, 4, 4}};
    const bool stencil = argc > 1 && strcmp(argv[1], "stencil") == 0;
    const uint32_t extent[3] = {argc > 4 ? (uint32_t)atoi(argv[2]) : 1024,
                                argc > 4 ? (uint32_t)atoi(argv[3]) : 512,
                                argc > 4 ? (uint32_t)atoi(argv[4]) : 512};
    wf_device *device = NULL;
    require(wf_device_create(NULL, &device), "a device");
    wf_device_poll(device, 1);
    printf("%s, %ux%ux%u\n", wf_device_caps(device)->name, extent[0], extent[1], extent[2]);
    for (size_t n = 0; n < sizeof cuts / sizeof *cuts; n++)
        if (extent[2] / cuts[n][2] > 3 && stencil)
            measure_stencil(device, extent, cuts[n]);
        else if (extent[2] / cuts[n][2] > 3)
            measure_himeno(device, extent, cuts[n], argc > 5 ? (uint32_t)atoi(argv[5]) : 0);
    wf_device_destroy(&device);
    return 0;
}
