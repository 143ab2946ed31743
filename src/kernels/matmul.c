/* Dense matrix product: rows of the family, and its plans. */
#include <math.h>
#include <string.h>

#include "core/params.h"
#include "kernels/families.h"
#include "kernels/grid.h"
#include "kernels/plan.h"
#include "matmul/matmul_ids.h"
#include "wfi_shaders.h"

/* As in matmul_problem.glsl. */
typedef struct matmul_push {
    uint32_t m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t base_a, base_b, base_c;
    uint32_t accumulate;
    uint32_t tiles_n, tiles;
} matmul_push;

/* Sums are scalar f32 in the same order of k in every variant, so results agree closely. */
static double flops(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    return 2.0 * (double)p->m * (double)p->n * (double)p->k;
}

static double least_bytes(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    return (double)wf_type_size(problem->type) *
           ((double)p->m * (double)p->k + (double)p->k * (double)p->n +
            (double)p->m * (double)p->n);
}

/* ------------------------------------------------------------------------------------- building */

/* How one output tile of a variant is sized. */
typedef struct tile_size {
    uint32_t m, n;
} tile_size;

/* A panel: rows [m0, m0 + m) of A and C, and [k0, k0 + k) of the summation. */
typedef struct panel {
    uint64_t m0, m, k0, k;
} panel;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The largest panels whose parts of A, B and C each fit one storage-buffer binding. */
static wf_result panel_size(const wf_device *device, const wfi_matmul_problem *p, panel *out)
{
    const uint64_t elements =
        (device->caps.max_storage_range - device->caps.storage_alignment) / sizeof(float);
    const uint64_t longest = p->n > p->k ? p->n : p->k;
    if (longest > elements || p->n > UINT32_MAX / 2 || p->k > UINT32_MAX / 2)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "a matrix row of %llu elements is over this device's binding of %llu bytes",
                        (unsigned long long)longest,
                        (unsigned long long)device->caps.max_storage_range);
    out->m = least(p->m, elements / longest);
    out->k = least(p->k, elements / p->n);
    /* Sums that start at a multiple of 4 keep vectors of four whole. */
    if (out->k < p->k && out->k > 4)
        out->k -= out->k % 4;
    return WF_SUCCESS;
}

/* A slot over [first, first + elements) of a binding, its start rounded down to the alignment; the
 * rest goes to *base. */
static wfi_slot slot_at(const wf_caps *caps, uint32_t binding, uint64_t first, uint64_t elements,
                        uint32_t *base)
{
    const uint64_t bytes = first * sizeof(float);
    const uint64_t start = bytes - bytes % caps->storage_alignment;
    *base = (uint32_t)((bytes - start) / sizeof(float));
    return (wfi_slot){WFI_SLOT_BINDING, binding, start, bytes - start + elements * sizeof(float)};
}

static wf_result add_panel(wf_plan *plan, const wfi_point *point, uint32_t pipeline, tile_size tile,
                           const panel *part, bool barrier)
{
    const wf_caps *caps = point->caps;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t tiles_m = (part->m + tile.m - 1) / tile.m,
                   tiles_n = (p->n + tile.n - 1) / tile.n;
    matmul_push push = {
        .m = (uint32_t)part->m,
        .n = (uint32_t)p->n,
        .k = (uint32_t)part->k,
        .lda = (uint32_t)p->k,
        .ldb = (uint32_t)p->n,
        .ldc = (uint32_t)p->n,
        .accumulate = part->k0 > 0,
        .tiles_n = (uint32_t)tiles_n,
        .tiles = (uint32_t)(tiles_m * tiles_n),
    };
    wfi_step step = {
        .pipeline = pipeline, .slot_count = 3, .push_bytes = sizeof push, .barrier = barrier};
    wf_result result = wfi_grid(plan, tiles_m * tiles_n, step.groups);
    step.slots[0] = slot_at(caps, WF_MATMUL_A, part->m0 * p->k + part->k0,
                            (part->m - 1) * p->k + part->k, &push.base_a);
    step.slots[1] = slot_at(caps, WF_MATMUL_B, part->k0 * p->n, part->k * p->n, &push.base_b);
    step.slots[2] = slot_at(caps, WF_MATMUL_C, part->m0 * p->n, part->m * p->n, &push.base_c);
    memcpy(step.push, &push, sizeof push);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, tile_size tile)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const wfi_binding_spec specs[] = {
        {"A", WFI_READS, p->m * p->k * sizeof(float)},
        {"B", WFI_READS, p->k * p->n * sizeof(float)},
        {"C", WFI_READS_WRITES, p->m * p->n * sizeof(float)},
    };
    wfi_pipeline_desc desc;
    uint32_t pipeline = 0;
    panel whole = {0}, part;
    wfi_point_pipeline(point, &desc);
    wf_result result = panel_size(wfi_plan_device(plan), p, &whole);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_pipeline(plan, &desc, &pipeline);
    for (size_t i = 0; i < 3 && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    if (result != WF_SUCCESS)
        return result;
    for (part.k0 = 0; part.k0 < p->k; part.k0 += whole.k)
        for (part.m0 = 0; part.m0 < p->m && result == WF_SUCCESS; part.m0 += whole.m) {
            part.k = least(whole.k, p->k - part.k0);
            part.m = least(whole.m, p->m - part.m0);
            result = add_panel(plan, point, pipeline, tile, &part, part.k0 > 0 && part.m0 == 0);
        }
    return result;
}

