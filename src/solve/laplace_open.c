/* The plans and buffers of a Laplace solve. */
#include <math.h>
#include <string.h>

#include "api/plans.h"
#include "core/arithmetic.h"
#include "core/heap.h"
#include "kernels/families.h"
#include "plan/fixed.h"
#include "kernels/stencil/stencil.h"
#include "laplace/laplace_ids.h"
#include "profiles/stencil.h"
#include "solve/laplace.h"
#include "wfi_shaders.h"

#define PI 3.14159265358979323846
#define MOST_MARCH 8     /* rows that a work-item of a sweep goes down */
#define MOST_GROUPS 2048 /* of a residual; each leaves a partial sum */

/* As in laplace_problem.glsl. */
typedef struct laplace_push {
    uint32_t sequence, nx, stride, cells, first, end, base, groups, partials, from, every, most,
        patience, sizes_at, sizes;
} laplace_push;

/* ---------------------------------------------------------------------------------------- sizes */

static uint64_t real_bytes(const wfi_laplace *l)
{
    return wf_type_size(l->type);
}

static uint64_t array_bytes(const wfi_laplace *l)
{
    return l->stride * (uint64_t)l->ny * real_bytes(l);
}

uint64_t wfi_laplace_sizes_at(const wfi_laplace *l)
{
    return LAPLACE_STATE_END * real_bytes(l);
}

static uint64_t state_bytes(const wfi_laplace *l)
{
    return wfi_laplace_sizes_at(l) + l->sizes * (uint64_t)sizeof(VkDispatchIndirectCommand);
}

static uint64_t partials_bytes(const wfi_laplace *l)
{
    return 2 * UINT64_C(2) * l->slabs * l->groups * real_bytes(l);
}

static uint64_t alignment(const wfi_laplace *l)
{
    const uint64_t least = l->device->caps.storage_alignment;
    return least > 16 ? least : 16;
}

/* Rows that a work-item of a sweep goes down: fewer where the device would have too little to do
 * while its loads are under way. */
static uint32_t march_of(const wfi_laplace *l)
{
    const wf_caps *caps = &l->device->caps;
    const uint64_t wanted =
        (uint64_t)wfi_stencil_profile_of(caps)->unit_items * caps->compute_units;
    uint32_t march = MOST_MARCH;
    while (march > 1 && l->cells * (uint64_t)l->params->ny / march < wanted)
        march /= 2;
    return march;
}

/* Dispatches of a kernel over the rows from top to bottom. */
static uint32_t slabs_of(const wfi_laplace *l)
{
    return (l->bottom - l->top - 1) / l->slab_rows + 1;
}

/* Cuts the rows into slabs, each of which fits a binding with a row of neighbours on either
 * side. */
static wf_result set_slabs(wfi_laplace *l)
{
    const wf_caps *caps = &l->device->caps;
    const uint64_t row = l->stride * real_bytes(l), inner = l->bottom - l->top;
    const uint64_t fit = (caps->max_storage_range - alignment(l)) / row;
    const uint64_t groups = (uint64_t)l->march * caps->max_groups[1];
    if (fit < 3)
        return wfi_fail(&l->device->log, WF_ERROR_TOO_LARGE,
                        "three rows of %u cells are over this device's binding limit of %llu bytes",
                        l->nx, (unsigned long long)caps->max_storage_range);
    const uint64_t most = fit - 2 < groups ? fit - 2 : groups;
    l->slab_rows = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
    l->slabs = slabs_of(l);
    l->groups = (uint32_t)(inner < MOST_GROUPS ? inner : MOST_GROUPS);
    return WF_SUCCESS;
}

double wfi_laplace_jacobi_radius(const wf_laplace_params *p)
{
    return (cos(PI / (p->nx - 1)) + cos(PI / (p->ny - 1))) / 2;
}

uint32_t wfi_laplace_patience(const wf_laplace_params *p)
{
    const double radius = wfi_laplace_jacobi_radius(p), omega = p->omega;
    const uint32_t checks = (p->max_iterations - 1) / p->check_every + 1;
    double largest = radius;
    if (p->method == WF_LAPLACE_SOR) {
        const double under = omega * omega * radius * radius - 4 * (omega - 1);
        largest = under > 0 ? pow((omega * radius + sqrt(under)) / 2, 2) : omega - 1;
    }
    const double iterations = largest > 0 ? log(0.1) / log(largest) : 0;
    return 2 + (uint32_t)fmin(iterations / p->check_every, (double)checks);
}

