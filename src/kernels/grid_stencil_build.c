/* wf_stencil_plan: passes over the grid, each split into windows that the device can bind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid/grid_ids.h"
#include "core/params.h"
#include "kernels/grid_stencil.h"
#include "kernels/plan.h"

#define MOST_EXTENT (UINT32_C(1) << 30)
#define MOST_STEPS 4096u

typedef struct place {
    wfi_slot_kind kind;
    uint32_t index;
} place;

/* One pass: a pipeline that makes `steps` steps, from one place to another. */
typedef struct pass {
    const wfi_point *point;
    uint32_t pipeline, steps;
    place from, to;
    bool waits; /* for the pass before */
} pass;

/* Planes [low, high) of a buffer as something that can be bound; *base is the element of cell
 * (0, 0, 0) seen from there, which may lie before it. */
static wfi_slot window(const wfi_point *point, place where, uint64_t low, uint64_t high,
                       uint32_t *base)
{
    const wfi_grid_axes a = wfi_grid_axes_of(&point->problem->grid);
    const uint64_t size = wf_type_size(point->problem->type);
    const uint64_t alignment =
        point->caps->storage_alignment > 16 ? point->caps->storage_alignment : 16;
    const uint64_t start = low * a.plane * size, offset = start - start % alignment;
    /* Modulo 2^32: added to an element's place, which the shader reckons so too, it comes right. */
    *base = (uint32_t)((start - offset) / size) - (uint32_t)(low * a.plane);
    return (wfi_slot){where.kind, where.index, offset, high * a.plane * size - offset};
}

/* How many planes one dispatch can update: its windows must fit a binding and its work-groups the
 * device's limit. 0: none. */
static uint64_t planes_at_once(const wfi_point *point, uint64_t reach)
{
    const wfi_grid_problem *p = &point->problem->grid;
    const wfi_grid_axes a = wfi_grid_axes_of(p);
    const wf_caps *caps = point->caps;
    const uint64_t plane = a.plane * wf_type_size(point->problem->type);
    const uint64_t unit = caps->storage_alignment > 16 ? caps->storage_alignment : 16;
    const uint64_t range = caps->max_storage_range > unit ? caps->max_storage_range - unit : 0;
    const uint64_t fit = range / plane;
    const uint64_t groups = (uint64_t)wfi_grid_tile_of(point).k * caps->max_groups[2];
    if (fit >= a.nk)
        return groups < a.nk ? groups : a.nk;
    /* Windows do not wrap around. */
    if (p->border == WF_BORDER_PERIODIC || fit <= 2 * reach)
        return 0;
    return fit - 2 * reach < groups ? fit - 2 * reach : groups;
}

static uint64_t groups_for(uint64_t cells, int64_t tile)
{
    return (cells + (uint64_t)tile - 1) / (uint64_t)tile;
}

static wf_result add_dispatch(wf_plan *plan, const pass *s, uint64_t first, uint64_t end,
                              uint64_t reach, bool barrier)
{
    const wfi_grid_problem *p = &s->point->problem->grid;
    const wfi_grid_axes a = wfi_grid_axes_of(p);
    const wfi_grid_tile tile = wfi_grid_tile_of(s->point);
    const bool wraps = p->border == WF_BORDER_PERIODIC;
    const uint64_t low = wraps || first < reach ? 0 : first - reach;
    const uint64_t high = wraps || end + reach > a.nk ? a.nk : end + reach;
    wfi_grid_push push = {.ni = (int32_t)a.ni,
                          .nj = (int32_t)a.nj,
                          .nk = (int32_t)a.nk,
                          .row = (uint32_t)a.row,
                          .plane = (uint32_t)a.plane,
                          .first = (int32_t)first,
                          .end = (int32_t)end};
    const uint64_t groups[3] = {groups_for(a.ni, tile.i), groups_for(a.nj, tile.j),
                                groups_for(end - first, tile.k)};
    const uint64_t taps = wfi_grid_taps(p) + (p->stoppable ? UINT64_C(1) : 0);
    wfi_step step = {.pipeline = s->pipeline,
                     .slot_count = 3,
                     .push_bytes = sizeof push,
                     .barrier = barrier,
                     .divisible = true};
    step.slots[0] = window(s->point, s->from, low, high, &push.base_in);
    step.slots[1] = window(s->point, s->to, first, end, &push.base_out);
    step.slots[2] = (wfi_slot){p->stoppable ? WFI_SLOT_BINDING : WFI_SLOT_OWN,
                               p->stoppable ? WFI_STENCIL_COEFFICIENTS : 0, 0,
                               taps * (s->point->problem->type == WF_TYPE_F64 ? 8 : 4)};
    for (int i = 0; i < 3; i++)
        step.groups[i] = groups[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)groups[i];
    memcpy(step.push, &push, sizeof push);
    return wfi_plan_add_step(plan, &step);
}

