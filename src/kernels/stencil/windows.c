/* Windows do not wrap around. Of a periodic grid that cannot be bound whole, the planes on either
 * side of its ends are copied side by side first, last ones before first ones (the seam), and the
 * planes whose neighbours lie on the other side are updated from there. */
#include "kernels/stencil/windows.h"

#include <string.h>

#include "core/arithmetic.h"
#include "kernels/stencil/rows.h"

/* A piece of a pass: dispatches that read one place and write another. */
typedef struct pass_piece {
    const wfi_point *point;
    uint32_t pipeline;
    wfi_stencil_place from, to;
    uint64_t below, above; /* planes read before the first and after the last one updated */
    uint64_t planes;       /* of `from` */
    bool whole;            /* one window binds all of them */
    int32_t nk;            /* extent along k that the shader is told */
} pass_piece;

/* Planes that any window can hold, wherever it starts. */
static uint64_t bound_planes(const wfi_point *point)
{
    const uint64_t plane =
        wfi_stencil_axes_of(&point->problem->stencil).plane * wf_type_size(point->problem->type);
    const uint64_t range = point->caps->max_storage_range, unit = wfi_window_alignment(point->caps);
    return range > unit ? (range - unit) / plane : 0;
}

static uint64_t below(const wfi_point *point, uint32_t steps)
{
    return (uint64_t)point->problem->stencil.radius * steps;
}

static uint64_t above(const wfi_point *point, uint32_t steps)
{
    return below(point, steps) + (point->variant->traits & WFI_STENCIL_READS_ON ? 1 : 0);
}

static bool has_seam(const wfi_point *point)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    return p->border == WF_BORDER_PERIODIC && bound_planes(point) < wfi_stencil_axes_of(p).nk;
}

uint64_t wfi_stencil_seam_bytes(const wfi_point *point, uint32_t steps)
{
    const uint64_t plane =
        wfi_stencil_axes_of(&point->problem->stencil).plane * wf_type_size(point->problem->type);
    return has_seam(point) ? 2 * (below(point, steps) + above(point, steps)) * plane : 0;
}

bool wfi_stencil_fits_binding(const wfi_point *point)
{
    const uint32_t steps = wfi_point_value(point, STENCIL_ID_STEPS, 1);
    const uint64_t bound = bound_planes(point);
    return bound >= wfi_stencil_axes_of(&point->problem->stencil).nk ||
           bound > below(point, steps) + above(point, steps);
}

/* Planes [low, high) of a place as something that can be bound; *base is the element of cell
 * (0, 0, 0) seen from there, which may lie before it. */
static wfi_slot window(const wfi_point *point, const wfi_stencil_place *where, uint64_t low,
                       uint64_t high, uint32_t *base)
{
    const wfi_stencil_axes a = wfi_stencil_axes_of(&point->problem->stencil);
    const uint64_t size = wf_type_size(point->problem->type);
    const uint64_t start = where->offset + (uint64_t)((int64_t)low - where->first) * a.plane * size;
    const uint64_t offset = start - start % wfi_window_alignment(point->caps);
    /* Modulo 2^32, in which the shader computes addresses too: their sums are right. */
    *base = (uint32_t)((start - offset) / size) - (uint32_t)(low * a.plane);
    return (wfi_slot){where->kind, where->index, offset,
                      start - offset + (high - low) * a.plane * size};
}

/* As storage, with a solver's flag behind them, and as uniforms without it: kernels write it. */
static void bind_coefficients(const wfi_point *point, wfi_step *step)
{
    const wfi_stencil_problem *p = &point->problem->stencil;
    const uint64_t real = wfi_stencil_real_bytes(point), bytes = wfi_stencil_taps(p) * real;
    const wfi_slot_kind kind = p->stoppable ? WFI_SLOT_BINDING : WFI_SLOT_OWN;
    const uint32_t index = p->stoppable ? WFI_STENCIL_COEFFICIENTS : 0;
    step->slots[2] = (wfi_slot){kind, index, 0, bytes + (p->stoppable ? real : 0)};
    step->slots[STENCIL_TAPS_BINDING] = (wfi_slot){kind, index, 0, bytes};
    step->uniforms = 1 << STENCIL_TAPS_BINDING;
    step->slot_count = STENCIL_TAPS_BINDING + 1;
}

