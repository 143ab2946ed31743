/* Parts of a stencil's grid, which is cut along its slowest axis among several devices. */

#include <string.h>

#include "api/plans.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/stencil/stencil.h"
#include "solve/part_passes.h"

/* What a pass updates: the planes that neighbours need, below and above, and the others; or all. */
enum { LOWER_PLANES, UPPER_PLANES, OTHER_PLANES, PIECES };

struct wf_stencil_slab {
    wf_device *device;
    wf_stencil_params grid; /* its coefficients and tuning are the two below */
    double *coefficients;
    wf_tuning tuning;
    wf_stencil_cut cut;
    uint32_t first, end;   /* planes */
    wfi_stencil_part held; /* what the arrays hold */
    bool whole;            /* too thin for pieces: all planes are updated at once */
    wf_buffer *grids[2];   /* grids[now]: as it is */
    uint32_t now;
    wf_plan *(*plans)[PIECES]; /* by the steps of a pass, made when they are needed */
    wfi_halos halos;
    wfi_part_passes passes;
};

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

/* Which planes the arrays hold. Some kernels load the plane behind those that they need, too. */
static void find_held(wf_stencil_slab *s, bool there[WFI_SIDES])
{
    const uint32_t planes = s->cut.planes, halo = s->cut.halo;
    const bool cut = s->end - s->first < planes,
               around = cut && s->grid.border == WF_BORDER_PERIODIC;
    there[WFI_LOWER] = around || s->first > 0;
    there[WFI_UPPER] = around || s->end < planes;
    const int64_t origin = (int64_t)s->first - (there[WFI_LOWER] ? halo : 0);
    int64_t last = (int64_t)s->end + (there[WFI_UPPER] ? halo : 0);
    if (there[WFI_UPPER] && !around && last < planes)
        last++;
    s->held =
        (wfi_stencil_part){.origin = origin, .held = (uint32_t)(last - origin), .ends = around};
    s->whole = s->end - s->first <= 2 * halo || !cut;
}

static wf_result make_grids(wf_stencil_slab *s)
{
    const uint64_t bytes = s->held.held * s->cut.plane_bytes;
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
    bool there[WFI_SIDES];
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
    find_held(s, there);
    result = keep_coefficients(s);
    s->plans = result == WF_SUCCESS ? wfi_calloc(s->cut.steps + (size_t)1, sizeof *s->plans) : NULL;
    if (result == WF_SUCCESS && !s->plans)
        result = wfi_no_memory(log);
    if (result == WF_SUCCESS)
        result = make_grids(s);
    if (result == WF_SUCCESS)
        result = wfi_halos_make(s->device, s->cut.halo * s->cut.plane_bytes, there, &s->halos);
    return result == WF_SUCCESS ? wfi_part_passes_open(s->device, &s->passes) : result;
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
        for (int piece = 0; piece < PIECES; piece++)
            wf_plan_destroy(&s->plans[n][piece]);
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
    for (uint32_t n = 1; n <= s->cut.steps; n++)
        for (int piece = PIECES; piece-- > 0;)
            if (s->plans[n][piece])
                return wf_plan_describe(s->plans[n][piece], info);
    return WF_NOT_READY;
}

/* The plans of passes of so many steps, the others' first so that it says most of them. */
static wf_result make_plans(wf_stencil_slab *s, uint32_t steps)
{
    const uint32_t halo = s->cut.halo,
                   begin[] = {s->first, s->end - halo, s->whole ? s->first : s->first + halo},
                   end[] = {s->first + halo, s->end, s->whole ? s->end : s->end - halo};
    wf_result result = WF_SUCCESS;
    for (int piece = PIECES; piece-- > 0 && result == WF_SUCCESS;) {
        if (s->plans[steps][piece] || (s->whole && piece != OTHER_PLANES))
            continue;
        wfi_stencil_part part = s->held;
        part.first = begin[piece];
        part.planes = end[piece] - begin[piece];
        part.steps = steps;
        result = wfi_stencil_plan_part(s->device, &s->grid, &part, &s->plans[steps][piece]);
    }
    return result;
}

/* ----------------------------------------------------------------------------------------- data */

