/* Pieces of a part of a stencil's grid: what neighbours need is updated before the rest. */
#include <string.h>

#include "api/plans.h"
#include "core/arithmetic.h"
#include "solve/stencil_slab.h"

int64_t wfi_stencil_held_from(const wf_stencil_slab *s, int axis)
{
    const wfi_part_axis *a = &s->axes[axis];
    return (int64_t)a->begin - (a->there[WFI_LOWER] ? s->cut.halo : 0);
}

uint32_t wfi_stencil_held_cells(const wf_stencil_slab *s, int axis)
{
    const wfi_part_axis *a = &s->axes[axis];
    return (uint32_t)((int64_t)a->end + (a->there[WFI_UPPER] ? s->cut.halo : 0) -
                      wfi_stencil_held_from(s, axis));
}

/* Neighbours along an axis need what is outside [lower, upper). */
typedef struct axis_cut {
    uint32_t begin, lower, upper, end;
} axis_cut;

/* Along i and j a pass updates the neighbours' cells that are held, too: as many as these need. A
 * piece that begins within the grid there begins behind what its tiles read, since kernels treat
 * the grid's end only in tiles that begin at it. */
static axis_cut cut_axis(const wf_stencil_slab *s, int axis)
{
    const bool is_k = axis == 2, *there = s->axes[axis].there;
    const uint32_t begin = is_k ? s->axes[2].begin : 0,
                   end = is_k ? s->axes[2].end : wfi_stencil_held_cells(s, axis),
                   edge = is_k ? s->cut.halo : 2 * s->cut.halo,
                   unit = axis == 0 ? WFI_STENCIL_ROW_UNIT : 1,
                   upper = there[WFI_UPPER] ? end - edge - (end - edge) % unit : end;
    const uint64_t lower = begin + (there[WFI_LOWER] ? wfi_round_up(edge, unit) : 0),
                   least = is_k ? 0 : s->cut.halo;
    return lower < upper && upper >= least ? (axis_cut){begin, (uint32_t)lower, upper, end}
                                           : (axis_cut){begin, end, end, end};
}

static void add_piece(wf_stencil_slab *s, wfi_stencil_piece piece, bool early)
{
    for (int axis = 0; axis < 3; axis++)
        if (piece.begin[axis] == piece.end[axis])
            return;
    piece.early = early;
    s->pieces[s->piece_count++] = piece;
}

void wfi_stencil_cut_pieces(wf_stencil_slab *s)
{
    axis_cut cuts[3];
    wfi_stencil_piece rest;
    for (int axis = 0; axis < 3; axis++) {
        cuts[axis] = cut_axis(s, axis);
        rest.begin[axis] = cuts[axis].begin;
        rest.end[axis] = cuts[axis].end;
    }
    s->piece_count = 0;
    for (int axis = 3; axis-- > 0;) {
        wfi_stencil_piece lower = rest, upper = rest;
        lower.end[axis] = rest.begin[axis] = cuts[axis].lower;
        upper.begin[axis] = rest.end[axis] = cuts[axis].upper;
        add_piece(s, lower, true);
        add_piece(s, upper, true);
    }
    add_piece(s, rest, s->piece_count == 0);
}

bool wfi_stencil_has_inside(const wf_stencil_slab *s)
{
    return !s->pieces[s->piece_count - 1].early;
}

static wfi_stencil_part part_of(const wf_stencil_slab *s, const wfi_stencil_piece *piece,
                                uint32_t steps)
{
    wfi_stencil_part part = s->held;
    part.first = piece->begin[2];
    part.planes = piece->end[2] - piece->begin[2];
    part.steps = steps;
    if (piece->end[0] - piece->begin[0] < wfi_stencil_held_cells(s, 0) ||
        piece->end[1] - piece->begin[1] < wfi_stencil_held_cells(s, 1)) {
        part.i = (wfi_stencil_span){piece->begin[0], piece->end[0]};
        part.j = (wfi_stencil_span){piece->begin[1], piece->end[1]};
    }
    return part;
}

/* What neighbours need on the sides along i and j has few work-groups beside each other: columns
 * that are as long as the whole grid's would leave most of a device idle until they end. Cells do
 * not depend on how long columns are. */
#define LONGEST_AT_SIDES 16

static wf_result plan_piece(const wf_stencil_slab *s, const wfi_stencil_piece *piece,
                            uint32_t steps, wf_plan **out)
{
    const wfi_stencil_part part = part_of(s, piece, steps);
    wf_constant constants[WF_MAX_PARAMETERS];
    wf_tuning tuning = s->tuning;
    wf_stencil_params params = s->local;
    memcpy(constants, s->cut.constants, sizeof constants);
    for (uint32_t n = 0; n < tuning.constant_count && piece->early && part.i.end; n++)
        if (strcmp(constants[n].name, "march") == 0)
            constants[n].value = (uint32_t)wfi_least(constants[n].value, LONGEST_AT_SIDES);
    tuning.constants = constants;
    params.tuning = &tuning;
    return wfi_stencil_plan_part(s->device, &params, &part, out);
}

/* The inside's first, so that the log says most of it. */
wf_result wfi_stencil_plan_pieces(wf_stencil_slab *s, uint32_t steps)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t n = s->piece_count; n-- > 0 && result == WF_SUCCESS;)
        if (!s->plans[steps][n])
            result = plan_piece(s, &s->pieces[n], steps, &s->plans[steps][n]);
    return result;
}
