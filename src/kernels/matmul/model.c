/* The model of the plain matmul variants: expected time of a point in multiply-adds. */
#include <math.h>
#include <string.h>

#include "core/architectures.h"
#include "core/vendors.h"
#include "kernels/matmul/model.h"

#define VECTOR_GAIN 0.7 /* of time, against `register` (bench/notes/matmul.md#first-variants) */

/* The block sizes that the model weighs, largest first. */
typedef wfi_matmul_block block;

#define UNKNOWN_UNITS 32.0 /* where no extension tells: a middling GPU */

double wfi_matmul_units(const wf_caps *caps)
{
    return caps->compute_units ? caps->compute_units : UNKNOWN_UNITS;
}

/* A device's compute units want several hundred work-items each (wanted) to hide latency. The
 * square root is a fit to an H100 (bench/notes/matmul.md#first-variants): few work-items cost less
 * than their number says. */
static double occupied(const wf_caps *caps, double work_items, double wanted)
{
    if (wfi_is_cpu(caps))
        return 1;
    const double units = wfi_matmul_units(caps);
    const double room = wfi_unit_of(caps).items;
    const double share = work_items / (units * (room > 0 ? fmin(wanted, room) : wanted));
    return share < 1 ? sqrt(share) : 1;
}

/* Where bytes decide: operations in the time of one, on an H100 (62.3 TFLOPS, 3.0 TB/s) and on CPU
 * devices. */
#define FLOPS_A_BYTE 20.0
#define CPU_FLOPS_A_BYTE 1.0

double wfi_matmul_memory_time(const wfi_point *point)
{
    const bool cpu = wfi_is_cpu(point->caps);
    return wfi_matmul_least_bytes(point->problem) * (cpu ? CPU_FLOPS_A_BYTE : FLOPS_A_BYTE);
}

/* Work-items of whole work-groups over those that have an output: along a vector most have none. */
static double idle_factor(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t size[3];
    wfi_matmul_naive_group(point, size);
    return ceil((double)p->n / size[0]) * size[0] * ceil((double)p->m / size[1]) * size[1] /
           fmax((double)p->m * (double)p->n, 1);
}

/* Every multiply-add reads two values from memory: about 16 times what tiles of 32 need. Idle
 * work-items count where the number of compute units is a guess, which most integrated GPUs leave us
 * with; the fit to an H100 had none of it. */
double wfi_matmul_naive_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    /* SwiftShader gains nothing by tiles, and less by `matvec`: bench/notes/tune.md#plans-differ */
    if (point->caps->driver_id == VK_DRIVER_ID_GOOGLE_SWIFTSHADER) {
        const bool narrow = p->n <= WFI_MOST_VECTORS;
        point->values[MATMUL_ID_LOCAL_X] = narrow ? 8 : 64;
        point->values[MATMUL_ID_LOCAL_Y] = narrow ? 16 : 2;
        return wfi_matmul_flops(point->problem) * 0.5;
    }
    const bool guessed = !point->caps->compute_units && !wfi_is_cpu(point->caps);
    const double time = wfi_matmul_flops(point->problem) * 16.0 *
                        (guessed ? idle_factor(point) : 1) /
                        occupied(point->caps, (double)p->m * (double)p->n * (double)p->batch, 512);
    return wfi_is_cpu(point->caps) ? time : fmax(time, 1.5 * wfi_matmul_memory_time(point));
}

double wfi_matmul_block_time(const wfi_point *point, double wanted)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double tiles_m = ceil((double)p->m / v[MATMUL_ID_TILE_M]);
    const double tiles_n = ceil((double)p->n / v[MATMUL_ID_TILE_N]);
    const double tiles = tiles_m * tiles_n * (double)p->batch;
    const double padded = 2.0 * tiles * v[MATMUL_ID_TILE_M] * v[MATMUL_ID_TILE_N] * (double)p->k;
    const double shared_reads = 1.0 / v[MATMUL_ID_THREAD_M] + 1.0 / v[MATMUL_ID_THREAD_N];
    const double memory_reads = 8.0 / v[MATMUL_ID_TILE_M] + 8.0 / v[MATMUL_ID_TILE_N];
    const double sharers =
        wfi_point_value(point, MATMUL_ID_STREAM_K, 0) * wfi_matmul_units(point->caps);
    const double work_items = fmax(tiles, sharers) * wfi_matmul_tile_threads(v);
    return padded * (1.0 + shared_reads + memory_reads) / occupied(point->caps, work_items, wanted);
}

