#include "tool/cases/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/cases/bench_matrices.h"
#include "tool/cases/case_parts.h"
#include "tool/cli/console.h"
#include "tool/cases/random.h"

#define MEMORY_FRACTION 0.25        /* of what the device has left */
#define CHECKED 20000               /* elements or cells */
#define HIMENO_CHECKED_ITERATIONS 9 /* two passes of 4, the longest, and one more */

typedef enum device_kind { KIND_CPU, KIND_INTEGRATED, KIND_DISCRETE } device_kind;

static device_kind kind_of(const wf_caps *caps)
{
    if (caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU)
        return KIND_CPU;
    return caps->device_type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? KIND_DISCRETE
                                                                     : KIND_INTEGRATED;
}

/* The size for the kind of device, halved until it takes a fair part of memory. */
static uint64_t choose_size(const wfi_session *session, const wfi_load_kind *kind)
{
    uint64_t size = kind->sizes[kind_of(session->caps)];
    while (size > 16 &&
           kind->bytes((double)size) > MEMORY_FRACTION * wfi_session_available(session))
        size /= 2;
    return size;
}

/* Uploads host[i] for the inputs; the result is poisoned with NaN. */
static wf_result make_buffers(wfi_session *session, wfi_load *load, int first_input)
{
    wf_result result = WF_SUCCESS;
    for (int i = first_input; i < 3 && result == WF_SUCCESS; i++) {
        const uint64_t bytes = load->elements[i] * sizeof(float);
        load->host[i] = malloc((size_t)bytes);
        if (!load->host[i])
            return WF_ERROR_OUT_OF_HOST_MEMORY;
        result = wf_buffer_create(session->device, bytes, WF_MEMORY_DEVICE, &load->buffers[i]);
        if (result != WF_SUCCESS)
            break;
        if (i < 2) {
            wfi_random_fill(load->host[i], WF_TYPE_F32, (size_t)load->elements[i],
                            session->common->seed + (uint64_t)i);
            result = wf_buffer_write(load->buffers[i], 0, load->host[i], bytes);
        } else {
            result = wf_buffer_fill(load->buffers[i], 0, bytes, UINT32_MAX);
        }
    }
    return result;
}

static wf_result make_matmul(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const uint64_t n = load->size;
    load->matmul = (wf_matmul_params){
        .size = sizeof load->matmul, .m = n, .n = n, .k = n, .tuning = &session->tuning};
    for (int i = 0; i < 3; i++)
        load->elements[i] = n * n;
    snprintf(out->name, sizeof out->name, "%llux%llux%llu", (unsigned long long)n,
             (unsigned long long)n, (unsigned long long)n);
    wfi_result_case_fact(out, "m", (double)n);
    wfi_result_case_fact(out, "n", (double)n);
    wfi_result_case_fact(out, "k", (double)n);
    wf_result result = wf_matmul_plan(session->device, &load->matmul, &load->plan);
    if (result == WF_SUCCESS)
        result = make_buffers(session, load, 0);
    load->bindings.items[WF_MATMUL_A].buffer = load->buffers[0];
    load->bindings.items[WF_MATMUL_B].buffer = load->buffers[1];
    load->bindings.items[WF_MATMUL_C].buffer = load->buffers[2];
    return result;
}

static wf_result make_spmv(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const wfi_csr *m = &load->matrix;
    if (!wfi_make_poisson27((uint32_t)load->size, &load->matrix))
        return wfi_interrupted() ? WF_ERROR_CANCELLED : WF_ERROR_OUT_OF_HOST_MEMORY;
    load->values = malloc((size_t)m->entries * sizeof *load->values);
    if (!load->values)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint64_t i = 0; i < m->entries; i++)
        load->values[i] = (float)m->values[i];
    load->spmv = (wf_spmv_params){.size = sizeof load->spmv,
                                  .rows = m->rows,
                                  .columns = m->columns,
                                  .row_offsets = m->row_offsets,
                                  .column_indices = m->column_indices,
                                  .values = load->values,
                                  .tuning = &session->tuning};
    load->elements[1] = m->columns;
    load->elements[2] = m->rows;
    snprintf(out->name, sizeof out->name, "poisson27 %llu^3", (unsigned long long)load->size);
    wfi_result_case_fact(out, "rows", m->rows);
    wfi_result_case_fact(out, "columns", m->columns);
    wfi_result_case_fact(out, "entries", (double)m->entries);
    wf_result result = wf_spmv_plan(session->device, &load->spmv, &load->plan);
    if (result == WF_SUCCESS)
        result = make_buffers(session, load, 1);
    load->bindings.items[WF_SPMV_X].buffer = load->buffers[1];
    load->bindings.items[WF_SPMV_Y].buffer = load->buffers[2];
    return result;
}

