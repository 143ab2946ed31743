/* Subdomains of a Himeno grid: what they exchange with their neighbours, and their passes. */
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/params.h"
#include "plan/plan.h"
#include "solve/himeno.h"

/* ----------------------------------------------------------------------------------------- cuts */

static wf_result plan_cut(wf_device *device, const wf_himeno_params *params, wf_himeno_cut *cut)
{
    if (!device || !cut)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_himeno h = {.device = device};
    wf_result result = wfi_himeno_prepare(&h, "wf_himeno_plan_cut", params);
    if (result == WF_SUCCESS)
        result = wfi_himeno_require_cuts(&h, "wf_himeno_plan_cut");
    if (result != WF_SUCCESS)
        return result;
    const wfi_point *point = &h.choice.point;
    const uint32_t steps = wfi_himeno_steps(point);
    uint32_t tile[3];
    wfi_himeno_tile(point, tile);
    const wf_plan_info info = wfi_describe_choice(&h.choice);
    wf_himeno_cut found = {.planes = h.params.nk - 2,
                           .unit = (uint32_t)wfi_round_up(steps, tile[2]),
                           .group = {tile[0], tile[1], tile[2]},
                           .steps = steps,
                           .variant = info.variant,
                           .chosen_by = info.chosen_by,
                           .constant_count = info.constant_count};
    memcpy(found.constants, info.constants, sizeof found.constants);
    return wfi_params_write(cut, &found, sizeof found) ? WF_SUCCESS : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_himeno_plan_cut(wf_device *device, const wf_himeno_params *params, wf_himeno_cut *cut)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, plan_cut(device, params, cut));
}

/* ---------------------------------------------------------------------------------------- halos */

static uint32_t halo_planes(const wf_himeno *h)
{
    return h->passes[0].steps;
}

wf_result wf_himeno_halos(wf_himeno *himeno, wf_halo *halo)
{
    if (!himeno || !halo)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!himeno->subdomain)
        return wfi_fail(&himeno->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_himeno_halos: this is the whole grid, which has no halos");
    return wfi_halos_tell(himeno->device, "wf_himeno_halos", &himeno->halos, halo);
}

wf_result wf_himeno_bind_halos(wf_himeno *himeno, const wf_halo_bindings *halos)
{
    if (!himeno || !himeno->subdomain)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(himeno->device);
    return wfi_heap_leave(
        outer, wfi_halos_bind(himeno->device, "wf_himeno_bind_halos", halos, &himeno->halos));
}

/* Copies inner planes [first, first + halo_planes) of the grid between block->p[p] and a halo.
 * Planes that leave are those that a block updates; planes that arrive go to every block
 * that holds them. */
static void record_planes(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p,
                          uint32_t first, wf_binding halo, bool arrive)
{
    const uint64_t plane = h->layout.p_plane * sizeof(float);
    /* The grid's planes, whose first is its border. */
    const uint32_t low = first + 1, high = low + halo_planes(h);
    for (uint32_t b = 0; b < h->block_count; b++) {
        const wfi_himeno_block *block = &h->blocks[b];
        const uint32_t begin = arrive ? block->origin : block->first + 1,
                       count = arrive ? block->held : block->planes;
        const uint32_t from = begin > low ? begin : low,
                       to = (uint32_t)wfi_least(begin + count, high);
        if (from >= to)
            continue;
        const uint64_t here = (from - block->origin) * plane,
                       there = halo.offset + (from - low) * plane, bytes = (to - from) * plane;
        if (arrive)
            wfi_record_copy(h->device, command_buffer, halo.buffer, there, block->p[p], here,
                            bytes);
        else
            wfi_record_copy(h->device, command_buffer, block->p[p], here, halo.buffer, there,
                            bytes);
    }
}

/* Takes all halos from where neighbours left them, or leaves this part's own. */
static wf_result record_halos(wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p, bool arrive)
{
    wf_result result = WF_SUCCESS;
    for (int side = 0; side < WF_HALO_SIDES && result == WF_SUCCESS; side++) {
        const wf_binding halo =
            arrive ? wfi_halo_from(&h->halos, side) : wfi_halo_to(&h->halos, side);
        wfi_halo_box box;
        if (!halo.buffer)
            continue;
        if (arrive)
            wfi_halo_box_from(h->axes, halo_planes(h), side, &box);
        else
            wfi_halo_box_to(h->axes, halo_planes(h), side, &box);
        if (h->is_block)
            result =
                wfi_halo_copy(&h->copier, command_buffer, h->blocks[0].p[p], &box, &halo, arrive);
        else
            record_planes(h, command_buffer, p, (uint32_t)box.first[2], halo, arrive);
    }
    return result;
}