/* Whether a work-item's sums and the operands of a step find place in its registers, where their number
 * is published: memory in their place is slower than any smaller tile. */
static bool fits_registers(const wfi_point *point)
{
    const uint32_t m = point->values[MATMUL_ID_THREAD_M], n = point->values[MATMUL_ID_THREAD_N];
    const uint32_t words = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    const uint32_t most = wfi_unit_of(point->caps).lane_registers;
    return most == 0 || (m * n + m + n) * words + WFI_OTHER_REGISTERS <= most;
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
    wfi_matmul_set_block(point, b);
    if (!wfi_variant_has(point->variant, MATMUL_ID_LANES_N))
        return;
    v[MATMUL_ID_LANES_N] = power_within(v[MATMUL_ID_TILE_N] / v[MATMUL_ID_THREAD_N], 8);
    v[MATMUL_ID_LANES_M] = power_within(v[MATMUL_ID_TILE_M] / v[MATMUL_ID_THREAD_M], 4);
    v[MATMUL_ID_UNROLL] = power_within(v[MATMUL_ID_TILE_K], 8);
}

/* By the statistics of RADV's compiler, which spills from 240 on; the points for NVIDIA were measured, and
 * stay. */
#define MOST_REGISTERS 236

/* Whether the block keeps its registers, if need be without loading them ahead. */
static bool holds_registers(wfi_point *point)
{
    if (point->caps->vendor_id != WFI_AMD ||
        !wfi_variant_has(point->variant, MATMUL_ID_DOUBLE_BUFFER))
        return true;
    if (wfi_matmul_vector_registers(point) > MOST_REGISTERS)
        point->values[MATMUL_ID_DOUBLE_BUFFER] = 0;
    return wfi_matmul_vector_registers(point) <= MOST_REGISTERS;
}