static wf_result make_himeno(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const uint32_t n = (uint32_t)load->size;
    uint32_t slabs;
    load->himeno_params = (wf_himeno_params){.size = sizeof load->himeno_params,
                                             .ni = 2 * n,
                                             .nj = n,
                                             .nk = n,
                                             .tuning = &session->tuning};
    snprintf(out->name, sizeof out->name, "himeno %ux%ux%u", 2 * n, n, n);
    wfi_result_case_fact(out, "ni", 2.0 * n);
    wfi_result_case_fact(out, "nj", n);
    wfi_result_case_fact(out, "nk", n);
    wf_result result = wf_himeno_create(session->device, &load->himeno_params, &load->himeno);
    if (result == WF_SUCCESS)
        result = wf_himeno_describe(load->himeno, &out->plan, &slabs);
    return result == WF_SUCCESS ? wf_himeno_start(load->himeno) : result;
}

wf_result wfi_load_make(wfi_session *session, wf_family family, const wfi_load_kind *kind,
                        wfi_load *load, wfi_result_case *out)
{
    *load = (wfi_load){.kind = kind, .bindings = {.size = sizeof(wf_bindings)}};
    wfi_result_case_init(out, wf_family_name(family));
    out->type = wf_type_name(WF_TYPE_F32);
    out->plan.size = sizeof out->plan;
    load->size = choose_size(session, kind);
    wf_result result = kind->make(session, load, out);
    if (result == WF_SUCCESS && load->plan)
        result = wf_plan_describe(load->plan, &out->plan);
    load->flops = out->plan.flops;
    out->has_plan = result == WF_SUCCESS;
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    return result;
}

wf_result wfi_load_run(wfi_load *load, uint32_t count, double *seconds, bool *gpu_clock)
{
    float gosa;
    return load->himeno ? wf_himeno_run(load->himeno, count, &gosa, seconds, gpu_clock)
                        : wf_plan_run_times(load->plan, &load->bindings, count, seconds, gpu_clock);
}

/* Thousands of iterations cannot be followed in f64; a few from the start, on the device as hot as
 * it is now, can. */
static wf_result check_himeno(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const wf_himeno_params *p = &load->himeno_params;
    float gosa = 0;
    double seconds, gosa_error;
    bool gpu_clock;
    load->host[2] = malloc((size_t)p->ni * p->nj * p->nk * sizeof(float));
    if (!load->host[2])
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wf_result result = wf_himeno_start(load->himeno);
    if (result == WF_SUCCESS)
        result =
            wf_himeno_run(load->himeno, HIMENO_CHECKED_ITERATIONS, &gosa, &seconds, &gpu_clock);
    if (result == WF_SUCCESS)
        result = wf_himeno_read(load->himeno, load->host[2]);
    if (result == WF_SUCCESS)
        result = wf_himeno_check(p, NULL, HIMENO_CHECKED_ITERATIONS, load->host[2], gosa, CHECKED,
                                 session->common->seed, &out->check, &gosa_error);
    if (result == WF_SUCCESS && !(gosa_error <= out->check.error_over_bound))
        out->check.error_over_bound = gosa_error;
    return result;
}

/* What the last execution left in the result's buffer. */
static wf_result read_result(wfi_load *load)
{
    return wf_buffer_read(load->buffers[2], 0, load->host[2], load->elements[2] * sizeof(float));
}

static wf_result check_matmul(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const wf_matmul_inputs inputs = {.size = sizeof inputs, .a = load->host[0], .b = load->host[1]};
    const wf_result result = read_result(load);
    return result == WF_SUCCESS ? wf_matmul_check(&load->matmul, &inputs, load->host[2], CHECKED,
                                                  session->common->seed, &out->check)
                                : result;
}

static wf_result check_spmv(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const wf_result result = read_result(load);
    (void)session;
    return result == WF_SUCCESS
               ? wf_spmv_check(&load->spmv, load->host[1], load->host[2], &out->check)
               : result;
}

wf_result wfi_load_check(wfi_session *session, wfi_load *load, wfi_result_case *out)
{
    const wf_result result = load->kind->check(session, load, out);
    if (result == WF_SUCCESS)
        wfi_case_checked(out, "element", out->check.worst);
    else
        wfi_case_fail(session, out, result);
    return result;
}

static double bytes_matmul(double n)
{
    return 3 * n * n * 4;
}

static double bytes_spmv(double n)
{
    return n * n * n * 27 * 8;
}

static double bytes_himeno(double n)
{
    return 2 * n * n * n * 4 * 15;
}

const wfi_load_kind wfi_load_of_matmul = {
    {256, 1024, 4096}, bytes_matmul, make_matmul, check_matmul};
const wfi_load_kind wfi_load_of_spmv = {{32, 64, 128}, bytes_spmv, make_spmv, check_spmv};
const wfi_load_kind wfi_load_of_himeno = {{32, 128, 256}, bytes_himeno, make_himeno, check_himeno};

void wfi_load_free(wfi_load *load)
{
    wf_plan_destroy(&load->plan);
    wf_himeno_destroy(&load->himeno);
    for (int i = 0; i < 3; i++) {
        wf_buffer_destroy(&load->buffers[i]);
        free(load->host[i]);
    }
    free(load->values);
    wfi_csr_free(&load->matrix);
}
