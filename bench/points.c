/* Times many points of the tiled variants over drawn products, for whoever makes a model of them:
 *
 *   bench_points TYPE COUNT SEED SECONDS [--only VARIANT] [M,N,K[,BATCH,A^T,B^T]…] > points.csv
 *
 * --only: the points of this variant alone, beside the choice; `none`: the choice alone.
 * Products that are named (A^T and B^T are 0 or 1) take the place of drawn ones, of which those of
 * at most 3e10 operations (on a CPU device 3e8, with --only all of them) are timed.
 * A line a point: the product, the variant, its constants, microseconds (least of a few samples;
 * -1: it was stopped or refused). The line `chosen` is the library's choice by its model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/caps.h"
#include "core/platform.h"
#include "core/timing.h"
#include "product.h"
#include "tool/cases/drawn.h"

enum { SAMPLES = 3, MOST_POINTS = 960 };
#define MOST_FLOPS 3e10
#define MOST_FLOPS_CPU 3e8
#define MOST_BYTES (UINT64_C(1) << 31) /* of an operand */
#define WARM_SECONDS 0.3               /* the clock falls while pipelines are made */
#define UNITS 132                      /* tiles from which on stream-K is tried */

typedef struct bench_point {
    const char *variant;
    wf_constant constants[13];
    uint32_t count;
    wf_plan *plan;
    double us;
} bench_point;

typedef struct block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n, more;
} block;

static const block vectors[] = {
    {32, 32, 16, 4, 4, 1},   {32, 32, 32, 4, 4, 1},  {32, 64, 16, 4, 4, 1},  {32, 64, 32, 4, 4, 1},
    {64, 32, 16, 4, 4, 1},   {32, 128, 16, 4, 8, 1}, {64, 64, 16, 4, 4, 1},  {64, 64, 16, 4, 8, 1},
    {64, 64, 8, 8, 8, 0},    {64, 128, 16, 8, 8, 1}, {64, 128, 8, 8, 8, 0},  {128, 64, 16, 8, 8, 1},
    {128, 128, 8, 8, 16, 1}, {128, 128, 8, 8, 8, 0}, {16, 128, 16, 4, 8, 1}, {16, 64, 32, 4, 4, 1},
    {64, 16, 32, 4, 4, 0},   {128, 32, 16, 8, 4, 1}, {128, 64, 8, 8, 8, 0},  {64, 64, 8, 4, 8, 0},
    {64, 64, 8, 4, 4, 0},    {32, 64, 8, 4, 4, 0},   {64, 128, 4, 8, 8, 1},  {32, 128, 4, 4, 8, 0},
    {32, 64, 4, 4, 4, 0},
};
#define FEW_TERMS 64 /* up to so many, `vector` is timed in types of 16 bits, too */

/* `more`: slices of k. */
static const block slices[] = {
    {16, 32, 16, 4, 4, 2}, {16, 32, 16, 4, 4, 4}, {16, 32, 16, 4, 4, 8}, {16, 32, 8, 4, 4, 8},
    {32, 32, 16, 4, 8, 4}, {32, 32, 16, 4, 8, 8}, {16, 64, 16, 4, 8, 4}, {16, 64, 16, 4, 8, 8},
    {64, 16, 16, 8, 4, 4}, {32, 64, 16, 8, 8, 4}, {32, 64, 8, 8, 8, 4},  {32, 64, 16, 8, 8, 2},
    {64, 32, 16, 8, 8, 4}, {64, 64, 8, 8, 16, 2}, {64, 64, 8, 8, 16, 4},
};

