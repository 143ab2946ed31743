#include "tool/cases/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/families.h"
#include "tool/cases/generate.h"
#include "tool/cases/himeno_size.h"
#include "tool/cli/matrix_file.h"
#include "tool/cli/path.h"
#include "tool/cli/progress.h"

void wfi_study_options(wfi_study *study, wfi_option *options)
{
    const wfi_option all[WFI_STUDY_OPTIONS] = {
        {"--size", "XS…XL|IxJxK", &study->size, NULL, "himeno: the grid (default M)"},
        {"--matrix", "FILE|KIND:N", &study->matrix_text, NULL,
         "spmv: a .mtx[.gz] file, or a kind of spmv --generate (default poisson27:64)"},
        {"--shape", "MxNxK|star|box", &study->text.shape, NULL,
         "matmul: the sizes (default 1024x1024x1024); stencil: its shape (default star)"},
        {"--grid", "NXxNY[xNZ]", &study->text.grid, NULL,
         "stencil: the grid's cells (default 256x256x256)"},
        {"--radius", "R", &study->text.radius, NULL, "stencil: 1 to 4 (default 1)"},
        {"--border", "dirichlet|…", &study->text.border, NULL,
         "stencil: dirichlet, neumann or periodic (default dirichlet)"},
        {"--steps", "N", &study->text.steps, NULL, "stencil: steps a run (default 1)"},
        {"--type", "f32|f64|…", &study->text.type, NULL, "element type (default f32)"}};
    memcpy(options, all, sizeof all);
}

static int parse_stencil(wfi_study *study)
{
    const char *text = study->size ? study->size : "M";
    snprintf(study->name, sizeof study->name, "himeno %.60s", text);
    if (study->type != WF_TYPE_F32)
        return wfi_usage_error("--type: Himeno is f32");
    return wfi_parse_himeno_size("--size", text, study->extent) ? WFI_EXIT_DONE : WFI_EXIT_USAGE;
}

static int parse_matmul(wfi_study *study)
{
    const char *text = study->text.shape ? study->text.shape : "1024x1024x1024";
    snprintf(study->name, sizeof study->name, "%.90s", text);
    return wfi_parse_triple("--shape", text, UINT32_MAX, study->extent) ? WFI_EXIT_DONE
                                                                        : WFI_EXIT_USAGE;
}

/* A file, or the name of a matrix that can be made: "KIND:N", or that of a stand-in. */
static int get_matrix(wfi_study *study, const char *text, const wfi_common *common)
{
    char message[256];
    const wfi_matrix_use use = {study->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32, 1, false};
    wfi_progress_phase(common->quiet, (double)NAN, "getting the matrix");
    if (strchr(text, '/') || (strchr(text, '.') && !strchr(text, ':')))
        return wfi_matrix_file_read(common, text, &use, &study->matrix);
    if (wfi_generate(text, common->seed, &study->matrix, message))
        return WFI_EXIT_DONE;
    return wfi_generate_check(text, message) ? wfi_run_error("--matrix %s", message)
                                             : wfi_usage_error("--matrix: %s", message);
}

static int parse_spmv(wfi_study *study, const wfi_common *common)
{
    const char *text = study->matrix_text ? study->matrix_text : "poisson27:64";
    if (study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64)
        return wfi_usage_error("--type: sparse products are f32 or f64");
    snprintf(study->name, sizeof study->name, "%.90s", wfi_path_name(text));
    const int code = get_matrix(study, text, common);
    wfi_progress_clear(common->quiet);
    if (code == WFI_EXIT_DONE && (study->matrix.rows == 0 || study->matrix.columns == 0))
        return wfi_run_error("%s: there is nothing to multiply", text);
    return code;
}

static int parse_grid(wfi_study *study)
{
    const int code = wfi_stencil_parse(&study->text, &study->grid);
    const wfi_stencil_request *r = &study->grid;
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

#define FAMILY(name) (1u << WF_FAMILY_##name)

/* The options given must be of the family. */
static int check_options(const wfi_study *study)
{
    const wfi_stencil_arguments *text = &study->text;
    const struct {
        const char *option, *given;
        unsigned families;
    } own[] = {{"--size", study->size, FAMILY(HIMENO)},
               {"--matrix", study->matrix_text, FAMILY(SPMV)},
               {"--shape", text->shape, FAMILY(MATMUL) | FAMILY(STENCIL)},
               {"--grid", text->grid, FAMILY(STENCIL)},
               {"--radius", text->radius, FAMILY(STENCIL)},
               {"--border", text->border, FAMILY(STENCIL)},
               {"--steps", text->steps, FAMILY(STENCIL)}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].given && !(own[i].families & 1u << study->family))
            return wfi_usage_error("%s does not go with %s", own[i].option,
                                   wf_family_name(study->family));
    return WFI_EXIT_DONE;
}

