/* Work-groups of a slab, the partial sums of gosa that they leave, and their shared memory. */
#include "kernels/himeno/rows.h"
#include "plan/access.h"

void wfi_himeno_group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_point_value(point, HIMENO_ID_LOCAL_X, 1);
    size[1] = wfi_point_value(point, HIMENO_ID_LOCAL_Y, 1);
    size[2] = wfi_point_value(point, HIMENO_ID_LOCAL_Z, 1);
}

void wfi_himeno_tile(const wfi_point *point, uint32_t cells[3])
{
    const uint32_t traits = point->variant->traits;
    const uint32_t overlap = 2 * (wfi_himeno_steps(point) - 1);
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    cells[0] = size[0] * (traits & WFI_HIMENO_VECTORS ? 4 : 1) - overlap;
    cells[1] = size[1] * (traits & WFI_HIMENO_TWO_ROWS ? 2 : 1) - overlap;
    cells[2] = size[2] * wfi_point_value(point, HIMENO_ID_MARCH, 1);
}

static void groups_over(const wfi_point *point, const uint64_t cells[3], uint32_t groups[3])
{
    uint32_t tile[3];
    wfi_himeno_tile(point, tile);
    for (int axis = 0; axis < 3; axis++)
        groups[axis] = (uint32_t)((cells[axis] + tile[axis] - 1) / tile[axis]);
}

void wfi_himeno_groups(const wfi_point *point, uint32_t planes, uint32_t groups[3])
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const uint64_t cells[] = {p->ni - 2, p->nj - 2, planes};
    groups_over(point, cells, groups);
}

void wfi_himeno_slab_groups(const wfi_point *point, const wfi_himeno_slab *slab, uint32_t groups[3])
{
    const uint64_t cells[] = {slab->i.count, slab->j.count, slab->planes};
    groups_over(point, cells, groups);
}

/* The single work-group that adds up the partial sums takes this many of them in little time. */
#define FEW_PARTIALS 4096

uint32_t wfi_himeno_subgroups(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    uint32_t groups[3], size[3];
    wfi_himeno_groups(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const uint32_t items = size[0] * size[1] * size[2], count = items / caps->subgroup_size;
    const bool sure = point->variant->traits & WFI_HIMENO_SUBGROUP_SUMS &&
                      caps->subgroup_min == caps->subgroup_max && items % caps->subgroup_size == 0;
    return sure && (uint64_t)groups[0] * groups[1] * groups[2] * count <= FEW_PARTIALS ? count : 0;
}

uint64_t wfi_himeno_partials(const wfi_point *point, const wfi_himeno_slab *slab)
{
    const uint32_t subgroups = wfi_himeno_subgroups(point);
    uint32_t groups[3], size[3];
    wfi_himeno_slab_groups(point, slab, groups);
    wfi_himeno_group_size(point, size);
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    return (uint64_t)groups[0] * groups[1] * groups[2] *
           (wfi_point_value(point, HIMENO_ID_OWN_SUMS, 0) ? items
            : subgroups                                   ? subgroups
                                                          : 1);
}

void wfi_himeno_subgroup_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, HIMENO_ID_SUBGROUPS, wfi_himeno_subgroups(point));
}

uint64_t wfi_himeno_shared_sums(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return (uint64_t)size[0] * size[1] * size[2] * sizeof(float);
}

uint64_t wfi_himeno_shared_planes(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return wfi_himeno_steps(point) * 3 * (size[0] + UINT64_C(2)) * (size[1] + UINT64_C(2)) *
               sizeof(float) +
           wfi_himeno_shared_sums(point);
}

/* Of `extent` cells, over those of whole tiles of `size`. */
static double covered(uint64_t extent, uint32_t groups, uint32_t size)
{
    return (double)extent / ((double)groups * size);
}

/* Planes that a march ends without are no lanes that idle. */
void wfi_himeno_access(const wfi_point *point, wf_access *out)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    const uint32_t traits = point->variant->traits, subgroup = point->caps->subgroup_size;
    const uint32_t width = traits & WFI_HIMENO_VECTORS ? 4 : 1;
    uint32_t groups[3], size[3], tile[3];
    uint64_t addresses[WFI_MOST_LANES];
    uint32_t words[WFI_MOST_LANES], lanes = 0;
    wfi_himeno_tile(point, tile);
    wfi_himeno_groups(point, (uint32_t)p->nk - 2, groups);
    wfi_himeno_group_size(point, size);
    for (; lanes < subgroup && lanes < size[0] * size[1] * size[2] && lanes < WFI_MOST_LANES;
         lanes++) {
        const wfi_lane_place at = wfi_access_place(lanes, size);
        const uint64_t y = at.y * (traits & WFI_HIMENO_TWO_ROWS ? UINT64_C(2) : UINT64_C(1));
        addresses[lanes] =
            (at.z * layout.p_plane + y * layout.p_row + layout.p_left + at.x * (uint64_t)width) *
            sizeof(float);
        /* The tile has a halo of one cell on every side. */
        words[lanes] = (at.z * (size[1] + 2) + at.y) * (size[0] + 2) + at.x;
    }
    wfi_access_load(out, addresses, lanes, width * (uint32_t)sizeof(float));
    if (traits & WFI_HIMENO_TILE)
        out->bank_passes = wfi_access_passes(words, lanes);
    out->busy = covered(p->ni - 2, groups[0], tile[0]) * covered(p->nj - 2, groups[1], tile[1]) *
                (size[2] > 1 ? covered(p->nk - 2, groups[2], tile[2]) : 1);
}