/* `cooperative`: sub_m and sub_n in the places of thread_m and thread_n; `more`: subs_k. */
static const block matrix_units[] = {
    {128, 256, 48, 64, 64, 1}, {128, 256, 32, 64, 64, 1}, {160, 192, 64, 80, 48, 1},
    {128, 192, 64, 64, 48, 1}, {128, 128, 32, 64, 64, 1}, {128, 128, 64, 64, 64, 1},
    {128, 128, 32, 32, 64, 1}, {128, 128, 64, 32, 64, 1}, {64, 128, 32, 32, 64, 1},
    {64, 128, 64, 32, 64, 1},  {128, 64, 64, 64, 64, 4},  {128, 64, 64, 32, 32, 1},
    {64, 128, 64, 32, 32, 1},  {64, 64, 128, 32, 32, 1},  {64, 64, 64, 32, 32, 1},
    {64, 64, 32, 32, 32, 1},   {64, 64, 64, 32, 32, 2},   {64, 64, 128, 32, 32, 2},
    {32, 64, 128, 16, 16, 1},  {32, 64, 64, 16, 16, 1},   {32, 64, 128, 16, 32, 4},
    {32, 32, 64, 16, 16, 1},   {32, 32, 64, 16, 16, 2},   {32, 32, 128, 16, 16, 4},
    {64, 16, 128, 32, 16, 4},  {128, 16, 64, 32, 16, 1},  {64, 16, 64, 16, 16, 1},
    {16, 128, 64, 16, 32, 1},  {16, 64, 64, 16, 16, 1},   {16, 64, 128, 16, 16, 4},
    {64, 64, 16, 32, 32, 1},   {64, 128, 16, 32, 32, 1},  {128, 128, 16, 64, 64, 1},
    {64, 64, 32, 32, 32, 1},   {64, 128, 32, 32, 32, 1},
};

static uint32_t power_within(uint32_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power * 2 <= most && value % (power * 2) == 0)
        power *= 2;
    return power;
}

static void set(bench_point *p, const char *name, uint32_t value)
{
    p->constants[p->count++] = (wf_constant){name, value};
}

/* How elements move: those that are vectors, and of the others those of A and B copied first, and
 * those of C stored side by side. */
typedef struct moves {
    uint32_t vec4, pack, gathered, stream_k;
} moves;

static void add_block(bench_point *points, uint32_t *count, const char *variant, const block *b,
                      uint32_t split_k, moves how)
{
    bench_point *p = &points[(*count)++];
    const bool sliced = strcmp(variant, "subgroup_k") == 0;
    const uint32_t n = b->tile_n / b->thread_n, m = b->tile_m / b->thread_m,
                   lanes_n =
                       power_within(n, sliced && (b->thread_n > 8 || b->tile_n == 16) ? 4 : 8);
    *p = (bench_point){.variant = variant, .us = -1};
    set(p, "tile_m", b->tile_m);
    set(p, "tile_n", b->tile_n);
    set(p, "tile_k", b->tile_k);
    set(p, "thread_m", b->thread_m);
    set(p, "thread_n", b->thread_n);
    set(p, "lanes_n", lanes_n);
    set(p, "lanes_m", power_within(m, 32 / lanes_n));
    set(p, "split_k", split_k);
    set(p, sliced ? "slices_k" : "double_buffer", b->more);
    if (sliced) {
        set(p, "per_subgroup", m * n == 32);
    } else {
        set(p, "stream_k", how.stream_k);
        set(p, "vec4", how.vec4 | how.pack); /* copies have rows of vectors */
        set(p, "pack", how.pack);
        set(p, "gathered", how.gathered);
    }
}

static double product_tiles(const wfi_case_problem *problem, const block *b)
{
    const uint64_t rows = (problem->a + b->tile_m - 1) / b->tile_m,
                   columns = (problem->b + b->tile_n - 1) / b->tile_n;
    return (double)rows * (double)columns * (double)(problem->batch ? problem->batch : 1);
}

/* Much of so large a tile would be empty. */
static bool is_too_large(const wfi_case_problem *problem, const block *b)
{
    return b->tile_m >= 4 * problem->a + 12 || b->tile_n >= 4 * problem->b + 12;
}

static bool may_split(const wfi_case_problem *problem, double tiles, uint32_t split_k)
{
    return split_k == 1 ||
           (split_k <= 64 && tiles * split_k <= 132 * 8 && problem->c / split_k >= 64);
}

/* Every way to move elements, of which those that a problem has no use for are refused. */
static void add_moves(const wfi_case_problem *problem, const block *b, uint32_t split_k,
                      bench_point *points, uint32_t *count)
{
    const uint64_t row_a = problem->transpose_a ? problem->a : problem->c,
                   row_b = problem->transpose_b ? problem->c : problem->b;
    const uint32_t gathers = problem->b % 4 ? 1 : 0,
                   vec4 = (row_a % 4 ? 0u : 1u) | (row_b % 4 ? 0u : 2u) | (gathers ? 0u : 4u);
    const bool shares = split_k == 1 && problem->batch <= 1 && product_tiles(problem, b) >= UNITS;
    for (uint32_t pack = 0; pack <= 3; pack++)
        for (uint32_t gathered = 0; gathered <= gathers; gathered++)
            for (uint32_t stream_k = 0; stream_k <= (shares ? 2u : 0u); stream_k += 2)
                if (*count < MOST_POINTS && !(pack & vec4))
                    add_block(points, count, "vector", b, split_k,
                              (moves){vec4, pack, gathered, stream_k});
}

