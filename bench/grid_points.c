/* Times many points of the grids' variants over drawn problems, for whoever makes a model of them:
 *
 *   bench_grid_points himeno|stencil|steps COUNT SEED SECONDS [IxJxK…] > points.csv
 *
 * COUNT: 150 at most. Grids of himeno that are named take the place of drawn ones. steps: of the
 * stencils those alone that can make several steps a pass. SECONDS: no problem is begun after so
 * long. A line a point: type and name of the problem, then `chosen` (the library's choice by its
 * model) or `point`, microseconds, the variant and its constants. Points are verified and timed
 * eight at a time, in turn (wf_tune_compare), with the choice in each eight, so that times of one
 * problem compare by their ratio to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/platform.h"
#include "tool/cases/drawn.h"
#include "tool/cases/himeno_size.h"
#include "tool/tune/suite.h"

enum { MOST_POINTS = 220, MOST_VALUES = 6 }; /* there are at most 210, and 6 */
#define BUDGET_SECONDS 0.15                  /* of eight points */

typedef struct grid_point {
    const char *variant;
    wf_constant constants[MOST_VALUES];
    uint32_t count;
} grid_point;

typedef struct list {
    uint32_t count;
    grid_point items[MOST_POINTS];
} list;

static grid_point *add(list *points, const char *variant)
{
    grid_point *p = &points->items[points->count++];
    *p = (grid_point){.variant = variant};
    return p;
}

static void set(grid_point *p, const char *name, uint32_t value)
{
    p->constants[p->count++] = (wf_constant){name, value};
}

static grid_point *add_group(list *points, const char *variant, const uint32_t size[2],
                             uint32_t march)
{
    grid_point *p = add(points, variant);
    set(p, "local_x", size[0]);
    set(p, "local_y", size[1]);
    set(p, "march", march);
    return p;
}

static const uint32_t march_lengths[] = {2, 4, 8, 16, 32, 64};

static void himeno_points(const wfi_case_problem *problem, list *points)
{
    static const uint32_t tiles[][2] = {{32, 8},  {32, 12}, {32, 16}, {16, 8},
                                        {16, 16}, {64, 8},  {8, 16}},
                          columns[][2] = {{32, 4}, {16, 8}, {8, 16}, {4, 32}},
                          groups[][2] = {{32, 8}, {64, 4}, {16, 16}, {32, 4}};
    for (uint32_t pad = 1; pad <= 32; pad *= 32) {
        for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
            for (size_t m = 2; m < 6; m++) {
                if (march_lengths[m] >= 2 * problem->c)
                    continue;
                grid_point *p = add_group(points, "time", tiles[i], march_lengths[m]);
                set(p, "pad", pad);
                set(p, "steps", 2);
            }
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            for (uint32_t march = 1; march <= 4; march *= 2) {
                if (columns[i][0] >= 16 + problem->a / 2)
                    continue;
                set(add_group(points, "march4_sum", columns[i], march), "pad", pad == 1 ? 4 : pad);
            }
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
            grid_point *p = add(points, "subgroup_sum");
            set(p, "local_x", groups[i][0]);
            set(p, "local_y", groups[i][1]);
            set(p, "pad", pad);
        }
    }
}

/* Of columns: of two groups that follow each other, one gets the lengths that the other lacks. */
static void column_points(const char *variant, const wfi_case_problem *problem, list *points)
{
    static const uint32_t lines[][2] = {{32, 1}, {64, 1}, {128, 1}, {256, 1}},
                          groups[][2] = {{8, 16}, {16, 4}, {16, 8}, {16, 16}, {32, 4},
                                         {32, 8}, {64, 2}, {64, 4}, {128, 1}, {32, 2}};
    const bool flat = problem->c == 0;
    const size_t count = flat ? sizeof lines / sizeof *lines : sizeof groups / sizeof *groups;
    const uint64_t planes = flat ? problem->b : problem->c;
    for (size_t i = 0; i < count; i++)
        for (uint32_t m = 0; m < 7 && 1u << m < 2 * planes; m++)
            if (flat || (i + m) % 2 == 0)
                add_group(points, variant, flat ? lines[i] : groups[i], 1u << m);
}

static grid_point *add_tile(list *points, const char *variant, const uint32_t size[2],
                            uint32_t march, uint32_t steps)
{
    grid_point *p = add_group(points, variant, size, march);
    set(p, "steps", steps);
    return p;
}

