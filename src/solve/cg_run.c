/* Runs the iterations in batches, two dispatches an iteration. One batch runs while the host
 * records the next, so that the device never waits for the host. */
#include <math.h>
#include <string.h>

#include "core/command.h"
#include "core/heap.h"
#include "kernels/spmv/spmv.h"
#include "profiles/spmv.h"
#include "solve/cg.h"

/* Two batches are under way, and what of them is behind the end of the solve is for nothing: its
 * products are computed all the same. Between two an H100 does nothing for 13 us. */
#define BATCH_SECONDS 0.0005
#define LONG_SECONDS 0.1 /* an iteration after which the host looks each time */
#define LEAST_BATCH 2
#define MOST_BATCH 32

enum {
    STATE_STATUS,
    STATE_ITERATIONS,
    STATE_RESIDUAL,
    STATE_ELEMENTS = 4,
    STATE_WANTED = 8,
    STATE_END = 12
};
enum { DEVICE_RUNNING, DEVICE_CONVERGED, DEVICE_INDEFINITE, DEVICE_NOT_FINITE, DEVICE_BREAKDOWN };

static uint64_t real_bytes(const wfi_cg *c)
{
    return wf_type_size(c->type);
}

wf_result wfi_cg_write_residual(wfi_cg *c, const void *r)
{
    return wf_buffer_write(c->a, wfi_cg_vector_bytes(c), r, c->count * real_bytes(c));
}

wf_result wfi_cg_read_solution(wfi_cg *c, void *x)
{
    return wf_buffer_read(c->a, 0, x, c->count * real_bytes(c));
}

static wf_result write_state(wfi_cg *c, double tolerance)
{
    double state[STATE_END] = {0};
    for (uint32_t i = 0; i < STATE_END; i++)
        wf_element_set(c->type, state, i, 0);
    wf_element_set(c->type, state, STATE_WANTED, tolerance * tolerance);
    return wf_buffer_write(c->scalars, 0, state, STATE_END * real_bytes(c));
}

static wf_bindings kernel_bindings(const wfi_cg *c)
{
    return (wf_bindings){
        .size = sizeof(wf_bindings),
        .items = {{.buffer = c->a}, {.buffer = c->b}, {.buffer = c->c}, {.buffer = c->scalars}}};
}

static wf_result record_kernel(wfi_cg *c, VkCommandBuffer command_buffer, int kernel,
                               uint32_t iteration)
{
    const wf_bindings bindings = kernel_bindings(c);
    wf_result result =
        wfi_plan_record_sequence(c->kernels[kernel], command_buffer, &bindings, iteration);
    wfi_barrier_compute(c->device, command_buffer);
    return result;
}

/* w = A u; without a preconditioner u is r. */
wf_bindings wfi_cg_product_bindings(const wfi_cg *c)
{
    const uint64_t vector = wfi_cg_vector_bytes(c), real = real_bytes(c);
    wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = c->a, .offset = vector, .bytes = vector},
                  [WF_SPMV_Y] = {.buffer = c->b, .offset = vector, .bytes = vector}}};
    if (c->block)
        bindings.items[WF_SPMV_X] = (wf_binding){.buffer = c->c, .bytes = vector};
    if (c->fused)
        bindings.items[WFI_SPMV_PARTIALS] = (wf_binding){
            .buffer = c->scalars, .offset = c->partials_at * real, .bytes = c->partials * real};
    return bindings;
}

/* Times the product and the dot product alone, which also brings the device's clocks up before the
 * iterations. */
wf_result wfi_cg_measure_product(wfi_cg *c, uint32_t repeat, wf_cg_result *out)
{
    const wf_measure_params params = {.size = sizeof params, .repeat = repeat};
    const wf_bindings bindings = wfi_cg_product_bindings(c), vectors = kernel_bindings(c);
    wf_timing *timing = wfi_malloc(sizeof *timing);
    if (!timing)
        return wfi_no_memory(&c->device->log);
    wf_result result = wf_plan_measure(c->product, &bindings, &params, timing);
    if (result == WF_SUCCESS)
        out->product_us = timing->median_us;
    if (result == WF_SUCCESS && !c->fused) { /* it leaves partial sums alone */
        result = wf_plan_measure(c->kernels[WFI_CG_DOT], &vectors, &params, timing);
        out->dot_us = result == WF_SUCCESS ? timing->median_us : 0;
    }
    wfi_free(timing);
    /* Where the application stopped it, the run finds out by itself. */
    return result == WF_ERROR_CANCELLED ? WF_SUCCESS : result;
}

