/* The plans, buffers and preconditioner of a conjugate-gradient solve. */
#include <math.h>
#include <string.h>

#include "api/plans.h"
#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/families.h"
#include "plan/fixed.h"
#include "solve/cg.h"
#include "wfi_shaders.h"

#define MOST_GROUPS 512           /* each adds up the partial sums of all */
#define PARTIALS_AT 12            /* as in cg_problem.glsl */
#define SUMS_OF_SUMS UINT64_C(72) /* as in cg_problem.glsl */

/* As in cg_problem.glsl. */
typedef struct cg_push {
    uint32_t iteration, count, stride, block, groups, partials_at, partials, history_at;
    uint32_t sizes_at, sizes, full_sizes_at;
    float tolerance;
} cg_push;

/* -------------------------------------------------------------------------------------- kernels */

/* Work-items a work-group: many, so that fewer work-groups add up fewer partial sums. */
static uint32_t group_items(const wf_caps *caps)
{
    uint32_t items = 512;
    while (items > 128 && (items > caps->max_invocations || items > caps->max_group_size[0]))
        items /= 2;
    return items;
}

static void vector_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = group_items(point->caps);
    size[1] = size[2] = 1;
}

static uint64_t shared_bytes(const wfi_point *point)
{
    return 3 * (group_items(point->caps) + SUMS_OF_SUMS) * wf_type_size(point->problem->type);
}

static uint64_t sizes_bytes(const wfi_cg *c)
{
    return c->sizes * (uint64_t)sizeof(VkDispatchIndirectCommand);
}

static uint64_t scalars_bytes(const wfi_cg *c)
{
    return (c->partials_at + (uint64_t)c->partials) * wf_type_size(c->type) + sizes_bytes(c);
}

static uint64_t c_elements(const wfi_cg *c)
{
    return c->block ? (1 + (uint64_t)c->block) * c->stride : 4;
}

static uint64_t c_bytes(const wfi_cg *c)
{
    return c_elements(c) * wf_type_size(c->type) + sizes_bytes(c);
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
                     .full_sizes_at = (uint32_t)(c_elements(c) * real / sizeof(uint32_t)),
                     .tolerance = (float)wfi_cg_tolerance(c->params)};
}

static wf_result build_kernel(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const uint64_t vector = wfi_cg_vector_bytes(c);
    const wfi_binding_spec specs[] = {
        {"x, r, p", WFI_READS_WRITES, 3 * vector},
        {"s, w", WFI_READS_WRITES, 2 * vector},
        {"u", WFI_READS_WRITES, c_bytes(c)},
        {"scalars", WFI_READS_WRITES, scalars_bytes(c)},
    };
    const cg_push push = push_of(c);
    const char *name = point->variant->name;
    const bool one = strcmp(name, "cg_state") == 0 || strcmp(name, "cg_gate") == 0;
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
        .push_bytes = sizeof(cg_push), .group_size = vector_group, .shared_bytes = shared_bytes,   \
        .build = build_kernel,                                                                     \
    }

