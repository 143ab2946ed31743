/* Star and box stencils with constant coefficients: the rows of the grid family. */
#include "kernels/stencil/stencil.h"

#include "core/arithmetic.h"
#include "kernels/families.h"
#include "kernels/traffic.h"
#include "wfi_shaders.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

wfi_stencil_axes wfi_stencil_axes_of(const wfi_stencil_problem *p)
{
    if (p->dimensions == 2)
        return (wfi_stencil_axes){p->nx, 1, p->ny, 0, p->row_stride, true};
    return (wfi_stencil_axes){p->nx, p->ny, p->nz, p->row_stride, p->row_stride * p->ny, false};
}

uint32_t wfi_stencil_taps(const wfi_stencil_problem *p)
{
    const uint32_t side = 2 * p->radius + 1;
    if (p->shape == WF_STENCIL_STAR)
        return 1 + 2 * p->radius * p->dimensions;
    return side * side * (p->dimensions == 3 ? side : 1);
}

uint64_t wfi_stencil_elements(const wfi_stencil_problem *p)
{
    return p->row_stride * p->ny * (p->dimensions == 3 ? p->nz : 1);
}

static double cells(const wfi_stencil_problem *p)
{
    return (double)p->nx * (double)p->ny * (p->dimensions == 3 ? (double)p->nz : 1);
}

/* A multiplication and an addition a coefficient. */
static double flops(const wfi_problem *problem)
{
    const wfi_stencil_problem *p = &problem->stencil;
    return (2.0 * wfi_stencil_taps(p) - 1) * cells(p) * p->steps;
}

/* A read and a write of every cell each step. */
static double least_bytes(const wfi_problem *problem)
{
    const wfi_stencil_problem *p = &problem->stencil;
    return 2.0 * (double)wf_type_size(problem->type) * cells(p) * p->steps;
}

/* ----------------------------------------------------------------------------------- parameters */

static const uint32_t sizes_x[] = {8, 16, 32, 64, 128, 256}, sizes_y[] = {1, 2, 4, 8, 16},
                      sizes_z[] = {1, 2, 4}, marches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256},
                      step_counts[] = {1, 2, 3, 4, 6, 8}, row_counts[] = {1, 2, 4, 8},
                      buffer_counts[] = {1, 2};

#define LOCAL_X(value)                                                                             \
    {                                                                                              \
        "local_x", STENCIL_ID_LOCAL_X, value, COUNT(sizes_x), sizes_x,                             \
            "work-items along x (contiguous)"                                                      \
    }
#define LOCAL_Y(value)                                                                             \
    {                                                                                              \
        "local_y", STENCIL_ID_LOCAL_Y, value, COUNT(sizes_y), sizes_y,                             \
            "work-items along y (1 in two dimensions)"                                             \
    }
#define MARCH(value)                                                                               \
    {                                                                                              \
        "march", STENCIL_ID_MARCH, value, COUNT(marches), marches,                                 \
            "planes (rows in two dimensions) that a work-item updates"                             \
    }

static const wfi_parameter naive_parameters[] = {LOCAL_X(128),
                                                 LOCAL_Y(1),
                                                 {"local_z", STENCIL_ID_LOCAL_Z, 1, COUNT(sizes_z),
                                                  sizes_z,
                                                  "work-items along z (y in two dimensions)"}};
static const wfi_parameter march_parameters[] = {LOCAL_X(128), LOCAL_Y(1), MARCH(4)};
#define TIME_PARAMETERS(x)                                                                         \
    LOCAL_X(x), LOCAL_Y(1),                                                                        \
        MARCH(16), {"steps",     STENCIL_ID_STEPS,          2, COUNT(step_counts),                 \
                    step_counts, "steps a pass over memory"},                                      \
    {                                                                                              \
        "rows", STENCIL_ID_ROWS, 1, COUNT(row_counts), row_counts,                                 \
            "cells along y that an item updates"                                                   \
    }
