/* Good values for each row of the grid family, and what a plan is expected to take. */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/stencil/stencil.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double bytes(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return (double)wf_type_size(point->problem->type) * (double)wfi_stencil_elements(p) * p->steps;
}

/* Work-groups as wide as the rows, up to a few subgroups. */
static void set_group(wfi_point *point, uint32_t items, uint32_t most_x)
{
    if (items > point->caps->max_invocations)
        items = point->caps->max_invocations;
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint32_t width = wfi_stencil_width(point);
    const uint32_t x = wfi_power_at_least((a.ni + width - 1) / width, a.flat ? items : most_x);
    wfi_point_set(point, STENCIL_ID_LOCAL_X, x < 8 ? 8 : x);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y,
                  a.flat ? 1 : wfi_power_at_least(a.nj, x < 8 ? items / 8 : items / x));
}

#define UNIT_ITEMS 512 /* work-items that a compute unit wants, to have something to do meanwhile */

/* Whether the point's work-groups give every compute unit of a GPU enough to do: long columns leave
 * those of a large one idle on small grids (bench/notes/stencil.md#small-grids: twice the time). */
static bool fills_device(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const wfi_stencil_tile t = wfi_stencil_tile_of(point);
    uint32_t size[3];
    if (wfi_is_cpu(caps) || t.i <= 0 || t.j <= 0)
        return true;
    point->variant->group_size(point, size);
    const double groups = (double)wfi_stencil_columns(point) * ceil((double)a.nk / (double)t.k);
    const double busy = groups * size[0] * size[1] * size[2];
    return busy >= UNIT_ITEMS * wfi_units_of(caps);
}

/* Halves the columns while the device is not full. */
static void shorten_columns(wfi_point *point)
{
    for (uint32_t march = wfi_point_value(point, STENCIL_ID_MARCH, 1);
         march > 1 && !fills_device(point); march /= 2)
        wfi_point_set(point, STENCIL_ID_MARCH, march / 2);
}

double wfi_stencil_fit_naive(wfi_point *point)
{
    set_group(point, 128, 64);
    return bytes(point) * 3;
}

#define CPU_GROUPS 16 /* work-groups that a CPU's threads want at least */

/* Columns of a CPU device: of stars as long as leave its threads enough of them
 * (bench/notes/tune.md#time-first). */
static void set_cpu_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t planes = wfi_stencil_axes_of(p).nk;
    uint32_t march = p->shape == WF_STENCIL_STAR ? 256 : 32;
    do
        wfi_point_set(point, STENCIL_ID_MARCH, march);
    while (wfi_stencil_columns(point) * ((planes + march - 1) / march) < CPU_GROUPS &&
           (march /= 2) >= 32);
}

/* SwiftShader is faster by narrow work-groups, lavapipe by those of GPUs
 * (bench/notes/tune.md#time-first). */
double wfi_stencil_fit_march(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool cpu = wfi_is_cpu(caps),
               narrow = cpu && caps->driver_id != VK_DRIVER_ID_MESA_LLVMPIPE;
    set_group(point, 256, narrow ? 8 : 64);
    wfi_point_set(point, STENCIL_ID_MARCH, 4);
    if (cpu)
        set_cpu_columns(point);
    shorten_columns(point);
    return bytes(point) * 2.2;
}

/* Columns of a GPU in three dimensions: long where planes beyond their ends are many or much work. */
static void set_solid_columns(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool star = p->shape == WF_STENCIL_STAR;
    if (star && p->radius > 2) {
        set_group(point, 128, 32);
        wfi_point_set(point, STENCIL_ID_MARCH, 32);
    } else if (star && p->radius == 2) {
        wfi_point_set(point, STENCIL_ID_MARCH, 8);
    } else if (star && point->problem->type == WF_TYPE_F16) {
        set_group(point, 128, 32);
        wfi_point_set(point, STENCIL_ID_MARCH, 16);
    } else if (!star && p->radius == 1) {
        wfi_point_set(point, STENCIL_ID_MARCH, 16);
    }
}

/* CPU devices gain by long columns, whose planes stay; the H100 in two dimensions by short ones
 * (bench/notes/stencil.md#machine-code). */
