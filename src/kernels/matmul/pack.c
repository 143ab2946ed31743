/* Packing: where products are large, reading rows that no vector load can read costs far more than
 * copying them to aligned rows first. */
#include "kernels/matmul/pack.h"

#include <string.h>

#include "core/arithmetic.h"
#include "plan/dispatch_size.h"
#include "kernels/matmul/matmul.h"
#include "wfi_shaders.h"

#define PACK_X 64
#define LINES_X 32 /* work-items of a work-group of matmul_exponents.comp */
#define LINES_Y 8
#define ROW_UNIT 64 /* packed rows are multiples of it long; so is their number along the sum */

typedef struct pack_push {
    uint32_t rows, columns, ld, base, stride;
    uint32_t to_rows, to_chunks;
} pack_push;

/* A or B as it is stored. */
typedef struct stored {
    uint64_t rows, columns, ld, stride, batch;
    bool sum_rows; /* its rows run along the sum */
} stored;

static stored stored_operand(const wfi_matmul_problem *p, uint32_t operand)
{
    stored s = operand == WF_MATMUL_A
                   ? (stored){p->m, p->k, p->lda, p->stride_a, p->batch, p->transpose_a}
                   : (stored){p->k, p->n, p->ldb, p->stride_b, p->batch, !p->transpose_b};
    if (operand == WF_MATMUL_A ? p->transpose_a : p->transpose_b) {
        const uint64_t rows = s.rows;
        s.rows = s.columns;
        s.columns = rows;
    }
    if (s.stride == 0)
        s.batch = 1;
    return s;
}

static uint64_t packed_rows(const stored *s)
{
    return s->sum_rows ? wfi_round_up(s->rows, ROW_UNIT) : s->rows;
}

/* Whether the variant is f16x2, which has exponents in a binding of their own. */
static bool is_f16x2(const wfi_point *point)
{
    return point->problem->type == WF_TYPE_F32 &&
           point->variant->storage_buffers > WF_MATMUL_BINDINGS;
}

static uint64_t packed_ld(const stored *s)
{
    return wfi_round_up(s->columns, ROW_UNIT);
}

/* Two f16 are as long as one f32. */
static uint64_t packed_bytes(const stored *s, wf_type type)
{
    return s->batch * packed_rows(s) * packed_ld(s) * wf_type_size(type);
}

static uint64_t source_elements(const stored *s)
{
    return (s->batch - 1) * s->stride + (s->rows - 1) * s->ld + s->columns;
}

uint32_t wfi_matmul_chunk_bits(const wfi_problem *problem)
{
    const wfi_matmul_sizes units = wfi_matmul_units_of(&problem->matmul);
    const uint64_t chunk = 16 / wf_type_size(problem->type);
    wfi_matmul_problem p = problem->matmul;
    p.m = units.m;
    p.n = units.n;
    p.k = units.k;
    uint32_t bits = p.n % 4 == 0 && p.ldc % 4 == 0 && p.stride_c % 4 == 0 ? 4 : 0;
    for (uint32_t operand = 0; operand < 2; operand++) {
        const stored s = stored_operand(&p, operand);
        if (s.columns % chunk == 0 && s.ld % chunk == 0 && s.stride % chunk == 0)
            bits |= 1u << operand;
    }
    return bits;
}

/* Whether A, B and C, and the partial sums of split-K, are one slab each: a copy is read as a
 * whole, so that slabs of an operand beside it, which is read in place, would not go with it. */
static bool is_one_slab(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t limit = point->caps->max_storage_range - point->caps->storage_alignment,
                   size = wf_type_size(point->problem->type),
                   sum = wfi_matmul_sum_size(point->problem->type);
    const double kept = (double)p->m * (double)p->n * (double)p->batch *
                        wfi_point_value(point, MATMUL_ID_SPLIT_K, 1) * (double)sum;
    uint64_t extents[3];
    wfi_matmul_extents(p, extents);
    return extents[WF_MATMUL_A] <= limit / size && extents[WF_MATMUL_B] <= limit / size &&
           extents[WF_MATMUL_C] <= limit / sum && kept <= (double)limit;
}

bool wfi_matmul_can_pack(const wfi_point *point, uint32_t bits)
{
    const wf_caps *caps = point->caps;
    const wf_type type = point->problem->type;
    if (bits && !is_one_slab(point))
        return false;
    for (uint32_t operand = 0; operand < 2; operand++) {
        const stored s = stored_operand(&point->problem->matmul, operand);
        if (!(bits & 1u << operand) || s.rows == 0 || s.columns == 0)
            continue;
        if (s.batch > caps->max_groups[2] || packed_bytes(&s, type) > caps->max_storage_range)
            return false;
    }
    return true;
}

