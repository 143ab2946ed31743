/* Parts of a grid of Laplace's equation: cuts, making, and what moves between host and device. */
#include "solve/laplace_slab.h"

#include <string.h>

#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "solve/laplace_look.h"

/* SOR's passes update the neighbours' rows, too, as far as the own ones depend on them: an
 * iteration more takes four rows more on the device. The rows of a part are so many times as many
 * at least, so that this is a sixty-fourth of the work. */
#define ROWS_AN_ITERATION 256
#define MOST_ITERATIONS 16
#define MOST_PASS (UINT32_MAX / 4) /* so that rows of two halos can be counted */

/* ----------------------------------------------------------------------------------------- cuts */

static wf_result read_params(wf_device *device, const char *function,
                             const wf_laplace_params *given, wf_laplace_params *params)
{
    wf_result result = wfi_params_read(&device->log, function, given, params, sizeof *params);
    if (result == WF_SUCCESS)
        result = wfi_laplace_check_params(device, function, params);
    if (result != WF_SUCCESS)
        return result;
    wfi_laplace_fill_defaults(params);
    params->history = NULL;
    params->progress = NULL;
    params->stages = NULL;
    return WF_SUCCESS;
}

static uint32_t iterations_of(const wf_laplace_params *p, uint32_t parts)
{
    uint32_t iterations = 1;
    if (parts < 2)
        return p->check_every;
    while (iterations < MOST_ITERATIONS && 2 * iterations <= p->check_every &&
           p->ny / parts / ROWS_AN_ITERATION >= 2 * iterations)
        iterations *= 2;
    return iterations;
}

static wf_result cut_sor(const wf_laplace_params *p, uint32_t parts, wf_laplace_cut *cut)
{
    cut->iterations = iterations_of(p, parts);
    cut->halo = parts < 2 ? 2 : 2 * cut->iterations;
    cut->unit = 2; /* so that colours are counted alike on all parts */
    return WF_SUCCESS;
}

static wf_result cut_jacobi(wf_device *device, const wf_laplace_params *p, wf_laplace_cut *cut)
{
    wf_stencil_cut stencil = {.size = sizeof stencil};
    const wf_stencil_params params = wfi_laplace_stencil(p);
    const wf_result result = wf_stencil_plan_cut(device, &params, &stencil);
    if (result != WF_SUCCESS)
        return result;
    cut->unit = 1;
    cut->iterations = stencil.steps;
    cut->halo = stencil.halo > 2 ? stencil.halo : 2; /* a part has an inner row */
    cut->variant = stencil.variant;
    cut->chosen_by = stencil.chosen_by;
    cut->constant_count = stencil.constant_count;
    memcpy(cut->constants, stencil.constants, sizeof cut->constants);
    return WF_SUCCESS;
}

static wf_result plan_cut(wf_device *device, const char *function, const wf_laplace_params *given,
                          uint32_t parts, wf_laplace_cut *cut)
{
    wf_laplace_params p;
    const wf_result result = read_params(device, function, given, &p);
    if (result != WF_SUCCESS)
        return result;
    *cut = (wf_laplace_cut){.size = sizeof *cut,
                            .row_bytes = wfi_laplace_row_bytes(&p),
                            .tolerance = p.tolerance,
                            .omega = p.method == WF_LAPLACE_SOR ? p.omega : 0,
                            .max_iterations = p.max_iterations,
                            .check_every = p.check_every,
                            .patience = wfi_laplace_patience(&p)};
    return p.method == WF_LAPLACE_SOR ? cut_sor(&p, parts, cut) : cut_jacobi(device, &p, cut);
}

wf_result wf_laplace_plan_cut(wf_device *device, const wf_laplace_params *params, uint32_t parts,
                              wf_laplace_cut *cut)
{
    wf_laplace_cut found;
    if (!device || !cut)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    wf_result result = plan_cut(device, "wf_laplace_plan_cut", params, parts, &found);
    if (result == WF_SUCCESS && !wfi_params_write(cut, &found, sizeof found))
        result = WF_ERROR_INVALID_ARGUMENT;
    return wfi_heap_leave(outer, result);
}

/* --------------------------------------------------------------------------------------- making */

static bool is_sor(const wf_laplace_slab *s)
{
    return s->grid.method == WF_LAPLACE_SOR;
}

