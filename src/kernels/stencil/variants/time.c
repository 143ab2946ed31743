/* time: temporal blocking of stars, with planes in registers and a tile of each step in shared
 * memory. */
#include <math.h>

#include "kernels/stencil/rows.h"
#include "kernels/stencil/windows.h"

static const wfi_parameter parameters[] = {WFI_STENCIL_LOCAL_X(64), WFI_STENCIL_LOCAL_Y(1),
                                           WFI_STENCIL_MARCH(16), WFI_STENCIL_STEPS,
                                           WFI_STENCIL_ROWS};

static const wfi_constraint constraints[] = {
    WFI_STENCIL_FITS,
    {"the stencil must be a star: of the planes before and after a cell a work-item keeps its own "
     "column alone",
     wfi_stencil_is_star},
    WFI_STENCIL_FITS_STEPS};

/* radius + 1 planes of each step, with a halo of `radius` cells. */
static uint64_t shared_bytes(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t radius_j = p->dimensions == 2 ? 0 : p->radius;
    const uint64_t real = wfi_stencil_real_bytes(point);
    uint32_t size[3];
    wfi_stencil_group_size(point, size);
    const uint64_t plane =
        (size[0] + UINT64_C(2) * p->radius) *
        ((uint64_t)size[1] * wfi_point_value(point, STENCIL_ID_ROWS, 1) + 2 * radius_j) * real;
    return wfi_point_value(point, STENCIL_ID_STEPS, 1) * plane * (p->radius + UINT64_C(1));
}

/* Values that the model weighs, best first, as they came out on an H100: 8192 x 8192 f64 and 512^3
 * f32. */
static const wfi_stencil_values flat_values[] = {{128, 1, 1, 64, 4}, {64, 1, 1, 16, 4},
                                                 {64, 1, 1, 8, 4},   {128, 1, 1, 32, 2},
                                                 {64, 1, 1, 16, 2},  {64, 1, 1, 16, 1}};
static const wfi_stencil_values solid_values[] = {
    {64, 8, 2, 64, 2}, {32, 4, 4, 32, 2}, {32, 4, 4, 16, 1}};

/* Tiles that are tried where times are predicted, with the most steps a pass. */
static const wfi_stencil_values flat_tiles[] = {{64, 1, 1, 0, 8}, {128, 1, 1, 0, 8}};
/* Of a radius over 1, in two dimensions. */
static const wfi_stencil_values wide_tiles[] = {
    {64, 1, 1, 0, 4}, {128, 1, 1, 0, 4}, {256, 1, 1, 0, 4}};
static const wfi_stencil_values solid_tiles[] = {
    {32, 8, 2, 0, 3}, {64, 8, 2, 0, 3}, {32, 16, 2, 0, 3}};
/* Three steps have too many registers (H200, 201x355x488 in three steps: 774 us, 524 by two). */
static const wfi_stencil_values solid_f64_tiles[] = {
    {32, 8, 2, 0, 2}, {64, 8, 2, 0, 2}, {32, 16, 2, 0, 2}};

static double fit_by_times(wfi_point *point)
{
    if (point->problem->stencil.radius > 1)
        return wfi_stencil_fit_steps(point, wide_tiles, WFI_COUNT(wide_tiles));
    if (point->problem->stencil.dimensions == 2)
        return wfi_stencil_fit_steps(point, flat_tiles, WFI_COUNT(flat_tiles));
    if (point->problem->type == WF_TYPE_F64)
        return wfi_stencil_fit_steps(point, solid_f64_tiles, WFI_COUNT(solid_f64_tiles));
    return wfi_stencil_fit_steps(point, solid_tiles, WFI_COUNT(solid_tiles));
}

/* It pays where memory is much slower than arithmetic and shared memory is faster than caches. In
 * three dimensions the tiles' overlap eats what f64 and wide stencils could gain; in two, a
 * mirrored border is looked up for each neighbour of wide ones (H200, radius 2, single steps and
 * the best of several: 1644x4353 of f64, mirrored, 282 and 849 us; 155x13766 of f32, fixed, 32
 * and 19). */
static double fit(wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const bool flat = p->dimensions == 2;
    const wfi_stencil_values *v =
        flat ? wfi_stencil_set_filling(point, flat_values, WFI_COUNT(flat_values))
             : wfi_stencil_set_filling(point, solid_values, WFI_COUNT(solid_values));
    const wf_type type = point->problem->type;
    /* f16 by vectors, where rows hold them, is faster (H200, 1001x170x45: 97.8 us, `march` 133). */
    const bool solid = type == WF_TYPE_F32 || (type == WF_TYPE_F16 && p->row_stride % 4 != 0);
    const bool pays = wfi_stencil_has_fast_shared(point) && v->steps > 1 && p->radius == 1 &&
                      (flat || (solid && point->caps->max_invocations >= 512));
    if (wfi_stencil_steps_are_timed(point))
        return fmin(fit_by_times(point), wfi_stencil_bytes(point) * 8);
    return wfi_stencil_published_cost(point, wfi_stencil_bytes(point) * (pays ? 1.8 : 8)) *
           wfi_stencil_register_cost(point);
}

const wfi_variant wfi_stencil_time = {
    WFI_STENCIL_ROW(time, parameters, constraints),
    .summary = "several steps a pass over memory, in overlapping tiles",
    .source = "Holewinski, Pouchet and Sadayappan, overlapped tiling (ICS 2012)",
    .traits = WFI_STENCIL_READS_ON,
    .shared_bytes = shared_bytes,
    .fit = fit,
    .expect = wfi_stencil_expect_steps,
    .traffic = wfi_stencil_time_traffic,
};
