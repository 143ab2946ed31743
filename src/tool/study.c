#include "tool/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/matrix_market.h"
#include "tool/bench_matrices.h"
#include "tool/himeno_size.h"

#define MOST_GRID 512u
#define MOST_GRAPH 24u

void wfi_study_options(wfi_study *study, wfi_option *options)
{
    options[0] =
        (wfi_option){"--size", "XS…XL|IxJxK", &study->size, NULL, "stencil: the grid (default M)"};
    options[1] = (wfi_option){"--matrix", "FILE|KIND:N", &study->matrix_text, NULL,
                              "spmv: .mtx[.gz], poisson27:N, poisson5:N, rmat:SCALE"};
    options[2] = (wfi_option){"--shape", "MxNxK", &study->shape, NULL,
                              "matmul: the sizes (default 1024x1024x1024)"};
    options[3] =
        (wfi_option){"--type", "f32|f64|…", &study->type_text, NULL, "element type (default f32)"};
}

static int parse_stencil(wfi_study *study)
{
    const char *text = study->size ? study->size : "M";
    snprintf(study->name, sizeof study->name, "himeno %.60s", text);
    if (study->type != WF_TYPE_F32)
        return wfi_usage_error("--type: the stencil is f32");
    return wfi_parse_himeno_size("--size", text, study->extent) ? WFI_EXIT_DONE : WFI_EXIT_USAGE;
}

static int parse_matmul(wfi_study *study)
{
    const char *text = study->shape ? study->shape : "1024x1024x1024";
    snprintf(study->name, sizeof study->name, "%.90s", text);
    return wfi_parse_triple("--shape", text, UINT32_MAX, study->extent) ? WFI_EXIT_DONE
                                                                        : WFI_EXIT_USAGE;
}

/* Makes the matrix that "KIND:N" names. */
static int make_matrix(wfi_study *study, const char *text, size_t kind, const char *number)
{
    uint64_t n;
    const bool graph = strncmp(text, "rmat", kind) == 0 && kind == 4;
    if (!wfi_parse_u64("--matrix", number, 1, graph ? MOST_GRAPH : MOST_GRID, &n))
        return WFI_EXIT_USAGE;
    bool made;
    if (graph)
        made = wfi_make_rmat((uint32_t)n, 1, &study->matrix);
    else if (kind == 9 && strncmp(text, "poisson27", kind) == 0)
        made = wfi_make_poisson27((uint32_t)n, &study->matrix);
    else if (kind == 8 && strncmp(text, "poisson5", kind) == 0)
        made = wfi_make_poisson5((uint32_t)n, &study->matrix);
    else
        return wfi_usage_error("--matrix: '%s' is not poisson27:N, poisson5:N or rmat:SCALE", text);
    return made ? WFI_EXIT_DONE : wfi_run_error("--matrix %s: out of memory", text);
}

static int parse_spmv(wfi_study *study)
{
    const char *text = study->matrix_text ? study->matrix_text : "poisson27:64";
    const char *colon = strchr(text, ':'), *slash = strrchr(text, '/');
    wfi_io_error error;
    if (study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64)
        return wfi_usage_error("--type: sparse products are f32 or f64");
    snprintf(study->name, sizeof study->name, "%.90s", slash ? slash + 1 : text);
    if (colon && !slash)
        return make_matrix(study, text, (size_t)(colon - text), colon + 1);
    if (!wfi_matrix_market_read(text, &study->matrix, &error))
        return wfi_run_error("%s", error.text);
    if (study->matrix.rows == 0 || study->matrix.columns == 0)
        return wfi_run_error("%s: there is nothing to multiply", text);
    return WFI_EXIT_DONE;
}

int wfi_study_parse(wfi_study *study, const wfi_common *common)
{
    const char *name = common->positional[0];
    const struct {
        wf_family family;
        const char *option, *given;
    } own[] = {{WF_FAMILY_STENCIL, "--size", study->size},
               {WF_FAMILY_SPMV, "--matrix", study->matrix_text},
               {WF_FAMILY_MATMUL, "--shape", study->shape}};
    const size_t count = sizeof own / sizeof *own;
    size_t family = 0;
    while (family < count && strcmp(name, wf_family_name(own[family].family)) != 0)
        family++;
    if (family == count)
        return wfi_usage_error("'%s' is not a family (stencil, spmv, matmul)", name);
    study->family = own[family].family;
    for (size_t i = 0; i < count; i++)
        if (own[i].given && own[i].family != study->family)
            return wfi_usage_error("%s does not go with %s", own[i].option, name);
    study->type = WF_TYPE_F32;
    if (study->type_text && !wfi_parse_type("--type", study->type_text, &study->type))
        return WFI_EXIT_USAGE;
    return study->family == WF_FAMILY_STENCIL ? parse_stencil(study)
           : study->family == WF_FAMILY_SPMV  ? parse_spmv(study)
                                              : parse_matmul(study);
}

void wfi_study_free(wfi_study *study)
{
    wfi_csr_free(&study->matrix);
}

static double inner_cells(const wfi_study *study)
{
    return ((double)study->extent[0] - 2) * ((double)study->extent[1] - 2) *
           ((double)study->extent[2] - 2);
}

double wfi_study_flops(const wfi_study *study)
{
    if (study->family == WF_FAMILY_STENCIL)
        return 34 * inner_cells(study);
    if (study->family == WF_FAMILY_SPMV)
        return 2.0 * study->matrix.entries;
    return 2.0 * (double)study->extent[0] * (double)study->extent[1] * (double)study->extent[2];
}

double wfi_study_bytes(const wfi_study *study)
{
    const double size = (double)wf_type_size(study->type);
    const double a = (double)study->extent[0], b = (double)study->extent[1],
                 c = (double)study->extent[2];
    if (study->family == WF_FAMILY_STENCIL)
        return 56 * inner_cells(study); /* 13 reads and 1 write of f32 */
    if (study->family == WF_FAMILY_SPMV)
        return study->matrix.entries * (4 + size) + 4.0 * (study->matrix.rows + 1.0) +
               size * ((double)study->matrix.rows + study->matrix.columns);
    return (a * c + c * b + a * b) * size;
}

static void add_floor(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const double fma = wfi_session_fma_rate(session, study->type);
    const double memory_us = wfi_study_bytes(study) / wfi_session_copy_bandwidth(session) * 1e6;
    const double arithmetic_us = isfinite(fma) ? wfi_study_flops(study) / fma * 1e6 : 0;
    out->floor_us = fmax(memory_us, arithmetic_us);
    out->floor_by = arithmetic_us > memory_us ? "arithmetic" : "memory";
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
    if (study->family == WF_FAMILY_STENCIL) {
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
    if (out->has_plan)
        add_occupancy(session->caps, out);
    return result;
}

void wfi_study_arguments(const wfi_study *study, char *text, size_t bytes)
{
    const char *option = study->family == WF_FAMILY_STENCIL ? "--size"
                         : study->family == WF_FAMILY_SPMV  ? "--matrix"
                                                            : "--shape";
    const char *given = study->family == WF_FAMILY_STENCIL ? (study->size ? study->size : "M")
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