/* Names of variants and constants are the library's own. */
static void keep_tuning(wf_laplace_slab *s, const wf_laplace_cut *cut)
{
    memcpy(s->constants, cut->constants, sizeof s->constants);
    s->tuning = (wf_tuning){.size = sizeof s->tuning,
                            .variant = cut->variant,
                            .constants = s->constants,
                            .constant_count = cut->constant_count};
    s->grid.tuning = is_sor(s) ? NULL : &s->tuning;
}

static wf_result check_rows(const wf_laplace_slab *s, const wf_laplace_cut *cut)
{
    const uint32_t rows = s->end - s->first;
    const bool cut_rows = rows < s->grid.ny,
               fits = s->first < s->grid.ny && rows >= 2 && rows <= s->grid.ny - s->first,
               thick = !cut_rows || rows >= s->halo, even = s->first % cut->unit == 0,
               around = (s->first == 0 || s->first >= s->halo) &&
                        (s->end == s->grid.ny || s->grid.ny - s->end >= s->halo),
               passes =
                   s->most > 0 && (is_sor(s) ? s->most <= MOST_PASS : s->most == cut->iterations);
    if (fits && thick && around && even && passes)
        return WF_SUCCESS;
    return wfi_fail(
        &s->device->log, WF_ERROR_INVALID_ARGUMENT,
        "wf_laplace_slab_create: rows %u to %u of a grid of %u, %u iterations a pass; "
        "a part begins at a multiple of %u and has the %u rows of a halo at least, as what lies "
        "beside it does",
        s->first, s->end, s->grid.ny, s->most, cut->unit, s->halo);
}

/* Which rows the arrays hold. Some of Jacobi's kernels load the row behind those that they need. */
static wf_result make_arrays(wf_laplace_slab *s)
{
    const uint32_t ny = s->grid.ny;
    s->there[WFI_LOWER] = s->first > 0;
    s->there[WFI_UPPER] = s->end < ny;
    s->origin = s->there[WFI_LOWER] ? s->first - s->halo : 0;
    uint32_t last = s->there[WFI_UPPER] ? s->end + s->halo : ny;
    if (!is_sor(s) && last < ny)
        last++;
    const uint32_t first = s->first > 0 ? s->first : 1, end = s->end < ny ? s->end : ny - 1;
    s->whole = s->end - s->first <= 2 * s->halo + 2 || (!s->there[0] && !s->there[1]);
    wf_result result = wfi_laplace_open_part(s->device, &s->grid, last - s->origin,
                                             first - s->origin, end - s->origin, &s->l);
    const uint64_t bytes = (last - s->origin) * wfi_laplace_row_bytes(&s->grid);
    for (int i = 0; i < 2 && result == WF_SUCCESS; i++)
        result = wf_buffer_fill(s->l.arrays[i], 0, bytes / 4 * 4, 0);
    return result;
}

static wf_result open_slab(wf_laplace_slab *s, const wf_laplace_slab_params *params)
{
    wf_laplace_cut cut;
    wf_result result = read_params(s->device, "wf_laplace_slab_create", params->grid, &s->grid);
    if (result == WF_SUCCESS)
        result = plan_cut(s->device, "wf_laplace_slab_create", params->grid, 1, &cut);
    if (result != WF_SUCCESS)
        return result;
    s->first = params->first_row;
    s->end = params->first_row + params->rows;
    s->most = params->iterations;
    s->halo = is_sor(s) ? 2 * s->most : cut.halo;
    keep_tuning(s, &cut);
    result = check_rows(s, &cut);
    if (result == WF_SUCCESS)
        result = make_arrays(s);
    if (result == WF_SUCCESS && is_sor(s))
        result = wfi_laplace_slab_sweeps(s);
    if (result == WF_SUCCESS && !is_sor(s)) {
        s->steps = wfi_calloc(s->most + (size_t)1, sizeof *s->steps);
        if (!s->steps)
            result = wfi_no_memory(&s->device->log);
    }
    const uint64_t bytes = (is_sor(s) ? 2 : 1) * s->halo * wfi_laplace_row_bytes(&s->grid);
    if (result == WF_SUCCESS)
        result = wfi_halos_make(s->device, bytes, s->there, &s->halos);
    return result == WF_SUCCESS ? wfi_part_passes_open(s->device, false, &s->passes) : result;
}