static wf_result add_pass(wf_plan *plan, const pass *s)
{
    const wf_device *device = wfi_plan_device(plan);
    const wfi_grid_problem *p = &s->point->problem->grid;
    const wfi_grid_axes a = wfi_grid_axes_of(p);
    const uint64_t reach = (uint64_t)p->radius * s->steps;
    const uint64_t most = planes_at_once(s->point, reach);
    if (most == 0)
        return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                        "%s are over this device's binding limit of %llu bytes",
                        p->border == WF_BORDER_PERIODIC ? "the planes of a periodic grid"
                                                        : "the planes that one plane needs",
                        (unsigned long long)device->caps.max_storage_range);
    const uint64_t slabs = (a.nk + most - 1) / most;
    wf_result result = WF_SUCCESS;
    for (uint64_t n = 0; n < slabs && result == WF_SUCCESS; n++)
        result = add_dispatch(plan, s, a.nk * n / slabs, a.nk * (n + 1) / slabs, reach,
                              s->waits && n == 0);
    return result;
}

/* The coefficients in the type that is computed with, in memory that the host writes by itself, or as
 * a binding. */
static wf_result add_coefficients(wf_plan *plan, const wfi_point *point, const double *values)
{
    const uint32_t taps = wfi_grid_taps(&point->problem->grid);
    const uint64_t real = point->problem->type == WF_TYPE_F64 ? 8 : 4;
    const wfi_binding_spec given = {"coefficients", WFI_READS, (taps + 1) * real};
    uint32_t index = 0;
    if (point->problem->grid.stoppable)
        return wfi_plan_add_binding(plan, &given);
    if (point->problem->type == WF_TYPE_F64)
        return wfi_plan_add_own_mapped(plan, values, taps * sizeof(double), &index);
    float *narrow = malloc(taps * sizeof *narrow);
    if (!narrow)
        return wfi_no_memory(&wfi_plan_device(plan)->log);
    for (uint32_t i = 0; i < taps; i++)
        narrow[i] = (float)values[i];
    wf_result result = wfi_plan_add_own_mapped(plan, narrow, taps * sizeof *narrow, &index);
    free(narrow);
    return result;
}

static wf_result add_pipeline(wf_plan *plan, const wfi_point *point, pass *s)
{
    wfi_pipeline_desc desc;
    wfi_point_pipeline(point, &desc);
    s->point = point;
    s->steps = wfi_point_value(point, "steps", 1);
    return wfi_plan_add_pipeline(plan, &desc, &s->pipeline);
}

/* Pass n of `count` goes to the caller's OUT or the workspace, so that the last one goes to OUT. */
static place destination(uint32_t n, uint32_t count)
{
    const bool out = (count - 1 - n) % 2 == 0;
    return out ? (place){WFI_SLOT_BINDING, WF_STENCIL_OUT} : (place){WFI_SLOT_WORKSPACE, 0};
}

