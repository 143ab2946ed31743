/* time: temporal blocking, several iterations a pass in overlapped tiles. */
#include <math.h>

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

typedef struct tile {
    uint32_t x, y, steps;
} tile;

static void set_tile(wfi_point *point, tile t, uint32_t march)
{
    wfi_point_set(point, HIMENO_ID_LOCAL_X, t.x);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, t.y);
    wfi_point_set(point, HIMENO_ID_MARCH, march);
    wfi_point_set(point, HIMENO_ID_STEPS, t.steps);
}

/* Three iterations are weighed for grids with so many work-groups a compute unit, in columns of
 * DEEP_MARCH planes: an H100 was fastest with them on grids of 135 and 33 million cells, and nobody
 * has timed smaller ones on a card whose memory is slow. */
#define DEEP_GROUPS_A_UNIT 5
#define DEEP_MARCH 64

static bool is_deep(const wfi_point *point, tile t)
{
    const double overlap = 2.0 * (t.steps - 1);
    return wfi_himeno_inner_cells(point->problem) >= (t.x - overlap) * (t.y - overlap) *
                                                         DEEP_MARCH * DEEP_GROUPS_A_UNIT *
                                                         wfi_units_of(point->caps);
}

/* Whether a compute unit has the registers for a work-group of the tile. */
static bool has_registers(const wfi_point *point, tile t)
{
    const uint32_t wanted = wfi_himeno_profile_of(point->caps)->deep_registers,
                   registers = wfi_unit_of(point->caps).registers;
    return wanted == 0 || registers == 0 || registers / (t.x * t.y) >= wanted;
}

static bool is_weighed(const wfi_point *point, tile t)
{
    return t.steps < 3 || (is_deep(point, t) && has_registers(point, t));
}

/* The legal tile with the least expected time; the smallest where none is. Three iterations a pass
 * pay where memory is slow beside arithmetic: on an H200 they lose to the overlap of tiles (60
 * grids of 11 to 65 million cells: 64x16 took 1.09 to 1.61 times the best of two iterations,
 * bench/notes/himeno.md#three-iterations). Columns have as many planes each, since a short last one
 * would leave compute units idle (H200, 169x325x78 by tiles of 32x8: 56.5 us by columns of 64 and
 * 12 planes, 42.0 by 32x12 and two of 38). */
static void set_fastest_tile(wfi_point *point)
{
    static const tile tiles[] = {{16, 8, 2},  {32, 8, 2}, {32, 12, 2},
                                 {32, 16, 2}, {64, 8, 2}, {64, 16, 3}};
    const uint64_t planes = point->problem->himeno.nk - 2;
    uint32_t best = 0, best_march = 8;
    double least = INFINITY;
    for (uint32_t i = 0; i < WFI_COUNT(tiles); i++) {
        if (!is_weighed(point, tiles[i]))
            continue;
        for (uint32_t longest = 8; longest <= 64; longest *= 2) {
            const uint32_t march = wfi_even_column(planes, longest);
            set_tile(point, tiles[i], march);
            const double time = wfi_himeno_pass_time(point);
            if (time >= least || !wfi_point_legal(point, NULL))
                continue;
            least = time;
            best = i;
            best_march = march;
        }
    }
    set_tile(point, tiles[best], best_march);
}

#define TIME_ELSEWHERE 3 /* of this variant where it does not pay, over march4's */

/* It pays where memory is much slower than arithmetic and shared memory is faster than caches. */
static double expect(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool pays = wfi_himeno_profile_of(caps)->fast_shared &&
                      !wfi_unit_of(caps).shared_is_memory && caps->max_invocations >= 256;
    return wfi_himeno_least_bytes(point->problem) *
           (pays ? wfi_himeno_pass_time(point) : TIME_ELSEWHERE);
}

static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    wfi_himeno_fit_pad(point, 1);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, profile->interleave);
    wfi_point_set(point, HIMENO_ID_REVERSE, profile->caches_planes);
    set_fastest_tile(point);
    return expect(point);
}

static void refit(wfi_point *point)
{
    const uint32_t longest = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    wfi_point_set(point, HIMENO_ID_MARCH, wfi_even_column(point->problem->himeno.nk - 2, longest));
}

const wfi_variant wfi_himeno_time = {
    WFI_HIMENO_ROW(time, parameters, constraints),
    .name = "time",
    .summary = "several iterations a pass, which reads the coefficients once for all of them",
    .source = "Holewinski, Pouchet and Sadayappan, overlapped tiling (ICS 2012)",
    .shared_bytes = wfi_himeno_shared_planes,
    .fit = fit,
    .expect = expect,
    .refit = refit,
    .traffic = wfi_himeno_planes_traffic,
    .build = wfi_himeno_build,
};
