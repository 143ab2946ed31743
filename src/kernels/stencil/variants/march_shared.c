/* march_shared: boxes, with a tile of each plane in shared memory. */
#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"

static const uint32_t row_counts[] = {1, 2, 4};

static const wfi_parameter parameters[] = {
    WFI_STENCIL_LOCAL_X(8), WFI_STENCIL_LOCAL_Y(16), WFI_STENCIL_MARCH(16),
    WFI_STENCIL_PARAMETER("rows", STENCIL_ID_ROWS, 1, row_counts,
                          "rows of which each work-item updates a vector of cells")};

#define MOST_RADIUS 2 /* the code of a radius of 3 would be thousands of operations */
#define MOST_ROWS 4

static bool is_solid_box(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return p->shape == WF_STENCIL_BOX && p->dimensions == 3 && p->radius <= MOST_RADIUS;
}

static bool rows_fit(const wfi_point *point)
{
    const uint32_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1);
    return rows >= 1 && rows <= MOST_ROWS;
}

static const wfi_constraint constraints[] = {
    {"the stencil must be a box in three dimensions of a radius of 1 or 2, of which a work-item "
     "has the sums of all planes in registers",
     is_solid_box},
    WFI_STENCIL_FITS,
    {"rows must be between 1 and 4, since a work-item has their sums in registers", rows_fit},
    WFI_STENCIL_FITS_DISPATCH};

/* As in stencil_march_shared.comp. */
typedef struct plane_tile {
    double window; /* vectors of a row that a work-item reads */
    double i, j;   /* vectors of a row of the tile, and its rows */
} plane_tile;

static plane_tile tile_of(const wfi_point *point)
{
    const uint32_t width = wfi_stencil_width(point), radius = point->problem->stencil.radius,
                   window = (width + 2 * radius + width - 1) / width,
                   rows = wfi_point_value(point, STENCIL_ID_ROWS, 1);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    return (plane_tile){window, (double)size[0] + window - 1, (double)size[1] * rows + 2 * radius};
}

static uint64_t shared_bytes(const wfi_point *point)
{
    const plane_tile tile = tile_of(point);
    const double planes = 2, width = wfi_stencil_width(point);
    return (uint64_t)(planes * tile.i * tile.j * width) * wfi_stencil_real_bytes(point);
}

/* Clocks that a scheduler issues for a subgroup: for an element of the tile its address, load,
 * conversion and store, besides multiply-adds; what a work-group waits for at each plane, and
 * before its first and after its last. Fitted to 164 points of 44 grids of radius 2 on an H200, 39
 * of them of f32 (root mean square of the logarithm 9 %, bench/notes/stencil.md#own-cells). */
#define ELEMENT_ISSUE 42
#define PLANE_WAIT 290
#define START 3400
#define F64_ISSUE 2  /* of a multiply-add */
#define SCHEDULERS 4 /* of a unit */

/* Clocks of the unit that has the most work-groups, over all planes of its columns: what its
 * subgroups issue hides most of what one work-group waits for. */
static double clocks_of(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const plane_tile tile = tile_of(point);
    const uint32_t width = wfi_stencil_width(point);
    const double march = fmin((double)wfi_stencil_tile_of(point).k, (double)p->nz);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    const double items = (double)size[0] * size[1],
                 cells = width * (double)wfi_point_value(point, STENCIL_ID_ROWS, 1),
                 adds = cells * wfi_stencil_taps(p) *
                        (point->problem->type == WF_TYPE_F64 ? F64_ISSUE : 1),
                 issue = adds + ELEMENT_ISSUE * tile.i * tile.j * width / items,
                 groups = ceil(wfi_stencil_group_count(point) / wfi_units_of(point->caps)),
                 subgroups = items / point->caps->subgroup_size / SCHEDULERS;
    const double plane = hypot(issue * groups * subgroups, issue * fmax(subgroups, 1) + PLANE_WAIT);
    return START + (march + 2.0 * p->radius) * plane;
}

/* The tile and the columns, of as many planes each, of the fewest clocks. */
static void fit_tile(wfi_point *point)
{
    static const uint32_t marches[] = {4, 8, 16, 32, 64};
    const uint64_t planes = point->problem->stencil.nz;
    wfi_point best = *point;
    double least = INFINITY;
    for (uint32_t x = 8; x <= 32; x *= 2)
        for (uint32_t y = 4; y <= 16; y *= 2)
            for (size_t i = 0; i < WFI_COUNT(marches) && x * y >= 64 && x * y <= 256; i++) {
                wfi_point_set(point, STENCIL_ID_LOCAL_X, x);
                wfi_point_set(point, STENCIL_ID_LOCAL_Y, y);
                wfi_point_set(point, STENCIL_ID_MARCH, wfi_even_column(planes, marches[i]));
                const double clocks = wfi_point_legal(point, NULL) ? clocks_of(point) : INFINITY;
                if (clocks >= least)
                    continue;
                least = clocks;
                best = *point;
            }
    *point = best;
}

/* Boxes of radius 1 in f16: a tile holds its cells as f32, so that a cell is converted once for the
 * 27 that read it. In us by `march`, as it was chosen, and by this: 62x461x433 61.0 and 41.9,
 * 347x363x80 49.3 and 41.5, 407x264x59 33.6 and 29.0, 169x609x23 15.6 and 13.5; by `vector`:
 * 260x633x166 87.5 and 73.7, 64x421x903 69.1 and 60.8; 84x50x36 3.5 and 5.7 (H200,
 * bench/notes/stencil.md#boxes-f16). */
