/* Where the model makes several steps of a stencil a pass, and how long its columns are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpus.h"
#include "kernels/stencil/stencil.h"
#include "plan/family.h"
#include "profiles/published.h"
#include "stencil/stencil_ids.h"
#include "tool/cases/random.h"

static const wf_type types[] = {WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};

static wf_device *card(void)
{
    wf_device *device = gpu_large();
    device->caps.compute_units = 132;
    device->caps.f16_storage = true;
    device->caps.max_buffer = device->caps.max_allocation = UINT64_C(1) << 36;
    return device;
}

static wf_device *processor(VkDriverId driver)
{
    wf_device *device = card();
    device->caps.device_type = VK_PHYSICAL_DEVICE_TYPE_CPU;
    device->caps.driver_id = driver;
    return device;
}

/* A star of radius 1 without a border's mirror; nz 0: in two dimensions. */
static wfi_problem star(wf_type type, uint64_t nx, uint64_t ny, uint64_t nz, uint32_t steps)
{
    return (wfi_problem){.family = WF_FAMILY_STENCIL,
                         .type = type,
                         .stencil = {.nx = nx,
                                     .ny = ny,
                                     .nz = nz ? nz : 1,
                                     .row_stride = nx,
                                     .dimensions = nz ? 3 : 2,
                                     .radius = 1,
                                     .steps = steps}};
}

static uint32_t steps_of(wf_device *device, const wfi_problem *problem, const char **variant)
{
    const wfi_point point = gpu_pick(device, problem);
    *variant = point.variant->name;
    return wfi_point_value(&point, STENCIL_ID_STEPS, 1);
}

/* Rows of whole vectors, in grids that caches do not hold. */
static void large_grids_make_several_steps(void **state)
{
    wf_device *device = card();
    uint64_t random = 23;
    (void)state;
    for (int i = 0; i < 200; i++) {
        const uint64_t nx = 4 * wfi_random_log(&random, 40, 2000),
                       ny = UINT64_C(24000000) / nx + wfi_random_log(&random, 1, 4000);
        const uint32_t steps = (uint32_t)wfi_random_log(&random, 2, 24);
        const wfi_problem problem = star(types[i % 3], nx, ny, 0, steps);
        const char *variant;
        const uint32_t made = steps_of(device, &problem, &variant);
        if (strcmp(variant, "time_vector") != 0 || made < 2 || (steps >= 6 && made < 3))
            fail_msg("%ux%u, %u steps: %s, %u a pass", (unsigned)nx, (unsigned)ny, steps, variant,
                     made);
    }
    gpu_forget(device);
}

/* 634x15703 of f64 in two steps took 90 us by `time` and 65 by blocks on an H100, 256^3 in twelve
 * 333 and 599 by single steps; 212x435x360 of f64 245 and 428 on an H200. */
static void grids_that_were_measured(void **state)
{
    static const struct {
        wf_type type;
        uint64_t nx, ny, nz;
        uint32_t steps, least;
    } cases[] = {{WF_TYPE_F64, 634, 15703, 0, 2, 2},
                 {WF_TYPE_F16, 664, 14740, 0, 8, 4},
                 {WF_TYPE_F64, 212, 435, 360, 3, 3},
                 {WF_TYPE_F32, 256, 256, 256, 12, 3},
                 {WF_TYPE_F64, 512, 512, 512, 12, 3}};
    wf_device *device = card();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wfi_problem problem =
            star(cases[i].type, cases[i].nx, cases[i].ny, cases[i].nz, cases[i].steps);
        const char *variant;
        assert_true(steps_of(device, &problem, &variant) >= cases[i].least);
        assert_string_equal(variant, "time_vector");
    }
    gpu_forget(device);
}

/* Of f32 in three dimensions a pass of single steps over few cells is mostly waiting, which several
 * steps a pass have once (H200, us by single steps and by the best of several: 12.1 and 8.7, 12.3
 * and 7.5, 10.3 and 5.9, 21.6 and 12.7, 7.9 and 6.4, 20.5 and 17.6; the last 18.2 and 17.3). */
