/* Parts of a stencil's grid, which is cut among several devices. */

#include <string.h>

#include "api/plans.h"
#include "core/arithmetic.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "solve/stencil_slab.h"

/* ----------------------------------------------------------------------------------------- cuts */

static wf_result plan_cut(wf_device *device, const char *function, const wf_stencil_params *given,
                          wf_stencil_params *params, wf_stencil_cut *cut)
{
    wfi_problem problem;
    wfi_choice choice;
    wf_result result = wfi_params_read(&device->log, function, given, params, sizeof *params);
    if (result == WF_SUCCESS)
        result = wfi_stencil_choose(device, function, params, &problem, &choice);
    if (result != WF_SUCCESS)
        return result;
    choice.point.problem = &problem;
    const wfi_stencil_axes axes = wfi_stencil_axes_of(&problem.stencil);
    const wf_plan_info info = wfi_describe_choice(&choice);
    const uint32_t steps = wfi_point_value(&choice.point, STENCIL_ID_STEPS, 1);
    *cut = (wf_stencil_cut){.size = sizeof *cut,
                            .planes = (uint32_t)axes.nk,
                            .steps = steps,
                            .halo = steps * problem.stencil.radius,
                            .plane_bytes = axes.plane * wf_type_size(params->type),
                            .variant = info.variant,
                            .chosen_by = info.chosen_by,
                            .constant_count = info.constant_count};
    memcpy(cut->constants, info.constants, sizeof cut->constants);
    return WF_SUCCESS;
}

wf_result wf_stencil_plan_cut(wf_device *device, const wf_stencil_params *given,
                              wf_stencil_cut *cut)
{
    wf_stencil_params params;
    wf_stencil_cut found;
    if (!device || !cut)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    wf_result result = plan_cut(device, "wf_stencil_plan_cut", given, &params, &found);
    if (result == WF_SUCCESS && !wfi_params_write(cut, &found, sizeof found))
        result = WF_ERROR_INVALID_ARGUMENT;
    return wfi_heap_leave(outer, result);
}

/* --------------------------------------------------------------------------------------- making */

static wf_result keep_coefficients(wf_stencil_slab *s)
{
    wfi_stencil_problem problem;
    wfi_stencil_sizes_of(&s->grid, &problem);
    const size_t bytes = wfi_stencil_taps(&problem) * sizeof *s->coefficients;
    s->coefficients = wfi_malloc(bytes);
    if (!s->coefficients)
        return wfi_no_memory(&s->device->log);
    memcpy(s->coefficients, s->grid.coefficients, bytes);
    s->grid.coefficients = s->coefficients;
    /* Names of variants and constants are the library's own. */
    s->tuning = (wf_tuning){.size = sizeof s->tuning,
                            .variant = s->cut.variant,
                            .constants = s->cut.constants,
                            .constant_count = s->cut.constant_count};
    s->grid.tuning = &s->tuning;
    s->grid.jobs = NULL;
    s->grid.cancel = NULL;
    return WF_SUCCESS;
}

/* A part of an axis of n cells; count 0: all. */
static wfi_part_axis axis_of(const wf_stencil_slab *s, uint32_t n, uint32_t first, uint32_t count)
{
    const uint32_t end = count ? first + count : n;
    const bool around = count && count < n && s->grid.border == WF_BORDER_PERIODIC;
    return (wfi_part_axis){
        .begin = first, .end = end, .there = {around || first > 0, around || end < n}};
}

/* What a block holds where the grid ends must be a grid of the stencil's: 2 radius + 1. */
static uint32_t least_cells(const wf_stencil_slab *s)
{
    return s->cut.halo + (s->cut.steps == 1 && s->grid.border != WF_BORDER_PERIODIC);
}

static bool is_part(const wf_stencil_slab *s, uint32_t n, uint32_t first, uint32_t count)
{
    return count <= n && first <= n - count && (count || !first) &&
           (!count || count == n || count >= least_cells(s));
}