static wf_result create(wf_device *device, const wf_laplace_slab_params *given,
                        wf_laplace_slab **out)
{
    wf_laplace_slab_params params;
    wf_result result =
        wfi_params_read(&device->log, "wf_laplace_slab_create", given, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    wf_laplace_slab *s = wfi_calloc(1, sizeof *s);
    if (!s)
        return wfi_no_memory(&device->log);
    s->device = device;
    result = open_slab(s, &params);
    if (result == WF_SUCCESS)
        *out = s;
    else
        wf_laplace_slab_destroy(&s);
    return result;
}

wf_result wf_laplace_slab_create(wf_device *device, const wf_laplace_slab_params *params,
                                 wf_laplace_slab **out)
{
    if (!device || !params || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, params, out));
}

void wf_laplace_slab_destroy(wf_laplace_slab **handle)
{
    wf_laplace_slab *s = handle ? *handle : NULL;
    if (!s)
        return;
    wfi_part_passes_close(&s->passes); /* it waits */
    wfi_laplace_slab_free_plans(s);
    wfi_halos_destroy(&s->halos);
    wfi_laplace_close(&s->l);
    wfi_free(s);
    *handle = NULL;
}

/* ----------------------------------------------------------------------------------------- data */

wf_result wf_laplace_slab_halos(wf_laplace_slab *s, wf_halo *halo)
{
    return s && halo ? wfi_halos_tell(s->device, "wf_laplace_slab_halos", &s->halos, halo)
                     : WF_ERROR_INVALID_ARGUMENT;
}

wf_result wf_laplace_slab_bind_halos(wf_laplace_slab *s, const wf_halo_bindings *halos)
{
    if (!s)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(
        outer, wfi_halos_bind(s->device, "wf_laplace_slab_bind_halos", halos, &s->halos));
}

static size_t row_of_host(const wf_laplace_slab *s)
{
    return s->grid.nx * wf_type_size(s->grid.type);
}

static wf_result record_first(void *user, VkCommandBuffer command_buffer)
{
    const wf_laplace_slab *s = user;
    wfi_laplace_slab_leave(s, command_buffer, s->now);
    return WF_SUCCESS;
}

static wf_result write_rows(wf_laplace_slab *s, const void *rows, int exponent)
{
    const size_t row = row_of_host(s);
    if (wfi_device_usable(s->device, "wf_laplace_slab_write") != WF_SUCCESS)
        return WF_ERROR_DEVICE_CLOSED;
    unsigned char *held = wfi_calloc(s->l.ny, row);
    if (!held)
        return wfi_no_memory(&s->device->log);
    memcpy(held + (s->first - s->origin) * row, rows, (s->end - s->first) * row);
    s->now = 0;
    s->l.exponent = exponent;
    const wf_result result = wfi_laplace_write(&s->l, held);
    wfi_free(held);
    return result == WF_SUCCESS ? wfi_run(s->device, record_first, s) : result;
}

wf_result wf_laplace_slab_write(wf_laplace_slab *s, const void *rows, int exponent)
{
    if (!s || !rows || s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, write_rows(s, rows, exponent));
}

static wf_result read_rows(wf_laplace_slab *s, unsigned char *rows)
{
    const size_t row = row_of_host(s), real = wf_type_size(s->grid.type);
    unsigned char *held = wfi_calloc(s->l.ny, row);
    if (!held)
        return wfi_no_memory(&s->device->log);
    const wf_result result = wfi_laplace_read(&s->l, s->now, held);
    const uint32_t first = s->first > 0 ? s->first : 1,
                   end = s->end < s->grid.ny ? s->end : s->grid.ny - 1;
    for (uint32_t y = first; y < end && result == WF_SUCCESS; y++)
        memcpy(rows + (y - s->first) * row + real, held + (y - s->origin) * row + real,
               row - 2 * real);
    wfi_free(held);
    return result;
}

wf_result wf_laplace_slab_read(wf_laplace_slab *s, void *rows)
{
    if (!s || !rows || s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, read_rows(s, rows));
}

/* ------------------------------------------------------------------------------------- residual */

static uint64_t partials_of(const wf_laplace_slab *s)
{
    return (is_sor(s) ? 2 : 1) * (uint64_t)s->l.slabs * s->l.groups;
}

