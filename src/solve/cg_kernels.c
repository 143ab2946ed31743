/* The kernels of a conjugate-gradient solve beside its product. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/families.h"
#include "plan/fixed.h"
#include "solve/cg.h"
#include "wfi_shaders.h"

#define MOST_GROUPS 512           /* each adds up the partial sums of all */
#define SUMS_OF_SUMS UINT64_C(72) /* as in cg_problem.glsl */

/* As in cg_problem.glsl. */
typedef struct cg_push {
    uint32_t iteration, count, stride, block, groups, partials_at, partials, history_at;
    uint32_t sizes_at, sizes, full_sizes_at;
    float tolerance;
    uint32_t refiners, refined_at;
} cg_push;

enum {
    REFINERS = 4,
    REFINED = 8
}; /* dispatches and numbers of a refinement, as in cg_mixed.glsl */

/* Work-items a work-group: many, so that fewer work-groups add up fewer partial sums. */
uint32_t wfi_cg_group_items(const wf_caps *caps)
{
    uint32_t items = 512;
    while (items > 128 && (items > caps->max_invocations || items > caps->max_group_size[0]))
        items /= 2;
    return items;
}

uint32_t wfi_cg_groups(const wf_caps *caps, uint32_t count, uint32_t side)
{
    /* A work-item gets at least the two elements that it loads at once, or a block. */
    const uint32_t a_group = wfi_cg_group_items(caps) * (side < 2 ? 2 : side),
                   groups = (count - 1) / a_group + 1;
    return groups > MOST_GROUPS ? MOST_GROUPS : groups;
}

void wfi_cg_vector_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_cg_group_items(point->caps);
    size[1] = size[2] = 1;
}

uint64_t wfi_cg_shared_bytes(const wfi_point *point)
{
    return 3 * (wfi_cg_group_items(point->caps) + SUMS_OF_SUMS) *
           wf_type_size(point->problem->type);
}

static uint64_t sizes_bytes(const wfi_cg *c)
{
    return c->sizes * (uint64_t)sizeof(VkDispatchIndirectCommand);
}

uint64_t wfi_cg_scalars_bytes(const wfi_cg *c)
{
    const uint64_t refinement =
        REFINERS * sizeof(VkDispatchIndirectCommand) + REFINED * sizeof(float);
    return (c->partials_at + (uint64_t)c->partials) * wf_type_size(c->type) + sizes_bytes(c) +
           (c->wide ? refinement : 0);
}

uint64_t wfi_cg_vector_bytes(const wfi_cg *c)
{
    return c->stride * (uint64_t)wf_type_size(c->type);
}

uint64_t wfi_cg_a_bytes(const wfi_cg *c)
{
    return (c->wide ? 7 : 3) * wfi_cg_vector_bytes(c);
}

uint64_t wfi_cg_pairs_bytes(const wfi_cg *c)
{
    if (!c->wide)
        return 0;
    const uint64_t entries = c->wide->row_offsets[c->count];
    return (c->count + UINT64_C(1) + 3 * entries) * sizeof(uint32_t);
}

uint64_t wfi_cg_c_elements(const wfi_cg *c)
{
    return c->block ? (1 + (uint64_t)c->block) * c->stride : 4;
}

static uint64_t c_bytes(const wfi_cg *c)
{
    return wfi_cg_c_elements(c) * wf_type_size(c->type) + sizes_bytes(c);
}

static cg_push push_of(const wfi_cg *c)
{
    const uint64_t real = wf_type_size(c->type);
    return (cg_push){.count = c->count,
                     .stride = c->stride,
                     .block = c->block,
                     .groups = c->groups,
                     .partials_at = c->partials_at,
                     .partials = c->partials,
                     .history_at = c->history_at,
                     .sizes_at = c->sizes_at,
                     .sizes = c->sizes,
                     .full_sizes_at = (uint32_t)(wfi_cg_c_elements(c) * real / sizeof(uint32_t)),
                     .tolerance = (float)wfi_cg_tolerance(c->params),
                     .refiners = c->wide ? REFINERS : 0,
                     .refined_at = c->sizes_at + 3 * (c->sizes + REFINERS)};
}

