/* Stencils: rows of the family, and the plan of one slab of the Himeno relaxation. */
#include <string.h>

#include "kernels/families.h"
#include "kernels/himeno.h"
#include "stencil/stencil_ids.h"
#include "wfi_shaders.h"

/* As in himeno_problem.glsl. */
typedef struct himeno_push {
    uint32_t turn;
    uint32_t ni, nj, nk;
    uint32_t lower, upper;
    uint32_t p_row, p_plane, p_base;
    uint32_t c_row, c_plane, c_array, c_block, c_blocks, c_base;
    uint32_t groups, first;
    float omega;
} himeno_push;

static double inner_cells(const wfi_problem *problem)
{
    const wfi_stencil_problem *p = &problem->stencil;
    return (double)(p->ni - 2) * (double)(p->nj - 2) * (double)(p->nk - 2);
}

static double flops(const wfi_problem *problem)
{
    return 34.0 * inner_cells(problem);
}

/* 13 reads and a write of every inner cell. */
static double least_bytes(const wfi_problem *problem)
{
    return 14.0 * sizeof(float) * inner_cells(problem);
}

/* ------------------------------------------------------------------------------------- building */

/* Cells that a work-group updates along i, j and k. */
typedef struct tile {
    uint32_t i, j, k;
} tile;

static tile tile_of(const wfi_point *point);

void wfi_himeno_groups(const wfi_point *point, uint32_t planes, uint32_t groups[3])
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const tile t = tile_of(point);
    groups[0] = (uint32_t)((p->ni - 2 + t.i - 1) / t.i);
    groups[1] = (uint32_t)((p->nj - 2 + t.j - 1) / t.j);
    groups[2] = (planes + t.k - 1) / t.k;
}

/* The window of the p buffers that the slab reads, its start rounded down so that it can be bound
 * and vectors stay aligned; *base is then the element of its first inner cell. */
static wfi_slot p_window(const wfi_point *point, const wfi_himeno_layout *layout,
                         const wfi_himeno_slab *slab, uint32_t binding, uint32_t *base)
{
    const uint64_t reach = wfi_himeno_steps(point);
    const uint64_t below = slab->p_first < reach ? slab->p_first : reach;
    const uint64_t end = slab->p_first + slab->planes + reach;
    const uint64_t planes = end < slab->p_planes ? end : slab->p_planes;
    const uint64_t start = (slab->p_first - below) * layout->p_plane * sizeof(float);
    const uint64_t alignment =
        point->caps->storage_alignment > 16 ? point->caps->storage_alignment : 16;
    const uint64_t offset = start - start % alignment;
    *base = (uint32_t)((start - offset) / sizeof(float) + below * layout->p_plane + layout->p_row +
                       layout->p_left);
    return (wfi_slot){WFI_SLOT_BINDING, binding, offset,
                      planes * layout->p_plane * sizeof(float) - offset};
}

static wf_result add_bindings(wf_plan *plan, const wfi_himeno_layout *layout,
                              const wfi_himeno_slab *slab)
{
    const uint64_t p_bytes = slab->p_planes * layout->p_plane * sizeof(float);
    const wfi_binding_spec specs[] = {
        {"p", WFI_READS, p_bytes},
        {"new p", WFI_WRITES, p_bytes},
        {"coefficients", WFI_READS, wfi_himeno_cells(layout, slab) * sizeof(float)},
        {"partial sums", WFI_WRITES, (uint64_t)slab->rows * slab->groups * sizeof(float)},
    };
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < sizeof specs / sizeof *specs && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    return result;
}

static wf_result build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_himeno_slab *slab = params;
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    himeno_push push = {
        .ni = (uint32_t)(p->ni - 2),
        .nj = (uint32_t)(p->nj - 2),
        .nk = slab->planes,
        .lower = slab->lower,
        .upper = slab->upper,
        .p_row = (uint32_t)layout.p_row,
        .p_plane = (uint32_t)layout.p_plane,
        .c_row = (uint32_t)layout.c_row,
        .c_array = (uint32_t)wfi_himeno_array(&layout, slab),
        .c_plane = (uint32_t)layout.c_plane,
        .c_block = (uint32_t)layout.c_block,
        .c_blocks = (uint32_t)(layout.c_block * (layout.interleaved ? WFI_HIMENO_COEFFICIENTS : 1)),
        .c_base = (uint32_t)(slab->lower * layout.c_plane),
        .groups = slab->groups,
        .first = slab->first_group,
        .omega = slab->omega,
    };
    wfi_pipeline_desc desc;
    wfi_step step = {
        .slot_count = 4, .push_bytes = sizeof push, .takes_turn = true, .divisible = true};
    step.slots[0] = p_window(point, &layout, slab, WFI_HIMENO_P_IN, &push.p_base);
    step.slots[1] = p_window(point, &layout, slab, WFI_HIMENO_P_OUT, &push.p_base);
    step.slots[2] = (wfi_slot){WFI_SLOT_BINDING, WFI_HIMENO_CELLS, 0,
                               wfi_himeno_cells(&layout, slab) * sizeof(float)};
    step.slots[3] = (wfi_slot){WFI_SLOT_BINDING, WFI_HIMENO_PARTIALS, 0,
                               (uint64_t)slab->rows * slab->groups * sizeof(float)};
    wfi_himeno_groups(point, slab->planes, step.groups);
    memcpy(step.push, &push, sizeof push);
    wfi_point_pipeline(point, &desc);
    wf_result result = wfi_plan_add_pipeline(plan, &desc, &step.pipeline);
    if (result == WF_SUCCESS)
        result = add_bindings(plan, &layout, slab);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

