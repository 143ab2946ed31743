#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/case_parts.h"
#include "tool/cases/cases.h"
#include "tool/commands/explain_spmv.h"
#include "tool/cases/random.h"
#include "tool/cases/vectors.h"

typedef struct work {
    void *values; /* the matrix's values, rounded, for f32 and f16 */
    wf_type real; /* of x and y */
    size_t x_elements, y_elements;
    void *random_x, *random_y, *y;
    const void *x, *before; /* before: y before the product, where beta is not 0 */
    wf_buffer *device_x, *device_y;
    wf_plan *plan;
} work;

static void free_work(work *w)
{
    wf_plan_destroy(&w->plan);
    wf_buffer_destroy(&w->device_x);
    wf_buffer_destroy(&w->device_y);
    free(w->values);
    free(w->random_y);
    free(w->random_x);
    free(w->y);
}

static wf_result make_vectors(wfi_session *session, const wfi_spmv_request *r, work *w)
{
    const uint64_t size = wf_type_size(w->real);
    if (!r->x) {
        w->random_x = malloc((size_t)(w->x_elements * size) + 1);
        if (w->random_x)
            wfi_random_fill(w->random_x, w->real, w->x_elements, session->common->seed);
    }
    w->x = r->x ? r->x : w->random_x;
    w->y = wfi_answer_memory((size_t)(w->y_elements * size));
    if (!w->x || !w->y)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    if (r->beta <= 0 && r->beta >= 0)
        return WF_SUCCESS;
    w->random_y = r->y ? NULL : malloc((size_t)(w->y_elements * size) + 1);
    w->before = r->y ? r->y : w->random_y;
    if (!w->before)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    if (w->random_y)
        wfi_random_fill(w->random_y, w->real, w->y_elements, session->common->seed + 1);
    return WF_SUCCESS;
}

/* What has no elements has no buffer. */
static wf_result upload(wf_device *device, work *w)
{
    const uint64_t size = wf_type_size(w->real);
    const uint64_t x_bytes = w->x_elements * size, y_bytes = w->y_elements * size;
    wf_result result = WF_SUCCESS;
    if (x_bytes)
        result = wf_buffer_create(device, x_bytes, WF_MEMORY_DEVICE, &w->device_x);
    if (result == WF_SUCCESS && x_bytes)
        result = wf_buffer_write(w->device_x, 0, w->x, x_bytes);
    if (result != WF_SUCCESS || !y_bytes)
        return result;
    result = wf_buffer_create(device, y_bytes, WF_MEMORY_DEVICE, &w->device_y);
    if (result == WF_SUCCESS && w->before)
        return wf_buffer_write(w->device_y, 0, w->before, y_bytes);
    /* NaN everywhere: an element that is not written shows. */
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(w->device_y, 0, wf_buffer_size(w->device_y), UINT32_MAX);
    return result;
}

static wf_result answer(const wfi_session *session, const wf_spmv_params *params, work *w,
                        const wf_bindings *bindings, wfi_result_case *out)
{
    wfi_case_stage(session, out, WFI_STAGE_RUN);
    wf_result result = wf_plan_run(w->plan, bindings);
    wfi_case_stage(session, out, WFI_STAGE_DOWNLOAD);
    if (result == WF_SUCCESS && w->y_elements)
        result =
            wf_buffer_read(w->device_y, 0, w->y, w->y_elements * (uint64_t)wf_type_size(w->real));
    wfi_case_stage(session, out, WFI_STAGE_CHECK);
    if (result == WF_SUCCESS)
        result = wf_spmv_check_scaled(params, w->x, w->before, w->y, &out->check);
    if (result == WF_SUCCESS) /* rows are counted from 1, as in Matrix Market files */
        wfi_case_checked(out, "element", out->check.worst + 1);
    return result;
}

/* y as it was before, or NaN: what the timed runs do not write shows. */
static wf_result reset(const work *w)
{
    const uint64_t bytes = w->y_elements * (uint64_t)wf_type_size(w->real);
    return w->before ? wf_buffer_write(w->device_y, 0, w->before, bytes)
                     : wf_buffer_fill(w->device_y, 0, wf_buffer_size(w->device_y), UINT32_MAX);
}

/* What the timed runs left is compared as the answer was; where y is added to, or kernels were
 * timed one by one, what one more run gives. */
static wf_result check_timed(const wfi_session *session, const wf_spmv_params *params,
                             const work *w, const wf_bindings *bindings, wfi_result_case *out)
{
    const size_t bytes = w->y_elements * wf_type_size(w->real);
    wf_check check = {0};
    void *left = malloc(bytes + 1);
    wf_result result = left ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    if (result == WF_SUCCESS && (w->before || session->kernels)) {
        result = reset(w);
        if (result == WF_SUCCESS)
            result = wf_plan_run(w->plan, bindings);
    }
    if (result == WF_SUCCESS)
        result = wf_buffer_read(w->device_y, 0, left, bytes);
    if (result == WF_SUCCESS && memcmp(left, w->y, bytes) != 0) {
        result = wf_spmv_check_scaled(params, w->x, w->before, left, &check);
        if (result == WF_SUCCESS)
            wfi_case_checked_timed(out, &check, "element", check.worst + 1);
    }
    free(left);
    return result;
}