static wf_result add_dispatch(wf_plan *plan, const pass_piece *d, uint64_t first, uint64_t end,
                              bool barrier)
{
    const wfi_stencil_problem *p = &d->point->problem->stencil;
    const wfi_stencil_axes a = wfi_stencil_axes_of(p);
    const uint64_t low = d->whole || first < d->below ? 0 : first - d->below;
    const uint64_t high = d->whole ? d->planes : wfi_least(end + d->above, d->planes);
    wfi_stencil_push push = {.ni = (int32_t)a.ni,
                             .nj = (int32_t)a.nj,
                             .nk = d->nk,
                             .row = (uint32_t)a.row,
                             .plane = (uint32_t)a.plane,
                             .first = (int32_t)first,
                             .end = (int32_t)end,
                             .first_i = (int32_t)p->part.i.first,
                             .end_i = p->part.i.end ? (int32_t)p->part.i.end : (int32_t)a.ni,
                             .first_j = (int32_t)p->part.j.first,
                             .end_j = p->part.j.end ? (int32_t)p->part.j.end : (int32_t)a.nj};
    const uint64_t tile_k = (uint64_t)wfi_stencil_tile_of(d->point).k;
    uint64_t groups[3] = {0, 0, (end - first + tile_k - 1) / tile_k};
    wfi_step step = {
        .pipeline = d->pipeline, .push_bytes = sizeof push, .barrier = barrier, .divisible = true};
    step.slots[0] = window(d->point, &d->from, low, high, &push.base_in);
    step.slots[1] = window(d->point, &d->to, first, end, &push.base_out);
    bind_coefficients(d->point, &step);
    wfi_stencil_groups(d->point, groups);
    for (int i = 0; i < 3; i++)
        step.groups[i] = groups[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)groups[i];
    memcpy(step.push, &push, sizeof push);
    return wfi_plan_add_step(plan, &step);
}

static wf_result too_large(wf_plan *plan)
{
    const wf_device *device = wfi_plan_device(plan);
    return wfi_fail(&device->log, WF_ERROR_TOO_LARGE,
                    "the planes that the update of one plane reads are over this device's binding "
                    "limit of %llu bytes",
                    (unsigned long long)device->caps.max_storage_range);
}

/* Updates planes [first, end), as many at once as windows and work-groups allow. */
static wf_result add_slabs(wf_plan *plan, const pass_piece *d, uint64_t first, uint64_t end,
                           bool barrier)
{
    const uint64_t bound = bound_planes(d->point), count = end - first;
    const uint64_t groups =
        (uint64_t)wfi_stencil_tile_of(d->point).k * d->point->caps->max_groups[2];
    const uint64_t neighbours = d->below + d->above;
    const uint64_t fit = d->whole ? count : bound > neighbours ? bound - neighbours : 0;
    const uint64_t most = wfi_least(fit, groups);
    if (most == 0)
        return too_large(plan);
    const uint64_t slabs = (count + most - 1) / most;
    wf_result result = WF_SUCCESS;
    for (uint64_t n = 0; n < slabs && result == WF_SUCCESS; n++)
        result = add_dispatch(plan, d, first + count * n / slabs, first + count * (n + 1) / slabs,
                              barrier && n == 0);
    return result;
}

/* The place, seen so that plane `first` of a piece is the place's plane `at`. */
static wfi_stencil_place shifted(wfi_stencil_place place, uint64_t first, uint64_t at)
{
    place.first += (int64_t)first - (int64_t)at;
    return place;
}