static const wfi_parameter time_parameters[] = {TIME_PARAMETERS(64)};
static const wfi_parameter time_vector_parameters[] = {
    TIME_PARAMETERS(32),
    {"buffers", STENCIL_ID_BUFFERS, 2, COUNT(buffer_counts), buffer_counts,
     "planes a step in shared memory; with one, a second barrier a plane"}};

/* ---------------------------------------------------------------------------------- constraints */

static bool march_fits(const wfi_point *point)
{
    const uint32_t march = wfi_point_value(point, STENCIL_ID_MARCH, 1);
    return march >= 1 && march <= 4096;
}

static bool flat_is_flat(const wfi_point *point)
{
    return point->problem->stencil.dimensions == 3 ||
           (wfi_point_value(point, STENCIL_ID_LOCAL_Y, 1) == 1 &&
            wfi_point_value(point, STENCIL_ID_ROWS, 1) == 1);
}

static bool rows_hold_vectors(const wfi_point *point)
{
    return point->problem->stencil.row_stride % wfi_stencil_width(point) == 0;
}

static bool is_star(const wfi_point *point)
{
    return point->problem->stencil.shape == WF_STENCIL_STAR;
}

static bool is_box(const wfi_point *point)
{
    return point->problem->stencil.shape == WF_STENCIL_BOX;
}

static bool steps_fit(const wfi_point *point)
{
    const uint32_t steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    return steps >= 1 && steps <= 16 && steps <= point->problem->stencil.steps;
}

static bool rows_fit(const wfi_point *point)
{
    const uint32_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1);
    return rows >= 1 && rows <= 16;
}

static bool buffers_fit(const wfi_point *point)
{
    const uint32_t buffers = wfi_point_value(point, STENCIL_ID_BUFFERS, 2);
    return buffers == 1 || buffers == 2;
}

static bool radius_is_one(const wfi_point *point)
{
    return point->problem->stencil.radius == 1;
}

static bool tile_outlasts_steps(const wfi_point *point)
{
    const wfi_stencil_tile t = wfi_stencil_tile_of(point);
    return t.i > 0 && t.j > 0;
}

#define FITS                                                                                       \
    {"march must be between 1 and 4096", march_fits},                                              \
    {                                                                                              \
        "local_y and rows must be 1 in two dimensions, whose rows are marched along", flat_is_flat \
    }
#define FITS_DISPATCH                                                                              \
    {                                                                                              \
        "the grid must need no more work-groups along x and y than a dispatch can have",           \
            wfi_stencil_fits_dispatch                                                              \
    }
#define ROWS_HOLD_VECTORS                                                                          \
    {                                                                                              \
        "rows must lie a multiple of a vector apart (4 elements, 2 of f64), since they are read "  \
        "so",                                                                                      \
            rows_hold_vectors                                                                      \
    }
#define FITS_STEPS                                                                                 \
    {"steps must be between 1 and 16, and at most those of the plan", steps_fit},                  \
        {"rows must be between 1 and 16", rows_fit},                                               \
        {"local_x, and local_y times rows, must be over 2 x radius x steps, since each step "      \
         "loses radius cells on every side of the tile",                                           \
         tile_outlasts_steps},                                                                     \
        FITS_DISPATCH,                                                                             \
    {                                                                                              \
        "a binding must hold 2 x radius x steps planes (rows in two dimensions) and those that "   \
        "are updated",                                                                             \
            wfi_stencil_fits_binding                                                               \
    }

static const wfi_constraint plain_constraints[] = {FITS};
static const wfi_constraint march_constraints[] = {FITS, FITS_DISPATCH};
static const wfi_constraint vector_constraints[] = {FITS, FITS_DISPATCH, ROWS_HOLD_VECTORS};
static const wfi_constraint time_constraints[] = {
    FITS,
    {"the stencil must be a star: time_box is for boxes, of which every plane's neighbours are in "
     "shared memory",
     is_star},
    FITS_STEPS};