double wfi_matmul_pack_bytes(const wfi_point *point, uint32_t bits)
{
    const wfi_problem *problem = point->problem;
    double bytes = 0;
    for (uint32_t operand = 0; operand < 2; operand++) {
        const stored s = stored_operand(&problem->matmul, operand);
        if (bits & 1u << operand)
            bytes += 2 * (double)packed_bytes(&s, problem->type);
    }
    return bytes;
}

uint64_t wfi_matmul_packed_steps(const wfi_point *point, uint32_t bits, uint32_t tile_k)
{
    const uint64_t k = point->problem->matmul.k;
    return bits == 3 && ROW_UNIT % tile_k == 0 ? wfi_round_up(k, tile_k) : k;
}

void wfi_matmul_count_pack(const wfi_point *point, uint32_t bits, wfi_traffic *out)
{
    const wfi_problem *problem = point->problem;
    double read = 0, written = 0;
    for (uint32_t operand = 0; operand < 2; operand++) {
        const stored s = stored_operand(&problem->matmul, operand);
        const double elements = (double)s.batch * (double)s.rows * (double)s.columns;
        const double lines = (double)(s.sum_rows ? s.columns : s.rows) * sizeof(int32_t);
        if (!(bits & 1u << operand))
            continue;
        read += elements * (double)wf_type_size(problem->type);
        written += (double)packed_bytes(&s, problem->type);
        if (is_f16x2(point)) {
            read += elements * (sizeof(float) + sizeof(int32_t));
            written += lines;
        }
    }
    if (bits &&
        is_f16x2(point)) /* of its row and its column, for each sum that the product stores */
        out->requested += out->stored / sizeof(float) * 2 * sizeof(int32_t);
    out->requested += read + written;
    out->stored += written;
    out->groups += read + written;
}

static wf_result pack_pipeline(wf_plan *plan, wf_type type, uint32_t *index)
{
    const uint32_t size[3] = {PACK_X, 1, 1};
    wfi_pipeline_desc desc = {.name = "matmul copy",
                              .spirv = wf_type_size(type) == 1   ? &wfi_spv_matmul_pack_8
                                       : wf_type_size(type) == 2 ? &wfi_spv_matmul_pack_16
                                                                 : &wfi_spv_matmul_pack_32,
                              .storage_buffers = 2,
                              .push_bytes = sizeof(pack_push)};
    for (uint32_t i = 0; i < 3; i++)
        wfi_pipeline_constant(&desc, i, size[i]);
    return wfi_plan_add_pipeline(plan, &desc, index);
}

static wf_result pack_operand(wf_plan *plan, const wfi_problem *problem, uint32_t operand,
                              uint32_t pipeline, wfi_matmul_packed_copy *out)
{
    const stored s = stored_operand(&problem->matmul, operand);
    const wf_type type = problem->type;
    const uint64_t size = wf_type_size(type), rows = packed_rows(&s),
                   words = size == 8 ? 2 : 1; /* f64 moves as two words of 32 bits an element */
    *out = (wfi_matmul_packed_copy){.bytes = packed_bytes(&s, type), .ld = packed_ld(&s)};
    out->stride = s.batch > 1 ? rows * out->ld : 0;
    const pack_push push = {.rows = (uint32_t)s.rows,
                            .columns = (uint32_t)(s.columns * words),
                            .ld = (uint32_t)(s.ld * words),
                            .stride = (uint32_t)(s.stride * words),
                            .to_rows = (uint32_t)rows,
                            .to_chunks = (uint32_t)(out->ld * size / 16)};
    wf_result result = wfi_plan_add_own(plan, NULL, out->bytes, &out->own);
    wfi_step step = {.pipeline = pipeline,
                     .slot_count = 2,
                     .slots = {{WFI_SLOT_BINDING, operand, 0, source_elements(&s) * size},
                               {WFI_SLOT_OWN, out->own, 0, out->bytes}},
                     .push_bytes = sizeof push};
    memcpy(step.push, &push, sizeof push);
    if (result == WF_SUCCESS)
        result =
            wfi_dispatch_size(plan, (rows * push.to_chunks + PACK_X - 1) / PACK_X, step.groups);
    step.groups[2] = (uint32_t)s.batch;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

/* As in matmul_exponents.comp and matmul_f16x2.comp. */
typedef struct f16x2_push {
    uint32_t rows, columns, ld;
    uint32_t to_rows, to_chunks, first;
} f16x2_push;

static wf_result f16x2_step(wf_plan *plan, const wfi_spirv *module, const uint32_t size[2],
                            bool by_column, wfi_step *step, uint64_t groups)
{
    wfi_pipeline_desc desc = {.name = "matmul f16x2",
                              .spirv = module,
                              .storage_buffers = step->slot_count,
                              .push_bytes = step->push_bytes,
                              .constant_count = 4,
                              .constants = {{0, size[0]}, {1, size[1]}, {2, 1}, {3, by_column}}};
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step->pipeline);
    if (result == WF_SUCCESS)
        result = wfi_dispatch_size(plan, groups, step->groups);
    step->groups[2] = 1;
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, step) : result;
}