/* Copies the last and first planes of the grid side by side. */
static wf_result add_copies(wf_plan *plan, const wfi_stencil_pass *s, const wfi_stencil_place *seam,
                            uint64_t nk, uint64_t side)
{
    /* A grid of no planes is all border, whose cells keep their values. */
    pass_piece copy = {.point = s->copy, .pipeline = s->copy_pipeline, .planes = 2 * side, .nk = 0};
    copy.from = shifted(s->from, 0, nk - side);
    copy.to = *seam;
    wf_result result = add_slabs(plan, &copy, 0, side, s->waits);
    copy.from = shifted(s->from, side, 0);
    return result == WF_SUCCESS ? add_slabs(plan, &copy, side, 2 * side, false) : result;
}

/* Updates the last and first planes of the grid from the seam. */
static wf_result add_ends(wf_plan *plan, pass_piece d, const wfi_stencil_place *seam, uint64_t nk)
{
    const uint64_t side = d.below + d.above;
    const wfi_stencil_place to = d.to;
    d.from = *seam;
    d.planes = 2 * side;
    d.nk = (int32_t)d.planes;
    d.to = shifted(to, d.below, nk - d.above);
    wf_result result = add_slabs(plan, &d, d.below, side, true);
    d.to = shifted(to, side, 0);
    return result == WF_SUCCESS ? add_slabs(plan, &d, side, side + d.below, false) : result;
}

/* A periodic grid's part has the planes beyond both of its ends beside its own, so that nothing
 * wraps around: to the shader the planes held are the grid. */
wf_result wfi_stencil_add_part(wf_plan *plan, const wfi_stencil_pass *s)
{
    const wfi_stencil_problem *p = &s->point->problem->stencil;
    const wfi_stencil_part *part = &p->part;
    const uint64_t nk = part->ends ? part->held : wfi_stencil_axes_of(p).nk,
                   origin = part->ends ? 0 : (uint64_t)part->origin,
                   first = part->ends ? (uint64_t)(part->first - part->origin) : part->first;
    pass_piece d = {.point = s->point,
                    .pipeline = s->pipeline,
                    .from = s->from,
                    .to = s->to,
                    .below = below(s->point, s->steps),
                    .above = above(s->point, s->steps),
                    .planes = origin + part->held,
                    .whole = part->held == nk && bound_planes(s->point) >= nk,
                    .nk = (int32_t)nk};
    d.from.first = d.to.first = (int64_t)origin;
    if (part->held == nk && p->border == WF_BORDER_PERIODIC && !part->ends && !d.whole)
        return too_large(plan);
    return add_slabs(plan, &d, first, first + part->planes, s->waits);
}

wf_result wfi_stencil_add_pass(wf_plan *plan, const wfi_stencil_pass *s)
{
    const uint64_t nk = wfi_stencil_axes_of(&s->point->problem->stencil).nk;
    pass_piece d = {.point = s->point,
                    .pipeline = s->pipeline,
                    .from = s->from,
                    .to = s->to,
                    .below = below(s->point, s->steps),
                    .above = above(s->point, s->steps),
                    .planes = nk,
                    .whole = bound_planes(s->point) >= nk,
                    .nk = (int32_t)nk};
    const uint64_t side = d.below + d.above;
    if (!d.whole && bound_planes(s->point) <= side)
        return too_large(plan);
    if (!has_seam(s->point))
        return add_slabs(plan, &d, 0, nk, s->waits);
    const wfi_stencil_place seam = {WFI_SLOT_WORKSPACE, 0, s->seam, 0};
    wf_result result = add_copies(plan, s, &seam, nk, side);
    if (result == WF_SUCCESS)
        result = add_slabs(plan, &d, d.below, nk - d.above, false);
    return result == WF_SUCCESS ? add_ends(plan, d, &seam, nk) : result;
}