/* ----------------------------------------------------------------------------------- parameters */

static const uint32_t sizes_x[] = {4, 8, 16, 32, 64, 128, 256}, sizes_y[] = {1, 2, 4, 8, 16},
                      sizes_z[] = {1, 2, 4}, marches[] = {1, 2, 4, 8, 16, 32, 64},
                      pads[] = {1, 4, 8, 32}, blocks[] = {0, 32, 64, 256, 65536};

#define LOCAL_X(value)                                                                             \
    {                                                                                              \
        "local_x", 0, value, 7, sizes_x, "work-items along i (contiguous)"                         \
    }
#define LOCAL_Y(value)                                                                             \
    {                                                                                              \
        "local_y", 1, value, 5, sizes_y, "work-items along j"                                      \
    }
#define MARCH                                                                                      \
    {                                                                                              \
        "march", STENCIL_ID_MARCH, 8, 7, marches, "planes along k that a work-item updates"        \
    }
#define PAD(value)                                                                                 \
    {                                                                                              \
        "pad", WFI_NO_CONSTANT, value, 4, pads, "elements to which the rows are padded"            \
    }
#define INTERLEAVE                                                                                 \
    {                                                                                              \
        "interleave", WFI_NO_CONSTANT, 0, 5, blocks,                                               \
            "cells of a row whose twelve coefficients are kept side by side; 0: twelve arrays"     \
    }

static bool pad_fits(const wfi_point *point)
{
    const uint32_t pad = point->values[wfi_parameter_find(point->variant, "pad")];
    return pad >= 1 && pad <= 1024;
}

static bool pad_holds_vectors(const wfi_point *point)
{
    return point->values[wfi_parameter_find(point->variant, "pad")] % 4 == 0;
}

static bool march_is_short(const wfi_point *point)
{
    const uint32_t march = point->values[wfi_parameter_find(point->variant, "march")];
    return march >= 1 && march <= 64;
}

static bool blocks_fit(const wfi_point *point)
{
    const uint32_t block = point->values[wfi_parameter_find(point->variant, "interleave")];
    return block % 4 == 0 && block <= 65536;
}

static const wfi_constraint constraints[] = {
    {"interleave must be a multiple of 4 up to 65536, since rows are read as vectors of 4",
     blocks_fit},
    {"pad must be between 1 and 1024", pad_fits},
    {"march must be between 1 and 64, since gosa's rounding bound counts on short sums",
     march_is_short},
    {"pad must be a multiple of 4, since rows are read as vectors of 4", pad_holds_vectors},
};

/* ---------------------------------------------------------------------------------------- naive */

enum { NAIVE_X, NAIVE_Y, NAIVE_Z, NAIVE_PAD, NAIVE_INTERLEAVE };

static const wfi_parameter naive_parameters[] = {
    LOCAL_X(32), LOCAL_Y(4), {"local_z", 2, 1, 3, sizes_z, "work-items along k"},
    PAD(1),      INTERLEAVE,
};

static void naive_group(const wfi_point *point, uint32_t size[3])
{
    memcpy(size, point->values, 3 * sizeof *size);
}

static uint64_t shared_sums(const wfi_point *point)
{
    uint32_t size[3];
    point->variant->group_size(point, size);
    return (uint64_t)size[0] * size[1] * size[2] * sizeof(float);
}

/* On grids so small that the gap between dispatches is most of the time, nothing beat it. */
static double naive_fit(wfi_point *point)
{
    const bool cpu = point->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const bool small = inner_cells(point->problem) < 1e5 && !cpu;
    if (small) {
        point->values[NAIVE_PAD] = 32;
        point->values[NAIVE_INTERLEAVE] = 64;
    }
    return least_bytes(point->problem) * (small ? 0.9 : 2.0);
}

