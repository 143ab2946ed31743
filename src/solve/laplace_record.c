/* Laplace's equation in the application's command buffers. The dispatches of iterations take their
 * sizes from the device, which makes them zero once it has found the end; or, by
 * VK_EXT_conditional_rendering, checks are skipped where the first of these sizes is zero. */

#include "core/arena.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/stencil/stencil.h"
#include "plan/object.h"
#include "solve/laplace.h"
#include "solve/recorded.h"

static wf_result create(wf_device *device, const wf_laplace_params *given, wf_laplace **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_laplace *laplace = wfi_calloc(1, sizeof *laplace);
    if (!laplace)
        return wfi_no_memory(&device->log);
    wf_laplace_params *params = &laplace->params;
    wf_result result =
        wfi_params_read(&device->log, "wf_laplace_create", given, params, sizeof *params);
    if (result == WF_SUCCESS)
        result = wfi_laplace_check_params(device, "wf_laplace_create", params);
    if (result == WF_SUCCESS) {
        wfi_laplace_fill_defaults(params);
        result = wfi_laplace_open_recorded(device, params, &laplace->l);
    }
    if (result == WF_SUCCESS)
        *out = laplace;
    else
        wf_laplace_destroy(&laplace);
    return result;
}

wf_result wf_laplace_create(wf_device *device, const wf_laplace_params *given, wf_laplace **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, given, out));
}

void wf_laplace_destroy(wf_laplace **handle)
{
    wf_laplace *laplace = handle ? *handle : NULL;
    if (!laplace)
        return;
    wfi_laplace_close(&laplace->l);
    wfi_free(laplace);
    *handle = NULL;
}

static wf_plan *gate_of(const wf_laplace *laplace)
{
    return laplace->l.kernels[WFI_LAPLACE_GATE];
}

bool wf_laplace_needs_upload(const wf_laplace *laplace)
{
    return wf_plan_needs_upload(gate_of(laplace));
}

wf_result wf_laplace_record_upload(wf_laplace *laplace, VkCommandBuffer command_buffer)
{
    return laplace ? wf_plan_record_upload(gate_of(laplace), command_buffer)
                   : WF_ERROR_INVALID_ARGUMENT;
}

void wf_laplace_trim(wf_laplace *laplace)
{
    wf_plan_trim(gate_of(laplace));
}

/* ------------------------------------------------------------------------------------ recording */

typedef struct recorder {
    wfi_laplace *l;
    VkCommandBuffer command_buffer;
    wf_arena *arena;
    uint32_t size;    /* dispatches of this check so far */
    wf_result result; /* of all so far */
    bool conditional; /* by VK_EXT_conditional_rendering */
} recorder;

static void after(recorder *r)
{
    if (r->result == WF_SUCCESS)
        wfi_barrier_indirect(r->l->device, r->command_buffer, r->conditional);
}

/* Records a plan on buffers of the solve's own, whose sets it keeps, with the sizes of dispatch
 * `size` on. */
static void record_sized(recorder *r, wf_plan *plan, const wf_bindings *bindings, uint32_t sequence)
{
    const uint64_t at = r->size * (uint64_t)sizeof(VkDispatchIndirectCommand);
    if (r->result != WF_SUCCESS)
        return;
    if (!r->conditional)
        wfi_plan_set_indirect(plan, r->l->state, wfi_laplace_sizes_at(r->l) + at);
    r->result = wfi_plan_record_sequence(plan, r->command_buffer, bindings, sequence);
    wfi_plan_set_indirect(plan, NULL, 0);
    after(r);
}

static void record_edge(recorder *r, int kernel, const wf_bindings *bindings, uint32_t sequence)
{
    if (r->result == WF_SUCCESS)
        r->result = wfi_plan_record_steps(r->l->kernels[kernel], r->command_buffer, r->arena,
                                          bindings, sequence, 0, UINT32_MAX);
    after(r);
}

/* For a sweep or a residual of array `own`. */
static wf_bindings kernel_bindings(const wfi_laplace *l, uint32_t own)
{
    return (wf_bindings){.size = sizeof(wf_bindings),
                         .items = {{.buffer = l->arrays[own]},
                                   {.buffer = l->coloured ? l->arrays[1 - own] : NULL},
                                   {.buffer = l->state},
                                   {.buffer = l->partials}}};
}

static void record_jacobi(recorder *r, uint32_t check)
{
    const wfi_laplace *l = r->l;
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_STENCIL_IN] = {.buffer = l->arrays[check & 1]},
                  [WF_STENCIL_OUT] = {.buffer = l->arrays[1 - (check & 1)]},
                  [WFI_STENCIL_COEFFICIENTS] = {.buffer = l->state}},
        .workspace = {.buffer = l->workspace}};
    record_sized(r, l->advance, &bindings, 0);
    r->size += wfi_plan_step_count(l->advance);
}

static void record_sor(recorder *r)
{
    const wfi_laplace *l = r->l;
    const wf_bindings bindings[2] = {kernel_bindings(l, 0), kernel_bindings(l, 1)};
    for (uint32_t i = 0; i < 2 * l->every; i++)
        record_sized(r, l->kernels[WFI_LAPLACE_SWEEP], &bindings[i & 1], i & 1);
    r->size++;
}

