#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/case_parts.h"
#include "tool/cases/cases.h"
#include "tool/cases/random.h"
#include "tool/cases/stencil_steps.h"
#include "tool/cases/vectors.h"

#define CHECKED_CELLS 20000

typedef struct work {
    double coefficients[WFI_STENCIL_MOST_TAPS];
    const void *in;
    void *random, *out;
    uint64_t elements, bytes;
    wf_buffer *buffers[3]; /* in, out, workspace */
    wf_plan *plan;
} work;

static void free_work(work *w)
{
    wf_plan_destroy(&w->plan);
    for (int i = 0; i < 3; i++)
        wf_buffer_destroy(&w->buffers[i]);
    free(w->random);
    free(w->out);
    free(w);
}

uint32_t wfi_stencil_request_taps(const wfi_stencil_request *r)
{
    const uint32_t side = 2 * r->radius + 1, dimensions = r->nz ? 3 : 2;
    return r->shape == WF_STENCIL_STAR ? 1 + 2 * r->radius * dimensions
                                       : side * side * (r->nz ? side : 1);
}

wf_result wfi_stencil_random(const wfi_stencil_request *r, uint64_t seed, void **grid)
{
    const wf_type filled = r->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    const uint64_t elements = (uint64_t)r->nx * r->ny * (r->nz ? r->nz : 1);
    *grid = malloc((size_t)(elements * wf_type_size(filled)));
    if (!*grid)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wfi_random_fill(*grid, filled, (size_t)elements, seed);
    /* In place, from the front: a narrow element is never behind the f32 that it is made of. */
    for (uint64_t i = 0; r->type != filled && i < elements; i++)
        wf_element_set(r->type, *grid, i, wf_element_get(filled, *grid, i));
    return WF_SUCCESS;
}

void wfi_stencil_coefficients(const wfi_stencil_request *r, uint64_t seed, double *out)
{
    const uint32_t taps = wfi_stencil_request_taps(r);
    wfi_random_fill(out, WF_TYPE_F64, taps, seed + 1);
    for (uint32_t i = 0; i < taps; i++)
        out[i] = r->coefficients ? r->coefficients[i] : out[i] / taps;
}

static wf_result make_input(const wfi_session *session, const wfi_stencil_request *r, work *w)
{
    wfi_stencil_coefficients(r, session->common->seed, w->coefficients);
    w->out = wfi_answer_memory((size_t)w->bytes);
    const wf_result result =
        r->in ? WF_SUCCESS : wfi_stencil_random(r, session->common->seed, &w->random);
    w->in = r->in ? r->in : w->random;
    return w->out ? result : WF_ERROR_OUT_OF_HOST_MEMORY;
}

static wf_result make_buffers(wfi_session *session, work *w)
{
    const uint64_t workspace = wf_plan_workspace(w->plan);
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < (workspace ? 3 : 2) && result == WF_SUCCESS; i++) {
        result = wf_buffer_create(session->device, i < 2 ? w->bytes : workspace, WF_MEMORY_DEVICE,
                                  &w->buffers[i]);
        if (result == WF_SUCCESS && i > 0)
            result = wf_buffer_fill(w->buffers[i], 0, wf_buffer_size(w->buffers[i]), UINT32_MAX);
    }
    return result == WF_SUCCESS ? wf_buffer_write(w->buffers[0], 0, w->in, w->bytes) : result;
}

static wf_result answer(wfi_session *session, const wf_stencil_params *params, work *w,
                        const wf_bindings *bindings, wfi_result_case *out)
{
    wfi_case_stage(session, out, WFI_STAGE_RUN);
    wf_result result = wf_plan_run(w->plan, bindings);
    wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(w->buffers[1], 0, w->out, w->bytes);
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    if (result == WF_SUCCESS)
        result = wf_stencil_check(params, w->in, w->out, CHECKED_CELLS, session->common->seed,
                                  &out->check);
    if (result == WF_SUCCESS)
        wfi_case_checked(out, "cell", out->check.worst);
    return result;
}

