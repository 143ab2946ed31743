/* Problems of star and box stencils: axes, coefficients, operations, least traffic. */
#include <math.h>

#include "kernels/stencil/rows.h"

#define MOST_EXTENT (UINT32_C(1) << 30)

wfi_stencil_axes wfi_stencil_axes_of(const wfi_stencil_problem *p)
{
    if (p->dimensions == 2)
        return (wfi_stencil_axes){p->nx, 1, p->ny, 0, p->row_stride, true};
    const uint64_t plane = p->row_stride * (p->plane_rows ? p->plane_rows : p->ny);
    return (wfi_stencil_axes){p->nx, p->ny, p->nz, p->row_stride, plane, false};
}

uint32_t wfi_stencil_taps(const wfi_stencil_problem *p)
{
    const uint32_t side = 2 * p->radius + 1;
    if (p->shape == WF_STENCIL_STAR)
        return 1 + 2 * p->radius * p->dimensions;
    return side * side * (p->dimensions == 3 ? side : 1);
}

uint64_t wfi_stencil_elements(const wfi_stencil_problem *p)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    return a.plane * a.nk;
}

double wfi_stencil_cells(const wfi_stencil_problem *p)
{
    return (double)p->nx * (double)p->ny * (p->dimensions == 3 ? (double)p->nz : 1);
}

/* A multiplication for each coefficient, and the additions between them. */
double wfi_stencil_flops(const wfi_problem *problem)
{
    const wfi_stencil_problem *p = &problem->stencil;
    return (2.0 * wfi_stencil_taps(p) - 1) * wfi_stencil_cells(p) * p->steps;
}

/* A read and a write of every cell each step. */
double wfi_stencil_least_bytes(const wfi_problem *problem)
{
    const wfi_stencil_problem *p = &problem->stencil;
    return 2.0 * (double)wf_type_size(problem->type) * wfi_stencil_cells(p) * p->steps;
}

static bool valid_range(uint32_t extent, uint32_t unit)
{
    return unit == 0 || (extent && extent % unit == 0);
}

static bool valid_extents(const wf_stencil_params *p)
{
    const uint32_t radius = p->radius ? p->radius : 1, least = 2 * radius + 1;
    return valid_range(p->nx, p->vary_x) && valid_range(p->ny, p->vary_y) &&
           valid_range(p->nz, p->vary_z) && p->nx >= least && p->ny >= least &&
           (p->nz == 0 || p->nz >= least) && p->nx <= MOST_EXTENT && p->ny <= MOST_EXTENT &&
           p->nz <= MOST_EXTENT && (p->row_stride == 0 || p->row_stride >= p->nx) &&
           p->row_stride <= MOST_EXTENT;
}

/* Coefficients must be finite in the type that is computed with. */
static bool finite_coefficients(const wf_stencil_params *p, const wfi_stencil_problem *problem)
{
    for (uint32_t i = 0; i < wfi_stencil_taps(problem); i++)
        if (!isfinite(p->coefficients[i]) ||
            (p->type != WF_TYPE_F64 && !isfinite((float)p->coefficients[i])))
            return false;
    return true;
}

bool wfi_stencil_sizes_of(const wf_stencil_params *p, wfi_stencil_problem *out)
{
    if (!p || p->radius > 4 || (unsigned)p->shape > WF_STENCIL_BOX ||
        (unsigned)p->border > WF_BORDER_PERIODIC || p->steps > WFI_STENCIL_MOST_STEPS ||
        !valid_extents(p))
        return false;
    *out = (wfi_stencil_problem){.nx = p->nx,
                                 .ny = p->ny,
                                 .nz = p->nz,
                                 .row_stride = p->row_stride ? p->row_stride : p->nx,
                                 .dimensions = p->nz ? 3 : 2,
                                 .shape = p->shape,
                                 .radius = p->radius ? p->radius : 1,
                                 .border = p->border,
                                 .steps = p->steps ? p->steps : 1,
                                 .plane_rows = p->vary_y ? p->ny : 0,
                                 .unit_x = p->vary_x};
    return true;
}

bool wfi_stencil_problem_of(const wf_stencil_params *p, wfi_stencil_problem *out)
{
    return p && p->coefficients && wfi_stencil_sizes_of(p, out) && finite_coefficients(p, out);
}
