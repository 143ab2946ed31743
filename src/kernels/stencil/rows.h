/* What the files of the variants share: pieces of their rows, geometry and models. */
#ifndef WFI_KERNELS_STENCIL_ROWS_H
#define WFI_KERNELS_STENCIL_ROWS_H

#include "kernels/stencil/stencil.h"
#include "profiles/stencil.h"
#include "core/arithmetic.h"
#include "wfi_shaders.h"

/* As in stencil_problem.glsl. */
typedef struct wfi_stencil_push {
    int32_t ni, nj, nk;
    uint32_t row, plane, base_in, base_out;
    int32_t first, end, first_i, end_i, first_j, end_j;
} wfi_stencil_push;

extern const wfi_variant wfi_stencil_naive, wfi_stencil_march, wfi_stencil_vector,
    wfi_stencil_march_shared, wfi_stencil_time, wfi_stencil_time_vector;

/* Cells that work-groups load, each once a group, where they make one step. */
double wfi_stencil_cells_once(const wfi_point *point);
/* wfi_variant.traffic of columns that a work-item keeps in registers. */
void wfi_stencil_march_traffic(const wfi_point *point, wfi_traffic *out);
/* The same of several steps a pass. */
void wfi_stencil_time_traffic(const wfi_point *point, wfi_traffic *out);
double wfi_stencil_flops(const wfi_problem *problem);
double wfi_stencil_least_bytes(const wfi_problem *problem);

/* wfi_variant.traits */
enum {
    WFI_STENCIL_VECTORS = 1 << 0,  /* a work-item updates a vector along i */
    WFI_STENCIL_ENDS = 1 << 1,     /* tiles end where a grid does that is not periodic */
    WFI_STENCIL_READS_ON = 1 << 2, /* the plane after the last one that is needed is loaded too */
};

/* ----------------------------------------------------------------------------------- parameters */

extern const uint32_t wfi_stencil_sizes_x[6], wfi_stencil_sizes_y[5], wfi_stencil_marches[9],
    wfi_stencil_step_counts[6], wfi_stencil_row_counts[4];

#define WFI_STENCIL_PARAMETER(name, id, value, candidates, meaning)                                \
    {                                                                                              \
        name, id, value, WFI_COUNT(candidates), candidates, meaning                                \
    }
#define WFI_STENCIL_LOCAL_X(value)                                                                 \
    WFI_STENCIL_PARAMETER("local_x", STENCIL_ID_LOCAL_X, value, wfi_stencil_sizes_x,               \
                          "work-items of a work-group along x, the contiguous axis")
#define WFI_STENCIL_LOCAL_Y(value)                                                                 \
    WFI_STENCIL_PARAMETER("local_y", STENCIL_ID_LOCAL_Y, value, wfi_stencil_sizes_y,               \
                          "work-items of a work-group along y (1 in two dimensions)")
#define WFI_STENCIL_MARCH(value)                                                                   \
    WFI_STENCIL_PARAMETER("march", STENCIL_ID_MARCH, value, wfi_stencil_marches,                   \
                          "planes (rows in two dimensions) that each work-item updates")
#define WFI_STENCIL_STEPS                                                                          \
    WFI_STENCIL_PARAMETER("steps", STENCIL_ID_STEPS, 2, wfi_stencil_step_counts,                   \
                          "steps that one pass over memory makes")
#define WFI_STENCIL_ROWS                                                                           \
    WFI_STENCIL_PARAMETER("rows", STENCIL_ID_ROWS, 1, wfi_stencil_row_counts,                      \
                          "cells along y that each work-item updates")

/* ---------------------------------------------------------------------------------- constraints */

