/* Plans of matrix products: the slabs of A, B and C that one dispatch takes, and what becomes of
 * sums that are not finished there. */
#include <stddef.h>
#include <string.h>

#include "core/element.h"
#include "core/arithmetic.h"
#include "plan/dispatch_size.h"
#include "kernels/matmul/builder.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/shape.h"
#include "wfi_shaders.h"

#define MOST_STEPS 65536  /* of a plan; more means a device whose bindings are far too small */
#define WHOLE_VECTORS 7   /* VEC4 of products whose A, B and C all move in vectors */
#define REDUCED_AT_ONCE 8 /* AT_ONCE of matmul_reduce.comp: loads under way a work-item */

/* -------------------------------------------------------------------------------- constants */

/* Passes of the loop over the sum, at most, for which steps that are no whole tile come first: an
 * H100 gained less or lost from 9 on (bench/notes/matmul-matrix-units.md#few-steps). */
#define FEW_PASSES 8

/* The steps of the sum that each of split_k work-groups takes. */
static uint64_t chunk_of(const wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    const uint64_t unit = b->tile.k, units = (s->k + unit - 1) / unit;
    return (units + b->tile.split_k - 1) / b->tile.split_k * unit;
}

/* Whether a part of the sum takes few passes and ends with steps that are no whole tile. Rows along
 * the sum that move in vectors of 16 bytes have whole ones. */
static bool has_few_steps(const wfi_matmul_builder *b)
{
    const uint64_t k = b->p->k, steps = wfi_least(k, chunk_of(b, &b->whole));
    return !b->p->varies && !b->tile.packed && b->whole.k == k && k % b->tile.k != 0 &&
           steps > b->tile.k && steps <= (uint64_t)FEW_PASSES * b->tile.k;
}

/* Slabs this thin may begin between the vectors of a row. */
static bool has_thin_slabs(const wfi_matmul_builder *b)
{
    const wfi_matmul_problem *p = b->p;
    return (b->whole.m % WFI_SLAB_UNIT || b->whole.n % WFI_SLAB_UNIT ||
            b->whole.k % WFI_SLAB_UNIT) &&
           (b->whole.m < p->m || b->whole.n < p->n || b->whole.k < p->k);
}

static const wfi_spirv *module_of(const wfi_matmul_builder *b, uint32_t stage, uint32_t vec4)
{
    const wfi_variant *v = b->point->variant;
    const wf_type type = b->point->problem->type;
    int kind = stage & STREAM_K   ? WFI_MODULE_SECOND
               : has_few_steps(b) ? WFI_MODULE_FEW_STEPS
                                  : WFI_MODULE;
    if (!wfi_variant_module(v, kind, type))
        kind = WFI_MODULE;
    const wfi_spirv *any_rows = v->any_rows[kind][type];
    return vec4 != WHOLE_VECTORS && any_rows ? any_rows : wfi_variant_module(v, kind, type);
}

static void set_stage(const wfi_matmul_builder *b, uint32_t stage, wfi_pipeline_desc *desc)
{
    const wfi_matmul_problem *p = b->p;
    const bool finishes = (stage & FINISHES) != 0;
    wfi_matmul_set_constant(desc, MATMUL_ID_BETA, (stage & ADDS) != 0);
    wfi_matmul_set_constant(desc, MATMUL_ID_BIAS, finishes && p->bias);
    wfi_matmul_set_constant(desc, MATMUL_ID_ACTIVATION, finishes ? (uint32_t)p->activation : 0);
    if (stage & KEEPS_SUMS)
        wfi_matmul_set_constant(desc, MATMUL_ID_OUTPUT, 1);
    if (has_thin_slabs(b))
        wfi_matmul_set_constant(desc, MATMUL_ID_VEC4, 0);
    desc->spirv = module_of(b, stage, wfi_matmul_get_constant(desc, MATMUL_ID_VEC4));
    if ((stage & STREAM_K) && !b->point->variant->second[b->point->problem->type])
        wfi_pipeline_constant(desc, MATMUL_ID_PARTIAL_TILES, 1);
}

