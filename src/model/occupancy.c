/* How much of a compute unit a kernel can occupy, by what is published about its architecture. */
#include "model/architectures.h"

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

wf_result wf_kernel_occupancy(const wf_caps *caps, const wf_kernel_info *kernel, wf_occupancy *out)
{
    if (!caps || !kernel || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_architecture *architecture = wfi_architecture_of(caps);
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
    };
    return WF_SUCCESS;
}