static wf_result build_kernel(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const uint64_t vector = wfi_cg_vector_bytes(c);
    const wfi_binding_spec specs[] = {
        {"x, r, p", WFI_READS_WRITES, wfi_cg_a_bytes(c)},
        {"s, w", WFI_READS_WRITES, 2 * vector},
        {"u", WFI_READS_WRITES, c_bytes(c)},
        {"scalars", WFI_READS_WRITES, wfi_cg_scalars_bytes(c)},
    };
    const cg_push push = push_of(c);
    const char *name = point->variant->name;
    const bool one = strcmp(name, "cg_state") == 0 || strcmp(name, "cg_gate") == 0 ||
                     strcmp(name, "cg_mixed_gate") == 0;
    wfi_step step = {.groups = {one ? 1 : c->groups, 1, 1},
                     .push_bytes = sizeof push,
                     .takes_sequence = true,
                     /* The end of a solve, which this one finds, must not skip the others of its
                      * own pieces. */
                     .divisible = strcmp(name, "cg_update_recorded") != 0};
    memcpy(step.push, &push, sizeof push);
    wfi_plan_bind_sets(plan); /* products keep theirs too */
    return wfi_fixed_build(plan, point, specs, 4, &step);
}

#define KERNEL(text)                                                                               \
    {                                                                                              \
        .name = "cg_" #text, .modules = WFI_MODULES_cg_##text, .storage_buffers = 4,               \
        .push_bytes = sizeof(cg_push), .group_size = wfi_cg_vector_group,                          \
        .shared_bytes = wfi_cg_shared_bytes, .build = build_kernel,                                \
    }

