/* The exercise of "OpenACC loop optimisation" (Alliance): Laplace's equation in two dimensions, by
 * Jacobi's iteration to a tolerance; then what comes after it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/ladders.h"
#include "core/platform.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"

#define ALLIANCE "OpenACC loop optimisation (Alliance), exercise, "
#define SOLVES 5
#define LEAST_SOLVES 3
#define SOLVE_SECONDS 1

enum { JACOBI, SOR };

#define GROUP(x, y)                                                                                \
    {                                                                                              \
        {"local_x", x}, {"local_y", 1},                                                            \
        {                                                                                          \
            "local_z", y                                                                           \
        }                                                                                          \
    }

static const wfi_rung rungs[] = {
    {.name = "rows",
     .variant = "naive",
     .text = ALLIANCE "Jacobi",
     .summary = "Jacobi's iteration, a row in work-groups of 128",
     .constants = GROUP(128, 1)},
    {.name = "collapse",
     .variant = "naive",
     .text = ALLIANCE "collapsed loops",
     .summary = "both loops as one, in work-groups of 256",
     .over = "rows",
     .constants = GROUP(256, 1),
     .smaller = GROUP(64, 1)},
    {.name = "tile",
     .variant = "naive",
     .text = ALLIANCE "tiled loops",
     .summary = "tiles of 32 x 4 cells a work-group",
     .over = "rows",
     .constants = GROUP(32, 4)},
    {.name = "square",
     .variant = "naive",
     .text = ALLIANCE "tiled loops",
     .summary = "tiles of 16 x 16 cells a work-group",
     .over = "tile",
     .constants = GROUP(16, 16),
     .smaller = GROUP(16, 8)},
    {.name = "choice", .summary = "Jacobi's iteration with wavefit's own choice of kernel"},
    {.name = "sor", .summary = "successive over-relaxation in two colours", .form = SOR},
};

/* Several solves; each has one time to the tolerance. */
static wf_result solve_often(wfi_session *session, const wf_laplace_params *params, void *u,
                             wf_laplace_result *r, wfi_result_case *out)
{
    const double start = wfi_host_seconds();
    const uint32_t repeat = session->common->repeat, least = repeat ? repeat : LEAST_SOLVES;
    const size_t count = params->nx * (size_t)params->ny;
    wf_timing *t = &out->timing;
    wf_result result = WF_SUCCESS;
    while (result == WF_SUCCESS && t->count < (repeat ? repeat : SOLVES) &&
           (t->count < least || wfi_host_seconds() - start < SOLVE_SECONDS)) {
        memset(u, 0, count * wf_type_size(params->type));
        for (uint32_t x = 0; x < params->nx; x++)
            wf_element_set(params->type, u, x, 1);
        *r = (wf_laplace_result){.size = sizeof *r};
        result = wf_laplace_solve(session->device, params, u, r);
        if (result == WF_SUCCESS && r->status != WF_LAPLACE_CONVERGED) {
            wfi_case_fail_text(out, WFI_STATUS_FAILED,
                               "laplace %s: not solved after %u iterations, residual %.3g",
                               out->name, r->iterations, r->true_residual);
            return result;
        }
        if (result == WF_SUCCESS)
            t->samples_us[t->count++] = r->iteration_us * r->iterations;
    }
    if (result != WF_SUCCESS)
        return result;
    wfi_case_summarise(t);
    t->batch = 1;
    t->gpu_clock = r->gpu_clock;
    out->has_timing = t->median_us > 0;
    return result;
}

static void fill_case(const wf_laplace_params *params, const wf_laplace_result *r,
                      wfi_result_case *out)
{
    const double cells = (params->nx - 2.0) * (params->ny - 2.0);
    char text[32];
    out->has_plan = r->stencil.variant != NULL;
    out->plan = r->stencil;
    if (!out->has_timing)
        return;
    out->rate = 2 * (double)wf_type_size(params->type) * cells / (r->iteration_us * 1e3);
    out->rate_unit = "GB/s";
    wfi_result_case_extra(out, "iterations", r->iterations);
    wfi_result_case_extra(out, "us_an_iteration", r->iteration_us);
    wfi_result_case_extra(out, "true_residual", r->true_residual);
    wfi_format_time(r->iteration_us, text, sizeof text);
    snprintf(out->study.parts, sizeof out->study.parts, "%u iterations of %s to a residual of %.2g",
             r->iterations, text, r->residual);
}

static wf_result run(wfi_session *session, const wfi_study *study, const wfi_rung *rung,
                     const wf_constant *constants, uint32_t count, wfi_result_case *out)
{
    const wf_tuning before = session->tuning;
    const wf_laplace_params params = {.size = sizeof params,
                                      .nx = (uint32_t)study->extent[0],
                                      .ny = (uint32_t)study->extent[1],
                                      .type = study->type,
                                      .method =
                                          rung->form == SOR ? WF_LAPLACE_SOR : WF_LAPLACE_JACOBI,
                                      .tuning = &session->tuning};
    wf_laplace_result r = {.size = sizeof r};
    wfi_result_case_init(out, "laplace");
    snprintf(out->name, sizeof out->name, "%s", study->name);
    wfi_result_case_fact(out, "nx", params.nx);
    wfi_result_case_fact(out, "ny", params.ny);
    out->type = wf_type_name(study->type);
    if (study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64) {
        wfi_case_fail_text(out, WFI_STATUS_UNSUPPORTED, "Laplace is solved in f32 and f64");
        return WF_SUCCESS;
    }
    session->tuning.variant = rung->variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = count;
    *session->error = '\0';
    void *u = malloc(params.nx * (size_t)params.ny * wf_type_size(params.type));
    const wf_result result =
        u ? solve_often(session, &params, u, &r, out) : WF_ERROR_OUT_OF_HOST_MEMORY;
    free(u);
    session->tuning = before;
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    else
        fill_case(&params, &r, out);
    if (out->has_plan)
        wfi_study_occupancy(session->caps, out);
    return result;
}

const wfi_ladder wfi_laplace_ladder = {.subject = "laplace",
                                       .family = WF_FAMILY_STENCIL,
                                       .count = WFI_COUNT(rungs),
                                       .rungs = rungs,
                                       .run = run,
                                       .default_grid = "256x256",
                                       .plane = true};
