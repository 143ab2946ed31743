/* The plan of one slab of the Himeno relaxation. */
#include <string.h>

#include "core/arithmetic.h"
#include "kernels/himeno/rows.h"

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
                       layout->p_left + slab->j.first * layout->p_row + slab->i.first);
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
    for (size_t i = 0; i < WFI_COUNT(specs) && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    return result;
}

static void make_step(const wfi_point *point, const wfi_himeno_layout *layout,
                      const wfi_himeno_slab *slab, wfi_step *step)
{
    wfi_himeno_push push = {
        .ni = slab->i.count,
        .nj = slab->j.count,
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
        .c_base = (uint32_t)(slab->lower * layout->c_plane + slab->j.first * layout->c_row),
        .groups = slab->groups,
        .first = slab->first_group,
        .i_first = slab->i.first,
        .rims = slab->i.before | slab->i.after << 8 | slab->j.before << 16 | slab->j.after << 24,
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
    wfi_himeno_slab_groups(point, slab, step->groups);
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
    /* A run makes thousands of recordings with the same two sets of buffers. */
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

wf_result wfi_himeno_build_passes(wf_plan *plan, const wfi_point *point,
                                  const wfi_himeno_slab *slab, const uint32_t *passes,
                                  uint32_t count)
{
    wfi_pipeline_desc desc;
    wfi_step step;
    wf_result result = begin(plan, point, slab, &desc, &step);
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        wfi_pipeline_desc pass = desc;
        wfi_pipeline_constant(&pass, HIMENO_ID_PASSES, passes[i]);
        result = add_step(plan, &pass, &step);
    }
    return result;
}
