/* Sparse products, for the commands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/matrix_market.h"
#include "tool/cases/bench_matrices.h"
#include "tool/cases/families.h"
#include "tool/cases/generate.h"
#include "tool/cases/load.h"
#include "tool/cases/vectors.h"
#include "tool/cases/random.h"
#include "tool/host/host.h"
#include "tool/cli/console.h"

#define DEFAULT_MATRIX "poisson27:64"

/* -------------------------------------------------------------------------------------- studies */

static int parse(wfi_study *study, const wfi_common *common)
{
    const char *text = study->matrix_text ? study->matrix_text : DEFAULT_MATRIX;
    const wfi_matrix_use use = {study->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32, 1, false};
    if (study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64)
        return wfi_usage_error("--type: sparse products are f32 or f64");
    wfi_matrix_label(text, study->name, sizeof study->name);
    const int code = wfi_matrix_get(common, text, &use, &study->matrix);
    if (code == WFI_EXIT_DONE && (study->matrix.rows == 0 || study->matrix.columns == 0))
        return wfi_run_error("%s: there is nothing to multiply", text);
    return code;
}

static wf_result run(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const wfi_spmv_request request = {.matrix = &study->matrix,
                                      .name = study->name,
                                      .type = study->type,
                                      .budget_seconds = study->budget_seconds};
    return wfi_case_spmv(session, &request, out, NULL);
}

/* The matrix and x are brought, and y is fetched. */
static void moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    *down = study->matrix.rows * (double)wf_type_size(study->type);
    *up = plan->least_bytes - *down;
}

static void arguments(const wfi_study *study, char *text, size_t bytes)
{
    const bool typed = study->type != WF_TYPE_F32;
    snprintf(text, bytes, "--matrix %s%s%s",
             study->matrix_text ? study->matrix_text : DEFAULT_MATRIX, typed ? " --type " : "",
             typed ? wf_type_name(study->type) : "");
}

static void describe(const wfi_study *study, wf_problem *problem)
{
    const wfi_csr *m = &study->matrix;
    const double mean = (double)m->entries / m->rows;
    double squares = 0;
    problem->extent[0] = m->rows;
    problem->extent[1] = m->columns;
    problem->extent[2] = m->entries;
    for (uint32_t row = 0; row < m->rows; row++) {
        const uint32_t length = m->row_offsets[row + 1] - m->row_offsets[row];
        squares += (length - mean) * (length - mean);
        if (length > problem->longest_row)
            problem->longest_row = length;
    }
    problem->row_deviation = sqrt(squares / m->rows);
}

/* --------------------------------------------------------------------------- problems of suites */

/* As --generate takes it: the path alone, or with a drawn size. */
static void generated_text(const wfi_case_problem *p, char *text, size_t bytes)
{
    if (p->a)
        snprintf(text, bytes, "%s:%llu", p->path, (unsigned long long)p->a);
    else
        snprintf(text, bytes, "%s", p->path);
}

static bool make_matrix(const wfi_case_problem *p, uint64_t seed, wfi_csr *out, char error[1024])
{
    wfi_io_error cause;
    char message[256], text[96];
    bool ok = false;
    snprintf(error, 1024, "out of memory");
    switch (p->kind) {
    case WFI_MATRIX_NONE:
        break;
    case WFI_MATRIX_POISSON27:
        ok = wfi_make_poisson27((uint32_t)p->a, out);
        break;
    case WFI_MATRIX_UNIFORM:
        ok = wfi_make_uniform((uint32_t)p->a, (uint32_t)p->b, seed, out);
        break;
    case WFI_MATRIX_RMAT:
        ok = wfi_make_rmat((uint32_t)p->a, seed, out);
        break;
    case WFI_MATRIX_FILE:
        ok = wfi_matrix_market_read(p->path, out, &cause);
        if (!ok)
            snprintf(error, 1024, "%s", cause.text);
        break;
    case WFI_MATRIX_GENERATED:
        generated_text(p, text, sizeof text);
        ok = wfi_generate(text, seed, out, message);
        if (!ok)
            snprintf(error, 1024, "%s", message);
        break;
    }
    return ok;
}