/* -------------------------------------------------------------------------------------- kernels */

static uint64_t sums_bytes(const wfi_point *point)
{
    return UINT64_C(2) * WFI_FIXED_GROUP * wf_type_size(point->problem->type);
}

static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, const wfi_laplace *l,
                              wfi_step *step)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    wfi_pipeline_constant(&desc, LAPLACE_ID_COLOURED, l->coloured);
    wfi_pipeline_constant(&desc, LAPLACE_ID_MARCH, l->march);
    return wfi_plan_add_pipeline(plan, &desc, &step->pipeline);
}

static wf_result add_binding(wf_plan *plan, const char *name, wfi_access access, uint64_t bytes)
{
    const wfi_binding_spec spec = {name, access, bytes};
    return wfi_plan_add_binding(plan, &spec);
}

/* Adds slab n of a sweep or a residual: its rows and those around them, of both arrays. */
static wf_result add_slab(wf_plan *plan, const wfi_laplace *l, uint32_t n, bool sweep,
                          wfi_step *step)
{
    const uint64_t row = l->stride * real_bytes(l), inner = l->bottom - l->top;
    const uint32_t slabs = slabs_of(l), first = l->top + (uint32_t)(inner * n / slabs),
                   end = l->top + (uint32_t)(inner * (n + 1) / slabs);
    const uint64_t start = (first - 1) * row, offset = start - start % alignment(l);
    const uint64_t bytes = (end + 1) * row - offset;
    const laplace_push push = {.nx = l->nx,
                               .stride = l->stride,
                               .cells = l->cells,
                               .first = first,
                               .end = end,
                               .base = (uint32_t)((start - offset) / real_bytes(l)) -
                                       (first - 1) * l->stride,
                               .groups = l->groups,
                               .partials = l->slabs * l->groups,
                               .from = n * l->groups};
    step->slots[0] = (wfi_slot){WFI_SLOT_BINDING, 0, offset, bytes};
    step->slots[1] = (wfi_slot){WFI_SLOT_BINDING, l->coloured ? 1 : 0, offset, bytes};
    step->groups[0] = sweep ? (l->cells - 1) / WFI_FIXED_GROUP + 1 : l->groups;
    step->groups[1] = sweep ? (end - first - 1) / l->march + 1 : 1;
    step->groups[2] = 1;
    memcpy(step->push, &push, sizeof push);
    return wfi_plan_add_step(plan, step);
}

static wf_result add_arrays(wf_plan *plan, const wfi_laplace *l, wfi_access own)
{
    const uint64_t other = l->coloured ? array_bytes(l) : 0;
    wf_result result = add_binding(plan, "cells", own, array_bytes(l));
    if (result == WF_SUCCESS)
        result = add_binding(plan, "cells of the other colour", WFI_READS, other);
    return result == WF_SUCCESS ? add_binding(plan, "state", WFI_READS, state_bytes(l)) : result;
}

static wf_result build_sweep(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_laplace *l = params;
    wfi_step step = {.slot_count = 3,
                     .push_bytes = sizeof(laplace_push),
                     .takes_sequence = true,
                     .divisible = true};
    step.slots[2] = (wfi_slot){WFI_SLOT_BINDING, 2, 0, LAPLACE_STATE_END * real_bytes(l)};
    wfi_plan_bind_sets(plan); /* a sweep is as short as a product, which pushing them delays */
    wf_result result = add_pipeline(plan, point, l, &step);
    if (result == WF_SUCCESS)
        result = add_arrays(plan, l, WFI_READS_WRITES);
    for (uint32_t n = 0; n < slabs_of(l) && result == WF_SUCCESS; n++)
        result = add_slab(plan, l, n, true, &step);
    return result;
}