/* What the timed runs left, on a grid that was NaN, is compared as the answer was. */
static wf_result measure(wfi_session *session, const wfi_stencil_request *r,
                         const wf_stencil_params *params, work *w, const wf_bindings *bindings,
                         wfi_result_case *out)
{
    wf_check check = {0};
    void *left = malloc((size_t)w->bytes);
    wf_result result = left ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(w->buffers[1], 0, wf_buffer_size(w->buffers[1]), UINT32_MAX);
    if (result == WF_SUCCESS)
        result = wfi_case_time_memory(session, w->plan, bindings, r->budget_seconds, out);
    if (result == WF_SUCCESS && session->kernels) /* they were timed one by one */
        result = wf_plan_run(w->plan, bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(w->buffers[1], 0, left, w->bytes);
    if (result == WF_SUCCESS && memcmp(left, w->out, (size_t)w->bytes) != 0) {
        result =
            wf_stencil_check(params, w->in, left, CHECKED_CELLS, session->common->seed, &check);
        if (result == WF_SUCCESS)
            wfi_case_checked_timed(out, &check, "cell", check.worst);
    }
    free(left);
    return result;
}

static wf_result run(wfi_session *session, const wfi_stencil_request *r,
                     const wf_stencil_params *params, work *w, wfi_result_case *out)
{
    wfi_case_stage(session, out, WFI_STAGE_ANALYSIS);
    wf_result result = wf_stencil_plan(session->device, params, &w->plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w->plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    wfi_case_stage(session, out, WFI_STAGE_UPLOAD);
    if (result == WF_SUCCESS)
        result = make_buffers(session, w);
    const wf_bindings bindings = {.size = sizeof bindings,
                                  .items = {[WF_STENCIL_IN] = {.buffer = w->buffers[0]},
                                            [WF_STENCIL_OUT] = {.buffer = w->buffers[1]}},
                                  .workspace = {.buffer = w->buffers[2]}};
    if (result == WF_SUCCESS)
        result = answer(session, params, w, &bindings, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK && !r->untimed)
        result = measure(session, r, params, w, &bindings, out);
    if (result != WF_SUCCESS || out->status != WFI_STATUS_OK || !r->check_steps)
        return result;
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    const wfi_stencil_run steps = {w->in, w->out, w->bytes, {w->buffers[0], w->buffers[1]}};
    return wfi_stencil_check_steps(session, params, &steps, out);
}

wf_stencil_params wfi_stencil_params(const wfi_stencil_request *r)
{
    return (wf_stencil_params){.size = sizeof(wf_stencil_params),
                               .nx = r->nx,
                               .ny = r->ny,
                               .nz = r->nz,
                               .shape = r->shape,
                               .radius = r->radius,
                               .border = r->border,
                               .steps = r->steps,
                               .type = r->type};
}

void wfi_stencil_name(const wfi_stencil_request *r, char *text, size_t bytes)
{
    static const char *const borders[] = {"dirichlet", "neumann", "periodic"};
    char extents[48];
    if (r->nz)
        snprintf(extents, sizeof extents, "%ux%ux%u", r->nx, r->ny, r->nz);
    else
        snprintf(extents, sizeof extents, "%ux%u", r->nx, r->ny);
    snprintf(text, bytes, "%s %s %u %s, %u step%s", extents,
             r->shape == WF_STENCIL_STAR ? "star" : "box", r->radius, borders[r->border], r->steps,
             r->steps > 1 ? "s" : "");
}

void wfi_stencil_name_case(const wfi_stencil_request *r, wfi_result_case *out)
{
    wfi_result_case_init(out, "stencil");
    wfi_stencil_name(r, out->name, sizeof out->name);
    wfi_result_case_fact(out, "nx", r->nx);
    wfi_result_case_fact(out, "ny", r->ny);
    wfi_result_case_fact(out, "nz", r->nz);
    wfi_result_case_fact(out, "radius", r->radius);
    wfi_result_case_fact(out, "box", r->shape == WF_STENCIL_BOX);
    wfi_result_case_fact(out, "border", r->border);
    wfi_result_case_fact(out, "steps", r->steps);
    out->type = wf_type_name(r->type);
}

wf_result wfi_case_stencil(wfi_session *session, const wfi_stencil_request *request,
                           wfi_result_case *out, void **grid)
{
    const wfi_stencil_request *r = request;
    wfi_stencil_name_case(r, out);
    out->plan.size = sizeof out->plan;
    const double bytes =
        (double)r->nx * r->ny * (r->nz ? r->nz : 1) * (double)wf_type_size(r->type);
    if (!wfi_session_fits(session, out, bytes * (r->steps > 1 ? 3 : 2),
                          bytes * (r->check_steps ? 5 : 3)))
        return WF_ERROR_TOO_LARGE;
    work *w = calloc(1, sizeof *w);
    if (!w) {
        wfi_case_fail(session, out, WF_ERROR_OUT_OF_HOST_MEMORY);
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    w->elements = (uint64_t)r->nx * r->ny * (r->nz ? r->nz : 1);
    w->bytes = w->elements * wf_type_size(r->type);
    wf_stencil_params params = wfi_stencil_params(r);
    params.coefficients = w->coefficients;
    params.tuning = &session->tuning;
    params.cancel = &session->cancel;
    wfi_case_stage(session, out, WFI_STAGE_READ);
    wf_result result = make_input(session, r, w);
    if (result == WF_SUCCESS)
        result = run(session, r, &params, w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    if (grid && out->status == WFI_STATUS_OK) {
        *grid = w->out;
        w->out = NULL;
    }
    free_work(w);
    return result;
}