static wf_result record_iteration(wfi_cg *c, VkCommandBuffer command_buffer, uint32_t iteration)
{
    const wf_bindings u_to_w = wfi_cg_product_bindings(c);
    /* The iteration decides the direction: how often the host recorded before must not change
     * bits. */
    wfi_plan_set_parity(c->product, iteration);
    wf_result result = wfi_plan_record(c->product, command_buffer, &u_to_w);
    wfi_barrier_compute(c->device, command_buffer);
    if (result == WF_SUCCESS && !c->fused)
        result = record_kernel(c, command_buffer, WFI_CG_DOT, iteration);
    return result == WF_SUCCESS ? record_kernel(c, command_buffer, WFI_CG_UPDATE, iteration)
                                : result;
}

static uint64_t state_slot(const wfi_cg *c)
{
    return c->stream.submitted % WFI_STREAM_SLOTS * STATE_ELEMENTS * real_bytes(c);
}

static wf_result record_batch(void *user, VkCommandBuffer command_buffer)
{
    wfi_cg *c = user;
    const uint64_t bytes = STATE_ELEMENTS * real_bytes(c);
    wf_result result = WF_SUCCESS;
    if (c->first == 0)
        result = record_kernel(c, command_buffer, WFI_CG_START, 0);
    for (uint32_t i = c->first; i < c->end && result == WF_SUCCESS; i++)
        result = record_iteration(c, command_buffer, i);
    if (result == WF_SUCCESS)
        result = record_kernel(c, command_buffer, WFI_CG_STATE, c->end);
    if (result != WF_SUCCESS)
        return result;
    wfi_barrier(c->device, command_buffer);
    wfi_record_copy(c->device, command_buffer, c->scalars, (c->end & 1) * bytes, c->state,
                    state_slot(c), bytes);
    if (c->params->progress && c->end > 0) {
        /* |r|^2 takes the place of a number that only the device needs. */
        wfi_barrier(c->device, command_buffer);
        wfi_record_copy(c->device, command_buffer, c->scalars,
                        (c->history_at + c->end - UINT64_C(1)) * real_bytes(c), c->state,
                        state_slot(c) + STATE_RESIDUAL * real_bytes(c), real_bytes(c));
    }
    return WF_SUCCESS;
}

/* Waits for the oldest batch and reads what it came to. */
static wf_result finish_batch(wfi_cg *c, int *status, uint32_t *iterations, double *residual)
{
    const uint32_t before = *iterations;
    double state[STATE_ELEMENTS], seconds = 0;
    const uint64_t slot = c->stream.waited % WFI_STREAM_SLOTS,
                   bytes = STATE_ELEMENTS * real_bytes(c);
    wf_result result = wfi_stream_wait(&c->stream, &seconds);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(c->state, slot * bytes, state, bytes);
    if (result == WF_SUCCESS) {
        *status = (int)wf_element_get(c->type, state, STATE_STATUS);
        *iterations = (uint32_t)wf_element_get(c->type, state, STATE_ITERATIONS);
        *residual = sqrt(wf_element_get(c->type, state, STATE_RESIDUAL)) * c->norm;
    }
    /* A batch that ended the run did not do all of its iterations, and during the first one the
     * driver may still compile. */
    if (result == WF_SUCCESS && (*status == DEVICE_RUNNING || c->ran == 0)) {
        if (c->timed++ == 1) {
            c->seconds = 0;
            c->ran = 0;
        }
        c->seconds += seconds;
        c->ran += *iterations - before;
    }
    return result;
}

static wf_result read_history(wfi_cg *c, double *history, wf_cg_result *out)
{
    const uint64_t real = real_bytes(c);
    out->residual = 1;
    if (out->iterations == 0)
        return WF_SUCCESS;
    void *data = wfi_malloc((size_t)(out->iterations * real));
    if (!data)
        return wfi_no_memory(&c->device->log);
    wf_result result =
        wf_buffer_read(c->scalars, c->history_at * real, data, out->iterations * real);
    if (result == WF_SUCCESS)
        out->residual = sqrt(wf_element_get(c->type, data, out->iterations - 1));
    for (uint32_t i = 0; result == WF_SUCCESS && history && i < out->iterations; i++)
        history[i] = sqrt(wf_element_get(c->type, data, i));
    wfi_free(data);
    return result;
}

/* Iterations of the next batch, few enough for the host to look in time and for little to be done
 * behind the end. */
