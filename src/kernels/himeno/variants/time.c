/* time: temporal blocking, several iterations a pass in overlapped tiles. */
#include "core/architectures.h"
#include "kernels/himeno/rows.h"

static const uint32_t step_counts[] = {2, 3, 4};

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(16),
    WFI_HIMENO_LOCAL_Y(8),
    WFI_HIMENO_MARCH(8),
    WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0),
    WFI_HIMENO_REVERSE,
    WFI_HIMENO_PARAMETER("steps", HIMENO_ID_STEPS, 2, step_counts,
                         "iterations that one pass over memory makes")};

static bool steps_fit(const wfi_point *point)
{
    const uint32_t steps = wfi_point_value(point, HIMENO_ID_STEPS, 2);
    return steps >= 2 && steps <= WFI_HIMENO_MAX_STEPS;
}

static bool tile_outlasts_steps(const wfi_point *point)
{
    const uint32_t overlap = 2 * (wfi_himeno_steps(point) - 1);
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return size[0] > overlap && size[1] > overlap;
}

static const wfi_constraint constraints[] = {
    WFI_HIMENO_FITS,
    WFI_HIMENO_SHORT_MARCH,
    {"steps must be between 2 and 4", steps_fit},
    {"local_x and local_y must be over 2 (steps - 1), since each iteration after the first loses "
     "a cell on every side of the tile",
     tile_outlasts_steps}};

/* Tiles that the model weighs, deepest first, each for grids with so many work-groups of it a
 * compute unit; the values were an H100's best on grids of 135, 33 and 4 million cells. */
typedef struct tile {
    uint32_t x, y, march, steps, groups_a_unit;
} tile;

static const tile tiles[] = {
    {64, 16, 64, 3, 5}, {32, 12, 32, 2, 8}, {32, 8, 16, 2, 0}, {16, 8, 16, 2, 0}};

static double groups_of(const wfi_point *point, const tile *t)
{
    const uint32_t overlap = 2 * (t->steps - 1);
    return wfi_himeno_inner_cells(point->problem) /
           ((double)(t->x - overlap) * (t->y - overlap) * t->march);
}

/* Whether a compute unit has the registers for a work-group of the tile. */
static bool has_registers(const wfi_point *point, const tile *t)
{
    const uint32_t wanted = wfi_himeno_profile_of(point->caps)->deep_registers,
                   registers = wfi_unit_of(point->caps).registers;
    return t->steps < 3 || wanted == 0 || registers == 0 || registers / (t->x * t->y) >= wanted;
}

#define TIME_ELSEWHERE 3 /* of this variant where it does not pay, over march4's */

/* It pays where memory is much slower than arithmetic and shared memory is faster than caches, on
 * grids that are larger than these. */
static double fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(caps);
    const double units = wfi_units_of(caps);
    for (size_t i = 0; i < WFI_COUNT(tiles); i++) {
        const tile *t = &tiles[i];
        wfi_point_set(point, HIMENO_ID_LOCAL_X, t->x);
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, t->y);
        wfi_point_set(point, HIMENO_ID_MARCH, t->march);
        wfi_point_set(point, HIMENO_ID_PAD, profile->pad);
        wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave);
        wfi_point_set(point, HIMENO_ID_STEPS, t->steps);
        wfi_point_set(point, HIMENO_ID_REVERSE, profile->caches_planes);
        if (has_registers(point, t) && wfi_point_legal(point, NULL) &&
            groups_of(point, t) >= units * t->groups_a_unit)
            break;
    }
    const bool pays = profile->fast_shared && !wfi_unit_of(caps).shared_is_memory &&
                      caps->max_invocations >= 256 &&
                      wfi_himeno_inner_cells(point->problem) > WFI_HIMENO_SMALL_CELLS;
    return wfi_himeno_least_bytes(point->problem) * (pays ? profile->times.time : TIME_ELSEWHERE);
}

const wfi_variant wfi_himeno_time = {
    WFI_HIMENO_ROW(time, parameters, constraints),
    .name = "time",
    .summary = "several iterations a pass, which reads the coefficients once for all of them",
    .source = "Holewinski, Pouchet and Sadayappan, overlapped tiling (ICS 2012)",
    .shared_bytes = wfi_himeno_shared_planes,
    .fit = fit,
    .traffic = wfi_himeno_planes_traffic,
    .build = wfi_himeno_build,
};
