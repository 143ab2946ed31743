/* The steps of the ladder that share the module of `register`: tiled, tiled2, kstep, blocked, kept,
 * transposed and register itself. Tiles lie in shared memory; each step changes one thing. */
#include <math.h>

#include "profiles/matmul.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/published_time.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "plan/access.h"
#include "core/arithmetic.h"

#define VTUNE_3 "Intel VTune cookbook, matrix multiply, step 3"
#define D_SERIES "OpenCL SGEMM with private memory (D language series, part 4, 2018)"

/* What all of them have in common. */
#define TILED_ROW .storage_buffers = WF_MATMUL_BINDINGS, .push_bytes = sizeof(wfi_matmul_push)

/* ---------------------------------------------------------------- square tiles: tiled and kstep */

static const uint32_t squares[] = {4, 8, 16, 32}, square_depths[] = {4, 8, 16, 32, 64};

/* tiled has the first of them alone. */
static const wfi_parameter square_parameters[] = {
    {"tile", MATMUL_ID_TILE_M, 8, WFI_COUNT(squares), squares,
     "rows and columns of C a work-group computes"},
    WFI_TILE_K_ROW(16, square_depths),
};

static void square_group(const wfi_point *point, uint32_t size[3])
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    size[0] = tile <= 1024 ? tile * tile : 0;
    size[1] = size[2] = 1;
}

static const uint32_t strips[] = {1, 2, 4, 8, 16, 32};

/* In the order of `squares` and `tiled`. */
static const wfi_parameter tiled2_parameters[] = {
    {"tile", MATMUL_ID_TILE_M, 8, WFI_COUNT(squares), squares,
     "rows and columns of C a work-group computes"},
    WFI_SWIZZLE_ROW(8, strips),
};

static bool swizzle_positive(const wfi_point *point)
{
    return point->values[MATMUL_ID_SWIZZLE] >= 1 && point->values[MATMUL_ID_SWIZZLE] <= 65536;
}

static const wfi_constraint tiled2_constraints[] = {
    {"swizzle must be between 1 and 65536", swizzle_positive}};

static uint64_t square_shared(const wfi_point *point, uint64_t depth)
{
    return depth * 2 * (point->values[MATMUL_ID_TILE_M] + UINT64_C(1)) *
           wfi_matmul_sum_size(point->problem->type);
}

static uint64_t tiled_shared(const wfi_point *point)
{
    return square_shared(point, point->values[MATMUL_ID_TILE_M]);
}

static uint64_t kstep_shared(const wfi_point *point)
{
    return square_shared(point, point->values[MATMUL_ID_TILE_K]);
}

/* `keep`: a row and a column are read into registers first. */
static void ladder_constants(const wfi_point *point, bool keep, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_KEEP, keep);
    wfi_pipeline_constant(desc, MATMUL_ID_ACROSS, 0);
}

static void kstep_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, false, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_TILE_N, point->values[MATMUL_ID_TILE_M]);
    wfi_pipeline_constant(desc, MATMUL_ID_THREAD_M, 1);
    wfi_pipeline_constant(desc, MATMUL_ID_THREAD_N, 1);
}

static void tiled_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    kstep_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_TILE_K, point->values[MATMUL_ID_TILE_M]);
}

static void square_traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_matmul_tiled_traffic(point, point->values[MATMUL_ID_TILE_M],
                             point->values[MATMUL_ID_TILE_M], 2, out);
}

/* As in matmul_register.comp: a step of the sum reads thread_m elements of A's tile, whose rows are
 * tile_k long unless it is transposed, and thread_n of B's, which lie side by side. */
static void count_banks(const wfi_point *point, uint32_t tile_n, uint32_t thread_m,
                        uint32_t thread_n, uint32_t row, wf_access *out)
{
    uint32_t a[WFI_MOST_LANES], b[WFI_MOST_LANES], lanes = 0;
    const uint32_t across = tile_n / thread_n;
    const uint32_t items = point->values[MATMUL_ID_TILE_M] / thread_m * across;
    wfi_matmul_tile_access(point, out);
    for (; lanes < point->caps->subgroup_size && lanes < items && lanes < WFI_MOST_LANES; lanes++) {
        a[lanes] = lanes / across * row;
        b[lanes] = lanes % across;
    }
    out->bank_passes = ((double)thread_m * wfi_access_passes(a, lanes) +
                        (double)thread_n * wfi_access_passes(b, lanes)) /
                       (thread_m + thread_n);
}

static void tiled_access(const wfi_point *point, wf_access *out)
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    count_banks(point, tile, 1, 1, tile, out);
}

static void kstep_access(const wfi_point *point, wf_access *out)
{
    count_banks(point, point->values[MATMUL_ID_TILE_M], 1, 1, point->values[MATMUL_ID_TILE_K], out);
}