double wfi_stencil_fit_vector(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool cpu = wfi_is_cpu(point->caps), flat = p->dimensions == 2;
    set_group(point, flat && !cpu && point->problem->type == WF_TYPE_F64 ? 128 : 256, 64);
    wfi_point_set(point, STENCIL_ID_MARCH, flat && p->radius == 1 ? 2 : 4);
    if (cpu)
        set_cpu_columns(point);
    else if (!flat)
        set_solid_columns(point);
    shorten_columns(point);
    return bytes(point) * 2;
}

/* Tiles that the model weighs, best first, as they came out on an H100: 8192 x 8192 f64 and 512^3
 * f32. */
typedef struct time_tile {
    uint32_t x, y, rows, march, steps;
} time_tile;

static const time_tile flat_tiles[] = {{128, 1, 1, 64, 4}, {64, 1, 1, 16, 4}, {64, 1, 1, 8, 4},
                                       {128, 1, 1, 32, 2}, {64, 1, 1, 16, 2}, {64, 1, 1, 16, 1}};
static const time_tile solid_tiles[] = {{64, 8, 2, 64, 2}, {32, 4, 4, 32, 2}, {32, 4, 4, 16, 1}};

static void set_values(wfi_point *point, const time_tile *t)
{
    wfi_point_set(point, STENCIL_ID_LOCAL_X, t->x);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y, t->y);
    wfi_point_set(point, STENCIL_ID_ROWS, t->rows);
    wfi_point_set(point, STENCIL_ID_MARCH, t->march);
    wfi_point_set(point, STENCIL_ID_STEPS, t->steps);
}

/* Sets the first legal of `count` tiles that fills the device; where none does the legal one with the
 * shortest columns, and where none is legal the last. */
static const time_tile *set_tile(wfi_point *point, const time_tile *tiles, size_t count)
{
    const time_tile *shortest = NULL;
    for (size_t i = 0; i < count; i++) {
        set_values(point, &tiles[i]);
        const bool legal = wfi_point_legal(point, NULL);
        if (legal && fills_device(point))
            return &tiles[i];
        if (legal && (!shortest || tiles[i].march < shortest->march))
            shortest = &tiles[i];
    }
    const time_tile *t = shortest ? shortest : &tiles[count - 1];
    set_values(point, t);
    return t;
}

/* Sets the first legal of `count` tiles, the last where none is. */
static const time_tile *set_legal_tile(wfi_point *point, const time_tile *tiles, size_t count)
{
    const time_tile *t = tiles;
    for (; t < tiles + count - 1; t++) {
        set_values(point, t);
        if (wfi_point_legal(point, NULL))
            return t;
    }
    set_values(point, t);
    return t;
}

/* Pays where memory is much slower than arithmetic and shared memory is more than a name. */
double wfi_stencil_fit_time(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool flat = p->dimensions == 2;
    const time_tile *t = flat ? set_tile(point, flat_tiles, COUNT(flat_tiles))
                              : set_tile(point, solid_tiles, COUNT(solid_tiles));
    /* In three dimensions the tiles' overlap eats what f64 and wide stencils could gain. */
    const bool pays = !wfi_is_cpu(point->caps) && !wfi_unit_of(point->caps).shared_is_memory &&
                      t->steps > 1 &&
                      (flat ? p->radius <= 2
                            : p->radius == 1 && point->problem->type == WF_TYPE_F32 &&
                                  point->caps->max_invocations >= 512);
    return bytes(point) * (pays ? 1.8 : 8);
}

/* Work-groups of the best tile that a compute unit has at once. */
#define GROUPS_A_UNIT 2

/* Columns whose work-groups end together: in as many march_steps as the longest queue of them takes. */
static void set_march(wfi_point *point)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint64_t units = wfi_units_of(point->caps);
    const uint64_t columns = wfi_stencil_columns(point),
                   steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    uint64_t best = UINT64_MAX;
    for (uint64_t segments = 1; segments <= 64 && segments <= a.nk; segments++) {
        /* Turns are made in pairs. */
        const uint64_t march = wfi_round_up((a.nk + segments - 1) / segments, 2),
                       all = columns * segments;
        const uint64_t waves = (all + GROUPS_A_UNIT * units - 1) / (GROUPS_A_UNIT * units);
        const uint64_t march_steps = waves * (march + 2 * steps);
        if (march_steps < best && march <= 4096) {
            best = march_steps;
            wfi_point_set(point, STENCIL_ID_MARCH, (uint32_t)march);
        }
    }
}