static double occupied_share(const wf_caps *caps, double work_items, double wanted);

/* ---------------------------------------------------------------------------------------- naive */

enum { NAIVE_X, NAIVE_Y };

static const uint32_t naive_x[] = {8, 16, 32, 64, 128}, naive_y[] = {1, 2, 4, 8, 16};

static const wfi_parameter naive_parameters[] = {
    {"local_x", 0, 16, 5, naive_x, "work-items along the columns of C"},
    {"local_y", 1, 8, 5, naive_y, "work-items along the rows of C"},
};

static void naive_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[NAIVE_X];
    size[1] = point->values[NAIVE_Y];
    size[2] = 1;
}

/* Every multiply-add reads two values from memory: about 16 times what tiles of 32 need. */
static double naive_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return flops(point->problem) * 16.0 /
           occupied_share(point->caps, (double)p->m * (double)p->n, 512);
}

static wf_result naive_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    (void)params;
    return build(plan, point, (tile_size){point->values[NAIVE_Y], point->values[NAIVE_X]});
}

/* ------------------------------------------------------------------------------------- register */

enum { TILE_M, TILE_N, TILE_K, THREAD_M, THREAD_N };

static const uint32_t tiles[] = {8, 16, 32, 64, 128}, depths[] = {4, 8, 16, 32},
                      outputs[] = {1, 2, 4, 8};

static const wfi_parameter register_parameters[] = {
    {"tile_m", MATMUL_ID_TILE_M, 32, 5, tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 32, 5, tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 8, 4, depths, "steps of the sum held in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 4, 4, outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 4, 4, outputs, "columns of C a work-item computes"},
};

static bool positive(const wfi_point *point)
{
    for (int i = TILE_M; i <= THREAD_N; i++)
        if (point->values[i] == 0 || point->values[i] > 1024)
            return false;
    return true;
}

static bool m_divides(const wfi_point *point)
{
    return point->values[TILE_M] % point->values[THREAD_M] == 0;
}

static bool n_divides(const wfi_point *point)
{
    return point->values[TILE_N] % point->values[THREAD_N] == 0;
}

static bool few_registers(const wfi_point *point)
{
    return point->values[THREAD_M] * point->values[THREAD_N] <= 256;
}

static const wfi_constraint register_constraints[] = {
    {"tile and thread sizes must be between 1 and 1024", positive},
    {"tile_m must be a multiple of thread_m, since each work-item computes a whole block",
     m_divides},
    {"tile_n must be a multiple of thread_n, since each work-item computes a whole block",
     n_divides},
    {"thread_m x thread_n must be at most 256, since the sums live in registers", few_registers},
};

static uint32_t register_threads(const uint32_t *values)
{
    return values[TILE_M] / values[THREAD_M] * (values[TILE_N] / values[THREAD_N]);
}

static void register_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = register_threads(point->values);
    size[1] = size[2] = 1;
}

static uint64_t register_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return (uint64_t)v[TILE_K] * (v[TILE_M] + 1 + v[TILE_N]) * sizeof(float);
}

static wf_result register_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    (void)params;
    return build(plan, point, (tile_size){point->values[TILE_M], point->values[TILE_N]});
}

/* --------------------------------------------------------------------------------------- vector */

static const uint32_t vector_tiles[] = {16, 32, 64, 128, 256}, vector_depths[] = {4, 8, 16, 32},
                      vector_outputs[] = {4, 8, 16};

