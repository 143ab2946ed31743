/* Stencils: the rows of the family. */
#include "kernels/families.h"
#include "kernels/himeno/himeno.h"
#include "kernels/himeno/rows.h"
#include "kernels/traffic.h"
#include "wfi_shaders.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SOFTECH "SofTech, Himeno benchmark on GPUs (2010), step "
#define MICIKEVICIUS "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)"

double wfi_himeno_inner_cells(const wfi_problem *problem)
{
    const wfi_himeno_problem *p = &problem->himeno;
    return (double)(p->ni - 2) * (double)(p->nj - 2) * (double)(p->nk - 2);
}

static double flops(const wfi_problem *problem)
{
    return 34.0 * wfi_himeno_inner_cells(problem);
}

/* 13 reads and a write of every inner cell. */
double wfi_himeno_least_bytes(const wfi_problem *problem)
{
    return 14.0 * sizeof(float) * wfi_himeno_inner_cells(problem);
}

/* ----------------------------------------------------------------------------------- parameters */

static const uint32_t sizes_x[] = {4, 8, 16, 32, 64, 128, 256}, sizes_y[] = {1, 2, 4, 8, 16},
                      sizes_z[] = {1, 2, 4}, marches[] = {1, 2, 4, 8, 16, 32, 64},
                      pads[] = {1, 4, 8, 32}, blocks[] = {0, 32, 64, 256, 65536}, flags[] = {0, 1},
                      step_counts[] = {2, 3, 4}, depths[] = {1, 2, 4}, ones[] = {1};

#define LOCAL_X(value)                                                                             \
    {                                                                                              \
        "local_x", HIMENO_ID_LOCAL_X, value, COUNT(sizes_x), sizes_x,                              \
            "work-items along i (contiguous)"                                                      \
    }
#define LOCAL_Y(value)                                                                             \
    {                                                                                              \
        "local_y", HIMENO_ID_LOCAL_Y, value, COUNT(sizes_y), sizes_y, "work-items along j"         \
    }
#define LOCAL_Z(value)                                                                             \
    {                                                                                              \
        "local_z", HIMENO_ID_LOCAL_Z, value, COUNT(sizes_z), sizes_z, "work-items along k"         \
    }
#define MARCH                                                                                      \
    {                                                                                              \
        "march", HIMENO_ID_MARCH, 8, COUNT(marches), marches,                                      \
            "planes along k that a work-item updates"                                              \
    }
#define PAD(value)                                                                                 \
    {                                                                                              \
        "pad", HIMENO_ID_PAD, value, COUNT(pads), pads, "elements to which the rows are padded"    \
    }
#define INTERLEAVE(value)                                                                          \
    {                                                                                              \
        "interleave", HIMENO_ID_INTERLEAVE, value, COUNT(blocks), blocks,                          \
            "cells of a row whose twelve coefficients are kept side by side; 0: twelve arrays"     \
    }
#define REVERSE                                                                                    \
    {                                                                                              \
        "reverse", HIMENO_ID_REVERSE, 0, COUNT(flags), flags,                                      \
            "1: every other pass runs from the last plane to the first, over what caches hold"     \
    }
#define OWN_SUMS                                                                                   \
    {                                                                                              \
        "own_sums", HIMENO_ID_OWN_SUMS, 0, COUNT(flags), flags,                                    \
            "1: each work-item stores its part of gosa, not each work-group"                       \
    }
#define STEPS                                                                                      \
    {                                                                                              \
        "steps", HIMENO_ID_STEPS, 2, COUNT(step_counts), step_counts,                              \
            "iterations a pass over the coefficients"                                              \
    }
/* A property that a row has and the others have not; the solver reads it. */
#define PROPERTY(name, id, meaning)                                                                \
    {                                                                                              \
        name, id, 1, COUNT(ones), ones, meaning                                                    \
    }

static const wfi_parameter naive_parameters[] = {LOCAL_X(32), LOCAL_Y(4),    LOCAL_Z(1),
                                                 PAD(1),      INTERLEAVE(0), REVERSE};
