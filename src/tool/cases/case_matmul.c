#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/element.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/cases.h"
#include "tool/cases/random.h"
#include "tool/cases/vectors.h"

#define CHECK_OPERATIONS 1e7 /* multiply-adds that elements drawn may cost on the host */

typedef struct work {
    wf_matmul_params params;
    uint64_t bytes[WF_MATMUL_BINDINGS];
    void *made[WF_MATMUL_BINDINGS];       /* random operands */
    const void *host[WF_MATMUL_BINDINGS]; /* what the device gets; C: before */
    void *product;                        /* C: after */
    void *linear;                         /* C: after the same without the activation */
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
    free(w->linear);
}

/* The type of what a binding holds; C and bias of integers are of 32 bits. */
static wf_type binding_type(const wf_matmul_params *p, int binding)
{
    const bool sums =
        binding == WF_MATMUL_BIAS || (binding == WF_MATMUL_C && p->output == WF_MATMUL_OUTPUT_SUMS);
    return sums ? wfi_element_of(p->type)->real : p->type;
}

static bool is_whole(const wf_matmul_params *p, int binding)
{
    return wfi_element_of(p->type)->whole && binding >= WF_MATMUL_C;
}

static void fill(const wf_matmul_params *p, int binding, uint64_t bytes, uint64_t seed, void *data)
{
    if (is_whole(p, binding)) {
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
    w->product = wfi_answer_memory((size_t)w->bytes[WF_MATMUL_C]);
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

/* C as it was before, and NaN where it is not read: an element that is not written shows. */
static wf_result reset(work *w, const void *before)
{
    wf_buffer *c = w->buffers[WF_MATMUL_C];
    if (before && w->bytes[WF_MATMUL_C])
        return wf_buffer_write(c, 0, before, w->bytes[WF_MATMUL_C]);
    return w->bytes[WF_MATMUL_C] ? wf_buffer_fill(c, 0, wf_buffer_size(c), UINT32_MAX) : WF_SUCCESS;
}

static wf_result read_product(const work *w, void *product)
{
    return w->bytes[WF_MATMUL_C]
               ? wf_buffer_read(w->buffers[WF_MATMUL_C], 0, product, w->bytes[WF_MATMUL_C])
               : WF_SUCCESS;
}

static wf_result run_into(const work *w, wf_plan *plan, void *product)
{
    const wf_bindings bindings = bindings_of(w);
    const wf_result result = wf_plan_run(plan, &bindings);
    return result == WF_SUCCESS ? read_product(w, product) : result;
}

/* The same product without its activation, which the check can sum up. */
static wf_result run_linear(const wfi_session *session, work *w, const void *before)
{
    wf_matmul_params params = w->params;
    wf_plan *plan = NULL;
    params.activation = WF_ACTIVATION_NONE;
    if (!w->linear)
        w->linear = malloc((size_t)w->bytes[WF_MATMUL_C] + 1);
    if (!w->linear)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wf_result result = wf_matmul_plan(session->device, &params, &plan);
    if (result == WF_SUCCESS)
        result = reset(w, before);
    if (result == WF_SUCCESS)
        result = run_into(w, plan, w->linear);
    wf_plan_destroy(&plan);
    return result == WF_SUCCESS ? reset(w, before) : result;
}

/* Compares what these operands, which the device has, gave. */
static wf_result compare(const wfi_session *session, work *w, const void *const *host,
                         const void *product, wf_check *check)
{
    wf_result result = WF_SUCCESS;
    if (w->params.activation != WF_ACTIVATION_NONE)
        result = run_linear(session, w, host[WF_MATMUL_C]);
    const wf_matmul_inputs inputs = {.size = sizeof inputs,
                                     .a = host[WF_MATMUL_A],
                                     .b = host[WF_MATMUL_B],
                                     .bias = host[WF_MATMUL_BIAS],
                                     .c = host[WF_MATMUL_C],
                                     .linear = w->linear};
    const double affordable = CHECK_OPERATIONS / ((double)w->params.k + 1);
    return result == WF_SUCCESS ? wf_matmul_check(&w->params, &inputs, product,
                                                  affordable < 64 ? 64 : (uint64_t)affordable,
                                                  session->common->seed, check)
                                : result;
}

static wf_result load(work *w, const void *const *host)
{
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++)
        if (w->bytes[i] && i != WF_MATMUL_C)
            result = wf_buffer_write(w->buffers[i], 0, host[i], w->bytes[i]);
    return result == WF_SUCCESS ? reset(w, host[WF_MATMUL_C]) : result;
}

/* 1 and -1, in the operand's type. */
static void fill_signs(const wf_matmul_params *p, int binding, uint64_t bytes, uint64_t seed,
                       void *data)
{
    const wf_type type = binding_type(p, binding);
    if (!is_whole(p, binding))
        wfi_random_signs(data, type, (size_t)(bytes / wf_type_size(type)), seed);
    for (uint64_t i = 0; is_whole(p, binding) && i < bytes / sizeof(int32_t); i++)
        ((int32_t *)data)[i] = wfi_random_bits(&seed) & 1 ? 1 : -1;
}

/* The same plan once more, on operands of 1 and -1: their sums do not round, so that a single term
 * too few in any element shows, which the bound of long sums would let through. */
static wf_result check_signs(const wfi_session *session, work *w, wf_check *check)
{
    void *signs[WF_MATMUL_BINDINGS] = {NULL};
    const void *host[WF_MATMUL_BINDINGS] = {NULL};
    void *product = malloc((size_t)w->bytes[WF_MATMUL_C] + 1);
    wf_result result = product ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < WF_MATMUL_BINDINGS && result == WF_SUCCESS; i++) {
        if (!w->host[i])
            continue;
        host[i] = signs[i] = malloc((size_t)w->bytes[i] + 1);
        if (!signs[i])
            result = WF_ERROR_OUT_OF_HOST_MEMORY;
        else
            fill_signs(&w->params, i, w->bytes[i], session->common->seed + 16 + (uint64_t)i,
                       signs[i]);
    }
    if (result == WF_SUCCESS)
        result = load(w, host);
    if (result == WF_SUCCESS)
        result = run_into(w, w->plan, product);
    if (result == WF_SUCCESS)
        result = compare(session, w, host, product, check);
    for (int i = 0; i < WF_MATMUL_BINDINGS; i++)
        free(signs[i]);
    free(product);
    return result;
}