static void small_grids_that_were_measured(void **state)
{
    static const struct {
        uint64_t nx, ny, nz;
        wf_border border;
        uint32_t steps, width; /* width: of the tile in vectors; 0: single steps */
    } cases[] = {
        {112, 111, 44, WF_BORDER_DIRICHLET, 3, 16}, {24, 748, 30, WF_BORDER_PERIODIC, 3, 8},
        {20, 469, 18, WF_BORDER_PERIODIC, 3, 8},    {200, 19, 62, WF_BORDER_PERIODIC, 6, 16},
        {28, 146, 92, WF_BORDER_PERIODIC, 2, 8},    {76, 278, 48, WF_BORDER_NEUMANN, 4, 8},
        {636, 110, 26, WF_BORDER_NEUMANN, 3, 0}};
    wf_device *device = card();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wfi_problem problem =
            star(WF_TYPE_F32, cases[i].nx, cases[i].ny, cases[i].nz, cases[i].steps);
        problem.stencil.border = cases[i].border;
        const wfi_point point = gpu_pick(device, &problem);
        const bool several = wfi_point_value(&point, STENCIL_ID_STEPS, 1) > 1;
        if (several != (cases[i].width > 0) ||
            (several && (strcmp(point.variant->name, "time_vector") != 0 ||
                         wfi_point_value(&point, STENCIL_ID_LOCAL_X, 1) != cases[i].width)))
            fail_msg("%ux%ux%u: %s", (unsigned)cases[i].nx, (unsigned)cases[i].ny,
                     (unsigned)cases[i].nz, point.variant->name);
    }
    gpu_forget(device);
}

/* The first five grids took an H200 16.1, 17.5, 14.1, 37.3 and 12.1 us by single steps and 8.9,
 * 9.3, 10.7, 31.4 and 9.8 by the best that was found (bench/notes/stencil.md#steps-29). Of the
 * others single steps were the best. */
static void steps_of_other_grids_that_were_measured(void **state)
{
    static const struct {
        wf_type type;
        wf_border border;
        uint64_t nx, ny, nz;
        uint32_t steps, a_pass;
        const char *variant;
    } cases[] = {
        {WF_TYPE_F16, WF_BORDER_PERIODIC, 228, 3594, 0, 4, 4, "time_vector"},
        {WF_TYPE_F32, WF_BORDER_NEUMANN, 1184, 187, 0, 6, 6, "time_vector"},
        {WF_TYPE_F32, WF_BORDER_PERIODIC, 23, 906, 53, 2, 2, "time"},
        {WF_TYPE_F32, WF_BORDER_PERIODIC, 54, 295, 96, 5, 2, "time"},
        {WF_TYPE_F32, WF_BORDER_PERIODIC, 55, 129, 55, 3, 3, "time"},
        {WF_TYPE_F16, WF_BORDER_DIRICHLET, 140, 68, 31, 2, 1, "vector"},
        {WF_TYPE_F16, WF_BORDER_PERIODIC, 24, 60, 267, 7, 1, "vector"},
        {WF_TYPE_F16, WF_BORDER_PERIODIC, 228, 77, 784, 3, 1, "vector"},
        {WF_TYPE_F16, WF_BORDER_NEUMANN, 904, 68, 76, 3, 1, "vector"},
    };
    wf_device *device = card();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wfi_problem problem =
            star(cases[i].type, cases[i].nx, cases[i].ny, cases[i].nz, cases[i].steps);
        const char *variant;
        problem.stencil.border = cases[i].border;
        const uint32_t made = steps_of(device, &problem, &variant);
        if (made != cases[i].a_pass || strcmp(variant, cases[i].variant) != 0)
            fail_msg("case %u: %s, %u a pass", (unsigned)i, variant, made);
    }
    gpu_forget(device);
}

/* Of a tile of 16 vectors 56 cells of a row remain; where that leaves a third of the lanes of a row
 * idle or more, and there alone, tiles may be narrower. */
