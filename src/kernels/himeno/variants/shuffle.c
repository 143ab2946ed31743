/* shuffle: as naive, neighbours along i from other work-items' registers. */
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4),
                                           WFI_HIMENO_LOCAL_Z(1),    WFI_HIMENO_PAD(1),
                                           WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE};

static const wfi_constraint constraints[] = {WFI_HIMENO_FITS};

const wfi_variant wfi_himeno_shuffle = {
    WFI_HIMENO_ROW(shuffle, parameters, constraints),
    .name = "shuffle",
    .summary = "as naive, with neighbours along i from neighbouring work-items of the subgroup",
    .source = "",
    .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT,
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = wfi_himeno_fit_step,
    .traffic = wfi_himeno_shuffle_traffic,
    .build = wfi_himeno_build,
};