int wfi_study_parse(wfi_study *study, const char *command, const wfi_common *common)
{
    const int code = wfi_parse_family(command, common->positional[0], &study->family);
    if (code != WFI_EXIT_DONE)
        return code;
    study->type = WF_TYPE_F32;
    if (check_options(study) != WFI_EXIT_DONE ||
        (study->text.type && !wfi_parse_type("--type", study->text.type, &study->type)))
        return WFI_EXIT_USAGE;
    return study->family == WF_FAMILY_HIMENO    ? parse_stencil(study)
           : study->family == WF_FAMILY_SPMV    ? parse_spmv(study, common)
           : study->family == WF_FAMILY_STENCIL ? parse_grid(study)
                                                : parse_matmul(study);
}

void wfi_study_free(wfi_study *study)
{
    wfi_csr_free(&study->matrix);
}

static double all_cells(const wfi_study *study)
{
    return (double)study->extent[0] * (double)study->extent[1] * (double)study->extent[2];
}

/* Bytes of an element of C: products of 8-bit integers are 32-bit ones. */
static double product_size(const wfi_study *study)
{
    return study->type == WF_TYPE_I8 ? 4 : (double)wf_type_size(study->type);
}

void wfi_study_moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    const double size = (double)wf_type_size(study->type);
    const double a = (double)study->extent[0], b = (double)study->extent[1],
                 c = (double)study->extent[2];
    if (study->family == WF_FAMILY_HIMENO || study->family == WF_FAMILY_STENCIL) {
        *down = all_cells(study) * size;
        *up = study->family == WF_FAMILY_STENCIL ? *down : *down * 13;
    } else if (study->family == WF_FAMILY_SPMV) {
        *down = study->matrix.rows * size;
        *up = plan->least_bytes - *down;
    } else {
        *up = (a * c + c * b) * size;
        *down = a * b * product_size(study);
    }
}

/* What the fastest instructions that can make such products reach. */
static double narrow_rate(wfi_session *session, wf_type type)
{
    if (type == WF_TYPE_I8)
        return fmax(wfi_session_ceiling(session, "dot_i8", 0),
                    wfi_session_ceiling(session, "matrix_i8", 0)) *
               1e9;
    const double matrix =
        wfi_session_ceiling(session, type == WF_TYPE_BF16 ? "matrix_bf16" : "matrix_f16_f32", 0);
    return fmax(fmax(wfi_session_fma_rate(session, WF_TYPE_F32),
                     wfi_session_fma_rate(session, WF_TYPE_F16)),
                matrix * 1e9);
}

double wfi_study_rate(wfi_session *session, const wfi_study *study)
{
    const bool narrow = study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64;
    if (!narrow || study->family != WF_FAMILY_MATMUL) /* stencils of f16 are computed in f32 */
        return wfi_session_fma_rate(session, narrow ? WF_TYPE_F32 : study->type);
    if (!(session->narrow_rate > 0))
        session->narrow_rate = narrow_rate(session, study->type);
    return session->narrow_rate;
}

static void add_floor(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const double rate = wfi_study_rate(session, study);
    const double memory_us = out->plan.least_bytes / wfi_session_copy_bandwidth(session) * 1e6;
    const double arithmetic_us = isfinite(rate) ? out->plan.flops / rate * 1e6 : 0;
    out->floor_us = fmax(memory_us, arithmetic_us);
    out->floor_by = arithmetic_us > memory_us ? "arithmetic" : "memory";
}

/* Rates of the median time, so that a row agrees with itself: those of a Himeno run are of the
 * whole run, whose parts may differ. */
static void rate_median(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    if (study->family != WF_FAMILY_HIMENO || !out->has_timing)
        return;
    const double us = out->timing.median_us;
    out->rate = out->plan.flops / us; /* MFLOPS */
    out->gbs = out->plan.least_bytes / us * 1e-3;
    out->percent = out->gbs * 1e9 / wfi_session_copy_bandwidth(session) * 100;
}

