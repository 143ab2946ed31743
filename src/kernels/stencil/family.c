/* Star and box stencils with constant coefficients: the variants, in the order of the ladder. */
#include "core/arithmetic.h"
#include "kernels/families.h"
#include "kernels/stencil/rows.h"

static const wfi_variant *const variants[] = {&wfi_stencil_naive,       &wfi_stencil_march,
                                              &wfi_stencil_vector,      &wfi_stencil_time,
                                              &wfi_stencil_time_vector, &wfi_stencil_march_shared};

const wfi_family wfi_family_stencil = {
    .name = "stencil",
    .summary = "star and box stencils with constant coefficients",
    .work = "update",
    .variant_count = WFI_COUNT(variants),
    .variants = variants,
    .flops = wfi_stencil_flops,
    .least_bytes = wfi_stencil_least_bytes,
    .hooks = &wfi_stencil_hooks,
};
