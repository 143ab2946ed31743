/* What the files of Himeno's variants share: pieces of their rows, geometry, models and plans. */
#ifndef WFI_KERNELS_HIMENO_ROWS_H
#define WFI_KERNELS_HIMENO_ROWS_H

#include "kernels/himeno/himeno.h"
#include "profiles/himeno.h"
#include "core/arithmetic.h"
#include "wfi_shaders.h"

/* As in himeno_problem.glsl. */
typedef struct wfi_himeno_push {
    uint32_t sequence;
    uint32_t ni, nj, nk;
    uint32_t lower, upper;
    uint32_t p_row, p_plane, p_base;
    uint32_t c_row, c_plane, c_array, c_blocks, c_base;
    uint32_t groups, first, layers;
    uint32_t i_first, rims;
    float omega;
} wfi_himeno_push;

/* The variants, a file each but for those that only change a step of another. */
extern const wfi_variant wfi_himeno_naive, wfi_himeno_moved, wfi_himeno_region_part,
    wfi_himeno_region, wfi_himeno_submits, wfi_himeno_copy_back, wfi_himeno_gosa_pass,
    wfi_himeno_shared, wfi_himeno_padded, wfi_himeno_interleaved, wfi_himeno_subgroup_sum,
    wfi_himeno_shuffle, wfi_himeno_planes, wfi_himeno_march, wfi_himeno_march4,
    wfi_himeno_march4_sum, wfi_himeno_pairs, wfi_himeno_texels, wfi_himeno_time;

/* -------------------------------------------------------------------------------------- problem */

double wfi_himeno_inner_cells(const wfi_problem *problem);
double wfi_himeno_flops(const wfi_problem *problem);
/* Bytes that must be read and written at least: 13 reads and a write of every inner cell. */
double wfi_himeno_least_bytes(const wfi_problem *problem);

/* ----------------------------------------------------------------------------------- parameters */

extern const uint32_t wfi_himeno_sizes_x[7], wfi_himeno_sizes_y[5], wfi_himeno_sizes_z[3],
    wfi_himeno_marches[7], wfi_himeno_pads[4], wfi_himeno_blocks[5], wfi_himeno_flags[2];

#define WFI_HIMENO_PARAMETER(name, id, value, candidates, meaning)                                 \
    {                                                                                              \
        name, id, value, WFI_COUNT(candidates), candidates, meaning                                \
    }
#define WFI_HIMENO_LOCAL_X(value)                                                                  \
    WFI_HIMENO_PARAMETER("local_x", HIMENO_ID_LOCAL_X, value, wfi_himeno_sizes_x,                  \
                         "work-items of a work-group along i, the contiguous axis")
#define WFI_HIMENO_LOCAL_Y(value)                                                                  \
    WFI_HIMENO_PARAMETER("local_y", HIMENO_ID_LOCAL_Y, value, wfi_himeno_sizes_y,                  \
                         "work-items of a work-group along j")
#define WFI_HIMENO_LOCAL_Z(value)                                                                  \
    WFI_HIMENO_PARAMETER("local_z", HIMENO_ID_LOCAL_Z, value, wfi_himeno_sizes_z,                  \
                         "work-items of a work-group along k")
#define WFI_HIMENO_MARCH(value)                                                                    \
    WFI_HIMENO_PARAMETER("march", HIMENO_ID_MARCH, value, wfi_himeno_marches,                      \
                         "planes along k that each work-item updates")
#define WFI_HIMENO_PAD(value)                                                                      \
    WFI_HIMENO_PARAMETER("pad", HIMENO_ID_PAD, value, wfi_himeno_pads,                             \
                         "elements to whose multiple rows are padded")
#define WFI_HIMENO_INTERLEAVE(value)                                                               \
    WFI_HIMENO_PARAMETER("interleave", HIMENO_ID_INTERLEAVE, value, wfi_himeno_blocks,             \
                         "cells of a row whose twelve coefficients lie side by side; 0: they lie " \
                         "in twelve arrays")