static wf_result build_residual(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_laplace *l = params;
    wfi_step step = {.slot_count = 4,
                     .push_bytes = sizeof(laplace_push),
                     .takes_sequence = true,
                     .divisible = true};
    step.slots[2] = (wfi_slot){WFI_SLOT_BINDING, 2, 0, LAPLACE_STATE_END * real_bytes(l)};
    step.slots[3] = (wfi_slot){WFI_SLOT_BINDING, 3, 0, partials_bytes(l)};
    wf_result result = add_pipeline(plan, point, l, &step);
    if (result == WF_SUCCESS)
        result = add_arrays(plan, l, WFI_READS);
    if (result == WF_SUCCESS)
        result = add_binding(plan, "partial sums", WFI_WRITES, partials_bytes(l));
    for (uint32_t n = 0; n < l->slabs && result == WF_SUCCESS; n++)
        result = add_slab(plan, l, n, false, &step);
    return result;
}

static wf_result build_verdict(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_laplace *l = params;
    const uint64_t state = state_bytes(l);
    const laplace_push push = {.partials = l->slabs * l->groups,
                               .every = l->every,
                               .most = l->most,
                               .patience = wfi_laplace_patience(l->params),
                               .sizes_at = (uint32_t)(wfi_laplace_sizes_at(l) / sizeof(uint32_t)),
                               .sizes = l->sizes};
    wfi_step step = {
        .groups = {1, 1, 1},
        .slot_count = 2,
        .push_bytes = sizeof push,
        .takes_sequence = true,
        .slots = {{WFI_SLOT_BINDING, 0, 0, state}, {WFI_SLOT_BINDING, 1, 0, partials_bytes(l)}}};
    memcpy(step.push, &push, sizeof push);
    wf_result result = add_pipeline(plan, point, l, &step);
    if (result == WF_SUCCESS)
        result = add_binding(plan, "state", WFI_READS_WRITES, state);
    if (result == WF_SUCCESS)
        result = add_binding(plan, "partial sums", WFI_READS, partials_bytes(l));
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, &step) : result;
}

static const double mean_of_four[5] = {0, 0.25, 0.25, 0.25, 0.25};

/* The state as a solve begins, but for what is wanted. */
static void put_state(const wfi_laplace *l, void *state)
{
    for (uint32_t i = 0; i < LAPLACE_STATE_END; i++)
        wfi_laplace_put(state, l->type, i, 0);
    for (uint32_t i = 0; i < 5; i++)
        wfi_laplace_put(state, l->type, LAPLACE_COEFFICIENTS + i, mean_of_four[i]);
    wfi_laplace_put(state, l->type, LAPLACE_OMEGA, l->params->omega);
}

/* The state with which a recorded solve begins, and behind it the sizes of the dispatches that the
 * device ends. */
static wf_result add_begin(wf_plan *plan, const wfi_laplace *l)
{
    unsigned char *data = wfi_calloc(1, (size_t)state_bytes(l));
    uint32_t index = 0, at = 0;
    if (!data)
        return wfi_no_memory(&l->device->log);
    const double tolerance = l->params->tolerance;
    put_state(l, data);
    wfi_laplace_put(data, l->type, LAPLACE_WANTED, tolerance * tolerance);
    wf_plan *const plans[] = {l->advance ? l->advance : l->kernels[WFI_LAPLACE_SWEEP],
                              l->kernels[WFI_LAPLACE_RESIDUAL],
                              l->kernels[WFI_LAPLACE_VERDICT_RECORDED]};
    for (size_t n = 0; n < WFI_COUNT(plans); n++)
        for (uint32_t i = 0; i < wfi_plan_step_count(plans[n]); i++, at++)
            memcpy(data + wfi_laplace_sizes_at(l) + at * sizeof(VkDispatchIndirectCommand),
                   wfi_plan_step(plans[n], i)->groups, sizeof(VkDispatchIndirectCommand));
    wf_result result = wfi_plan_add_own(plan, data, state_bytes(l), &index);
    wfi_free(data);
    return result;
}

/* A kernel that goes over the grid (columns) or has one work-group. */
static wf_result add_recorded(wf_plan *plan, const wfi_point *point, const wfi_laplace *l,
                              bool columns, wfi_step *step)
{
    const uint32_t most = l->device->caps.max_groups[1];
    const laplace_push push = {.nx = l->nx,
                               .stride = l->stride,
                               .cells = l->cells,
                               .end = l->ny,
                               .every = l->every,
                               .sizes_at = (uint32_t)(wfi_laplace_sizes_at(l) / sizeof(uint32_t)),
                               .sizes = l->sizes};
    step->groups[0] = columns ? (l->nx - 1) / WFI_FIXED_GROUP + 1 : 1;
    step->groups[1] = columns ? (l->ny < most ? l->ny : most) : 1;
    step->groups[2] = 1;
    step->push_bytes = sizeof push;
    step->takes_sequence = true;
    memcpy(step->push, &push, sizeof push);
    wf_result result = add_pipeline(plan, point, l, step);
    return result == WF_SUCCESS ? wfi_plan_add_step(plan, step) : result;
}