static wf_result record_residual(void *user, VkCommandBuffer command_buffer)
{
    const wf_laplace_slab *s = user;
    wf_result result = WF_SUCCESS;
    wfi_laplace_slab_arrive(s, command_buffer);
    wfi_barrier(s->device, command_buffer);
    for (uint32_t n = 0; n < (is_sor(s) ? 2u : 1u) && result == WF_SUCCESS; n++) {
        const wf_bindings bindings = wfi_laplace_bindings(&s->l, is_sor(s) ? n : s->now);
        result = wfi_plan_record_sequence(s->l.kernels[WFI_LAPLACE_RESIDUAL], command_buffer,
                                          &bindings, n);
    }
    wfi_barrier(s->device, command_buffer);
    wfi_record_copy(s->device, command_buffer, s->l.partials, 0, s->l.slots, 0,
                    2 * partials_of(s) * wf_type_size(s->grid.type));
    return result;
}

static wf_result residual(wf_laplace_slab *s, double *squares, double *scales)
{
    wf_result result = wfi_device_usable(s->device, "wf_laplace_slab_residual");
    if (result == WF_SUCCESS)
        result = wfi_run(s->device, record_residual, s);
    const void *sums = wf_buffer_mapped(s->l.slots);
    *squares = *scales = 0;
    for (size_t i = 0; i < partials_of(s) && result == WF_SUCCESS; i++) {
        *squares += wfi_laplace_get(sums, s->grid.type, 2 * i);
        *scales += wfi_laplace_get(sums, s->grid.type, 2 * i + 1);
    }
    return result;
}

wf_result wf_laplace_slab_residual(wf_laplace_slab *s, double *squares, double *scales)
{
    if (!s || !squares || !scales || s->passes.under_way)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(s->device);
    return wfi_heap_leave(outer, residual(s, squares, scales));
}

/* ------------------------------------------------------------------------- the host's rows */

static wf_result look_at_rows(wf_device *device, const wf_laplace_params *given,
                              wfi_laplace_rows rows, double unit, wf_laplace_rows_found *found)
{
    wf_laplace_params params;
    wfi_laplace_found sums;
    wf_result result =
        wfi_params_read(&device->log, "wf_laplace_rows_look", given, &params, sizeof params);
    if (result == WF_SUCCESS)
        result = wfi_laplace_check_params(device, "wf_laplace_rows_look", &params);
    if (result != WF_SUCCESS)
        return result;
    rows.grid = &params;
    if (rows.first > params.ny || rows.count > params.ny - rows.first || !(unit >= 0) ||
        (rows.count && !rows.own))
        return WF_ERROR_INVALID_ARGUMENT;
    const uint32_t end = rows.first + rows.count;
    if (unit > 0 && rows.count &&
        ((rows.first == 1 && !rows.lower) || (end + 1 == params.ny && !rows.upper)))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_rows_look: rows %u to %u lie beside a border that is not given",
                        rows.first, end);
    const bool around = (rows.lower || rows.first == 0) && (rows.upper || end == params.ny);
    result = wfi_laplace_find_largest(device, &rows, &sums);
    if (result == WF_SUCCESS && unit > 0)
        wfi_laplace_find_border(&rows, unit, &sums);
    if (result == WF_SUCCESS && unit > 0 && around)
        result = wfi_laplace_find_residual(device, &rows, unit, &sums);
    const wf_laplace_rows_found out = {.size = sizeof out,
                                       .largest = sums.largest,
                                       .border = (double)sums.border,
                                       .residual = (double)sums.residual,
                                       .scale = (double)sums.scale};
    if (result == WF_SUCCESS && !wfi_params_write(found, &out, sizeof out))
        result = WF_ERROR_INVALID_ARGUMENT;
    return result;
}

wf_result wf_laplace_rows_look(wf_device *device, const wf_laplace_params *grid, uint32_t first_row,
                               uint32_t count, const void *own, const void *lower,
                               const void *upper, double unit, wf_laplace_rows_found *found)
{
    const wfi_laplace_rows rows = {
        .first = first_row, .count = count, .own = own, .lower = lower, .upper = upper};
    if (!device || !found)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, look_at_rows(device, grid, rows, unit, found));
}