static const wfi_parameter moved_parameters[] = {
    LOCAL_X(32),   LOCAL_Y(4),
    LOCAL_Z(1),    PAD(1),
    INTERLEAVE(0), PROPERTY("moved", HIMENO_ID_MOVED, "the arrays are moved every iteration")};
static const wfi_parameter submits_parameters[] = {
    LOCAL_X(32),
    LOCAL_Y(4),
    LOCAL_Z(1),
    PAD(1),
    INTERLEAVE(0),
    REVERSE,
    PROPERTY("submit", HIMENO_ID_SUBMIT, "iterations a submission")};
static const wfi_parameter copy_back_parameters[] = {
    LOCAL_X(32),   LOCAL_Y(4),
    LOCAL_Z(1),    PAD(1),
    INTERLEAVE(0), PROPERTY("copy_back", HIMENO_ID_COPY_BACK, "the new p is copied back")};
static const wfi_parameter shared_parameters[] = {LOCAL_X(128), LOCAL_Y(1),    LOCAL_Z(1),
                                                  PAD(1),       INTERLEAVE(0), REVERSE};
static const wfi_parameter padded_parameters[] = {LOCAL_X(128), LOCAL_Y(1),    LOCAL_Z(1),
                                                  PAD(32),      INTERLEAVE(0), REVERSE};
static const wfi_parameter interleaved_parameters[] = {LOCAL_X(128), LOCAL_Y(1),     LOCAL_Z(1),
                                                       PAD(32),      INTERLEAVE(32), REVERSE};
static const wfi_parameter march_parameters[] = {LOCAL_X(32),   LOCAL_Y(4), MARCH,   PAD(32),
                                                 INTERLEAVE(0), REVERSE,    OWN_SUMS};
static const wfi_parameter sum_parameters[] = {LOCAL_X(32), LOCAL_Y(4),    MARCH,
                                               PAD(32),     INTERLEAVE(0), REVERSE};
static const wfi_parameter time_parameters[] = {LOCAL_X(16),   LOCAL_Y(8), MARCH, PAD(32),
                                                INTERLEAVE(0), REVERSE,    STEPS};
static const wfi_parameter box_parameters[] = {
    LOCAL_X(16),
    LOCAL_Y(8),
    LOCAL_Z(1),
    PAD(32),
    INTERLEAVE(0),
    STEPS,
    {"depth", HIMENO_ID_DEPTH, 4, COUNT(depths), depths, "cells along k that a work-item updates"},
};

/* ---------------------------------------------------------------------------------- constraints */

static bool pad_fits(const wfi_point *point)
{
    const uint32_t pad = wfi_point_value(point, HIMENO_ID_PAD, 1);
    return pad >= 1 && pad <= 1024;
}

static bool pad_holds_vectors(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_PAD, 1) % 4 == 0;
}

static bool planes_fit_texels(const wfi_point *point)
{
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    const uint64_t coefficients =
        layout.c_plane * (layout.interleaved ? 1 : WFI_HIMENO_COEFFICIENTS);
    const uint64_t range = wfi_himeno_range(point) / sizeof(float);
    return coefficients <= range && 3 * layout.p_plane <= range;
}

static bool march_is_short(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    return march >= 1 && march <= 64;
}

/* Of two rows each. */
static bool march_of_two_is_short(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, HIMENO_ID_MARCH, 1);
    return march >= 1 && march <= 32;
}

static bool blocks_fit(const wfi_point *point)
{
    const uint32_t block = wfi_point_value(point, HIMENO_ID_INTERLEAVE, 0);
    return block % 4 == 0 && block <= 65536;
}

static bool flags_are_flags(const wfi_point *point)
{
    return wfi_point_value(point, HIMENO_ID_REVERSE, 0) <= 1 &&
           wfi_point_value(point, HIMENO_ID_OWN_SUMS, 0) <= 1 &&
           wfi_point_value(point, HIMENO_ID_MOVED, 1) == 1 &&
           wfi_point_value(point, HIMENO_ID_COPY_BACK, 1) == 1 &&
           wfi_point_value(point, HIMENO_ID_SUBMIT, 1) > 0;
}