static const wfi_constraint time_vector_constraints[] = {
    FITS,
    {"the stencil must be a star: the corners of blocks are not exchanged", is_star},
    {"radius must be 1, since a block gets a single row or column of each neighbour",
     radius_is_one},
    {"buffers must be 1 or 2", buffers_fit},
    ROWS_HOLD_VECTORS,
    FITS_STEPS};
static const wfi_constraint time_box_constraints[] = {
    FITS,
    {"the stencil must be a box: time keeps a star's planes in registers", is_box},
    FITS_STEPS};

/* ------------------------------------------------------------------------------------- geometry */

static void group_size(const wfi_point *point, uint32_t size[3])
{
    size[0] = wfi_point_value(point, STENCIL_ID_LOCAL_X, 1);
    size[1] = wfi_point_value(point, STENCIL_ID_LOCAL_Y, 1);
    size[2] = wfi_point_value(point, STENCIL_ID_LOCAL_Z, 1);
}

uint32_t wfi_stencil_width(const wfi_point *point)
{
    const wf_type type = point->problem->type;
    return !(point->variant->traits & WFI_STENCIL_VECTORS) ? 1 : type == WF_TYPE_F64 ? 2 : 4;
}

wfi_stencil_tile wfi_stencil_tile_of(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool time = wfi_variant_has(point->variant, STENCIL_ID_STEPS);
    const uint32_t side = time ? p->radius * wfi_point_value(point, STENCIL_ID_STEPS, 1) : 0;
    const uint32_t width = wfi_stencil_width(point);
    const bool flat = p->dimensions == 2;
    const int64_t overlap_i = wfi_round_up(side, width), overlap_j = flat ? 0 : side;
    const bool ends = point->variant->traits & WFI_STENCIL_ENDS && p->border != WF_BORDER_PERIODIC;
    uint32_t size[3];
    group_size(point, size);
    /* Along i by whole vectors. */
    return (wfi_stencil_tile){(int64_t)size[0] * width - 2 * overlap_i,
                              (int64_t)size[1] * wfi_point_value(point, STENCIL_ID_ROWS, 1) -
                                  2 * overlap_j,
                              (int64_t)size[2] * wfi_point_value(point, STENCIL_ID_MARCH, 1),
                              ends ? overlap_i : 0, ends ? overlap_j : 0};
}

/* Bytes of a plane of each level. */
static uint64_t level_plane(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t radius_j = p->dimensions == 2 ? 0 : p->radius;
    const uint64_t real = point->problem->type == WF_TYPE_F64 ? 8 : 4;
    uint32_t size[3];
    group_size(point, size);
    return wfi_point_value(point, STENCIL_ID_STEPS, 1) * (size[0] + UINT64_C(2) * p->radius) *
           ((uint64_t)size[1] * wfi_point_value(point, STENCIL_ID_ROWS, 1) + 2 * radius_j) * real;
}

static uint64_t time_shared(const wfi_point *point)
{
    return level_plane(point) * (point->problem->stencil.radius + UINT64_C(1));
}

/* One or two planes a level, of each the first and last column of every item's block and what lies
 * between them of its first and last row. */
static uint64_t time_vector_shared(const wfi_point *point)
{
    const uint64_t real = point->problem->type == WF_TYPE_F64 ? 8 : 4;
    const uint64_t rows = wfi_point_value(point, STENCIL_ID_ROWS, 1),
                   middle = wfi_stencil_width(point) - 2;
    const uint64_t levels = (uint64_t)wfi_point_value(point, STENCIL_ID_STEPS, 1) *
                            wfi_point_value(point, STENCIL_ID_BUFFERS, 2);
    uint32_t size[3];
    group_size(point, size);
    const uint64_t blocks = levels * size[0] * size[1] * real;
    return point->problem->stencil.dimensions == 2
               ? blocks * 2 * rows + middle * real
               : blocks * (2 * rows + (rows > 1 ? 2 : 1) * middle);
}