static wf_result hold_block(wf_stencil_slab *s, const wf_stencil_slab_params *params)
{
    const bool flat = s->grid.nz == 0;
    const uint32_t rows = flat ? 1 : s->grid.ny;
    if (!is_part(s, s->grid.nx, params->first_cell, params->cells) ||
        !is_part(s, rows, params->first_row, params->rows))
        return wfi_fail(&s->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_slab_create: %u rows and %u cells of a grid of %u and %u; a "
                        "block has %u at least",
                        params->rows, params->cells, rows, s->grid.nx, least_cells(s));
    s->axes[0] = axis_of(s, s->grid.nx, params->first_cell, params->cells);
    s->axes[1] = axis_of(s, rows, params->first_row, params->rows);
    s->axes[2] = axis_of(s, s->cut.planes, s->first, s->end - s->first);
    s->is_block = s->axes[0].there[WFI_LOWER] || s->axes[0].there[WFI_UPPER] ||
                  s->axes[1].there[WFI_LOWER] || s->axes[1].there[WFI_UPPER];
    s->local = s->grid;
    s->plane_bytes = s->cut.plane_bytes;
    if (!s->is_block)
        return WF_SUCCESS;
    s->local.nx = wfi_stencil_held_cells(s, 0);
    s->local.row_stride = (uint32_t)wfi_round_up(s->local.nx, WFI_STENCIL_ROW_UNIT);
    if (!flat)
        s->local.ny = wfi_stencil_held_cells(s, 1);
    s->plane_bytes =
        (uint64_t)s->local.row_stride * (flat ? 1 : s->local.ny) * wf_type_size(s->grid.type);
    return WF_SUCCESS;
}

static wf_result make_halos(wf_stencil_slab *s)
{
    const uint64_t size = wf_type_size(s->grid.type), row = s->local.row_stride;
    const wfi_halo_grid grid = {
        .bytes = s->held.held * s->plane_bytes,
        .row = row,
        .plane = s->plane_bytes / size,
        .origin = {wfi_stencil_held_from(s, 0), wfi_stencil_held_from(s, 1), s->held.origin}};
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        wfi_halo_box box;
        if (wfi_halo_box_to(s->axes, s->cut.halo, side, &box))
            s->halos.bytes[side] =
                s->is_block ? wfi_halo_box_cells(&box) * size : s->cut.halo * s->plane_bytes;
    }
    const wf_result result = wfi_halos_make_sides(s->device, &s->halos);
    return result == WF_SUCCESS && s->is_block
               ? wfi_halo_copier_open(s->device, s->grid.type, &grid, &s->copier)
               : result;
}

/* Which planes the arrays hold. Some kernels load the plane behind those that they need, too. */
static void find_held(wf_stencil_slab *s)
{
    const uint32_t planes = s->cut.planes, halo = s->cut.halo;
    const bool cut = s->end - s->first < planes,
               around = cut && s->grid.border == WF_BORDER_PERIODIC, *there = s->axes[2].there;
    const int64_t origin = (int64_t)s->first - (there[WFI_LOWER] ? halo : 0);
    int64_t last = (int64_t)s->end + (there[WFI_UPPER] ? halo : 0);
    if (there[WFI_UPPER] && !around && last < planes)
        last++;
    s->held =
        (wfi_stencil_part){.origin = origin, .held = (uint32_t)(last - origin), .ends = around};
}

static wf_result make_grids(wf_stencil_slab *s)
{
    const uint64_t bytes = s->held.held * s->plane_bytes;
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(s->device, bytes, WF_MEMORY_DEVICE, &s->grids[i]);
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(s->grids[i], 0, bytes / 4 * 4, 0);
    }
    return result;
}