static wf_result square_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    return wfi_matmul_build(plan, point, params, (wfi_matmul_tile){.m = tile, .n = tile});
}

const wfi_variant wfi_matmul_tiled = {
    .name = "tiled",
    .summary = "square tiles of both operands in shared memory, an output a work-item",
    .source = VTUNE_3,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
    TILED_ROW,
    .parameter_count = 1,
    .parameters = square_parameters,
    .shared_bytes = tiled_shared,
    .group_size = square_group,
    .constants = tiled_constants,
    .fit = wfi_matmul_never_fit,
    .build = square_build,
    .traffic = square_traffic,
    .access = tiled_access,
};

static wf_result tiled2_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t tile = point->values[MATMUL_ID_TILE_M];
    return wfi_matmul_build(
        plan, point, params,
        (wfi_matmul_tile){.m = tile, .n = tile, .swizzle = point->values[MATMUL_ID_SWIZZLE]});
}

const wfi_variant wfi_matmul_tiled2 = {
    .name = "tiled2",
    .summary = "as tiled, with tiles in blocks of several rows, which a last-level cache holds",
    .source = VTUNE_3,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_ladder_f32},
    TILED_ROW,
    .parameter_count = WFI_COUNT(tiled2_parameters),
    .parameters = tiled2_parameters,
    .constraint_count = WFI_COUNT(tiled2_constraints),
    .constraints = tiled2_constraints,
    .shared_bytes = tiled_shared,
    .group_size = square_group,
    .constants = tiled_constants,
    .fit = wfi_matmul_never_fit,
    .build = tiled2_build,
    .access = tiled_access,
    .traffic = square_traffic,
};

const wfi_variant wfi_matmul_kstep = {
    .name = "kstep",
    .summary = "as tiled, with as many steps of the sum in shared memory as wanted",
    .source = D_SERIES,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
    TILED_ROW,
    .parameter_count = WFI_COUNT(square_parameters),
    .parameters = square_parameters,
    .shared_bytes = kstep_shared,
    .group_size = square_group,
    .constants = kstep_constants,
    .fit = wfi_matmul_never_fit,
    .build = square_build,
    .traffic = square_traffic,
    .access = kstep_access,
};

/* --------------------------------- a block of outputs a work-item: blocked, kept and register */

static const uint32_t tiles[] = {8, 16, 32, 64, 128}, depths[] = {4, 8, 16, 32},
                      outputs[] = {1, 2, 4, 8};

static const wfi_parameter parameters[] = {
    WFI_TILE_ROWS(32, tiles),
    WFI_TILE_K_ROW(8, depths),
    WFI_THREAD_ROWS(4, outputs),
};

static const wfi_constraint constraints[] = {WFI_SIZES_POSITIVE, WFI_THREAD_M_DIVIDES,
                                             WFI_THREAD_N_DIVIDES, WFI_FEW_SUMS};

static const uint32_t pads[] = {0, 1, 2, 4};

static const wfi_parameter transposed_parameters[] = {
    WFI_TILE_ROWS(32, tiles),
    WFI_TILE_K_ROW(8, depths),
    WFI_THREAD_ROWS(4, outputs),
    {"pad", MATMUL_ID_PAD, 2, WFI_COUNT(pads), pads,
     "elements by which rows of the tiles in shared memory are longer"},
};

static bool pad_is_short(const wfi_point *point)
{
    return point->values[MATMUL_ID_PAD] <= 64;
}

static const wfi_constraint transposed_constraints[] = {WFI_SIZES_POSITIVE,
                                                        WFI_THREAD_M_DIVIDES,
                                                        WFI_THREAD_N_DIVIDES,
                                                        WFI_FEW_SUMS,
                                                        {"pad must be at most 64", pad_is_short}};

static uint64_t transposed_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[MATMUL_ID_TILE_K] *
           (v[MATMUL_ID_TILE_M] + v[MATMUL_ID_TILE_N] + UINT64_C(2) * v[MATMUL_ID_PAD]) *
           wfi_matmul_sum_size(point->problem->type);
}

static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[MATMUL_ID_TILE_K] * (v[MATMUL_ID_TILE_M] + 1 + v[MATMUL_ID_TILE_N] + 1) *
           wfi_matmul_sum_size(point->problem->type);
}

static void blocked_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, false, desc);
}

static void kept_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    ladder_constants(point, true, desc);
}

static uint32_t all_registers(const wfi_point *point)
{
    const uint32_t m = point->values[MATMUL_ID_THREAD_M], n = point->values[MATMUL_ID_THREAD_N];
    return (m * n + m + n) * wfi_matmul_words(point) + WFI_OTHER_REGISTERS;
}