static void add_tiles(const wfi_case_problem *problem, bool sliced, bench_point *points,
                      uint32_t *count)
{
    const block *list = sliced ? slices : vectors;
    const size_t length =
        sliced ? sizeof slices / sizeof *slices : sizeof vectors / sizeof *vectors;
    for (size_t i = 0; i < length; i++) {
        const double tiles = product_tiles(problem, &list[i]);
        for (uint32_t s = 1; !is_too_large(problem, &list[i]) && may_split(problem, tiles, s);
             s *= 2)
            if (!sliced)
                add_moves(problem, &list[i], s, points, count);
            else if (*count < MOST_POINTS)
                add_block(points, count, "subgroup_k", &list[i], s, (moves){0});
    }
}

static void add_matrix_units(const wfi_case_problem *problem, bench_point *points, uint32_t *count)
{
    static const char *const names[] = {"tile_m", "tile_n", "tile_k", "sub_m", "sub_n", "subs_k"};
    const uint32_t chunk = problem->type == WF_TYPE_I8 ? 16 : 8,
                   pack = ((problem->transpose_a ? problem->a : problem->c) % chunk ? 1 : 0) +
                          ((problem->transpose_b ? problem->c : problem->b) % chunk ? 2 : 0);
    for (size_t i = 0; i < sizeof matrix_units / sizeof *matrix_units; i++) {
        const block *b = &matrix_units[i];
        const uint32_t values[] = {b->tile_m,   b->tile_n,   b->tile_k,
                                   b->thread_m, b->thread_n, b->more};
        const double tiles = product_tiles(problem, b);
        for (uint32_t copies = 0; copies <= (pack ? 1u : 0u); copies++)
            for (uint32_t s = 1; !is_too_large(problem, b) && may_split(problem, tiles, s); s *= 2)
                if (*count < MOST_POINTS) {
                    bench_point *p = &points[(*count)++];
                    *p = (bench_point){.variant = "cooperative", .us = -1};
                    for (size_t j = 0; j < sizeof values / sizeof *values; j++)
                        set(p, names[j], values[j]);
                    set(p, "split_k", s);
                    set(p, "pack", copies ? pack : 0);
                    set(p, "stream_k", 0);
                }
    }
}

/* `outer`: work-items and columns for each of them that are at most twice as wide as C. */
static void add_outer(const wfi_case_problem *problem, bench_point *points, uint32_t *count)
{
    static const uint32_t widths[] = {32, 64, 128}, heights[] = {1, 2, 4};
    for (uint32_t x = 0; x < 3; x++)
        for (uint32_t y = 0; y < 3; y++)
            for (uint32_t columns = 1; columns <= 4; columns++)
                for (uint32_t tile_m = 32; tile_m <= 128; tile_m *= 2)
                    for (uint32_t rows = 1; rows <= 2; rows++) {
                        const uint32_t wide = widths[x] * columns, items = widths[x] * heights[y];
                        if (items < 64 || items > 256 || wide >= 2 * problem->b + 32 ||
                            *count == MOST_POINTS)
                            continue;
                        bench_point *p = &points[(*count)++];
                        *p = (bench_point){.variant = "outer", .us = -1};
                        set(p, "local_x", widths[x]);
                        set(p, "local_y", heights[y]);
                        set(p, "tile_m", tile_m);
                        set(p, "thread_m", rows);
                        set(p, "thread_n", columns);
                    }
}

