#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/cases.h"
#include "tool/random.h"

typedef struct work {
    float *values32; /* the matrix's values, rounded, for f32 */
    void *random_x, *y;
    const void *x;
    wf_buffer *device_x, *device_y;
    wf_plan *plan;
} work;

static void free_work(work *w)
{
    wf_plan_destroy(&w->plan);
    wf_buffer_destroy(&w->device_x);
    wf_buffer_destroy(&w->device_y);
    free(w->values32);
    free(w->random_x);
    free(w->y);
}

/* Values of the run's type; a value that f32 cannot hold is the case's failure. */
static const void *values_of(const wfi_spmv_request *r, work *w, wfi_result_case *out)
{
    const wfi_csr *m = r->matrix;
    if (r->type == WF_TYPE_F64)
        return m->values;
    w->values32 = malloc((m->entries + (size_t)1) * sizeof(float));
    for (uint32_t i = 0; w->values32 && i < m->entries; i++) {
        w->values32[i] = (float)m->values[i];
        if (isinf(w->values32[i])) {
            wfi_case_fail_text(out, WFI_STATUS_FAILED,
                               "%s: the value %g is too large for f32 (use --type f64)", r->name,
                               m->values[i]);
            return NULL;
        }
    }
    return w->values32;
}

static wf_result make_vectors(wfi_session *session, const wfi_spmv_request *r, work *w)
{
    const uint64_t size = wf_type_size(r->type), rows = r->matrix->rows,
                   columns = r->matrix->columns;
    if (!r->x) {
        w->random_x = malloc((size_t)(columns * size));
        if (w->random_x)
            wfi_random_fill(w->random_x, r->type, (size_t)columns, session->common->seed);
    }
    w->x = r->x ? r->x : w->random_x;
    w->y = malloc((size_t)(rows * size));
    if (!w->x || !w->y)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    wf_result result =
        wf_buffer_create(session->device, columns * size, WF_MEMORY_DEVICE, &w->device_x);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(session->device, rows * size, WF_MEMORY_DEVICE, &w->device_y);
    if (result == WF_SUCCESS)
        result = wf_buffer_write(w->device_x, 0, w->x, columns * size);
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(w->device_y, 0, wf_buffer_size(w->device_y), UINT32_MAX);
    return result;
}

static wf_result verify(const wf_spmv_params *params, const wfi_spmv_request *r, work *w,
                        const wf_bindings *bindings, wfi_result_case *out)
{
    wf_result result = wf_plan_run(w->plan, bindings);
    if (result == WF_SUCCESS)
        result =
            wf_buffer_read(w->device_y, 0, w->y, params->rows * (uint64_t)wf_type_size(r->type));
    if (result == WF_SUCCESS)
        result = wf_spmv_check(params, w->x, w->y, &out->check);
    out->has_check = result == WF_SUCCESS;
    if (out->has_check && !(out->check.error_over_bound <= 1))
        wfi_case_fail_text(out, WFI_STATUS_FAILED,
                           "spmv %s: row %llu is %.3g times its error bound off", out->name,
                           (unsigned long long)out->check.worst + 1, out->check.error_over_bound);
    return result;
}

static wf_result measure(wfi_session *session, const wfi_spmv_request *r, work *w,
                         const wf_bindings *bindings, wfi_result_case *out)
{
    const wf_measure_params params = {.size = sizeof params,
                                      .repeat = session->common->repeat,
                                      .budget_seconds = r->budget_seconds};
    wf_result result = wf_plan_measure(w->plan, bindings, &params, &out->timing);
    if (result != WF_SUCCESS)
        return result;
    out->has_timing = true;
    out->rate = out->plan.flops / out->timing.median_us * 1e-3;
    out->rate_unit = "GFLOPS";
    out->gbs = out->plan.least_bytes / out->timing.median_us * 1e-3;
    out->percent = out->gbs * 1e9 / wfi_session_copy_bandwidth(session) * 100;
    out->percent_of = "measured copy bandwidth";
    return WF_SUCCESS;
}

static void name_case(const wfi_spmv_request *r, wfi_result_case *out)
{
    const wfi_csr *m = r->matrix;
    wfi_result_case_init(out, "spmv");
    snprintf(out->name, sizeof out->name, "%s", r->name);
    wfi_result_case_fact(out, "rows", m->rows);
    wfi_result_case_fact(out, "columns", m->columns);
    wfi_result_case_fact(out, "entries", m->entries);
    out->type = wf_type_name(r->type);
    out->plan.size = sizeof out->plan;
}

static wf_result run(wfi_session *session, const wfi_spmv_request *r, wf_spmv_params *params,
                     work *w, wfi_result_case *out)
{
    wf_result result = wf_spmv_plan(session->device, params, &w->plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w->plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    if (result == WF_SUCCESS)
        result = make_vectors(session, r, w);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = w->device_x}, [WF_SPMV_Y] = {.buffer = w->device_y}}};
    if (result == WF_SUCCESS)
        result = verify(params, r, w, &bindings, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK)
        result = measure(session, r, w, &bindings, out);
    return result;
}

wf_result wfi_case_spmv(wfi_session *session, const wfi_spmv_request *request, wfi_result_case *out,
                        void **y)
{
    const wfi_csr *m = request->matrix;
    const double size = (double)wf_type_size(request->type);
    work w = {0};
    name_case(request, out);
    const double vectors = ((double)m->rows + m->columns) * size;
    if (!wfi_session_fits(session, out, (double)m->entries * (4 + size) + 4.0 * m->rows + vectors,
                          vectors))
        return WF_ERROR_TOO_LARGE;
    wf_spmv_params params = {.size = sizeof params,
                             .rows = m->rows,
                             .columns = m->columns,
                             .row_offsets = m->row_offsets,
                             .column_indices = m->column_indices,
                             .type = request->type,
                             .tuning = &session->tuning};
    params.values = values_of(request, &w, out);
    wf_result result = params.values ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (out->status != WFI_STATUS_OK) {
        free_work(&w);
        return WF_SUCCESS; /* the case has said why */
    }
    if (result == WF_SUCCESS)
        result = run(session, request, &params, &w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    if (y && out->status == WFI_STATUS_OK) {
        *y = w.y;
        w.y = NULL;
    }
    free_work(&w);
    return result;
}