static bool subgroups_are_short(const wfi_point *point)
{
    return point->caps->subgroup_max <= 64;
}

static bool steps_fit(const wfi_point *point)
{
    const uint32_t steps = wfi_point_value(point, HIMENO_ID_STEPS, 2);
    return steps >= 2 && steps <= WFI_HIMENO_MAX_STEPS;
}

static bool tile_outlasts_steps(const wfi_point *point)
{
    const uint32_t overlap = 2 * (wfi_himeno_steps(point) - 1);
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return size[0] > overlap && size[1] > overlap;
}

static bool box_outlasts_steps(const wfi_point *point)
{
    const uint32_t depth = wfi_point_value(point, HIMENO_ID_DEPTH, 1);
    const uint32_t overlap = 2 * (wfi_himeno_steps(point) - 1);
    return depth >= 1 && depth <= 64 &&
           (uint64_t)wfi_point_value(point, HIMENO_ID_LOCAL_Z, 1) * depth > overlap;
}

#define FITS                                                                                       \
    {"interleave must be a multiple of 4 up to 65536, since rows are read as vectors of 4",        \
     blocks_fit},                                                                                  \
        {"pad must be between 1 and 1024", pad_fits},                                              \
    {                                                                                              \
        "reverse and own_sums are 0 or 1; moved and copy_back are 1; submit is at least 1",        \
            flags_are_flags                                                                        \
    }
#define SHORT_MARCH                                                                                \
    {                                                                                              \
        "march must be between 1 and 64, since gosa's rounding bound counts on short sums",        \
            march_is_short                                                                         \
    }
#define OUTLASTS                                                                                   \
    {"steps must be between 2 and 4", steps_fit},                                                  \
    {                                                                                              \
        "local_x and local_y must be over 2 (steps - 1), since each iteration after the first "    \
        "loses a cell on every side of the tile",                                                  \
            tile_outlasts_steps                                                                    \
    }

static const wfi_constraint plain_constraints[] = {FITS};
#define SHORT_SUBGROUPS                                                                            \
    {                                                                                              \
        "subgroups must be of 64 at most, since gosa's rounding bound counts on short sums",       \
            subgroups_are_short                                                                    \
    }
static const wfi_constraint subgroup_constraints[] = {FITS, SHORT_SUBGROUPS};
static const wfi_constraint march_constraints[] = {FITS, SHORT_MARCH};
static const wfi_constraint march4_constraints[] = {
    FITS,
    SHORT_MARCH,
    {"pad must be a multiple of 4, since rows are read as vectors of 4", pad_holds_vectors}};
static const wfi_constraint texels_constraints[] = {
    FITS,
    {"march must be between 1 and 32, since gosa's rounding bound counts on short sums and each "
     "plane has two rows",
     march_of_two_is_short},
    {"pad must be a multiple of 4, since texels are of 4 cells", pad_holds_vectors},
    {"a plane's coefficients and three planes of p must fit this device's texel buffers",
     planes_fit_texels}};
static const wfi_constraint march4_sum_constraints[] = {
    FITS,
    SHORT_MARCH,
    {"pad must be a multiple of 4, since rows are read as vectors of 4", pad_holds_vectors},
    SHORT_SUBGROUPS};
static const wfi_constraint time_constraints[] = {FITS, SHORT_MARCH, OUTLASTS};
static const wfi_constraint box_constraints[] = {
    FITS,
    OUTLASTS,
    {"depth must be between 1 and 64, and local_z times depth over 2 (steps - 1), since each "
     "iteration after the first loses a plane on either side of the box",
     box_outlasts_steps}};

/* -------------------------------------------------------------------------------- shared memory */

static uint64_t shared_sums(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return (uint64_t)size[0] * size[1] * size[2] * sizeof(float);
}