static wf_result stage_pipeline(wfi_matmul_builder *b, uint32_t stage, uint32_t *index)
{
    wfi_pipeline_desc desc;
    wf_result result = WF_SUCCESS;
    if (!b->made[stage]) {
        wfi_point_pipeline(b->point, &desc);
        set_stage(b, stage, &desc);
        result = wfi_plan_add_pipeline(b->plan, &desc, &b->pipelines[stage]);
        b->made[stage] = result == WF_SUCCESS;
    }
    *index = b->pipelines[stage];
    return result;
}

static wf_result add_reduction(wfi_matmul_builder *b, uint64_t slices, uint64_t elements)
{
    static const wfi_spirv *const modules[WF_TYPE_COUNT] = WFI_MODULES_matmul_reduce;
    wfi_pipeline_desc desc = {.name = "matmul reduction",
                              .spirv = modules[b->point->problem->type],
                              .storage_buffers = 4,
                              .push_bytes = sizeof(wfi_matmul_push)};
    /* Where few elements have many partial sums each, several work-items add an element's, each
     * with all of its loads under way. */
    const wfi_matmul_sizes *largest = &b->p->most;
    if (b->p->varies)
        elements = largest->m * largest->n * largest->batch;
    const uint32_t most = b->caps->max_invocations < 256 ? b->caps->max_invocations : 256;
    uint32_t share = 1;
    while (share * 2 * REDUCED_AT_ONCE <= slices && share < 16 &&
           (double)elements * share < b->caps->max_invocations * 64.0)
        share *= 2;
    b->reduction_x = most / share;
    const uint32_t size[3] = {b->reduction_x, share, 1};
    for (uint32_t i = 0; i < 3; i++)
        wfi_pipeline_constant(&desc, i, size[i]);
    wfi_matmul_constants(b->point, &desc);
    return wfi_plan_add_pipeline(b->plan, &desc, &b->reduction);
}

static wfi_matmul_scalar scalar(wf_type type, double value)
{
    wfi_matmul_scalar out = {.f64 = 0};
    if (type == WF_TYPE_F64)
        out.f64 = value;
    else if (wfi_element_of(type)->whole)
        out.i32 = (int32_t)value;
    else
        out.f32 = (float)value;
    return out;
}

/* ------------------------------------------------------------------------------------ slots */

static bool is_packed(const wfi_matmul_builder *b, uint32_t binding)
{
    return b->tile.packed && binding < 2 && b->tile.packed[binding].bytes;
}

/* Sets what differs where an operand is read from its packed copy, which is one slab. */
static void push_packed(const wfi_matmul_builder *b, wfi_matmul_push *push)
{
    if (is_packed(b, WF_MATMUL_A)) {
        push->lda = (uint32_t)b->tile.packed[0].ld;
        push->stride_a = (uint32_t)b->tile.packed[0].stride;
    }
    if (is_packed(b, WF_MATMUL_B)) {
        push->ldb = (uint32_t)b->tile.packed[1].ld;
        push->stride_b = (uint32_t)b->tile.packed[1].stride;
    }
    if (is_packed(b, WF_MATMUL_A) && b->tile.packed[0].k) {
        if (push->chunk >= push->k)
            push->chunk = (uint32_t)b->tile.packed[0].k;
        push->k = (uint32_t)b->tile.packed[0].k;
    }
}

/* The slot of a slab of a matrix: `rows` rows from row0 on, `columns` columns from column0 on. */
static wfi_slot matrix_slot(const wfi_matmul_builder *b, uint32_t binding, const wfi_matmul_slab *s,
                            uint64_t row0, uint64_t rows, uint64_t column0, uint64_t columns,
                            uint32_t *base)
{
    const wfi_matmul_problem *p = b->p;
    const uint64_t lds[] = {p->lda, p->ldb, p->ldc};
    const uint64_t strides[] = {p->stride_a, p->stride_b, p->stride_c};
    const wf_type type = b->point->problem->type;
    const uint64_t size =
        binding == WF_MATMUL_C ? wfi_matmul_c_size(type, p->output) : wf_type_size(type);
    const uint64_t ld = lds[binding], stride = strides[binding];
    if (is_packed(b, binding))
        return (wfi_slot){WFI_SLOT_OWN, b->tile.packed[binding].own, 0,
                          b->tile.packed[binding].bytes};
    return wfi_slot_at(b->caps, binding, s->z0 * stride + row0 * ld + column0,
                       (s->batch - 1) * stride + (rows - 1) * ld + columns, size, base);
}