static bool complete_published(wfi_point *trial)
{
    uint32_t size[3];
    wfi_matmul_tile_group(trial, size);
    return all_registers(trial) - WFI_OTHER_REGISTERS <= wfi_matmul_most_registers(trial, size[0]);
}

static double fit_published_block(wfi_point *point)
{
    static const wfi_matmul_block_search search = {.least_thread = 2,
                                                   .least_depth = 8,
                                                   .complete = complete_published,
                                                   .registers = all_registers};
    return wfi_matmul_published_block(point, &search);
}

static double register_fit(wfi_point *point)
{
    static const wfi_matmul_block blocks[] = {
        {128, 128, 16, 8, 8}, {64, 128, 16, 4, 8}, {64, 64, 16, 8, 8}, {64, 64, 16, 4, 4},
        {64, 32, 16, 4, 4},   {32, 32, 16, 4, 4},  {32, 32, 8, 4, 4},  {16, 16, 16, 2, 2},
        {8, 128, 16, 2, 4},   {128, 8, 16, 4, 2},
    };
    if (wfi_matmul_has_published_time(point))
        return fit_published_block(point);
    const double time = wfi_matmul_best_block(point, blocks, WFI_COUNT(blocks), 512, NULL);
    if (time < 0 || wfi_matmul_times_tiles(point))
        return -1;
    return fmax(wfi_matmul_least_plain_time(point),
                wfi_matmul_start_time(point) +
                    fmax(time, wfi_matmul_profile_of(point->caps)->register_memory *
                                   wfi_matmul_memory_time(point)));
}

/* blocked reads both factors of every product from shared memory anew. */
static void blocked_traffic(const wfi_point *point, wfi_traffic *out)
{
    wfi_matmul_tiled_traffic(point, point->values[MATMUL_ID_TILE_M],
                             point->values[MATMUL_ID_TILE_N], 2, out);
}

static void block_access(const wfi_point *point, uint32_t row, wf_access *out)
{
    const uint32_t *v = point->values;
    count_banks(point, v[MATMUL_ID_TILE_N], v[MATMUL_ID_THREAD_M], v[MATMUL_ID_THREAD_N], row, out);
}

static void rows_access(const wfi_point *point, wf_access *out)
{
    block_access(point, point->values[MATMUL_ID_TILE_K], out);
}

static void transposed_access(const wfi_point *point, wf_access *out)
{
    block_access(point, 1, out);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const uint32_t *v = point->values;
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M], .n = v[MATMUL_ID_TILE_N]});
}

#define BLOCK_ROW                                                                                  \
    TILED_ROW, .parameter_count = WFI_COUNT(parameters), .parameters = parameters,                 \
               .constraint_count = WFI_COUNT(constraints), .constraints = constraints,             \
               .shared_bytes = shared_bytes, .group_size = wfi_matmul_tile_group, .build = build

const wfi_variant wfi_matmul_blocked = {
    .name = "blocked",
    .summary = "a block of outputs a work-item",
    .source = D_SERIES,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
    BLOCK_ROW,
    .constants = blocked_constants,
    .fit = wfi_matmul_never_fit,
    .traffic = blocked_traffic,
    .access = rows_access,
};

const wfi_variant wfi_matmul_kept = {
    .name = "kept",
    .summary = "as blocked, a row and a column read into registers first",
    .source = D_SERIES,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
    BLOCK_ROW,
    .constants = kept_constants,
    .fit = wfi_matmul_never_fit,
    .traffic = wfi_matmul_block_traffic,
    .access = rows_access,
};

const wfi_variant wfi_matmul_transposed = {
    .name = "transposed",
    .summary = "as kept, the left tile transposed and padded by as much as wanted",
    .source = D_SERIES,
    .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_ladder_f32},
    TILED_ROW,
    .parameter_count = WFI_COUNT(transposed_parameters),
    .parameters = transposed_parameters,
    .constraint_count = WFI_COUNT(transposed_constraints),
    .constraints = transposed_constraints,
    .shared_bytes = transposed_shared,
    .group_size = wfi_matmul_tile_group,
    .constants = wfi_matmul_constants,
    .fit = wfi_matmul_never_fit,
    .build = build,
    .access = transposed_access,
    .traffic = wfi_matmul_block_traffic,
};

const wfi_variant wfi_matmul_register = {
    .name = "register",
    .summary = "as kept, the left tile transposed and padded",
    .source = D_SERIES,
    .modules = WFI_MODULES_matmul_register,
    BLOCK_ROW,
    .constants = wfi_matmul_constants,
    .fit = register_fit,
    .traffic = wfi_matmul_block_traffic,
    .access = transposed_access,
};
