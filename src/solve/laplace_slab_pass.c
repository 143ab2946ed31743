/* Passes over a part of a grid of Laplace's equation. Jacobi goes from one array to the other, as
 * stencils do. A pass of SOR updates all rows that the arrays hold: those of the neighbours become
 * wrong one after the other from the outside on, a row with every half sweep, and the own ones stay
 * right. Its last iteration updates first what neighbours need. */
#include <string.h>

#include "api/plans.h"
#include "core/command.h"
#include "core/heap.h"
#include "kernels/stencil/stencil.h"
#include "solve/laplace_slab.h"

/* --------------------------------------------------------------------------------------- halos */

static uint64_t row_at(const wf_laplace_slab *s, uint32_t row)
{
    return (row - s->origin) * wfi_laplace_row_bytes(&s->grid);
}

/* A halo has the rows of one array, or of both colours. */
static void record_halo(const wf_laplace_slab *s, VkCommandBuffer command_buffer, uint32_t array,
                        int side, uint32_t row, bool leave)
{
    const uint32_t arrays = s->l.coloured ? 2 : 1;
    const wf_binding halo = leave ? wfi_halo_to(&s->halos, side) : wfi_halo_from(&s->halos, side);
    const uint64_t bytes = halo.bytes / arrays;
    for (uint32_t n = 0; n < arrays && halo.buffer; n++) {
        const wf_buffer *cells = s->l.arrays[s->l.coloured ? n : array];
        const uint64_t there = halo.offset + n * bytes, here = row_at(s, row);
        if (leave)
            wfi_record_copy(s->device, command_buffer, cells, here, halo.buffer, there, bytes);
        else
            wfi_record_copy(s->device, command_buffer, halo.buffer, there, cells, here, bytes);
    }
}

void wfi_laplace_slab_leave(const wf_laplace_slab *s, VkCommandBuffer command_buffer,
                            uint32_t array)
{
    record_halo(s, command_buffer, array, WFI_LOWER, s->first, true);
    record_halo(s, command_buffer, array, WFI_UPPER, s->end - s->halo, true);
}

void wfi_laplace_slab_arrive(const wf_laplace_slab *s, VkCommandBuffer command_buffer)
{
    record_halo(s, command_buffer, s->now, WFI_LOWER, s->origin, false);
    record_halo(s, command_buffer, s->now, WFI_UPPER, s->end, false);
}

/* --------------------------------------------------------------------------------------- plans */

/* A piece of the last iteration. The first colour goes a row further, since the second needs it. */
static wf_result plan_piece(wf_laplace_slab *s, int piece)
{
    const uint32_t inner = s->grid.ny - 1, halo = s->halo;
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; n < 2 && result == WF_SUCCESS; n++) {
        const uint32_t more = 1 - n, lower = s->first + halo + more, upper = s->end - halo - more;
        uint32_t first = s->there[WFI_LOWER] ? lower : 1, end = s->there[WFI_UPPER] ? upper : inner;
        if (piece == WFI_LOWER_ROWS) {
            first = s->first - more;
            end = lower;
        } else if (piece == WFI_UPPER_ROWS) {
            first = upper;
            end = s->end + more;
        }
        first = first > 1 ? first : 1;
        end = end < inner ? end : inner;
        result =
            wfi_laplace_plan_sweep(&s->l, first - s->origin, end - s->origin, &s->pieces[piece][n]);
    }
    return result;
}

wf_result wfi_laplace_slab_sweeps(wf_laplace_slab *s)
{
    wf_result result = wfi_laplace_plan_sweep(&s->l, 1, s->l.ny - 1, &s->sweep);
    for (int piece = 0; piece < WFI_ROW_PIECES && !s->whole && result == WF_SUCCESS; piece++)
        if (piece == WFI_OTHER_ROWS || s->there[piece])
            result = plan_piece(s, piece);
    return result;
}

wf_result wfi_laplace_slab_steps(wf_laplace_slab *s, uint32_t iterations)
{
    const uint32_t halo = s->halo, lower = s->there[WFI_LOWER] ? halo : 0,
                   upper = s->there[WFI_UPPER] ? halo : 0,
                   begin[] = {s->first, s->end - upper, s->whole ? s->first : s->first + lower},
                   end[] = {s->first + lower, s->end, s->whole ? s->end : s->end - upper};
    const wf_stencil_params params = wfi_laplace_stencil(&s->grid);
    wf_result result = WF_SUCCESS;
    for (int piece = 0; piece < WFI_ROW_PIECES && result == WF_SUCCESS; piece++) {
        if (s->steps[iterations][piece] || begin[piece] == end[piece] ||
            (s->whole && piece != WFI_OTHER_ROWS))
            continue;
        const wfi_stencil_part part = {.first = begin[piece],
                                       .planes = end[piece] - begin[piece],
                                       .origin = s->origin,
                                       .held = s->l.ny,
                                       .steps = iterations};
        result = wfi_stencil_plan_part(s->device, &params, &part, &s->steps[iterations][piece]);
    }
    return result;
}

void wfi_laplace_slab_free_plans(wf_laplace_slab *s)
{
    wf_plan_destroy(&s->sweep);
    for (int piece = 0; piece < WFI_ROW_PIECES; piece++) {
        for (int n = 0; n < 2; n++)
            wf_plan_destroy(&s->pieces[piece][n]);
        for (uint32_t i = 0; s->steps && i <= s->most; i++)
            wf_plan_destroy(&s->steps[i][piece]);
    }
    wfi_free(s->steps);
}

/* -------------------------------------------------------------------------------------- passes */

