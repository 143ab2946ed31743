/* Matrix products, for the commands. */
#include <stdio.h>
#include <string.h>

#include "tool/cases/families.h"
#include "tool/cases/load.h"
#include "tool/host/host.h"

static int parse(wfi_study *study, const wfi_common *common)
{
    const char *text = study->text.shape ? study->text.shape : "1024x1024x1024";
    (void)common;
    snprintf(study->name, sizeof study->name, "%.90s", text);
    return wfi_parse_triple("--shape", text, UINT32_MAX, study->extent) ? WFI_EXIT_DONE
                                                                        : WFI_EXIT_USAGE;
}

static wf_result run(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const wfi_matmul_request request = {.m = study->extent[0],
                                        .n = study->extent[1],
                                        .k = study->extent[2],
                                        .type = study->type,
                                        .budget_seconds = study->budget_seconds};
    return wfi_case_matmul(session, &request, out, NULL);
}

/* A and B are brought, and C is fetched: the least bytes of the plan. */
static void moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    const double m = (double)study->extent[0], n = (double)study->extent[1],
                 k = (double)study->extent[2];
    *up = (m * k + k * n) * (double)wf_type_size(study->type);
    *down = plan->least_bytes - *up;
}

static void arguments(const wfi_study *study, char *text, size_t bytes)
{
    const bool typed = study->type != WF_TYPE_F32;
    snprintf(text, bytes, "--shape %s%s%s", study->name, typed ? " --type " : "",
             typed ? wf_type_name(study->type) : "");
}

static void describe(const wfi_study *study, wf_problem *problem)
{
    memcpy(problem->extent, study->extent, sizeof problem->extent);
}

static void run_problem(wfi_session *session, const wfi_case_problem *p, double seconds,
                        wfi_result_case *out)
{
    const wfi_matmul_request request = {
        .m = p->a, .n = p->b, .k = p->c, .type = p->type, .budget_seconds = seconds};
    wfi_case_matmul(session, &request, out, NULL);
}

static void host(const wfi_case_problem *p, double seconds, uint64_t seed, wfi_result_host *out)
{
    wfi_host_matmul(p->a, p->b, p->c, seconds, seed, out); /* all of the suite are f32 */
}

static double bytes(const wfi_case_problem *p)
{
    const double m = (double)p->a, n = (double)p->b, k = (double)p->c;
    return (m * k + k * n + m * n) * 4;
}

static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    (void)seed;
    (void)error;
    out->matmul = (wf_matmul_params){.size = sizeof out->matmul,
                                     .m = p->a,
                                     .n = p->b,
                                     .k = p->c,
                                     .type = p->type,
                                     .math = p->math};
    params->matmul = &out->matmul;
    return true;
}

static const char *const options[] = {"--shape", NULL};

const wfi_tool_family wfi_tool_matmul_family = {.family = WF_FAMILY_MATMUL,
                                                .options = options,
                                                .sizes = {"m", "n", "k"},
                                                .narrow_rates = true,
                                                .parse = parse,
                                                .run = run,
                                                .moved = moved,
                                                .arguments = arguments,
                                                .describe = describe,
                                                .run_problem = run_problem,
                                                .bytes = bytes,
                                                .data = data,
                                                .host = host,
                                                .load = &wfi_load_of_matmul};