static wf_result open_slab(wf_stencil_slab *s, const wf_stencil_slab_params *params)
{
    const wfi_log *log = &s->device->log;
    wf_result result =
        plan_cut(s->device, "wf_stencil_slab_create", params->grid, &s->grid, &s->cut);
    if (result != WF_SUCCESS)
        return result;
    s->first = params->first_plane;
    if (s->first >= s->cut.planes || params->planes == 0 ||
        params->planes > s->cut.planes - s->first ||
        (params->planes < s->cut.halo && params->planes < s->cut.planes))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_slab_create: planes %u to %u of a grid of %u; a part has the "
                        "%u of a halo at least",
                        s->first, s->first + params->planes, s->cut.planes, s->cut.halo);
    s->end = s->first + params->planes;
    result = keep_coefficients(s);
    if (result == WF_SUCCESS)
        result = hold_block(s, params);
    if (result != WF_SUCCESS)
        return result;
    find_held(s);
    wfi_stencil_cut_pieces(s);
    s->plans = result == WF_SUCCESS ? wfi_calloc(s->cut.steps + (size_t)1, sizeof *s->plans) : NULL;
    if (result == WF_SUCCESS && !s->plans)
        result = wfi_no_memory(log);
    if (result == WF_SUCCESS)
        result = make_grids(s);
    if (result == WF_SUCCESS)
        result = make_halos(s);
    return result == WF_SUCCESS ? wfi_part_passes_open(s->device, false, &s->passes) : result;
}

static wf_result create(wf_device *device, const wf_stencil_slab_params *given,
                        wf_stencil_slab **out)
{
    wf_stencil_slab_params params;
    wf_result result =
        wfi_params_read(&device->log, "wf_stencil_slab_create", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    wf_stencil_slab *s = wfi_calloc(1, sizeof *s);
    if (!s)
        return wfi_no_memory(&device->log);
    s->device = device;
    result = open_slab(s, &params);
    if (result == WF_SUCCESS)
        *out = s;
    else
        wf_stencil_slab_destroy(&s);
    return result;
}

wf_result wf_stencil_slab_create(wf_device *device, const wf_stencil_slab_params *params,
                                 wf_stencil_slab **out)
{
    if (!device || !params || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, params, out));
}

void wf_stencil_slab_destroy(wf_stencil_slab **handle)
{
    wf_stencil_slab *s = handle ? *handle : NULL;
    if (!s)
        return;
    wfi_part_passes_close(&s->passes); /* it waits */
    for (uint32_t n = 0; s->plans && n <= s->cut.steps; n++)
        for (uint32_t piece = 0; piece < s->piece_count; piece++)
            wf_plan_destroy(&s->plans[n][piece]);
    wfi_halo_copier_close(&s->copier);
    wfi_halos_destroy(&s->halos);
    wf_buffer_destroy(&s->grids[0]);
    wf_buffer_destroy(&s->grids[1]);
    wfi_free(s->plans);
    wfi_free(s->coefficients);
    wfi_free(s);
    *handle = NULL;
}

