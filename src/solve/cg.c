/* wf_cg_solve: checks of its parameters, scaling, and the verdict on the result. */
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "core/heap.h"
#include "core/params.h"
#include "solve/cg.h"

/* Whether the residual is as small as the iteration says. What the iteration takes for the residual
 * drifts away from b - A x, since both are rounded on their own (Greenbaum 1997, Estimating the
 * attainable accuracy of recursively computed residual methods): by a few u |A||x| an iteration,
 * since the x of conjugate gradients grow towards the last one, and by the errors of products, m u
 * |A| times the length of the path of x, which is about twice |x|. */
static bool is_accurate(const wf_cg_params *p, const wf_cg_result *r, const wfi_cg_finding *found)
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
        result = wfi_cg_write_scaled(&c, b, norm);
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
        const wf_result read = wfi_cg_read_scaled(&c, norm, x);
        result = read == WF_SUCCESS ? result : read;
    }
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
        code = wfi_cg_length(device, &matrix, b, &norm);
    wfi_lap(&at, &stages.upload);
    if (code != WF_SUCCESS)
        return code;
    if (norm <= 0) {
        if (matrix.rows) /* A 0 = 0 */
            memset(x, 0, matrix.rows * wf_type_size(matrix.type));
        *result = out;
        return WF_SUCCESS;
    }
    code = params.mixed ? wfi_cg_solve_mixed(device, &params, b, norm, x, &out)
                        : solve_plainly(device, &params, b, norm, x, &out);
    if (code == WF_SUCCESS || code == WF_ERROR_CANCELLED) {
        at = wfi_host_seconds();
        wfi_cg_finding found;
        const wf_result looked = wfi_cg_look(device, &matrix, b, x, norm, &found);
        if (looked != WF_SUCCESS)
            return looked;
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