#define RECORDED_KERNEL(text, build_)                                                              \
    {                                                                                              \
        .name = "cg_" #text,                                                                       \
        .modules =                                                                                 \
            {[WF_TYPE_F32] = &wfi_spv_cg_##text##_f32, [WF_TYPE_F64] = &wfi_spv_cg_##text##_f64},  \
        .storage_buffers = 4, .push_bytes = sizeof(cg_push), .group_size = vector_group,           \
        .shared_bytes = shared_bytes, .build = build_,                                             \
    }

static wf_result fill_inverse(const wfi_cg *c, void *inverse);

/* What c starts with in a recorded solve: the inverted blocks behind u, and behind these the sizes
 * of the dispatches that the device ends. */
static wf_result add_c(wf_plan *plan, const wfi_cg *c)
{
    unsigned char *data = wfi_calloc(1, (size_t)c_bytes(c));
    uint32_t index = 0, at = 0;
    if (!data)
        return wfi_no_memory(&c->device->log);
    const uint64_t sizes_at = c_elements(c) * wf_type_size(c->type);
    wf_result result = c->block ? fill_inverse(c, data + wfi_cg_vector_bytes(c)) : WF_SUCCESS;
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

static wf_result build_take(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const uint64_t bytes = c->count * (uint64_t)wf_type_size(c->type);
    const wfi_binding_spec specs[] = {{"x, r, p", WFI_WRITES, 3 * wfi_cg_vector_bytes(c)},
                                      {"b", WFI_READS, bytes},
                                      {"x", WFI_READS, bytes},
                                      {"scalars", WFI_READS, scalars_bytes(c)}};
    return build_edge(plan, point, c, specs, 4);
}

static wf_result build_leave(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_cg *c = params;
    const wfi_binding_spec specs[] = {{"x, r, p", WFI_READS, 3 * wfi_cg_vector_bytes(c)},
                                      {"x", WFI_WRITES, c->count * (uint64_t)wf_type_size(c->type)},
                                      {"state", WFI_WRITES, sizeof(wf_solve_state)},
                                      {"scalars", WFI_READS, scalars_bytes(c)}};
    return build_edge(plan, point, c, specs, 4);
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

static wf_result make_kernels(wfi_cg *c)
{
    /* An update moves eleven vectors: as much as a product with four entries a row. */
    const wfi_problem problem = {.family = WF_FAMILY_SPMV,
                                 .type = c->type,
                                 .spmv = {.rows = c->count,
                                          .columns = c->count,
                                          .entries = 4 * (uint64_t)c->count,
                                          .mean_row = 4}};
    wf_result result = WF_SUCCESS;
    static const uint32_t of_solves =
                              1u << WFI_CG_START | 1u << WFI_CG_UPDATE | 1u << WFI_CG_FINISH,
                          of_recorded = 1u << WFI_CG_TAKE | 1u << WFI_CG_BEGIN |
                                        1u << WFI_CG_UPDATE_RECORDED | 1u << WFI_CG_LEAVE |
                                        1u << WFI_CG_GATE;
    const uint32_t unused = c->recorded ? of_solves : of_recorded;
    for (int i = 0; i < WFI_CG_KERNELS && result == WF_SUCCESS; i++)
        if (!(unused & 1u << i))
            result = wfi_fixed_plan(c->device, &wfi_family_spmv, &problem, &kernel_rows[i], 0, c,
                                    &c->kernels[i]);
    return result;
}

/* ---------------------------------------------------------------------------------------- sizes */

static uint64_t alignment_elements(const wfi_cg *c)
{
    const uint64_t align = c->device->caps.storage_alignment;
    return (align > 256 ? align : 256) / wf_type_size(c->type);
}

static uint64_t aligned(const wfi_cg *c, uint64_t elements)
{
    return wfi_round_up(elements, alignment_elements(c));
}

static uint32_t block_of(const wf_cg_params *p)
{
    if (p->precondition == WF_PRECONDITION_BLOCK_JACOBI)
        return p->block ? p->block : 4;
    return p->precondition == WF_PRECONDITION_JACOBI;
}

static wf_result set_sizes(wfi_cg *c, uint32_t fused_partials)
{
    const uint64_t real = wf_type_size(c->type), range = c->device->caps.max_storage_range;
    const uint32_t side = c->block ? c->block : 1;
    c->stride = (uint32_t)aligned(c, c->count);
    /* A work-item gets at least the two elements that it loads at once, or a block. */
    const uint32_t a_group = group_items(&c->device->caps) * (side < 2 ? 2 : side);
    c->groups = (c->count - 1) / a_group + 1;
    c->groups = c->groups > MOST_GROUPS ? MOST_GROUPS : c->groups;
    c->fused = fused_partials != 0;
    c->partials = c->fused ? fused_partials : c->groups;
    c->history_at = PARTIALS_AT + 4 * c->groups;
    c->partials_at = (uint32_t)aligned(c, c->history_at + (uint64_t)c->most);
    if (c->recorded) {
        c->sizes = wfi_plan_step_count(c->product) + (c->fused ? 2 : 3);
        c->sizes_at = (uint32_t)((c->partials_at + (uint64_t)c->partials) * real / 4);
    }
    const uint64_t largest =
        c_elements(c) > 3 * (uint64_t)c->stride ? c_elements(c) : 3 * (uint64_t)c->stride;
    if (largest * real <= range && scalars_bytes(c) <= range)
        return WF_SUCCESS;
    return wfi_fail(&c->device->log, WF_ERROR_TOO_LARGE,
                    "%llu elements of vectors are over this device's binding of %llu bytes",
                    (unsigned long long)largest, (unsigned long long)range);
}

static wf_result make_buffers(wfi_cg *c)
{
    const uint64_t vector = wfi_cg_vector_bytes(c), real = wf_type_size(c->type);
    const struct {
        wf_buffer **buffer;
        uint64_t bytes;
        wf_memory memory;
    } buffers[] = {
        {&c->a, 3 * vector, WF_MEMORY_DEVICE},
        {&c->b, 2 * vector, WF_MEMORY_DEVICE},
        {&c->scalars, scalars_bytes(c), WF_MEMORY_DEVICE},
        {c->recorded ? NULL : &c->c, c_elements(c) * real, WF_MEMORY_DEVICE},
        {c->recorded ? NULL : &c->state, WFI_STREAM_SLOTS * 8 * real, WF_MEMORY_READBACK}};
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < WFI_COUNT(buffers) && result == WF_SUCCESS; i++)
        if (buffers[i].buffer)
            result =
                wf_buffer_create(c->device, buffers[i].bytes, buffers[i].memory, buffers[i].buffer);
    return result;
}

/* ------------------------------------------------------------------------------- preconditioner */

/* Gets the block of the diagonal that begins at row `first`; duplicate entries add up. */
static void get_block(const wf_spmv_params *m, uint32_t first, uint32_t side,
                      double block[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK])
{
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t k = 0; k < side; k++)
            block[r][k] = 0;
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t i = m->row_offsets[first + r]; i < m->row_offsets[first + r + 1]; i++)
            if (m->column_indices[i] >= first && m->column_indices[i] - first < side)
                block[r][m->column_indices[i] - first] += wf_element_get(m->type, m->values, i);
}