static void tiles_are_narrow_for_narrow_rows(void **state)
{
    wf_device *device = card();
    uint64_t random = 37;
    int narrow = 0, wide = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        const uint64_t nx = 4 * wfi_random_log(&random, 4, 250),
                       ny = wfi_random_log(&random, 16, 500), nz = wfi_random_log(&random, 16, 500);
        const wfi_problem problem = star(WF_TYPE_F32, nx, ny, nz, 3);
        const wfi_point point = gpu_pick(device, &problem);
        if (strcmp(point.variant->name, "time_vector") != 0)
            continue;
        const bool idle = (double)nx / (64.0 * (double)((nx + 55) / 56)) < 2.0 / 3;
        const uint32_t x = wfi_point_value(&point, STENCIL_ID_LOCAL_X, 1);
        if (x != 16 && (x != 8 || !idle))
            fail_msg("%ux%ux%u: %u vectors", (unsigned)nx, (unsigned)ny, (unsigned)nz, x);
        narrow += x == 8;
        wide += x == 16;
    }
    assert_true(narrow > 0 && wide > 0);
    gpu_forget(device);
}

/* Few cells, whose columns would wait for their planes one after another, boxes and wide stars. */
static void others_make_single_steps(void **state)
{
    wf_device *device = card();
    wfi_problem problems[] = {star(WF_TYPE_F32, 883, 49, 18, 7), star(WF_TYPE_F16, 129, 4535, 0, 3),
                              star(WF_TYPE_F32, 8192, 8192, 0, 1),
                              star(WF_TYPE_F32, 8192, 8192, 0, 8),
                              star(WF_TYPE_F32, 8192, 8192, 0, 8)};
    (void)state;
    problems[1].stencil.border = WF_BORDER_NEUMANN;
    problems[3].stencil.shape = WF_STENCIL_BOX;
    problems[4].stencil.radius = 2;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const char *variant;
        if (steps_of(device, &problems[i], &variant) != 1)
            fail_msg("problem %u: %s", (unsigned)i, variant);
    }
    gpu_forget(device);
}

/* What is expected of the values that fit sets is what fit returns, and of no point with other
 * columns or fewer steps much less: large grids keep values that were measured. */
static void times_of_points_are_those_of_fit(void **state)
{
    static const wf_border borders[] = {WF_BORDER_DIRICHLET, WF_BORDER_NEUMANN, WF_BORDER_PERIODIC};
    wf_device *device = card();
    (void)state;
    for (int i = 0; i < 9; i++) {
        wfi_problem problem = star(types[i / 3], 4096, 4096, 0, 8);
        problem.stencil.border = borders[i % 3];
        wfi_point point = gpu_pick(device, &problem);
        assert_non_null(point.variant->expect);
        const double cost = point.variant->fit(&point), expected = point.variant->expect(&point);
        assert_true(fabs(expected - cost) <= 1e-9 * cost);
        for (uint32_t march = 8; march <= 64; march *= 2)
            for (uint32_t steps = 2; steps <= 3; steps++) {
                wfi_point other = point;
                wfi_point_set(&other, STENCIL_ID_MARCH, march);
                wfi_point_set(&other, STENCIL_ID_STEPS, steps);
                assert_true(other.variant->expect(&other) >= cost / 1.15 * (1 - 1e-9));
            }
    }
    gpu_forget(device);
}

/* In two dimensions a work-group is a piece of a row: where its vectors are fewer than a subgroup's
 * lanes, lanes have one cell each. */
static void narrow_rows_keep_lanes_busy(void **state)
{
    wf_device *device = card();
    (void)state;
    for (uint32_t nx = 64; nx <= 256; nx += 4)
        for (uint32_t radius = 1; radius <= 4; radius++) {
            wfi_problem problem = star(WF_TYPE_F32, nx, 6106, 0, 1);
            problem.stencil.radius = radius;
            const wfi_point point = gpu_pick(device, &problem);
            assert_string_equal(point.variant->name, nx / 4 < 32 ? "march" : "vector");
        }
    gpu_forget(device);
}

/* Stars of radius 4 in two dimensions whose rows do not begin where vectors do: several cells a
 * work-item pay for f16 alone (H200, 3547x2885 of f32: 59.9 us by vectors, 43.9 cell by cell). */
