/* The plan of one slab of the Himeno relaxation. */
#include <string.h>

#include "kernels/himeno/himeno.h"
#include "kernels/himeno/rows.h"
#include "wfi_shaders.h"

enum { PASS_UPDATE = 1, PASS_GOSA = 2 }; /* as in stencil_naive.comp */

void wfi_himeno_group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_point_value(point, HIMENO_ID_LOCAL_X, 1);
    size[1] = wfi_point_value(point, HIMENO_ID_LOCAL_Y, 1);
    size[2] = wfi_point_value(point, HIMENO_ID_LOCAL_Z, 1);
}

/* Cells that a work-group updates along i, j and k. */
typedef struct tile {
    uint32_t i, j, k;
} tile;

static tile tile_of(const wfi_point *point)
{
    const uint32_t traits = point->variant->traits;
    const uint32_t overlap = 2 * (wfi_himeno_steps(point) - 1);
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    tile t = {size[0] * (traits & WFI_HIMENO_VECTORS ? 4 : 1) - overlap,
              size[1] * (traits & WFI_HIMENO_TWO_ROWS ? 2 : 1) - overlap,
              size[2] * wfi_point_value(point, HIMENO_ID_MARCH, 1)};
    if (traits & WFI_HIMENO_BOX)
        t.k = size[2] * wfi_point_value(point, HIMENO_ID_DEPTH, 1) - overlap;
    return t;
}

/* Work-groups of a slab along x, y, z. */
static void groups_of(const wfi_point *point, uint32_t planes, uint32_t groups[3])
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    const tile t = tile_of(point);
    groups[0] = (uint32_t)((p->ni - 2 + t.i - 1) / t.i);
    groups[1] = (uint32_t)((p->nj - 2 + t.j - 1) / t.j);
    groups[2] = (planes + t.k - 1) / t.k;
}

/* How many sums the single work-group that adds them up is done with at once. */
#define FEW_PARTIALS 4096

uint32_t wfi_himeno_subgroups(const wfi_point *point)
{
    const wf_caps *caps = point->caps;
    uint32_t groups[3], size[3];
    groups_of(point, (uint32_t)point->problem->himeno.nk - 2, groups);
    wfi_himeno_group_size(point, size);
    const uint32_t items = size[0] * size[1] * size[2], count = items / caps->subgroup_size;
    const bool sure = point->variant->traits & WFI_HIMENO_SUBGROUP_SUMS &&
                      caps->subgroup_min == caps->subgroup_max && items % caps->subgroup_size == 0;
    return sure && (uint64_t)groups[0] * groups[1] * groups[2] * count <= FEW_PARTIALS ? count : 0;
}

uint64_t wfi_himeno_partials(const wfi_point *point, uint32_t planes)
{
    const uint32_t subgroups = wfi_himeno_subgroups(point);
    uint32_t groups[3], size[3];
    groups_of(point, planes, groups);
    wfi_himeno_group_size(point, size);
    const uint64_t items = (uint64_t)size[0] * size[1] * size[2];
    return (uint64_t)groups[0] * groups[1] * groups[2] *
           (wfi_point_value(point, HIMENO_ID_OWN_SUMS, 0) ? items
            : subgroups                                   ? subgroups
                                                          : 1);
}

/* The window of the p buffers that the slab reads, its start rounded down so that it can be bound
 * and vectors stay aligned; *base is then the element of its first inner cell. */
static wfi_slot p_window(const wfi_point *point, const wfi_himeno_layout *layout,
                         const wfi_himeno_slab *slab, uint32_t binding, uint32_t *base)
{
    const uint64_t reach = wfi_himeno_steps(point);
    const uint64_t below = slab->p_first < reach ? slab->p_first : reach;
    const uint64_t end = slab->p_first + slab->planes + reach;
    const uint64_t planes = end < slab->p_planes ? end : slab->p_planes;
    const uint64_t start = (slab->p_first - below) * layout->p_plane * sizeof(float);
    const uint64_t offset = start - start % wfi_window_alignment(point->caps);
    *base = (uint32_t)((start - offset) / sizeof(float) + below * layout->p_plane + layout->p_row +
                       layout->p_left);
    return (wfi_slot){WFI_SLOT_BINDING, binding, offset,
                      planes * layout->p_plane * sizeof(float) - offset};
}