/* Several steps a pass in two dimensions. */
static void flat_tiles(uint32_t steps, list *points)
{
    for (uint32_t x = 32; x <= 128; x *= 2)
        for (uint32_t march = x == 128 ? 16 : 4; march <= 64; march *= 2) {
            for (uint32_t buffers = 1; buffers <= (x == 128 ? 1 : 2); buffers++)
                set(add_tile(points, "time_vector", (uint32_t[]){x, 1}, march, steps), "buffers",
                    buffers);
            if (x > 32 && march > 4)
                add_tile(points, "time", (uint32_t[]){x, 1}, march, steps);
        }
}

/* Likewise of a radius over 1. */
static void wide_tiles(uint32_t steps, list *points)
{
    for (uint32_t x = 64; x <= 256 && steps <= 4; x *= 2)
        for (uint32_t march = 8; march <= 64; march *= 2)
            add_tile(points, "time", (uint32_t[]){x, 1}, march, steps);
}

static void solid_tiles(uint32_t steps, list *points)
{
    static const uint32_t tiles[][3] = {{32, 8, 1},
                                        {32, 8, 2},
                                        {32, 16, 1},
                                        {64, 8, 2},
                                        {32, 16, 2}},
                          blocks[][3] = {{16, 8, 2}, {16, 16, 2}, {16, 8, 4}};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (uint32_t march = 8; march <= 32 && steps <= 3; march *= 2)
            if ((i + march / 8) % 2 == 0)
                set(add_tile(points, "time", tiles[i], march, steps), "rows", tiles[i][2]);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (uint32_t march = 16; march <= 64; march *= 2) {
            grid_point *p = add_tile(points, "time_vector", blocks[i], march, steps);
            set(p, "rows", blocks[i][2]);
            set(p, "buffers", 1);
        }
}

/* Boxes by tiles in shared memory. */
static void tile_points(const wfi_case_problem *problem, list *points)
{
    static const uint32_t groups[][2] = {{8, 8}, {8, 16}, {16, 8}, {32, 4}};
    const uint32_t rows = problem->type == WF_TYPE_F64 ? 2 : 1;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        for (uint32_t march = 4; march <= 32 && march < 2 * problem->c; march *= 2)
            set(add_group(points, "march_shared", groups[i], march), "rows", rows);
}

static bool makes_steps(const wfi_case_problem *problem)
{
    return (problem->radius == 1 || problem->c == 0) && problem->shape == WF_STENCIL_STAR &&
           problem->steps > 1;
}

static void stencil_points(const wfi_case_problem *problem, list *points)
{
    static const uint32_t cells[][2] = {{32, 1}, {64, 1}, {128, 1}, {256, 1}, {64, 2},
                                        {32, 4}, {32, 8}, {16, 8},  {8, 16}},
                          steps[] = {2, 3, 4, 6, 8};
    const bool flat = problem->c == 0;
    column_points("march", problem, points);
    column_points("vector", problem, points);
    for (size_t i = flat ? 0 : 2; i < (flat ? 4 : sizeof cells / sizeof *cells); i++) {
        grid_point *p = add(points, "naive");
        set(p, "local_x", cells[i][0]);
        set(p, "local_y", cells[i][1]);
    }
    if (problem->shape == WF_STENCIL_BOX && problem->radius <= 2 && !flat)
        tile_points(problem, points);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!makes_steps(problem) || steps[i] > problem->steps)
            break;
        else if (flat && problem->radius > 1)
            wide_tiles(steps[i], points);
        else if (flat)
            flat_tiles(steps[i], points);
        else if (steps[i] <= 4)
            solid_tiles(steps[i], points);
}

static void print(const wfi_case_problem *problem, bool chosen, double us, const wf_plan_info *info)
{
    printf("%s,%s,%s,%.3f,%s", wf_type_name(problem->type), problem->name,
           chosen ? "chosen" : "point", us, info->variant);
    for (uint32_t i = 0; i < info->constant_count; i++)
        printf(" %s=%u", info->constants[i].name, info->constants[i].value);
    printf("\n");
    fflush(stdout);
}

