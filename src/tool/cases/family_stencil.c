/* Star and box stencils, for the commands. */
#include <string.h>

#include "tool/cases/families.h"
#include "tool/cases/random.h"

static int parse(wfi_study *study, const wfi_common *common)
{
    const int code = wfi_stencil_parse(&study->text, &study->grid);
    const wfi_stencil_request *r = &study->grid;
    (void)common;
    study->grid.budget_seconds = study->budget_seconds;
    if (code != WFI_EXIT_DONE)
        return code;
    study->type = r->type;
    study->extent[0] = r->nx;
    study->extent[1] = r->ny;
    study->extent[2] = r->nz ? r->nz : 1;
    study->stencil = wfi_stencil_params(r);
    wfi_stencil_name(r, study->name, sizeof study->name);
    return WFI_EXIT_DONE;
}

static wf_result run(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    return wfi_case_stencil(session, &study->grid, out, NULL);
}

static void moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    (void)plan;
    *up = *down = (double)study->extent[0] * (double)study->extent[1] * (double)study->extent[2] *
                  (double)wf_type_size(study->type);
}

static void arguments(const wfi_study *study, char *text, size_t bytes)
{
    wfi_stencil_text(&study->grid, text, bytes);
}

static void describe(const wfi_study *study, wf_problem *problem)
{
    memcpy(problem->extent, study->extent, sizeof problem->extent);
    problem->stencil = &study->stencil;
}

static wfi_stencil_request request_of(const wfi_case_problem *p)
{
    return (wfi_stencil_request){.nx = (uint32_t)p->a,
                                 .ny = (uint32_t)p->b,
                                 .nz = (uint32_t)p->c,
                                 .shape = p->shape,
                                 .radius = p->radius,
                                 .border = p->border,
                                 .steps = p->steps,
                                 .type = p->type};
}

/* Random coefficients whose magnitudes sum to at most 1, so that steps do not blow up. */
static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    const wfi_stencil_request request = request_of(p);
    const uint32_t taps = wfi_stencil_request_taps(&request);
    (void)error;
    wfi_random_fill(out->coefficients, WF_TYPE_F64, taps, seed);
    for (uint32_t i = 0; i < taps; i++)
        out->coefficients[i] /= taps;
    out->stencil = wfi_stencil_params(&request);
    out->stencil.coefficients = out->coefficients;
    params->stencil = &out->stencil;
    return true;
}

static void facts(const wfi_case_problem *p, wfi_result_case *out)
{
    wfi_result_case_fact(out, "radius", p->radius);
    wfi_result_case_fact(out, "box", p->shape == WF_STENCIL_BOX);
    wfi_result_case_fact(out, "border", p->border);
    wfi_result_case_fact(out, "steps", p->steps);
}

static const char *const options[] = {"--shape", "--grid", "--radius", "--border", "--steps", NULL};

const wfi_tool_family wfi_tool_stencil_family = {.family = WF_FAMILY_STENCIL,
                                                 .options = options,
                                                 .sizes = {"nx", "ny", "nz"},
                                                 .parse = parse,
                                                 .run = run,
                                                 .moved = moved,
                                                 .arguments = arguments,
                                                 .describe = describe,
                                                 .data = data,
                                                 .facts = facts};