static wf_result add_bindings(wf_plan *plan, const wfi_himeno_layout *layout,
                              const wfi_himeno_slab *slab)
{
    const uint64_t p_bytes = slab->p_planes * layout->p_plane * sizeof(float);
    const wfi_binding_spec specs[] = {
        {"p", WFI_READS, p_bytes},
        {"new p", WFI_WRITES, p_bytes},
        {"coefficients", WFI_READS, wfi_himeno_cells(layout, slab) * sizeof(float)},
        {"partial sums", WFI_WRITES, (uint64_t)slab->rows * slab->groups * sizeof(float)},
    };
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < sizeof specs / sizeof *specs && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    return result;
}

static void make_step(const wfi_point *point, const wfi_himeno_layout *layout,
                      const wfi_himeno_slab *slab, wfi_step *step)
{
    const wfi_himeno_problem *p = &point->problem->himeno;
    wfi_himeno_push push = {
        .ni = (uint32_t)(p->ni - 2),
        .nj = (uint32_t)(p->nj - 2),
        .nk = slab->planes,
        .lower = slab->lower,
        .upper = slab->upper,
        .p_row = (uint32_t)layout->p_row,
        .p_plane = (uint32_t)layout->p_plane,
        .c_row = (uint32_t)layout->c_row,
        .c_array = (uint32_t)wfi_himeno_array(layout, slab),
        .c_plane = (uint32_t)layout->c_plane,
        .c_blocks =
            (uint32_t)(layout->c_block * (layout->interleaved ? WFI_HIMENO_COEFFICIENTS : 1)),
        .c_base = (uint32_t)(slab->lower * layout->c_plane),
        .groups = slab->groups,
        .first = slab->first_group,
        .omega = slab->omega,
    };
    *step = (wfi_step){
        .slot_count = 4, .push_bytes = sizeof push, .takes_sequence = true, .divisible = true};
    step->slots[0] = p_window(point, layout, slab, WFI_HIMENO_P_IN, &push.p_base);
    step->slots[1] = p_window(point, layout, slab, WFI_HIMENO_P_OUT, &push.p_base);
    step->slots[2] = (wfi_slot){WFI_SLOT_BINDING, WFI_HIMENO_CELLS, 0,
                                wfi_himeno_cells(layout, slab) * sizeof(float)};
    step->slots[3] = (wfi_slot){WFI_SLOT_BINDING, WFI_HIMENO_PARTIALS, 0,
                                (uint64_t)slab->rows * slab->groups * sizeof(float)};
    for (uint32_t i = 0; i < step->slot_count; i++)
        if (point->variant->texel_buffers >> i & 1)
            step->texels[i] = VK_FORMAT_R32G32B32A32_SFLOAT;
    groups_of(point, slab->planes, step->groups);
    push.layers = step->groups[2];
    memcpy(step->push, &push, sizeof push);
}

static wf_result add_step(wf_plan *plan, const wfi_pipeline_desc *desc, wfi_step *step)
{
    wf_result result = wfi_plan_add_pipeline(plan, desc, &step->pipeline);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, step) : result;
}

/* The bindings; the pipeline and the step are still to be added. */
static wf_result begin(wf_plan *plan, const wfi_point *point, const wfi_himeno_slab *slab,
                       wfi_pipeline_desc *desc, wfi_step *step)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    /* Thousands of recordings with the same two sets of buffers. */
    wfi_plan_bind_sets(plan);
    make_step(point, &layout, slab, step);
    wfi_point_pipeline(point, desc);
    wfi_pipeline_constant(desc, HIMENO_ID_BLOCK,
                          layout.c_block == layout.c_length ? UINT32_C(1) << 31
                                                            : (uint32_t)layout.c_block);
    return add_bindings(plan, &layout, slab);
}

wf_result wfi_himeno_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    wfi_pipeline_desc desc;
    wfi_step step;
    wf_result result = begin(plan, point, params, &desc, &step);
    return result == WF_SUCCESS ? add_step(plan, &desc, &step) : result;
}

wf_result wfi_himeno_build_twice(wf_plan *plan, const wfi_point *point, const void *params)
{
    static const uint32_t passes[] = {PASS_UPDATE, PASS_GOSA};
    wfi_pipeline_desc desc;
    wfi_step step;
    wf_result result = begin(plan, point, params, &desc, &step);
    for (size_t i = 0; i < sizeof passes / sizeof *passes && result == WF_SUCCESS; i++) {
        wfi_pipeline_desc half = desc;
        wfi_pipeline_constant(&half, HIMENO_ID_PASSES, passes[i]);
        result = add_step(plan, &half, &step);
    }
    return result;
}
