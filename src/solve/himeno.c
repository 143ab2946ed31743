/* The Himeno relaxation on a device: its blocks, slabs and passes, and their memory. */
#include "choose/choose.h"
#include "core/arithmetic.h"
#include "core/params.h"
#include "solve/himeno.h"

#include <math.h>
#include <string.h>

#include "core/heap.h"
#include "kernels/himeno/rows.h"
#include "plan/plan.h"

#define VECTOR 4                            /* cells that some variants load at once */
#define PARTIALS_BYTES (UINT64_C(16) << 20) /* about as many for partial sums */

/* --------------------------------------------------------------------------------------- passes */

static wf_result count_partials(wf_himeno *h, wfi_himeno_pass *pass)
{
    const uint32_t steps = wfi_himeno_steps(&pass->point);
    uint64_t partials = 0;
    for (uint32_t i = 0; i < h->piece_count; i++)
        partials += wfi_himeno_partials(&pass->point, &h->pieces[i].what);
    if (partials * steps * sizeof(float) > h->device->caps.max_storage_range)
        return wfi_fail(&h->device->log, WF_ERROR_TOO_LARGE,
                        "%llu partial sums of gosa are over this device's binding limit of %llu "
                        "bytes",
                        (unsigned long long)partials,
                        (unsigned long long)h->device->caps.max_storage_range);
    pass->groups = (uint32_t)partials;
    const uint64_t row = (partials ? partials : 1) * sizeof(float); /* there is a slab */
    const uint64_t room = wfi_least(PARTIALS_BYTES, h->device->caps.max_storage_range) / row;
    pass->steps = steps;
    pass->rows = (uint32_t)wfi_least(room, WFI_HIMENO_MAX_ROWS) / pass->steps * pass->steps;
    if (pass->rows == 0)
        pass->rows = pass->steps;
    return WF_SUCCESS;
}

static uint64_t partials_bytes(const wf_himeno *h)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < h->pass_count; i++) {
        const uint64_t needed = (uint64_t)h->passes[i].rows * h->passes[i].groups * sizeof(float);
        bytes = needed > bytes ? needed : bytes;
    }
    return bytes;
}

static wf_result make_plans(wf_himeno *h, wfi_himeno_pass *pass)
{
    const wfi_choice choice = {pass->point, h->choice.chosen_by, h->choice.family};
    uint32_t first = 0;
    pass->plans = wfi_calloc(h->piece_count, sizeof(wf_plan *));
    if (!pass->plans)
        return wfi_no_memory(&h->device->log);
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < h->piece_count && result == WF_SUCCESS; i++) {
        wfi_himeno_slab slab = h->pieces[i].what;
        slab.groups = pass->groups;
        slab.rows = pass->rows;
        slab.first_group = first;
        first += (uint32_t)wfi_himeno_partials(&pass->point, &slab);
        result = wfi_plan_create(h->device, &choice, &slab, &pass->plans[i]);
    }
    if (result == WF_SUCCESS)
        result = wfi_himeno_sum_plan(h->device, pass->rows, pass->groups, &pass->sum);
    return result;
}

static wf_result make_passes(wf_himeno *h)
{
    h->passes[0].point = h->choice.point;
    h->pass_count = 1;
    if (wfi_himeno_steps(&h->choice.point) > 1) {
        wfi_himeno_single(&h->choice.point, &h->passes[1].point);
        h->pass_count = 2;
    }
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < h->pass_count && result == WF_SUCCESS; i++)
        result = count_partials(h, &h->passes[i]);
    return result;
}

/* --------------------------------------------------------------------------------------- memory */

/* Slabs exchange planes as they lie in memory, blocks boxes of cells. */
static uint64_t halo_bytes(const wf_himeno *h, int side)
{
    const uint32_t steps = h->passes[0].steps;
    wfi_halo_box box;
    if (!wfi_halo_box_to(h->axes, steps, side, &box))
        return 0;
    return sizeof(float) * (h->is_block ? wfi_halo_box_cells(&box) : steps * h->layout.p_plane);
}

static wf_result make_halos(wf_himeno *h)
{
    const wfi_himeno_block *block = &h->blocks[0];
    const wfi_halo_grid grid = {
        .bytes = block->held * h->layout.p_plane * sizeof(float),
        .row = h->layout.p_row,
        .plane = h->layout.p_plane,
        .origin = {(int64_t)h->axes[0].begin - h->span_i.first - (int64_t)h->layout.p_left,
                   (int64_t)h->axes[1].begin - h->span_j.first - 1, (int64_t)block->origin - 1}};
    for (int side = 0; side < WF_HALO_SIDES; side++)
        h->halos.bytes[side] = halo_bytes(h, side);
    const wf_result result = wfi_halos_make_sides(h->device, &h->halos);
    if (result != WF_SUCCESS || !h->is_block)
        return result;
    if (h->block_count > 1)
        return wfi_fail(&h->device->log, WF_ERROR_TOO_LARGE,
                        "%u planes of %u x %u cells are over this device's allocation limit of "
                        "%llu bytes: cut the grid into more blocks",
                        h->end - h->begin, h->span_i.count, h->span_j.count,
                        (unsigned long long)wfi_himeno_allocation(&h->device->caps));
    return wfi_halo_copier_open(h->device, WF_TYPE_F32, &grid, &h->copier);
}