enum { WIDE = THREAD_N + 1 };

static const uint32_t off_on[] = {0, 1};

static const wfi_parameter vector_parameters[] = {
    {"tile_m", MATMUL_ID_TILE_M, 64, 5, vector_tiles, "rows of C a work-group computes"},
    {"tile_n", MATMUL_ID_TILE_N, 64, 5, vector_tiles, "columns of C a work-group computes"},
    {"tile_k", MATMUL_ID_TILE_K, 8, 4, vector_depths, "steps of the sum held in shared memory"},
    {"thread_m", MATMUL_ID_THREAD_M, 8, 3, vector_outputs, "rows of C a work-item computes"},
    {"thread_n", MATMUL_ID_THREAD_N, 8, 3, vector_outputs, "columns of C a work-item computes"},
    {"wide", MATMUL_ID_WIDE, 0, 2, off_on, "1: memory moves four values at a time"},
};

static bool fours(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[TILE_K] % 4 == 0 && v[THREAD_M] % 4 == 0 && v[THREAD_N] % 4 == 0;
}

/* Then every row of the three matrices begins at a multiple of 16 bytes. */
static bool wide_allowed(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    return point->values[WIDE] == 0 || (point->values[WIDE] == 1 && p->n % 4 == 0 && p->k % 4 == 0);
}

static const wfi_constraint vector_constraints[] = {
    {"wide must be 0, or 1 where n and k are multiples of 4, since rows begin at whole vectors",
     wide_allowed},
    {"tile and thread sizes must be between 1 and 1024", positive},
    {"tile_k, thread_m and thread_n must be multiples of 4, since values move four at a time",
     fours},
    {"tile_m must be a multiple of thread_m, since each work-item computes a whole block",
     m_divides},
    {"tile_n must be a multiple of thread_n, since each work-item computes a whole block",
     n_divides},
    {"thread_m x thread_n must be at most 256, since the sums live in registers", few_registers},
};

static uint64_t vector_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return UINT64_C(2) * v[TILE_K] * (v[TILE_M] / 4 + 1 + v[TILE_N] / 4) * 4 * sizeof(float);
}

static double register_fit(wfi_point *point);
static double vector_fit(wfi_point *point);

static const wfi_variant variants[] = {
    {
        .name = "naive",
        .summary = "one work-item an output element, everything read from memory",
        .source = "Intel VTune cookbook, matrix multiply, step 2",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_naive_f32},
        .parameter_count = 2,
        .parameters = naive_parameters,
        .storage_buffers = 3,
        .push_bytes = sizeof(matmul_push),
        .group_size = naive_group,
        .fit = naive_fit,
        .build = naive_build,
    },
    {
        .name = "register",
        .summary = "tiles in shared memory, a block of outputs in each work-item's registers",
        .source = "OpenCL SGEMM with private memory (D language series, part 4, 2018)",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_register_f32},
        .parameter_count = 5,
        .parameters = register_parameters,
        .constraint_count = 4,
        .constraints = register_constraints,
        .storage_buffers = 3,
        .push_bytes = sizeof(matmul_push),
        .shared_bytes = register_shared,
        .group_size = register_group,
        .fit = register_fit,
        .build = register_build,
    },
    {
        .name = "vector",
        .summary = "loads of four values, tiles fetched ahead into a second half of shared memory",
        .source = "",
        .modules = {[WF_TYPE_F32] = &wfi_spv_matmul_vector_f32},
        .parameter_count = 6,
        .parameters = vector_parameters,
        .constraint_count = 6,
        .constraints = vector_constraints,
        .storage_buffers = 3,
        .push_bytes = sizeof(matmul_push),
        .shared_bytes = vector_shared,
        .group_size = register_group,
        .fit = vector_fit,
        .build = register_build,
    },
};

#define VECTOR_GAIN 0.7    /* of time, against `register` (bench/NOTES.md) */
#define UNKNOWN_UNITS 32.0 /* where no extension tells: a middling GPU */

/* The block sizes that the model weighs, largest first. */
typedef struct block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
} block;

static const block blocks[] = {
    {128, 128, 16, 8, 8}, {64, 128, 16, 4, 8}, {64, 64, 16, 8, 8}, {64, 64, 16, 4, 4},
    {64, 32, 16, 4, 4},   {32, 32, 16, 4, 4},  {32, 32, 8, 4, 4},  {16, 16, 16, 2, 2},
    {8, 128, 16, 2, 4},   {128, 8, 16, 4, 2},
};