static wf_result measure(wfi_session *session, const wfi_spmv_request *r,
                         const wf_spmv_params *params, work *w, const wf_bindings *bindings,
                         wfi_result_case *out)
{
    wf_result result = reset(w);
    if (result == WF_SUCCESS)
        result = wfi_case_time_memory(session, w->plan, bindings, r->budget_seconds, out);
    return result == WF_SUCCESS ? check_timed(session, params, w, bindings, out) : result;
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

/* The same product by a variant that takes the caller's arrays as they are. */
static wf_result measure_baseline(wfi_session *session, wf_spmv_params params,
                                  const wfi_spmv_request *r, const wf_bindings *bindings)
{
    static const char *const variants[] = {"lanes", "shared", "row"};
    const wf_measure_params measure_params = {.size = sizeof measure_params,
                                              .repeat = session->common->repeat,
                                              .budget_seconds = r->budget_seconds};
    wfi_spmv_explain *e = r->explain;
    wf_spmv_analysis analysis = {.size = sizeof analysis};
    wf_timing *timing = malloc(sizeof *timing);
    wf_result result = timing ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < 3 && result == WF_SUCCESS && !e->baseline; i++) {
        const wf_tuning tuning = {.size = sizeof tuning, .variant = variants[i]};
        wf_plan *plan = NULL;
        params.tuning = &tuning;
        if (wf_spmv_plan(session->device, &params, &plan) != WF_SUCCESS)
            continue;
        result = wf_spmv_analysis_of(plan, &analysis);
        if (result == WF_SUCCESS)
            result = wf_plan_measure(plan, bindings, &measure_params, timing);
        wf_plan_destroy(&plan);
        e->baseline = variants[i];
        e->baseline_us = result == WF_SUCCESS ? timing->median_us : 0;
        e->baseline_seconds = analysis.seconds;
    }
    free(timing);
    return result;
}

static wf_result run(wfi_session *session, const wfi_spmv_request *r, wf_spmv_params *params,
                     work *w, wfi_result_case *out)
{
    wfi_case_stage(session, out, WFI_STAGE_ANALYSIS);
    wf_result result = wf_spmv_plan(session->device, params, &w->plan);
    if (result == WF_SUCCESS)
        result = wf_plan_describe(w->plan, &out->plan);
    out->has_plan = result == WF_SUCCESS;
    wfi_case_stage(session, out, WFI_STAGE_READ);
    if (result == WF_SUCCESS)
        result = make_vectors(session, r, w);
    wfi_case_stage(session, out, WFI_STAGE_UPLOAD);
    if (result == WF_SUCCESS)
        result = upload(session->device, w);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_SPMV_X] = {.buffer = w->device_x}, [WF_SPMV_Y] = {.buffer = w->device_y}}};
    if (result == WF_SUCCESS)
        result = answer(session, params, w, &bindings, out);
    if (result == WF_SUCCESS && out->status == WFI_STATUS_OK && !r->untimed)
        result = measure(session, r, params, w, &bindings, out);
    if (result != WF_SUCCESS || !r->explain || out->status != WFI_STATUS_OK)
        return result;
    r->explain->analysis.size = sizeof r->explain->analysis;
    result = wf_spmv_analysis_of(w->plan, &r->explain->analysis);
    return result == WF_SUCCESS ? measure_baseline(session, *params, r, &bindings) : result;
}

static wf_spmv_params params_of(const wfi_session *session, const wfi_spmv_request *r, work *w)
{
    const wfi_csr *m = r->matrix;
    const size_t vectors = r->vectors ? r->vectors : 1;
    w->real = r->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
    w->x_elements = (r->transpose ? m->rows : m->columns) * vectors;
    w->y_elements = (r->transpose ? m->columns : m->rows) * vectors;
    return (wf_spmv_params){.size = sizeof(wf_spmv_params),
                            .rows = m->rows,
                            .columns = m->columns,
                            .row_offsets = m->row_offsets,
                            .column_indices = m->column_indices,
                            .type = r->type,
                            .tuning = &session->tuning,
                            .cancel = &session->cancel,
                            .transpose = r->transpose,
                            .vectors = r->vectors,
                            .alpha = r->alpha,
                            .beta = r->beta};
}

wf_result wfi_case_spmv(wfi_session *session, const wfi_spmv_request *request, wfi_result_case *out,
                        void **y)
{
    const wfi_csr *m = request->matrix;
    const double size = (double)wf_type_size(request->type);
    work w = {0};
    name_case(request, out);
    wf_spmv_params params = params_of(session, request, &w);
    const double vectors = (double)(w.x_elements + w.y_elements) * (double)wf_type_size(w.real);
    if (!wfi_session_fits(session, out, (double)m->entries * (4 + size) + 4.0 * m->rows + vectors,
                          vectors))
        return WF_ERROR_TOO_LARGE;
    wfi_io_error error;
    wfi_case_stage(session, out, WFI_STAGE_READ);
    params.values = wfi_matrix_values(m, request->name, request->type, &w.values, &error);
    if (!params.values) {
        free_work(&w);
        const bool no_memory = error.kind == WFI_IO_NO_MEMORY;
        wfi_case_fail_text(out, no_memory ? WFI_STATUS_ERROR : WFI_STATUS_FAILED, "%.500s",
                           error.text);
        return no_memory ? WF_ERROR_OUT_OF_HOST_MEMORY : WF_SUCCESS;
    }
    wf_result result = run(session, request, &params, &w, out);
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    if (y && out->status == WFI_STATUS_OK) {
        *y = w.y;
        w.y = NULL;
    }
    free_work(&w);
    return result;
}