#define RECORDED_KERNEL(text, build_)                                                              \
    {                                                                                              \
        .name = "cg_" #text,                                                                       \
        .modules =                                                                                 \
            {[WF_TYPE_F32] = &wfi_spv_cg_##text##_f32, [WF_TYPE_F64] = &wfi_spv_cg_##text##_f64},  \
        .storage_buffers = 4, .push_bytes = sizeof(cg_push), .group_size = wfi_cg_vector_group,    \
        .shared_bytes = wfi_cg_shared_bytes, .build = build_,                                      \
    }

/* What c starts with in a recorded solve: the inverted blocks behind u, and behind these the sizes
 * of the dispatches that the device ends. */
static wf_result add_c(wf_plan *plan, const wfi_cg *c)
{
    unsigned char *data = wfi_calloc(1, (size_t)c_bytes(c));
    uint32_t index = 0, at = 0;
    if (!data)
        return wfi_no_memory(&c->device->log);
    const uint64_t sizes_at = wfi_cg_c_elements(c) * wf_type_size(c->type);
    wf_result result =
        c->block ? wfi_cg_fill_inverse(c, data + wfi_cg_vector_bytes(c)) : WF_SUCCESS;
    wf_plan *const plans[] = {c->product, c->fused ? NULL : c->kernels[WFI_CG_DOT],
                              c->kernels[WFI_CG_UPDATE_RECORDED], c->kernels[WFI_CG_STATE]};
    for (size_t n = 0; n < WFI_COUNT(plans); n++)
        for (uint32_t i = 0; plans[n] && i < wfi_plan_step_count(plans[n]); i++, at++)
            memcpy(data + sizes_at + at * sizeof(VkDispatchIndirectCommand),
                   wfi_plan_step(plans[n], i)->groups, sizeof(VkDispatchIndirectCommand));
    if (result == WF_SUCCESS)
        result = wfi_plan_add_own(plan, data, c_bytes(c), &index);
    wfi_free(data);
    return result;
}

static wf_result build_gate(wf_plan *plan, const wfi_point *point, const void *params)
{
    wf_result result = add_c(plan, params);
    return result == WF_SUCCESS ? build_kernel(plan, point, params) : result;
}

/* A kernel that binds what the application gives. */
static wf_result build_edge(wf_plan *plan, const wfi_point *point, const wfi_cg *c,
                            const wfi_binding_spec *specs, uint32_t count)
{
    const cg_push push = push_of(c);
    wfi_step step = {
        .groups = {c->groups, 1, 1}, .push_bytes = sizeof push, .takes_sequence = true};
    memcpy(step.push, &push, sizeof push);
    return wfi_fixed_build(plan, point, specs, count, &step);
}

/* Bytes of b or x as the application gives them. */
static uint64_t given_bytes(const wfi_cg *c)
{
    return c->count * (uint64_t)(c->wide ? 2 * sizeof(float) : wf_type_size(c->type));
}

static wf_result build_take(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const wfi_binding_spec specs[] = {{"x, r, p", WFI_WRITES, wfi_cg_a_bytes(c)},
                                      {"b", WFI_READS, given_bytes(c)},
                                      {"x", WFI_READS, given_bytes(c)},
                                      {"scalars", WFI_READS_WRITES, wfi_cg_scalars_bytes(c)}};
    return build_edge(plan, point, c, specs, 4);
}

static wf_result build_leave(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const wfi_binding_spec specs[] = {{"x, r, p", WFI_READS, wfi_cg_a_bytes(c)},
                                      {"x", WFI_WRITES, given_bytes(c)},
                                      {"state", WFI_WRITES, sizeof(wf_solve_state)},
                                      {"scalars", WFI_READS, wfi_cg_scalars_bytes(c)}};
    return build_edge(plan, point, c, specs, 4);
}

/* The matrix as cg_mixed_residual.comp reads it: pattern, then values in pairs of floats. */
static wf_result add_pairs(wf_plan *plan, const wfi_cg *c)
{
    const wf_spmv_params *m = c->wide;
    const uint32_t entries = m->row_offsets[m->rows];
    const double *values = m->values;
    uint32_t index = 0, *data = wfi_malloc((size_t)wfi_cg_pairs_bytes(c));
    if (!data)
        return wfi_no_memory(&c->device->log);
    uint32_t *at = data + m->rows + 1;
    memcpy(data, m->row_offsets, (m->rows + (size_t)1) * sizeof *data);
    if (entries)
        memcpy(at, m->column_indices, entries * sizeof *data);
    at += entries;
    for (uint32_t i = 0; i < entries; i++, at += 2) {
        const float high = (float)values[i], low = (float)(values[i] - high);
        memcpy(at, &high, sizeof high);
        memcpy(at + 1, &low, sizeof low);
    }
    wf_result result = wfi_plan_add_own(plan, data, wfi_cg_pairs_bytes(c), &index);
    wfi_free(data);
    return result;
}

static wf_result build_residual(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const wfi_binding_spec specs[] = {
        {"x, r, p", WFI_READS_WRITES, wfi_cg_a_bytes(c)},
        {"the matrix in pairs", WFI_READS, wfi_cg_pairs_bytes(c)},
        {"u", WFI_READS, c_bytes(c)},
        {"scalars", WFI_READS_WRITES, wfi_cg_scalars_bytes(c)},
    };
    const cg_push push = push_of(c);
    wfi_step step = {.groups = {c->groups, 1, 1},
                     .push_bytes = sizeof push,
                     .takes_sequence = true,
                     .divisible = true};
    memcpy(step.push, &push, sizeof push);
    wf_result result = add_pairs(plan, c);
    wfi_plan_bind_sets(plan);
    return result == WF_SUCCESS ? wfi_fixed_build(plan, point, specs, 4, &step) : result;
}

static const wfi_variant kernel_rows[WFI_CG_KERNELS] = {
    [WFI_CG_START] = KERNEL(start),
    [WFI_CG_DOT] = KERNEL(dot),
    [WFI_CG_UPDATE] = KERNEL(update),
    [WFI_CG_FINISH] = KERNEL(finish),
    [WFI_CG_STATE] = KERNEL(state),
    [WFI_CG_BEGIN] = KERNEL(begin),
    [WFI_CG_UPDATE_RECORDED] = KERNEL(update_recorded),
    [WFI_CG_GATE] = RECORDED_KERNEL(gate, build_gate),
    [WFI_CG_TAKE] = RECORDED_KERNEL(take, build_take),
    [WFI_CG_LEAVE] = RECORDED_KERNEL(leave, build_leave),
};

#define MIXED_KERNEL(text, build_)                                                                 \
    {                                                                                              \
        .name = "cg_mixed_" #text, .modules = {[WF_TYPE_F32] = &wfi_spv_cg_mixed_##text},          \
        .storage_buffers = 4, .push_bytes = sizeof(cg_push), .group_size = wfi_cg_vector_group,    \
        .shared_bytes = wfi_cg_shared_bytes, .build = build_,                                      \
    }

/* What recorded solves in mixed precision have in their place, and besides. */
static const wfi_variant mixed_rows[WFI_CG_KERNELS] = {
    [WFI_CG_TAKE] = MIXED_KERNEL(take, build_take),
    [WFI_CG_BEGIN] = MIXED_KERNEL(begin, build_kernel),
    [WFI_CG_GATE] = MIXED_KERNEL(gate, build_gate),
    [WFI_CG_RESIDUAL] = MIXED_KERNEL(residual, build_residual),
    [WFI_CG_CORRECT] = MIXED_KERNEL(correct, build_kernel),
    [WFI_CG_LEAVE] = MIXED_KERNEL(leave, build_leave),
};

/* NULL: this solve does not use it. */
static const wfi_variant *row_of(const wfi_cg *c, int kernel)
{
    static const uint32_t of_solves =
                              1u << WFI_CG_START | 1u << WFI_CG_UPDATE | 1u << WFI_CG_FINISH,
                          of_recorded = 1u << WFI_CG_TAKE | 1u << WFI_CG_BEGIN |
                                        1u << WFI_CG_UPDATE_RECORDED | 1u << WFI_CG_LEAVE |
                                        1u << WFI_CG_GATE;
    if (c->wide && mixed_rows[kernel].name)
        return &mixed_rows[kernel];
    if (!kernel_rows[kernel].name || (c->recorded ? of_solves : of_recorded) & 1u << kernel)
        return NULL;
    return &kernel_rows[kernel];
}

wfi_ahead *wfi_cg_begin_kernels(const wfi_cg *c)
{
    const wfi_problem problem = {.family = WF_FAMILY_SPMV, .type = c->type};
    wfi_pipeline_desc descs[WFI_CG_KERNELS];
    uint32_t count = 0;
    /* Nobody has looked at the matrix yet: its type may be one that is not offered, or none. */
    if (c->type != WF_TYPE_F32 && !(c->type == WF_TYPE_F64 && c->device->caps.f64))
        return NULL;
    for (int i = 0; i < WFI_CG_KERNELS && !c->recorded; i++) {
        const wfi_point point = {
            .caps = &c->device->caps, .problem = &problem, .variant = row_of(c, i)};
        if (!point.variant)
            continue;
        wfi_point_pipeline(&point, &descs[count]);
        descs[count++].bound_sets = true; /* as build_kernel says */
    }
    return wfi_ahead_begin(c->device, descs, count);
}

wf_result wfi_cg_make_kernels(wfi_cg *c)
{
    /* An update moves eleven vectors: as much as a product with four entries a row. */
    const wfi_problem problem = {.family = WF_FAMILY_SPMV,
                                 .type = c->type,
                                 .spmv = {.rows = c->count,
                                          .columns = c->count,
                                          .entries = 4 * (uint64_t)c->count,
                                          .mean_row = 4}};
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < WFI_CG_KERNELS && result == WF_SUCCESS; i++) {
        const wfi_variant *row = row_of(c, i);
        if (row)
            result =
                wfi_fixed_plan(c->device, &wfi_family_spmv, &problem, row, 0, c, &c->kernels[i]);
    }
    return result;
}
