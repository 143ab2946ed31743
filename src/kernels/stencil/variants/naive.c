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

/* Whether columns would wait longer for the planes of a wide star, of which the first cell needs
 * seven or nine, than all cells at once, which ask for no border's number. */
static bool cells_are_few(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_unit unit = wfi_unit_of(point->caps);
    const double wave =
        (unit.items ? unit.items : WFI_STENCIL_UNIT_ITEMS) * (double)wfi_units_of(point->caps);
    return wfi_stencil_goes_by_times(point) && p->shape == WF_STENCIL_STAR && p->dimensions == 3 &&
           p->radius > 2 && p->border == WF_BORDER_DIRICHLET &&
           (double)p->nx * (double)p->ny * (double)p->nz <= FEW_WAVES * wave;
}

/* Where cells are few, faster than `march` (H200, 163x106x43, radius 3: 6.5 us a step, `march` 8.3)
 * and about as fast as `vector` where rows hold vectors (16x129x51 of f16: 3.3 and 3.5). */
static double fit(wfi_point *point)
{
    const bool few = cells_are_few(point);
    if (few)
        wfi_stencil_fit_group(point, 256, 32);
    else
        wfi_stencil_fit_group(point, 128, 64);
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * (few ? 2.1 : 3));
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
