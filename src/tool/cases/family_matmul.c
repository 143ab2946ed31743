/* Matrix products, for the commands. */
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "tool/cases/load.h"
#include "tool/cases/random.h"
#include "tool/host/host.h"

void wfi_product_name(const uint64_t extent[3], const wf_matmul_params *p, char *name, size_t bytes)
{
    char many[32] = "";
    if (p->batch > 1)
        snprintf(many, sizeof many, "%llu of ", (unsigned long long)p->batch);
    snprintf(name, bytes, "%s%llux%llux%llu%s%s%s", many, (unsigned long long)extent[0],
             (unsigned long long)extent[1], (unsigned long long)extent[2],
             p->transpose_a ? " A^T" : "", p->transpose_b ? " B^T" : "",
             p->math == WF_MATH_FAST ? " fast" : "");
}

static int parse(wfi_study *study, const wfi_common *common)
{
    const char *text = study->text.shape ? study->text.shape : "1024x1024x1024";
    wf_matmul_params *p = &study->product;
    (void)common;
    *p = (wf_matmul_params){.size = sizeof *p,
                            .batch = 1,
                            .transpose_a = study->transpose_a,
                            .transpose_b = study->transpose_b};
    if (!wfi_parse_triple("--shape", text, UINT32_MAX, study->extent) ||
        (study->batch && !wfi_parse_u64("--batch", study->batch, 1, UINT32_MAX, &p->batch)))
        return WFI_EXIT_USAGE;
    wfi_product_name(study->extent, p, study->name, sizeof study->name);
    return WFI_EXIT_DONE;
}

static wf_result run(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const wfi_matmul_request request = {.m = study->extent[0],
                                        .n = study->extent[1],
                                        .k = study->extent[2],
                                        .type = study->type,
                                        .more = study->product,
                                        .budget_seconds = study->budget_seconds};
    const wf_result result = wfi_case_matmul(session, &request, out, NULL);
    snprintf(out->name, sizeof out->name, "%s", study->name);
    return result;
}

/* A and B are brought, and C is fetched: the least bytes of the plan. */
static void moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    const double m = (double)study->extent[0], n = (double)study->extent[1],
                 k = (double)study->extent[2];
    *up = (m * k + k * n) * (double)study->product.batch * (double)wf_type_size(study->type);
    *down = plan->least_bytes - *up;
}

static void arguments(const wfi_study *study, char *text, size_t bytes)
{
    const bool typed = study->type != WF_TYPE_F32;
    char batch[32] = "";
    if (study->product.batch > 1)
        snprintf(batch, sizeof batch, " --batch %llu", (unsigned long long)study->product.batch);
    snprintf(text, bytes, "--shape %llux%llux%llu%s%s%s%s%s", (unsigned long long)study->extent[0],
             (unsigned long long)study->extent[1], (unsigned long long)study->extent[2],
             study->product.transpose_a ? " --transpose-a" : "",
             study->product.transpose_b ? " --transpose-b" : "", batch, typed ? " --type " : "",
             typed ? wf_type_name(study->type) : "");
}

static void describe(const wfi_study *study, wf_problem *problem)
{
    memcpy(problem->extent, study->extent, sizeof problem->extent);
    problem->matmul = &study->product;
}

wf_matmul_params wfi_product_params(const wfi_case_problem *p)
{
    return (wf_matmul_params){.size = sizeof(wf_matmul_params),
                              .m = p->a,
                              .n = p->b,
                              .k = p->c,
                              .type = p->type,
                              .batch = p->batch,
                              .transpose_a = p->transpose_a,
                              .transpose_b = p->transpose_b,
                              .math = p->math};
}

static void name_problem(wfi_case_problem *p)
{
    const wf_matmul_params params = wfi_product_params(p);
    wfi_product_name((const uint64_t[]){p->a, p->b, p->c}, &params, p->name, sizeof p->name);
}

static void run_problem(wfi_session *session, const wfi_case_problem *p, double seconds,
                        wfi_result_case *out)
{
    const wfi_matmul_request request = {.m = p->a,
                                        .n = p->b,
                                        .k = p->c,
                                        .type = p->type,
                                        .more = wfi_product_params(p),
                                        .budget_seconds = seconds};
    wfi_case_matmul(session, &request, out, NULL);
}

static void host(const wfi_case_problem *p, double seconds, uint64_t seed, wfi_result_host *out)
{
    wfi_host_matmul(p->a, p->b, p->c, seconds, seed, out); /* all of the suite are f32 */
}

static double bytes(const wfi_case_problem *p)
{
    const double m = (double)p->a, n = (double)p->b, k = (double)p->c;
    return (m * k + k * n + m * n) * (p->batch ? (double)p->batch : 1) *
           (double)wf_type_size(p->type);
}

static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    (void)seed;
    (void)error;
    wf_matmul_params *own = out->own;
    *own = wfi_product_params(p);
    params->matmul = own;
    return true;
}

static void facts(const wfi_case_problem *p, wfi_result_case *out)
{
    const wf_matmul_params params = wfi_product_params(p);
    wfi_matmul_facts(&params, out);
}

/* ---------------------------------------------------------------------------------------- drawn */

#define DRAWN_EXTENT 16384
#define THIN_EXTENT 64
#define LEAST_OPERATIONS 1e7
#define MOST_OPERATIONS 1e12
#define CPU_OPERATIONS 1e9 /* of a CPU device: about a second */

static double operations(const wfi_case_problem *p)
{
    return 2.0 * (double)p->a * (double)p->b * (double)p->c * (double)p->batch;
}