static wf_result f16x2_operand(wf_plan *plan, const wfi_matmul_problem *p, uint32_t operand,
                               wfi_matmul_packed_copy *out)
{
    const stored s = stored_operand(p, operand);
    const uint32_t lines_size[2] = {LINES_X, LINES_Y}, f16x2_size[2] = {PACK_X, 1};
    const uint64_t rows = packed_rows(&s), lines = s.sum_rows ? s.columns : s.rows,
                   lines_group = s.sum_rows ? LINES_X : LINES_Y;
    const f16x2_push push = {(uint32_t)s.rows,
                             (uint32_t)s.columns,
                             (uint32_t)s.ld,
                             (uint32_t)rows,
                             (uint32_t)(wfi_round_up(s.columns, ROW_UNIT) / 8),
                             operand == WF_MATMUL_A ? 0 : (uint32_t)p->m};
    const wfi_slot from = {WFI_SLOT_BINDING, operand, 0, source_elements(&s) * sizeof(float)},
                   exponents = {WFI_SLOT_OWN, out->exponents, 0, out->exponent_bytes};
    out->bytes = packed_bytes(&s, WF_TYPE_F32);
    out->ld = 2 * packed_ld(&s);
    wf_result result = wfi_plan_add_own(plan, NULL, out->bytes, &out->own);
    const wfi_slot to = {WFI_SLOT_OWN, out->own, 0, out->bytes};
    wfi_step find = {.slot_count = 2, .slots = {from, exponents}, .push_bytes = sizeof push};
    wfi_step split = {.slot_count = 3,
                      .slots = {from, exponents, to},
                      .push_bytes = sizeof push,
                      .barrier = true};
    memcpy(find.push, &push, sizeof push);
    memcpy(split.push, &push, sizeof push);
    if (result == WF_SUCCESS)
        result = f16x2_step(plan, &wfi_spv_matmul_exponents, lines_size, s.sum_rows, &find,
                            (lines + lines_group - 1) / lines_group);
    return result == WF_SUCCESS ? f16x2_step(plan, &wfi_spv_matmul_f16x2, f16x2_size, s.sum_rows,
                                             &split, (rows * push.to_chunks + PACK_X - 1) / PACK_X)
                                : result;
}

static wf_result f16x2_both(wf_plan *plan, const wfi_matmul_problem *p,
                            wfi_matmul_packed_copy packed[2])
{
    packed[0].exponent_bytes = packed[1].exponent_bytes = (p->m + p->n) * sizeof(int32_t);
    wf_result result = wfi_plan_add_own(plan, NULL, packed[0].exponent_bytes, &packed[0].exponents);
    packed[1].exponents = packed[0].exponents;
    for (uint32_t operand = 0; operand < 2 && result == WF_SUCCESS; operand++)
        result = f16x2_operand(plan, p, operand, &packed[operand]);
    return result;
}

static wf_result copy_operands(wf_plan *plan, const wfi_problem *problem, uint32_t bits,
                               wfi_matmul_packed_copy packed[2])
{
    uint32_t pipeline = 0;
    wf_result result = pack_pipeline(plan, problem->type, &pipeline);
    for (uint32_t operand = 0; operand < 2 && result == WF_SUCCESS; operand++)
        if (bits & 1u << operand)
            result = pack_operand(plan, problem, operand, pipeline, &packed[operand]);
    return result;
}

/* Adds the steps that copy the operands in `bits`, or take both apart for f16x2. */
static wf_result pack(wf_plan *plan, const wfi_point *point, uint32_t bits, uint32_t tile_k,
                      wfi_matmul_packed_copy packed[2])
{
    const wfi_problem *problem = point->problem;
    packed[0] = packed[1] = (wfi_matmul_packed_copy){0};
    wf_result result = is_f16x2(point) ? f16x2_both(plan, &problem->matmul, packed)
                                       : copy_operands(plan, problem, bits, packed);
    if (bits == 3 && ROW_UNIT % tile_k == 0)
        packed[0].k = packed[1].k = wfi_matmul_packed_steps(point, bits, tile_k);
    return result;
}

wf_result wfi_matmul_build_packed(wf_plan *plan, const wfi_point *point,
                                  const wf_matmul_params *params, wfi_matmul_tile tile,
                                  uint32_t bits)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    wfi_matmul_packed_copy packed[2];
    wf_result result = WF_SUCCESS;
    if (bits && p->m && p->n && wfi_matmul_multiplies(params)) {
        result = pack(plan, point, bits, tile.k, packed);
        tile.packed = packed;
    }
    return result == WF_SUCCESS ? wfi_matmul_build(plan, point, params, tile) : result;
}
