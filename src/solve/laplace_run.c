/* Runs the iterations in submissions of several checks. One submission runs while the host records
 * the next, so that the device never waits for the host. */
#include <math.h>

#include "core/command.h"
#include "kernels/stencil/stencil.h"
#include "laplace/laplace_ids.h"
#include "solve/laplace.h"

/* Long beside what lies between two submissions, 13 us on an H100, and short beside a solve: the
 * one behind the end of the solve is waited for. */
#define SUBMISSION_SECONDS 0.001

static uint64_t state_bytes(const wfi_laplace *l)
{
    return LAPLACE_STATE_END * (uint64_t)wf_type_size(l->type);
}

static wf_result write_wanted(wfi_laplace *l)
{
    double value;
    wfi_laplace_put(&value, l->type, 0, l->wanted * l->wanted);
    return wf_buffer_write(l->state, LAPLACE_WANTED * (uint64_t)wf_type_size(l->type), &value,
                           wf_type_size(l->type));
}

/* ------------------------------------------------------------------------------------ recording */

static wf_result record(wfi_laplace *l, VkCommandBuffer command_buffer, wf_plan *plan,
                        const wf_bindings *bindings, uint32_t sequence)
{
    wf_result result = wfi_plan_record_sequence(plan, command_buffer, bindings, sequence);
    wfi_barrier_compute(l->device, command_buffer);
    return result;
}

wf_bindings wfi_laplace_bindings(const wfi_laplace *l, uint32_t own)
{
    wf_bindings bindings = {.size = sizeof bindings,
                            .items = {{.buffer = l->arrays[own]},
                                      {.buffer = NULL},
                                      {.buffer = l->state},
                                      {.buffer = l->partials}}};
    if (l->coloured)
        bindings.items[1].buffer = l->arrays[1 - own];
    return bindings;
}

static wf_result record_jacobi(wfi_laplace *l, VkCommandBuffer command_buffer, uint32_t check)
{
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_STENCIL_IN] = {.buffer = l->arrays[check & 1]},
                  [WF_STENCIL_OUT] = {.buffer = l->arrays[1 - (check & 1)]},
                  [WFI_STENCIL_COEFFICIENTS] = {.buffer = l->state}},
        .workspace = {.buffer = l->workspace}};
    return record(l, command_buffer,
                  check + 1 == l->checks && l->remainder ? l->remainder : l->advance, &bindings, 0);
}

static wf_result record_sor(wfi_laplace *l, VkCommandBuffer command_buffer, uint32_t check)
{
    const uint32_t left = l->most - check * l->every, count = left < l->every ? left : l->every;
    const wf_bindings bindings[2] = {wfi_laplace_bindings(l, 0), wfi_laplace_bindings(l, 1)};
    wf_result result = WF_SUCCESS;
    for (uint32_t i = 0; i < 2 * count && result == WF_SUCCESS; i++)
        result = record(l, command_buffer, l->kernels[WFI_LAPLACE_SWEEP], &bindings[i & 1], i & 1);
    return result;
}

/* Records a check: the residual after its iterations, and the verdict on it. */
static wf_result record_verdict(wfi_laplace *l, VkCommandBuffer command_buffer, uint32_t check)
{
    const wf_bindings verdict = {.size = sizeof verdict,
                                 .items = {{.buffer = l->state}, {.buffer = l->partials}}};
    wf_result result = WF_SUCCESS;
    for (uint32_t n = 0; n < (l->coloured ? 2u : 1u) && result == WF_SUCCESS; n++) {
        const wf_bindings residual = wfi_laplace_bindings(l, l->coloured ? n : 1 - (check & 1));
        result = record(l, command_buffer, l->kernels[WFI_LAPLACE_RESIDUAL], &residual, n);
    }
    return result == WF_SUCCESS
               ? record(l, command_buffer, l->kernels[WFI_LAPLACE_VERDICT], &verdict, check)
               : result;
}

static wf_result record_checks(void *user, VkCommandBuffer command_buffer)
{
    wfi_laplace *l = user;
    const uint64_t slot = l->stream.submitted % WFI_STREAM_SLOTS;
    wf_result result = WF_SUCCESS;
    for (uint32_t check = l->first; check < l->end && result == WF_SUCCESS; check++) {
        result = l->coloured ? record_sor(l, command_buffer, check)
                             : record_jacobi(l, command_buffer, check);
        if (result == WF_SUCCESS)
            result = record_verdict(l, command_buffer, check);
    }
    if (result != WF_SUCCESS)
        return result;
    wfi_barrier(l->device, command_buffer);
    wfi_record_copy(l->device, command_buffer, l->state, 0, l->slots, slot * state_bytes(l),
                    state_bytes(l));
    return WF_SUCCESS;
}

/* -------------------------------------------------------------------------------------- running */

