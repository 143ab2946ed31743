/* Himeno, for the commands. */
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "tool/cases/himeno_size.h"
#include "tool/cases/load.h"
#include "tool/cases/random.h"
#include "tool/host/host.h"

#define DEFAULT_SIZE "M"

static int parse(wfi_study *study, const wfi_common *common)
{
    const char *text = study->size ? study->size : DEFAULT_SIZE;
    (void)common;
    snprintf(study->name, sizeof study->name, "himeno %.60s", text);
    if (study->type != WF_TYPE_F32)
        return wfi_usage_error("--type: Himeno is f32");
    return wfi_parse_himeno_size("--size", text, study->extent) ? WFI_EXIT_DONE : WFI_EXIT_USAGE;
}

static wf_result run(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const wfi_himeno_request request = {.name = study->name,
                                        .ni = (uint32_t)study->extent[0],
                                        .nj = (uint32_t)study->extent[1],
                                        .nk = (uint32_t)study->extent[2],
                                        .seconds = study->budget_seconds};
    return wfi_case_himeno(session, &request, out);
}

/* 13 arrays are brought, and the pressure is fetched. */
static void moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    (void)plan;
    *down = (double)study->extent[0] * (double)study->extent[1] * (double)study->extent[2] *
            (double)wf_type_size(study->type);
    *up = *down * 13;
}

static void arguments(const wfi_study *study, char *text, size_t bytes)
{
    snprintf(text, bytes, "--size %s", study->size ? study->size : DEFAULT_SIZE);
}

static void describe(const wfi_study *study, wf_problem *problem)
{
    memcpy(problem->extent, study->extent, sizeof problem->extent);
}

static wf_himeno_params params_of(const wfi_case_problem *p)
{
    return (wf_himeno_params){.size = sizeof(wf_himeno_params),
                              .ni = (uint32_t)p->a,
                              .nj = (uint32_t)p->b,
                              .nk = (uint32_t)p->c};
}

static void run_problem(wfi_session *session, const wfi_case_problem *p, double seconds,
                        wfi_result_case *out)
{
    const wfi_himeno_request request = {.name = p->name,
                                        .ni = (uint32_t)p->a,
                                        .nj = (uint32_t)p->b,
                                        .nk = (uint32_t)p->c,
                                        .seconds = seconds};
    wfi_case_himeno(session, &request, out);
}

static void host(const wfi_case_problem *p, double seconds, uint64_t seed, wfi_result_host *out)
{
    wfi_host_himeno((uint32_t)p->a, (uint32_t)p->b, (uint32_t)p->c, seconds, seed, out);
}

static double bytes(const wfi_case_problem *p)
{
    const wf_himeno_params params = params_of(p);
    return (double)wf_himeno_memory(&params);
}

static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    (void)seed;
    (void)error;
    wf_himeno_params *own = out->own;
    *own = params_of(p);
    params->himeno = own;
    return true;
}

/* ---------------------------------------------------------------------------------------- drawn */

#define LEAST_CELLS 1e5
#define MOST_CELLS 6.7e7 /* XL has so many */
#define CPU_CELLS 3e6

static void draw(uint64_t *state, wfi_case_problem *out)
{
    double cells;
    do {
        out->a = wfi_random_log(state, 16, 1024);
        out->b = wfi_random_log(state, 16, 1024);
        out->c = wfi_random_log(state, 16, 1024);
        cells = (double)out->a * (double)out->b * (double)out->c;
    } while (cells < LEAST_CELLS || cells > MOST_CELLS);
    out->cpu = cells <= CPU_CELLS;
    snprintf(out->name, sizeof out->name, "himeno %llux%llux%llu", (unsigned long long)out->a,
             (unsigned long long)out->b, (unsigned long long)out->c);
}

static const wf_type drawn_types[] = {WF_TYPE_F32};

/* --------------------------------------------------------------------------------------- tuning */

static const wfi_case_problem suite[] = {
    WFI_HIMENO_PROBLEM("himeno S", 128, 64, 64, true, true),
    WFI_HIMENO_PROBLEM("himeno M", 256, 128, 128, true, true),
    WFI_HIMENO_PROBLEM("himeno XS", 64, 32, 32, false, true),
    WFI_HIMENO_PROBLEM("himeno L", 512, 256, 256, false, false),
};

static const wfi_problem_option problem_options[] = {
    {"--size", "XS…XL|IxJxK", "himeno: this grid alone", true, false},
};

static int parse_problem(const wfi_given_problem *given, wfi_case_problem *problem)
{
    uint64_t extent[3];
    if (!wfi_parse_himeno_size("--size", given->text[0], extent))
        return WFI_EXIT_USAGE;
    if (problem->type != WF_TYPE_F32)
        return wfi_usage_error("tune: --type: Himeno is f32");
    problem->a = extent[0];
    problem->b = extent[1];
    problem->c = extent[2];
    snprintf(problem->name, sizeof problem->name, "%s", given->text[0]);
    return WFI_EXIT_DONE;
}

static const char *const options[] = {"--size", NULL};

const wfi_tool_family wfi_tool_himeno_family = {.family = WF_FAMILY_HIMENO,
                                                .options = options,
                                                .sizes = {"ni", "nj", "nk"},
                                                .rate_of_run = true,
                                                .parse = parse,
                                                .run = run,
                                                .moved = moved,
                                                .arguments = arguments,
                                                .describe = describe,
                                                .run_problem = run_problem,
                                                .bytes = bytes,
                                                .data = data,
                                                .data_bytes = sizeof(wf_himeno_params),
                                                .draw = draw,
                                                .drawn_types = drawn_types,
                                                .drawn_type_count = WFI_COUNT(drawn_types),
                                                .host = host,
                                                .load = &wfi_load_of_himeno,
                                                .suite = suite,
                                                .suite_count = WFI_COUNT(suite),
                                                .problem_options = problem_options,
                                                .problem_option_count = WFI_COUNT(problem_options),
                                                .parse_problem = parse_problem};
