/* What a pass of several iterations takes beside a pass of one, in clocks of a compute unit: each
 * plane that a work-group goes on to is waited for, and the work-groups that a unit holds share its
 * part of memory's bandwidth. Of the device its published figures come in; the other numbers are
 * guesses for all devices, fitted to 26 grids on an H200, those of three iterations to 60 others
 * (bench/notes/himeno.md#rounds and #three-iterations say how far they hold). */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"
#include "profiles/published.h"

#define UNIT_BYTES 15.6   /* of memory, a clock, where none are published */
#define PLANE_CLOCKS 1250 /* of memory's latency, and of the arithmetic and barriers of a plane */
#define ITEM_CLOCKS 1     /* of a plane, for each work-item and iteration */
#define PASS_CLOCKS 9900  /* of a dispatch, the barrier behind it and the planes before the first */
#define SINGLE_CLOCKS 3000 /* of a pass of one iteration, likewise */
/* Of a work-item: these, and so many for each iteration. */
#define LEAST_REGISTERS 24
#define STEP_REGISTERS 16
#define ROW_BYTES 36        /* that a row of a tile reads more, since caches fetch whole sectors */
#define SINGLE_ROW_BYTES 24 /* likewise a row of the grid, in a pass of one */
#define ARRAYS_READ 13      /* twelve coefficients and p */
#define FROM_MEMORY 0.67    /* of the bytes read: neighbours' overlap is in caches in part */
#define WAIT_POWER 1.75     /* waits and loads overlap in part: times add up as their powers do */
/* Units that are given one work-group more than others share memory with fewer. */
#define LAST_GROUP 0.46
/* Of memory's time, that a pass of one takes for arrays that caches hold, and their bytes from
 * which on caches hold none of it. */
#define CACHED_TIME 0.75
#define UNCACHED_BYTES 60e6

/* The share of the arrays that caches hold. */
static double cached_share(const wfi_problem *problem)
{
    const double beyond = (wfi_himeno_least_bytes(problem) - WFI_HIMENO_CACHED_BYTES) /
                          (UNCACHED_BYTES - WFI_HIMENO_CACHED_BYTES);
    return fmin(fmax(1 - beyond, 0), 1);
}

/* Of memory, a clock, for one of the units; what caches hold comes no slower than on an H200. */
static double unit_bytes(const wfi_point *point, const wfi_unit *unit)
{
    const double published = wfi_published_bytes(unit),
                 guessed = wfi_himeno_profile_of(point->caps)->unit_bytes;
    const double memory = published > 0 ? published : guessed > 0 ? guessed : UNIT_BYTES;
    const double cached = cached_share(point->problem);
    return cached * fmax(memory, UNIT_BYTES) + (1 - cached) * memory;
}

/* Bytes that a work-group reads and writes for a plane, in the mean over all of them. */
static double plane_bytes(const wfi_point *point, const uint32_t groups[3])
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double overlap = 2 * (wfi_himeno_steps(point) - 1.0), ni = (double)p->ni - 2,
                 nj = (double)p->nj - 2, size = sizeof(float);
    const double row = size * (ni + groups[0] * overlap) + ROW_BYTES * (double)groups[0],
                 rows = nj + groups[1] * overlap;
    return (FROM_MEMORY * ARRAYS_READ * row * rows + size * ni * nj) /
           ((double)groups[0] * groups[1]);
}

/* What an iteration a pass takes. */
static double single_clocks(const wfi_point *point, double bytes_a_clock)
{
    const double row = sizeof(float) * (point->problem->himeno.ni - 2.0),
                 moved = wfi_himeno_least_bytes(point->problem) * (row + SINGLE_ROW_BYTES) / row;
    return moved * (1 - (1 - CACHED_TIME) * cached_share(point->problem)) / bytes_a_clock +
           SINGLE_CLOCKS;
}

/* What a plane takes where a unit has so many work-groups under way. */
static double plane_clocks(double wait, double load)
{
    return pow(pow(wait, WAIT_POWER) + pow(load, WAIT_POWER), 1 / WAIT_POWER);
}

double wfi_himeno_pass_time(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_himeno_problem *p = &point->problem->himeno;
    const wfi_unit unit = wfi_unit_of(caps);
    const double units = ceil((double)wfi_units_of(caps) / unit.counted),
                 steps = wfi_himeno_steps(point), planes = p->nk - 2.0;
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const double items = (double)size[0] * size[1],
                 registers = LEAST_REGISTERS + STEP_REGISTERS * steps,
                 bytes = unit_bytes(point, &unit),
                 published = wfi_published_held(&unit, items, registers, 0),
                 held = published > 0 ? published : wfi_himeno_guessed_groups(items, registers);
    const double unit_groups = (double)groups[0] * groups[1] * groups[2] / units,
                 rounds = floor(unit_groups / held), left = unit_groups - rounds * held,
                 last = left + LAST_GROUP * (ceil(left) - left);
    const double wait = PLANE_CLOCKS + ITEM_CLOCKS * steps * items,
                 load = plane_bytes(point, groups) / bytes;
    const double plane = rounds * plane_clocks(wait, held * load) +
                         (left > 0 ? plane_clocks(wait, last * load) : 0),
                 column =
                     fmin(wfi_point_value(point, HIMENO_ID_MARCH, 1), planes) + 2 * (steps - 1);
    return (column * plane + PASS_CLOCKS) / steps / single_clocks(point, units * bytes);
}