static wf_result submit(wfi_laplace *l)
{
    const uint32_t slot = l->stream.submitted % WFI_STREAM_SLOTS, left = l->checks - l->end;
    const double fit = l->check_seconds > 0 ? SUBMISSION_SECONDS / l->check_seconds : 1;
    uint32_t count = fit >= LAPLACE_CHECKS ? LAPLACE_CHECKS : fit > 1 ? (uint32_t)fit : 1;
    count = count < left ? count : left;
    l->first = l->end;
    l->end = l->first + count;
    l->begun[slot] = l->first;
    l->ended[slot] = l->end;
    return wfi_stream_submit(&l->stream, record_checks, l);
}

/* Takes over the verdict of the last check of a submission that was not skipped. */
static void keep_history(const wfi_laplace *l, const void *state, uint32_t slot, double norm,
                         wf_laplace_result *out)
{
    for (uint32_t check = l->begun[slot]; check < l->ended[slot] && check < out->checks; check++) {
        const double squares =
            wfi_laplace_get(state, l->type, LAPLACE_HISTORY + check % LAPLACE_CHECKS);
        out->residual = sqrt(squares) / norm;
        if (l->params->history && check < l->params->history_room)
            l->params->history[check] = out->residual;
    }
}

/* Waits for the oldest submission and reads what it came to. */
static wf_result finish(wfi_laplace *l, double norm, int *status, wf_laplace_result *out)
{
    const uint32_t slot = l->stream.waited % WFI_STREAM_SLOTS, before = out->iterations;
    double state[LAPLACE_STATE_END], seconds = 0;
    wf_result result = wfi_stream_wait(&l->stream, &seconds);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(l->slots, slot * state_bytes(l), state, state_bytes(l));
    if (result != WF_SUCCESS)
        return result;
    *status = (int)wfi_laplace_get(state, l->type, LAPLACE_STATUS);
    out->iterations = (uint32_t)wfi_laplace_get(state, l->type, LAPLACE_ITERATIONS);
    out->checks = (out->iterations + l->every - 1) / l->every;
    keep_history(l, state, slot, norm, out);
    /* A submission that ended the run did not do all of its iterations, and during the first one
     * the driver may still compile. */
    if (*status == LAPLACE_RUNNING || l->timed == 0) {
        if (l->submissions++ == 1) {
            l->seconds = 0;
            l->timed = 0;
        }
        l->seconds += seconds;
        l->timed += out->iterations - before;
        l->check_seconds = seconds / (l->ended[slot] - l->begun[slot]);
    }
    return WF_SUCCESS;
}

/* Tells the application how far the run is, and returns whether it stops. */
static bool is_stopped(const wfi_laplace *l, const wf_laplace_result *out)
{
    const wf_laplace_params *p = l->params;
    if (!p->progress || p->progress(p->user, out->iterations, out->residual))
        return wfi_device_goes_on(l->device) != WF_SUCCESS;
    return wfi_fail(&l->device->log, WF_ERROR_CANCELLED, "the application asked to stop") !=
           WF_SUCCESS;
}

/* Submits until a submission has ended the run; the one behind it finds nothing to do. */
static wf_result run(wfi_laplace *l, double norm, int *status, bool *cancelled,
                     wf_laplace_result *out)
{
    wf_result result = WF_SUCCESS;
    while (result == WF_SUCCESS && *status == LAPLACE_RUNNING &&
           ((l->end < l->checks && !*cancelled) || !wfi_stream_idle(&l->stream))) {
        if (l->end < l->checks && !*cancelled && !wfi_stream_full(&l->stream)) {
            result = submit(l);
            continue;
        }
        result = finish(l, norm, status, out);
        if (result == WF_SUCCESS && *status == LAPLACE_RUNNING && !*cancelled)
            *cancelled = is_stopped(l, out);
    }
    while (result == WF_SUCCESS && !wfi_stream_idle(&l->stream)) {
        double unused = 0;
        result = wfi_stream_wait(&l->stream, &unused);
    }
    return result;
}

wf_result wfi_laplace_run(wfi_laplace *l, double norm, wf_laplace_result *out)
{
    static const wf_laplace_status statuses[] = {
        [LAPLACE_RUNNING] = WF_LAPLACE_MAX_ITERATIONS,
        [LAPLACE_CONVERGED] = WF_LAPLACE_CONVERGED,
        [LAPLACE_STAGNATED] = WF_LAPLACE_STAGNATED,
        [LAPLACE_NOT_FINITE] = WF_LAPLACE_NOT_FINITE,
    };
    int status = LAPLACE_RUNNING;
    bool cancelled = false;
    out->gpu_clock = l->stream.queries != VK_NULL_HANDLE && !l->stream.device->clock_errs;
    wf_result result = write_wanted(l);
    if (result == WF_SUCCESS)
        result = run(l, norm, &status, &cancelled, out);
    out->status = cancelled && status == LAPLACE_RUNNING ? WF_LAPLACE_CANCELLED : statuses[status];
    return result;
}