static uint64_t block_bytes(const wf_himeno *h, const wfi_himeno_block *block)
{
    return block->held * h->layout.p_plane * sizeof(float);
}

static uint64_t total_bytes(const wf_himeno *h)
{
    uint64_t bytes = partials_bytes(h);
    for (uint32_t b = 0; b < h->block_count; b++)
        bytes += 2 * block_bytes(h, &h->blocks[b]);
    for (uint32_t i = 0; i < h->slab_count; i++)
        bytes += wfi_himeno_cells(&h->layout, &h->slabs[i].slab) * sizeof(float);
    /* Halos are in memory of the host's, which on some devices is the same. */
    for (int side = 0; side < WF_HALO_SIDES && h->subdomain; side++)
        bytes += 2 * halo_bytes(h, side);
    return bytes;
}

/* Makes the host's buffers that data are moved from and to. */
static wf_result allocate_mirrors(wf_himeno *h)
{
    wf_result result = WF_SUCCESS;
    for (uint32_t b = 0; h->region && b < h->block_count && result == WF_SUCCESS; b++)
        result = wf_buffer_create(h->device, block_bytes(h, &h->blocks[b]), WF_MEMORY_READBACK,
                                  &h->blocks[b].mirror);
    for (uint32_t i = 0; h->region && i < h->slab_count && result == WF_SUCCESS; i++)
        result = wf_buffer_create(h->device, wf_buffer_size(h->slabs[i].cells), WF_MEMORY_READBACK,
                                  &h->slabs[i].mirror);
    return result;
}

static wf_result allocate(wf_himeno *h)
{
    const uint64_t bytes = total_bytes(h);
    if (bytes > h->device->caps.available_bytes)
        return wfi_fail(&h->device->log, WF_ERROR_TOO_LARGE,
                        "%u x %u x %u cells need %llu MiB of device memory; %llu MiB are free",
                        h->params.ni, h->params.nj, h->params.nk, (unsigned long long)(bytes >> 20),
                        (unsigned long long)(h->device->caps.available_bytes >> 20));
    wf_result result =
        wf_buffer_create(h->device, partials_bytes(h), WF_MEMORY_DEVICE, &h->partials);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(h->device, WFI_HIMENO_MAX_ROWS * sizeof(float),
                                  WF_MEMORY_READBACK, &h->gosa);
    for (uint32_t n = 0; n < 2 * h->block_count && result == WF_SUCCESS; n++)
        result = wf_buffer_create(h->device, block_bytes(h, &h->blocks[n / 2]), WF_MEMORY_DEVICE,
                                  &h->blocks[n / 2].p[n % 2]);
    for (uint32_t i = 0; i < h->slab_count && result == WF_SUCCESS; i++)
        result = wf_buffer_create(h->device,
                                  wfi_himeno_cells(&h->layout, &h->slabs[i].slab) * sizeof(float),
                                  WF_MEMORY_DEVICE, &h->slabs[i].cells);
    if (result == WF_SUCCESS && h->subdomain)
        result = make_halos(h);
    return result == WF_SUCCESS ? allocate_mirrors(h) : result;
}

/* Cells [first, first + count) of an axis of n cells; count 0: all. */
static bool is_part(uint32_t n, uint32_t first, uint32_t count)
{
    return count <= n - 2 && first <= n - 2 - count && (count || !first);
}

static bool valid(const wf_himeno_params *p)
{
    const uint32_t most = UINT32_C(1) << 30;
    return p->ni >= 3 && p->nj >= 3 && p->nk >= 3 && p->ni <= most && p->nj <= most &&
           p->nk <= most && is_part(p->nk, p->first_plane, p->planes) &&
           is_part(p->nj, p->first_row, p->rows) && is_part(p->ni, p->first_cell, p->cells) &&
           (p->planes || (!p->rows && !p->cells)) && isfinite(p->omega);
}