wf_result wf_stencil_slab_describe(const wf_stencil_slab *s, wf_plan_info *info)
{
    if (!s || !info)
        return WF_ERROR_INVALID_ARGUMENT;
    if (wfi_device_usable(s->device, "wf_stencil_slab_describe") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    for (uint32_t n = 1; n <= s->cut.steps; n++)
        for (uint32_t piece = s->piece_count; piece-- > 0;)
            if (s->plans[n][piece])
                return wf_plan_describe(s->plans[n][piece], info);
    return WF_NOT_READY;
}

/* ----------------------------------------------------------------------------------------- data */

static uint64_t byte_of(const wf_stencil_slab *s, uint32_t plane)
{
    return (uint64_t)((int64_t)plane - s->held.origin) * s->plane_bytes;
}

/* Leaves the boundary cells of a grid to the neighbours, or takes theirs. */
static wf_result record_halos(const wf_stencil_slab *s, VkCommandBuffer command_buffer,
                              uint32_t grid, bool arrive)
{
    wf_result result = WF_SUCCESS;
    for (int side = 0; side < WF_HALO_SIDES && result == WF_SUCCESS; side++) {
        const wf_binding halo =
            arrive ? wfi_halo_from(&s->halos, side) : wfi_halo_to(&s->halos, side);
        wfi_halo_box box;
        if (!halo.buffer)
            continue;
        if (arrive)
            wfi_halo_box_from(s->axes, s->cut.halo, side, &box);
        else
            wfi_halo_box_to(s->axes, s->cut.halo, side, &box);
        const uint64_t at = (uint64_t)(box.first[2] - s->held.origin) * s->plane_bytes;
        if (s->is_block)
            result = wfi_halo_copy(&s->copier, command_buffer, s->grids[grid], &box, &halo, arrive);
        else if (arrive)
            wfi_record_copy(s->device, command_buffer, halo.buffer, halo.offset, s->grids[grid], at,
                            halo.bytes);
        else
            wfi_record_copy(s->device, command_buffer, s->grids[grid], at, halo.buffer, halo.offset,
                            halo.bytes);
    }
    return result;
}

static wf_result record_first(void *user, VkCommandBuffer command_buffer)
{
    const wf_stencil_slab *s = user;
    return record_halos(s, command_buffer, s->now, false);
}

/* Moves a block's own cells, which are packed on the host, a plane at a time. */
static wf_result move_cells(wf_stencil_slab *s, unsigned char *host, bool write)
{
    const uint64_t size = wf_type_size(s->grid.type), row = s->local.row_stride * size,
                   own = (s->axes[0].end - s->axes[0].begin) * size;
    const uint32_t rows = s->axes[1].end - s->axes[1].begin;
    const uint64_t first =
        (uint64_t)((int64_t)s->axes[1].begin - wfi_stencil_held_from(s, 1)) * row +
        (uint64_t)((int64_t)s->axes[0].begin - wfi_stencil_held_from(s, 0)) * size;
    unsigned char *plane = wfi_calloc(s->plane_bytes, 1);
    wf_result result = plane ? WF_SUCCESS : wfi_no_memory(&s->device->log);
    for (uint32_t k = s->first; k < s->end && result == WF_SUCCESS; k++) {
        if (!write)
            result = wf_buffer_read(s->grids[s->now], byte_of(s, k), plane, s->plane_bytes);
        for (uint32_t j = 0; j < rows && result == WF_SUCCESS; j++, host += own) {
            unsigned char *here = plane + first + j * row;
            memcpy(write ? here : host, write ? host : here, own);
        }
        if (write && result == WF_SUCCESS)
            result = wf_buffer_write(s->grids[s->now], byte_of(s, k), plane, s->plane_bytes);
    }
    wfi_free(plane);
    return result;
}

static wf_result write_planes(wf_stencil_slab *s, const void *planes)
{
    const uint64_t bytes = (s->end - s->first) * s->plane_bytes;
    /* move_cells only reads the host's side here. */
    wf_result result = s->is_block
                           ? move_cells(s, (unsigned char *)(uintptr_t)planes, true)
                           : wf_buffer_write(s->grids[s->now], byte_of(s, s->first), planes, bytes);
    return result == WF_SUCCESS ? wfi_run(s->device, record_first, s) : result;
}

wf_result wf_stencil_slab_write(wf_stencil_slab *s, const void *planes)
{
    if (!s || !planes || s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, write_planes(s, planes));
}

wf_result wf_stencil_slab_read(wf_stencil_slab *s, void *planes)
{
    if (!s || !planes || s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!s->is_block)
        return wf_buffer_read(s->grids[s->now], byte_of(s, s->first), planes,
                              (s->end - s->first) * s->plane_bytes);
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, move_cells(s, planes, false));
}