/* ---------------------------------------------------------------------------------------- march */

enum { MARCH_X, MARCH_Y, MARCH_K, MARCH_PAD, MARCH_INTERLEAVE };

static const wfi_parameter march_parameters[] = {LOCAL_X(32), LOCAL_Y(4), MARCH, PAD(32),
                                                 INTERLEAVE};

static void march_group(const wfi_point *point, uint32_t size[3])
{
    size[0] = point->values[MARCH_X];
    size[1] = point->values[MARCH_Y];
    size[2] = 1;
}

static uint32_t power_at_least(uint64_t value, uint32_t most)
{
    uint32_t power = 1;
    while (power < value && power < most)
        power *= 2;
    return power;
}

/* Work-groups as wide as the rows, up to a subgroup's or two. The big cache of an H100 joins the
 * planes of neighbouring work-groups, so that columns pay only on grids whose planes outgrow it, or
 * to have fewer work-groups on small ones; a CPU device pays for each work-group. */
static void march_values(wfi_point *point, uint32_t width)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool cpu = point->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const bool small = inner_cells(point->problem) < 2e6;
    const bool large = inner_cells(point->problem) > 1e8;
    const uint32_t most = point->caps->max_invocations,
                   wanted = !cpu && (small || large) ? 128 : 256;
    const uint32_t items = most < wanted ? most : wanted;
    uint32_t *v = point->values;
    v[MARCH_X] = power_at_least((p->ni - 2 + width - 1) / width, cpu || large ? 64 : 32);
    v[MARCH_Y] = power_at_least(p->nj - 2, items / v[MARCH_X]);
    v[MARCH_K] = cpu ? 8 : large ? 16 : small ? 2 : width == 4 ? 1 : 4;
    v[MARCH_PAD] = cpu ? 4 : 32;
    v[MARCH_INTERLEAVE] = cpu ? 32 : 65536;
}

static double march_fit(wfi_point *point)
{
    march_values(point, 1);
    return least_bytes(point->problem) * 1.2;
}

static double march4_fit(wfi_point *point)
{
    march_values(point, 4);
    return least_bytes(point->problem);
}

/* ----------------------------------------------------------------------------------------- time */

enum { TIME_STEPS = MARCH_INTERLEAVE + 1 }; /* the others as march */

static const uint32_t step_counts[] = {2, 3, 4};

static const wfi_parameter time_parameters[] = {
    LOCAL_X(16),
    LOCAL_Y(8),
    MARCH,
    PAD(32),
    INTERLEAVE,
    {"steps", STENCIL_ID_STEPS, 2, 3, step_counts, "iterations a pass over the coefficients"},
};

static bool steps_fit(const wfi_point *point)
{
    const uint32_t steps = point->values[TIME_STEPS];
    return steps >= 2 && steps <= WFI_HIMENO_MAX_STEPS;
}

static bool tile_outlasts_steps(const wfi_point *point)
{
    const uint32_t overlap = 2 * (point->values[TIME_STEPS] - 1);
    return point->values[MARCH_X] > overlap && point->values[MARCH_Y] > overlap;
}

static const wfi_constraint time_constraints[] = {
    {"interleave must be a multiple of 4 up to 65536, since rows are read as vectors of 4",
     blocks_fit},
    {"pad must be between 1 and 1024", pad_fits},
    {"march must be between 1 and 64, since gosa's rounding bound counts on short sums",
     march_is_short},
    {"steps must be between 2 and 4", steps_fit},
    {"local_x and local_y must be over 2 (steps - 1), since each iteration after the first loses "
     "a cell on every side of the tile",
     tile_outlasts_steps},
};

static uint64_t time_shared(const wfi_point *point)
{
    const uint32_t *v = point->values;
    const uint64_t plane = (v[MARCH_X] + 2) * (v[MARCH_Y] + 2);
    return (v[TIME_STEPS] * 3 * plane + v[MARCH_X] * v[MARCH_Y]) * sizeof(float);
}

/* Tiles that the model weighs, deepest first, each for grids with so many work-groups of it a
 * compute unit; the values were an H100's best on grids of 135, 33 and 4 million cells. */
typedef struct time_tile {
    uint32_t x, y, march, steps, groups_a_unit;
} time_tile;

static const time_tile time_tiles[] = {
    {64, 16, 64, 3, 5}, {32, 12, 32, 2, 8}, {32, 8, 16, 2, 0}, {16, 8, 16, 2, 0}};