static uint64_t byte_of(const wf_stencil_slab *s, uint32_t plane)
{
    return (uint64_t)((int64_t)plane - s->held.origin) * s->cut.plane_bytes;
}

/* Leaves the boundary planes of a grid to the neighbours. */
static void record_leave(const wf_stencil_slab *s, VkCommandBuffer command_buffer, uint32_t grid)
{
    const uint32_t from[WFI_SIDES] = {s->first, s->end - s->cut.halo};
    for (int side = 0; side < WFI_SIDES; side++) {
        const wf_binding to = wfi_halo_to(&s->halos, side);
        if (to.buffer)
            wfi_record_copy(s->device, command_buffer, s->grids[grid], byte_of(s, from[side]),
                            to.buffer, to.offset, to.bytes);
    }
}

static void record_arrive(const wf_stencil_slab *s, VkCommandBuffer command_buffer)
{
    const uint64_t to[WFI_SIDES] = {0, byte_of(s, s->end)};
    for (int side = 0; side < WFI_SIDES; side++) {
        const wf_binding from = wfi_halo_from(&s->halos, side);
        if (from.buffer)
            wfi_record_copy(s->device, command_buffer, from.buffer, from.offset, s->grids[s->now],
                            to[side], from.bytes);
    }
}

static wf_result record_first(void *user, VkCommandBuffer command_buffer)
{
    const wf_stencil_slab *s = user;
    record_leave(s, command_buffer, s->now);
    return WF_SUCCESS;
}

static wf_result write_planes(wf_stencil_slab *s, const void *planes)
{
    const uint64_t bytes = (s->end - s->first) * s->cut.plane_bytes;
    wf_result result = wf_buffer_write(s->grids[s->now], byte_of(s, s->first), planes, bytes);
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
    return wf_buffer_read(s->grids[s->now], byte_of(s, s->first), planes,
                          (s->end - s->first) * s->cut.plane_bytes);
}

wf_result wf_stencil_slab_halos(wf_stencil_slab *s, wf_halo *halo)
{
    return s && halo ? wfi_halos_tell(&s->halos, halo) : WF_ERROR_INVALID_ARGUMENT;
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

static wf_result record_piece(const slab_pass *p, VkCommandBuffer command_buffer, int piece)
{
    const wf_stencil_slab *s = p->slab;
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {[WF_STENCIL_IN] = {.buffer = s->grids[s->now]},
                                            [WF_STENCIL_OUT] = {.buffer = s->grids[1 - s->now]}}};
    return p->plans[piece] ? wfi_plan_record(p->plans[piece], command_buffer, &bindings)
                           : WF_SUCCESS;
}

/* Takes the neighbours' planes, updates what they need, and leaves it to them. */
static wf_result record_early(void *user, VkCommandBuffer command_buffer)
{
    const slab_pass *p = user;
    const wf_stencil_slab *s = p->slab;
    record_arrive(s, command_buffer);
    wfi_barrier(s->device, command_buffer);
    wf_result result = record_piece(p, command_buffer, LOWER_PLANES);
    if (result == WF_SUCCESS)
        result = record_piece(p, command_buffer, UPPER_PLANES);
    if (result == WF_SUCCESS && s->whole)
        result = record_piece(p, command_buffer, OTHER_PLANES);
    wfi_barrier(s->device, command_buffer);
    record_leave(s, command_buffer, 1 - s->now);
    return result;
}

/* The other planes need none of the neighbours'. */
static wf_result record_late(void *user, VkCommandBuffer command_buffer)
{
    return record_piece(user, command_buffer, OTHER_PLANES);
}

static wf_result check_pass(wf_stencil_slab *s, uint32_t steps, bool under_way)
{
    if (steps == 0 || steps > s->cut.steps || s->passes.under_way != under_way)
        return wfi_fail(&s->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_stencil_slab_pass: a pass makes 1 to %u steps, one behind the other",
                        s->cut.steps);
    return make_plans(s, steps);
}

static wfi_pass_parts parts_of(slab_pass *p)
{
    return (wfi_pass_parts){record_early, p->slab->whole ? NULL : record_late, p};
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