typedef struct slab_pass {
    wf_laplace_slab *slab;
    uint32_t iterations;
} slab_pass;

static wf_result record_steps(const slab_pass *p, VkCommandBuffer command_buffer, int piece)
{
    const wf_laplace_slab *s = p->slab;
    wf_plan *plan = s->steps[p->iterations][piece];
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_STENCIL_IN] = {.buffer = s->l.arrays[s->now]},
                  [WF_STENCIL_OUT] = {.buffer = s->l.arrays[1 - s->now]}}};
    return plan ? wfi_plan_record(plan, command_buffer, &bindings) : WF_SUCCESS;
}

static wf_result record_sweep(const wf_laplace_slab *s, VkCommandBuffer command_buffer,
                              wf_plan *plan, uint32_t colour)
{
    const wf_bindings bindings = wfi_laplace_bindings(&s->l, colour);
    return plan ? wfi_plan_record_sequence(plan, command_buffer, &bindings, colour) : WF_SUCCESS;
}

/* The last iteration, of the pieces from `first` to `last`. */
static wf_result record_last(const wf_laplace_slab *s, VkCommandBuffer command_buffer, int first,
                             int last)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t colour = 0; colour < 2; colour++) {
        wfi_barrier_compute(s->device, command_buffer);
        for (int piece = first; piece <= last && result == WF_SUCCESS; piece++)
            result = record_sweep(s, command_buffer, s->pieces[piece][colour], colour);
    }
    return result;
}

static wf_result record_sweeps(const slab_pass *p, VkCommandBuffer command_buffer)
{
    const wf_laplace_slab *s = p->slab;
    const uint32_t iterations = p->iterations - (s->whole ? 0 : 1);
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; n < 2 * iterations && result == WF_SUCCESS; n++) {
        wfi_barrier_compute(s->device, command_buffer);
        result = record_sweep(s, command_buffer, s->sweep, n & 1);
    }
    if (!s->whole && result == WF_SUCCESS)
        result = record_last(s, command_buffer, WFI_LOWER_ROWS, WFI_UPPER_ROWS);
    return result;
}

static wf_result record_arrive(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    wfi_laplace_slab_arrive(p->slab, command_buffer);
    return WF_SUCCESS;
}

static wf_result record_early(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    const wf_laplace_slab *s = p->slab;
    const int pieces = s->whole ? WFI_ROW_PIECES : WFI_OTHER_ROWS;
    wf_result result = WF_SUCCESS;
    if (s->l.coloured)
        return record_sweeps(p, command_buffer);
    for (int piece = 0; piece < pieces && result == WF_SUCCESS; piece++)
        result = record_steps(p, command_buffer, piece);
    return result;
}

static wf_result record_leave(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    wfi_laplace_slab_leave(p->slab, command_buffer, 1 - p->slab->now);
    return WF_SUCCESS;
}

/* The other rows need none of the neighbours'. SOR's are updated behind what the first part did. */
static wf_result record_late(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    return p->slab->l.coloured
               ? record_last(p->slab, command_buffer, WFI_OTHER_ROWS, WFI_OTHER_ROWS)
               : record_steps(p, command_buffer, WFI_OTHER_ROWS);
}

static wf_result check_pass(wf_laplace_slab *s, uint32_t iterations, bool under_way)
{
    if (iterations == 0 || iterations > s->most || s->passes.under_way != under_way)
        return wfi_fail(&s->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_slab_pass: a pass makes 1 to %u iterations, one behind the "
                        "other",
                        s->most);
    return s->l.coloured ? WF_SUCCESS : wfi_laplace_slab_steps(s, iterations);
}

static wfi_pass_parts parts_of(slab_pass *p)
{
    const bool any = wfi_halos_any(&p->slab->halos);
    return (wfi_pass_parts){.arrive = any ? record_arrive : NULL,
                            .early = record_early,
                            .leave = any ? record_leave : NULL,
                            .late = p->slab->whole ? NULL : record_late,
                            .user = p};
}

static wf_result begin_pass(wf_laplace_slab *s, uint32_t iterations)
{
    wf_result result = check_pass(s, iterations, false);
    if (result != WF_SUCCESS)
        return result;
    slab_pass p = {s, iterations};
    const wfi_pass_parts parts = parts_of(&p);
    return wfi_part_passes_begin(&s->passes, &parts);
}

static wf_result end_pass(wf_laplace_slab *s, double *seconds)
{
    if (!s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_result result = wfi_part_passes_end(&s->passes, seconds);
    if (result == WF_SUCCESS)
        s->now = s->l.coloured ? 0 : 1 - s->now;
    return result;
}

static wf_result next_pass(wf_laplace_slab *s, uint32_t iterations, double *seconds)
{
    wf_result result = check_pass(s, iterations, true);
    if (result != WF_SUCCESS) {
        end_pass(s, seconds); /* refuses where none is under way */
        return result;
    }
    slab_pass p = {s, iterations};
    const wfi_pass_parts parts = parts_of(&p);
    s->now = s->l.coloured ? 0 : 1 - s->now;
    return wfi_part_passes_next(&s->passes, &parts, seconds);
}

wf_result wf_laplace_slab_pass_begin(wf_laplace_slab *s, uint32_t iterations)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, begin_pass(s, iterations));
}

wf_result wf_laplace_slab_pass_next(wf_laplace_slab *s, uint32_t iterations, double *seconds)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, next_pass(s, iterations, seconds));
}

wf_result wf_laplace_slab_pass_end(wf_laplace_slab *s, double *seconds)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, end_pass(s, seconds));
}