/* Inverts by Gauss-Jordan elimination without pivoting, which a positive definite block does not
 * need. False: *pivot, of *row, is not positive. */
static bool invert(double a[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK], uint32_t side, uint32_t *row,
                   double *pivot)
{
    for (uint32_t k = 0; k < side; k++) {
        *row = k;
        *pivot = a[k][k];
        if (!(*pivot > 0) || isinf(*pivot))
            return false;
        for (uint32_t j = 0; j < side; j++)
            if (j != k)
                a[k][j] /= *pivot;
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side && i != k; j++)
                if (j != k)
                    a[i][j] -= a[i][k] * a[k][j];
        for (uint32_t i = 0; i < side; i++)
            if (i != k)
                a[i][k] /= -*pivot;
        a[k][k] = 1 / *pivot;
    }
    return true;
}

static wf_result fill_inverse(const wfi_cg *c, void *inverse)
{
    double block[WF_CG_MOST_BLOCK][WF_CG_MOST_BLOCK];
    for (uint32_t first = 0; first < c->count; first += c->block) {
        const uint32_t left = c->count - first, side = left < c->block ? left : c->block;
        uint32_t row = 0;
        double pivot = 0;
        get_block(c->matrix, first, side, block);
        if (!invert(block, side, &row, &pivot))
            return wfi_fail(&c->device->log, WF_ERROR_INVALID_ARGUMENT,
                            "wf_cg_solve: the %s of row %u is %g; Jacobi needs it positive",
                            c->block > 1 ? "pivot" : "diagonal", first + row, pivot);
        for (uint32_t r = 0; r < side; r++)
            for (uint32_t k = 0; k < side; k++)
                wf_element_set(c->type, inverse, (first + r) * (size_t)c->block + k, block[r][k]);
    }
    return WF_SUCCESS;
}

static wf_result write_preconditioner(wfi_cg *c)
{
    const size_t real = wf_type_size(c->type), elements = c->block * (size_t)c->count;
    if (!c->block)
        return WF_SUCCESS;
    void *inverse = wfi_calloc(elements, real);
    if (!inverse)
        return wfi_no_memory(&c->device->log);
    wf_result result = fill_inverse(c, inverse);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(c->c, wfi_cg_vector_bytes(c), inverse, elements * real);
    wfi_free(inverse);
    return result;
}

/* ----------------------------------------------------------------------------- opening, closing */

uint64_t wfi_cg_vector_bytes(const wfi_cg *c)
{
    return c->stride * (uint64_t)wf_type_size(c->type);
}

static wf_result open_solve(wf_device *device, const wf_cg_params *params,
                            const wf_spmv_params *matrix, bool recorded, wfi_cg *out)
{
    uint32_t partials = 0;
    *out = (wfi_cg){.device = device,
                    .params = params,
                    .matrix = matrix,
                    .type = matrix->type,
                    .count = matrix->rows,
                    .block = block_of(params),
                    .recorded = recorded,
                    .most = params->max_iterations ? params->max_iterations : 1000};
    /* The plan checks the matrix, which all that follows reads. */
    wf_result result = wfi_spmv_plan_fused(device, matrix, &partials, &out->product);
    if (result == WF_SUCCESS)
        result = set_sizes(out, partials);
    if (result == WF_SUCCESS)
        result = make_kernels(out);
    return result == WF_SUCCESS ? make_buffers(out) : result;
}

wf_result wfi_cg_open(wf_device *device, const wf_cg_params *params, const wf_spmv_params *matrix,
                      wfi_cg *out)
{
    wf_result result = open_solve(device, params, matrix, false, out);
    if (result == WF_SUCCESS)
        result = write_preconditioner(out);
    if (result == WF_SUCCESS)
        result = wfi_plan_upload(out->product);
    return result == WF_SUCCESS ? wfi_stream_open(device, &out->stream) : result;
}

wf_result wfi_cg_open_recorded(wf_device *device, const wf_cg_params *params,
                               const wf_spmv_params *matrix, wfi_cg *out)
{
    wf_result result = open_solve(device, params, matrix, true, out);
    if (result == WF_SUCCESS)
        out->c = wfi_plan_own(out->kernels[WFI_CG_GATE], 0);
    return result;
}

void wfi_cg_close(wfi_cg *c)
{
    if (c->recorded)
        c->c = NULL; /* the gate's */
    wfi_stream_close(&c->stream);
    for (int i = 0; i < WFI_CG_KERNELS; i++)
        wf_plan_destroy(&c->kernels[i]);
    wf_plan_destroy(&c->product);
    wf_buffer_destroy(&c->a);
    wf_buffer_destroy(&c->b);
    wf_buffer_destroy(&c->c);
    wf_buffer_destroy(&c->scalars);
    wf_buffer_destroy(&c->state);
}
