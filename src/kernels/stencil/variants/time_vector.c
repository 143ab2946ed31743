/* time_vector: as time, with a block of cells a work-item, whose edges alone are in shared
 * memory. */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"
#include "kernels/stencil/windows.h"

static const uint32_t buffer_counts[] = {1, 2};

static const wfi_parameter parameters[] = {
    WFI_STENCIL_LOCAL_X(32),
    WFI_STENCIL_LOCAL_Y(1),
    WFI_STENCIL_MARCH(16),
    WFI_STENCIL_STEPS,
    WFI_STENCIL_ROWS,
    WFI_STENCIL_PARAMETER(
        "buffers", STENCIL_ID_BUFFERS, 2, buffer_counts,
        "planes of each step in shared memory; 1 needs a second barrier a plane")};

static bool radius_is_one(const wfi_point *point)
{
    return point->problem->stencil.radius == 1;
}

static bool buffers_fit(const wfi_point *point)
{
    const uint32_t buffers = wfi_point_value(point, STENCIL_ID_BUFFERS, 2);
    return buffers == 1 || buffers == 2;
}

static const wfi_constraint constraints[] = {
    WFI_STENCIL_FITS,
    {"the stencil must be a star: work-items do not exchange the corners of their blocks",
     wfi_stencil_is_star},
    {"radius must be 1, since a work-item gets a single row or column of each neighbour",
     radius_is_one},
    {"buffers must be 1 or 2, since a plane is written while at most one other is read",
     buffers_fit},
    WFI_STENCIL_ROWS_HOLD_VECTORS,
    WFI_STENCIL_FITS_STEPS};

/* One or two planes of each step, and of each plane the first and last column of every work-item's
 * block and what lies between them of its first and last row. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const uint64_t real = wfi_stencil_real_bytes(point);
    const uint64_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1),
                   middle = wfi_stencil_width(point) - 2;
    const uint64_t levels = (uint64_t)wfi_point_value(point, STENCIL_ID_STEPS, 1) *
                            wfi_point_value(point, STENCIL_ID_BUFFERS, 2);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    const uint64_t blocks = levels * size[0] * size[1] * real;
    return point->problem->stencil.dimensions == 2
               ? blocks * 2 * rows + middle * real
               : blocks * (2 * rows + (rows > 1 ? 2 : 1) * middle);
}

/* Work-groups of the best values that a compute unit has at once. */
#define GROUPS_A_UNIT 2

/* Columns whose work-groups end together: the longest queue of them on a unit is then shortest,
 * counted in planes. */
static void set_march(wfi_point *point)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint64_t units = wfi_units_of(point->caps);
    const uint64_t columns = wfi_stencil_columns(point),
                   steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    uint64_t best = UINT64_MAX;
    for (uint64_t segments = 1; segments <= 64 && segments <= a.nk; segments++) {
        /* The loop over fronts makes two of them a pass. */
        const uint64_t march = wfi_round_up((a.nk + segments - 1) / segments, 2),
                       all = columns * segments;
        const uint64_t waves = (all + GROUPS_A_UNIT * units - 1) / (GROUPS_A_UNIT * units);
        const uint64_t fronts = waves * (march + 2 * steps);
        if (fronts < best && march <= 4096) {
            best = fronts;
            wfi_point_set(point, STENCIL_ID_MARCH, (uint32_t)march);
        }
    }
}

/* Each for grids of at least so many cells, which an H100 has measured it on. */
static const struct {
    wfi_stencil_values values;
    uint64_t cells;
} flat_values[] = {{{64, 1, 1, 64, 8}, UINT64_C(1) << 24},  {{64, 1, 1, 32, 8}, UINT64_C(1) << 22},
                   {{128, 1, 1, 64, 6}, UINT64_C(1) << 26}, {{128, 1, 1, 32, 6}, UINT64_C(1) << 24},
                   {{64, 1, 1, 64, 4}, UINT64_C(1) << 26},  {{128, 1, 1, 32, 4}, UINT64_C(1) << 24},
                   {{64, 1, 1, 16, 4}, UINT64_C(1) << 22}};
/* For smaller grids. */
static const wfi_stencil_values flat_tail[] = {{64, 1, 1, 32, 2}, {64, 1, 1, 16, 1}};
static const wfi_stencil_values solid_values[] = {{16, 16, 2, 128, 3},
                                                  {16, 16, 2, 128, 2},
                                                  {16, 8, 4, 64, 3},
                                                  {16, 8, 2, 16, 2},
                                                  {16, 8, 2, 16, 1}};
#define LARGE_VALUES 2 /* of solid_values: their columns are as long as fills the device */

/* Sets the first legal of solid_values, which are the largest first; the last where none is. */
static size_t set_largest(wfi_point *point)
{
    size_t i = 0;
    wfi_stencil_set_values(point, &solid_values[i]);
    while (!wfi_point_legal(point, NULL) && i + 1 < WFI_COUNT(solid_values))
        wfi_stencil_set_values(point, &solid_values[++i]);
    return i;
}

/* Cells of f32 from which on several steps a pass were measured faster in three dimensions (with
 * three steps a quarter of them: H200, 300x201x101, 61 us, `time` 89); four times as many of other
 * types. */
#define LARGE_SOLID (UINT64_C(1) << 24)
#define NEVER 8 /* over the grid's bytes: so that it is never the choice */

/* Steps a pass of f64 in two dimensions; more were slower. */
#define MOST_F64_STEPS 6

