/* Up to 16 rows or columns of C: the large matrix goes through registers, past the other operand
 * (the panel) in shared memory. */
#include <math.h>

#include "profiles/matmul.h"
#include "kernels/matmul/build.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/model.h"
#include "kernels/matmul/tile.h"
#include "kernels/matmul/tile_time.h"
#include "kernels/matmul/thin.h"
#include "kernels/matmul/traffic.h"
#include "kernels/matmul/variants/list.h"
#include "core/arithmetic.h"

static const uint32_t lanes_k[] = {4, 8, 16, 32, 64, 128}, lanes_o[] = {2, 4, 8, 16, 32},
                      vec4s[] = {0, 1, 2, 3}, split_ks[] = {1, 2, 4, 8, 16}, rows[] = {2, 4},
                      blocks[] = {1, 2, 4}, kept[] = {64, 128, 256, 512};

static const wfi_parameter parameters[] = {
    {"lanes_k", MATMUL_ID_LANES_K, 8, WFI_COUNT(lanes_k), lanes_k, "work-items that share a sum"},
    {"lanes_o", MATMUL_ID_LANES_O, 8, WFI_COUNT(lanes_o), lanes_o,
     "work-items along the large matrix's rows or columns of C, four of them each"},
    {"vec4", MATMUL_ID_VEC4, 0, WFI_COUNT(vec4s), vec4s,
     "matrices that memory moves four elements at a time: the sum of 1 for A and 2 for B"},
    WFI_SPLIT_K_ROW(split_ks),
    {"rows", MATMUL_ID_ROWS, 2, WFI_COUNT(rows), rows,
     "outputs a work-item, where the large matrix lies along the sum"},
    {"blocks", MATMUL_ID_BLOCKS, 1, WFI_COUNT(blocks), blocks,
     "blocks of the large matrix that a work-item has under way"},
    {"kept", MATMUL_ID_KEPT, 64, WFI_COUNT(kept), kept,
     "steps of the sum whose panel is in shared memory"},
};

static uint64_t vectors(const wfi_point *point)
{
    return wfi_matmul_vectors(&point->problem->matmul);
}

/* Groups of four vectors. */
static uint32_t fours(const wfi_point *point)
{
    return (uint32_t)((vectors(point) + 3) / 4);
}

static bool few_vectors(const wfi_point *point)
{
    return vectors(point) >= 1 && vectors(point) <= WFI_MOST_PANEL;
}

static bool sizes_positive(const wfi_point *point)
{
    const uint32_t *v = point->values;
    return v[MATMUL_ID_LANES_K] >= 1 && v[MATMUL_ID_LANES_K] <= 1024 && v[MATMUL_ID_LANES_O] >= 1 &&
           v[MATMUL_ID_LANES_O] <= 1024 && v[MATMUL_ID_SPLIT_K] >= 1 &&
           v[MATMUL_ID_SPLIT_K] <= 4096 && v[MATMUL_ID_ROWS] >= 1 && v[MATMUL_ID_ROWS] <= 4 &&
           v[MATMUL_ID_BLOCKS] >= 1 && v[MATMUL_ID_BLOCKS] <= 8;
}

/* Work-items are numbered in blocks of two or eight along the outputs and eight along the sum. */
static bool blocks_whole(const wfi_point *point)
{
    const uint32_t k = point->values[MATMUL_ID_LANES_K], o = point->values[MATMUL_ID_LANES_O];
    return (k < 8 || k % 8 == 0) && (o < 8 || o % 8 == 0);
}

static bool kept_whole(const wfi_point *point)
{
    const uint32_t kept_ = point->values[MATMUL_ID_KEPT];
    return kept_ > 0 && kept_ <= 65536 && kept_ % (4 * point->values[MATMUL_ID_LANES_K]) == 0;
}

static bool vec4_allowed(const wfi_point *point)
{
    const uint32_t bits = point->values[MATMUL_ID_VEC4];
    return bits <= 3 && wfi_matmul_vec4_allowed(point, bits);
}