bool wfi_stencil_march_fits(const wfi_point *point);
bool wfi_stencil_flat_is_flat(const wfi_point *point);
bool wfi_stencil_fits_dispatch(const wfi_point *point);
bool wfi_stencil_rows_hold_vectors(const wfi_point *point);
bool wfi_stencil_is_star(const wfi_point *point);
bool wfi_stencil_steps_fit(const wfi_point *point);
bool wfi_stencil_rows_fit(const wfi_point *point);
bool wfi_stencil_tile_outlasts_steps(const wfi_point *point);

#define WFI_STENCIL_FITS                                                                           \
    {"march must be between 1 and 4096", wfi_stencil_march_fits},                                  \
    {                                                                                              \
        "local_y and rows must be 1 in two dimensions, whose rows are marched along",              \
            wfi_stencil_flat_is_flat                                                               \
    }
#define WFI_STENCIL_FITS_DISPATCH                                                                  \
    {                                                                                              \
        "the grid must need no more work-groups along x and y than a dispatch can have",           \
            wfi_stencil_fits_dispatch                                                              \
    }
#define WFI_STENCIL_ROWS_HOLD_VECTORS                                                              \
    {                                                                                              \
        "the row stride must be a multiple of a vector (4 elements, 2 of f64), since rows are "    \
        "read as vectors",                                                                         \
            wfi_stencil_rows_hold_vectors                                                          \
    }
#define WFI_STENCIL_FITS_STEPS                                                                     \
    {"steps must be between 1 and 16, and at most those of the plan", wfi_stencil_steps_fit},      \
        {"rows must be between 1 and 16, since a work-item keeps them in registers",               \
         wfi_stencil_rows_fit},                                                                    \
        {"local_x, and local_y times rows, must be over 2 x radius x steps, since each step "      \
         "loses radius cells on every side of the tile",                                           \
         wfi_stencil_tile_outlasts_steps},                                                         \
        WFI_STENCIL_FITS_DISPATCH,                                                                 \
    {                                                                                              \
        "a binding must hold 2 x radius x steps planes (rows in two dimensions) and those that "   \
        "are updated",                                                                             \
            wfi_stencil_fits_binding                                                               \
    }

/* ------------------------------------------------------------------------------------- geometry */

void wfi_stencil_group_size(const wfi_point *point, uint32_t size[3]);
/* Bytes of an element of the type that is computed with: f16 is computed in f32. */
uint64_t wfi_stencil_real_bytes(const wfi_point *point);
/* Of a dispatch over the whole grid; 0: no tile is left. */
double wfi_stencil_group_count(const wfi_point *point);
/* wfi_variant.access */
void wfi_stencil_access(const wfi_point *point, wf_access *out);
/* wfi_variant.constants */
void wfi_stencil_constants(const wfi_point *point, wfi_pipeline_desc *desc);

/* --------------------------------------------------------------------------------------- models */

/* Expected times of plans are over the bytes of one read or write of the grid a step. */
double wfi_stencil_bytes(const wfi_point *point);
/* Work-items that a row takes. */
uint64_t wfi_stencil_row_items(const wfi_point *point);
/* Work-groups as wide as the rows, up to `items` work-items, of them `most_x` along i. */
void wfi_stencil_fit_group(wfi_point *point, uint32_t items, uint32_t most_x);
/* The least of them along i. */
#define WFI_STENCIL_LEAST_X 8
/* Whether work-groups and columns go by times that GPUs of the kind took: not on processors, and
 * not where what is published of a GPU's units chooses. */
bool wfi_stencil_goes_by_times(const wfi_point *point);
/* Work-items that a unit holds there, where nothing is published. */
#define WFI_STENCIL_UNIT_ITEMS 2048
/* Where that is so: the work-items of a work-group. */
uint32_t wfi_stencil_items_by_times(const wfi_point *point);
/* Work-groups of `items`, as wide as `most_x` where that leaves few work-items without a cell. */
void wfi_stencil_fit_items(wfi_point *point, uint32_t items, uint32_t most_x);
/* The same with wfi_stencil_items_by_times, and columns of `march` planes, or of fewer while the
 * device is not full. */