wf_result wf_stencil_slab_halos(wf_stencil_slab *s, wf_halo *halo)
{
    return s && halo ? wfi_halos_tell(s->device, "wf_stencil_slab_halos", &s->halos, halo)
                     : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_stencil_slab_bind_halos(wf_stencil_slab *s, const wf_halo_bindings *halos)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(
        outer, wfi_halos_bind(s->device, "wf_stencil_slab_bind_halos", halos, &s->halos));
}

/* --------------------------------------------------------------------------------------- passes */

typedef struct slab_pass {
    wf_stencil_slab *slab;
    wf_plan *const *plans; /* of its steps */
} slab_pass;

static wf_result record_pieces(const slab_pass *p, VkCommandBuffer command_buffer, bool early)
{
    const wf_stencil_slab *s = p->slab;
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {[WF_STENCIL_IN] = {.buffer = s->grids[s->now]},
                                            [WF_STENCIL_OUT] = {.buffer = s->grids[1 - s->now]}}};
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; n < s->piece_count && result == WF_SUCCESS; n++)
        if (s->pieces[n].early == early)
            result = wfi_plan_record(p->plans[n], command_buffer, &bindings);
    return result;
}

static wf_result record_arrive(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    return record_halos(p->slab, command_buffer, p->slab->now, true);
}

static wf_result record_early(void *user, VkCommandBuffer command_buffer)
{
    return record_pieces(user, command_buffer, true);
}

static wf_result record_leave(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    return record_halos(p->slab, command_buffer, 1 - p->slab->now, false);
}

/* The inside needs none of the neighbours' cells. */
static wf_result record_late(void *user, VkCommandBuffer command_buffer)
{
    return record_pieces(user, command_buffer, false);
}

static wf_result check_pass(wf_stencil_slab *s, uint32_t steps, bool under_way)
{
    if (steps == 0 || steps > s->cut.steps || s->passes.under_way != under_way)
        return wfi_fail(&s->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_slab_pass: a pass makes 1 to %u steps, one behind the other",
                        s->cut.steps);
    return wfi_stencil_plan_pieces(s, steps);
}

static wfi_pass_parts parts_of(slab_pass *p)
{
    const bool any = wfi_halos_any(&p->slab->halos);
    return (wfi_pass_parts){.arrive = any ? record_arrive : NULL,
                            .early = record_early,
                            .leave = any ? record_leave : NULL,
                            .late = wfi_stencil_has_inside(p->slab) ? record_late : NULL,
                            .by_kernels = p->slab->is_block,
                            .user = p};
}

static wf_result begin_pass(wf_stencil_slab *s, uint32_t steps)
{
    wf_result result = check_pass(s, steps, false);
    if (result != WF_SUCCESS)
        return result;
    slab_pass p = {s, s->plans[steps]};
    const wfi_pass_parts parts = parts_of(&p);
    return wfi_part_passes_begin(&s->passes, &parts);
}

static wf_result end_pass(wf_stencil_slab *s, double *seconds)
{
    if (!s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_result result = wfi_part_passes_end(&s->passes, seconds);
    if (result == WF_SUCCESS)
        s->now = 1 - s->now;
    return result;
}

static wf_result next_pass(wf_stencil_slab *s, uint32_t steps, double *seconds)
{
    wf_result result = check_pass(s, steps, true);
    if (result != WF_SUCCESS) {
        end_pass(s, seconds); /* refuses where none is under way */
        return result;
    }
    slab_pass p = {s, s->plans[steps]};
    const wfi_pass_parts parts = parts_of(&p);
    s->now = 1 - s->now;
    return wfi_part_passes_next(&s->passes, &parts, seconds);
}

wf_result wf_stencil_slab_pass_begin(wf_stencil_slab *s, uint32_t steps)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, begin_pass(s, steps));
}

wf_result wf_stencil_slab_pass_next(wf_stencil_slab *s, uint32_t steps, double *seconds)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, next_pass(s, steps, seconds));
}

wf_result wf_stencil_slab_pass_end(wf_stencil_slab *s, double *seconds)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, end_pass(s, seconds));
}
