/* naive, the reference: one work-item a cell. */
#include "kernels/stencil/rows.h"

static const uint32_t sizes_z[] = {1, 2, 4};

static const wfi_parameter parameters[] = {
    WFI_STENCIL_LOCAL_X(128), WFI_STENCIL_LOCAL_Y(1),
    WFI_STENCIL_PARAMETER("local_z", STENCIL_ID_LOCAL_Z, 1, sizes_z,
                          "work-items of a work-group along z (y in two dimensions)")};

static const wfi_constraint constraints[] = {WFI_STENCIL_FITS};

static double fit(wfi_point *point)
{
    wfi_stencil_fit_group(point, 128, 64);
    return wfi_stencil_fit_published(point, wfi_stencil_bytes(point) * 3);
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