static void wide_stars_load_cell_by_cell(void **state)
{
    wf_device *device = card();
    uint64_t random = 31;
    (void)state;
    for (int i = 0; i < 60; i++) {
        const uint64_t nx = 4 * wfi_random_log(&random, 150, 3000);
        const wf_type type = types[i % 3];
        for (uint64_t more = 0; more < 2; more++) {
            wfi_problem problem = star(type, nx + more, 2885, 0, 1);
            problem.stencil.radius = 4;
            const wfi_point point = gpu_pick(device, &problem);
            assert_string_equal(point.variant->name,
                                more && type != WF_TYPE_F16 ? "march" : "vector");
        }
    }
    gpu_forget(device);
}

typedef struct measured {
    wf_type type;
    wf_stencil_shape shape;
    wf_border border;
    uint32_t radius;
    uint64_t nx, ny, nz;
    const char *variant;
    uint32_t x, y, march;
} measured;

/* The model must pick these on the device for single steps. */
static void assert_picks(wf_device *device, const measured *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const measured *m = &cases[i];
        wfi_problem problem = star(m->type, m->nx, m->ny, m->nz, 1);
        problem.stencil.shape = m->shape;
        problem.stencil.border = m->border;
        problem.stencil.radius = m->radius;
        const wfi_point point = gpu_pick(device, &problem);
        const uint32_t x = wfi_point_value(&point, STENCIL_ID_LOCAL_X, 1),
                       y = wfi_point_value(&point, STENCIL_ID_LOCAL_Y, 1),
                       march = wfi_point_value(&point, STENCIL_ID_MARCH, 1);
        if (strcmp(point.variant->name, m->variant) != 0 || x != m->x || y != m->y ||
            march != m->march)
            fail_msg("case %u: %s %ux%u, march %u", (unsigned)i, point.variant->name, x, y, march);
    }
    gpu_forget(device);
}

/* A comment before each group of cases has the microseconds of the point that the model takes now
 * and of the one that it took before (H200, bench/notes/stencil.md#rows-of-one-group); of the
 * fourth, the fifth and the tenth case the point stayed. */
static void single_steps_that_were_measured(void **state)
{
    static const measured cases[] = {
        /* 7.5 and 9.1; 17.7 and 20.1; 8.6 and 9.1; 42.5, by columns of four 44.5 */
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 1, 161, 2717, 0, "march", 256, 1, 4},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 2, 1539, 340, 0, "march", 128, 1, 4},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 1, 83, 5416, 0, "march", 128, 1, 4},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 1, 65, 13636, 0, "march", 128, 1, 8},
        /* 53.0, by columns of four 61.1 */
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 2, 862, 1042, 0, "march", 128, 1, 8},
        /* 67.8 and 86.9; 5.3 and 7.5; 33.6 and 49.7 */
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 268, 5198, 0, "vector", 256, 1, 8},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 142, 3163, 0, "march", 256, 1, 4},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 145, 1565, 0, "march", 256, 1, 4},
        /* 67.1 and 77.4; 157 by `march`, 174 by `vector`; 154 and 208 */
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 275, 23, 558, "vector", 16, 8, 8},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 257, 21, 706, "march", 32, 4, 8},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 255, 913, 48, "vector", 16, 8, 16},
        /* 34.4 and 48.5 */
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 139, 16, 173, "naive", 32, 8, 1}};
    wf_device *device = gpu_nvidia();
    (void)state;
    device->caps.f16_storage = true;
    assert_picks(device, cases, sizeof cases / sizeof *cases);
}

/* What an H200 was faster with than with what was taken before (bench/notes/stencil.md#lost-most),
 * and three that stayed. */