#define WFI_HIMENO_REVERSE                                                                         \
    WFI_HIMENO_PARAMETER("reverse", HIMENO_ID_REVERSE, 0, wfi_himeno_flags,                        \
                         "1: every other pass runs from the last plane to the first, so that it "  \
                         "begins with what caches still hold")
#define WFI_HIMENO_OWN_SUMS                                                                        \
    WFI_HIMENO_PARAMETER("own_sums", HIMENO_ID_OWN_SUMS, 0, wfi_himeno_flags,                      \
                         "1: each work-item stores its own partial sum of gosa; 0: each "          \
                         "work-group stores one")

/* ---------------------------------------------------------------------------------- constraints */

bool wfi_himeno_blocks_fit(const wfi_point *point);
bool wfi_himeno_pad_fits(const wfi_point *point);
bool wfi_himeno_flags_fit(const wfi_point *point);
bool wfi_himeno_pad_holds_vectors(const wfi_point *point);
bool wfi_himeno_march_is_short(const wfi_point *point);
bool wfi_himeno_subgroups_are_short(const wfi_point *point);

#define WFI_HIMENO_FITS                                                                            \
    {"interleave must be a multiple of 4 up to 65536, since rows are read as vectors of 4",        \
     wfi_himeno_blocks_fit},                                                                       \
        {"pad must be between 1 and 1024", wfi_himeno_pad_fits},                                   \
    {                                                                                              \
        "reverse and own_sums must be 0 or 1", wfi_himeno_flags_fit                                \
    }
#define WFI_HIMENO_SHORT_MARCH                                                                     \
    {                                                                                              \
        "march must be between 1 and 64, since gosa's rounding bound counts on short sums",        \
            wfi_himeno_march_is_short                                                              \
    }
#define WFI_HIMENO_PADDED_VECTORS                                                                  \
    {                                                                                              \
        "pad must be a multiple of 4, since rows are read as vectors of 4",                        \
            wfi_himeno_pad_holds_vectors                                                           \
    }
#define WFI_HIMENO_SHORT_SUBGROUPS                                                                 \
    {                                                                                              \
        "subgroups must have at most 64 work-items, since gosa's rounding bound counts on short "  \
        "sums",                                                                                    \
            wfi_himeno_subgroups_are_short                                                         \
    }

/* ------------------------------------------------------------------------------------- geometry */

/* wfi_variant.traits */
enum {
    WFI_HIMENO_VECTORS = 1 << 0,       /* a work-item updates four cells along i */
    WFI_HIMENO_TWO_ROWS = 1 << 1,      /* a work-item updates two rows along j */
    WFI_HIMENO_SUBGROUP_SUMS = 1 << 2, /* subgroup reductions sum gosa */
    WFI_HIMENO_MOVED = 1 << 3,         /* the solver moves all arrays in every iteration,
                                          or at the ends of every HIMENO_ID_REGION of them */
    WFI_HIMENO_COPIES_BACK = 1 << 4,   /* the solver copies the new p over the old one */
    WFI_HIMENO_MOVES_PART = 1 << 5,    /* of p, the rows of inner cells alone */
    WFI_HIMENO_TILE = 1 << 6,          /* p goes through a tile in shared memory */
};

void wfi_himeno_group_size(const wfi_point *point, uint32_t size[3]);
/* Work-groups along x, y, z for so many planes of the whole grid, and for a slab. */
void wfi_himeno_groups(const wfi_point *point, uint32_t planes, uint32_t groups[3]);
void wfi_himeno_slab_groups(const wfi_point *point, const wfi_himeno_slab *slab,
                            uint32_t groups[3]);
/* Bytes of shared memory for the tree that sums gosa; and with three planes of p for each iteration
 * of a pass beside it. */
uint64_t wfi_himeno_shared_sums(const wfi_point *point);
uint64_t wfi_himeno_shared_planes(const wfi_point *point);
/* wfi_variant.constants of variants with WFI_HIMENO_SUBGROUP_SUMS. */
void wfi_himeno_subgroup_constants(const wfi_point *point, wfi_pipeline_desc *desc);

/* --------------------------------------------------------------------------------------- models */

