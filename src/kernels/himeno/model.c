/* Good values for each row of Himeno, and what a pass is expected to take. */
#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/himeno/himeno.h"
#include "kernels/himeno/rows.h"

static double inner_cells(const wfi_point *point)
{
    return wfi_himeno_inner_cells(point->problem);
}

static double least_bytes(const wfi_point *point)
{
    return wfi_himeno_least_bytes(point->problem);
}

/* Plain but on grids so small that the gap between dispatches is most of the time, where it is the
 * choice of a device without subgroup reductions. */
double wfi_himeno_fit_naive(wfi_point *point)
{
    const bool small = inner_cells(point) < 1e5 && !wfi_is_cpu(point->caps);
    if (small) {
        wfi_point_set(point, HIMENO_ID_PAD, 32);
        wfi_point_set(point, HIMENO_ID_INTERLEAVE, 64);
    }
    return least_bytes(point) * (small ? 0.9 : 2.0);
}

/* Without the barriers of a tree a small grid's pass is a twentieth shorter, and nothing of one
 * iteration a pass was faster there. */
double wfi_himeno_fit_subgroup(wfi_point *point)
{
    const bool cpu = wfi_is_cpu(point->caps), small = inner_cells(point) < 1e5;
    wfi_point_set(point, HIMENO_ID_PAD, cpu ? 4 : 32);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, cpu ? 32 : small ? 64 : 65536);
    wfi_point_set(point, HIMENO_ID_REVERSE, !cpu && inner_cells(point) > 2e6);
    if (small && !cpu && point->caps->max_invocations >= 256)
        wfi_point_set(point, HIMENO_ID_LOCAL_X, 64);
    return least_bytes(point) * (cpu ? 2.0 : small ? 0.85 : 1.1);
}

double wfi_himeno_fit_step(wfi_point *point)
{
    return least_bytes(point) * 10;
}

/* Work-groups as wide as the rows, up to a subgroup's or two. The big cache of an H100 joins the
 * planes of neighbouring work-groups, so that columns pay only on grids whose planes outgrow it, or
 * to have fewer work-groups on small ones; a CPU device pays for each work-group, and for each
 * barrier in it. */
static void march_values(wfi_point *point, uint32_t width)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const bool cpu = wfi_is_cpu(point->caps);
    const bool small = inner_cells(point) < 2e6;
    const bool large = inner_cells(point) > 1e8;
    const uint32_t most = point->caps->max_invocations,
                   wanted = !cpu && (small || large) ? 128 : 256;
    const uint32_t items = most < wanted ? most : wanted;
    const uint32_t x = wfi_power_at_least((p->ni - 2 + width - 1) / width, cpu || large ? 64 : 32);
    wfi_point_set(point, HIMENO_ID_LOCAL_X, x);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, wfi_power_at_least(p->nj - 2, items / x));
    wfi_point_set(point, HIMENO_ID_MARCH, cpu ? 8 : large ? 16 : small ? 2 : width == 4 ? 1 : 4);
    wfi_point_set(point, HIMENO_ID_PAD, cpu ? 4 : 32);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, cpu ? 32 : 65536);
    wfi_point_set(point, HIMENO_ID_OWN_SUMS, cpu);
    wfi_point_set(point, HIMENO_ID_REVERSE, !cpu && !small);
}

/* SwiftShader, taken for all CPU devices but llvmpipe, gains nothing by vectors, and long columns
 * carry most of their planes along (bench/notes/himeno.md#all-sizes). */
double wfi_himeno_fit_march(wfi_point *point)
{
    march_values(point, 1);
    if (!wfi_is_cpu(point->caps) || point->caps->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE)
        return least_bytes(point) * 1.2;
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, point->caps->max_invocations < 256 ? 2 : 4);
    wfi_point_set(point, HIMENO_ID_MARCH, 64);
    return least_bytes(point) * 0.75;
}

double wfi_himeno_fit_march4(wfi_point *point)
{
    march_values(point, 4);
    return least_bytes(point);
}

/* 3 % faster than march4 at size S, where an iteration's barriers count. */
double wfi_himeno_fit_march4_sum(wfi_point *point)
{
    const bool small = inner_cells(point) >= 1e5 && inner_cells(point) < 2e6;
    march_values(point, 4);
    return least_bytes(point) * (small && !wfi_is_cpu(point->caps) ? 0.97 : 1.3);
}

/* For CPU devices, whose loads cost by their number: long columns have the fewest, where there are enough
 * of them for all cores. 1.26 times as fast as march4 on lavapipe at size M. */
