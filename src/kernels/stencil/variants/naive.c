/* naive, the reference: one work-item a cell. */
#include "core/architectures.h"
#include "kernels/stencil/rows.h"

static const uint32_t sizes_z[] = {1, 2, 4};

static const wfi_parameter parameters[] = {
    WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
    WFI_STENCIL_PARAMETER("local_z", STENCIL_ID_LOCAL_Z, 1, sizes_z,
                          "work-items of a work-group along z (y in two dimensions)")};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS};

#define FEW_WAVES 4 /* of work-items, one a cell, that units hold at once */
#define NARROW 16   /* cells of a row, as many as a cube has */

/* Whether all cells at once wait less than columns of them do, whose first cell needs all planes of
 * the star: with a fixed border, which asks for no border's number, in stars of radius 2 and more
 * where a device has the cells in a few waves (of radius 2 not those of narrow rows: 16x64x394,
 * four steps, 17.2 us by `march`, 18.2 so); in stars of radius 1 and 2 where it has them in one,
 * but for those of radius 1 with a mirrored border (bench/notes/stencil.md#few-cells). */
static bool cells_are_few(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_unit unit = wfi_unit_of(point->caps);
    const double wave =
        (unit.items ? unit.items : WFI_STENCIL_UNIT_ITEMS) * (double)wfi_units_of(point->caps);
    const double waves = wfi_stencil_cells(p) / wave;
    if (!wfi_stencil_goes_by_times(point) || p->shape != WF_STENCIL_STAR || p->dimensions != 3)
        return false;
    if (p->border == WF_BORDER_DIRICHLET && (p->radius > 2 || (p->radius == 2 && p->nx > NARROW)))
        return waves <= FEW_WAVES;
    return p->radius <= 2 && waves <= 1 && p->nx >= NARROW &&
           (p->border != WF_BORDER_NEUMANN || p->radius == 2);
}

#define FEW_ROWS 32 /* of a plane */

/* Cubes of cells, which share more of what they load than a row's (H200, 866x38x19, radius 2: 4.9
 * us by 32x2x4, 6.1 by 32x4x1), half as wide where a tenth fewer cells then cover a row. Planes of
 * few rows, of which the border of a wide star has half, are faster by eight of them (139x16x173 of
 * f16, radius 4: 4.9 us by 32x8x1, 5.3 by 16x4x4). */
static void fit_cube(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    if (p->radius > 2 && p->ny < FEW_ROWS) {
        wfi_stencil_fit_group(point, 256, 32);
        return;
    }
    const bool half = wfi_saves_a_tenth(wfi_round_up(p->nx, 16), wfi_round_up(p->nx, 32));
    wfi_point_set(point, STENCIL_ID_LOCAL_X, half ? 16 : 32);
    wfi_point_set(point, STENCIL_ID_LOCAL_Y, half ? 4 : 2);
    wfi_point_set(point, STENCIL_ID_LOCAL_Z, point->caps->max_invocations < 256 ? 2 : 4);
}

/* Where cells are few, faster than `march` (H200, 163x106x43, radius 3: 6.5 us a step, `march` 8.3)
 * and about as fast as `vector` where rows hold vectors (16x129x51 of f16: 3.3 and 3.5), but in
 * f64, whose vectors are of two, with a fixed border (18x832x17, radius 2: 4.2 us, `vector` 4.6;
 * mirrored 228x16x67, three steps: 13.8 and 12.9). */
static double fit(wfi_point *point)
{
    const bool few = cells_are_few(point);
    const bool f64 = point->problem->type == WF_TYPE_F64,
               fixed = point->problem->stencil.border == WF_BORDER_DIRICHLET;
    const double cost = f64 && fixed ? 1.95 : 2.1;
    if (few)
        fit_cube(point);
    else
        wfi_stencil_fit_group(point, 128, 64);
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * (few ? cost : 3));
}

static double inside(double extent, double radius)
{
    return extent > 2 * radius ? extent - 2 * radius : 0;
}

/* Fixed cells are copied; the coefficients, the same for all, are not counted. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const double size = (double)wf_type_size(point->problem->type);
    const double nx = (double)p->nx, ny = (double)p->ny;
    const double nz = p->dimensions == 3 ? (double)p->nz : 1, r = p->radius;
    const double cells = nx * ny * nz;
    const double computed =
        p->border == WF_BORDER_DIRICHLET
            ? inside(nx, r) * inside(ny, r) * (p->dimensions == 3 ? inside(nz, r) : 1)
            : cells;
    out->requested =
        size * p->steps * (computed * (wfi_stencil_taps(p) + 1.0) + (cells - computed) * 2);
    out->stored = size * p->steps * cells;
    out->groups = size * p->steps * wfi_stencil_cells_once(point) + out->stored;
    out->work_groups = wfi_stencil_group_count(point);
}

const wfi_variant wfi_stencil_naive = {
    WFI_STENCIL_ROW(naive, parameters, constraints),
    .summary = "one work-item a cell, which reads everything from memory",
    .source = "",
    .fit = fit,
    .traffic = traffic,
};