static void run_problem(wfi_session *session, const wfi_case_problem *p, double seconds,
                        wfi_result_case *out)
{
    wfi_csr matrix = {0};
    char error[1024];
    if (!make_matrix(p, session->common->seed, &matrix, error)) {
        wfi_result_case_init(out, wf_family_name(p->family));
        out->type = wf_type_name(p->type);
        wfi_case_fail(session, out,
                      wfi_interrupted() ? WF_ERROR_CANCELLED : WF_ERROR_OUT_OF_HOST_MEMORY);
        return;
    }
    const wfi_spmv_request request = {
        .matrix = &matrix, .name = p->name, .type = p->type, .budget_seconds = seconds};
    wfi_case_spmv(session, &request, out, NULL);
    wfi_csr_free(&matrix);
}

static void host(const wfi_case_problem *p, double seconds, uint64_t seed, wfi_result_host *out)
{
    wfi_csr matrix = {0};
    char error[1024];
    if (make_matrix(p, seed, &matrix, error))
        wfi_host_spmv(&matrix, p->type, seconds, seed, out);
    else
        wfi_host_verified(WF_ERROR_OUT_OF_HOST_MEMORY, out);
    wfi_csr_free(&matrix);
}

static double bytes(const wfi_case_problem *p)
{
    const double a = (double)p->a, b = (double)p->b;
    const double entries = p->kind == WFI_MATRIX_POISSON27 ? a * a * a * 27
                           : p->kind == WFI_MATRIX_UNIFORM ? a * b
                           : p->kind == WFI_MATRIX_RMAT    ? ldexp(16, (int)p->a)
                                                           : b;
    return entries * (4.0 + (double)wf_type_size(p->type));
}

static bool data(const wfi_case_problem *p, uint64_t seed, wfi_problem_data *out,
                 wf_tune_params *params, char error[1024])
{
    wfi_csr *m = &out->matrix;
    wfi_io_error cause;
    if (!make_matrix(p, seed, m, error))
        return false;
    wf_spmv_params *own = out->own;
    *own = (wf_spmv_params){.size = sizeof *own,
                            .rows = m->rows,
                            .columns = m->columns,
                            .row_offsets = m->row_offsets,
                            .column_indices = m->column_indices,
                            .type = p->type};
    own->values = wfi_matrix_values(m, p->path ? p->path : p->name, p->type, &out->narrow, &cause);
    if (!own->values)
        snprintf(error, 1024, "%s", cause.text);
    params->spmv = own;
    return own->values != NULL;
}

/* ---------------------------------------------------------------------------------------- drawn */

#define LEAST_ENTRIES 20000
#define MOST_ENTRIES 30000000
#define CPU_ENTRIES 2000000

/* Kinds that --generate makes of any size: about `entries_each` entries for each of size^power. */
static const struct {
    const char *name;
    uint32_t power, entries_each;
} drawn_kinds[] = {{"poisson5", 2, 5}, {"poisson7", 3, 7},  {"poisson27", 3, 27},
                   {"banded", 1, 17},  {"dense-row", 1, 2}, {"empty-rows", 1, 1},
                   {"diagonal", 1, 1}, {"arrow", 1, 3}};

static uint64_t power_of(uint64_t size, uint32_t power)
{
    uint64_t result = 1;
    for (uint32_t i = 0; i < power; i++)
        result *= size;
    return result;
}

static void draw_named(uint64_t *state, uint64_t entries, wfi_case_problem *out)
{
    const uint64_t kind = wfi_random_below(state, WFI_COUNT(drawn_kinds));
    const uint32_t power = drawn_kinds[kind].power;
    const uint64_t cells = entries / drawn_kinds[kind].entries_each;
    uint64_t size = 1;
    for (uint64_t bit = UINT64_C(1) << 32 / power; bit; bit >>= 1)
        if (power_of(size + bit, power) <= cells)
            size += bit;
    out->kind = WFI_MATRIX_GENERATED;
    out->path = drawn_kinds[kind].name;
    out->a = size;
    out->b = entries;
    generated_text(out, out->name, sizeof out->name);
}