static uint64_t time_box_shared(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t mirrored = 2 * (p->radius + UINT64_C(1));
    return level_plane(point) * (p->border == WF_BORDER_NEUMANN ? mirrored : 2);
}

static void constants(const wfi_point *point, wfi_pipeline_desc *desc)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const wfi_constant all[] = {
        {STENCIL_ID_RADIUS, p->radius},
        {STENCIL_ID_SHAPE, p->shape == WF_STENCIL_BOX ? STENCIL_BOX : STENCIL_STAR},
        {STENCIL_ID_BORDER, p->border == WF_BORDER_NEUMANN    ? STENCIL_NEUMANN
                            : p->border == WF_BORDER_PERIODIC ? STENCIL_PERIODIC
                                                              : STENCIL_DIRICHLET},
        {STENCIL_ID_FLAT, p->dimensions == 2},
        {STENCIL_ID_EVEN, p->nx % wfi_stencil_width(point) == 0},
        {STENCIL_ID_STOP_AT, p->stoppable ? wfi_stencil_taps(p) : 0}};
    for (size_t i = 0; i < COUNT(all); i++)
        wfi_pipeline_constant(desc, all[i].id, all[i].value);
}

/* ----------------------------------------------------------------------------------------- rows */

#define ROW(text, what, from, parameters_, constraints_, shared_)                                  \
    .name = #text, .summary = what, .source = from,                                                \
    .modules = {[WF_TYPE_F32] = &wfi_spv_stencil_##text##_f32,                                     \
                [WF_TYPE_F64] = &wfi_spv_stencil_##text##_f64,                                     \
                [WF_TYPE_F16] = &wfi_spv_stencil_##text##_f16},                                    \
    .parameter_count = COUNT(parameters_), .parameters = parameters_,                              \
    .constraint_count = COUNT(constraints_), .constraints = constraints_, .storage_buffers = 3,    \
    .push_bytes = sizeof(wfi_stencil_push), .shared_bytes = shared_, .group_size = group_size,     \
    .constants = constants, .fit = wfi_stencil_fit_##text, .build = wfi_stencil_build

static const wfi_variant *const variants[] = {
    &(const wfi_variant){ROW(naive, "one work-item a cell, everything read from memory", "",
                             naive_parameters, plain_constraints, NULL),
                         .traffic = wfi_stencil_naive_traffic},
    &(const wfi_variant){
        ROW(march, "work-items march along the slowest axis with a star's planes in registers",
            "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)",
            march_parameters, march_constraints, NULL)},
    &(const wfi_variant){ROW(vector, "as march, several cells a work-item by vector loads", "",
                             march_parameters, vector_constraints, NULL),
                         .traits = WFI_STENCIL_VECTORS},
    &(const wfi_variant){ROW(time, "several steps a pass over memory, tiles overlapping",
                             "Holewinski, Pouchet and Sadayappan, overlapped tiling (ICS 2012)",
                             time_parameters, time_constraints, time_shared),
                         .traits = WFI_STENCIL_READS_ON},
    &(const wfi_variant){
        ROW(time_vector, "as time, a block of cells a work-item: only its edges in shared memory",
            "", time_vector_parameters, time_vector_constraints, time_vector_shared),
        .traits = WFI_STENCIL_VECTORS | WFI_STENCIL_ENDS},
    &(const wfi_variant){ROW(time_box,
                             "as time for boxes: sums of the planes under way in registers", "",
                             time_parameters, time_box_constraints, time_box_shared)},
};

const wfi_family wfi_family_stencil = {
    .name = "stencil",
    .summary = "star and box stencils with constant coefficients",
    .variant_count = COUNT(variants),
    .variants = variants,
    .flops = flops,
    .least_bytes = least_bytes,
};
