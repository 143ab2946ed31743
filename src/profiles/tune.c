#include "profiles/tune.h"

/* A processor's runs are disturbed by whatever else it does, so that its samples are longer, and
 * they may take a second each, so that none is spent on warming up: values that searches on
 * lavapipe and SwiftShader have used (bench/notes/tune.md); those of GPUs are of an H100 and an
 * H200. Drivers of processors take a second to compile a point, so that none are drawn there. */
static const wfi_tune_profile profiles[WFI_PROFILE_KINDS] = {
    [WFI_PROFILE_OTHER] = {.sample_seconds = 3e-3,
                           .round_seconds = 5e-3,
                           .clock_moves = true,
                           .wide_draws = 480},
    [WFI_PROFILE_CPU] = {.sample_seconds = 1e-2, .round_seconds = 2e-2, .clock_moves = false},
    [WFI_PROFILE_NVIDIA] = {.sample_seconds = 3e-3,
                            .round_seconds = 5e-3,
                            .clock_moves = true,
                            .wide_draws = 480},
    [WFI_PROFILE_AMD] = {.sample_seconds = 3e-3,
                         .round_seconds = 5e-3,
                         .clock_moves = true,
                         .wide_draws = 480},
    [WFI_PROFILE_INTEL] = {.sample_seconds = 3e-3,
                           .round_seconds = 5e-3,
                           .clock_moves = true,
                           .wide_draws = 480},
    [WFI_PROFILE_MOBILE] = {.sample_seconds = 3e-3,
                            .round_seconds = 5e-3,
                            .clock_moves = true,
                            .wide_draws = 480},
    [WFI_PROFILE_VIDEOCORE] = {.sample_seconds = 3e-3,
                               .round_seconds = 5e-3,
                               .clock_moves = true,
                               .wide_draws = 480},
};

const wfi_tune_profile *wfi_tune_profile_of(const wf_caps *caps)
{
    return &profiles[wfi_profile_kind_of(caps)];
}