static wf_result add_specs(wf_plan *plan, const wfi_binding_spec *specs, uint32_t count,
                           wfi_step *step)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++) {
        step->slots[step->slot_count++] = (wfi_slot){WFI_SLOT_BINDING, i, 0, specs[i].bytes};
        result = wfi_plan_add_binding(plan, &specs[i]);
    }
    return result;
}

static wf_result build_cells(wf_plan *plan, const wfi_point *point, const wfi_laplace *l,
                             wfi_access arrays, wfi_access u)
{
    const wfi_binding_spec specs[] = {{"cells", arrays, array_bytes(l)},
                                      {"cells of the other array", arrays, array_bytes(l)},
                                      {"u", u, l->nx * (uint64_t)l->ny * real_bytes(l)},
                                      {"state", WFI_READS, state_bytes(l)}};
    wfi_step step = {.slot_count = 0};
    wf_result result = add_specs(plan, specs, arrays == WFI_READS ? 4 : 3, &step);
    return result == WF_SUCCESS ? add_recorded(plan, point, l, true, &step) : result;
}

static wf_result build_take(wf_plan *plan, const wfi_point *point, const void *params)
{
    return build_cells(plan, point, params, WFI_WRITES, WFI_READS);
}

static wf_result build_leave(wf_plan *plan, const wfi_point *point, const void *params)
{
    return build_cells(plan, point, params, WFI_READS, WFI_WRITES);
}

static wf_result build_tell(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_laplace *l = params;
    const wfi_binding_spec specs[] = {{"the solver's state", WFI_READS, state_bytes(l)},
                                      {"state", WFI_WRITES, sizeof(wf_solve_state)}};
    wfi_step step = {.slot_count = 0};
    wf_result result = add_specs(plan, specs, 2, &step);
    return result == WF_SUCCESS ? add_recorded(plan, point, l, false, &step) : result;
}

static wf_result build_gate(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_laplace *l = params;
    const wfi_binding_spec specs[] = {{"the solver's state", WFI_WRITES, state_bytes(l)},
                                      {"u", WFI_READS, l->nx * (uint64_t)l->ny * real_bytes(l)}};
    wfi_step step = {.slot_count = 3,
                     .slots = {{WFI_SLOT_BINDING, 0, 0, state_bytes(l)},
                               {WFI_SLOT_OWN, 0, 0, state_bytes(l)},
                               {WFI_SLOT_BINDING, 1, 0, specs[1].bytes}}};
    wf_result result = add_begin(plan, l);
    for (uint32_t i = 0; i < 2 && result == WF_SUCCESS; i++)
        result = wfi_plan_add_binding(plan, &specs[i]);
    return result == WF_SUCCESS ? add_recorded(plan, point, l, false, &step) : result;
}

#define build_verdict_recorded build_verdict
#define KERNEL(text, buffers, shared)                                                              \
    {                                                                                              \
        .name = "laplace_" #text, .modules = WFI_MODULES_laplace_##text,                           \
        .storage_buffers = buffers, .push_bytes = sizeof(laplace_push),                            \
        .group_size = wfi_fixed_group, .shared_bytes = shared, .build = build_##text,              \
    }

static const wfi_variant kernel_rows[WFI_LAPLACE_KERNELS] = {
    [WFI_LAPLACE_SWEEP] = KERNEL(sweep, 3, NULL),
    [WFI_LAPLACE_RESIDUAL] = KERNEL(residual, 4, sums_bytes),
    [WFI_LAPLACE_VERDICT] = KERNEL(verdict, 2, sums_bytes),
    [WFI_LAPLACE_VERDICT_RECORDED] = KERNEL(verdict_recorded, 2, sums_bytes),
    [WFI_LAPLACE_TAKE] = KERNEL(take, 3, NULL),
    [WFI_LAPLACE_LEAVE] = KERNEL(leave, 4, NULL),
    [WFI_LAPLACE_TELL] = KERNEL(tell, 2, NULL),
    [WFI_LAPLACE_GATE] = KERNEL(gate, 3, sums_bytes),
};