/* --------------------------------------------------------------------------------------- passes */

typedef struct subdomain_pass {
    wf_himeno *himeno;
    const wfi_himeno_pass *pass;
    bool whole; /* nothing is left for a second submission */
} subdomain_pass;

static wf_result record_arrive(void *user, VkCommandBuffer command_buffer)
{
    const subdomain_pass *s = user;
    return record_halos(s->himeno, command_buffer, s->himeno->now, true);
}

static wf_result record_early(void *user, VkCommandBuffer command_buffer)
{
    const subdomain_pass *s = user;
    wf_himeno *h = s->himeno;
    const wf_result result = wfi_himeno_record_slabs(h, s->pass, command_buffer, 0, h->now,
                                                     s->whole ? WFI_HIMENO_ALL : WFI_HIMENO_EARLY);
    if (s->whole)
        wfi_himeno_record_rest(h, command_buffer, h->now);
    return result;
}

static wf_result record_leave(void *user, VkCommandBuffer command_buffer)
{
    const subdomain_pass *s = user;
    return record_halos(s->himeno, command_buffer, wfi_himeno_p_after(s->himeno, 1), false);
}

/* These pieces read what the pass before wrote and write planes of their own: they need nothing of
 * the early ones, nor do they wait until those are with the host. */
static wf_result record_late(void *user, VkCommandBuffer command_buffer)
{
    const subdomain_pass *s = user;
    wf_himeno *h = s->himeno;
    const wf_result result =
        wfi_himeno_record_slabs(h, s->pass, command_buffer, 0, h->now, WFI_HIMENO_LATE);
    wfi_himeno_record_rest(h, command_buffer, h->now);
    return result;
}

/* Whether some pieces are early and others are not. What is copied back when all have been updated
 * is not there early. */
static bool goes_in_two(const wf_himeno *h)
{
    uint32_t early = 0;
    for (uint32_t i = 0; i < h->piece_count; i++)
        early += h->pieces[i].early;
    return !h->copy_back && early > 0 && early < h->piece_count;
}

static wf_result check_pass(const wf_himeno *h, uint32_t iterations, bool under_way)
{
    if (!h)
        return WF_ERROR_INVALID_ARGUMENT;
    const uint32_t steps = h->passes[0].steps;
    if (!h->subdomain || iterations == 0 || (iterations != steps && iterations != 1))
        return wfi_fail(&h->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_himeno_pass: a pass of a subdomain makes %u iterations or one", steps);
    if ((h->under_way != NULL) == under_way)
        return WF_SUCCESS;
    return wfi_fail(&h->device->log, WF_ERROR_INVALID_ARGUMENT,
                    under_way ? "wf_himeno_pass_next: no pass was begun"
                              : "wf_himeno_pass_begin: the pass before was not ended");
}

/* The parts of a pass, which is h->under_way then. */
static wfi_pass_parts parts_of(wf_himeno *h, uint32_t iterations, bool arrived, subdomain_pass *s)
{
    const wfi_himeno_pass *whole = &h->passes[0];
    *s = (subdomain_pass){.himeno = h,
                          .pass = iterations == whole->steps ? whole : &h->passes[1],
                          .whole = !goes_in_two(h)};
    h->under_way = s->pass;
    const bool any = wfi_halos_any(&h->halos);
    return (wfi_pass_parts){.arrive = arrived && any ? record_arrive : NULL,
                            .early = record_early,
                            .leave = any ? record_leave : NULL,
                            .late = s->whole ? NULL : record_late,
                            .by_kernels = h->is_block,
                            .user = s};
}

static wf_result begin_pass(wf_himeno *h, uint32_t iterations, bool arrived)
{
    subdomain_pass s;
    wf_result result = check_pass(h, iterations, false);
    if (result != WF_SUCCESS)
        return result;
    const wfi_pass_parts parts = parts_of(h, iterations, arrived, &s);
    result = wfi_part_passes_begin(&h->halved, &parts);
    if (result != WF_SUCCESS)
        h->under_way = NULL;
    return result;
}

static wf_result end_pass(wf_himeno *h, double *seconds)
{
    if (!h || !h->under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wf_result result = wfi_part_passes_end(&h->halved, seconds);
    if (result == WF_SUCCESS) {
        h->now = wfi_himeno_p_after(h, 1);
        h->last_pass = h->under_way;
    }
    h->under_way = NULL;
    return result;
}

/* The next pass is with the device before the one under way has ended. */
static wf_result next_pass(wf_himeno *h, uint32_t iterations, bool arrived, double *seconds)
{
    subdomain_pass s;
    wf_result result = check_pass(h, iterations, true);
    if (result != WF_SUCCESS) {
        end_pass(h, seconds); /* refuses where none is under way */
        return result;
    }
    h->last_pass = h->under_way;
    h->now = wfi_himeno_p_after(h, 1);
    const wfi_pass_parts parts = parts_of(h, iterations, arrived, &s);
    result = wfi_part_passes_next(&h->halved, &parts, seconds);
    if (result != WF_SUCCESS)
        h->under_way = NULL;
    return result;
}

wf_result wf_himeno_pass_begin(wf_himeno *himeno, uint32_t iterations, bool arrived)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, begin_pass(himeno, iterations, arrived));
}

