/* Conjugate gradients recorded into the application's command buffers. The dispatches of iterations
 * take their sizes from the device, which makes them zero once it has found the end; or, by
 * VK_EXT_conditional_rendering, iterations are skipped where the first of these sizes is zero. */

#include "core/arena.h"
#include "core/arithmetic.h"
#include "core/command.h"
#include "core/heap.h"
#include "core/params.h"
#include "kernels/spmv/spmv.h"
#include "plan/object.h"
#include "solve/cg.h"
#include "solve/recorded.h"

static wf_result open_parts(wf_device *device, wf_cg *cg)
{
    const wf_spmv_params *matrix = &cg->matrix;
    float *values = NULL;
    if (!cg->params.mixed)
        return wfi_cg_open_recorded(device, &cg->params, matrix, NULL, &cg->c);
    /* The plan checks the pattern; until then only the number of entries is used. */
    if (!matrix->row_offsets || !matrix->values)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_create: bad parameters");
    wf_result result = wfi_cg_narrow(device, "wf_cg_create", matrix, &values, &cg->narrow);
    if (result == WF_SUCCESS)
        result = wfi_cg_open_recorded(device, &cg->params, &cg->narrow, matrix, &cg->c);
    wfi_free(values);
    return result;
}

static wf_result create(wf_device *device, const wf_cg_params *given, wf_cg **out)
{
    if (!device || !out)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_cg *cg = wfi_calloc(1, sizeof *cg);
    if (!cg)
        return wfi_no_memory(&device->log);
    wf_result result =
        wfi_params_read(&device->log, "wf_cg_create", given, &cg->params, sizeof cg->params);
    if (result == WF_SUCCESS && cg->params.matrix) {
        result = wfi_params_read(&device->log, "wf_cg_create", cg->params.matrix, &cg->matrix,
                                 sizeof cg->matrix);
        cg->params.matrix = &cg->matrix;
    }
    if (result == WF_SUCCESS)
        result = wfi_cg_check_params(device, "wf_cg_create", &cg->params);
    if (result == WF_SUCCESS && cg->matrix.rows == 0)
        result = wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                          "wf_cg_create: a matrix without rows, which wf_cg_solve takes");
    if (result == WF_SUCCESS)
        result = open_parts(device, cg);
    if (result == WF_SUCCESS)
        *out = cg;
    else
        wf_cg_destroy(&cg);
    return result;
}

wf_result wf_cg_create(wf_device *device, const wf_cg_params *given, wf_cg **out)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, create(device, given, out));
}

void wf_cg_destroy(wf_cg **handle)
{
    wf_cg *cg = handle ? *handle : NULL;
    if (!cg)
        return;
    wfi_cg_close(&cg->c);
    wfi_free(cg);
    *handle = NULL;
}

wf_result wf_cg_status_of(wf_cg *cg)
{
    return cg ? wf_plan_status(cg->c.product) : WF_ERROR_INVALID_ARGUMENT;
}

/* The plans that keep data; *count of them. */
static void plans_with_data(const wf_cg *cg, wf_plan *plans[3], uint32_t *count)
{
    plans[0] = cg->c.product;
    plans[1] = cg->c.kernels[WFI_CG_GATE];
    plans[2] = cg->c.kernels[WFI_CG_RESIDUAL];
    *count = plans[2] ? 3 : 2;
}

bool wf_cg_needs_upload(const wf_cg *cg)
{
    wf_plan *plans[3];
    uint32_t count;
    bool needs = false;
    plans_with_data(cg, plans, &count);
    for (uint32_t i = 0; i < count; i++)
        needs |= wf_plan_needs_upload(plans[i]);
    return needs;
}

wf_result wf_cg_record_upload(wf_cg *cg, VkCommandBuffer command_buffer)
{
    wf_plan *plans[3];
    uint32_t count;
    wf_result result = WF_SUCCESS;
    if (!cg)
        return WF_ERROR_INVALID_ARGUMENT;
    plans_with_data(cg, plans, &count);
    for (uint32_t i = 0; i < count && result == WF_SUCCESS; i++)
        result = wf_plan_record_upload(plans[i], command_buffer);
    return result;
}

void wf_cg_trim(wf_cg *cg)
{
    wf_plan *plans[3];
    uint32_t count;
    plans_with_data(cg, plans, &count);
    for (uint32_t i = 0; i < count; i++)
        wf_plan_trim(plans[i]);
}

/* ------------------------------------------------------------------------------------ recording */

/* Where the size of a dispatch is, in bytes of scalars. */
static uint64_t size_at(const wfi_cg *c, uint32_t size)
{
    return c->sizes_at * UINT64_C(4) + size * (uint64_t)sizeof(VkDispatchIndirectCommand);
}