/* Half of the products have extents that are multiples of 16. In a quarter of all, one extent is
 * under 64: with logarithms uniform from 1, most would have one. */
static void draw_extents(uint64_t *state, wfi_case_problem *p)
{
    uint64_t *const extents[] = {&p->a, &p->b, &p->c};
    const bool whole = wfi_random_chance(state, 50), thin = wfi_random_chance(state, 25);
    const uint64_t thinned = wfi_random_below(state, WFI_COUNT(extents));
    p->batch = wfi_random_chance(state, 10) ? wfi_random_log(state, 2, 64) : 1;
    do
        for (uint64_t i = 0; i < WFI_COUNT(extents); i++) {
            const bool is_thin = thin && i == thinned;
            const uint64_t step = whole ? 16 : 1, least = is_thin ? 1 : THIN_EXTENT / step,
                           most = is_thin ? (THIN_EXTENT - 1) / step : DRAWN_EXTENT / step;
            *extents[i] = step * wfi_random_log(state, least, most);
        }
    while (operations(p) < LEAST_OPERATIONS || operations(p) > MOST_OPERATIONS);
}

static void draw(uint64_t *state, wfi_case_problem *out)
{
    draw_extents(state, out);
    out->transpose_a = wfi_random_chance(state, 15);
    out->transpose_b = wfi_random_chance(state, 15);
    out->cpu = operations(out) <= CPU_OPERATIONS;
    name_problem(out);
}

static const wf_type drawn_types[] = {WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F64, WF_TYPE_F16,
                                      WF_TYPE_BF16};

/* --------------------------------------------------------------------------------------- tuning */

#define MOST_EXTENT 2147483648u
#define FAST(text, m, n, k)                                                                        \
    {                                                                                              \
        .family = WF_FAMILY_MATMUL, .name = text, .a = m, .b = n, .c = k, .math = WF_MATH_FAST     \
    }

static const wfi_case_problem suite[] = {
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F32, 256, 256, 256, true, true),
    WFI_MATMUL_PROBLEM("512^3", WF_TYPE_F32, 512, 512, 512, false, true),
    WFI_MATMUL_PROBLEM("1024^3", WF_TYPE_F32, 1024, 1024, 1024, true, false),
    WFI_MATMUL_PROBLEM("2048^3", WF_TYPE_F32, 2048, 2048, 2048, false, false),
    WFI_MATMUL_PROBLEM("127x8192x513", WF_TYPE_F32, 127, 8192, 513, false, false),
    WFI_MATMUL_PROBLEM("1000x2000x3000", WF_TYPE_F32, 1000, 2000, 3000, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_F32, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("8192^3", WF_TYPE_F32, 8192, 8192, 8192, false, false),
    FAST("4096^3 fast", 4096, 4096, 4096),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F64, 256, 256, 256, false, true),
    WFI_MATMUL_PROBLEM("2048^3", WF_TYPE_F64, 2048, 2048, 2048, false, false),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F16, 256, 256, 256, false, true),
    WFI_MATMUL_PROBLEM("1024^3", WF_TYPE_F16, 1024, 1024, 1024, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_F16, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_BF16, 4096, 4096, 4096, false, false),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_I8, 4096, 4096, 4096, false, false),
};

enum { SHAPE, MATH, TRANSPOSE_A, TRANSPOSE_B, BATCH };

static const wfi_problem_option problem_options[] = {
    [SHAPE] = {"--shape", "MxNxK", "matmul: this product alone", true, false},
    [MATH] = {"--math", "exact|fast", "of --shape, as of `wavefit matmul`", false, false},
    [TRANSPOSE_A] = {"--transpose-a", NULL, "of --shape: A is stored K x M", false, false},
    [TRANSPOSE_B] = {"--transpose-b", NULL, "of --shape: B is stored N x K", false, false},
    [BATCH] = {"--batch", "N", "of --shape: N products (default 1)", false, false},
};

static int parse_problem(const wfi_given_problem *given, wfi_case_problem *problem)
{
    const char *math = given->text[MATH];
    const bool fast = math && strcmp(math, "fast") == 0;
    uint64_t extent[3];
    if (!wfi_parse_triple("--shape", given->text[SHAPE], MOST_EXTENT, extent))
        return WFI_EXIT_USAGE;
    if (math && !fast && strcmp(math, "exact") != 0)
        return wfi_usage_error("--math: '%s' is not exact or fast", math);
    problem->batch = 1;
    if (given->text[BATCH] &&
        !wfi_parse_u64("--batch", given->text[BATCH], 1, UINT32_MAX, &problem->batch))
        return WFI_EXIT_USAGE;
    problem->transpose_a = given->flag[TRANSPOSE_A];
    problem->transpose_b = given->flag[TRANSPOSE_B];
    problem->math = fast ? WF_MATH_FAST : WF_MATH_EXACT;
    problem->a = extent[0];
    problem->b = extent[1];
    problem->c = extent[2];
    name_problem(problem);
    return WFI_EXIT_DONE;
}

static const char *const options[] = {"--shape", "--transpose-a", "--transpose-b", "--batch", NULL};

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
                                                .data_bytes = sizeof(wf_matmul_params),
                                                .facts = facts,
                                                .draw = draw,
                                                .drawn_types = drawn_types,
                                                .drawn_type_count = WFI_COUNT(drawn_types),
                                                .host = host,
                                                .load = &wfi_load_of_matmul,
                                                .suite = suite,
                                                .suite_count = WFI_COUNT(suite),
                                                .problem_options = problem_options,
                                                .problem_option_count = WFI_COUNT(problem_options),
                                                .parse_problem = parse_problem};
