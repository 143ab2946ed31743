#include "profiles/published.h"

#include <math.h>

#include "profiles/matmul.h"

bool wfi_has_published_units(const wf_caps *caps)
{
    return wfi_matmul_profile_of(caps)->clock_mhz > 0 && wfi_unit_of(caps).fma > 0;
}

wfi_units wfi_published_units(const wf_caps *caps)
{
    const wfi_matmul_profile *profile = wfi_matmul_profile_of(caps);
    const wfi_unit unit = wfi_unit_of(caps);
    const double count = ceil((double)wfi_units_of(caps) / unit.counted),
                 balance = unit.flops_a_byte > 0 ? unit.flops_a_byte : profile->flops_a_byte;
    return (wfi_units){.count = count,
                       .lanes = unit.fma,
                       .clock_mhz = profile->clock_mhz,
                       .memory_us = balance / (2 * count * unit.fma * profile->clock_mhz)};
}

double wfi_published_held(const wfi_unit *unit, double items, double registers, double shared)
{
    double groups = floor(unit->items / items);
    if (unit->items == 0)
        return 0;
    if (unit->groups)
        groups = fmin(groups, unit->groups);
    if (unit->registers && !unit->wave_words && registers > 0)
        groups = fmin(groups, floor(unit->registers / (items * registers)));
    if (unit->shared_bytes && shared > 0)
        groups = fmin(groups, floor(unit->shared_bytes / shared));
    return fmax(groups, 1);
}

double wfi_published_bytes(const wfi_unit *unit)
{
    return unit->flops_a_byte > 0 ? 2.0 * unit->fma / unit->flops_a_byte : 0;
}
