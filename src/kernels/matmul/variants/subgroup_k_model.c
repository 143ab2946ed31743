/* The model of `slices_k`. */
#include <math.h>
#include <string.h>

#include "core/caps.h"
#include "core/vendors.h"
#include "kernels/matmul/model.h"

/* What an H100 measured best where work-groups of one team would leave most of a compute unit
 * empty, or the last of few waves (bench/notes/matmul.md#subgroup-k-overhead); no other device has
 * been asked. */
typedef struct k_block {
    wfi_matmul_block sizes;
    uint32_t slices_k;
    bool per_subgroup;
    uint32_t double_buffer;
    bool tail; /* a short tail by itself is faster than one more round */
} k_block;

#define UNIT_SUBGROUPS 8 /* of 32 work-items with 255 registers each, in a compute unit */

/* Tiles of 64x64, a subgroup each for two slices_k, where one wave of work-groups is nearly full. */
static const k_block *one_wave_for(const wfi_matmul_problem *p, double units)
{
    static const k_block two = {{64, 64, 8, 8, 16}, 2, true, 2, false};
    const double waves = 2 * wfi_matmul_tile_count(p, 64, 64) / (units * UNIT_SUBGROUPS);
    return waves <= 1 && waves >= 0.94 ? &two : NULL;
}

static const k_block *k_block_for(const wfi_matmul_problem *p, double units)
{
    static const k_block fewest = {{16, 32, 16, 4, 4}, 4, true, 0, true},
                         fewest_long = {{16, 32, 16, 4, 4}, 8, true, 0, false},
                         few = {{32, 64, 16, 8, 8}, 4, true, 0, false},
                         more = {{32, 64, 8, 8, 8}, 4, true, 1, false},
                         some = {{64, 128, 16, 8, 8}, 2, false, 0, true},
                         deep = {{64, 64, 16, 8, 8}, 4, false, 0, false};
    const uint32_t wide = wfi_matmul_vec4_bits(p);
    if (p->k < 64 || p->m < 16 || p->n < 32)
        return NULL;
    if ((double)p->k >= 16 * fmax((double)p->m, (double)p->n))
        return p->m >= 64 && p->n >= 64 ? &deep : NULL;
    if (wfi_matmul_tile_count(p, 16, 32) * 4 <= 9 * units)
        return p->k >= 2048 ? &fewest_long : &fewest;
    if (wfi_matmul_tile_count(p, 32, 64) <= units)
        return &few;
    if (wfi_matmul_tile_count(p, 32, 64) <= 3 * units && wide == 7)
        return &more;
    const double large = wfi_matmul_tile_count(p, 64, 128);
    if (large <= units && large * 4 >= units * 3 && (wide & 6) == 6)
        return &some;
    return wide == 7 ? one_wave_for(p, units) : NULL;
}

/* Parts of the sum that give every compute unit a work-group, each as long as in 64x64x65536. */
#define LEAST_SLICE_STEPS 512.0

static uint32_t subgroup_k_split_k(const wfi_matmul_problem *p, const k_block *b, double units)
{
    const double tiles = wfi_matmul_tile_count(p, b->sizes.tile_m, b->sizes.tile_n);
    uint32_t splits = 1;
    while (splits * 2 * tiles <= units && (double)p->k / (splits * 2) >= LEAST_SLICE_STEPS)
        splits *= 2;
    return splits;
}

/* Tiles along a large matrix of which 16 rows or columns make C, the whole device in splits of them: for 9 to 16 rows,
 * and for 16 columns. */
static const k_block *thin_block_for(const wfi_matmul_problem *p)
{
    static const k_block rows = {{16, 64, 16, 4, 8}, 4, true, 0, false},
                         columns = {{64, 16, 16, 8, 4}, 4, true, 0, false};
    const double large = fmax((double)p->m, (double)p->n);
    if (wfi_matmul_vec4_bits(p) != 7 || p->transpose_a || p->transpose_b || p->batch != 1 ||
        p->k < 2048 || large < 2048)
        return NULL;
    if (p->m >= 9 && p->m <= 16)
        return &rows;
    return p->n == 16 && p->k >= 4096 && large >= 4096 ? &columns : NULL;
}

#define MOST_THIN_SPLIT_K 8
#define LEAST_THIN_STEPS 256 /* of the sum */

static void set_thin(wfi_point *point, double units)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *v = point->values, splits = 1;
    const double tiles = wfi_matmul_tile_count(p, v[MATMUL_ID_TILE_M], v[MATMUL_ID_TILE_N]);
    while (splits < MOST_THIN_SPLIT_K && splits * 2 * tiles <= 4 * units &&
           p->k / (splits * 2) >= LEAST_THIN_STEPS)
        splits *= 2;
    v[MATMUL_ID_SPLIT_K] = splits;
    v[MATMUL_ID_REVERSE] = wfi_matmul_least_bytes(point->problem) >= WFI_LEAST_REVERSED;
}

#define SUBGROUP_K_GAIN 0.6 /* of time, against `register`, where these blocks were measured */

double wfi_matmul_subgroup_k_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wf_caps *caps = point->caps;
    const double units = wfi_matmul_units(caps);
    uint32_t *v = point->values;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p);
    v[MATMUL_ID_PAIRS] = caps->vendor_id == WFI_NVIDIA;
    if (caps->vendor_id != WFI_NVIDIA || wfi_is_cpu(caps) || point->problem->type != WF_TYPE_F32)
        return -1;
    const k_block *thin = thin_block_for(p), *chosen = thin ? thin : k_block_for(p, units);
    if (!chosen)
        return -1;
    wfi_matmul_set_block(point, &chosen->sizes);
    v[MATMUL_ID_SLICES_K] = chosen->slices_k;
    v[MATMUL_ID_PER_SUBGROUP] = chosen->per_subgroup;
    v[MATMUL_ID_DOUBLE_BUFFER] = chosen->double_buffer;
    v[MATMUL_ID_LANES_M] = chosen->sizes.thread_n > 8 || chosen->sizes.tile_n == 16 ? 8 : 4;
    v[MATMUL_ID_LANES_N] = 32 / v[MATMUL_ID_LANES_M];
    if (!chosen->per_subgroup && chosen->sizes.tile_m == chosen->sizes.tile_n) {
        v[MATMUL_ID_SPLIT_K] = subgroup_k_split_k(p, chosen, units);
        if (v[MATMUL_ID_SPLIT_K] * 2 * wfi_matmul_tile_count(p, 64, 64) <= units)
            return -1;
    }
    const uint64_t round = (uint64_t)chosen->slices_k * chosen->sizes.tile_k, tail = p->k % round;
    v[MATMUL_ID_TAIL] = chosen->tail && tail > 0 && tail * 4 <= round;
    if (thin)
        set_thin(point, units);
    if (!wfi_point_legal(point, NULL))
        return -1;
    if (thin) /* less than panel expects */
        return 1.1 * wfi_matmul_memory_time(point);
    const double groups = chosen->slices_k * (double)v[MATMUL_ID_SPLIT_K];
    return fmax(wfi_matmul_block_time(point, 256.0 / groups) * SUBGROUP_K_GAIN,
                1.25 * wfi_matmul_memory_time(point));
}