/* The share of a device's rate that so many work-items reach: its compute units want several hundred
 * work-items each (wanted) to hide latency. The square root is a fit to an H100 (bench/NOTES.md):
 * few work-items cost less than their number says. */
static double occupied_share(const wf_caps *caps, double work_items, double wanted)
{
    if (caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU)
        return 1;
    const double units = caps->compute_units ? caps->compute_units : UNKNOWN_UNITS;
    const double share = work_items / (units * wanted);
    return share < 1 ? sqrt(share) : 1;
}

/* Time units of a point: padded multiply-adds, the cost of the reads that feed them, and the share
 * of the device that is busy. */
static double block_time(const wfi_point *point, double wanted)
{
    const uint32_t *v = point->values;
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double tiles_m = ceil((double)p->m / v[TILE_M]);
    const double tiles_n = ceil((double)p->n / v[TILE_N]);
    const double padded = 2.0 * tiles_m * v[TILE_M] * tiles_n * v[TILE_N] * (double)p->k;
    const double shared_reads = 1.0 / v[THREAD_M] + 1.0 / v[THREAD_N];
    const double memory_reads = 8.0 / v[TILE_M] + 8.0 / v[TILE_N];
    const double work_items = tiles_m * tiles_n * register_threads(v);
    return padded * (1.0 + shared_reads + memory_reads) /
           occupied_share(point->caps, work_items, wanted);
}

/* The best legal block of a list by the model; < 0 when none is legal. */
static double best_block(wfi_point *point, const block *list, size_t count, double wanted)
{
    double best = -1;
    wfi_point trial = *point;
    for (size_t i = 0; i < count; i++) {
        memcpy(trial.values, &list[i], sizeof list[i]);
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

static double register_fit(wfi_point *point)
{
    return best_block(point, blocks, sizeof blocks / sizeof *blocks, 512);
}

static const block vector_blocks[] = {
    {128, 256, 8, 8, 16}, {128, 128, 16, 8, 8}, {128, 128, 8, 8, 8},
    {64, 128, 16, 4, 8},  {64, 64, 16, 4, 4},   {64, 64, 8, 8, 8},
    {32, 64, 16, 4, 4},   {32, 32, 16, 4, 4},   {16, 128, 16, 4, 8},
};

/* Each work-item has twice the loads in flight that `register` has: half as many hide latency. CPU
 * devices load four values at a time as fast as one; on an H100 the driver's code for it is slower. */
static double vector_fit(wfi_point *point)
{
    const double time =
        best_block(point, vector_blocks, sizeof vector_blocks / sizeof *vector_blocks, 256);
    point->values[WIDE] = point->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!wide_allowed(point))
        point->values[WIDE] = 0;
    return time < 0 ? time : time * VECTOR_GAIN;
}

const wfi_family wfi_family_matmul = {
    .name = "matmul",
    .summary = "dense matrix product C = A B",
    .variant_count = sizeof variants / sizeof *variants,
    .variants = variants,
    .flops = flops,
    .least_bytes = least_bytes,
};

/* ------------------------------------------------------------------------------------ public API */

static wf_result check_params(const wf_device *device, const wf_matmul_params *params)
{
    const uint64_t most = UINT64_C(1) << 31;
    if (params->m == 0 || params->n == 0 || params->k == 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_matmul_plan: m, n and k must be positive");
    if (params->m > most || params->n > most || params->k > most)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "wf_matmul_plan: m, n and k must be at most 2147483648");
    return WF_SUCCESS;
}

wf_result wf_matmul_plan(wf_device *device, const wf_matmul_params *given, wf_plan **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_choice choice;
    wf_matmul_params params;
    wf_result result =
        wfi_params_read(&device->log, "wf_matmul_plan", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = check_params(device, &params);
    if (result != WF_SUCCESS)
        return result;
    const wfi_problem problem = {
        .family = WF_FAMILY_MATMUL, .type = params.type, .matmul = {params.m, params.n, params.k}};
    if ((unsigned)params.type >= WF_TYPE_COUNT)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_matmul_plan: unknown type");
    result = wfi_choose(&device->log, &device->caps, &problem, params.tuning, &choice);
    return result == WF_SUCCESS ? wfi_plan_create_with(device, &choice, params.jobs, &params, out)
                                : result;
}