static uint64_t shared_tile(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return (size[0] + UINT64_C(2)) * (size[1] + UINT64_C(2)) * (size[2] + UINT64_C(2)) *
               sizeof(float) +
           shared_sums(point);
}

/* Three planes of each iteration of the pass. */
static uint64_t shared_levels(const wfi_point *point)
{
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return wfi_himeno_steps(point) * 3 * (size[0] + UINT64_C(2)) * (size[1] + UINT64_C(2)) *
               sizeof(float) +
           shared_sums(point);
}

static uint64_t shared_box(const wfi_point *point)
{
    const uint64_t depth = wfi_point_value(point, HIMENO_ID_DEPTH, 1);
    uint32_t size[3];
    wfi_himeno_group_size(point, size);
    return 2 * (size[0] + UINT64_C(2)) * (size[1] + UINT64_C(2)) * (size[2] * depth + 2) *
               sizeof(float) +
           shared_sums(point);
}

/* `planes` is `time` with a single iteration a pass. */
static void planes_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    (void)point;
    wfi_pipeline_constant(desc, HIMENO_ID_STEPS, 1);
}

static void subgroup_constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    wfi_pipeline_constant(desc, HIMENO_ID_SUBGROUPS, wfi_himeno_subgroups(point));
}

/* ----------------------------------------------------------------------------------------- rows */