/* `panel` and `matvec`, where C has few rows or columns. */
static void add_few_vectors(const wfi_case_problem *problem, bench_point *points, uint32_t *count)
{
    static const uint32_t lanes[][2] = {{8, 8},   {8, 16}, {8, 32}, {8, 64}, {16, 8},
                                        {16, 16}, {4, 32}, {4, 64}, {32, 8}},
                          items[][2] = {{4, 32},  {8, 4},  {8, 8},  {8, 16},  {8, 32},
                                        {8, 128}, {16, 4}, {16, 8}, {16, 16}, {16, 32},
                                        {32, 4},  {32, 8}, {64, 4}, {128, 2}};
    const uint64_t row_a = problem->transpose_a ? problem->a : problem->c,
                   row_b = problem->transpose_b ? problem->c : problem->b;
    const bool is_b = problem->a <= problem->b;
    const uint32_t vec4 = (row_a % 4 ? 0u : 1u) | (row_b % 4 ? 0u : 2u);
    if (problem->a > 16 && problem->b > 16)
        return;
    for (uint32_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        for (uint32_t blocks = 1; blocks <= 2; blocks++)
            for (uint32_t kept = 64; kept <= 256; kept *= 4)
                for (uint32_t s = 1; s <= 4 && *count < MOST_POINTS; s *= 2) {
                    bench_point *p = &points[(*count)++];
                    *p = (bench_point){.variant = "panel", .us = -1};
                    set(p, "lanes_k", lanes[i][0]);
                    set(p, "lanes_o", lanes[i][1]);
                    set(p, "blocks", blocks);
                    set(p, "kept", kept);
                    set(p, "split_k", s);
                    set(p, "vec4", vec4);
                }
    for (uint32_t i = 0; i < sizeof items / sizeof *items; i++)
        for (uint32_t s = 1; s <= 4 && *count < MOST_POINTS; s *= 2) {
            bench_point *p = &points[(*count)++];
            *p = (bench_point){.variant = "matvec", .us = -1};
            set(p, "local_x", items[i][0]);
            set(p, "local_y", items[i][1]);
            set(p, "split_k", s);
            set(p, "vec4", vec4 & (is_b ? 2u : 1u));
        }
}

static void keep_only(const char *variant, bench_point *points, uint32_t *count)
{
    uint32_t kept = 1; /* the choice is the first */
    for (uint32_t i = 1; i < *count; i++)
        if (strcmp(points[i].variant, variant) == 0)
            points[kept++] = points[i];
    *count = kept;
}

static uint32_t all_points(const wfi_case_problem *problem, bench_point *points)
{
    static const char *const others[] = {NULL, "panel", "matvec", "register", "naive"};
    const bool wide = problem->type == WF_TYPE_F32 || problem->type == WF_TYPE_F64;
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        points[count++] = (bench_point){.variant = others[i], .us = -1};
    if (!wide)
        add_matrix_units(problem, points, &count);
    if (wide || problem->c <= FEW_TERMS)
        add_tiles(problem, false, points, &count);
    if (problem->type == WF_TYPE_F32)
        add_tiles(problem, true, points, &count);
    add_outer(problem, points, &count);
    add_few_vectors(problem, points, &count);
    return count;
}

static double time_of(const bench_point *point, const wf_bindings *bindings, double best)
{
    double least = -1, seconds = 0;
    uint32_t count = 2;
    bool gpu_clock;
    for (int i = 0; i < SAMPLES + 1; i++) {
        if (wf_plan_run_times(point->plan, bindings, count, &seconds, &gpu_clock) != WF_SUCCESS)
            return -1;
        const double us = seconds / count * 1e6;
        if (i > 0 && (least < 0 || us < least))
            least = us;
        if (i == 0 && best > 0 && us > 8 * best)
            return us;
        count = us < 200 ? 20 : us < 2000 ? 5 : 2;
    }
    return least;
}

static void warm_up(const bench_point *points, uint32_t count, const wf_bindings *bindings)
{
    double seconds;
    bool gpu_clock;
    for (uint32_t i = 0; i < count; i++) /* some drivers compile here */
        if (points[i].plan)
            wf_plan_run_times(points[i].plan, bindings, 1, &seconds, &gpu_clock);
    const double end = wfi_host_seconds() + WARM_SECONDS;
    while (wfi_host_seconds() < end)
        for (uint32_t i = 0; i < count && wfi_host_seconds() < end; i++)
            if (points[i].plan)
                wf_plan_run_times(points[i].plan, bindings, 8, &seconds, &gpu_clock);
}

static void print(const wfi_case_problem *p, const bench_point *point, bool chosen)
{
    wf_plan_info info = {.size = sizeof info};
    wf_plan_describe(point->plan, &info);
    bench_product_print(p);
    printf(",%s,%.3f,%s", chosen ? "chosen" : "point", point->us, info.variant);
    for (uint32_t i = 0; i < info.constant_count; i++)
        printf(" %s=%u", info.constants[i].name, info.constants[i].value);
    printf("\n");
    fflush(stdout);
}

static void run_problem(wf_device *device, wf_buffer *const buffers[3], const wfi_case_problem *p,
                        const char *only)
{
    static bench_point points[MOST_POINTS];
    uint32_t count = all_points(p, points);
    if (only)
        keep_only(only, points, &count);
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < 3; i++)
        bindings.items[i].buffer = buffers[i];
#pragma omp parallel for schedule(dynamic)
    for (uint32_t i = 0; i < count; i++)
        if (bench_product_plan(device, p, points[i].variant, points[i].constants, points[i].count,
                               &points[i].plan) != WF_SUCCESS)
            points[i].plan = NULL;
    double best = -1;
    warm_up(points, count, &bindings);
    /* The choice, the first, comes last, when the clock is up. */
    for (uint32_t i = count; i-- > 0;)
        if (points[i].plan) {
            points[i].us = time_of(&points[i], &bindings, best);
            if (points[i].us > 0 && (best < 0 || points[i].us < best))
                best = points[i].us;
            print(p, &points[i], i == 0);
            wf_plan_destroy(&points[i].plan);
        }
}