/* The choice and up to seven points. */
static void time_few(wf_device *device, const wf_tune_params *params,
                     const wfi_case_problem *problem, const grid_point *points, uint32_t count)
{
    wf_tuning tunings[WF_TUNE_MOST_RIVALS];
    wf_plan_info infos[WF_TUNE_MOST_RIVALS];
    double us[WF_TUNE_MOST_RIVALS];
    for (uint32_t i = 0; i <= count; i++) {
        infos[i] = (wf_plan_info){.size = sizeof infos[i]};
        tunings[i] = (wf_tuning){.size = sizeof *tunings, .no_tuning = true};
        if (i == 0)
            continue;
        tunings[i].variant = points[i - 1].variant;
        tunings[i].constants = points[i - 1].constants;
        tunings[i].constant_count = points[i - 1].count;
    }
    const wf_result result = wf_tune_compare(device, params, tunings, count + 1, infos, us, NULL);
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s: %s\n", problem->name, wf_result_string(result));
    for (uint32_t i = 0; i <= count && result == WF_SUCCESS; i++)
        if (us[i] > 0)
            print(problem, i == 0, us[i], &infos[i]);
}

static void run_problem(wf_device *device, const wfi_case_problem *problem)
{
    static list points;
    wfi_problem_data data;
    char error[1024];
    wf_tune_params params = {.size = sizeof params, .budget_seconds = BUDGET_SECONDS, .seed = 1};
    points.count = 0;
    if (problem->family == WF_FAMILY_HIMENO)
        himeno_points(problem, &points);
    else
        stencil_points(problem, &points);
    if (!wfi_tune_data_make(problem, 1, &data, &params, error)) {
        fprintf(stderr, "%s: %s\n", problem->name, error);
        return;
    }
    for (uint32_t i = 0; i < points.count; i += WF_TUNE_MOST_RIVALS - 1) {
        const uint32_t left = points.count - i;
        time_few(device, &params, problem, &points.items[i],
                 left < WF_TUNE_MOST_RIVALS - 1 ? left : WF_TUNE_MOST_RIVALS - 1);
    }
    wfi_tune_data_free(&data);
}

/* The number of grids that are named; 0: a name is no grid, and a line says which. */
static uint32_t named_grids(char **names, uint32_t count, wfi_case_problem *problems)
{
    for (uint32_t i = 0; i < count; i++) {
        wfi_case_problem *p = &problems[i];
        uint64_t extent[3];
        if (!wfi_parse_himeno_size("grid", names[i], extent))
            return 0;
        *p = (wfi_case_problem){.family = WF_FAMILY_HIMENO,
                                .type = WF_TYPE_F32,
                                .a = extent[0],
                                .b = extent[1],
                                .c = extent[2],
                                .cpu = true};
        snprintf(p->name, sizeof p->name, "himeno %s", names[i]);
    }
    return count;
}

int main(int argc, char **argv)
{
    static wfi_case_problem problems[WFI_MOST_DRAWN];
    const uint32_t named = argc > 5 ? (uint32_t)argc - 5 : 0;
    if (argc < 5 || strtoul(argv[2], NULL, 10) > WFI_MOST_DRAWN || named > WFI_MOST_DRAWN ||
        (named > 0 && strcmp(argv[1], "himeno") != 0)) {
        fprintf(stderr, "usage: bench_grid_points himeno|stencil|steps COUNT SEED SECONDS "
                        "[IxJxK…, of himeno]\n");
        return 2;
    }
    const wfi_drawn_request request = {.seed = strtoull(argv[3], NULL, 10),
                                       .family = strcmp(argv[1], "himeno") == 0 ? WF_FAMILY_HIMENO
                                                                                : WF_FAMILY_STENCIL,
                                       .count = (uint32_t)strtoul(argv[2], NULL, 10)};
    const uint32_t count =
        named ? named_grids(argv + 5, named, problems) : wfi_drawn_suite(&request, problems);
    if (named && !count)
        return 2;
    const double end = wfi_host_seconds() + strtod(argv[4], NULL);
    const bool steps = strcmp(argv[1], "steps") == 0;
    wf_device *device = NULL;
    const wf_result result = wf_device_create(NULL, &device);
    if (result != WF_SUCCESS) {
        fprintf(stderr, "no device: %s\n", wf_result_string(result));
        return 1;
    }
    for (uint32_t i = 0; i < count && wfi_host_seconds() < end; i++)
        if ((!wfi_is_cpu(wf_device_caps(device)) || problems[i].cpu) &&
            (!steps || makes_steps(&problems[i])))
            run_problem(device, &problems[i]);
    wf_device_destroy(&device);
    return 0;
}