static const wfi_constraint constraints[] = {
    {"m or n must be at most 16, since a work-item keeps the sums of four whole rows or columns in "
     "registers",
     few_vectors},
    {"lanes_k and lanes_o must be between 1 and 1024, split_k between 1 and 4096, rows between "
     "1 and 4, blocks between 1 and 8",
     sizes_positive},
    {"kept must be a multiple of 4 x lanes_k up to 65536, since every work-item takes whole blocks "
     "of it",
     kept_whole},
    {"lanes_k and lanes_o must be less than 8 or multiples of 8, since work-items form "
     "blocks of 8",
     blocks_whole},
    {WFI_VEC4_REASON, vec4_allowed},
};

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MATMUL_ID_LANES_K] * point->values[MATMUL_ID_LANES_O];
    size[1] = size[2] = 1;
}

static uint64_t shared_bytes(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t panel = UINT64_C(4) * fours(point) * (v[MATMUL_ID_KEPT] / 4 + 1),
                   sums =
                       (uint64_t)v[MATMUL_ID_LANES_O] * fours(point) * (v[MATMUL_ID_LANES_K] + 1);
    return (panel > sums ? panel : sums) * 4 * wfi_matmul_sum_size(point->problem->type);
}

/* Outputs of a work-item. */
static uint32_t outputs(const wfi_point *point)
{
    return wfi_matmul_by_sum(&point->problem->matmul) ? point->values[MATMUL_ID_ROWS] : 4;
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_matmul_constants(point, desc);
    wfi_pipeline_constant(desc, MATMUL_ID_MATRIX_IS_B,
                          wfi_matmul_matrix_is_b(&point->problem->matmul));
    wfi_pipeline_constant(desc, MATMUL_ID_FOURS, fours(point));
}

/* ---------------------------------------------------------------------------------------- model */

#define LEAST_EXTENT 1024       /* outputs, and steps of the sum, of a large matrix */
#define LEAST_ELEMENTS 4.19e6   /* of it; smaller ones are faster in tiles */
#define LEAST_SPLIT_K_STEPS 128 /* of the sum, in each part */
#define PANEL_TILE 128          /* outputs of a work-group */

/* Whether every other variant took an H100 longer, for the types that were measured. Matrix units
 * are faster for 16-bit types where all rows begin at vectors of them. */
static bool pays(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    const bool by_sum = wfi_matmul_by_sum(p);
    const uint64_t count = wfi_matmul_vectors(p),
                   most = problem->type == WF_TYPE_F32   ? WFI_MOST_PANEL
                          : problem->type == WF_TYPE_F64 ? WFI_MOST_VECTORS
                                                         : 4;
    if (problem->type == WF_TYPE_I8 || (wf_type_size(problem->type) == 2 && !by_sum))
        return false;
    const uint64_t outputs = p->m > p->n ? p->m : p->n;
    return count >= (by_sum ? 2 : 4) && count <= most && p->k >= LEAST_EXTENT &&
           outputs >= LEAST_EXTENT && (double)outputs * (double)p->k >= LEAST_ELEMENTS;
}

/* Work-groups, each of so many outputs, of one part of the sum. */
static double groups_of(const wfi_matmul_problem *p, uint32_t group_outputs)
{
    return ceil((double)(p->m > p->n ? p->m : p->n) / group_outputs) * (double)p->batch;
}

/* Parts of the sum for two work-groups a compute unit, or for one where parts are short. */
static void set_split_k(wfi_point *point, uint32_t group_outputs)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double units = wfi_matmul_units(point->caps);
    const double tiles = groups_of(p, group_outputs);
    uint32_t split_k = 1;
    while (split_k * 2 * tiles <= 2 * units && p->k / (split_k * 2) >= 512)
        split_k *= 2;
    while (split_k * 2 * tiles <= units && p->k / (split_k * 2) >= LEAST_SPLIT_K_STEPS)
        split_k *= 2;
    point->values[MATMUL_ID_SPLIT_K] = split_k;
}

/* Steps of the vectors in shared memory at once: no more than a part of the sum has. */
static void set_kept(wfi_point *point, uint32_t most)
{
    const uint32_t part = point->problem->matmul.k / point->values[MATMUL_ID_SPLIT_K];
    uint32_t steps = most;
    while (steps > LEAST_SPLIT_K_STEPS && steps > part)
        steps /= 2;
    point->values[MATMUL_ID_KEPT] = steps;
}