#define LEAST_F16_CELLS 2e6
#define LEAST_F16_VECTOR_CELLS 5e6

/* Cells that tiles of so many work-items' vectors cover of a row. */
static uint64_t covered(const wfi_point *point, uint32_t items)
{
    return wfi_round_up(point->problem->stencil.nx, items * (uint64_t)wfi_stencil_width(point));
}

/* Work-items of a tile's row where rows are no vectors: a wide tile has fewer cells beside its rows
 * (894x290x402 336 us by 16 and 312 by 32), a narrow one covers a narrow row alone. */
static uint32_t f16_tile_x(const wfi_point *point)
{
    if (covered(point, 8) == 8 * wfi_stencil_width(point))
        return 8;
    return covered(point, 32) == covered(point, 16) ? 32 : 16;
}

/* Not where these tiles cover over a third more cells of a row than those of `march` (78x316x194:
 * 26.7 us by `march`, 30.0 by this). */
static bool covers_rows(const wfi_point *point)
{
    const uint64_t march_cells = wfi_round_up(point->problem->stencil.nx, 16);
    return 3 * covered(point, f16_tile_x(point)) <= 4 * march_cells;
}

static bool converts_once(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const double cells = wfi_stencil_cells(p);
    if (point->problem->type != WF_TYPE_F16 || p->radius != 1)
        return false;
    return wfi_stencil_rows_hold_vectors(point) ? cells >= LEAST_F16_VECTOR_CELLS
                                                : cells >= LEAST_F16_CELLS && covers_rows(point);
}

/* Of whole vectors smaller tiles are faster (272x304x692 by 16x8 176 us, by 8x8 159). */
static void fit_f16_tile(wfi_point *point)
{
    const bool whole = wfi_stencil_rows_hold_vectors(point);
    const uint32_t x = whole ? 8 : f16_tile_x(point);
    wfi_point_set(point, STENCIL_ID_LOCAL_X, x);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y, whole ? 8 : 128 / x);
    wfi_point_set(point, STENCIL_ID_MARCH, wfi_even_column(point->problem->stencil.nz, 16));
}

/* Boxes of radius 1 in f64 whose rows are vectors (H200, in us by `vector` and by this: 36x855x94
 * 23.5 and 20.8, 66x132x224 15.7 and 14.5, 216x89x44 7.7 and 8.2, 190x82x138, three steps, 47.8 and
 * 48.1; larger ones were not timed). Of other rows `march` is as fast (53x202x21, eight steps: 40.1
 * and 41.7). */
#define MOST_F64_CELLS 3e6

static bool is_small_f64(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return point->problem->type == WF_TYPE_F64 && p->radius == 1 &&
           wfi_stencil_rows_hold_vectors(point) && wfi_stencil_cells(p) <= MOST_F64_CELLS;
}

#define UNTIMED 1e3 /* of other variants' cost: a search alone takes it */

/* Faster than columns in registers where a cell has 124 neighbours (H200, 597x61x464 of f16 717 and
 * 490 us, 38x297x111 of f64 266 and 176, 80x62x410 of f32 33.6 and 25.7) and slower where it has 26
 * (145x452x246 of f32 72 and 95), but for f16 and for small grids of f64. On other kinds of devices
 * nobody has timed it. Two rows a work-item are slower in f64 as in others (121x54x37 14.1 us by
 * two, 9.6 by one; 201x116x272 99.6 and 89.8). */
static double fit(wfi_point *point)
{
    const bool timed = wfi_stencil_goes_by_times(point) && wfi_stencil_has_fast_shared(point),
               f16 = converts_once(point),
               pays = f16 || is_small_f64(point) || wfi_stencil_is_wide_box(point);
    wfi_point_set(point, STENCIL_ID_ROWS, 1);
    if (timed && f16)
        fit_f16_tile(point);
    else if (timed)
        fit_tile(point);
    return wfi_stencil_bytes(point) * (timed && pays ? 1.9 : UNTIMED);
}

/* Every work-group loads its tile of each plane, also those of its cells that lie beyond the grid,
 * for which others stand. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const plane_tile tile = tile_of(point);
    const wfi_stencil_tile cells = wfi_stencil_tile_of(point);
    const double width = wfi_stencil_width(point), nk = (double)a.nk,
                 columns = ceil(nk / (double)cells.k),
                 planes = (double)wfi_stencil_columns(point) * (nk + 2.0 * p->radius * columns),
                 elements = tile.i * tile.j * width,
                 real = (double)wfi_stencil_real_bytes(point) * p->steps,
                 size = (double)wf_type_size(point->problem->type) * p->steps;
    uint32_t group[3];
    wfi_stencil_group_size(point, group);
    const double rows = wfi_point_value(point, STENCIL_ID_ROWS, 1) + 2.0 * p->radius,
                 read = (double)group[0] * group[1] * rows * tile.window * width;
    out->work_groups = wfi_stencil_group_count(point);
    out->stored = size * (double)a.ni * (double)a.nj * nk;
    out->requested = size * planes * elements + out->stored;
    out->groups = size * wfi_stencil_cells_once(point) + out->stored;
    out->shared = real * planes * (elements + read);
}

const wfi_variant wfi_stencil_march_shared = {
    WFI_STENCIL_ROW(march_shared, parameters, constraints),
    .summary = "boxes as march has them, with a tile of each plane in shared memory",
    .source = "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)",
    .traits = WFI_STENCIL_VECTORS,
    .shared_bytes = shared_bytes,
    .fit = fit,
    .traffic = traffic,
};