static uint32_t batch_size(const wfi_cg *c)
{
    const uint32_t first = wfi_spmv_profile_of(&c->device->caps)->first_batch;
    const double known = c->ran ? c->seconds / c->ran : 0;
    const double iteration = known > 0 ? known : 2 * wfi_plan_expected_seconds(c->product);
    const double fit = iteration > 0 ? BATCH_SECONDS / iteration : MOST_BATCH;
    if (c->params->check_every)
        return c->params->check_every;
    if (!(known > 0) && first > 0)
        return first;
    if (iteration > LONG_SECONDS)
        return 1;
    return fit < LEAST_BATCH ? LEAST_BATCH : fit > MOST_BATCH ? MOST_BATCH : (uint32_t)fit;
}

/* Tells the application how far the run is, and returns whether it goes on. */
static wf_result report(const wfi_cg *c, uint32_t iterations, double residual)
{
    const wf_cg_params *p = c->params;
    if (p->progress && !p->progress(p->user, c->before + iterations, residual))
        return wfi_fail(&c->device->log, WF_ERROR_CANCELLED, "the application asked to stop");
    return wfi_device_goes_on(c->device);
}

/* Submits batches until one has ended the run; the batch behind it finds nothing to do. Where the
 * application stops the run, batches under way still count. */
static wf_result run_batches(wfi_cg *c, uint32_t most, int *status, uint32_t *iterations)
{
    wf_result result = WF_SUCCESS, stop = WF_SUCCESS;
    double residual = 1;
    c->first = c->end = 0;
    *status = DEVICE_RUNNING;
    *iterations = 0;
    while (result == WF_SUCCESS && *status == DEVICE_RUNNING &&
           ((stop == WF_SUCCESS && c->end < most) || !wfi_stream_idle(&c->stream))) {
        if (stop == WF_SUCCESS && c->end < most && !wfi_stream_full(&c->stream)) {
            const uint32_t batch = batch_size(c);
            c->first = c->end;
            c->end = most - c->first < batch ? most : c->first + batch;
            result = wfi_stream_submit(&c->stream, record_batch, c);
            continue;
        }
        result = finish_batch(c, status, iterations, &residual);
        if (result == WF_SUCCESS && *status == DEVICE_RUNNING && stop == WF_SUCCESS)
            stop = report(c, *iterations, residual);
    }
    while (result == WF_SUCCESS && !wfi_stream_idle(&c->stream)) {
        double unused = 0;
        result = wfi_stream_wait(&c->stream, &unused);
    }
    return result == WF_SUCCESS && *status == DEVICE_RUNNING && *iterations < most ? stop : result;
}

static wf_result record_finish(void *user, VkCommandBuffer command_buffer)
{
    return record_kernel(user, command_buffer, WFI_CG_FINISH, 0);
}

/* Adds the step that x still lacks after an odd number of iterations. */
static wf_result finish_x(wfi_cg *c, uint32_t iterations)
{
    double unused = 0;
    if (iterations % 2 == 0)
        return WF_SUCCESS;
    wf_result result = wfi_stream_submit(&c->stream, record_finish, c);
    return result == WF_SUCCESS ? wfi_stream_wait(&c->stream, &unused) : result;
}

wf_result wfi_cg_run(wfi_cg *c, double tolerance, uint32_t most, double *history, wf_cg_result *out)
{
    static const wf_cg_status statuses[] = {[DEVICE_RUNNING] = WF_CG_MAX_ITERATIONS,
                                            [DEVICE_CONVERGED] = WF_CG_CONVERGED,
                                            [DEVICE_INDEFINITE] = WF_CG_INDEFINITE,
                                            [DEVICE_NOT_FINITE] = WF_CG_NOT_FINITE,
                                            [DEVICE_BREAKDOWN] = WF_CG_BREAKDOWN};
    int status = DEVICE_RUNNING;
    wf_result result = write_state(c, tolerance);
    out->gpu_clock = c->stream.queries != VK_NULL_HANDLE && !c->stream.device->clock_errs;
    if (result == WF_SUCCESS)
        result = run_batches(c, most, &status, &out->iterations);
    out->status = statuses[status];
    if (result != WF_SUCCESS && result != WF_ERROR_CANCELLED)
        return result;
    wf_result read = finish_x(c, out->iterations);
    if (read == WF_SUCCESS)
        read = read_history(c, history, out);
    return read == WF_SUCCESS ? result : read;
}