/* As an H100 measured them. */
#define MIDDLE_LANES 8    /* along the sum, and along the outputs at least */
#define MANY_ELEMENTS 256 /* of C, for a compute unit: so many want wider work-groups */
#define MIDDLE_KEPT 256

/* Each work-group reads the panel by itself: where there are many, fewer and larger ones. */
static uint32_t middle_lanes(const wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double elements =
        (double)p->m * (double)p->n * (double)p->batch / wfi_matmul_units(point->caps);
    return elements < MANY_ELEMENTS       ? MIDDLE_LANES
           : elements < 4 * MANY_ELEMENTS ? 2 * MIDDLE_LANES
                                          : 4 * MIDDLE_LANES;
}

/* Sums of middle length in f64: matvec asks memory for an element of each vector with every element
 * of the matrix, while a panel is read from shared memory. Small work-groups, so that every second
 * compute unit has one at least (bench/notes/matmul.md#few-rows-f64). */
static double fit_middle(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint64_t count = wfi_matmul_vectors(p);
    uint32_t *v = point->values;
    if (point->problem->type != WF_TYPE_F64 || !wfi_matmul_times_tiles(point) || count < 2 ||
        count > WFI_MOST_VECTORS || p->k <= WFI_SHORT_SUM || p->k > LEAST_EXTENT)
        return -1;
    v[MATMUL_ID_LANES_K] = MIDDLE_LANES;
    v[MATMUL_ID_LANES_O] = middle_lanes(point);
    v[MATMUL_ID_ROWS] = 2;
    v[MATMUL_ID_BLOCKS] = 1;
    const uint32_t group_outputs = outputs(point) * v[MATMUL_ID_LANES_O];
    set_split_k(point, group_outputs);
    v[MATMUL_ID_KEPT] = MIDDLE_KEPT;
    if (groups_of(p, group_outputs) * v[MATMUL_ID_SPLIT_K] * 2 < wfi_matmul_units(point->caps) ||
        !wfi_point_legal(point, NULL))
        return -1;
    return wfi_matmul_start_time(point) + 0.95 * wfi_matmul_memory_time(point);
}

/* As an H100 measured it (bench/notes/matmul.md#few-rows). */
static double fit(wfi_point *point)
{
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const bool by_sum = wfi_matmul_by_sum(p), f64 = problem->type == WF_TYPE_F64;
    const uint64_t count = wfi_matmul_vectors(p);
    uint32_t *v = point->values;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p) & 3;
    if (!wfi_matmul_profile_of(point->caps)->panel)
        return -1;
    if (!pays(problem))
        return fit_middle(point);
    if (!(v[MATMUL_ID_VEC4] & (wfi_matmul_matrix_is_b(p) ? 2 : 1)))
        return -1;
    v[MATMUL_ID_LANES_K] = 8;
    v[MATMUL_ID_LANES_O] = by_sum ? 64 : 32;
    v[MATMUL_ID_ROWS] = by_sum ? 2 : 4;
    v[MATMUL_ID_BLOCKS] =
        by_sum ? (count <= 4 && !f64 ? 4 : 2) : (count <= WFI_MOST_VECTORS ? 1 : 2);
    set_split_k(point, PANEL_TILE);
    set_kept(point, f64 && count > 4 ? 256 : 512);
    /* Of the memory time: matvec expects 1 at least, tiles 1.25. */
    const double time = count <= WFI_MOST_VECTORS ? 0.95 : 1.2;
    return wfi_point_legal(point, NULL)
               ? wfi_matmul_start_time(point) + time * wfi_matmul_memory_time(point)
               : -1;
}

/* ---------------------------------------------------------------------------------------- plans */

/* -------------------------------------------------------------------------------------- traffic */

#define MOVED 4 /* as in matmul_panel.comp */

/* Elements of the large matrix that a work-group loads for so many steps of the sum: whole blocks
 * ahead, of which the last pass loads its own again, then what is no pass, where steps behind the
 * last are left out. */
static double matrix_reads(const wfi_point *point, uint64_t steps)
{
    const uint32_t *v = point->values;
    const uint64_t block = UINT64_C(4) * v[MATMUL_ID_LANES_K];
    const uint64_t passes = steps / block / v[MATMUL_ID_BLOCKS];
    const double step_reads = (double)outputs(point) * v[MATMUL_ID_LANES_O];
    const double ahead = passes ? (double)((passes + 1) * v[MATMUL_ID_BLOCKS] * block) : 0;
    const double rest = (double)(steps - passes * v[MATMUL_ID_BLOCKS] * block);
    return step_reads * (ahead + rest);
}