/* Each for grids of at least so many cells, which an H100 has measured it on. */
static const struct {
    time_tile tile;
    uint64_t cells;
} flat_vector_tiles[] = {
    {{64, 1, 1, 64, 8}, UINT64_C(1) << 24},  {{64, 1, 1, 32, 8}, UINT64_C(1) << 22},
    {{128, 1, 1, 64, 6}, UINT64_C(1) << 26}, {{128, 1, 1, 32, 6}, UINT64_C(1) << 24},
    {{64, 1, 1, 64, 4}, UINT64_C(1) << 26},  {{128, 1, 1, 32, 4}, UINT64_C(1) << 24},
    {{64, 1, 1, 16, 4}, UINT64_C(1) << 22}};
static const time_tile solid_vector_tiles[] = {{16, 16, 2, 128, 3},
                                               {16, 16, 2, 128, 2},
                                               {16, 8, 4, 64, 3},
                                               {16, 8, 2, 16, 2},
                                               {16, 8, 2, 16, 1}};
static const time_tile flat_vector_tail[] = {{64, 1, 1, 32, 2}, {64, 1, 1, 16, 1}};

/* Cells of f32 from which on several steps a pass were measured faster in three dimensions; four times as
 * many of other types. */
#define LARGE_SOLID (UINT64_C(1) << 24)
/* Steps a pass of f64 in two dimensions; more were slower. */
#define MOST_F64_STEPS 6

static double fit_solid_vector(wfi_point *point, bool gpu)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wf_type type = point->problem->type;
    wfi_point_set(point, STENCIL_ID_BUFFERS, 1);
    /* The largest that is legal: columns are then as long as fills the device. */
    const time_tile *t = set_legal_tile(point, solid_vector_tiles, COUNT(solid_vector_tiles));
    const bool large = t < solid_vector_tiles + 2;
    if (large)
        set_march(point);
    const uint64_t cells = p->nx * p->ny * p->nz, least = type == WF_TYPE_F32 ? 1 : 4;
    if (!gpu || !large || cells < least * LARGE_SOLID || (type == WF_TYPE_F16 && t->steps < 3))
        return bytes(point) * 8;
    return bytes(point) * (type == WF_TYPE_F32 ? 1 : type == WF_TYPE_F64 ? 1.6 : 1.9);
}

/* Of the copy bandwidth of an H100: f32 twice in three dimensions and 3.4 times in two, f64 1.9 and 2.4
 * times, f16 0.9 to 0.94 times, where single steps have 0.87 to 0.89. */
double wfi_stencil_fit_time_vector(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool gpu = !wfi_is_cpu(point->caps) && !wfi_unit_of(point->caps).shared_is_memory;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    if (p->dimensions == 3)
        return fit_solid_vector(point, gpu);
    wfi_point_set(point, STENCIL_ID_BUFFERS, 2);
    for (size_t i = 0; i < COUNT(flat_vector_tiles); i++) {
        const uint64_t cells = p->nx * p->ny;
        set_values(point, &flat_vector_tiles[i].tile);
        if (cells < flat_vector_tiles[i].cells || !wfi_point_legal(point, NULL) ||
            (f64 && flat_vector_tiles[i].tile.steps > MOST_F64_STEPS))
            continue;
        const bool pays = gpu && (point->problem->type == WF_TYPE_F32 || f64);
        return bytes(point) * (pays ? 1.5 : 8);
    }
    set_tile(point, flat_vector_tail, COUNT(flat_vector_tail));
    return bytes(point) * 8;
}

/* Tiles for boxes, deepest first; the last is for work-groups of 128. */
static const time_tile flat_box_tiles[] = {
    {128, 1, 1, 64, 4}, {128, 1, 1, 32, 2}, {64, 1, 1, 16, 2}, {64, 1, 1, 16, 1}};
static const time_tile solid_box_tiles[] = {
    {64, 8, 2, 64, 2}, {32, 8, 2, 32, 2}, {16, 8, 2, 16, 2}, {32, 4, 4, 16, 1}};

/* No longer better than single steps anywhere: an H100 takes 509 us a step for 27 points of 512^3 f32 by
 * the first tile, 402 by `vector`. */
double wfi_stencil_fit_time_box(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    if (p->dimensions == 2)
        set_tile(point, flat_box_tiles, COUNT(flat_box_tiles));
    else
        set_tile(point, solid_box_tiles, COUNT(solid_box_tiles));
    return bytes(point) * 8;
}