uint64_t wf_himeno_memory(const wf_himeno_params *given)
{
    wf_himeno_params read;
    const wf_himeno_params *params = &read;
    if (wfi_params_read(&(wfi_log){0}, "wf_himeno_memory", given, &read, sizeof read) !=
            WF_SUCCESS ||
        !valid(params))
        return 0;
    const double planes = params->planes ? params->planes : params->nk - 2,
                 rows = params->rows ? params->rows : params->nj - 2,
                 cells = params->cells ? params->cells : params->ni - 2;
    const double inner = cells * rows * planes, all = (cells + 2) * (rows + 2) * (planes + 2);
    return (uint64_t)(sizeof(float) * (WFI_HIMENO_COEFFICIENTS * inner + 2 * all)) + PARTIALS_BYTES;
}

/* What a part holds along an axis, its neighbours' cells that a pass updates among it. `align`: its
 * own cells begin at a multiple of it. */
static wfi_himeno_span span_of(const wfi_part_axis *axis, uint32_t inner, uint32_t steps,
                               uint32_t align)
{
    const uint32_t before = (uint32_t)wfi_least(steps - 1, axis->begin),
                   after = (uint32_t)wfi_least(steps - 1, inner - axis->end);
    return (wfi_himeno_span){.first = (uint32_t)wfi_round_up(before, align),
                             .count = axis->end - axis->begin,
                             .before = before,
                             .after = after};
}

static uint64_t held(const wfi_himeno_span *span)
{
    return (uint64_t)span->first + span->count + span->after;
}

/* Behind the choice, which is that of the whole grid. */
static void hold_part(wf_himeno *h)
{
    const uint32_t steps = wfi_himeno_steps(&h->choice.point);
    h->span_i = span_of(&h->axes[0], h->params.ni - 2, steps, VECTOR);
    h->span_j = span_of(&h->axes[1], h->params.nj - 2, steps, 1);
    h->problem.himeno.held_i = held(&h->span_i);
    h->problem.himeno.held_j = held(&h->span_j);
}

static wf_result choose(wf_himeno *h)
{
    const wf_himeno_params *p = &h->params;
    h->problem = (wfi_problem){.family = WF_FAMILY_HIMENO,
                               .type = WF_TYPE_F32,
                               .himeno = {.ni = p->ni, .nj = p->nj, .nk = p->nk}};
    wf_result result = wfi_choose(h->device, &h->problem, p->tuning, &h->choice);
    h->params.tuning = NULL; /* it is the caller's, and may be gone after this call */
    if (result == WF_SUCCESS) {
        h->choice.point.problem = &h->problem;
        hold_part(h);
        h->layout = wfi_himeno_layout_of(&h->choice.point);
        const uint32_t traits = h->choice.point.variant->traits;
        h->region =
            traits & WFI_HIMENO_MOVED ? wfi_point_value(&h->choice.point, HIMENO_ID_REGION, 1) : 0;
        h->part = traits & WFI_HIMENO_MOVES_PART;
        h->copy_back = traits & WFI_HIMENO_COPIES_BACK;
        h->submit = h->region == 1 ? 1 : wfi_point_value(&h->choice.point, HIMENO_ID_SUBMIT, 0);
    }
    return result;
}

wf_result wfi_himeno_require_cuts(const wf_himeno *h, const char *function)
{
    if (!h->region)
        return WF_SUCCESS;
    return wfi_fail(&h->device->log, WF_ERROR_UNSUPPORTED,
                    "%s: variant %s moves all data in each iteration and has no subdomains",
                    function, h->choice.point.variant->name);
}

static wfi_part_axis axis_of(uint32_t n, uint32_t first, uint32_t count)
{
    const uint32_t inner = n - 2, end = count ? first + count : inner;
    return (wfi_part_axis){.begin = first, .end = end, .there = {first > 0, end < inner}};
}

static bool is_cut(const wfi_part_axis *axis)
{
    return axis->there[WFI_LOWER] || axis->there[WFI_UPPER];
}

/* Whether this subdomain and those beside it have what a pass takes from a neighbour. */
static wf_result thick(const wf_himeno *h, const char *function)
{
    static const char *const names[] = {"cells", "rows", "planes"};
    const uint32_t steps = wfi_himeno_steps(&h->choice.point),
                   inner[] = {h->params.ni - 2, h->params.nj - 2, h->params.nk - 2};
    for (int axis = 0; axis < 3; axis++) {
        const wfi_part_axis *a = &h->axes[axis];
        if (a->end - a->begin < steps && (axis == 2 || is_cut(a)))
            return wfi_fail(&h->device->log, WF_ERROR_INVALID_ARGUMENT,
                            "%s: a subdomain of %u %s is thinner than the %u iterations of a pass",
                            function, a->end - a->begin, names[axis], steps);
        if ((a->begin > 0 && a->begin < steps) ||
            (a->end < inner[axis] && inner[axis] - a->end < steps))
            return wfi_fail(&h->device->log, WF_ERROR_INVALID_ARGUMENT,
                            "%s: %u and %u %s beside the subdomain are thinner than the %u "
                            "iterations of a pass",
                            function, a->begin, inner[axis] - a->end, names[axis], steps);
    }
    return WF_SUCCESS;
}