typedef struct recorder {
    wfi_cg *c;
    VkCommandBuffer command_buffer;
    wf_arena *arena;
    wf_result result; /* of all so far */
    bool conditional; /* by VK_EXT_conditional_rendering */
} recorder;

/* What is recorded up to end_condition runs where dispatch `size` has work-groups. */
static void begin_condition(const recorder *r, uint32_t size)
{
    if (r->conditional && r->result == WF_SUCCESS)
        wfi_condition_begin(r->c->device, r->command_buffer, r->c->scalars, size_at(r->c, size));
}

static void end_condition(const recorder *r, wf_result began)
{
    if (r->conditional && began == WF_SUCCESS)
        wfi_condition_end(r->c->device, r->command_buffer);
}

static void after(recorder *r)
{
    if (r->result == WF_SUCCESS)
        wfi_barrier_indirect(r->c->device, r->command_buffer, r->conditional);
}

/* Records a kernel on buffers of the solve's own, whose sets the plan keeps. *size counts the
 * dispatches that the device sizes; NULL: this one has the size of its plan. */
static void record_plan(recorder *r, wf_plan *plan, const wf_bindings *bindings, uint32_t sequence,
                        uint32_t *size)
{
    const wfi_cg *c = r->c;
    if (r->result != WF_SUCCESS)
        return;
    if (size && !r->conditional)
        wfi_plan_set_indirect(plan, c->scalars, size_at(c, *size));
    r->result = wfi_plan_record_sequence(plan, r->command_buffer, bindings, sequence);
    wfi_plan_set_indirect(plan, NULL, 0);
    if (size)
        *size += wfi_plan_step_count(plan);
    after(r);
}

static void record_kernel(recorder *r, int kernel, uint32_t sequence, uint32_t *size)
{
    const wfi_cg *c = r->c;
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {{.buffer = c->a},
                                            {.buffer = kernel == WFI_CG_RESIDUAL ? c->pairs : c->b},
                                            {.buffer = c->c},
                                            {.buffer = c->scalars}}};
    record_plan(r, c->kernels[kernel], &bindings, sequence, size);
}

/* w = A x, for the residual of the x that the solve begins with. */
static void record_first_product(recorder *r)
{
    wf_bindings bindings = wfi_cg_product_bindings(r->c);
    bindings.items[WF_SPMV_X] = (wf_binding){.buffer = r->c->a, .bytes = wfi_cg_vector_bytes(r->c)};
    wfi_plan_set_parity(r->c->product, 0);
    record_plan(r, r->c->product, &bindings, 0, NULL);
}

static void record_iteration(recorder *r, uint32_t iteration)
{
    const wf_bindings u_to_w = wfi_cg_product_bindings(r->c);
    const wf_result began = r->result;
    uint32_t size = 0;
    begin_condition(r, 0);
    wfi_plan_set_parity(r->c->product, iteration);
    record_plan(r, r->c->product, &u_to_w, 0, &size);
    if (!r->c->fused)
        record_kernel(r, WFI_CG_DOT, iteration, &size);
    record_kernel(r, WFI_CG_UPDATE_RECORDED, iteration, &size);
    end_condition(r, began);
}

/* Mixed precision: adds a correction that has converged, and begins the next. */
static void record_refinement(recorder *r, uint32_t iteration)
{
    static const int kernels[] = {WFI_CG_CORRECT, WFI_CG_RESIDUAL, WFI_CG_BEGIN, WFI_CG_GATE};
    const wf_result began = r->result;
    uint32_t size = r->c->sizes;
    begin_condition(r, size);
    for (size_t i = 0; i < WFI_COUNT(kernels); i++)
        record_kernel(r, kernels[i], iteration, &size);
    end_condition(r, began);
}

/* The verdict on the last iteration. */
static void record_last(recorder *r, uint32_t iterations)
{
    const wf_result began = r->result;
    uint32_t size = r->c->sizes - 1;
    begin_condition(r, 0);
    record_kernel(r, WFI_CG_STATE, iterations, &size);
    end_condition(r, began);
}

static void record_steps(recorder *r, wf_plan *plan, const wf_bindings *bindings, uint32_t sequence)
{
    if (r->result == WF_SUCCESS)
        r->result = wfi_plan_record_steps(plan, r->command_buffer, r->arena, bindings, sequence, 0,
                                          UINT32_MAX);
}

/* Bindings of the first and the last kernel, which use the application's buffers. */
static wf_bindings edge(const wfi_cg *c, const wf_binding *one, const wf_binding *other)
{
    return (wf_bindings){.size = sizeof(wf_bindings),
                         .items = {{.buffer = c->a}, *one, *other, {.buffer = c->scalars}}};
}

