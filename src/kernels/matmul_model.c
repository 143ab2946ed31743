/* The model of the plain matmul variants: expected time of a point in multiply-adds. */
#include <math.h>
#include <string.h>

#include "kernels/matmul_rows.h"

#define VECTOR_GAIN 0.7    /* of time, against `register` (bench/NOTES.md) */
#define UNKNOWN_UNITS 32.0 /* where no extension tells: a middling GPU */

/* The block sizes that the model weighs, largest first. */
typedef struct block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
} block;

/* A device's compute units want several hundred work-items each (wanted) to hide latency. The
 * square root is a fit to an H100 (bench/NOTES.md): few work-items cost less than their number
 * says. */
double wfi_matmul_occupied(const wf_caps *caps, double work_items, double wanted)
{
    if (caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU)
        return 1;
    const double units = caps->compute_units ? caps->compute_units : UNKNOWN_UNITS;
    const double share = work_items / (units * wanted);
    return share < 1 ? sqrt(share) : 1;
}

/* Every multiply-add reads two values from memory: about 16 times what tiles of 32 need. */
double wfi_matmul_naive_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return wfi_matmul_flops(point->problem) * 16.0 /
           wfi_matmul_occupied(point->caps, (double)p->m * (double)p->n * (double)p->batch, 512);
}

/* Time units of a point: padded multiply-adds, the cost of the reads that feed them, and the share
 * of the device that is busy. */
static double block_time(const wfi_point *point, double wanted)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double tiles_m = ceil((double)p->m / v[WFI_TILE_M]);
    const double tiles_n = ceil((double)p->n / v[WFI_TILE_N]);
    const double tiles = tiles_m * tiles_n * (double)p->batch;
    const double padded = 2.0 * tiles * v[WFI_TILE_M] * v[WFI_TILE_N] * (double)p->k;
    const double shared_reads = 1.0 / v[WFI_THREAD_M] + 1.0 / v[WFI_THREAD_N];
    const double memory_reads = 8.0 / v[WFI_TILE_M] + 8.0 / v[WFI_TILE_N];
    const double work_items = tiles * wfi_matmul_tile_threads(v);
    return padded * (1.0 + shared_reads + memory_reads) /
           wfi_matmul_occupied(point->caps, work_items, wanted);
}

/* The largest power of two that divides value, up to `most`. */
static uint32_t power_within(uint32_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power * 2 <= most && value % (power * 2) == 0)
        power *= 2;
    return power;
}

static void set_block(wfi_point *point, const block *b)
{
    uint32_t *v = point->values;
    memcpy(v, b, sizeof *b);
    if (point->variant->parameter_count <= WFI_LANES_N)
        return;
    v[WFI_LANES_N] = power_within(v[WFI_TILE_N] / v[WFI_THREAD_N], 8);
    v[WFI_LANES_M] = power_within(v[WFI_TILE_M] / v[WFI_THREAD_M], 4);
    v[WFI_UNROLL] = power_within(v[WFI_TILE_K], 8);
}

/* The best legal block of a list by the model; < 0 when none is legal. */
static double best_block(wfi_point *point, const block *list, size_t count, double wanted)
{
    double best = -1;
    wfi_point trial = *point;
    for (size_t i = 0; i < count; i++) {
        set_block(&trial, &list[i]);
        if (!wfi_point_legal(&trial, NULL))
            continue;
        const double time = block_time(&trial, wanted);
        if (best < 0 || time < best) {
            best = time;
            memcpy(point->values, trial.values, sizeof trial.values);
        }
    }
    return best;
}

static const block register_blocks[] = {
    {128, 128, 16, 8, 8}, {64, 128, 16, 4, 8}, {64, 64, 16, 8, 8}, {64, 64, 16, 4, 4},
    {64, 32, 16, 4, 4},   {32, 32, 16, 4, 4},  {32, 32, 8, 4, 4},  {16, 16, 16, 2, 2},
    {8, 128, 16, 2, 4},   {128, 8, 16, 4, 2},
};

double wfi_matmul_register_fit(wfi_point *point)
{
    return best_block(point, register_blocks, sizeof register_blocks / sizeof *register_blocks,
                      512);
}

/* Bytes decide: FLOPS_A_BYTE multiply-adds fit into the time of one. */
#define FLOPS_A_BYTE 20.0

static double memory_time(const wfi_problem *problem)
{
    return wfi_matmul_least_bytes(problem) * FLOPS_A_BYTE;
}

static const block vector_blocks[] = {
    {128, 256, 8, 8, 16}, {128, 128, 16, 8, 8}, {128, 128, 8, 8, 8},
    {64, 128, 16, 4, 8},  {64, 64, 16, 4, 4},   {64, 64, 8, 8, 8},
    {32, 64, 16, 4, 4},   {32, 32, 16, 4, 4},   {16, 128, 16, 4, 8},
};

double wfi_matmul_never_fit(wfi_point *point)
{
    (void)point;
    return -1;
}

/* Each work-item has twice the loads in flight that `register` has: half as many hide latency. */
double wfi_matmul_vector_fit(wfi_point *point)
{
    const double time =
        best_block(point, vector_blocks, sizeof vector_blocks / sizeof *vector_blocks, 256);
    point->values[WFI_WIDE] = wfi_matmul_wide_bits(&point->problem->matmul);
    return time < 0 ? time : fmax(time * VECTOR_GAIN, 1.3 * memory_time(point->problem));
}

double wfi_matmul_matvec_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *v = point->values;
    const bool by_sum = wfi_matmul_by_sum(p), is_b = wfi_matmul_matrix_is_b(p);
    const uint32_t most = point->caps->max_invocations < 256 ? point->caps->max_invocations : 256;
    v[WFI_MATVEC_X] = by_sum ? 32 : 8;
    v[WFI_MATVEC_Y] = by_sum ? most / 32 : most / 8;
    v[WFI_MATVEC_WIDE] = wfi_matmul_wide_bits(p) & (is_b ? 2u : 1u);
    v[WFI_MATVEC_SPLITS] = 1;
    return wfi_point_legal(point, NULL) ? memory_time(point->problem) : -1;
}
