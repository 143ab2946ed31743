#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/cases.h"
#include "tool/random.h"

#define CHECK_OPERATIONS 5e7 /* multiply-adds that checking may cost on the host */

typedef struct work {
    void *a, *b, *c; /* host; a and b only where they are random */
    const void *host_a, *host_b;
    wf_buffer *device_a, *device_b, *device_c;
    wf_plan *plan;
} work;

static void free_work(work *w)
{
    wf_plan_destroy(&w->plan);
    wf_buffer_destroy(&w->device_a);
    wf_buffer_destroy(&w->device_b);
    wf_buffer_destroy(&w->device_c);
    free(w->a);
    free(w->b);
    free(w->c);
}

static wf_result make_inputs(const wfi_session *session, const wfi_matmul_request *r, work *w)
{
    const size_t size = wf_type_size(r->type);
    w->c = malloc((size_t)(r->m * r->n) * size);
    if (!r->a)
        w->a = malloc((size_t)(r->m * r->k) * size);
    if (!r->b)
        w->b = malloc((size_t)(r->k * r->n) * size);
    w->host_a = r->a ? r->a : w->a;
    w->host_b = r->b ? r->b : w->b;
    if (!w->c || !w->host_a || !w->host_b)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    if (w->a)
        wfi_random_fill(w->a, r->type, (size_t)(r->m * r->k), session->common->seed);
    if (w->b)
        wfi_random_fill(w->b, r->type, (size_t)(r->k * r->n), session->common->seed + 1);
    return WF_SUCCESS;
}

static wf_result upload(wf_device *device, const wfi_matmul_request *r, work *w)
{
    const uint64_t size = wf_type_size(r->type);
    wf_result result = wf_buffer_create(device, r->m * r->k * size, WF_MEMORY_DEVICE, &w->device_a);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, r->k * r->n * size, WF_MEMORY_DEVICE, &w->device_b);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, r->m * r->n * size, WF_MEMORY_DEVICE, &w->device_c);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(w->device_a, 0, w->host_a, r->m * r->k * size);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(w->device_b, 0, w->host_b, r->k * r->n * size);
    /* NaN everywhere: an element that is not written shows. */
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(w->device_c, 0, wf_buffer_size(w->device_c), UINT32_MAX);
    return result;
}

static wf_bindings bindings_of(const work *w)
{
    return (wf_bindings){.size = sizeof(wf_bindings),
                         .items = {[WF_MATMUL_A] = {.buffer = w->device_a},
                                   [WF_MATMUL_B] = {.buffer = w->device_b},
                                   [WF_MATMUL_C] = {.buffer = w->device_c}}};
}

/* Runs once and compares; a product that is wrong is not timed. */
static wf_result verify(const wfi_session *session, const wf_matmul_params *params,
                        const wfi_matmul_request *r, work *w, wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = w->host_a, .b = w->host_b};
    const double affordable = CHECK_OPERATIONS / (double)r->k;
    wf_result result = wf_plan_run(w->plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(w->device_c, 0, w->c, r->m * r->n * wf_type_size(r->type));
    if (result == WF_SUCCESS)
        result = wf_matmul_check(params, &inputs, w->c, affordable < 64 ? 64 : (uint64_t)affordable,
                                 session->common->seed, &out->check);
    out->has_check = result == WF_SUCCESS;
    if (out->has_check && !(out->check.error_over_bound <= 1))
        wfi_case_fail_text(out, WFI_STATUS_FAILED,
                           "matmul %s: element %llu is %.3g times its error bound off", out->name,
                           (unsigned long long)out->check.worst, out->check.error_over_bound);
    return result;
}

static wf_result measure(wfi_session *session, const wfi_matmul_request *r, work *w,
                         wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    const wf_measure_params params = {.size = sizeof params,
                                      .repeat = session->common->repeat,
                                      .budget_seconds = r->budget_seconds};
    wf_result result = wf_plan_measure(w->plan, &bindings, &params, &out->timing);
    if (result != WF_SUCCESS)
        return result;
    out->has_timing = true;
    out->rate = out->plan.flops / out->timing.median_us * 1e-3;
    out->rate_unit = "GFLOPS";
    out->percent = out->rate * 1e9 / wfi_session_fma_rate(session, r->type) * 100;
    out->percent_of = "measured multiply-add rate";
    return WF_SUCCESS;
}

wf_result wfi_case_matmul(wfi_session *session, const wfi_matmul_request *request,
                          wfi_result_case *out, void **product)
{
    const wfi_matmul_request *r = request;
    work w = {0};
    const wf_matmul_params params = {.size = sizeof params,
                                     .m = r->m,
                                     .n = r->n,
                                     .k = r->k,
                                     .type = r->type,
                                     .tuning = &session->tuning};
    wfi_result_case_init(out, "matmul");
    snprintf(out->name, sizeof out->name, "%llux%llux%llu", (unsigned long long)r->m,
             (unsigned long long)r->n, (unsigned long long)r->k);
    wfi_result_case_fact(out, "m", (double)r->m);
    wfi_result_case_fact(out, "n", (double)r->n);
    wfi_result_case_fact(out, "k", (double)r->k);
    out->type = wf_type_name(r->type);
    out->plan.size = sizeof out->plan;
    const double m = (double)r->m, n = (double)r->n, k = (double)r->k;
    const double bytes = (m * k + k * n + m * n) * (double)wf_type_size(r->type);
    if (!wfi_session_fits(session, out, bytes, bytes))
        return WF_ERROR_TOO_LARGE;
    wf_result result = wf_matmul_plan(session->device, &params, &w.plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w.plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = make_inputs(session, r, &w);
    if (result == WF_SUCCESS)
        result = upload(session->device, r, &w);
    if (result == WF_SUCCESS)
        result = verify(session, &params, r, &w, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK)
        result = measure(session, r, &w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    if (product && out->status == WFI_STATUS_OK) {
        *product = w.c;
        w.c = NULL;
    }
    free_work(&w);
    return result;
}