/* The products that are named from argument `first` on, or else drawn. */
static uint32_t list_problems(int argc, char **argv, int first, wf_type type,
                              wfi_case_problem *problems)
{
    const wfi_drawn_request request = {strtoull(argv[3], NULL, 10), WF_FAMILY_MATMUL, &type,
                                       (uint32_t)strtoul(argv[2], NULL, 10)};
    uint32_t count = 0;
    if (argc == first)
        return wfi_drawn_suite(&request, problems);
    for (int i = first; i < argc && count < WFI_MOST_DRAWN; i++) {
        uint64_t numbers[6] = {0};
        char *at = argv[i];
        for (int n = 0; n < 6; n++)
            numbers[n] = strtoull(at + (*at == ','), &at, 10);
        if (numbers[0] && numbers[1] && numbers[2])
            problems[count++] = (wfi_case_problem){.family = WF_FAMILY_MATMUL,
                                                   .type = type,
                                                   .a = numbers[0],
                                                   .b = numbers[1],
                                                   .c = numbers[2],
                                                   .batch = (uint32_t)numbers[3],
                                                   .transpose_a = numbers[4] != 0,
                                                   .transpose_b = numbers[5] != 0};
    }
    return count;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: bench_points TYPE COUNT SEED SECONDS [--only VARIANT] [M,N,K…]\n");
        return 2;
    }
    const wf_type type = bench_product_type(argv[1]);
    static wfi_case_problem problems[WFI_MOST_DRAWN];
    const bool few = argc > 6 && strcmp(argv[5], "--only") == 0;
    const uint32_t count = list_problems(argc, argv, few ? 7 : 5, type, problems);
    wf_device *device = NULL;
    wf_buffer *buffers[3] = {NULL, NULL, NULL};
    wf_result result = wf_device_create(NULL, &device);
    const bool cpu = result == WF_SUCCESS && wfi_is_cpu(wf_device_caps(device));
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        const uint64_t most = cpu ? MOST_BYTES / 16 : wf_device_caps(device)->max_storage_range,
                       bytes = most < MOST_BYTES ? most / 4 * 4 : MOST_BYTES;
        result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &buffers[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(buffers[i], 0, bytes, 0x3c003c00);
    }
    const double end = wfi_host_seconds() + strtod(argv[4], NULL);
    for (uint32_t i = 0; i < count && result == WF_SUCCESS && wfi_host_seconds() < end; i++)
        if ((few && !cpu) ||
            bench_product_operations(&problems[i]) <= (cpu ? MOST_FLOPS_CPU : MOST_FLOPS))
            run_problem(device, buffers, &problems[i], few ? argv[6] : NULL);
    if (result != WF_SUCCESS)
        fprintf(stderr, "%s\n", wf_result_string(result));
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&buffers[i]);
    wf_device_destroy(&device);
    return result != WF_SUCCESS;
}