/* A check: its iterations, the residual after them, and the verdict on it. */
static void record_check(recorder *r, uint32_t check)
{
    const wfi_laplace *l = r->l;
    const wf_bindings verdict = {.size = sizeof verdict,
                                 .items = {{.buffer = l->state}, {.buffer = l->partials}}};
    const bool conditional = r->conditional && r->result == WF_SUCCESS;
    r->size = 0;
    if (conditional)
        wfi_condition_begin(l->device, r->command_buffer, l->state, wfi_laplace_sizes_at(l));
    if (l->coloured)
        record_sor(r);
    else
        record_jacobi(r, check);
    for (uint32_t n = 0; n < (l->coloured ? 2u : 1u); n++) {
        const wf_bindings residual = kernel_bindings(l, l->coloured ? n : 1 - (check & 1));
        record_sized(r, l->kernels[WFI_LAPLACE_RESIDUAL], &residual, n);
    }
    r->size++;
    record_sized(r, l->kernels[WFI_LAPLACE_VERDICT_RECORDED], &verdict, check);
    if (conditional)
        wfi_condition_end(l->device, r->command_buffer);
}

static wf_result check_call(const wf_laplace *laplace, const wf_arena *arena, uint32_t iterations,
                            uint32_t flags)
{
    const wfi_laplace *l = &laplace->l;
    const wf_device *device = l->device;
    const uint32_t made = flags & WF_SOLVE_CONTINUE ? l->made * l->every : 0;
    if (!arena || wfi_arena_device(arena) != device)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_record: an arena of the solve's device must be given "
                        "(wf_arena_create)");
    if (wfi_solve_flags_err(flags))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_record: flags %#x; WF_SOLVE_CONTINUE goes with "
                        "WF_SOLVE_CONDITIONAL alone",
                        flags);
    if (flags & WF_SOLVE_CONTINUE && made == 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_record: WF_SOLVE_CONTINUE, but no solve was recorded before");
    if (iterations == 0 || iterations > l->most - made)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_laplace_record: %u iterations after %u of this solve; there may be 1 "
                        "to %u in all (wf_laplace_params.max_iterations)",
                        iterations, made, l->most);
    if (wf_laplace_needs_upload(laplace))
        return wfi_fail(&device->log, WF_NOT_READY,
                        "wf_laplace_record: wf_laplace_record_upload must be recorded first");
    return WF_SUCCESS;
}

wf_result wf_laplace_record(wf_laplace *laplace, VkCommandBuffer command_buffer, wf_arena *arena,
                            const wf_bindings *given, uint32_t iterations, uint32_t flags)
{
    if (!laplace || !command_buffer)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_laplace *l = &laplace->l;
    wf_bindings read;
    wfi_bound all[WF_MAX_BINDINGS + 1] = {{0}};
    recorder r = {.l = l,
                  .command_buffer = command_buffer,
                  .arena = arena,
                  .result = wf_plan_status(gate_of(laplace)),
                  .conditional =
                      l->device->caps.conditional_rendering && (flags & WF_SOLVE_CONDITIONAL)};
    if (r.result == WF_SUCCESS)
        r.result = check_call(laplace, arena, iterations, flags);
    if (r.result == WF_SUCCESS)
        r.result = wfi_params_read(&l->device->log, "wf_laplace_record", given, &read, sizeof read);
    if (r.result != WF_SUCCESS)
        return r.result;
    const wf_binding *u = &read.items[WF_LAPLACE_U], *told = &read.items[WF_LAPLACE_STATE];
    const wf_bindings cells = {.size = sizeof cells,
                               .items = {{.buffer = l->arrays[0]},
                                         {.buffer = l->arrays[1]},
                                         *u,
                                         {.buffer = l->state}}},
                      gate = {.size = sizeof gate, .items = {{.buffer = l->state}, *u}},
                      tell = {.size = sizeof tell, .items = {{.buffer = l->state}, *told}};
    const bool begins = !(flags & WF_SOLVE_CONTINUE);
    const uint32_t made = begins ? 0 : l->made, end = made + (iterations - 1) / l->every + 1;
    /* The last kernel's bindings are checked before anything is recorded. */
    r.result = wfi_plan_resolve(l->kernels[WFI_LAPLACE_TELL], &l->device->log, &tell, all);
    if (r.result == WF_SUCCESS)
        r.result = wfi_plan_resolve(l->kernels[WFI_LAPLACE_LEAVE], &l->device->log, &cells, all);
    if (r.result != WF_SUCCESS)
        return r.result;
    after(&r); /* an earlier solve may still use what this one writes */
    if (begins) {
        record_edge(&r, WFI_LAPLACE_TAKE, &cells, flags);
        record_edge(&r, WFI_LAPLACE_GATE, &gate, flags);
    }
    for (uint32_t check = made; check < end; check++)
        record_check(&r, check);
    record_edge(&r, WFI_LAPLACE_LEAVE, &cells, 0);
    record_edge(&r, WFI_LAPLACE_TELL, &tell, 0);
    l->made = r.result == WF_SUCCESS ? end : 0;
    return r.result;
}
