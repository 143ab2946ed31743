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

/* Cells up to which rows of coefficients stay whole, and columns long. */
#define WHOLE_ROWS 3e5
#define SHORT_COLUMN 4 /* planes */
#define SHORT_ROWS 4   /* work-items of a work-group along j, beside short columns */

/* Columns as long, and work-groups of up to `items` as large, as leave each core some. Columns get
 * as many planes each, for the reason that wfi_stencil_fit_long_columns tells: on two threads
 * 132x64x100 takes 4.4 ms by columns of 32, 32, 32 and 2 planes, 3.4 by 25, 25, 25 and 23. */
static void fit_long(wfi_point *point, uint32_t items)
{
    uint32_t y = items / wfi_point_value(point, HIMENO_ID_LOCAL_X, 1), march = 32;
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, y);
    wfi_point_set(point, HIMENO_ID_MARCH, march);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, 65536);
    while (y > 2 && groups_of(point) < 32)
        wfi_point_set(point, HIMENO_ID_LOCAL_Y, y /= 2);
    while (march > 8 && groups_of(point) < 16)
        wfi_point_set(point, HIMENO_ID_MARCH, march /= 2);
    const uint64_t planes = point->problem->himeno.nk - UINT64_C(2);
    wfi_point_set(point, HIMENO_ID_MARCH, wfi_even_column(planes, march));
}

/* Where arrays are over 17 MB a block of coefficients is what a subgroup of 8 fetches, and columns
 * are short, so that a core reads few places of memory in turn: a processor prefetches a few dozen
 * at most, and a subgroup goes through a column whole before the next one does (two cores of a
 * Xeon, in ms by 64x8 in columns of 25 to 31 planes and by 64x4 in columns of 4: 617x102x77 87.8
 * and 48.6, 296x63x242 58.3 and 41.6; bench/notes/himeno.md#streams). */
static void fit_short(wfi_point *point, uint32_t items)
{
    const uint32_t y = items / wfi_point_value(point, HIMENO_ID_LOCAL_X, 1);
    wfi_point_set(point, HIMENO_ID_LOCAL_Y, (uint32_t)wfi_least(y, SHORT_ROWS));
    wfi_point_set(point, HIMENO_ID_MARCH, SHORT_COLUMN);
    wfi_point_set(point, HIMENO_ID_INTERLEAVE, 32);
}

static double fit(wfi_point *point)
{
    const wfi_himeno_profile *profile = wfi_himeno_profile_of(point->caps);
    const uint32_t most = point->caps->max_invocations, items = most < 512 ? most : 512;
    wfi_himeno_fit_columns(point, 4);
    if (wfi_himeno_inner_cells(point->problem) <= WHOLE_ROWS)
        fit_long(point, items);
    else
        fit_short(point, items);
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