void wfi_stencil_fit_by_times(wfi_point *point, uint32_t most_x, uint32_t march);
/* Makes columns as long as leave a processor's threads enough of them, all but the last alike. */
void wfi_stencil_fit_long_columns(wfi_point *point);
/* A star of radius 3 or 4 in three dimensions, computed in f32, where times choose. */
bool wfi_stencil_is_far_star(const wfi_point *point);
/* A box of a radius over 1 on a GPU. */
bool wfi_stencil_is_wide_box(const wfi_point *point);
/* Whether the point's work-groups give every compute unit so many work-items. */
bool wfi_stencil_has_items(const wfi_point *point, uint32_t unit_items);
/* Halves the columns, down to `shortest` planes, while compute units have fewer work-items. */
void wfi_stencil_shorten_to(wfi_point *point, uint32_t shortest, uint32_t unit_items);
/* The same while the device is not full. */
void wfi_stencil_shorten_columns(wfi_point *point);
/* Whether several steps a pass can pay: shared memory is faster than caches. */
bool wfi_stencil_has_fast_shared(const wfi_point *point);
/* The time of a variant that keeps planes or several cells in registers, over what it is where
 * there are enough of them. */
double wfi_stencil_register_cost(const wfi_point *point);

/* Where nobody has measured the device and what is published of its units says that they, and not
 * memory, set the time: sets the work-group and the columns of the least time. Returns `cost`, or
 * that time in the same unit where it is longer. */
double wfi_stencil_fit_published(wfi_point *point, double cost);
/* That cost of the point as it is. */
double wfi_stencil_published_cost(const wfi_point *point, double cost);

/* Values of variants that make several steps a pass. */
typedef struct wfi_stencil_values {
    uint32_t x, y, rows, march, steps;
} wfi_stencil_values;

void wfi_stencil_set_values(wfi_point *point, const wfi_stencil_values *values);
/* Sets the first legal of `count` values that fills the device; where none does the legal one with
 * the shortest columns, and where none is legal the last. */
const wfi_stencil_values *wfi_stencil_set_filling(wfi_point *point,
                                                  const wfi_stencil_values *values, size_t count);

/* Whether the times of several steps a pass are predicted: stars of radius 1 where nothing that is
 * published chooses. */
bool wfi_stencil_steps_are_timed(const wfi_point *point);
/* Where they are: sets the values of the least time, of these tiles with up to so many steps a
 * pass; columns are tried in several lengths. Returns the time as fit does; INFINITY: none is
 * legal. */
double wfi_stencil_fit_steps(wfi_point *point, const wfi_stencil_values *tiles, size_t count);
/* wfi_variant.expect of several steps a pass. */
double wfi_stencil_expect_steps(const wfi_point *point);

/* ---------------------------------------------------------------------------------------- plans */

/* Coefficients have the type that is computed with. They lie in memory that the host writes, or a
 * solver binds them. */
wf_result wfi_stencil_add_coefficients(wf_plan *plan, const wfi_point *point, const double *values);
/* wfi_variant.build; params: the coefficients (f64), wfi_stencil_taps of them. */
wf_result wfi_stencil_build(wf_plan *plan, const wfi_point *point, const void *params);

#define WFI_STENCIL_ROW(text, parameters_, constraints_)                                           \
    .name = #text, .modules = WFI_MODULES_stencil_##text,                                          \
    .parameter_count = WFI_COUNT(parameters_), .parameters = parameters_,                          \
    .constraint_count = WFI_COUNT(constraints_), .constraints = constraints_,                      \
    .storage_buffers = 4, .uniform_buffers = 1 << STENCIL_TAPS_BINDING,                            \
    .push_bytes = sizeof(wfi_stencil_push), .group_size = wfi_stencil_group_size,                  \
    .constants = wfi_stencil_constants, .access = wfi_stencil_access, .build = wfi_stencil_build

#endif