static void steps_that_were_measured(void **state)
{
    static const measured cases[] = {
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 1022, 56, 244, "vector", 32, 8, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 1022, 56, 244, "vector", 32, 4, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 362, 174, 50, "vector", 32, 8, 8},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 631, 61, 257, "march", 32, 8, 16},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 631, 61, 257, "march", 32, 4, 16},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 217, 266, 321, "march", 32, 8, 16},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 263, 43, 735, "march", 32, 4, 16},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 442, 23, 410, "march", 32, 4, 16},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 3, 80, 22, 124, "vector", 16, 8, 2},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 1, 264, 46, 43, "vector", 16, 8, 2},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 597, 61, 464, "march_shared", 8, 16,
         31},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 30, 29, 387, "march_shared", 8, 8, 4},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 276, 72, 109, "march_shared", 8, 8,
         8},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 2, 87, 36, 345, "march_shared", 8, 8, 8},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 48, 264, 18, "march_shared", 8, 16,
         6},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 2, 80, 62, 410, "march_shared", 8, 8, 16},
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 2, 38, 297, 111, "march_shared", 8, 8, 8},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 1, 62, 461, 433, "march_shared", 16, 8,
         16},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 1, 347, 363, 80, "march_shared", 16, 8,
         16},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 1, 407, 264, 59, "march_shared", 16, 8,
         15},
        {WF_TYPE_F16, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 1, 169, 609, 23, "march_shared", 16, 8,
         12},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 2, 1641, 1328, 0, "march", 128, 1, 16},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 163, 106, 43, "naive", 32, 8, 1},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 23, 472, 35, "naive", 32, 8, 1},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 99, 25, 52, "naive", 32, 8, 1},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 23, 59, 223, "march", 32, 4, 4},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 4, 24, 399, 27, "vector", 8, 16, 1}};
    (void)state;
    assert_picks(card(), cases, sizeof cases / sizeof *cases);
}

/* lavapipe was timed on these grids (bench/notes/stencil.md#processors-f64), but for 64x90x75 and
 * 33x692x75, which have whole vectors and f16 where the rules for f32 stop. */
static void processors_as_measured(void **state)
{
    static const measured cases[] = {
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 1, 591, 6124, 0, "vector", 128, 1, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 533, 1465, 0, "vector", 128, 1, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 273, 2694, 0, "vector", 128, 1, 16},
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 1, 494, 4747, 0, "vector", 128, 1, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 2, 66, 6136, 0, "vector", 64, 1, 256},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 1, 453, 17, 148, "vector", 128, 1, 8},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 2, 259, 131, 21, "vector", 128, 1, 7},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 185, 23, 580, "vector", 128, 1, 16},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 2, 142, 35, 271, "vector", 128, 1, 8},
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 1, 66, 132, 224, "vector", 64, 2, 16},
        {WF_TYPE_F64, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 40, 79, 32, "vector", 32, 8, 32},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 2, 35, 530, 395, "march", 64, 4, 198},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 4, 732, 91, 18, "march", 64, 4, 256},
        {WF_TYPE_F64, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 84, 108, 119, "vector", 64, 2, 15},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 4, 34, 692, 75, "march", 64, 4, 256},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 2, 22, 242, 785, "march", 32, 8, 197},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 463, 210, 63, "vector", 64, 4, 256},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 4, 64, 90, 75, "vector", 16, 16, 25},
        {WF_TYPE_F16, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 33, 692, 75, "vector", 16, 16, 256},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 2, 2087, 2586, 0, "vector", 256, 1, 236}};
    (void)state;
    assert_picks(processor(VK_DRIVER_ID_MESA_LLVMPIPE), cases, sizeof cases / sizeof *cases);
}

/* SwiftShader was timed on these grids by both variants, but for 92x194x87, whose rows are whole
 * vectors; the work-groups and columns of `vector` are the model's and were not timed. */