static double time_groups(const wfi_problem *problem, const time_tile *t)
{
    const uint32_t overlap = 2 * (t->steps - 1);
    return inner_cells(problem) / ((double)(t->x - overlap) * (t->y - overlap) * t->march);
}

/* Pays where memory is much slower than arithmetic and shared memory is more than a name, on grids
 * larger than the caches. */
static double time_fit(wfi_point *point)
{
    const wf_caps *caps = point->caps;
    const bool cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const double units = caps->compute_units ? caps->compute_units : 64;
    uint32_t *v = point->values;
    for (size_t i = 0; i < sizeof time_tiles / sizeof *time_tiles; i++) {
        const time_tile *t = &time_tiles[i];
        v[MARCH_X] = t->x;
        v[MARCH_Y] = t->y;
        v[MARCH_K] = t->march;
        v[MARCH_PAD] = cpu ? 4 : 32;
        v[MARCH_INTERLEAVE] = cpu ? 32 : 65536;
        v[TIME_STEPS] = t->steps;
        if (wfi_point_legal(point, NULL) &&
            time_groups(point->problem, t) >= units * t->groups_a_unit)
            break;
    }
    const bool pays = !cpu && caps->max_invocations >= 256 && inner_cells(point->problem) > 2e6;
    return least_bytes(point->problem) * (pays ? 0.65 : 3);
}

static const wfi_variant variants[] = {
    {
        .name = "naive",
        .summary = "one work-item a cell, everything read from memory",
        .source = "SofTech, Himeno benchmark on GPUs (2010), step 2",
        .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_naive_f32},
        .parameter_count = 5,
        .parameters = naive_parameters,
        .constraint_count = 2,
        .constraints = constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(himeno_push),
        .shared_bytes = shared_sums,
        .group_size = naive_group,
        .fit = naive_fit,
        .build = build,
    },
    {
        .name = "march",
        .summary = "work-items march along k with three planes of p in registers",
        .source = "",
        .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_march_f32},
        .parameter_count = 5,
        .parameters = march_parameters,
        .constraint_count = 3,
        .constraints = constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(himeno_push),
        .shared_bytes = shared_sums,
        .group_size = march_group,
        .fit = march_fit,
        .build = build,
    },
    {
        .name = "march4",
        .summary = "as march, four cells a work-item by vector loads",
        .source = "",
        .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_march4_f32},
        .parameter_count = 5,
        .parameters = march_parameters,
        .constraint_count = 4,
        .constraints = constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(himeno_push),
        .shared_bytes = shared_sums,
        .group_size = march_group,
        .fit = march4_fit,
        .build = build,
    },
    {
        .name = "time",
        .summary = "several iterations a pass: coefficients are read once for all of them",
        .source = "",
        .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_time_f32},
        .parameter_count = 6,
        .parameters = time_parameters,
        .constraint_count = 5,
        .constraints = time_constraints,
        .storage_buffers = 4,
        .push_bytes = sizeof(himeno_push),
        .shared_bytes = time_shared,
        .group_size = march_group,
        .fit = time_fit,
        .build = build,
    },
};

static tile tile_of(const wfi_point *point)
{
    const uint32_t *v = point->values;
    if (point->variant == &variants[0])
        return (tile){v[0], v[1], v[2]};
    const uint32_t width = point->variant == &variants[2] ? 4 : 1;
    if (point->variant == &variants[3]) {
        const uint32_t overlap = 2 * (v[TIME_STEPS] - 1);
        return (tile){v[MARCH_X] - overlap, v[MARCH_Y] - overlap, v[MARCH_K]};
    }
    return (tile){v[MARCH_X] * width, v[MARCH_Y], v[MARCH_K]};
}

const wfi_family wfi_family_stencil = {
    .name = "stencil",
    .summary = "Himeno's 19-point Jacobi relaxation",
    .variant_count = sizeof variants / sizeof *variants,
    .variants = variants,
    .flops = flops,
    .least_bytes = least_bytes,
};

void wfi_himeno_single(const wfi_point *point, wfi_point *single)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    *single = *point;
    single->variant = &variants[2];
    wfi_point_defaults(single);
    march4_fit(single);
    if (layout.p_left % 4 != 0 || !wfi_point_legal(single, NULL)) {
        single->variant = &variants[0];
        wfi_point_defaults(single);
    }
    single->values[wfi_parameter_find(single->variant, "pad")] = (uint32_t)layout.p_left;
    single->values[wfi_parameter_find(single->variant, "interleave")] =
        layout.interleaved ? (uint32_t)layout.c_block : 0;
}
