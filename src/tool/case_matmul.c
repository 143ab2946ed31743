#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/case_parts.h"
#include "tool/cases.h"
#include "tool/random.h"

#define CHECK_OPERATIONS 5e7 /* multiply-adds that checking may cost on the host */

typedef struct work {
    wf_matmul_params params;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    void *made[WF_MATMUL_BINDINGS];       /* random operands */
    const void *host[WF_MATMUL_BINDINGS]; /* what the device gets; C: before */
    void *product;                        /* C: after */
    wf_buffer *buffers[WF_MATMUL_BINDINGS];
    wf_plan *plan;
} work;

static void free_work(work *w)
{
    wf_plan_destroy(&w->plan);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        wf_buffer_destroy(&w->buffers[i]);
        free(w->made[i]);
    }
    free(w->product);
}

/* The type of what a binding holds; C and bias of i8 are whole numbers, which fill_whole makes. */
static wf_type binding_type(const wf_matmul_params *p, int binding)
{
    const bool sums =
        binding == WF_MATMUL_BIAS || (binding == WF_MATMUL_C && p->output == WF_MATMUL_OUTPUT_SUMS);
    return sums && p->type != WF_TYPE_F64 ? WF_TYPE_F32 : p->type;
}

static void fill(const wf_matmul_params *p, int binding, uint64_t bytes, uint64_t seed, void *data)
{
    if (p->type == WF_TYPE_I8 && binding >= WF_MATMUL_C) {
        for (uint64_t i = 0; i < bytes / 4; i++)
            ((int32_t *)data)[i] = (int32_t)(wfi_random_bits(&seed) % 2001) - 1000;
        return;
    }
    const wf_type type = binding_type(p, binding);
    wfi_random_fill(data, type, (size_t)(bytes / wf_type_size(type)), seed);
}

static wf_result make_inputs(const wfi_session *session, const wfi_matmul_request *r, work *w)
{
    const void *const given[] = {r->a, r->b, r->c, r->bias};
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++) {
        const bool read = i != WF_MATMUL_C || w->params.beta != 0;
        w->host[i] = given[i];
        if (w->bytes[i] == 0 || !read || given[i])
            continue;
        w->made[i] = malloc((size_t)w->bytes[i]);
        if (!w->made[i])
            return WF_ERROR_OUT_OF_HOST_MEMORY;
        fill(&w->params, i, w->bytes[i], session->common->seed + (uint64_t)i, w->made[i]);
        w->host[i] = w->made[i];
    }
    w->product = malloc((size_t)w->bytes[WF_MATMUL_C]);
    return w->product ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
}

static wf_result upload(wf_device *device, work *w)
{
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++) {
        if (w->bytes[i] == 0)
            continue;
        const uint64_t room = (w->bytes[i] + 3) / 4 * 4;
        result = wf_buffer_create(device, room, WF_MEMORY_DEVICE, &w->buffers[i]);
        /* NaN everywhere: an element that is not written shows. */
        if (result == WF_SUCCESS)
            result = wf_buffer_fill(w->buffers[i], 0, room, UINT32_MAX);
        if (result == WF_SUCCESS && w->host[i])
            result = wf_buffer_write(w->buffers[i], 0, w->host[i], w->bytes[i]);
    }
    return result;
}

static wf_bindings bindings_of(const work *w)
{
    wf_bindings bindings = {.size = sizeof bindings};
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        bindings.items[i].buffer = w->buffers[i];
    return bindings;
}

/* Runs once and compares; a product that is wrong is not timed. */
static wf_result verify(const wfi_session *session, work *w, wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = w->host[WF_MATMUL_A],
                                     .b = w->host[WF_MATMUL_B],
                                     .bias = w->host[WF_MATMUL_BIAS],
                                     .c = w->host[WF_MATMUL_C]};
    const double affordable = CHECK_OPERATIONS / ((double)w->params.k + 1);
    wf_result result = wf_plan_run(w->plan, &bindings);
    if (result == WF_SUCCESS)
        result = wf_buffer_read(w->buffers[WF_MATMUL_C], 0, w->product, w->bytes[WF_MATMUL_C]);
    if (result == WF_SUCCESS)
        result = wf_matmul_check(&w->params, &inputs, w->product,
                                 affordable < 64 ? 64 : (uint64_t)affordable, session->common->seed,
                                 &out->check);
    if (result == WF_SUCCESS)
        wfi_case_checked(out, "element", out->check.worst);
    return result;
}

static wf_result measure(wfi_session *session, const wfi_matmul_request *r, work *w,
                         wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    wf_result result = wfi_case_time(session, w->plan, &bindings, r->budget_seconds, out);
    if (result != WF_SUCCESS)
        return result;
    const bool narrow = r->type != WF_TYPE_F32 && r->type != WF_TYPE_F64;
    if (r->type == WF_TYPE_I8)
        out->rate_unit = "GOPS";
    /* Narrow types are no common yardstick: what a device does with them differs by instruction. */
    out->percent =
        narrow ? (double)NAN : out->rate * 1e9 / wfi_session_fma_rate(session, r->type) * 100;
    out->percent_of = "measured multiply-add rate";
    return WF_SUCCESS;
}

static void describe(const wf_matmul_params *p, wfi_result_case *out)
{
    snprintf(out->name, sizeof out->name, "%llux%llux%llu", (unsigned long long)p->m,
             (unsigned long long)p->n, (unsigned long long)p->k);
    wfi_result_case_fact(out, "m", (double)p->m);
    wfi_result_case_fact(out, "n", (double)p->n);
    wfi_result_case_fact(out, "k", (double)p->k);
    if (p->batch > 1)
        wfi_result_case_fact(out, "batch", (double)p->batch);
    if (p->transpose_a)
        wfi_result_case_fact(out, "transpose_a", 1);
    if (p->transpose_b)
        wfi_result_case_fact(out, "transpose_b", 1);
    out->type = wf_type_name(p->type);
    out->plan.size = sizeof out->plan;
}

wf_result wfi_case_matmul(wfi_session *session, const wfi_matmul_request *request,
                          wfi_result_case *out, void **product)
{
    const wfi_matmul_request *r = request;
    work w = {.params = r->more};
    w.params.size = sizeof w.params;
    w.params.m = r->m;
    w.params.n = r->n;
    w.params.k = r->k;
    w.params.type = r->type;
    w.params.tuning = &session->tuning;
    w.params.cancel = &session->cancel;
    wfi_result_case_init(out, "matmul");
    describe(&w.params, out);
    /* Planned first where the parameters are wrong, since the device's log then says how. */
    wf_result result = wf_matmul_bytes(&w.params, w.bytes);
    double bytes = 0;
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        bytes += result == WF_SUCCESS ? (double)w.bytes[i] : 0;
    if (!wfi_session_fits(session, out, bytes, bytes))
        return WF_ERROR_TOO_LARGE;
    wfi_case_stage(session, out, 1, 3, "planning");
    result = wf_matmul_plan(session->device, &w.params, &w.plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w.plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = make_inputs(session, r, &w);
    if (result == WF_SUCCESS)
        result = upload(session->device, &w);
    wfi_case_stage(session, out, 2, 3, "verifying");
    if (result == WF_SUCCESS)
        result = verify(session, &w, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK)
        result = measure(session, r, &w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    if (product && out->status == WFI_STATUS_OK) {
        *product = w.product;
        w.product = NULL;
    }
    free_work(&w);
    return result;
}
