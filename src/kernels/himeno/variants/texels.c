/* texels: as march4, two rows a work-item, everything read through uniform texel buffers. */
#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"

static const wfi_parameter parameters[] = {
    WFI_HIMENO_LOCAL_X(32),   WFI_HIMENO_LOCAL_Y(4), WFI_HIMENO_MARCH(8), WFI_HIMENO_PAD(32),
    WFI_HIMENO_INTERLEAVE(0), WFI_HIMENO_REVERSE,    WFI_HIMENO_OWN_SUMS};

static bool planes_fit(const wfi_point *point)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    const uint64_t coefficients =
        layout.c_plane * (layout.interleaved ? 1 : WFI_HIMENO_COEFFICIENTS);
    const uint64_t range = wfi_himeno_range(point) / sizeof(float);
    return coefficients <= range && 3 * layout.p_plane <= range;
}

static bool march_fits(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    return march >= 1 && march <= 32;
}

static const wfi_constraint constraints[] = {
    WFI_HIMENO_FITS,
    {"march must be between 1 and 32, since gosa's rounding bound counts on short sums and each "
     "plane has two rows",
     march_fits},
    {"pad must be a multiple of 4, since a texel holds 4 cells", wfi_himeno_pad_holds_vectors},
    {"a plane's coefficients and three planes of p must fit this device's texel buffers",
     planes_fit}};

/* Work-groups of the whole grid. */
static uint64_t groups_of(const wfi_point *point)
{
    uint32_t groups[3];
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    return (uint64_t)groups[0] * groups[1] * groups[2];
}

/* Cells up to which rows of coefficients stay whole. */
#define WHOLE_ROWS 5e5

/* Columns are long, and work-groups large, as long as each core gets some. On grids whose
 * coefficients are over 24 MB a block of them is what a subgroup of 8 fetches: of two processors
 * one was much faster so, and the other a little slower. */
static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const uint32_t most = point->caps->max_invocations;
    const bool small = wfi_himeno_inner_cells(point->problem) <= WHOLE_ROWS;
    wfi_himeno_fit_columns(point, 4);
    uint32_t y = (most < 512 ? most : 512) / wfi_point_value(point, HIMENO_ID_LOCAL_X, 1),
             march = 32;
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, y);
    wfi_point_set(point, HIMENO_ID_MARCH, march);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, small ? 65536 : 32);
    while (y > 2 && groups_of(point) < 32)
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, y /= 2);
    while (march > 8 && groups_of(point) < 16)
        wfi_point_set(point, HIMENO_ID_MARCH, march /= 2);
    /* Columns get as many planes each, for the reason that wfi_stencil_fit_long_columns tells: on
     * two threads 132x64x100 takes 4.4 ms by columns of 32, 32, 32 and 2 planes, 3.4 by 25, 25, 25
     * and 23. */
    const uint64_t planes = point->problem->himeno.nk - UINT64_C(2);
    wfi_point_set(point, HIMENO_ID_MARCH, wfi_even_column(planes, march));
    return wfi_himeno_least_bytes(point->problem) * profile->times.texels;
}

const wfi_variant wfi_himeno_texels = {
    WFI_HIMENO_ROW(texels, parameters, constraints),
    .name = "texels",
    .summary = "as march4, with two rows a work-item, reading texels of four cells",
    .source = "",
    .texel_buffers = 1 << WFI_HIMENO_P_IN | 1 << WFI_HIMENO_CELLS,
    .traits = WFI_HIMENO_VECTORS | WFI_HIMENO_TWO_ROWS,
    .shared_bytes = wfi_himeno_shared_sums,
    .fit = fit,
    .traffic = wfi_himeno_texels_traffic,
    .build = wfi_himeno_build,
};
