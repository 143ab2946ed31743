/* wavefit spmv: multiplies a Matrix Market matrix with a vector. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/matrix_market.h"
#include "io/npy.h"
#include "tool/cases/cases.h"
#include "tool/commands/commands.h"
#include "tool/commands/explain_spmv.h"
#include "tool/cases/generate.h"
#include "tool/cases/matrix_name.h"
#include "tool/cli/path.h"
#include "tool/cli/stages.h"
#include "tool/cases/vectors.h"

typedef struct arguments {
    const char *type, *x, *y, *output, *vectors, *alpha, *beta;
    wfi_matrix_name matrix;
    const char *text; /* the one of them that was given */
    bool transpose, explain, time;
    double alpha_value;
} arguments;

/* What files hold. */
typedef struct arrays {
    wfi_npy x, y;
} arrays;

static wf_type vector_type(wf_type type)
{
    return type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32;
}

static int run(const arguments *args, const wfi_common *common, const wfi_spmv_request *request,
               const arrays *files, int argc, char **argv)
{
    static wfi_result_case result_case;
    const wfi_csr *m = request->matrix;
    wfi_session session;
    wfi_io_error error;
    void *y = NULL;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_spmv(&session, request, &result_case, &y);
    if (result_case.has_plan) {
        wfi_case_print(&session, &result_case);
        const bool prints = !wfi_json_on_stdout(common);
        if (prints)
            printf("matrix    %u rows, %u columns, %u entries (%.1f a row)\n", m->rows, m->columns,
                   m->entries, m->rows ? (double)m->entries / m->rows : 0);
        if (prints && request->explain && result == WF_SUCCESS &&
            result_case.status == WFI_STATUS_OK)
            wfi_explain_spmv(&result_case, request->explain);
    }
    wfi_stage_begin(common->quiet, WFI_STAGE_WRITE, "writing the result");
    code = wfi_case_exit(&result_case, result);
    const uint64_t vectors = request->vectors ? request->vectors : 1;
    uint64_t shape[2];
    const uint32_t dimensions =
        wfi_vectors_shape(files->x.data ? &files->x : &files->y,
                          request->transpose ? m->columns : m->rows, vectors, shape);
    if (code == WFI_EXIT_DONE && args->output &&
        !wfi_npy_write(args->output, vector_type(request->type), dimensions, shape, y, &error))
        code = wfi_run_error("%s", error.text);
    wfi_stages_finish(common, &result_case);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    free(y);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

/* Whether the matrix itself is to be written, and no device is needed. */
static bool writes_matrix(const arguments *args)
{
    return args->output && wfi_path_ends_in(args->output, ".mtx");
}

/* The matrix of the file or the generator; its name. */
static int get_matrix(const arguments *args, const wfi_common *common,
                      const wfi_spmv_request *request, wfi_csr *matrix, char *name, size_t bytes)
{
    const wfi_matrix_use use = {vector_type(request->type), request->vectors ? request->vectors : 1,
                                request->transpose};
    wfi_matrix_label(args->text, name, bytes);
    return wfi_matrix_get(common, args->text, writes_matrix(args) ? NULL : &use, matrix);
}

/* x and y, where files have them. A matrix in x says how many vectors there are. */
static int read_vectors(const arguments *args, wfi_spmv_request *request, const wfi_csr *matrix,
                        arrays *files)
{
    const wf_type type = vector_type(request->type);
    const uint64_t of_x = request->transpose ? matrix->rows : matrix->columns,
                   of_y = request->transpose ? matrix->columns : matrix->rows;
    uint64_t vectors = request->vectors;
    int code = WFI_EXIT_DONE;
    if (args->x)
        code = wfi_read_vectors(args->x, type, of_x, &vectors, &files->x);
    if (code == WFI_EXIT_DONE && vectors > WF_SPMV_MOST_VECTORS)
        return wfi_run_error("%s has %llu columns; at most %d vectors go at once", args->x,
                             (unsigned long long)vectors, WF_SPMV_MOST_VECTORS);
    if (code == WFI_EXIT_DONE && args->y)
        code = wfi_read_vectors(args->y, type, of_y, &vectors, &files->y);
    if (code == WFI_EXIT_DONE && vectors > WF_SPMV_MOST_VECTORS)
        return wfi_run_error("%s has %llu columns; at most %d vectors go at once", args->y,
                             (unsigned long long)vectors, WF_SPMV_MOST_VECTORS);
    request->vectors = (uint32_t)vectors;
    request->x = files->x.data;
    request->y = files->y.data;
    return code;
}

static int multiply(const arguments *args, const wfi_common *common, wfi_spmv_request *request,
                    int argc, char **argv)
{
    static wfi_spmv_explain explain;
    char name[96];
    wfi_csr matrix = {0};
    wfi_io_error error;
    arrays files = {0};
    int code = get_matrix(args, common, request, &matrix, name, sizeof name);
    if (code == WFI_EXIT_DONE && writes_matrix(args)) {
        if (!wfi_matrix_market_write(args->output, &matrix, &error))
            code = wfi_run_error("%s", error.text);
        else
            printf("%s: %u rows, %u columns, %u entries\n", args->output, matrix.rows,
                   matrix.columns, matrix.row_offsets[matrix.rows]);
        wfi_csr_free(&matrix);
        return code;
    }
    if (code == WFI_EXIT_DONE && (args->x || args->y)) {
        wfi_stage_begin(common->quiet, WFI_STAGE_READ, "reading the vectors");
        code = read_vectors(args, request, &matrix, &files);
        wfi_stage_end(common->quiet);
    }
    /* Nothing takes no time. */
    request->untimed = (args->output && !args->time && !args->explain && !common->repeat) ||
                       matrix.rows == 0 || matrix.columns == 0;
    request->matrix = &matrix;
    request->name = name;
    request->explain = args->explain && !request->untimed ? &explain : NULL;
    if (code == WFI_EXIT_DONE)
        code = run(args, common, request, &files, argc, argv);
    request->matrix = NULL;
    request->name = NULL;
    request->x = request->y = NULL;
    wfi_csr_free(&matrix);
    wfi_npy_free(&files.x);
    wfi_npy_free(&files.y);
    return code;
}

static int parse(arguments *args, const wfi_common *common, wfi_spmv_request *request)
{
    uint64_t vectors = 0;
    args->matrix.positional = common->positional_count ? common->positional[0] : NULL;
    if (wfi_matrix_name_one("spmv", &args->matrix, &args->text) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (!args->text)
        return wfi_usage_error("spmv: give one of MATRIX.mtx, --matrix and --generate");
    if (args->output && !wfi_path_ends_in(args->output, ".mtx") &&
        !wfi_path_takes_npy(args->output))
        return wfi_usage_error("spmv: -o writes y.npy or m.mtx, not '%s'", args->output);
    if (args->type && !wfi_parse_type("--type", args->type, &request->type))
        return WFI_EXIT_USAGE;
    if (!wfi_takes_type("spmv: --type", WF_FAMILY_SPMV, request->type))
        return WFI_EXIT_USAGE;
    if (args->vectors &&
        !wfi_parse_u64("--vectors", args->vectors, 1, WF_SPMV_MOST_VECTORS, &vectors))
        return WFI_EXIT_USAGE;
    if (args->alpha && !wfi_parse_number("--alpha", args->alpha, &args->alpha_value))
        return WFI_EXIT_USAGE;
    if (args->beta && !wfi_parse_number("--beta", args->beta, &request->beta))
        return WFI_EXIT_USAGE;
    if (args->y && !args->beta)
        return wfi_usage_error("spmv: --y goes with --beta");
    request->vectors = (uint32_t)vectors;
    request->transpose = args->transpose;
    request->alpha = args->alpha ? &args->alpha_value : NULL;
    return WFI_EXIT_DONE;
}

int wfi_tool_spmv(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--type", "f32|f64|f16", &args.type, NULL,
         "element type (default f32; f16: of the matrix alone)"},
        {"--generate", "KIND:SIZE", &args.matrix.generate, NULL, "make the matrix; see below"},
        {"--matrix", "FILE|KIND:SIZE", &args.matrix.matrix, NULL, "either of the two"},
        {"--x", "v.npy", &args.x, NULL, "the vector, or a matrix of several (default: random)"},
        {"--transpose", NULL, NULL, &args.transpose, "multiply with the transpose"},
        {"--vectors", "N", &args.vectors, NULL, "right-hand sides at once (at most 32)"},
        {"--alpha", "A", &args.alpha, NULL, "y = A times the product (default 1)"},
        {"--beta", "B", &args.beta, NULL, "add B times y as it was (default 0)"},
        {"--y", "v.npy", &args.y, NULL, "y as it was, for --beta (default: random)"},
        {"--explain", NULL, NULL, &args.explain, "say what was chosen, why, and what it costs"},
        {"--time", NULL, NULL, &args.time, "time the product too when -o writes its result"},
        {"-o", "y.npy|m.mtx", &args.output, NULL, "write the result, or just the matrix"},
    };
    const wfi_command command = {
        "spmv",
        "MATRIX.mtx[.gz] | --generate KIND:SIZE [--explain] [-o y.npy|m.mtx]",
        "Multiplies a sparse matrix with a vector, verifies and times the product.",
        0,
        1,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    wfi_spmv_request request = {.type = WF_TYPE_F32};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code == WFI_EXIT_DONE && common.help) {
        printf("\nKinds of --generate:\n");
        wfi_generate_list(stdout);
    }
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    code = parse(&args, &common, &request);
    return code == WFI_EXIT_DONE ? multiply(&args, &common, &request, argc, argv) : code;
}