/* The answer first, and then its check; a product that is wrong is not timed. */
static wf_result answer(const wfi_session *session, work *w, wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    wf_check exact = {0};
    wfi_case_stage(session, out, WFI_STAGE_RUN);
    wf_result result = wf_plan_run(w->plan, &bindings);
    wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
    if (result == WF_SUCCESS)
        result = read_product(w, w->product);
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    if (result == WF_SUCCESS)
        result = compare(session, w, w->host, w->product, &out->check);
    if (result == WF_SUCCESS)
        result = check_signs(session, w, &exact);
    if (result != WF_SUCCESS)
        return result;
    if (!(exact.error_over_bound <= 1)) {
        out->check.error_over_bound = exact.error_over_bound;
        out->check.worst = exact.worst;
    }
    out->checked_how = "the same product of operands of 1 and -1";
    wfi_case_checked(out, "element", out->check.worst);
    return WF_SUCCESS;
}

/* What the timed runs left is compared as the answer was; where C is added to, or kernels were
 * timed one by one, what one more run gives. Nearly always it is the answer, bit for bit. */
static wf_result check_timed(const wfi_session *session, work *w, wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    const size_t bytes = (size_t)w->bytes[WF_MATMUL_C];
    wf_check check = {0};
    void *left = malloc(bytes + 1);
    wf_result result = left ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS && (w->params.beta != 0 || session->kernels)) {
        result = load(w, w->host);
        if (result == WF_SUCCESS)
            result = wf_plan_run(w->plan, &bindings);
    }
    if (result == WF_SUCCESS)
        result = read_product(w, left);
    if (result == WF_SUCCESS && memcmp(left, w->product, bytes) != 0) {
        result = compare(session, w, w->host, left, &check);
        if (result == WF_SUCCESS)
            wfi_case_checked_timed(out, &check, "element", check.worst);
    }
    free(left);
    return result;
}

static wf_result measure(wfi_session *session, const wfi_matmul_request *r, work *w,
                         wfi_result_case *out)
{
    const wf_bindings bindings = bindings_of(w);
    wf_result result = load(w, w->host); /* the check left others */
    if (result == WF_SUCCESS)
        result = wfi_case_time(session, w->plan, &bindings, r->budget_seconds, out);
    if (result == WF_SUCCESS)
        result = check_timed(session, w, out);
    if (result != WF_SUCCESS)
        return result;
    const bool narrow = r->type != WF_TYPE_F32 && r->type != WF_TYPE_F64;
    if (wfi_element_of(r->type)->whole)
        out->rate_unit = "GOPS";
    /* Narrow types are no common yardstick: what a device does with them differs by instruction. */
    out->percent =
        narrow ? (double)NAN : out->rate * 1e9 / wfi_session_fma_rate(session, r->type) * 100;
    out->percent_of = "measured multiply-add rate";
    return WF_SUCCESS;
}

void wfi_matmul_facts(const wf_matmul_params *p, wfi_result_case *out)
{
    if (p->batch > 1)
        wfi_result_case_fact(out, "batch", (double)p->batch);
    if (p->transpose_a)
        wfi_result_case_fact(out, "transpose_a", 1);
    if (p->transpose_b)
        wfi_result_case_fact(out, "transpose_b", 1);
}

static void describe(const wf_matmul_params *p, wfi_result_case *out)
{
    snprintf(out->name, sizeof out->name, "%llux%llux%llu", (unsigned long long)p->m,
             (unsigned long long)p->n, (unsigned long long)p->k);
    wfi_result_case_fact(out, "m", (double)p->m);
    wfi_result_case_fact(out, "n", (double)p->n);
    wfi_result_case_fact(out, "k", (double)p->k);
    wfi_matmul_facts(p, out);
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
    wfi_case_stage(session, out, WFI_STAGE_ANALYSIS);
    result = wf_matmul_plan(session->device, &w.params, &w.plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w.plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    wfi_case_stage(session, out, WFI_STAGE_READ);
    if (result == WF_SUCCESS)
        result = make_inputs(session, r, &w);
    wfi_case_stage(session, out, WFI_STAGE_UPLOAD);
    if (result == WF_SUCCESS)
        result = upload(session->device, &w);
    if (result == WF_SUCCESS)
        result = answer(session, &w, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK && !r->untimed)
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
