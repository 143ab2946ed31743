/* wf_cg_solve: checks of its parameters, scaling, and the verdict on the result. */
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/heap.h"
#include "core/params.h"
#include "solve/cg.h"

/* As wf_element_get and wf_element_set of f32 and f64, in loops over all entries. */
static inline double get(wf_type type, const void *data, size_t i)
{
    return type == WF_TYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline void put(wf_type type, void *data, size_t i, double value)
{
    if (type == WF_TYPE_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

static wf_result norm_of(const wf_device *device, const wf_spmv_params *m, const void *b,
                         double *norm)
{
    long double squares = 0;
    for (uint32_t i = 0; i < m->rows; i++) {
        const long double value = get(m->type, b, i);
        squares += value * value;
    }
    *norm = (double)sqrtl(squares);
    if (isfinite(*norm))
        return WF_SUCCESS;
    return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: b is not finite");
}

/* What the host computes of an x; lengths are divided by |b|. */
typedef struct finding {
    double residual;      /* |b - A x| */
    double x;             /* |x| */
    double largest_row;   /* the largest sum of magnitudes of a row of A: no less than |A| */
    uint32_t longest_row; /* entries */
} finding;

static finding look_at(const wf_spmv_params *m, const void *b, const void *x, double norm)
{
    long double squares = 0, of_x = 0;
    finding found = {0};
    for (uint32_t row = 0; row < m->rows; row++) {
        const uint32_t begin = m->row_offsets[row], end = m->row_offsets[row + 1];
        const long double own = get(m->type, x, row);
        long double residual = get(m->type, b, row);
        double sum = 0;
        for (uint32_t i = begin; i < end; i++) {
            const long double value = get(m->type, m->values, i);
            residual -= value * get(m->type, x, m->column_indices[i]);
            sum += fabs((double)value);
        }
        squares += residual * residual;
        of_x += own * own;
        found.largest_row = fmax(found.largest_row, sum);
        found.longest_row = end - begin > found.longest_row ? end - begin : found.longest_row;
    }
    found.residual = (double)(sqrtl(squares) / norm);
    found.x = (double)(sqrtl(of_x) / norm);
    return found;
}

/* b is scaled to length one, so that squares neither overflow nor vanish. */
static wf_result write_scaled(wfi_cg *c, const void *b, double norm)
{
    void *data = wfi_malloc((size_t)wfi_cg_vector_bytes(c));
    if (!data)
        return wfi_no_memory(&c->device->log);
    for (uint32_t i = 0; i < c->count; i++)
        put(c->type, data, i, get(c->type, b, i) / norm);
    wf_result result = wfi_cg_write_residual(c, data);
    wfi_free(data);
    return result;
}

/* Whether the residual is as small as the iteration says. What the iteration takes for the residual
 * drifts away from b - A x, since both are rounded on their own (Greenbaum 1997, Estimating the
 * attainable accuracy of recursively computed residual methods): by a few u |A||x| an iteration,
 * since the x of conjugate gradients grow towards the last one, and by the errors of products, m u
 * |A| times the length of the path of x, which is about twice |x|. */
static bool is_accurate(const wf_cg_params *p, const wf_cg_result *r, const finding *found)
{
    const double u = p->mixed ? 0x1p-44 : p->matrix->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    const double steps = p->mixed ? r->refinements : r->iterations;
    const double scale = 1 + found->largest_row * found->x;
    const double drift = (4 * steps + 2.0 * found->longest_row + 8) * u * scale;
    return isfinite(found->residual) && found->residual <= wfi_cg_tolerance(p) + drift;
}

static wf_result solve_plainly(wf_device *device, const wf_cg_params *params, const void *b,
                               double norm, void *x, wf_cg_result *out)
{
    wfi_cg c = {0};
    bool ran = false;
    double at = wfi_host_seconds(), timing = 0;
    wf_result result = wfi_cg_open(device, params, params->matrix, &c);
    c.norm = 1;
    if (result == WF_SUCCESS)
        result = wf_plan_describe(c.product, &out->product);
    wfi_lap(&at, &params->stages->analysis);
    if (result == WF_SUCCESS)
        result = write_scaled(&c, b, norm);
    wfi_lap(&at, &params->stages->upload);
    if (result == WF_SUCCESS && params->repeat)
        result = wfi_cg_measure_product(&c, params->repeat, out);
    wfi_lap(&at, &timing);
    if (result == WF_SUCCESS) {
        result = wfi_cg_run(&c, wfi_cg_tolerance(params), c.most, params->history, out);
        ran = result == WF_SUCCESS || result == WF_ERROR_CANCELLED;
    }
    wfi_lap(&at, &params->stages->run);
    if (ran) {
        const wf_result read = wfi_cg_read_solution(&c, x);
        result = read == WF_SUCCESS ? result : read;
    }
    for (uint32_t i = 0; ran && i < c.count; i++)
        put(c.type, x, i, get(c.type, x, i) * norm);
    wfi_lap(&at, &params->stages->download);
    if (ran && c.ran)
        out->iteration_us = c.seconds / c.ran * 1e6;
    out->fused = c.fused;
    wfi_cg_close(&c);
    return result;
}

static wf_result check_params(const wf_device *device, const wf_cg_params *p, const void *b,
                              const void *x, const wf_cg_result *result)
{
    const bool any = p->matrix && p->matrix->rows > 0;
    if ((any && (!b || !x)) || !result)
        return wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT, "wf_cg_solve: bad parameters");
    return wfi_cg_check_params(device, "wf_cg_solve", p);
}

static wf_result solve_whole(wf_device *device, const wf_cg_params *given, const void *b, void *x,
                             wf_cg_result *result)
{
    if (!device)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_cg_params params;
    wf_spmv_params matrix = {0};
    double norm = 0, at = wfi_host_seconds();
    wf_solve_stages stages = {.size = sizeof stages}, *wanted;
    wf_cg_result out = {.product = {.size = sizeof out.product}};
    wf_result code = wfi_params_read(&device->log, "wf_cg_solve", given, &params, sizeof params);
    if (code == WF_SUCCESS && params.matrix)
        code = wfi_params_read(&device->log, "wf_cg_solve", params.matrix, &matrix, sizeof matrix);
    matrix.jobs = NULL; /* a call that blocks cannot wait for what the application runs later */
    if (code == WF_SUCCESS) {
        params.matrix = params.matrix ? &matrix : NULL;
        code = check_params(device, &params, b, x, result);
    }
    wanted = params.stages;
    params.stages = &stages;
    if (code == WF_SUCCESS && wanted && !wfi_params_write(wanted, &stages, sizeof stages))
        code = wfi_fail(&device->log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_cg_solve: the size member of stages is not set");
    if (code == WF_SUCCESS)
        code = norm_of(device, &matrix, b, &norm);
    wfi_lap(&at, &stages.upload);
    if (code != WF_SUCCESS)
        return code;
    if (norm <= 0) {
        if (matrix.rows) /* A 0 = 0 */
            memset(x, 0, matrix.rows * wf_type_size(matrix.type));
        *result = out;
        return WF_SUCCESS;
    }
    code = params.mixed ? wfi_cg_solve_mixed(device, &params, b, x, &out)
                        : solve_plainly(device, &params, b, norm, x, &out);
    if (code == WF_SUCCESS || code == WF_ERROR_CANCELLED) {
        at = wfi_host_seconds();
        const finding found = look_at(&matrix, b, x, norm);
        wfi_lap(&at, &stages.check);
        out.true_residual = found.residual;
        if (code == WF_SUCCESS && out.status == WF_CG_CONVERGED &&
            !is_accurate(&params, &out, &found))
            out.status = WF_CG_INACCURATE;
        *result = out;
        if (wanted)
            wfi_params_write(wanted, &stages, sizeof stages);
    }
    return code;
}

wf_result wf_cg_solve(wf_device *device, const wf_cg_params *given, const void *b, void *x,
                      wf_cg_result *result)
{
    const wfi_heap outer = wfi_heap_enter_device(device);
    return wfi_heap_leave(outer, solve_whole(device, given, b, x, result));
}