static wf_result check(const wf_cg *cg, const wf_arena *arena, uint32_t iterations, uint32_t flags)
{
    const wf_device *device = cg->c.device;
    const uint32_t made = flags & WF_SOLVE_CONTINUE ? cg->c.made : 0;
    if (!arena || wfi_arena_device(arena) != device)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_record: an arena of the solve's device must be given "
                        "(wf_arena_create)");
    if (wfi_solve_flags_err(flags))
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_record: flags %#x; WF_SOLVE_CONTINUE goes with "
                        "WF_SOLVE_CONDITIONAL alone",
                        flags);
    if (flags & WF_SOLVE_CONTINUE && cg->c.wide)
        return wfi_fail(&device->log, WF_ERROR_UNSUPPORTED,
                        "wf_cg_record: a solve in mixed precision goes on by WF_SOLVE_WARM, not "
                        "WF_SOLVE_CONTINUE");
    if (flags & WF_SOLVE_CONTINUE && made == 0)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_record: WF_SOLVE_CONTINUE, but no solve was recorded before");
    if (iterations == 0 || iterations > cg->c.most - made)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_record: %u iterations after %u of this solve; there may be 1 to %u "
                        "in all (wf_cg_params.max_iterations)",
                        iterations, made, cg->c.most);
    if (wf_cg_needs_upload(cg))
        return wfi_fail(&device->log, WF_NOT_READY,
                        "wf_cg_record: wf_cg_record_upload must be recorded first");
    return WF_SUCCESS;
}

/* What stands before the first iteration. */
static void record_start(recorder *r, const wf_bindings *first, uint32_t flags)
{
    record_steps(r, r->c->kernels[WFI_CG_TAKE], first, flags);
    after(r);
    if (r->c->wide)
        record_kernel(r, WFI_CG_RESIDUAL, 0, NULL);
    else if (flags & WF_SOLVE_WARM)
        record_first_product(r);
    record_kernel(r, WFI_CG_BEGIN, r->c->wide ? 0 : flags, NULL);
    record_kernel(r, WFI_CG_GATE, r->c->wide ? 0 : flags, NULL);
}

static void record_end(recorder *r, const wf_bindings *last, uint32_t iterations)
{
    record_last(r, iterations);
    if (r->c->wide) {
        record_kernel(r, WFI_CG_CORRECT, iterations, NULL);
        record_kernel(r, WFI_CG_RESIDUAL, iterations, NULL);
    }
    record_steps(r, r->c->kernels[WFI_CG_LEAVE], last, iterations);
}

wf_result wf_cg_record(wf_cg *cg, VkCommandBuffer command_buffer, wf_arena *arena,
                       const wf_bindings *given, uint32_t iterations, uint32_t flags)
{
    if (!cg || !command_buffer)
        return WF_ERROR_INVALID_ARGUMENT;
    wfi_cg *c = &cg->c;
    wf_bindings read;
    wfi_bound all[WF_MAX_BINDINGS + 1] = {{0}};
    recorder r = {c, command_buffer, arena, wf_plan_status(c->product),
                  c->device->caps.conditional_rendering && (flags & WF_SOLVE_CONDITIONAL)};
    if (r.result == WF_SUCCESS)
        r.result = check(cg, arena, iterations, flags);
    if (r.result == WF_SUCCESS)
        r.result = wfi_params_read(&c->device->log, "wf_cg_record", given, &read, sizeof read);
    if (r.result != WF_SUCCESS)
        return r.result;
    const bool begins = !(flags & WF_SOLVE_CONTINUE);
    const uint32_t made = begins ? 0 : c->made;
    const wf_bindings first = edge(c, &read.items[WF_CG_B], &read.items[WF_CG_X]),
                      last = edge(c, &read.items[WF_CG_X], &read.items[WF_CG_STATE]);
    /* The last kernel's bindings are checked before anything is recorded. */
    r.result = wfi_plan_resolve(c->kernels[WFI_CG_LEAVE], &c->device->log, &last, all);
    if (r.result == WF_SUCCESS && begins)
        r.result = wfi_plan_resolve(c->kernels[WFI_CG_TAKE], &c->device->log, &first, all);
    if (r.result != WF_SUCCESS)
        return r.result;
    after(&r); /* an earlier solve may still use what this one writes */
    if (begins)
        record_start(&r, &first, flags);
    for (uint32_t i = made; i < made + iterations; i++) {
        if (c->wide && i > 0 && i % c->every == 0)
            record_refinement(&r, i);
        record_iteration(&r, i);
    }
    record_end(&r, &last, made + iterations);
    c->made = r.result == WF_SUCCESS ? made + iterations : 0;
    return r.result;
}
