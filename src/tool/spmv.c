/* wavefit spmv: multiplies a Matrix Market matrix with a vector. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/matrix_market.h"
#include "io/npy.h"
#include "tool/cases.h"
#include "tool/commands.h"

typedef struct arguments {
    const char *type, *x, *output;
} arguments;

/* The name of a matrix: its file's, without folders and .mtx[.gz]. */
static void name_of(const char *path, char *name, size_t bytes)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, bytes, "%s", slash ? slash + 1 : path);
    char *end = strstr(name, ".mtx");
    if (end && end != name)
        *end = '\0';
}

static int read_x(const char *path, wf_type type, uint32_t columns, void **x)
{
    wfi_npy npy;
    wfi_io_error error;
    uint64_t overflowed = 0;
    if (!wfi_npy_read(path, &npy, &error))
        return wfi_run_error("%s", error.text);
    const bool vector = npy.shape[0] == 1 || npy.shape[1] == 1;
    if (!vector || npy.shape[0] * npy.shape[1] != columns) {
        const unsigned long long rows = npy.shape[0], wide = npy.shape[1];
        wfi_npy_free(&npy);
        return wfi_run_error("%s: a vector of %u elements is needed, not %llu x %llu", path,
                             columns, rows, wide);
    }
    *x = wfi_npy_convert(&npy, type, &overflowed);
    wfi_npy_free(&npy);
    if (!*x)
        return wfi_run_error("%s: out of memory", path);
    if (overflowed)
        return wfi_run_error("%s: %llu values are too large for %s", path,
                             (unsigned long long)overflowed, wf_type_name(type));
    return WFI_EXIT_DONE;
}

static int run(const arguments *args, const wfi_common *common, const wfi_spmv_request *request,
               int argc, char **argv)
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
        if (!common->json || strcmp(common->json, "-") != 0)
            printf("matrix    %u rows, %u columns, %u entries (%.1f a row)\n", m->rows, m->columns,
                   m->entries, (double)m->entries / m->rows);
    }
    code = wfi_case_exit(&result_case, result);
    const uint64_t shape[2] = {m->rows, 1};
    if (code == WFI_EXIT_DONE && args->output &&
        !wfi_npy_write(args->output, request->type, 1, shape, y, &error))
        code = wfi_run_error("%s", error.text);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    free(y);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

static int multiply(const arguments *args, const wfi_common *common, wf_type type, int argc,
                    char **argv)
{
    const char *path = common->positional[0];
    char name[96];
    wfi_csr matrix;
    wfi_io_error error;
    void *x = NULL;
    int code = WFI_EXIT_DONE;
    if (!wfi_matrix_market_read(path, &matrix, &error))
        return wfi_run_error("%s", error.text);
    if (matrix.rows == 0 || matrix.columns == 0)
        code = wfi_run_error("%s: the matrix is %u x %u: there is nothing to multiply", path,
                             matrix.rows, matrix.columns);
    if (code == WFI_EXIT_DONE && args->x)
        code = read_x(args->x, type, matrix.columns, &x);
    name_of(path, name, sizeof name);
    const wfi_spmv_request request = {.matrix = &matrix, .name = name, .type = type, .x = x};
    if (code == WFI_EXIT_DONE)
        code = run(args, common, &request, argc, argv);
    wfi_csr_free(&matrix);
    free(x);
    return code;
}

int wfi_tool_spmv(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--type", "f32|f64", &args.type, NULL, "element type (default f32)"},
        {"--x", "v.npy", &args.x, NULL, "the vector (default: random)"},
        {"-o", "y.npy", &args.output, NULL, "write the result"},
    };
    const wfi_command command = {
        "spmv",
        "MATRIX.mtx[.gz] [--type f32|f64] [--x v.npy] [-o y.npy]",
        "Multiplies a sparse matrix with a vector, verifies and times the product.",
        1,
        1,
        options,
        3};
    wfi_common common;
    wf_type type = WF_TYPE_F32;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (args.type && !wfi_parse_type("--type", args.type, &type))
        return WFI_EXIT_USAGE;
    if (type != WF_TYPE_F32 && type != WF_TYPE_F64)
        return wfi_usage_error("spmv: --type must be f32 or f64");
    return multiply(&args, &common, type, argc, argv);
}