static wfi_slot bias_slot(const wfi_matmul_builder *b, const wfi_matmul_slab *s, uint32_t *base)
{
    return wfi_slot_at(b->caps, WF_MATMUL_BIAS, s->n0, s->n,
                       wfi_matmul_sum_size(b->point->problem->type), base);
}

static wfi_slot sums_slot(const wfi_matmul_builder *b, const wfi_matmul_slab *s, uint64_t slices)
{
    return (wfi_slot){WFI_SLOT_OWN, b->sums, 0,
                      s->batch * slices * s->m * s->n *
                          wfi_matmul_sum_size(b->point->problem->type)};
}

static wfi_slot partials_slot(const wfi_matmul_builder *b)
{
    return (wfi_slot){WFI_SLOT_OWN, b->partials, 0,
                      wfi_matmul_partials_bytes(&b->stream_k, &b->tile, b->point->problem->type)};
}

/* ------------------------------------------------------------------------------------ steps */

static wfi_matmul_push push_of(const wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    const wfi_matmul_problem *p = b->p;
    const uint64_t chunk = chunk_of(b, s), splits = (s->k + chunk - 1) / chunk;
    const wf_type type = b->point->problem->type;
    wfi_matmul_push push = {
        .m = (uint32_t)s->m,
        .n = (uint32_t)s->n,
        .k = (uint32_t)s->k,
        .lda = (uint32_t)p->lda,
        .ldb = (uint32_t)p->ldb,
        .ldc = (uint32_t)(b->raw ? s->n : p->ldc),
        .stride_a = (uint32_t)p->stride_a,
        .stride_b = (uint32_t)p->stride_b,
        .stride_c = (uint32_t)(b->raw ? splits * s->m * s->n : p->stride_c),
        .tiles_m = (uint32_t)((s->m + b->tile.m - 1) / b->tile.m),
        .tiles_n = (uint32_t)((s->n + b->tile.n - 1) / b->tile.n),
        .chunk = (uint32_t)chunk,
        .alpha = b->raw ? scalar(type, 1) : b->alpha,
        .beta = s->k0 > 0 ? scalar(type, 1) : b->beta,
        .stride_split = (uint32_t)(s->m * s->n),
    };
    if (b->stream_k.groups)
        wfi_matmul_push_stream_k(&b->stream_k, &push);
    return push;
}

/* f16x2 reads its rows' and columns' exponents from a buffer of their own. */
static void add_exponents(const wfi_matmul_builder *b, wfi_step *step)
{
    if (is_packed(b, WF_MATMUL_A) && b->tile.packed[0].exponent_bytes)
        step->slots[step->slot_count++] = (wfi_slot){WFI_SLOT_OWN, b->tile.packed[0].exponents, 0,
                                                     b->tile.packed[0].exponent_bytes};
}

/* Fills the slots of A, B and bias. */
static void set_operands(const wfi_matmul_builder *b, const wfi_matmul_slab *s, wfi_step *step,
                         wfi_matmul_push *push)
{
    const wfi_matmul_problem *p = b->p;
    step->slot_count = 4;
    step->slots[0] = p->transpose_a
                         ? matrix_slot(b, WF_MATMUL_A, s, s->k0, s->k, s->m0, s->m, &push->base_a)
                         : matrix_slot(b, WF_MATMUL_A, s, s->m0, s->m, s->k0, s->k, &push->base_a);
    step->slots[1] = p->transpose_b
                         ? matrix_slot(b, WF_MATMUL_B, s, s->n0, s->n, s->k0, s->k, &push->base_b)
                         : matrix_slot(b, WF_MATMUL_B, s, s->k0, s->k, s->n0, s->n, &push->base_b);
    step->slots[3] = p->bias ? bias_slot(b, s, &push->base_bias) : step->slots[1];
    push_packed(b, push);
    add_exponents(b, step);
}

static wf_result push_step(wfi_matmul_builder *b, wfi_step *step, const wfi_matmul_push *push)
{
    step->push_bytes = sizeof *push;
    memcpy(step->push, push, sizeof *push);
    b->first = false;
    return wfi_plan_add_step(b->plan, step);
}

