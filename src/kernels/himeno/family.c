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

void wfi_himeno_single(const wfi_point *point, wfi_point *single)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    uint32_t tile[3];
    wfi_himeno_tile(point, tile);
    *single = *point;
    single->variant = &wfi_himeno_march4;
    wfi_point_defaults(single);
    wfi_point_set(single, HIMENO_ID_LOCAL_X, tile[0] / 4);
    wfi_point_set(single, HIMENO_ID_LOCAL_Y, tile[1]);
    wfi_point_set(single, HIMENO_ID_MARCH, tile[2]);
    if (layout.p_left % 4 != 0 || tile[0] % 4 != 0 || !wfi_point_legal(single, NULL)) {
        single->variant = &wfi_himeno_march;
        wfi_point_defaults(single);
        wfi_point_set(single, HIMENO_ID_LOCAL_X, tile[0]);
        wfi_point_set(single, HIMENO_ID_LOCAL_Y, tile[1]);
        wfi_point_set(single, HIMENO_ID_MARCH, tile[2]);
    }
    single->values[HIMENO_ID_PAD] = (uint32_t)layout.p_left;
    single->values[HIMENO_ID_INTERLEAVE] = layout.interleaved ? (uint32_t)layout.c_block : 0;
}