wf_result wfi_himeno_prepare(wf_himeno *h, const char *function, const wf_himeno_params *given)
{
    const wfi_log *log = &h->device->log;
    if (wfi_params_read(log, function, given, &h->params, sizeof h->params) != WF_SUCCESS)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!valid(&h->params))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "%s: ni, nj and nk must be between 3 and 2^30, a subdomain's planes "
                        "inner ones of the grid, and omega finite",
                        function);
    if (!(h->params.omega > 0 || h->params.omega < 0))
        h->params.omega = 0.8f;
    h->subdomain = h->params.planes > 0;
    h->axes[0] = axis_of(h->params.ni, h->params.first_cell, h->params.cells);
    h->axes[1] = axis_of(h->params.nj, h->params.first_row, h->params.rows);
    h->axes[2] = axis_of(h->params.nk, h->params.first_plane, h->params.planes);
    h->begin = h->axes[2].begin;
    h->end = h->axes[2].end;
    h->is_block = is_cut(&h->axes[0]) || is_cut(&h->axes[1]);
    wf_result result = choose(h);
    if (result == WF_SUCCESS && h->subdomain)
        result = wfi_himeno_require_cuts(h, function);
    if (result != WF_SUCCESS || !h->subdomain)
        return result;
    return thick(h, function);
}

static wf_result create(wf_device *device, const wf_himeno_params *given, wf_himeno **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_himeno *h = wfi_calloc(1, sizeof *h);
    if (!h)
        return wfi_no_memory(&device->log);
    h->device = device;
    wf_result result = wfi_himeno_prepare(h, "wf_himeno_create", given);
    if (result == WF_SUCCESS)
        result = wfi_himeno_split(h);
    if (result == WF_SUCCESS)
        result = wfi_himeno_make_pieces(h);
    if (result == WF_SUCCESS)
        result = make_passes(h);
    if (result == WF_SUCCESS)
        result = allocate(h);
    for (uint32_t i = 0; i < h->pass_count && result == WF_SUCCESS; i++)
        result = make_plans(h, &h->passes[i]);
    if (result == WF_SUCCESS && h->subdomain)
        result = wfi_part_passes_open(device, h->block_count == 1, &h->halved);
    if (result != WF_SUCCESS) {
        wf_himeno_destroy(&h);
        return result;
    }
    *out = h;
    return WF_SUCCESS;
}

wf_result wf_himeno_create(wf_device *device, const wf_himeno_params *given, wf_himeno **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, given, out));
}

void wf_himeno_destroy(wf_himeno **handle)
{
    wf_himeno *h = handle ? *handle : NULL;
    if (!h)
        return;
    wfi_part_passes_close(&h->halved); /* it waits */
    for (uint32_t i = 0; i < h->pass_count; i++) {
        for (uint32_t n = 0; h->passes[i].plans && n < h->piece_count; n++)
            wf_plan_destroy(&h->passes[i].plans[n]);
        wfi_free(h->passes[i].plans);
        wf_plan_destroy(&h->passes[i].sum);
    }
    for (uint32_t n = 0; h->slabs && n < h->slab_count; n++) {
        wf_buffer_destroy(&h->slabs[n].cells);
        wf_buffer_destroy(&h->slabs[n].mirror);
    }
    for (uint32_t b = 0; h->blocks && b < h->block_count; b++) {
        wf_buffer_destroy(&h->blocks[b].p[0]);
        wf_buffer_destroy(&h->blocks[b].p[1]);
        wf_buffer_destroy(&h->blocks[b].mirror);
    }
    wfi_halo_copier_close(&h->copier);
    wfi_halos_destroy(&h->halos);
    wf_buffer_destroy(&h->partials);
    wf_buffer_destroy(&h->gosa);
    wfi_free(h->pieces);
    wfi_free(h->slabs);
    wfi_free(h->blocks);
    wfi_free(h);
    *handle = NULL;
}

wf_result wf_himeno_describe(const wf_himeno *himeno, wf_plan_info *info, uint32_t *slabs)
{
    if (!himeno || !info)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = wf_plan_describe(himeno->passes[0].plans[0], info);
    if (result != WF_SUCCESS)
        return result;
    info->dispatches = himeno->piece_count;
    if (slabs)
        *slabs = himeno->slab_count;
    return WF_SUCCESS;
}