static wf_result add_product(wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    const wfi_matmul_problem *p = b->p;
    const bool last = s->k0 + s->k == p->k, again = s->k0 > 0;
    wfi_matmul_push push = push_of(b, s);
    const uint64_t splits = (s->k + push.chunk - 1) / push.chunk;
    const bool adds = again || (!b->raw && p->beta);
    const uint32_t stage =
        (adds ? ADDS : 0u) | (b->raw ? KEEPS_SUMS : 0u) | (!b->raw && last ? FINISHES : 0u);
    wfi_step step = {.barrier = again || (b->raw && !b->first) || b->tile.packed,
                     .divisible = true};
    if (b->tile.reverse)
        step.parity_at = (uint32_t)offsetof(wfi_matmul_push, reversed);
    wf_result result = stage_pipeline(b, stage, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(b->plan,
                                   (uint64_t)push.tiles_m * push.tiles_n * splits -
                                       (b->stream_k.groups ? b->stream_k.shared : 0),
                                   step.groups);
    step.groups[2] = (uint32_t)s->batch;
    set_operands(b, s, &step, &push);
    step.slots[2] = b->raw ? sums_slot(b, s, splits)
                           : matrix_slot(b, WF_MATMUL_C, s, s->m0, s->m, s->n0, s->n, &push.base_c);
    return result == WF_SUCCESS ? push_step(b, &step, &push) : result;
}

/* The dispatch that leaves partial tiles. No barrier comes before it, since it does not touch the
 * tiles that the dispatch before it computes. */
static wf_result add_stream_k(wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    wfi_matmul_push push = push_of(b, s);
    wfi_step step = {.barrier = b->first && b->tile.packed, .divisible = true};
    wf_result result = stage_pipeline(b, KEEPS_SUMS | STREAM_K, &step.pipeline);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(b->plan, b->stream_k.groups, step.groups);
    set_operands(b, s, &step, &push);
    step.slots[2] = partials_slot(b);
    return result == WF_SUCCESS ? push_step(b, &step, &push) : result;
}

static wf_result add_fixup(wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    wfi_matmul_push push = push_of(b, s);
    wfi_step step = {.pipeline = b->fixup, .slot_count = 4, .barrier = true, .divisible = true};
    wf_result result =
        wfi_matmul_fixup_groups(b->plan, b->point, &b->stream_k, &b->tile, step.groups);
    step.slots[0] = step.slots[1] = partials_slot(b);
    step.slots[2] = matrix_slot(b, WF_MATMUL_C, s, s->m0, s->m, s->n0, s->n, &push.base_c);
    step.slots[3] = b->p->bias ? bias_slot(b, s, &push.base_bias) : step.slots[0];
    add_exponents(b, &step);
    return result == WF_SUCCESS ? push_step(b, &step, &push) : result;
}

/* Tiles with a work-group each, and tiles that work-groups share. */
static wf_result add_tiles(wfi_matmul_builder *b, const wfi_matmul_slab *s)
{
    if (!b->stream_k.groups)
        return add_product(b, s);
    wf_result result = b->stream_k.shared < b->stream_k.tiles ? add_product(b, s) : WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = add_stream_k(b, s);
    return result == WF_SUCCESS ? add_fixup(b, s) : result;
}

/* Finishes a slab of C from `slices` partial sums an element (0: there is no product). */
static wf_result add_finish(wfi_matmul_builder *b, const wfi_matmul_slab *s, uint64_t slices)
{
    const wfi_matmul_problem *p = b->p;
    wfi_matmul_push push = {
        .m = (uint32_t)s->m,
        .n = (uint32_t)s->n,
        .k = (uint32_t)slices,
        .lda = (uint32_t)s->n,
        .ldc = (uint32_t)p->ldc,
        .stride_a = (uint32_t)(slices * s->m * s->n),
        .stride_c = (uint32_t)p->stride_c,
        .alpha = b->alpha,
        .beta = b->beta,
        .stride_split = (uint32_t)(s->m * s->n),
    };
    wfi_step step = {.pipeline = b->reduction,
                     .slot_count = 4,
                     .push_bytes = sizeof push,
                     .barrier = slices > 0,
                     .divisible = true};
    wf_result result = wfi_dispatch_size(
        b->plan, (s->m * s->n + b->reduction_x - 1) / b->reduction_x, step.groups);
    step.groups[2] = (uint32_t)s->batch;
    step.slots[0] = slices ? sums_slot(b, s, slices) : (wfi_slot){WFI_SLOT_OWN, b->sums, 0, 16};
    step.slots[1] = step.slots[0];
    step.slots[2] = matrix_slot(b, WF_MATMUL_C, s, s->m0, s->m, s->n0, s->n, &push.base_c);
    step.slots[3] = p->bias ? bias_slot(b, s, &push.base_bias) : step.slots[0];
    memcpy(step.push, &push, sizeof push);
    return result == WF_SUCCESS ? wfi_plan_add_step(b->plan, &step) : result;
}

/* All slabs along the sum of one slab of C. */
static wf_result add_slab(wfi_matmul_builder *b, wfi_matmul_slab s)
{
    const wfi_matmul_problem *p = b->p;
    wf_result result = WF_SUCCESS;
    uint64_t slices = 0;
    for (s.k0 = 0; s.k0 < p->k && result == WF_SUCCESS; s.k0 += b->whole.k) {
        s.k = wfi_least(b->whole.k, p->k - s.k0);
        result = add_tiles(b, &s);
        const uint64_t chunk = chunk_of(b, &s);
        slices = (s.k + chunk - 1) / chunk;
    }
    return result == WF_SUCCESS && (b->raw || p->k == 0) ? add_finish(b, &s, slices) : result;
}

static uint64_t count_slabs(uint64_t whole, uint64_t slab_extent)
{
    return whole ? (whole + slab_extent - 1) / slab_extent : 1;
}

static wf_result add_slabs(wfi_matmul_builder *b)
{
    const wfi_matmul_problem *p = b->p;
    const wfi_matmul_slab *w = &b->whole;
    wf_result result = WF_SUCCESS;
    wfi_matmul_slab s = {0};
    const double steps = (double)count_slabs(p->batch, w->batch) * (double)count_slabs(p->m, w->m) *
                         (double)count_slabs(p->n, w->n) * (double)count_slabs(p->k, w->k);
    if (steps > MOST_STEPS)
        return wfi_fail(&wfi_plan_device(b->plan)->log, WF_ERROR_TOO_LARGE,
                        "the product takes %.0f dispatches, since a binding has at most %llu bytes",
                        steps, (unsigned long long)b->caps->max_storage_range);
    for (s.z0 = 0; s.z0 < p->batch; s.z0 += w->batch)
        for (s.m0 = 0; s.m0 < p->m; s.m0 += w->m)
            for (s.n0 = 0; s.n0 < p->n && result == WF_SUCCESS; s.n0 += w->n) {
                s.batch = wfi_least(w->batch, p->batch - s.z0);
                s.m = wfi_least(w->m, p->m - s.m0);
                s.n = wfi_least(w->n, p->n - s.n0);
                result = add_slab(b, s);
            }
    return result;
}

/* --------------------------------------------------------------------------------------- plans */

static wf_result add_bindings(wf_plan *plan, const wfi_matmul_problem *p,
                              const wf_matmul_params *params)
{
    static const char *const names[] = {"A", "B", "C", "bias"};
    uint64_t bytes[WF_MATMUL_BINDINGS];
    wf_result result = WF_SUCCESS;
    wfi_matmul_binding_bytes(p, params->type, wfi_matmul_multiplies(params), bytes);
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++) {
        const wfi_binding_spec spec = {names[i], i == WF_MATMUL_C ? WFI_READS_WRITES : WFI_READS,
                                       bytes[i]};
        result = wfi_plan_add_binding(plan, &spec);
    }
    return result;
}