static void other_processors_as_measured(void **state)
{
    static const measured cases[] = {
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 4, 279, 658, 0, "vector", 128, 1, 32},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 4, 113, 104, 43, "vector", 32, 8, 22},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 299, 31, 62, "vector", 64, 4, 256},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 3, 69, 16267, 0, "vector", 32, 1, 255},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 3, 598, 221, 0, "vector", 256, 1, 32},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_DIRICHLET, 2, 742, 407, 0, "vector", 256, 1, 32},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_PERIODIC, 2, 6138, 156, 0, "vector", 256, 1, 32},
        {WF_TYPE_F32, WF_STENCIL_BOX, WF_BORDER_NEUMANN, 1, 777, 1529, 0, "march", 256, 1, 32},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_DIRICHLET, 2, 657, 337, 0, "march", 256, 1, 57},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_NEUMANN, 2, 22, 601, 29, "march", 8, 32, 256},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 1, 91, 194, 87, "march", 8, 32, 256},
        {WF_TYPE_F32, WF_STENCIL_STAR, WF_BORDER_PERIODIC, 1, 92, 194, 87, "vector", 32, 8, 256}};
    (void)state;
    assert_picks(processor(VK_DRIVER_ID_GOOGLE_SWIFTSHADER), cases, sizeof cases / sizeof *cases);
}

/* Cell by cell from memory where cells are few, the star is wide and no border is asked for. */
static void few_cells_of_wide_stars_have_a_work_item_each(void **state)
{
    static const wf_border borders[] = {WF_BORDER_DIRICHLET, WF_BORDER_NEUMANN, WF_BORDER_PERIODIC};
    wf_device *device = card();
    uint64_t random = 41;
    int taken = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        const uint64_t nx = 2 * wfi_random_log(&random, 10, 200) + 1,
                       ny = wfi_random_log(&random, 16, 200), nz = wfi_random_log(&random, 16, 200);
        wfi_problem problem = star(i % 2 ? WF_TYPE_F32 : WF_TYPE_F64, nx, ny, nz, 1);
        problem.stencil.border = borders[i % 3];
        problem.stencil.radius = 1 + (uint32_t)wfi_random_below(&random, 4);
        const bool few =
            problem.stencil.radius > 2 && i % 3 == 0 && nx * ny * nz <= UINT64_C(4) * 132 * 2048;
        const wfi_point point = gpu_pick(device, &problem);
        assert_string_equal(point.variant->name, few ? "naive" : "march");
        taken += few;
    }
    assert_true(taken > 0);
    gpu_forget(device);
}

/* A row of vectors has no more than a tenth more work-items than by groups of 16 or 32. */
static void rows_of_vectors_keep_lanes_busy(void **state)
{
    wf_device *device = card();
    uint64_t random = 43;
    (void)state;
    for (int i = 0; i < 300; i++) {
        const uint64_t width = i % 3 == 1 ? 2 : 4, vectors = wfi_random_log(&random, 16, 400);
        wfi_problem problem = star(types[i % 3], width * vectors, 150, 100, 1);
        problem.stencil.radius = 1 + (uint32_t)i / 3 % 4;
        const wfi_point point = gpu_pick(device, &problem);
        const uint64_t x = wfi_point_value(&point, STENCIL_ID_LOCAL_X, 1),
                       items = (vectors + x - 1) / x * x;
        assert_string_equal(point.variant->name, "vector");
        for (uint64_t less = 16; less < x; less *= 2)
            if (9 * items > 10 * ((vectors + less - 1) / less * less))
                fail_msg("%u vectors: groups of %u", (unsigned)vectors, (unsigned)x);
    }
    gpu_forget(device);
}

/* Boxes of radius 2 in three dimensions by tiles in shared memory (bench/notes/stencil.md#tiles),
 * of radius 1 those of f16 with a million cells whose rows are no vectors (#boxes-f16), other boxes
 * not, and none where nobody has timed them: on processors, and on GPUs of which units are
 * published. */
