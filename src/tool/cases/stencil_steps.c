#include "tool/cases/stencil_steps.h"

#include <stdlib.h>

#include "tool/cases/case_parts.h"

typedef struct stepper {
    wf_stencil_params params; /* of one step */
    const wfi_stencil_run *run;
    wf_plan *plan;
    wf_buffer *workspace;
    void *grids[2]; /* what the steps left, in turn */
} stepper;

static wf_result open_steps(wfi_session *session, stepper *s)
{
    s->params.steps = 1;
    for (int i = 0; i < 2; i++)
        s->grids[i] = malloc((size_t)s->run->bytes);
    if (!s->grids[0] || !s->grids[1])
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wf_result result = wf_stencil_plan(session->device, &s->params, &s->plan);
    const uint64_t workspace = result == WF_SUCCESS ? wf_plan_workspace(s->plan) : 0;
    if (workspace)
        result = wf_buffer_create(session->device, workspace, WF_MEMORY_DEVICE, &s->workspace);
    return result == WF_SUCCESS ? wf_buffer_write(s->run->buffers[0], 0, s->run->in, s->run->bytes)
                                : result;
}

static void close_steps(stepper *s)
{
    wf_plan_destroy(&s->plan);
    wf_buffer_destroy(&s->workspace);
    free(s->grids[0]);
    free(s->grids[1]);
}

/* Makes a step, from 0 on, on the device: the buffers take turns. */
static wf_result make_step(const stepper *s, uint32_t step)
{
    wf_buffer *from = s->run->buffers[step % 2], *to = s->run->buffers[(step + 1) % 2];
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_STENCIL_IN] = {.buffer = from}, [WF_STENCIL_OUT] = {.buffer = to}},
        .workspace = {.buffer = s->workspace}};
    wf_result result = wf_buffer_fill(to, 0, wf_buffer_size(to), UINT32_MAX);
    if (result == WF_SUCCESS)
        result = wf_plan_run(s->plan, &bindings);
    return result == WF_SUCCESS ? wf_buffer_read(to, 0, s->grids[step % 2], s->run->bytes) : result;
}

/* Compares what a step left; the first step read the run's input. *worst gets the check of the step
 * with the largest error. */
static wf_result check_step(const stepper *s, uint32_t step, wf_check *worst)
{
    const void *from = step ? s->grids[(step + 1) % 2] : s->run->in;
    wf_check check = {0};
    const wf_result result = wf_stencil_check(&s->params, from, s->grids[step % 2], 0, 0, &check);
    if (result == WF_SUCCESS && (step == 0 || !(check.error_over_bound <= worst->error_over_bound)))
        *worst = check;
    return result;
}

static uint64_t first_difference(const stepper *s, const unsigned char *left)
{
    const unsigned char *out = s->run->out;
    uint64_t at = 0;
    while (at < s->run->bytes && left[at] == out[at])
        at++;
    return at / wf_type_size(s->params.type);
}

static void conclude(const stepper *s, const wf_check *worst, uint32_t step, const void *left,
                     wfi_result_case *out)
{
    const uint64_t cells = s->run->bytes / wf_type_size(s->params.type),
                   at = first_difference(s, left);
    out->check = *worst;
    if (!(worst->error_over_bound <= 1))
        wfi_case_fail_text(
            out, WFI_STATUS_FAILED,
            "%s %s: cell %llu of step %u by itself is %.3g times its error bound off", out->family,
            out->name, (unsigned long long)worst->worst, step, worst->error_over_bound);
    else if (at < cells)
        wfi_case_fail_text(out, WFI_STATUS_FAILED,
                           "%s %s: cell %llu is another than after the same steps one by one, "
                           "each of which is right",
                           out->family, out->name, (unsigned long long)at);
    else
        out->checked_how = "each step by itself, from what the step before left";
}

wf_result wfi_stencil_check_steps(wfi_session *session, const wf_stencil_params *params,
                                  const wfi_stencil_run *run, wfi_result_case *out)
{
    stepper s = {.params = *params, .run = run};
    const uint32_t steps = params->steps ? params->steps : 1;
    wf_check worst = {0};
    uint32_t step = 0;
    wf_result result = open_steps(session, &s);
    while (result == WF_SUCCESS && step < steps && (step == 0 || worst.error_over_bound <= 1)) {
        result = make_step(&s, step);
        if (result == WF_SUCCESS)
            result = check_step(&s, step, &worst);
        step++;
    }
    if (result == WF_SUCCESS)
        conclude(&s, &worst, step, s.grids[(step + 1) % 2], out);
    close_steps(&s);
    return result;
}