/* The best legal block of a list by the model that the registers hold; < 0 when there is none. */
static double best_block(wfi_point *point, const block *list, size_t count, double wanted)
{
    double best = -1;
    const wfi_point given = *point;
    for (size_t i = 0; i < count; i++) {
        wfi_point trial = given;
        set_block(&trial, &list[i]);
        if (!fits_registers(&trial) || !wfi_point_legal(&trial, NULL) || !holds_registers(&trial))
            continue;
        const double time = wfi_matmul_block_time(&trial, wanted);
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
    const double time =
        best_block(point, register_blocks, sizeof register_blocks / sizeof *register_blocks, 512);
    return time < 0 || wfi_is_cpu(point->caps) ? time
                                               : fmax(time, 1.4 * wfi_matmul_memory_time(point));
}

static const block vector_blocks[] = {
    {128, 256, 8, 8, 16}, {128, 128, 16, 8, 8}, {128, 128, 8, 8, 8},
    {64, 128, 16, 4, 8},  {64, 64, 16, 4, 4},   {64, 64, 8, 8, 8},
    {32, 64, 16, 4, 4},   {32, 32, 16, 4, 4},   {16, 128, 16, 4, 8},
};

/* What lavapipe measured best (bench/notes/tune.md#plans-differ), SwiftShader by `vector` too: sums
 * lie in memory there, and large blocks read operands least often. */
static const block cpu_blocks[] = {
    {128, 256, 8, 16, 16}, {256, 128, 8, 16, 16}, {128, 128, 8, 16, 16}, {64, 128, 8, 16, 16},
    {64, 64, 8, 16, 16},   {128, 256, 8, 8, 16},  {64, 128, 8, 16, 8},   {64, 128, 8, 8, 16},
    {128, 128, 8, 8, 8},   {64, 64, 8, 8, 8},     {128, 32, 8, 16, 8},   {32, 128, 8, 8, 16},
    {32, 32, 8, 8, 8},     {128, 16, 8, 8, 8},    {16, 128, 16, 4, 8},
};

/* Words of a block's sums. The larger take lavapipe a second or two longer to compile, which products of fewer
 * operations do not earn back. */
#define MOST_SUMS_CPU 256
#define MOST_SUMS_SMALL 128
#define SMALL_FLOPS 1e7

static double best_cpu_block(wfi_point *point)
{
    const uint32_t words = point->problem->type == WF_TYPE_F64 ? 2 : 1;
    const uint32_t most =
        wfi_matmul_flops(point->problem) < SMALL_FLOPS ? MOST_SUMS_SMALL : MOST_SUMS_CPU;
    block list[sizeof cpu_blocks / sizeof *cpu_blocks];
    size_t count = 0;
    for (size_t i = 0; i < sizeof cpu_blocks / sizeof *cpu_blocks; i++)
        if (cpu_blocks[i].thread_m * cpu_blocks[i].thread_n * words <= most)
            list[count++] = cpu_blocks[i];
    return best_block(point, list, count, 256);
}

/* Parts of the sum that give two work-groups a compute unit, each at least LEAST_STEPS long; where every
 * second unit has a tile, adding the parts up costs more than they save. */
#define LEAST_STEPS 128.0

static uint32_t split_k_for(const wfi_point *point, double tiles, double units)
{
    const double k = (double)point->problem->matmul.k;
    uint32_t splits = 1;
    if (tiles * 2 > units)
        return 1;
    while (splits * 2 * tiles <= 2 * units && k / (splits * 2) >= LEAST_STEPS && splits < 512)
        splits *= 2;
    return splits;
}

#define STRIPED 6 /* tiles of 64 x 128 for a compute unit, where they are shared */

typedef struct gpu_block {
    block sizes;
    bool double_buffer;
} gpu_block;

/* What an H100 measured best (bench/notes/matmul.md#loops) by how many tiles of 64 x 128 there are
 * for a compute unit. Registers loaded ahead hide latency where few work-groups do. */
static const gpu_block *gpu_block_for(const wfi_point *point, double tiles, double units)
{
    static const gpu_block thin = {{64, 16, 32, 4, 4}, false}, many = {{64, 128, 8, 8, 8}, false},
                           large = {{128, 128, 8, 8, 16}, true},
                           narrow = {{128, 128, 8, 8, 16}, false},
                           shallow = {{128, 128, 8, 8, 8}, false},
                           some = {{64, 128, 16, 8, 8}, true},
                           some_narrow = {{32, 128, 16, 4, 8}, true},
                           deep = {{64, 64, 16, 4, 8}, true}, few = {{32, 64, 32, 4, 4}, true},
                           few_f64 = {{32, 64, 16, 4, 4}, true},
                           fewest_f64 = {{32, 32, 16, 4, 4}, true};
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const bool wide = point->values[MATMUL_ID_PACK] || (wfi_matmul_vec4_bits(p) & 3) == 3;
    /* Blocks of 8 x 16 were measured for sums in f32; i8 spills them on vega10, f64 anywhere. */
    const bool small = problem->type == WF_TYPE_F64 || problem->type == WF_TYPE_I8;
    if (p->n <= 16)
        return &thin;
    if (tiles >= 3 * units && !wide)
        return small ? &shallow : &narrow;
    if (tiles >= 12 * units && problem->type == WF_TYPE_F64 && p->k >= 1024)
        return &shallow;
    if (tiles >= WFI_MANY_TILES * units || (small && tiles >= 3 * units) ||
        (tiles >= STRIPED * units && p->k >= WFI_LONG_SUM &&
         wfi_matmul_stream_k_for(point, 64, 128)))
        return &many;
    if (tiles >= 3 * units)
        return p->k >= WFI_LONG_SUM ? &large : &many;
    if (tiles * 2 >= 3 * units)
        return wfi_matmul_stream_k_for(point, 128, 128) ? &large : &many;
    if (tiles * 2 >= units)
        return wide ? &some : &some_narrow;
    if ((double)p->k >= 16 * fmax((double)p->m, (double)p->n))
        return &deep;
    /* The tile of f32 takes more shared memory than there is for f64. */
    if (problem->type == WF_TYPE_F64)
        return tiles * 8 < units ? &fewest_f64 : &few_f64;
    return &few;
}

#define LEAST_REUSE 1000 /* times that an element is used, at least: bench/notes/matmul.md#loops */

/* Whether rows that begin at no multiple of 16 bytes are worth copying. */
static bool copies_pay(const wfi_point *point, double tiles, double units)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return (wfi_matmul_vec4_bits(p) & 3) != 3 && point->problem->type == WF_TYPE_F32 &&
           tiles * 2 >= 3 * units && p->m >= LEAST_REUSE && p->n >= LEAST_REUSE &&
           wfi_matmul_can_pack(point, 3);
}