static wf_result make_kernel(wfi_laplace *l, int kernel, wf_plan **out)
{
    const wfi_problem problem = {.family = WF_FAMILY_STENCIL,
                                 .type = l->type,
                                 .stencil = {.nx = l->nx,
                                             .ny = l->ny,
                                             .row_stride = l->nx,
                                             .dimensions = 2,
                                             .radius = 1,
                                             .steps = 1}};
    return wfi_fixed_plan(l->device, &wfi_family_stencil, &problem, &kernel_rows[kernel], 0, l,
                          out);
}

static wf_result make_kernels(wfi_laplace *l)
{
    wf_result result = WF_SUCCESS;
    const int last = l->recorded ? WFI_LAPLACE_GATE : WFI_LAPLACE_VERDICT;
    for (int i = l->coloured ? 0 : WFI_LAPLACE_RESIDUAL; i <= last && result == WF_SUCCESS; i++)
        if (!(l->recorded && i == WFI_LAPLACE_VERDICT))
            result = make_kernel(l, i, &l->kernels[i]);
    return result;
}

/* --------------------------------------------------------------------------------------- Jacobi */

static uint32_t stride_of(const wf_laplace_params *p)
{
    const uint32_t cells = p->method == WF_LAPLACE_SOR ? (p->nx + 1) / 2 : p->nx;
    return (cells + 3) / 4 * 4; /* so that vectors of four fit */
}

uint64_t wfi_laplace_row_bytes(const wf_laplace_params *p)
{
    return stride_of(p) * (uint64_t)wf_type_size(p->type);
}

wf_stencil_params wfi_laplace_stencil(const wf_laplace_params *p)
{
    return (wf_stencil_params){.size = sizeof(wf_stencil_params),
                               .nx = p->nx,
                               .ny = p->ny,
                               .row_stride = stride_of(p),
                               .coefficients = mean_of_four,
                               .steps = p->check_every,
                               .type = p->type,
                               .tuning = p->tuning};
}

static wf_result make_stencil(wfi_laplace *l, uint32_t steps, wf_plan **out)
{
    wf_stencil_params params = wfi_laplace_stencil(l->params);
    params.steps = steps;
    return wfi_stencil_plan_stoppable(l->device, &params, out);
}

static wf_result make_stencils(wfi_laplace *l)
{
    const uint32_t remainder = l->most % l->every;
    wf_result result = make_stencil(l, l->every, &l->advance);
    if (result == WF_SUCCESS && remainder)
        result = make_stencil(l, remainder, &l->remainder);
    return result;
}

/* -------------------------------------------------------------------------------------- buffers */

static wf_result make_buffers(wfi_laplace *l)
{
    const uint64_t whole = l->advance ? wf_plan_workspace(l->advance) : 0,
                   remainder = l->remainder ? wf_plan_workspace(l->remainder) : 0;
    const struct {
        wf_buffer **buffer;
        uint64_t bytes;
        wf_memory memory;
    } buffers[] = {{&l->arrays[0], array_bytes(l), WF_MEMORY_DEVICE},
                   {&l->arrays[1], array_bytes(l), WF_MEMORY_DEVICE},
                   {&l->workspace, whole > remainder ? whole : remainder, WF_MEMORY_DEVICE},
                   {&l->state, state_bytes(l), WF_MEMORY_DEVICE},
                   {&l->partials, partials_bytes(l), WF_MEMORY_DEVICE},
                   {&l->slots,
                    l->recorded ? 0
                    : l->part   ? partials_bytes(l)
                                : WFI_STREAM_SLOTS * LAPLACE_STATE_END * real_bytes(l),
                    WF_MEMORY_READBACK}};
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < WFI_COUNT(buffers) && result == WF_SUCCESS; i++)
        if (buffers[i].bytes)
            result =
                wf_buffer_create(l->device, buffers[i].bytes, buffers[i].memory, buffers[i].buffer);
    return result;
}

static wf_result write_state(wfi_laplace *l)
{
    double state[LAPLACE_STATE_END] = {0};
    put_state(l, state);
    return wf_buffer_write(l->state, 0, state, LAPLACE_STATE_END * real_bytes(l));
}

