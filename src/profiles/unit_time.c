#include "profiles/unit_time.h"

#include <math.h>

/* Loads, stores and shared memory move a byte a clock for each lane that multiplies: 128 on
 * NVIDIA's multiprocessors, 64 on GCN's compute units and on Mali's cores. */
#define LANE_BYTES 1.0
/* Bytes that work-groups load again come from caches, which are no slower than so many times the
 * memory: the least of what is published of GPUs with large ones. */
#define CACHE_GAIN 2.0
/* Work-items for each lane whose turns hide what a work-group waits for. */
#define GAP_ITEMS 0.5625

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Work-groups that run one after another in the time of all, with what each waits for: a unit takes
 * turns among the work-groups that it holds, and waits as long as `gap` more of them would take. */
static double turns(const wfi_units *units, const wfi_unit_work *work)
{
    const double each = ceil(work->groups / units->count);
    if (work->held <= 0 || work->items <= 0)
        return each;
    const double held = fmin(work->held, each), gap = GAP_ITEMS * units->lanes / work->items;
    return each + gap * ceil(each / held);
}

/* Part of the lanes that have a place in the problem, of all that the units' subgroups have. */
static double busy_lanes(const wfi_unit_work *work)
{
    const double busy = work->busy > 0 ? work->busy : 1;
    if (work->items <= 0 || work->subgroup <= 0)
        return busy;
    return busy * work->items / (work->subgroup * ceil(work->items / work->subgroup));
}

wfi_unit_time wfi_time_of_units(const wfi_units *units, const wfi_unit_work *work)
{
    const double passes = work->passes > 0 ? work->passes : 1;
    const double rate = units->count * units->lanes * units->clock_mhz * busy_lanes(work);
    wfi_unit_time t = {.memory = units->memory_us *
                                 larger(work->least_bytes, work->group_bytes / CACHE_GAIN),
                       .arithmetic = work->multiply_adds / rate,
                       .access = (work->bytes + passes * work->shared_bytes) / (rate * LANE_BYTES)};
    const double part = work->groups > 0 ? units->count * turns(units, work) / work->groups : 1;
    t.arithmetic *= part;
    t.access *= part;
    t.units = t.arithmetic + t.access;
    return t;
}
