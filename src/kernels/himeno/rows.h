/* What the Himeno rows of the stencil family share: how they are built, and the model of good values. */
#ifndef WFI_KERNELS_HIMENO_ROWS_H
#define WFI_KERNELS_HIMENO_ROWS_H

#include "plan/family.h"

/* As in himeno_problem.glsl. */
typedef struct wfi_himeno_push {
    uint32_t sequence;
    uint32_t ni, nj, nk;
    uint32_t lower, upper;
    uint32_t p_row, p_plane, p_base;
    uint32_t c_row, c_plane, c_array, c_blocks, c_base;
    uint32_t groups, first, layers;
    float omega;
} wfi_himeno_push;

/* wfi_variant.traits */
enum {
    WFI_HIMENO_VECTORS = 1 << 0,  /* a work-item updates four cells along i */
    WFI_HIMENO_TWO_ROWS = 1 << 1, /* … two along j */
    WFI_HIMENO_BOX = 1 << 2,      /* … `depth` along k, whose ends each iteration loses too */
    WFI_HIMENO_SUBGROUP_SUMS = 1 << 3, /* gosa is summed by subgroup reductions */
};

double wfi_himeno_inner_cells(const wfi_problem *problem);
double wfi_himeno_least_bytes(const wfi_problem *problem);

/* himeno_build.c */
void wfi_himeno_group_size(const wfi_point *point, uint32_t size[3]);
wf_result wfi_himeno_build(wf_plan *plan, const wfi_point *point, const void *params);
/* The update and gosa as two dispatches, each of which reads everything. */
wf_result wfi_himeno_build_twice(wf_plan *plan, const wfi_point *point, const void *params);

/* himeno_model.c: `fit` of each row. Those of steps that are there to be compared with say what a
 * compute device makes of them, so that they are never the choice. */
double wfi_himeno_fit_naive(wfi_point *point);
double wfi_himeno_fit_step(wfi_point *point);
double wfi_himeno_fit_subgroup(wfi_point *point);
double wfi_himeno_fit_march(wfi_point *point);
double wfi_himeno_fit_march4(wfi_point *point);
double wfi_himeno_fit_march4_sum(wfi_point *point);
double wfi_himeno_fit_pairs(wfi_point *point);
double wfi_himeno_fit_texels(wfi_point *point);
double wfi_himeno_fit_planes(wfi_point *point);
double wfi_himeno_fit_time(wfi_point *point);
double wfi_himeno_fit_box(wfi_point *point);

#endif