#define ROW(text, what, from, module, parameters_, constraints_, shared_, fit_, build_)            \
    .name = text, .summary = what, .source = from,                                                 \
    .modules = {[WF_TYPE_F32] = &wfi_spv_himeno_##module##_f32},                                   \
    .parameter_count = COUNT(parameters_), .parameters = parameters_,                              \
    .constraint_count = COUNT(constraints_), .constraints = constraints_, .storage_buffers = 4,    \
    .push_bytes = sizeof(wfi_himeno_push), .shared_bytes = shared_,                                \
    .group_size = wfi_himeno_group_size, .fit = wfi_himeno_fit_##fit_,                             \
    .build = wfi_himeno_##build_

static const wfi_variant *const variants[] = {
    &(const wfi_variant){ROW("naive", "one work-item a cell, everything read from memory",
                             SOFTECH "2", naive, naive_parameters, plain_constraints, shared_sums,
                             naive, build),
                         .traffic = wfi_himeno_naive_traffic},
    &(const wfi_variant){
        ROW("moved", "as naive, all arrays and p moved between host and device every iteration",
            SOFTECH "1", naive, moved_parameters, plain_constraints, shared_sums, step, build),
        .traffic = wfi_himeno_naive_traffic},
    &(const wfi_variant){
        ROW("submits", "as naive, one submission an iteration, which the host waits for", "", naive,
            submits_parameters, plain_constraints, shared_sums, step, build),
        .traffic = wfi_himeno_naive_traffic},
    &(const wfi_variant){
        ROW("copy_back", "as naive, the new p copied back over the old one, not exchanged with it",
            "RIKEN, the Himeno benchmark's C program", naive, copy_back_parameters,
            plain_constraints, shared_sums, step, build),
        .traffic = wfi_himeno_naive_traffic},
    &(const wfi_variant){
        ROW("gosa_pass", "as naive, gosa in a dispatch of its own that reads everything again", "",
            naive, naive_parameters, plain_constraints, shared_sums, step, build_twice),
        .traffic = wfi_himeno_twice_traffic},
    &(const wfi_variant){ROW("shared", "p through a tile in shared memory with a rim of one cell",
                             SOFTECH "6", shared, shared_parameters, plain_constraints, shared_tile,
                             step, build)},
    &(const wfi_variant){ROW("padded", "as shared, rows padded to a multiple of 32 elements",
                             SOFTECH "7", shared, padded_parameters, plain_constraints, shared_tile,
                             step, build)},
    &(const wfi_variant){
        ROW("interleaved", "as padded, the twelve coefficients of 32 cells kept side by side", "",
            shared, interleaved_parameters, plain_constraints, shared_tile, step, build)},
    &(const wfi_variant){
        ROW("subgroup_sum", "as naive, gosa summed by subgroup reductions", "", subgroup,
            naive_parameters, subgroup_constraints, shared_sums, subgroup, build),
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        .traits = WFI_HIMENO_SUBGROUP_SUMS, .constants = subgroup_constants,
        .traffic = wfi_himeno_naive_traffic},
    &(const wfi_variant){
        ROW("shuffle", "as naive, neighbours along i from the subgroup's neighbouring work-items",
            "", shuffle, naive_parameters, plain_constraints, shared_sums, step, build),
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
    &(const wfi_variant){
        ROW("planes", "work-items march along k with three planes of p in shared memory (2.5-D)",
            MICIKEVICIUS, time, march_parameters, march_constraints, shared_levels, planes, build),
        .constants = planes_constants},
    &(const wfi_variant){
        ROW("march", "work-items march along k with three planes of p in registers", MICIKEVICIUS,
            march, march_parameters, march_constraints, shared_sums, march, build)},
    &(const wfi_variant){ROW("march4", "as march, four cells a work-item by vector loads", "",
                             march4, march_parameters, march4_constraints, shared_sums, march4,
                             build),
                         .traits = WFI_HIMENO_VECTORS},
    &(const wfi_variant){
        ROW("march4_sum", "as march4, gosa summed by subgroup reductions", "", march4_subgroup,
            sum_parameters, march4_sum_constraints, shared_sums, march4_sum, build),
        .subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        .traits = WFI_HIMENO_VECTORS | WFI_HIMENO_SUBGROUP_SUMS, .constants = subgroup_constants},
    &(const wfi_variant){
        ROW("pairs", "as march4, memory in words of 64 bits, which CPU drivers fetch one by one",
            "", pairs, march_parameters, march4_constraints, shared_sums, pairs, build),
        .needs = WFI_NEEDS_INT64, .traits = WFI_HIMENO_VECTORS},
    &(const wfi_variant){
        ROW("texels", "as march4, two rows an item, all that is read by texels of four cells", "",
            texels, march_parameters, texels_constraints, shared_sums, texels, build),
        .texel_buffers = 1 << WFI_HIMENO_P_IN | 1 << WFI_HIMENO_CELLS,
        .traits = WFI_HIMENO_VECTORS | WFI_HIMENO_TWO_ROWS},
    &(const wfi_variant){
        ROW("time", "several iterations a pass: coefficients are read once for all of them",
            "Holewinski, Pouchet and Sadayappan, overlapped tiling (ICS 2012)", time,
            time_parameters, time_constraints, shared_levels, time, build)},
    &(const wfi_variant){ROW("box", "as time, without marching: a work-group holds a box of cells",
                             "", box, box_parameters, box_constraints, shared_box, box, build),
                         .traits = WFI_HIMENO_BOX},
};

const wfi_family wfi_family_himeno = {
    .name = "himeno",
    .summary = "Himeno's 19-point Jacobi relaxation",
    .variant_count = COUNT(variants),
    .variants = variants,
    .flops = flops,
    .least_bytes = wfi_himeno_least_bytes,
};

void wfi_himeno_single(const wfi_point *point, wfi_point *single)
{
    const wfi_family *family = &wfi_family_himeno;
    const wfi_himeno_layout layout = wfi_himeno_layout_of(point);
    *single = *point;
    single->variant = family->variants[wfi_variant_find(family, "march4")];
    wfi_point_defaults(single);
    single->variant->fit(single);
    if (layout.p_left % 4 != 0 || !wfi_point_legal(single, NULL)) {
        single->variant = family->variants[0];
        wfi_point_defaults(single);
    }
    single->values[HIMENO_ID_PAD] = (uint32_t)layout.p_left;
    single->values[HIMENO_ID_INTERLEAVE] = layout.interleaved ? (uint32_t)layout.c_block : 0;
}
