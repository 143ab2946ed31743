/* How much of a compute unit a kernel can occupy, by what is published about its architecture. */
#include "model/occupancy.h"

#include "core/params.h"

static uint32_t round_up(uint32_t value, uint32_t step)
{
    return step ? (value + step - 1) / step * step : value;
}

/* Waves of `lanes` lanes that a SIMD's registers can hold; UINT32_MAX: they set no limit. */
static uint32_t waves_by_registers(const wfi_architecture *a, uint32_t lanes, uint32_t registers)
{
    if (a->wave_doubles && registers * lanes > a->wave_words)
        return a->simd_waves / 2;
    if (a->wave_words || !a->simd_registers || !registers)
        return UINT32_MAX;
    /* Registers are allocated in words for a whole wave, so wider waves have a finer step a
     * lane. */
    const uint32_t words = round_up(registers * lanes, a->register_step * a->wave);
    if (words == 0)
        return UINT32_MAX;
    const uint32_t waves = a->simd_registers / words;
    return a->wave_step ? waves / a->wave_step * a->wave_step : waves;
}

/* The device reports limits of one of its compute units; a unit here may consist of several. */
static uint32_t most_simd_waves(const wfi_architecture *a, const wf_caps *caps)
{
    if (caps && caps->unit_subgroups && a->simds)
        return caps->unit_subgroups * (a->counted_units ? a->counted_units : 1) / a->simds;
    return a->simd_waves;
}

static void lower_to(uint32_t *groups, uint32_t limit, wfi_limiter why, wfi_limiter *limiter)
{
    if (limit < *groups) {
        *groups = limit;
        *limiter = why;
    }
}

bool wfi_architecture_occupancy(const wfi_architecture *a, const wf_caps *caps,
                                const wfi_kernel_use *use, wfi_occupancy *out)
{
    const uint32_t lanes = use->subgroup_size ? use->subgroup_size : a->wave;
    const uint32_t simd_waves = most_simd_waves(a, caps);
    if (!lanes || !simd_waves || !use->group_size)
        return false;
    const uint32_t group_waves = (use->group_size + lanes - 1) / lanes;
    const uint32_t register_waves = waves_by_registers(a, lanes, use->registers);
    const uint32_t most = simd_waves * a->simds;
    wfi_limiter limiter = most % group_waves ? WFI_LIMITER_GROUP_SIZE : WFI_LIMITER_NONE;
    uint32_t groups = most / group_waves, by_groups = UINT32_MAX, by_registers = UINT32_MAX,
             by_shared = UINT32_MAX;
    if (a->unit_groups && !(a->groups_by_barriers && group_waves == 1))
        by_groups = a->unit_groups;
    if (register_waves != UINT32_MAX)
        by_registers = register_waves * a->simds / group_waves;
    if (a->unit_shared && use->shared_bytes)
        by_shared =
            a->unit_shared / round_up(use->shared_bytes + a->shared_reserved, a->shared_step);
    lower_to(&groups, by_groups, WFI_LIMITER_GROUPS, &limiter);
    lower_to(&groups, by_registers, WFI_LIMITER_REGISTERS, &limiter);
    lower_to(&groups, by_shared, WFI_LIMITER_SHARED, &limiter);
    *out = (wfi_occupancy){.groups = groups,
                           .waves = groups * group_waves,
                           .most_waves = most,
                           .fraction = (double)groups * group_waves / most,
                           .limiter = groups ? limiter : WFI_LIMITER_TOO_LARGE,
                           .by_waves = most / group_waves,
                           .by_groups = by_groups,
                           .by_registers = by_registers,
                           .by_shared = by_shared};
    return true;
}

static const char *limiter_name(wfi_limiter limiter)
{
    static const char *const names[] = {
        [WFI_LIMITER_NONE] = "nothing",
        [WFI_LIMITER_GROUP_SIZE] = "work-group size",
        [WFI_LIMITER_GROUPS] = "work-groups a unit",
        [WFI_LIMITER_REGISTERS] = "registers",
        [WFI_LIMITER_SHARED] = "shared memory",
        [WFI_LIMITER_TOO_LARGE] = "a work-group too large for a unit",
    };
    return names[limiter];
}

static wf_result tell(const wfi_architecture *architecture, const wf_caps *caps,
                      const wf_kernel_info *kernel, wf_occupancy *out)
{
    const wfi_kernel_use use = {
        .group_size = kernel->group_size[0] * kernel->group_size[1] * kernel->group_size[2],
        .subgroup_size = kernel->subgroup_size > 1 ? kernel->subgroup_size : 0,
        .registers = kernel->registers,
        .shared_bytes = (uint32_t)kernel->shared_bytes,
    };
    wfi_occupancy occupancy;
    if (!architecture || !wfi_architecture_occupancy(architecture, caps, &use, &occupancy))
        return WF_ERROR_UNSUPPORTED;
    *out = (wf_occupancy){
        .fraction = occupancy.fraction,
        .groups = occupancy.groups,
        .subgroups = occupancy.waves,
        .most_subgroups = occupancy.most_waves,
        .limited_by = limiter_name(occupancy.limiter),
        .architecture = architecture->generation,
        .source = architecture->source,
        .unit = architecture->unit,
        .counted_units = architecture->counted_units ? architecture->counted_units : 1,
        .by_subgroups = occupancy.by_waves,
        .by_groups = occupancy.by_groups,
        .by_registers = occupancy.by_registers,
        .by_shared = occupancy.by_shared,
    };
    return WF_SUCCESS;
}

wf_result wf_kernel_occupancy(const wf_caps *caps, const wf_kernel_info *kernel, wf_occupancy *out)
{
    if (!caps || !kernel || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    return tell(wfi_architecture_of(caps), caps, kernel, out);
}

/* ------------------------------------------------------------------- devices that are not here */

uint32_t wf_architecture_count(void)
{
    return wfi_architecture_count();
}

wf_result wf_architecture_find(const char *name, uint32_t *index)
{
    const wfi_architecture *found = name ? wfi_architecture_named(name) : NULL;
    if (!found || !index)
        return WF_ERROR_INVALID_ARGUMENT;
    *index = (uint32_t)(found - wfi_architecture_get(0));
    return WF_SUCCESS;
}

wf_result wf_architecture_describe(uint32_t index, wf_architecture *out)
{
    const wfi_architecture *a = wfi_architecture_get(index);
    if (!a || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_architecture local = {
        .name = a->name,
        .generation = a->generation,
        .devices = a->name_pieces,
        .unit = a->unit,
        .source = a->source,
        .subgroup_size = a->wave,
        .most_subgroups = a->simds * a->simd_waves,
        .most_groups = a->unit_groups,
        .groups_by_barriers = a->groups_by_barriers,
        .registers = a->wave_words ? 0 : a->simd_registers * a->simds,
        .item_registers = a->lane_registers * (a->wave_doubles ? 2 : 1),
        .shared_bytes = a->unit_shared,
    };
    return wfi_params_write(out, &local, sizeof local) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_architecture_occupancy(uint32_t index, const wf_kernel_info *kernel, wf_occupancy *out)
{
    const wfi_architecture *a = wfi_architecture_get(index);
    return a && kernel && out ? tell(a, NULL, kernel, out) : WF_ERROR_INVALID_ARGUMENT;
}