double wfi_himeno_fit_pairs(wfi_point *point)
{
    march_values(point, 4);
    if (!wfi_is_cpu(point->caps))
        return least_bytes(point) * 1.6;
    if (inner_cells(point) > 2e6)
        wfi_point_set(point, HIMENO_ID_MARCH, 32);
    return least_bytes(point) * 0.8;
}

/* Work-groups of `texels` in the whole grid. */
static uint64_t texels_groups(const wfi_point *point)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const uint64_t x = UINT64_C(4) * wfi_point_value(point, HIMENO_ID_LOCAL_X, 1),
                   y = UINT64_C(2) * wfi_point_value(point, HIMENO_ID_LOCAL_Y, 1),
                   z = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    return ((p->ni - 3 + x) / x) * ((p->nj - 3 + y) / y) * ((p->nk - 3 + z) / z);
}

/* llvmpipe fetches four words for less than it loads one: 2 to 2.5 times as fast as pairs there. Columns are
 * long, and work-groups large as long as each core gets some; coefficients of large grids lie in blocks of what
 * a subgroup of 8 fetches, which one of two processors liked much better and the other a little less. */
double wfi_himeno_fit_texels(wfi_point *point)
{
    const bool llvmpipe = point->caps->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE;
    const uint32_t most = point->caps->max_invocations;
    march_values(point, 4);
    uint32_t y = (most < 512 ? most : 512) / wfi_point_value(point, HIMENO_ID_LOCAL_X, 1),
             march = 32;
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, y);
    wfi_point_set(point, HIMENO_ID_MARCH, march);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, inner_cells(point) > 2e6 ? 32 : 65536);
    while (y > 2 && texels_groups(point) < 32)
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, y /= 2);
    while (march > 8 && texels_groups(point) < 16)
        wfi_point_set(point, HIMENO_ID_MARCH, march /= 2);
    return least_bytes(point) * (llvmpipe ? 0.5 : 10);
}

double wfi_himeno_fit_planes(wfi_point *point)
{
    march_values(point, 1);
    return least_bytes(point) * (wfi_is_cpu(point->caps) ? 4 : 1.5);
}

/* Tiles that the model weighs, deepest first, each for grids with so many work-groups of it a
 * compute unit; the values were an H100's best on grids of 135, 33 and 4 million cells. */
typedef struct time_tile {
    uint32_t x, y, march, steps, groups_a_unit;
} time_tile;

static const time_tile time_tiles[] = {
    {64, 16, 64, 3, 5}, {32, 12, 32, 2, 8}, {32, 8, 16, 2, 0}, {16, 8, 16, 2, 0}};

static double time_groups(const wfi_point *point, const time_tile *t)
{
    const uint32_t overlap = 2 * (t->steps - 1);
    return inner_cells(point) / ((double)(t->x - overlap) * (t->y - overlap) * t->march);
}

/* Pays where memory is much slower than arithmetic and shared memory is more than a name, on grids
 * larger than the caches. */
double wfi_himeno_fit_time(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool cpu = wfi_is_cpu(point->caps);
    const double units = wfi_units_of(caps);
    for (size_t i = 0; i < sizeof time_tiles / sizeof *time_tiles; i++) {
        const time_tile *t = &time_tiles[i];
        wfi_point_set(point, HIMENO_ID_LOCAL_X, t->x);
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, t->y);
        wfi_point_set(point, HIMENO_ID_MARCH, t->march);
        wfi_point_set(point, HIMENO_ID_PAD, cpu ? 4 : 32);
        wfi_point_set(point, HIMENO_ID_INTERLEAVE, cpu ? 32 : 65536);
        wfi_point_set(point, HIMENO_ID_STEPS, t->steps);
        wfi_point_set(point, HIMENO_ID_REVERSE, !cpu);
        if (wfi_point_legal(point, NULL) && time_groups(point, t) >= units * t->groups_a_unit)
            break;
    }
    const bool pays = !cpu && !wfi_unit_of(caps).shared_is_memory && caps->max_invocations >= 256 &&
                      inner_cells(point) > 2e6;
    return least_bytes(point) * (pays ? 0.65 : 3);
}

double wfi_himeno_fit_box(wfi_point *point)
{
    wfi_point_set(point, HIMENO_ID_PAD, wfi_is_cpu(point->caps) ? 4 : 32);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, wfi_is_cpu(point->caps) ? 32 : 64);
    return least_bytes(point) * 3;
}