/* `fit` of the ladder's steps that are there to be compared with: their time is so long that they
 * are never the choice. */
double wfi_himeno_fit_step(wfi_point *point);
/* Small and large grids have fewer and more inner cells than this, as wfi_himeno_grid says. */
#define WFI_HIMENO_SMALL_CELLS 2e6
#define WFI_HIMENO_LARGE_CELLS 1e8
/* Bytes of all arrays that caches of large GPUs hold. */
#define WFI_HIMENO_CACHED_BYTES 42e6
/* Whether the grid is small and its arrays are larger than such caches (of GPUs alone). */
bool wfi_himeno_is_beyond_caches(const wfi_point *point);
#define WFI_HIMENO_ITEM_REGISTERS 64 /* of columns, as compilers tell them */
/* Work-groups of so many work-items that a compute unit holds at once, where nothing of it is
 * published. */
double wfi_himeno_guessed_groups(double items, double registers);
/* Whether every other pass had better run from the last plane to the first, so that it begins with
 * what caches still hold: they must not hold all, and one wave of work-groups has no order. */
bool wfi_himeno_goes_back(const wfi_point *point);
/* Whether most of an iteration's time passes before and after its cells are updated. */
bool wfi_himeno_is_tiny(const wfi_point *point);
/* Sets the padding of rows: the profile's, or `least` elements where the profile's would make rows
 * of inner cells over a twentieth longer. */
void wfi_himeno_fit_pad(wfi_point *point, uint32_t least);
/* Time of an iteration of `time` at the point's values, over that of an iteration a pass, by what
 * both move (pass_time.c). */
double wfi_himeno_pass_time(const wfi_point *point);
/* Sets a work-group of so many work-items with `width` cells along i each. Along i it has those of
 * a row, `most_x` at most, and half as many down to `least_x` where a tenth fewer then cover
 * rows. */
void wfi_himeno_fit_group(wfi_point *point, uint32_t width, uint32_t most_x, uint32_t least_x,
                          uint32_t items);
/* Sets work-groups and columns of a variant that marches with `width` cells along i a work-item. */
void wfi_himeno_fit_columns(wfi_point *point, uint32_t width);

/* -------------------------------------------------------------------------------------- traffic */

/* wfi_variant.traffic of variants that read everything from memory, of those that march with three
 * planes in registers, and of those that read p through a tile in shared memory. */
void wfi_himeno_memory_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_shuffle_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_march_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_texels_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_tile_traffic(const wfi_point *point, wfi_traffic *out);
void wfi_himeno_planes_traffic(const wfi_point *point, wfi_traffic *out);

void wfi_himeno_access(const wfi_point *point, wf_access *out); /* wfi_variant.access */

/* ---------------------------------------------------------------------------------------- plans */

/* wfi_variant.build; params is a wfi_himeno_slab. */
wf_result wfi_himeno_build(wf_plan *plan, const wfi_point *point, const void *params);
/* The same as `count` dispatches, each with its value of HIMENO_ID_PASSES. */
wf_result wfi_himeno_build_passes(wf_plan *plan, const wfi_point *point,
                                  const wfi_himeno_slab *slab, const uint32_t *passes,
                                  uint32_t count);

#define WFI_HIMENO_ROW(module, parameters_, constraints_)                                          \
    .modules = {[WF_TYPE_F32] = &wfi_spv_himeno_##module##_f32},                                   \
    .parameter_count = WFI_COUNT(parameters_), .parameters = parameters_,                          \
    .constraint_count = WFI_COUNT(constraints_), .constraints = constraints_,                      \
    .storage_buffers = 4, .push_bytes = sizeof(wfi_himeno_push),                                   \
    .group_size = wfi_himeno_group_size, .access = wfi_himeno_access

#define WFI_HIMENO_SOFTECH "SofTech, Himeno benchmark on GPUs (2010), step "
#define WFI_HIMENO_MICIKEVICIUS                                                                    \
    "Micikevicius, 3D finite difference computation on GPUs (GPGPU-2, 2009)"

#endif
