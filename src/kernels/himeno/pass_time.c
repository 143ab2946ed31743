/* What a pass of several iterations takes beside a pass of one, counted in bytes: memory moves what
 * the tiles of all work-groups read, with their overlap, and each plane that a work-group goes on
 * to is waited for. Of the device its published figures come in; the other numbers are guesses for
 * all devices, made on an H100 (bench/notes/himeno.md#pass-time says how far they hold). */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"
#include "profiles/published.h"

#define PLANE_CLOCKS 1500 /* of memory's latency, and of the arithmetic and barriers of a plane */
/* Bytes that come from memory while a compute unit waits so long, where nothing is published. */
#define PLANE_BYTES 10e3
#define DISPATCH_PLANES 2.7 /* such waits that a dispatch and the barrier behind it take */
#define HELD_GROUPS 2       /* work-groups that a unit holds at once, where nothing is published */
#define SECTOR_BYTES 32     /* what caches fetch at once */
#define ARRAYS_READ 13      /* twelve coefficients and p */
#define FROM_MEMORY 0.75    /* of the bytes read: neighbours' overlap is in caches in part */
#define LARGE_GROUP 0.12    /* of memory's time, which 256 work-items more at a barrier add */
#define CACHED_TIME 0.6     /* of memory's time, that a pass of one takes for what caches hold */
/* Of the ratio that is counted: on an H200 passes of two iterations took 0.71 to 1.22 of it over 16
 * grids, 0.83 in the median, and three of the grids took more than it. */
#define TAKEN 0.9
/* Work-groups of one unit hide each other's waits: times add up as their powers do, from nearly
 * plainly for one to the larger of both for many. */
#define LEAST_POWER 1.25
#define MOST_POWER 3

/* Bytes that a compute unit's share of memory's bandwidth moves while a plane is waited for. */
static double plane_bytes(const wfi_unit *unit)
{
    return unit->fma && unit->flops_a_byte > 0 ? 2.0 * unit->fma / unit->flops_a_byte * PLANE_CLOCKS
                                               : PLANE_BYTES;
}

/* Bytes that all work-groups read and write in a pass. */
static double bytes_moved(const wfi_point *point, const uint32_t groups[3])
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const double overlap = 2 * (wfi_himeno_steps(point) - 1.0);
    const double rows = (double)p->nj - 2 + groups[1] * overlap,
                 planes = (double)p->nk - 2 + groups[2] * overlap,
                 row = sizeof(float) * ((double)p->ni - 2 + groups[0] * overlap) +
                       (SECTOR_BYTES - sizeof(float)) * (double)groups[0];
    return FROM_MEMORY * (ARRAYS_READ * row * rows * planes +
                          sizeof(float) * wfi_himeno_inner_cells(point->problem));
}

/* What an iteration a pass takes: going back and forth, it finds in caches what they hold. */
static double single_bytes(const wfi_point *point)
{
    const double least = wfi_himeno_least_bytes(point->problem);
    return least - (1 - CACHED_TIME) * fmin(least, WFI_HIMENO_CACHED_BYTES);
}

double wfi_himeno_pass_time(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const wfi_himeno_problem *p = &point->problem->himeno;
    const wfi_unit unit = wfi_unit_of(caps);
    const double units = wfi_units_of(caps), steps = wfi_himeno_steps(point);
    const double plane = units * plane_bytes(&unit), dispatch = DISPATCH_PLANES * plane;
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const double items = (double)size[0] * size[1],
                 published = wfi_published_held(&unit, items, WFI_HIMENO_ITEM_REGISTERS, 0),
                 at_once = published > 0 ? published : HELD_GROUPS;
    const double unit_groups = (double)groups[0] * groups[1] * groups[2] / units;
    const double march = fmin(wfi_point_value(point, HIMENO_ID_MARCH, 1), (double)p->nk - 2);
    const double uneven = ceil(unit_groups) / unit_groups, barriers = fmax(items / 256 - 1, 0);
    const double memory = bytes_moved(point, groups) * uneven * (1 + LARGE_GROUP * barriers);
    const double latency = ceil(unit_groups / at_once) * (march + 2 * (steps - 1)) * plane;
    const double power = fmin(MOST_POWER, fmax(LEAST_POWER, fmin(unit_groups, at_once)));
    const double pass = pow(pow(memory, power) + pow(latency, power), 1 / power) + dispatch;
    return TAKEN * pass / steps / (single_bytes(point) + dispatch);
}