/* Prepares the buffer of partial sums, which split-K needs, and a sum of several slabs that would
 * otherwise be rounded to a narrow C between them. */
static wf_result prepare_sums(wfi_matmul_builder *b)
{
    const wfi_matmul_problem *p = b->p;
    const wf_type type = b->point->problem->type;
    const uint64_t sum = wfi_matmul_sum_size(type);
    b->raw = p->k > 0 && b->tile.split_k > 1;
    wfi_matmul_size_slabs(b);
    const bool several = b->whole.k < p->k;
    if (several) {
        b->tile.split_k = 1;
        b->raw = wfi_matmul_c_size(type, p->output) < sum;
        wfi_matmul_size_slabs(b);
    }
    if (p->k && !b->raw)
        return WF_SUCCESS;
    const uint64_t slices = p->k ? b->tile.split_k : 0;
    wf_result result = add_reduction(b, slices, b->whole.batch * b->whole.m * b->whole.n);
    const uint64_t bytes = b->whole.batch * b->whole.m * b->whole.n * slices * sum;
    return result == WF_SUCCESS ? wfi_plan_add_scratch(b->plan, bytes < 16 ? 16 : bytes, &b->sums)
                                : result;
}

/* The pipelines that a size may need, in an order that no size changes. */
static wf_result expect_all_sizes(wfi_matmul_builder *b)
{
    uint32_t unused;
    wf_result result = stage_pipeline(b, FINISHES | (b->p->beta ? ADDS : 0u), &unused);
    return result == WF_SUCCESS ? stage_pipeline(b, KEEPS_SUMS | STREAM_K, &unused) : result;
}