wf_result wfi_grid_build(wf_plan *plan, const wfi_point *point, const void *params)
{
    const wfi_grid_problem *p = &point->problem->grid;
    const uint64_t bytes = wfi_grid_elements(p) * wf_type_size(point->problem->type);
    const uint32_t each = wfi_point_value(point, "steps", 1), rest = p->steps % each;
    const uint32_t count = p->steps / each + (rest != 0);
    const wfi_binding_spec in = {"in", WFI_READS, bytes},
                           out = {"out", count > 2 ? WFI_READS_WRITES : WFI_WRITES, bytes};
    wfi_point rest_point = *point;
    pass whole = {0}, last = {0};
    wf_result result = wfi_plan_add_binding(plan, &in);
    if (result == WF_SUCCESS)
        result = wfi_plan_add_binding(plan, &out);
    if (result == WF_SUCCESS)
        result = add_coefficients(plan, point, params);
    if (result == WF_SUCCESS)
        result = add_pipeline(plan, point, &whole);
    if (result == WF_SUCCESS && rest) {
        rest_point.values[wfi_parameter_find(point->variant, "steps")] = rest;
        result = add_pipeline(plan, &rest_point, &last);
    }
    if (count > 1)
        wfi_plan_set_workspace(plan, bytes);
    for (uint32_t n = 0; n < count && result == WF_SUCCESS; n++) {
        pass s = rest && n + 1 == count ? last : whole;
        s.from = n == 0 ? (place){WFI_SLOT_BINDING, WF_STENCIL_IN} : destination(n - 1, count);
        s.to = destination(n, count);
        s.waits = n > 0;
        result = add_pass(plan, &s);
    }
    return result;
}

static bool valid_extents(const wf_stencil_params *p)
{
    const uint32_t radius = p->radius ? p->radius : 1, least = 2 * radius + 1;
    return p->nx >= least && p->ny >= least && (p->nz == 0 || p->nz >= least) &&
           p->nx <= MOST_EXTENT && p->ny <= MOST_EXTENT && p->nz <= MOST_EXTENT &&
           (p->row_stride == 0 || p->row_stride >= p->nx) && p->row_stride <= MOST_EXTENT;
}

static bool finite_coefficients(const wf_stencil_params *p, const wfi_grid_problem *problem)
{
    for (uint32_t i = 0; i < wfi_grid_taps(problem); i++)
        if (!isfinite(p->coefficients[i]))
            return false;
    return true;
}

bool wfi_grid_sizes_of(const wf_stencil_params *p, wfi_grid_problem *out)
{
    if (!p || p->radius > 4 || (unsigned)p->shape > WF_STENCIL_BOX ||
        (unsigned)p->border > WF_BORDER_PERIODIC || p->steps > MOST_STEPS || !valid_extents(p))
        return false;
    *out = (wfi_grid_problem){.nx = p->nx,
                              .ny = p->ny,
                              .nz = p->nz,
                              .row_stride = p->row_stride ? p->row_stride : p->nx,
                              .dimensions = p->nz ? 3 : 2,
                              .shape = p->shape,
                              .radius = p->radius ? p->radius : 1,
                              .border = p->border,
                              .steps = p->steps ? p->steps : 1};
    return true;
}

bool wfi_grid_problem_of(const wf_stencil_params *p, wfi_grid_problem *out)
{
    return p && p->coefficients && wfi_grid_sizes_of(p, out) && finite_coefficients(p, out);
}

static wf_result make_plan(wf_device *device, const wf_stencil_params *given, bool stoppable,
                           wf_plan **out)
{
    wfi_problem problem = {.family = WF_FAMILY_GRID};
    wfi_choice choice;
    wf_stencil_params params;
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result =
        wfi_params_read(&device->log, "wf_stencil_plan", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    if (!wfi_grid_problem_of(&params, &problem.grid))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_plan: extents must be between 2 radius + 1 and 2^30, radius at "
                        "most 4, steps at most %u, coefficients finite",
                        MOST_STEPS);
    problem.type = params.type;
    problem.grid.stoppable = stoppable;
    if (params.type != WF_TYPE_F32 && params.type != WF_TYPE_F64 && params.type != WF_TYPE_F16)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED, "wf_stencil_plan: type %s",
                        wf_type_name(params.type));
    result = wfi_choose(device, &problem, params.tuning, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &problem;
    return wfi_plan_create_with(device, &choice, params.jobs, params.coefficients, out);
}

wf_result wf_stencil_plan(wf_device *device, const wf_stencil_params *params, wf_plan **out)
{
    return make_plan(device, params, false, out);
}

wf_result wfi_stencil_plan_stoppable(wf_device *device, const wf_stencil_params *params,
                                     wf_plan **out)
{
    return make_plan(device, params, true, out);
}