/* ----------------------------------------------------------------------------- opening, closing */

/* Sizes, of a grid or of a part with so many rows. */
static wfi_laplace sizes_of(wf_device *device, const wf_laplace_params *p, uint32_t rows)
{
    const bool coloured = p->method == WF_LAPLACE_SOR;
    const uint32_t cells = coloured ? (p->nx + 1) / 2 : p->nx;
    return (wfi_laplace){.device = device,
                         .params = p,
                         .type = p->type,
                         .coloured = coloured,
                         .nx = p->nx,
                         .ny = rows,
                         .top = 1,
                         .bottom = rows - 1,
                         .cells = cells,
                         .stride = stride_of(p),
                         .every = p->check_every,
                         .most = p->max_iterations,
                         .checks = (p->max_iterations - 1) / p->check_every + 1};
}

static wf_result open_solve(wf_device *device, const wf_laplace_params *p, bool recorded,
                            wfi_laplace *out)
{
    *out = sizes_of(device, p, p->ny);
    out->recorded = recorded;
    if (recorded) /* whole checks alone */
        out->most = out->checks * out->every;
    out->march = march_of(out);
    wf_result result = set_slabs(out);
    if (result == WF_SUCCESS && !out->coloured)
        result = make_stencils(out);
    if (result == WF_SUCCESS && recorded)
        out->sizes = 2 + (out->coloured ? out->slabs : wfi_plan_step_count(out->advance));
    if (result == WF_SUCCESS)
        result = make_kernels(out);
    return result == WF_SUCCESS ? make_buffers(out) : result;
}

wf_result wfi_laplace_open(wf_device *device, const wf_laplace_params *p, wfi_laplace *out)
{
    wf_result result = open_solve(device, p, false, out);
    if (result == WF_SUCCESS)
        result = write_state(out);
    return result == WF_SUCCESS ? wfi_stream_open(device, WFI_STREAM_FIRST, &out->stream) : result;
}

wf_result wfi_laplace_open_recorded(wf_device *device, const wf_laplace_params *p, wfi_laplace *out)
{
    const uint64_t whole = p->nx * (uint64_t)p->ny * wf_type_size(p->type),
                   range = device->caps.max_storage_range;
    if (whole + 4 * p->ny * (uint64_t)wf_type_size(p->type) > range)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "wf_laplace_create: a recorded solve binds its grid whole: %llu bytes are "
                        "over this device's binding limit of %llu; wf_laplace_solve cuts the grid",
                        (unsigned long long)whole, (unsigned long long)range);
    return open_solve(device, p, true, out);
}

wf_result wfi_laplace_open_part(wf_device *device, const wf_laplace_params *p, uint32_t rows,
                                uint32_t first, uint32_t end, wfi_laplace *out)
{
    *out = sizes_of(device, p, rows);
    out->part = true;
    out->top = first;
    out->bottom = end;
    out->march = march_of(out);
    wf_result result = set_slabs(out);
    if (result == WF_SUCCESS)
        result = make_kernel(out, WFI_LAPLACE_RESIDUAL, &out->kernels[WFI_LAPLACE_RESIDUAL]);
    if (result == WF_SUCCESS)
        result = make_buffers(out);
    return result == WF_SUCCESS ? write_state(out) : result;
}

wf_result wfi_laplace_plan_sweep(wfi_laplace *l, uint32_t first, uint32_t end, wf_plan **out)
{
    l->top = first;
    l->bottom = end;
    return make_kernel(l, WFI_LAPLACE_SWEEP, out);
}

void wfi_laplace_close(wfi_laplace *l)
{
    wfi_stream_close(&l->stream);
    for (int i = 0; i < WFI_LAPLACE_KERNELS; i++)
        wf_plan_destroy(&l->kernels[i]);
    wf_plan_destroy(&l->advance);
    wf_plan_destroy(&l->remainder);
    wf_buffer_destroy(&l->arrays[0]);
    wf_buffer_destroy(&l->arrays[1]);
    wf_buffer_destroy(&l->workspace);
    wf_buffer_destroy(&l->state);
    wf_buffer_destroy(&l->partials);
    wf_buffer_destroy(&l->slots);
}
