/* How work-groups cover the grid, and the constants of all variants. */
#include <math.h>

#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"
#include "plan/access.h"

void wfi_stencil_group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_point_value(point, STENCIL_ID_LOCAL_X, 1);
    size[1] = wfi_point_value(point, STENCIL_ID_LOCAL_Y, 1);
    size[2] = wfi_point_value(point, STENCIL_ID_LOCAL_Z, 1);
}

uint64_t wfi_stencil_real_bytes(const wfi_point *point)
{
    return point->problem->type == WF_TYPE_F64 ? 8 : 4;
}

uint32_t wfi_stencil_width(const wfi_point *point)
{
    const wf_type type = point->problem->type;
    return !(point->variant->traits & WFI_STENCIL_VECTORS) ? 1 : type == WF_TYPE_F64 ? 2 : 4;
}

wfi_stencil_tile wfi_stencil_tile_of(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool time = wfi_variant_has(point->variant, STENCIL_ID_STEPS);
    const uint32_t side = time ? p->radius * wfi_point_value(point, STENCIL_ID_STEPS, 1) : 0;
    const uint32_t width = wfi_stencil_width(point);
    const bool flat = p->dimensions == 2;
    /* Along i tiles overlap by whole vectors. */
    const int64_t overlap_i = wfi_round_up(side, width), overlap_j = flat ? 0 : side;
    const bool ends = point->variant->traits & WFI_STENCIL_ENDS && p->border != WF_BORDER_PERIODIC;
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    return (wfi_stencil_tile){(int64_t)size[0] * width - 2 * overlap_i,
                              (int64_t)size[1] * wfi_point_value(point, STENCIL_ID_ROWS, 1) -
                                  2 * overlap_j,
                              (int64_t)size[2] * wfi_point_value(point, STENCIL_ID_MARCH, 1),
                              ends ? overlap_i : 0, ends ? overlap_j : 0};
}

/* Work-groups along i or j, of n cells: a tile at an end of the grid updates `more` cells. */
static uint64_t groups_along(uint64_t n, wfi_stencil_span span, int64_t tile, int64_t more)
{
    const uint64_t end = span.end ? span.end : n, cells = end - span.first;
    const uint64_t ends = (UINT64_C(0) + (span.first == 0) + (end == n)) * (uint64_t)more;
    return cells > ends ? (cells - ends + (uint64_t)tile - 1) / (uint64_t)tile : 1;
}

void wfi_stencil_groups(const wfi_point *point, uint64_t groups[2])
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const wfi_stencil_part *part = &point->problem->stencil.part;
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    groups[0] = groups_along(a.ni, part->i, tile.i, tile.more_i);
    groups[1] = groups_along(a.nj, part->j, tile.j, tile.more_j);
}

uint64_t wfi_stencil_columns(const wfi_point *point)
{
    uint64_t groups[2];
    wfi_stencil_groups(point, groups);
    return groups[0] * groups[1];
}

double wfi_stencil_group_count(const wfi_point *point)
{
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    if (tile.i <= 0 || tile.j <= 0 || tile.k <= 0)
        return 0;
    return (double)wfi_stencil_columns(point) *
           ceil((double)wfi_stencil_axes_of(&point->problem->stencil).nk / (double)tile.k);
}

bool wfi_stencil_rows_hold_vectors(const wfi_point *point)
{
    return point->problem->stencil.row_stride % wfi_stencil_width(point) == 0;
}

void wfi_stencil_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_constant all[] = {
        {STENCIL_ID_RADIUS, p->radius},
        {STENCIL_ID_SHAPE, p->shape == WF_STENCIL_BOX ? STENCIL_BOX : STENCIL_STAR},
        {STENCIL_ID_BORDER, p->border == WF_BORDER_NEUMANN    ? STENCIL_NEUMANN
                            : p->border == WF_BORDER_PERIODIC ? STENCIL_PERIODIC
                                                              : STENCIL_DIRICHLET},
        {STENCIL_ID_FLAT, p->dimensions == 2},
        {STENCIL_ID_EVEN, (p->unit_x ? p->unit_x : p->nx) % wfi_stencil_width(point) == 0},
        {STENCIL_ID_ALIGNED, wfi_stencil_rows_hold_vectors(point)},
        {STENCIL_ID_PIECE, p->part.i.end != 0 || p->part.j.end != 0},
        {STENCIL_ID_STOP_AT, p->stoppable ? wfi_stencil_taps(p) : 0}};
    for (size_t i = 0; i < WFI_COUNT(all); i++)
        wfi_pipeline_constant(desc, all[i].id, all[i].value);
}

/* Of `cells` cells, over those of whole tiles. */
static double covered(uint64_t cells, uint64_t groups, int64_t tile, int64_t more)
{
    return (double)cells / ((double)groups * (double)tile + 2.0 * (double)more);
}

/* Planes that a march ends without are no lanes that idle. */
void wfi_stencil_access(const wfi_point *point, wf_access *out)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const wfi_stencil_tile tile = wfi_stencil_tile_of(point);
    const uint32_t size = (uint32_t)wf_type_size(point->problem->type),
                   width = wfi_stencil_width(point);
    const uint64_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1);
    uint64_t addresses[WFI_MOST_LANES], groups[2];
    uint32_t group[3], lanes = 0;
    if (tile.i <= 0 || tile.j <= 0)
        return;
    wfi_stencil_group_size(point, group);
    wfi_stencil_groups(point, groups);
    for (; lanes < point->caps->subgroup_size && lanes < group[0] * group[1] * group[2] &&
           lanes < WFI_MOST_LANES;
         lanes++) {
        const wfi_lane_place at = wfi_access_place(lanes, group);
        addresses[lanes] = (at.z * a.plane + at.y * rows * a.row + at.x * (uint64_t)width) * size;
    }
    wfi_access_load(out, addresses, lanes,
                    wfi_stencil_rows_hold_vectors(point) ? width * size : size);
    out->busy = fmin(1, covered(a.ni, groups[0], tile.i, tile.more_i) *
                            covered(a.nj, groups[1], tile.j, tile.more_j));
}