static void wide_boxes_have_tiles(void **state)
{
    wf_device *device = card(), *others[] = {processor(0), card(), card()};
    uint64_t random = 47;
    (void)state;
    others[1]->caps.vendor_id = 0x1002;
    strcpy(others[1]->caps.name, "AMD Radeon RX 7900 XTX (RADV NAVI31)");
    others[2]->caps.vendor_id = 0x8086;
    strcpy(others[2]->caps.name, "Intel(R) Arc(tm) B580 Graphics (BMG G21)");
    assert_true(wfi_has_published_units(&others[1]->caps));
    assert_true(wfi_has_published_units(&others[2]->caps));
    for (int i = 0; i < 200; i++) {
        const uint64_t nx = wfi_random_log(&random, 16, 700), ny = wfi_random_log(&random, 16, 700),
                       nz = wfi_random_log(&random, 16, 400);
        wfi_problem problem = star(types[i % 3], nx, ny, i % 5 ? nz : 0, 1);
        problem.stencil.shape = WF_STENCIL_BOX;
        problem.stencil.radius = 1 + (uint32_t)i / 3 % 4;
        const bool f16 = types[i % 3] == WF_TYPE_F16 && nx % 4 && nx * ny * nz >= 1000000,
                   tiles = problem.stencil.dimensions == 3 &&
                           (problem.stencil.radius == 2 || (problem.stencil.radius == 1 && f16));
        if ((strcmp(gpu_pick(device, &problem).variant->name, "march_shared") == 0) != tiles)
            fail_msg("%ux%ux%u, radius %u: %s", (unsigned)nx, (unsigned)ny, (unsigned)nz,
                     problem.stencil.radius, gpu_pick(device, &problem).variant->name);
        for (size_t n = 0; n < sizeof others / sizeof *others; n++)
            assert_string_not_equal(gpu_pick(others[n], &problem).variant->name, "march_shared");
    }
    gpu_forget(device);
    for (size_t n = 0; n < sizeof others / sizeof *others; n++)
        gpu_forget(others[n]);
}

/* On processors columns have as many planes each, but for the last. */
static void columns_of_processors_are_even(void **state)
{
    wf_device *device = processor(0);
    uint64_t random = 53;
    int several = 0;
    (void)state;
    for (int driver = 0; driver < 2; driver++)
        for (int i = 0; i < 200; i++) {
            const uint64_t nx = wfi_random_log(&random, 16, 700),
                           ny = wfi_random_log(&random, 16, 700),
                           nz = i % 3 ? wfi_random_log(&random, 16, 700) : 0;
            wfi_problem problem = star(types[i % 3], nx, ny, nz, 1);
            problem.stencil.shape = i % 2 ? WF_STENCIL_BOX : WF_STENCIL_STAR;
            device->caps.driver_id = driver ? VK_DRIVER_ID_MESA_LLVMPIPE : 0;
            const wfi_point point = gpu_pick(device, &problem);
            const uint64_t planes = nz ? nz : ny,
                           march = wfi_point_value(&point, STENCIL_ID_MARCH, 1),
                           columns = (planes + march - 1) / march;
            if (strcmp(point.variant->name, "naive") == 0 || columns == 1)
                continue;
            several++;
            if (columns * march - planes >= columns)
                fail_msg("%ux%ux%u: columns of %u", (unsigned)nx, (unsigned)ny, (unsigned)nz,
                         (unsigned)march);
        }
    assert_true(several > 50);
    gpu_forget(device);
}

/* Several steps a pass are for stars of radius 1, on grids that give a device enough to do. */
static void wide_or_small_stars_make_single_steps(void **state)
{
    (void)state;
    static const struct {
        uint32_t nx, ny, radius;
        wf_type type;
        wf_border border;
        bool several;
    } grids[] = {{4099, 4099, 1, WF_TYPE_F32, WF_BORDER_DIRICHLET, true},
                 {539, 1138, 1, WF_TYPE_F32, WF_BORDER_DIRICHLET, true},
                 {2172, 67, 1, WF_TYPE_F64, WF_BORDER_NEUMANN, false},
                 {155, 13766, 2, WF_TYPE_F32, WF_BORDER_DIRICHLET, false}};
    wf_device *device = gpu_large();
    device->caps.compute_units = 132;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const wfi_problem problem = {.family = WF_FAMILY_STENCIL,
                                     .type = grids[i].type,
                                     .stencil = {.nx = grids[i].nx,
                                                 .ny = grids[i].ny,
                                                 .row_stride = grids[i].nx,
                                                 .radius = grids[i].radius,
                                                 .border = grids[i].border,
                                                 .dimensions = 2,
                                                 .steps = 3}};
        const wfi_point point = gpu_pick(device, &problem);
        if ((wfi_point_value(&point, STENCIL_ID_STEPS, 1) > 1) != grids[i].several)
            fail_msg("%ux%u: %s", grids[i].nx, grids[i].ny, point.variant->name);
    }
    gpu_forget(device);
}