/* Stream-K, where the whole product is one slab. */
static wf_result prepare_stream_k(wfi_matmul_builder *b)
{
    const wfi_matmul_slab *w = &b->whole;
    const bool varies = b->p->varies;
    if (!b->tile.stream_k || b->p->k == 0 || w->m < b->p->m || w->n < b->p->n || w->k < b->p->k)
        return WF_SUCCESS;
    b->stream_k = wfi_matmul_stream_k_of(b->point, &b->tile);
    if (!b->stream_k.groups && !varies)
        return WF_SUCCESS;
    wf_result result = wfi_plan_add_scratch(
        b->plan,
        varies ? wfi_matmul_most_partials_bytes(b->point, &b->tile) : partials_slot(b).bytes,
        &b->partials);
    if (result == WF_SUCCESS)
        result = wfi_matmul_fixup_pipeline(b->plan, b->point, &b->tile, &b->fixup);
    return result == WF_SUCCESS && varies ? expect_all_sizes(b) : result;
}

/* Slabs of different sizes need different kernels, all of which are made with the plan. */
static wf_result expect_one_slab(const wfi_matmul_builder *b)
{
    const wfi_matmul_slab *w = &b->whole;
    if (w->m == b->p->m && w->n == b->p->n && w->k == b->p->k)
        return WF_SUCCESS;
    return wfi_fail(
        &wfi_plan_device(b->plan)->log, WF_ERROR_TOO_LARGE,
        "wf_matmul_plan: a product whose sizes vary must be one dispatch, and a binding "
        "has at most %llu bytes here: fix the sizes (vary_m, vary_n, vary_k 0), or cut "
        "the largest product by offsets",
        (unsigned long long)b->caps->max_storage_range);
}

wf_result wfi_matmul_build(wf_plan *plan, const wfi_point *point, const wf_matmul_params *params,
                           wfi_matmul_tile tile)
{
    wfi_matmul_problem problem = point->problem->matmul;
    wfi_matmul_builder b = {
        .plan = plan, .point = point, .p = &problem, .caps = point->caps, .first = true};
    b.tile = tile;
    b.tile.k = tile.k ? tile.k : 1;
    b.tile.split_k = tile.split_k ? tile.split_k : 1;
    b.alpha = scalar(point->problem->type, params->alpha ? *params->alpha : 1);
    b.beta = scalar(point->problem->type, params->beta);
    if (!wfi_matmul_multiplies(params))
        problem.k = 0;
    wf_result result = add_bindings(plan, &point->problem->matmul, params);
    if (result != WF_SUCCESS || problem.m == 0 || problem.n == 0)
        return result;
    result = prepare_sums(&b);
    if (result == WF_SUCCESS && problem.varies)
        result = expect_one_slab(&b);
    if (result == WF_SUCCESS)
        result = prepare_stream_k(&b);
    return result == WF_SUCCESS ? add_slabs(&b) : result;
}
