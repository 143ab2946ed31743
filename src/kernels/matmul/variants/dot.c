/* 8-bit integers by dot-product instructions, four products each. */
#include <math.h>

#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/shape.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "core/arithmetic.h"

static const uint32_t tiles[] = {8, 16, 32, 64, 128}, depths[] = {8, 16, 32, 64, 128},
                      outputs[] = {1, 2, 4, 8}, vec4s[] = {0, 1, 2, 3};

static const wfi_parameter parameters[] = {
    WFI_TILE_ROWS(32, tiles),
    WFI_TILE_K_ROW(32, depths),
    WFI_THREAD_ROWS(4, outputs),
    {"vec4", MATMUL_ID_VEC4, 0, WFI_COUNT(vec4s), vec4s,
     "matrices that memory moves four elements at a time: the sum of 1 for A and 2 for B"},
};

static bool whole_words(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_M] % 4 == 0 && v[MATMUL_ID_TILE_N] % 4 == 0 &&
           v[MATMUL_ID_TILE_K] % 4 == 0;
}

static bool vec4_allowed(const wfi_point *point)
{
    return wfi_matmul_vec4_allowed(point, point->values[MATMUL_ID_VEC4]);
}

static const wfi_constraint constraints[] = {
    WFI_SIZES_POSITIVE,
    WFI_THREAD_M_DIVIDES,
    WFI_THREAD_N_DIVIDES,
    WFI_FEW_SUMS,
    {WFI_VEC4_REASON, vec4_allowed},
    {"tile_m, tile_n and tile_k must be multiples of 4, since a word holds four elements",
     whole_words},
};

static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[MATMUL_ID_TILE_K] * (v[MATMUL_ID_TILE_M] + 1 + v[MATMUL_ID_TILE_N] + 1);
}

#define GAIN 0.4 /* of time, against `register`: a guess from the number of instructions */

/* Sums, and the words that feed them. */
static bool holds_registers(wfi_point *trial)
{
    const uint32_t *v = trial->values;
    const uint32_t m = v[MATMUL_ID_THREAD_M], n = v[MATMUL_ID_THREAD_N];
    return m * n + m + n <= wfi_matmul_most_registers(trial, wfi_matmul_tile_threads(v));
}

static double fit(wfi_point *point)
{
    static const wfi_matmul_block blocks[] = {
        {128, 128, 32, 8, 8}, {64, 64, 32, 4, 4}, {32, 32, 32, 4, 4}, {32, 32, 16, 4, 4}};
    const wf_caps *caps = point->caps;
    point->values[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&point->problem->matmul) & 3;
    const double time =
        wfi_matmul_best_block(point, blocks, WFI_COUNT(blocks), 512, holds_registers) * GAIN;
    /* A driver without the instructions adds the bytes one by one. Nobody has timed this variant
     * beside matrix units. */
    if (time < 0 || !caps->integer_dot_accelerated || wfi_matmul_shape(caps, WF_TYPE_I8, 0, 0, 0))
        return -1;
    return fmax(time, 1.3 * wfi_matmul_memory_time(point));
}

/* As of `register`, whose shared memory holds sums' words where here a word has four elements. */
static void traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_matmul_block_traffic(point, out);
    out->shared /= (double)wfi_matmul_sum_size(point->problem->type);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M], .n = v[MATMUL_ID_TILE_N]});
}

const wfi_variant wfi_matmul_dot = {
    .name = "dot",
    .summary = "as register, four 8-bit integers a word: dot products of four in one instruction",
    .source = "",
    .modules = WFI_MODULES_matmul_dot,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .needs = WFI_NEEDS_INTEGER_DOT,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = wfi_matmul_tile_group,
    .constants = wfi_matmul_constants,
    .fit = fit,
    .traffic = traffic,
    .access = wfi_matmul_tile_access,
    .build = build,
};