/* A third each: random columns with rows of any one length, power-law graphs, and the others. */
static void draw(uint64_t *state, wfi_case_problem *out)
{
    const uint64_t entries = wfi_random_log(state, LEAST_ENTRIES, MOST_ENTRIES);
    const uint64_t third = wfi_random_below(state, 3);
    if (third == 0) {
        out->kind = WFI_MATRIX_UNIFORM;
        out->b = wfi_random_log(state, 1, 200);
        out->a = entries / out->b;
        snprintf(out->name, sizeof out->name, "uniform %llu x %llu", (unsigned long long)out->a,
                 (unsigned long long)out->b);
    } else if (third == 1) {
        out->kind = WFI_MATRIX_RMAT;
        for (out->a = 10; (UINT64_C(32) << out->a) <= entries; out->a++)
            ;
        snprintf(out->name, sizeof out->name, "rmat:%llu", (unsigned long long)out->a);
    } else
        draw_named(state, entries, out);
    out->cpu = entries <= CPU_ENTRIES;
}

static const wf_type drawn_types[] = {WF_TYPE_F32, WF_TYPE_F32, WF_TYPE_F64};

/* --------------------------------------------------------------------------------------- tuning */

static const wfi_case_problem suite[] = {
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 32, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F64, WFI_MATRIX_POISSON27, 32, 0, false, true),
    WFI_SPMV_PROBLEM("uniform 64Ki x 8", WF_TYPE_F32, WFI_MATRIX_UNIFORM, 65536, 8, true, true),
    WFI_SPMV_PROBLEM("rmat 2^14 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 14, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 128^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 128, 0, false, false),
    WFI_SPMV_PROBLEM("rmat 2^18 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 18, 0, false, false),
};

enum { MATRIX, GENERATE };

static const wfi_problem_option problem_options[] = {
    [MATRIX] = {"--matrix", "FILE|KIND:SIZE", "spmv: this matrix alone", true, true},
    [GENERATE] = {"--generate", "KIND:SIZE", "spmv: one that `wavefit spmv` can make", true, false},
};

static int parse_problem(const wfi_given_problem *given, wfi_case_problem *problem)
{
    const char *generate = given->text[GENERATE];
    char message[256];
    problem->path = generate ? generate : given->text[MATRIX];
    problem->kind = wfi_matrix_is_file(problem->path) ? WFI_MATRIX_FILE : WFI_MATRIX_GENERATED;
    if ((generate || problem->kind == WFI_MATRIX_GENERATED) &&
        !wfi_generate_check(problem->path, message))
        return wfi_usage_error("%s: %s", generate ? "--generate" : "--matrix", message);
    wfi_matrix_label(problem->path, problem->name, sizeof problem->name);
    return WFI_EXIT_DONE;
}

static const char *const options[] = {"--matrix", "--generate", NULL};

const wfi_tool_family wfi_tool_spmv_family = {.family = WF_FAMILY_SPMV,
                                              .options = options,
                                              .sizes = {"rows", "columns", "entries"},
                                              .sizes_of_matrix = true,
                                              .parse = parse,
                                              .run = run,
                                              .moved = moved,
                                              .arguments = arguments,
                                              .describe = describe,
                                              .run_problem = run_problem,
                                              .bytes = bytes,
                                              .data = data,
                                              .data_bytes = sizeof(wf_spmv_params),
                                              .draw = draw,
                                              .drawn_types = drawn_types,
                                              .drawn_type_count = WFI_COUNT(drawn_types),
                                              .host = host,
                                              .load = &wfi_load_of_spmv,
                                              .suite = suite,
                                              .suite_count = WFI_COUNT(suite),
                                              .problem_options = problem_options,
                                              .problem_option_count = WFI_COUNT(problem_options),
                                              .parse_problem = parse_problem};
