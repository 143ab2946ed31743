#include "kernels/matmul/tile.h"

#include "core/arithmetic.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "profiles/matmul.h"

static bool row_of_fours(uint64_t extent, uint64_t ld, uint64_t stride)
{
    return extent % 4 == 0 && ld % 4 == 0 && stride % 4 == 0;
}

uint32_t wfi_matmul_vec4_bits(const wfi_matmul_problem *p)
{
    const wfi_matmul_sizes s = wfi_matmul_units_of(p);
    const bool a = row_of_fours(p->transpose_a ? s.m : s.k, p->lda, p->stride_a);
    const bool b = row_of_fours(p->transpose_b ? s.k : s.n, p->ldb, p->stride_b);
    const bool c = row_of_fours(s.n, p->ldc, p->stride_c);
    return (a ? 1u : 0u) | (b ? 2u : 0u) | (c ? 4u : 0u);
}

bool wfi_matmul_vec4_allowed(const wfi_point *point, uint32_t bits)
{
    return (bits & ~wfi_matmul_vec4_bits(&point->problem->matmul)) == 0;
}

/* ---------------------------------------------------------------------------------- constraints */

bool wfi_matmul_sizes_positive(const wfi_point *point)
{
    static const uint32_t sizes[] = {MATMUL_ID_TILE_M, MATMUL_ID_TILE_N, MATMUL_ID_TILE_K,
                                     MATMUL_ID_THREAD_M, MATMUL_ID_THREAD_N};
    for (size_t i = 0; i < WFI_COUNT(sizes); i++)
        if (point->values[sizes[i]] == 0 || point->values[sizes[i]] > 1024)
            return false;
    return true;
}

bool wfi_matmul_thread_m_divides(const wfi_point *point)
{
    return point->values[MATMUL_ID_TILE_M] % point->values[MATMUL_ID_THREAD_M] == 0;
}

bool wfi_matmul_thread_n_divides(const wfi_point *point)
{
    return point->values[MATMUL_ID_TILE_N] % point->values[MATMUL_ID_THREAD_N] == 0;
}

bool wfi_matmul_few_sums(const wfi_point *point)
{
    return point->values[MATMUL_ID_THREAD_M] * point->values[MATMUL_ID_THREAD_N] <= 256;
}

bool wfi_matmul_multiples_of_four(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_TILE_K] % 4 == 0 && v[MATMUL_ID_THREAD_M] % 4 == 0 &&
           v[MATMUL_ID_THREAD_N] % 4 == 0;
}

bool wfi_matmul_lanes_divide(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_LANES_M] && v[MATMUL_ID_LANES_N] &&
           v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M] % v[MATMUL_ID_LANES_M] == 0 &&
           v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N] % v[MATMUL_ID_LANES_N] == 0;
}

/* Beyond this, compilers take minutes. */
bool wfi_matmul_few_moved(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t elements =
        (uint64_t)v[MATMUL_ID_TILE_K] * ((uint64_t)v[MATMUL_ID_TILE_M] + v[MATMUL_ID_TILE_N]);
    return elements <= UINT64_C(64) * wfi_matmul_tile_threads(v);
}

/* ------------------------------------------------------------------------------------- geometry */

uint32_t wfi_matmul_tile_threads(const uint32_t *values)
{
    return values[MATMUL_ID_TILE_M] / values[MATMUL_ID_THREAD_M] *
           (values[MATMUL_ID_TILE_N] / values[MATMUL_ID_THREAD_N]);
}

void wfi_matmul_tile_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_matmul_tile_threads(point->values);
    size[1] = size[2] = 1;
}

void wfi_matmul_local_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MATMUL_ID_LOCAL_X];
    size[1] = point->values[MATMUL_ID_LOCAL_Y];
    size[2] = 1;
}

wfi_matmul_tile wfi_matmul_tile_of(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (wfi_matmul_tile){.m = v[MATMUL_ID_TILE_M],
                             .n = v[MATMUL_ID_TILE_N],
                             .k = v[MATMUL_ID_TILE_K],
                             .split_k = v[MATMUL_ID_SPLIT_K],
                             .stream_k = v[MATMUL_ID_STREAM_K],
                             .swizzle = v[MATMUL_ID_SWIZZLE]};
}

uint32_t wfi_matmul_registers(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const wf_type type = point->problem->type;
    const uint32_t words = type == WF_TYPE_F64 ? 2 : 1, place = type == WF_TYPE_I8 ? 8 : 1;
    const uint32_t threads = wfi_matmul_tile_threads(v);
    const uint32_t a = (v[MATMUL_ID_TILE_K] * v[MATMUL_ID_TILE_M] + threads - 1) / threads,
                   b = (v[MATMUL_ID_TILE_K] * v[MATMUL_ID_TILE_N] + threads - 1) / threads;
    const uint32_t vec4 =
        wfi_matmul_vec4_bits(&point->problem->matmul) | wfi_point_value(point, MATMUL_ID_PACK, 0);
    return words * (v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] + a + b +
                    (v[MATMUL_ID_THREAD_M] + v[MATMUL_ID_THREAD_N]) *
                        (v[MATMUL_ID_DOUBLE_BUFFER] ? 2 : 1)) +
           place * ((vec4 & 1 ? 0 : a) + (vec4 & 2 ? 0 : b));
}