static void add_occupancy(const wf_caps *caps, wfi_result_case *out)
{
    wf_occupancy occupancy;
    if (wf_kernel_occupancy(caps, &out->plan.kernel, &occupancy) != WF_SUCCESS)
        return;
    out->occupancy = occupancy.fraction;
    out->occupancy_limit = occupancy.limited_by;
    out->occupancy_source = occupancy.source;
}

static wf_result run_family(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    if (study->family == WF_FAMILY_HIMENO) {
        const wfi_himeno_request request = {.name = study->name,
                                            .ni = (uint32_t)study->extent[0],
                                            .nj = (uint32_t)study->extent[1],
                                            .nk = (uint32_t)study->extent[2],
                                            .seconds = study->budget_seconds};
        return wfi_case_himeno(session, &request, out);
    }
    if (study->family == WF_FAMILY_SPMV) {
        const wfi_spmv_request request = {.matrix = &study->matrix,
                                          .name = study->name,
                                          .type = study->type,
                                          .budget_seconds = study->budget_seconds};
        return wfi_case_spmv(session, &request, out, NULL);
    }
    if (study->family == WF_FAMILY_STENCIL)
        return wfi_case_stencil(session, &study->grid, out);
    const wfi_matmul_request request = {.m = study->extent[0],
                                        .n = study->extent[1],
                                        .k = study->extent[2],
                                        .type = study->type,
                                        .budget_seconds = study->budget_seconds};
    return wfi_case_matmul(session, &request, out, NULL);
}

wf_result wfi_study_run(wfi_session *session, const wfi_study *study, const char *variant,
                        const wf_constant *constants, uint32_t constant_count, wfi_result_case *out)
{
    const wf_tuning before = session->tuning;
    session->tuning.variant = variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = constant_count;
    *session->error = '\0';
    const wf_result result = run_family(session, study, out);
    session->tuning = before;
    if (out->status == WFI_STATUS_OK)
        add_floor(session, study, out);
    if (out->status == WFI_STATUS_OK)
        rate_median(session, study, out);
    if (out->has_plan)
        add_occupancy(session->caps, out);
    return result;
}

void wfi_study_arguments(const wfi_study *study, char *text, size_t bytes)
{
    if (study->family == WF_FAMILY_STENCIL) {
        wfi_stencil_text(&study->grid, text, bytes);
        return;
    }
    const char *option = study->family == WF_FAMILY_HIMENO ? "--size"
                         : study->family == WF_FAMILY_SPMV ? "--matrix"
                                                           : "--shape";
    const char *given = study->family == WF_FAMILY_HIMENO ? (study->size ? study->size : "M")
                        : study->family == WF_FAMILY_SPMV
                            ? (study->matrix_text ? study->matrix_text : "poisson27:64")
                            : study->name;
    snprintf(text, bytes, "%s %s%s%s", option, given, study->type == WF_TYPE_F32 ? "" : " --type ",
             study->type == WF_TYPE_F32 ? "" : wf_type_name(study->type));
}

wf_problem wfi_study_problem(const wfi_study *study)
{
    const wfi_csr *m = &study->matrix;
    wf_problem problem = {.size = sizeof problem, .family = study->family, .type = study->type};
    memcpy(problem.extent, study->extent, sizeof problem.extent);
    if (study->family == WF_FAMILY_STENCIL)
        problem.stencil = &study->stencil;
    if (study->family != WF_FAMILY_SPMV)
        return problem;
    double squares = 0;
    const double mean = (double)m->entries / m->rows;
    problem.extent[0] = m->rows;
    problem.extent[1] = m->columns;
    problem.extent[2] = m->entries;
    for (uint32_t row = 0; row < m->rows; row++) {
        const uint32_t length = m->row_offsets[row + 1] - m->row_offsets[row];
        squares += (length - mean) * (length - mean);
        if (length > problem.longest_row)
            problem.longest_row = length;
    }
    problem.row_deviation = sqrt(squares / m->rows);
    return problem;
}

uint32_t wfi_study_variant(wf_family family, const char *name)
{
    wf_variant_info info;
    for (uint32_t i = 0; wf_family_variant(family, i, &info) == WF_SUCCESS; i++)
        if (strcmp(info.name, name) == 0)
            return i;
    return UINT32_MAX;
}

wf_variant_info wfi_study_variant_info(wf_family family, uint32_t index)
{
    wf_variant_info info = {0};
    wf_family_variant(family, index, &info);
    return info;
}