wf_result wf_himeno_pass_end(wf_himeno *himeno, double *seconds)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, end_pass(himeno, seconds));
}

wf_result wf_himeno_pass_next(wf_himeno *himeno, uint32_t iterations, bool arrived, double *seconds)
{
    const wfi_heap outer = wfi_heap_enter_device(himeno ? himeno->device : NULL);
    return wfi_heap_leave(outer, next_pass(himeno, iterations, arrived, seconds));
}

wf_result wf_himeno_pass(wf_himeno *himeno, uint32_t iterations, bool arrived, double *seconds)
{
    const wf_result result = wf_himeno_pass_begin(himeno, iterations, arrived);
    return result == WF_SUCCESS ? wf_himeno_pass_end(himeno, seconds) : result;
}

/* ----------------------------------------------------------------------------------------- gosa */

static wf_result read_partials(wf_himeno *h, float *out, uint32_t count)
{
    const wfi_himeno_pass *pass = h->last_pass;
    const uint64_t at = (pass->steps - 1) * (uint64_t)pass->groups * sizeof(float);
    if (!h->is_block)
        return wf_buffer_read(h->partials, at, out, count * sizeof *out);
    float *raw = wfi_malloc(2 * pass->groups * sizeof *raw);
    if (!raw)
        return wfi_no_memory(&h->device->log);
    const wf_result result = wf_buffer_read(h->partials, at, raw, pass->groups * sizeof *raw);
    if (result == WF_SUCCESS) {
        wfi_himeno_sort_pieces(h, pass, raw, raw + pass->groups);
        memcpy(out, raw + pass->groups, count * sizeof *out);
    }
    wfi_free(raw);
    return result;
}

wf_result wf_himeno_partials(wf_himeno *himeno, float *partials, uint32_t *count)
{
    if (!himeno || !count)
        return WF_ERROR_INVALID_ARGUMENT;
    if (!himeno->last_pass)
        return wfi_fail(&himeno->device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_himeno_partials: there was no wf_himeno_pass");
    const uint32_t there = himeno->last_pass->groups, room = *count;
    *count = there;
    if (!partials)
        return WF_SUCCESS;
    const wfi_heap outer = wfi_heap_enter_device(himeno->device);
    return wfi_heap_leave(outer, read_partials(himeno, partials, (uint32_t)wfi_least(room, there)));
}

typedef struct sum {
    wf_plan *plan;
    wf_buffer *in, *out;
} sum;

static wf_result record_sum(void *user, VkCommandBuffer command_buffer)
{
    const sum *s = user;
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = s->in}, {.buffer = s->out}}};
    return wfi_plan_record_sequence(s->plan, command_buffer, &bindings, 1);
}

static wf_result add_up(wf_device *device, const float *partials, uint32_t count, float *gosa)
{
    if (!device || !partials || !gosa || count == 0)
        return WF_ERROR_INVALID_ARGUMENT;
    const uint64_t bytes = count * sizeof(float);
    sum s = {0};
    wf_result result = wf_buffer_create(device, bytes, WF_MEMORY_DEVICE, &s.in);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, sizeof *gosa, WF_MEMORY_READBACK, &s.out);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(s.in, 0, partials, bytes);
    if (result == WF_SUCCESS)
        result = wfi_himeno_sum_plan(device, 1, count, &s.plan);
    if (result == WF_SUCCESS)
        result = wfi_run(device, record_sum, &s);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(s.out, 0, gosa, sizeof *gosa);
    wf_plan_destroy(&s.plan);
    wf_buffer_destroy(&s.in);
    wf_buffer_destroy(&s.out);
    return result;
}

wf_result wf_himeno_gosa(wf_device *device, const float *partials, uint32_t count, float *gosa)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, add_up(device, partials, count, gosa));
}