static void set_gpu_block(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double units = wfi_matmul_units(point->caps);
    const double tiles = wfi_matmul_tile_count(p, 64, 128);
    point->values[MATMUL_ID_PACK] = copies_pay(point, tiles, units) ? 3 : 0;
    const gpu_block *chosen = gpu_block_for(point, tiles, units);
    set_block(point, &chosen->sizes);
    point->values[MATMUL_ID_LANES_M] = power_within(chosen->sizes.tile_m / chosen->sizes.thread_m,
                                                    32 / point->values[MATMUL_ID_LANES_N]);
    point->values[MATMUL_ID_DOUBLE_BUFFER] = chosen->double_buffer;
    point->values[MATMUL_ID_SPLIT_K] = split_k_for(
        point, wfi_matmul_tile_count(p, chosen->sizes.tile_m, chosen->sizes.tile_n), units);
    point->values[MATMUL_ID_STREAM_K] =
        tiles * 2 >= 3 * units
            ? wfi_matmul_stream_k_for(point, chosen->sizes.tile_m, chosen->sizes.tile_n)
            : 0;
    const bool swizzles =
        point->values[MATMUL_ID_STREAM_K] && chosen->sizes.tile_m == 64 && tiles >= STRIPED * units;
    point->values[MATMUL_ID_SWIZZLE] = tiles >= WFI_MANY_TILES * units || swizzles ? 8 : 1;
}

/* Which operands an instruction keeps from the one before is NVIDIA's; with deeper tiles the order
 * gained nothing (bench/notes/matmul.md#machine-code). */
static uint32_t serpentine_for(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    if (point->caps->vendor_id != WFI_NVIDIA || point->problem->type != WF_TYPE_F32 ||
        point->values[MATMUL_ID_TILE_K] > 8)
        return 0;
    if (point->values[MATMUL_ID_THREAD_M] * point->values[MATMUL_ID_THREAD_N] == 64 &&
        !point->values[MATMUL_ID_DOUBLE_BUFFER])
        return 3;
    const bool many = wfi_matmul_tile_count(p, 64, 128) >= 3 * wfi_matmul_units(point->caps);
    return (many || point->values[MATMUL_ID_STREAM_K]) && p->k >= WFI_LONG_SUM ? 2 : 1;
}

double wfi_matmul_vector_fit(wfi_point *point)
{
    double time = -1;
    wfi_point trial = *point;
    trial.values[MATMUL_ID_VEC4] = 0;
    if (!wfi_is_cpu(point->caps)) {
        set_gpu_block(&trial);
        if (fits_registers(&trial) && wfi_point_legal(&trial, NULL) && holds_registers(&trial)) {
            time = wfi_matmul_block_time(&trial, 256);
            memcpy(point->values, trial.values, sizeof trial.values);
        }
    }
    /* A CPU's registers are memory, and nothing is under way while it computes: `ahead` more than
     * doubles lavapipe's time (bench/notes/tune.md#another-host). */
    if (wfi_is_cpu(point->caps)) {
        point->values[MATMUL_ID_DOUBLE_BUFFER] = 0;
        time = best_cpu_block(point);
    }
    /* Each work-item has twice the loads in flight that `register` has: half as many hide latency. */
    if (time < 0)
        time = best_block(point, vector_blocks, sizeof vector_blocks / sizeof *vector_blocks, 256);
    /* How loads of neighbours meet in shared memory is NVIDIA's. */
    point->values[MATMUL_ID_PAIRS] = point->caps->vendor_id == WFI_NVIDIA;
    point->values[MATMUL_ID_SERPENTINE] = serpentine_for(point);
    point->values[MATMUL_ID_VEC4] =
        wfi_matmul_vec4_bits(&point->problem->matmul) | point->values[MATMUL_ID_PACK];
    return time < 0 ? time : fmax(time * VECTOR_GAIN, 1.3 * wfi_matmul_memory_time(point));
}

/* Expected, not measured: a quarter of the instructions of `register`, and words to put together. */
#define DOT_GAIN 0.4

static const block dot_blocks[] = {
    {128, 128, 32, 8, 8}, {64, 64, 32, 4, 4}, {32, 32, 32, 4, 4}, {32, 32, 16, 4, 4}};

double wfi_matmul_dot_fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    point->values[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(&point->problem->matmul) & 3;
    const double time =
        best_block(point, dot_blocks, sizeof dot_blocks / sizeof *dot_blocks, 512) * DOT_GAIN;
    /* Without instructions for it a driver adds the bytes one by one; beside matrix units it has not been
     * timed. */
    if (time < 0 || !caps->integer_dot_accelerated || wfi_matmul_shape(caps, WF_TYPE_I8, 0, 0, 0))
        return -1;
    return fmax(time, 1.3 * wfi_matmul_memory_time(point));
}
