/* Himeno's 19-point Jacobi relaxation: the variants, in the order of the ladder. */
#include "core/arithmetic.h"
#include "kernels/families.h"
#include "kernels/himeno/rows.h"

static const wfi_variant *const variants[] = {
    &wfi_himeno_naive,   &wfi_himeno_moved,       &wfi_himeno_region_part,  &wfi_himeno_region,
    &wfi_himeno_submits, &wfi_himeno_copy_back,   &wfi_himeno_gosa_pass,    &wfi_himeno_shared,
    &wfi_himeno_padded,  &wfi_himeno_interleaved, &wfi_himeno_subgroup_sum, &wfi_himeno_shuffle,
    &wfi_himeno_planes,  &wfi_himeno_march,       &wfi_himeno_march4,       &wfi_himeno_march4_sum,
    &wfi_himeno_pairs,   &wfi_himeno_texels,      &wfi_himeno_time};

const wfi_family wfi_family_himeno = {
    .name = "himeno",
    .summary = "Himeno's 19-point Jacobi relaxation",
    .work = "relaxation",
    .variant_count = WFI_COUNT(variants),
    .variants = variants,
    .flops = wfi_himeno_flops,
    .least_bytes = wfi_himeno_least_bytes,
    .hooks = &wfi_himeno_hooks,
};
