/* Star and box stencils, for the commands. */
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "tool/cases/random.h"
#include "tool/host/host.h"

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

typedef struct stencil_data {
    wf_stencil_params params;
    double coefficients[WFI_MOST_TAPS];
} stencil_data;

/* Random coefficients whose magnitudes sum to at most 1, so that steps do not blow up. */
static void fill(const wfi_case_problem *p, uint64_t seed, stencil_data *own)
{
    const wfi_stencil_request request = request_of(p);
    const uint32_t taps = wfi_stencil_request_taps(&request);
    wfi_random_fill(own->coefficients, WF_TYPE_F64, taps, seed);
    for (uint32_t i = 0; i < taps; i++)
        own->coefficients[i] /= taps;
    own->params = wfi_stencil_params(&request);
    own->params.coefficients = own->coefficients;
}

static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    stencil_data *own = out->own;
    (void)error;
    fill(p, seed, own);
    params->stencil = &own->params;
    return true;
}

static void facts(const wfi_case_problem *p, wfi_result_case *out)
{
    wfi_result_case_fact(out, "radius", p->radius);
    wfi_result_case_fact(out, "box", p->shape == WF_STENCIL_BOX);
    wfi_result_case_fact(out, "border", p->border);
    wfi_result_case_fact(out, "steps", p->steps);
}

static void run_problem(wfi_session *session, const wfi_case_problem *p, double seconds,
                        wfi_result_case *out)
{
    wfi_stencil_request request = request_of(p);
    request.budget_seconds = seconds;
    wfi_case_stencil(session, &request, out, NULL);
}

static void host(const wfi_case_problem *p, double seconds, uint64_t seed, wfi_result_host *out)
{
    stencil_data own;
    fill(p, seed, &own);
    wfi_host_stencil(&own.params, seconds, seed, out);
}

static double cells_of(const wfi_case_problem *p)
{
    return (double)p->a * (double)p->b * (double)(p->c ? p->c : 1);
}

/* Both grids. */
static double bytes(const wfi_case_problem *p)
{
    return 2 * cells_of(p) * (double)wf_type_size(p->type);
}

/* ---------------------------------------------------------------------------------------- drawn */

#define LEAST_CELLS 1e5
#define MOST_CELLS 1.3e8
#define CPU_PRODUCTS 3e8 /* of cells, coefficients and steps */

static void draw_extents(uint64_t *state, wfi_case_problem *p)
{
    const bool plane = wfi_random_chance(state, 33);
    const uint64_t least = plane ? 64 : 16, most = plane ? 16384 : 1024;
    do {
        p->a = wfi_random_log(state, least, most);
        p->b = wfi_random_log(state, least, most);
        p->c = plane ? 0 : wfi_random_log(state, least, most);
    } while (cells_of(p) < LEAST_CELLS || cells_of(p) > MOST_CELLS);
}

static void draw(uint64_t *state, wfi_case_problem *out)
{
    draw_extents(state, out);
    const bool box = wfi_random_chance(state, 30);
    out->shape = box ? WF_STENCIL_BOX : WF_STENCIL_STAR;
    out->radius = 1 + (uint32_t)wfi_random_below(state, box ? 2 : 4);
    out->border = (wf_border)wfi_random_below(state, 3);
    out->steps = (uint32_t)wfi_random_log(state, 1, 8);
    const wfi_stencil_request request = request_of(out);
    out->cpu = cells_of(out) * wfi_stencil_request_taps(&request) * out->steps <= CPU_PRODUCTS;
    wfi_stencil_name(&request, out->name, sizeof out->name);
}

static const wf_type drawn_types[] = {WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16};

/* --------------------------------------------------------------------------------------- tuning */

static const wfi_case_problem suite[] = {
    WFI_STENCIL_PROBLEM("star 128^3", WF_TYPE_F32, WF_STENCIL_STAR, 128, 128, 128, 1, true, true),
    WFI_STENCIL_PROBLEM("star 1024^2 x 4", WF_TYPE_F32, WF_STENCIL_STAR, 1024, 1024, 0, 4, true,
                        true),
    WFI_STENCIL_PROBLEM("box 96^3", WF_TYPE_F32, WF_STENCIL_BOX, 96, 96, 96, 1, false, true),
    WFI_STENCIL_PROBLEM("star 128^3", WF_TYPE_F16, WF_STENCIL_STAR, 128, 128, 128, 1, false, true),
    WFI_STENCIL_PROBLEM("star 512^3", WF_TYPE_F16, WF_STENCIL_STAR, 512, 512, 512, 1, false, false),
    WFI_STENCIL_PROBLEM("star 256^3", WF_TYPE_F64, WF_STENCIL_STAR, 256, 256, 256, 1, false, false),
    WFI_STENCIL_PROBLEM("star 512^3 x 2", WF_TYPE_F32, WF_STENCIL_STAR, 512, 512, 512, 2, false,
                        false),
    WFI_STENCIL_PROBLEM("star 8192^2 x 4", WF_TYPE_F64, WF_STENCIL_STAR, 8192, 8192, 0, 4, false,
                        false),
};

enum { GRID, STEPS, RADIUS, BORDER, BOX };

static const wfi_problem_option problem_options[] = {
    [GRID] = {"--grid", "NXxNY[xNZ]", "stencil: a star or box on this grid alone", true, false},
    [STEPS] = {"--steps", "N", "of --grid: steps a run (default 1)", false, false},
    [RADIUS] = {"--radius", "R", "of --grid: 1 to 4 (default 1)", false, false},
    [BORDER] = {"--border", "dirichlet|neumann|periodic", "of --grid (default dirichlet)", false,
                false},
    [BOX] = {"--box", NULL, "of --grid: a box in place of a star", false, false},
};

static int parse_problem(const wfi_given_problem *given, wfi_case_problem *problem)
{
    const wfi_stencil_arguments texts = {.grid = given->text[GRID],
                                         .shape = given->flag[BOX] ? "box" : NULL,
                                         .radius = given->text[RADIUS],
                                         .border = given->text[BORDER],
                                         .steps = given->text[STEPS],
                                         .type = given->type};
    wfi_stencil_request r;
    const int code = wfi_stencil_parse(&texts, &r);
    if (code != WFI_EXIT_DONE)
        return code;
    problem->shape = r.shape;
    problem->border = r.border;
    problem->radius = r.radius;
    problem->steps = r.steps;
    problem->a = r.nx;
    problem->b = r.ny;
    problem->c = r.nz;
    snprintf(problem->name, sizeof problem->name, "%s", given->text[GRID]);
    return WFI_EXIT_DONE;
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
                                                 .run_problem = run_problem,
                                                 .bytes = bytes,
                                                 .data = data,
                                                 .data_bytes = sizeof(stencil_data),
                                                 .facts = facts,
                                                 .draw = draw,
                                                 .drawn_types = drawn_types,
                                                 .drawn_type_count = WFI_COUNT(drawn_types),
                                                 .suite = suite,
                                                 .suite_count = WFI_COUNT(suite),
                                                 .problem_options = problem_options,
                                                 .problem_option_count = WFI_COUNT(problem_options),
                                                 .parse_problem = parse_problem,
                                                 .host = host};