bool wfi_matmul_gathers(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return wfi_point_value(point, MATMUL_ID_GATHERED, 0) && !(v[MATMUL_ID_VEC4] & 4) &&
           v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M] <= 2 * v[MATMUL_ID_TILE_K];
}

uint32_t wfi_matmul_along_the_sum(const wfi_matmul_problem *p)
{
    return (p->transpose_a ? 0 : WFI_PADDED_A) | (p->transpose_b ? WFI_PADDED_B : 0);
}

uint32_t wfi_matmul_vec4_moves(const wfi_point *point)
{
    return wfi_point_value(point, MATMUL_ID_VEC4, 0) | wfi_point_value(point, MATMUL_ID_PACK, 0);
}

#define PADDING_PARTS 8   /* steps of a tile */
#define LEAST_SWIZZLED 16 /* rows or columns of a tile, or a multiple of them */
#define LEAST_OUTPUTS 32  /* of a work-item, where a tile has less than */
#define DEEP_TILE 32      /* steps */

/* In tiles of eight steps padding by four elements parts the banks of all rows that are stored at
 * once, and reads need no exclusive or. In deeper ones it parts half of them. Slices of k have
 * tiles of their own to find, so that exclusive ors take as long as the conflicts. Blocks of 4 x 4
 * in tiles of sixteen steps gain 2 % where tiles are 32 x 64 or larger and lose as much in 32 x 32,
 * and choices by them gain nothing (bench/notes/matmul.md#short-row-rate). */
uint32_t wfi_matmul_swizzled(const wfi_point *point)
{
    const uint32_t *v = point->values;
    if (wfi_matmul_sum_size(point->problem->type) != 4 || v[MATMUL_ID_TILE_K] <= PADDING_PARTS ||
        wfi_point_value(point, MATMUL_ID_SLICES_K, 0) ||
        (v[MATMUL_ID_THREAD_M] * v[MATMUL_ID_THREAD_N] < LEAST_OUTPUTS &&
         v[MATMUL_ID_TILE_K] < DEEP_TILE))
        return 0;
    const uint32_t whole = (v[MATMUL_ID_TILE_M] % LEAST_SWIZZLED ? 0 : WFI_PADDED_A) |
                           (v[MATMUL_ID_TILE_N] % LEAST_SWIZZLED ? 0 : WFI_PADDED_B);
    return wfi_matmul_along_the_sum(&point->problem->matmul) & wfi_matmul_vec4_moves(point) & whole;
}

uint64_t wfi_matmul_tiles_shared(const wfi_point *point, uint32_t padding)
{
    const uint32_t *v = point->values,
                   padded = padding & wfi_matmul_along_the_sum(&point->problem->matmul);
    const uint64_t pads = (padded & WFI_PADDED_A ? 1 : 0) + (padded & WFI_PADDED_B ? 1 : 0);
    return UINT64_C(2) * v[MATMUL_ID_TILE_K] *
           (v[MATMUL_ID_TILE_M] / 4 + v[MATMUL_ID_TILE_N] / 4 + pads) * 4 *
           wfi_matmul_sum_size(point->problem->type);
}

uint32_t wfi_matmul_stores_across(const wfi_point *point)
{
    return wfi_matmul_along_the_sum(&point->problem->matmul) & ~wfi_matmul_vec4_moves(point);
}

#define LEAST_PADDED 2 /* work-groups of a compute unit that padding leaves, at least */

/* Work-groups of a compute unit whose registers suffice, and whose tiles fit. */
static uint64_t held_with(const wfi_point *point, uint32_t padding)
{
    const uint32_t items = wfi_matmul_tile_threads(point->values) *
                           (wfi_matmul_registers(point) + WFI_OTHER_REGISTERS);
    return wfi_least(wfi_matmul_profile_of(point->caps)->unit_registers / items,
                     point->caps->max_shared_bytes / wfi_matmul_tiles_shared(point, padding));
}

/* A's tile is not padded where that would cost a compute unit a work-group, but where conflicts
 * cost more; B's is not where one work-group would be left of several
 * (bench/notes/matmul.md#conflicts, #transposed-b). */
uint32_t wfi_matmul_padding(const wfi_point *point)
{
    const uint32_t all =
        wfi_matmul_along_the_sum(&point->problem->matmul) & ~wfi_matmul_swizzled(point);
    uint32_t padding = all & WFI_PADDED_B;
    if (wfi_matmul_profile_of(point->caps)->unit_registers == 0)
        return all;
    if (held_with(point, padding) < wfi_least(LEAST_PADDED, held_with(point, 0)))
        padding = 0;
    const uint64_t with_a = held_with(point, padding | WFI_PADDED_A);
    const bool across = wfi_matmul_stores_across(point) & WFI_PADDED_A;
    if (with_a == held_with(point, padding) || (across && with_a >= LEAST_PADDED))
        padding |= all & WFI_PADDED_A;
    return padding;
}