/* The model picks long columns only for grids that have enough of them to give every compute unit
 * its work-items. */
static void small_grids_fill_large_devices(void **state)
{
    (void)state;
    static const wfi_stencil_problem grids[] = {
        {.nx = 512, .ny = 512, .dimensions = 2, .steps = 4},
        {.nx = 1024, .ny = 1024, .dimensions = 2, .steps = 4},
        {.nx = 2048, .ny = 2048, .dimensions = 2, .steps = 4},
        {.nx = 8192, .ny = 8192, .dimensions = 2, .steps = 4},
        {.nx = 128, .ny = 128, .nz = 128, .dimensions = 3, .steps = 1},
        {.nx = 96, .ny = 96, .nz = 96, .dimensions = 3, .shape = WF_STENCIL_BOX, .steps = 1},
        {.nx = 512, .ny = 512, .nz = 512, .dimensions = 3, .shape = WF_STENCIL_BOX, .steps = 1}};
    wf_device *device = gpu_large();
    uint32_t longest = 0;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        wfi_problem problem = {.family = WF_FAMILY_STENCIL, .type = WF_TYPE_F32};
        uint32_t size[3];
        problem.stencil = grids[i];
        problem.stencil.radius = 1;
        problem.stencil.row_stride = grids[i].nx;
        device->caps.compute_units = 132;
        const wfi_point point = gpu_pick(device, &problem);
        const wfi_stencil_axes a = wfi_stencil_axes_of(&problem.stencil);
        const wfi_stencil_tile t = wfi_stencil_tile_of(&point);
        point.variant->group_size(&point, size);
        const double groups = (double)((a.ni + (uint64_t)t.i - 1) / (uint64_t)t.i) *
                              (double)((a.nj + (uint64_t)t.j - 1) / (uint64_t)t.j) *
                              (double)((a.nk + (uint64_t)t.k - 1) / (uint64_t)t.k);
        const double items = groups * size[0] * size[1] * size[2];
        const uint32_t march = wfi_point_value(&point, STENCIL_ID_MARCH, 1);
        /* Tiles of several steps cannot be shorter than what they overlap. */
        if (items < 132 * 512 && march > (wfi_point_value(&point, STENCIL_ID_STEPS, 1) > 1 ? 8 : 1))
            fail_msg("%s, grid %zu: %.0f work-items with columns of %u", point.variant->name, i,
                     items, march);
        longest = march > longest ? march : longest;
        /* A device of two units is full with longer ones. */
        device->caps.compute_units = 2;
        const wfi_point small = gpu_pick(device, &problem);
        assert_true(wfi_point_value(&small, STENCIL_ID_MARCH, 1) >= march);
    }
    assert_true(longest >= 16);
    gpu_forget(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_grids_make_several_steps),
        cmocka_unit_test(grids_that_were_measured),
        cmocka_unit_test(small_grids_that_were_measured),
        cmocka_unit_test(steps_of_other_grids_that_were_measured),
        cmocka_unit_test(tiles_are_narrow_for_narrow_rows),
        cmocka_unit_test(others_make_single_steps),
        cmocka_unit_test(times_of_points_are_those_of_fit),
        cmocka_unit_test(narrow_rows_keep_lanes_busy),
        cmocka_unit_test(wide_stars_load_cell_by_cell),
        cmocka_unit_test(single_steps_that_were_measured),
        cmocka_unit_test(steps_that_were_measured),
        cmocka_unit_test(few_cells_of_wide_stars_have_a_work_item_each),
        cmocka_unit_test(rows_of_vectors_keep_lanes_busy),
        cmocka_unit_test(wide_boxes_have_tiles),
        cmocka_unit_test(columns_of_processors_are_even),
        cmocka_unit_test(processors_as_measured),
        cmocka_unit_test(other_processors_as_measured),
        cmocka_unit_test(wide_or_small_stars_make_single_steps),
        cmocka_unit_test(small_grids_fill_large_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