/* Elements of the panel that it loads for them. A work-item has four lines of four elements under
 * way, and loads the last one in the place of any behind it; steps behind the last are left out. */
static double panel_reads(const wfi_point *point, uint64_t steps)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const uint32_t *v = point->values;
    const uint64_t block = UINT64_C(4) * v[MATMUL_ID_LANES_K];
    const uint64_t count = (steps + block - 1) / block * block, lines = count * fours(point);
    const uint64_t items = (uint64_t)v[MATMUL_ID_LANES_K] * v[MATMUL_ID_LANES_O];
    const bool along_sum = wfi_matmul_matrix_is_b(p) ? !p->transpose_a : p->transpose_b;
    double reads = 0;
    for (uint64_t first = 0; first < lines; first += MOVED * items)
        for (uint64_t item = 0; item < items && first + item < lines; item++)
            for (uint64_t n = 0; n < MOVED; n++) {
                const uint64_t behind = first + item + n * items;
                const uint64_t line = behind < lines ? behind : lines - 1;
                const uint64_t step = along_sum ? line % (count / 4) * 4 : line / fours(point);
                const uint64_t left = step < steps ? steps - step : 0;
                reads += along_sum && left < 4 ? (double)left : left ? 4 : 0;
            }
    return reads;
}

static void traffic(const wfi_point *point, wfi_traffic *out)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const bool is_b = wfi_matmul_matrix_is_b(p);
    const uint64_t kept_steps = point->values[MATMUL_ID_KEPT];
    const uint64_t split_k = point->values[MATMUL_ID_SPLIT_K];
    const uint64_t units = (p->k + 3) / 4, part = (units + split_k - 1) / split_k * 4;
    const uint32_t all = outputs(point) * point->values[MATMUL_ID_LANES_O];
    const double groups = ceil((double)(is_b ? p->n : p->m) / all) * (double)p->batch;
    double reads = 0;
    for (uint64_t begin = 0; begin < p->k; begin += part) {
        const uint64_t steps = p->k - begin < part ? p->k - begin : part;
        const uint64_t whole = steps / kept_steps, rest = steps % kept_steps;
        reads += (double)whole * (matrix_reads(point, kept_steps) + panel_reads(point, kept_steps));
        reads += rest ? matrix_reads(point, rest) + panel_reads(point, rest) : 0;
    }
    out->requested =
        reads * groups * (double)wf_type_size(point->problem->type) + wfi_matmul_c_bytes(point);
    out->groups =
        wfi_matmul_tiles_bytes(point, is_b ? WFI_MOST_PANEL : all, is_b ? all : WFI_MOST_PANEL) +
        wfi_matmul_c_bytes(point);
    out->stored = wfi_matmul_c_stored(point);
    wfi_matmul_count_split(point, out);
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const bool is_b = wfi_matmul_matrix_is_b(&point->problem->matmul);
    const uint32_t all = outputs(point) * point->values[MATMUL_ID_LANES_O];
    return wfi_matmul_build(plan, point, params,
                            (wfi_matmul_tile){.m = is_b ? WFI_MOST_PANEL : all,
                                              .n = is_b ? all : WFI_MOST_PANEL,
                                              .k = 4,
                                              .split_k = point->values[MATMUL_ID_SPLIT_K],
                                              .reverse = true});
}

const wfi_variant wfi_matmul_panel = {
    .name = "panel",
    .summary = "up to 16 rows or columns of C: the large matrix goes through registers past the "
               "other operand in shared memory",
    .source = "",
    .modules = WFI_MODULES_matmul_panel,
    .parameter_count = WFI_COUNT(parameters),
    .parameters = parameters,
    .constraint_count = WFI_COUNT(constraints),
    .constraints = constraints,
    .storage_buffers = WF_MATMUL_BINDINGS,
    .push_bytes = sizeof(wfi_matmul_push),
    .shared_bytes = shared_bytes,
    .group_size = group_size,
    .constants = constants,
    .fit = fit,
    .traffic = traffic,
    .build = build,
};