/* Sets the first of flat_values that is legal for the grid. */
static bool set_measured(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool f64 = point->problem->type == WF_TYPE_F64;
    for (size_t i = 0; i < WFI_COUNT(flat_values); i++) {
        wfi_stencil_set_values(point, &flat_values[i].values);
        if (p->nx * p->ny >= flat_values[i].cells && wfi_point_legal(point, NULL) &&
            !(f64 && flat_values[i].values.steps > MOST_F64_STEPS))
            return true;
    }
    return false;
}

/* Tiles that are tried where times are predicted, with the most steps a pass. */
static const wfi_stencil_values flat_tiles[] = {
    {32, 1, 1, 0, 8}, {64, 1, 1, 0, 8}, {128, 1, 1, 0, 8}};
#define FEW_TILES 2 /* of them: the widest was timed with one buffer */
static const wfi_stencil_values solid_tiles[] = {
    {16, 16, 2, 0, 3}, {16, 8, 2, 0, 3}, {8, 16, 2, 0, 3}, {8, 8, 2, 0, 3}};
#define WIDE_TILES 2 /* of them: the others are for narrow rows */

/* Whether tiles of 16 vectors, which lose one on either side, would leave a third of their
 * work-items without a cell. Narrower ones were timed for f32. */
static bool rows_are_narrow(const wfi_point *point)
{
    const uint64_t width = wfi_stencil_width(point),
                   vectors = (point->problem->stencil.nx + width - 1) / width,
                   tiles = (vectors + 13) / 14;
    return point->problem->type == WF_TYPE_F32 && 3 * vectors < 2 * 16 * tiles;
}

#define LONG_COLUMNS 64

/* Long columns of the largest tile, of which a unit holds GROUPS_A_UNIT, get the length that ends
 * their work-groups together. */
static double fit_solid_by_times(wfi_point *point)
{
    wfi_point_set(point, STENCIL_ID_BUFFERS, 1);
    const size_t tiles = rows_are_narrow(point) ? WFI_COUNT(solid_tiles) : WIDE_TILES;
    const double cost = wfi_stencil_fit_steps(point, solid_tiles, tiles);
    if (wfi_point_value(point, STENCIL_ID_LOCAL_X, 1) != solid_tiles[0].x ||
        wfi_point_value(point, STENCIL_ID_LOCAL_Y, 1) != solid_tiles[0].y ||
        wfi_point_value(point, STENCIL_ID_MARCH, 1) != LONG_COLUMNS)
        return cost;
    set_march(point);
    return wfi_stencil_expect_steps(point);
}

/* One buffer was timed for f32 and f64. */
static double fit_flat_by_times(wfi_point *point)
{
    wfi_point one = *point;
    wfi_point_set(point, STENCIL_ID_BUFFERS, 2);
    wfi_point_set(&one, STENCIL_ID_BUFFERS, 1);
    const double cost = wfi_stencil_fit_steps(point, flat_tiles, FEW_TILES);
    if (point->problem->type == WF_TYPE_F16)
        return cost;
    const double one_cost = wfi_stencil_fit_steps(&one, flat_tiles, WFI_COUNT(flat_tiles));
    if (one_cost >= cost)
        return cost;
    *point = one;
    return one_cost;
}

static double fit_solid(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wf_type type = point->problem->type;
    wfi_point_set(point, STENCIL_ID_BUFFERS, 1);
    const size_t i = set_largest(point);
    if (i < LARGE_VALUES)
        set_march(point);
    const bool f32 = type == WF_TYPE_F32;
    const uint64_t cells = p->nx * p->ny * p->nz, least = !f32 ? 4 * LARGE_SOLID
                                                          : solid_values[i].steps > 2
                                                              ? LARGE_SOLID / 4
                                                              : LARGE_SOLID;
    if (!wfi_stencil_has_fast_shared(point) || i >= LARGE_VALUES || cells < least ||
        (type == WF_TYPE_F16 && solid_values[i].steps < 3))
        return wfi_stencil_bytes(point) * NEVER;
    return wfi_stencil_bytes(point) * (f32 ? 1 : type == WF_TYPE_F64 ? 1.6 : 1.9);
}

static double fit_flat(wfi_point *point)
{
    const wf_type type = point->problem->type;
    const bool pays = wfi_stencil_has_fast_shared(point) && type != WF_TYPE_F16;
    wfi_point_set(point, STENCIL_ID_BUFFERS, 2);
    if (set_measured(point))
        return wfi_stencil_bytes(point) * (pays ? 1.5 : NEVER);
    wfi_stencil_set_filling(point, flat_tail, WFI_COUNT(flat_tail));
    return wfi_stencil_bytes(point) * NEVER;
}

/* On an H100 it reaches 2 times the copy bandwidth in three dimensions and 3.4 times in two with
 * f32, 1.9 and 2.4 times with f64, 0.9 to 0.94 times with f16; single steps reach 0.87 to 0.89. */
static double fit(wfi_point *point)
{
    const bool solid = point->problem->stencil.dimensions == 3;
    if (wfi_stencil_steps_are_timed(point))
        return fmin(solid ? fit_solid_by_times(point) : fit_flat_by_times(point),
                    wfi_stencil_bytes(point) * NEVER);
    return wfi_stencil_published_cost(point, solid ? fit_solid(point) : fit_flat(point)) *
           wfi_stencil_register_cost(point);
}

const wfi_variant wfi_stencil_time_vector = {
    WFI_STENCIL_ROW(time_vector, parameters, constraints),
    .summary = "as time, with a block of cells a work-item and only its edges in shared memory",
    .source = "",
    .traits = WFI_STENCIL_VECTORS | WFI_STENCIL_ENDS,
    .shared_bytes = shared_bytes,
    .fit = fit,
    .expect = wfi_stencil_expect_steps,
    .traffic = wfi_stencil_time_traffic,
};
