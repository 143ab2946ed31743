/* wavefit matmul: multiplies two .npy matrices, or random ones of a given shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "tool/cases.h"
#include "tool/commands.h"

#define MOST_EXTENT 2147483648u

typedef struct arguments {
    const char *shape, *type, *output;
    const char *a, *b; /* .npy files, NULL with a shape */
} arguments;

/* Reads a matrix and converts it to the run's type. */
static int read_matrix(const char *path, wf_type type, uint64_t shape[2], void **data)
{
    wfi_npy npy;
    wfi_io_error error;
    uint64_t overflowed = 0;
    if (!wfi_npy_read(path, &npy, &error))
        return wfi_run_error("%s", error.text);
    if (npy.dimensions != 2 || npy.shape[0] == 0 || npy.shape[1] == 0) {
        wfi_npy_free(&npy);
        return wfi_run_error("%s: a matrix must have two dimensions, neither of them 0", path);
    }
    memcpy(shape, npy.shape, sizeof npy.shape);
    *data = wfi_npy_convert(&npy, type, &overflowed);
    wfi_npy_free(&npy);
    if (!*data)
        return wfi_run_error("%s: out of memory", path);
    if (overflowed)
        return wfi_run_error("%s: %llu values are too large for %s", path,
                             (unsigned long long)overflowed, wf_type_name(type));
    return WFI_EXIT_DONE;
}

static int fill_request(const arguments *args, wfi_matmul_request *request, void **a, void **b)
{
    uint64_t shape[3], shape_a[2] = {0}, shape_b[2] = {0};
    if (args->type && !wfi_parse_type("--type", args->type, &request->type))
        return WFI_EXIT_USAGE;
    if (args->shape) {
        if (!wfi_parse_triple("--shape", args->shape, MOST_EXTENT, shape))
            return WFI_EXIT_USAGE;
        request->m = shape[0];
        request->n = shape[1];
        request->k = shape[2];
        return WFI_EXIT_DONE;
    }
    int code = read_matrix(args->a, request->type, shape_a, a);
    if (code == WFI_EXIT_DONE)
        code = read_matrix(args->b, request->type, shape_b, b);
    if (code != WFI_EXIT_DONE)
        return code;
    if (shape_a[1] != shape_b[0])
        return wfi_run_error("%s has %llu columns but %s has %llu rows", args->a,
                             (unsigned long long)shape_a[1], args->b,
                             (unsigned long long)shape_b[0]);
    request->m = shape_a[0];
    request->n = shape_b[1];
    request->k = shape_a[1];
    request->a = *a;
    request->b = *b;
    return WFI_EXIT_DONE;
}

static int run(const arguments *args, const wfi_common *common, wfi_matmul_request *request,
               int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_session session;
    wfi_io_error error;
    void *product = NULL;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_matmul(&session, request, &result_case, &product);
    if (result_case.has_plan)
        wfi_case_print(&session, &result_case);
    code = wfi_case_exit(&result_case, result);
    const uint64_t shape[2] = {request->m, request->n};
    if (code == WFI_EXIT_DONE && args->output &&
        !wfi_npy_write(args->output, request->type, 2, shape, product, &error))
        code = wfi_run_error("%s", error.text);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    free(product);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

int wfi_tool_matmul(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--shape", "MxNxK", &args.shape, NULL, "random matrices: C is M x N, the sum has K terms"},
        {"--type", "f32", &args.type, NULL, "element type (default f32)"},
        {"-o", "C.npy", &args.output, NULL, "write the product"},
    };
    const wfi_command command = {"matmul",
                                 "A.npy B.npy [-o C.npy] | --shape MxNxK",
                                 "Multiplies two dense matrices, verifies and times the product.",
                                 0,
                                 2,
                                 options,
                                 3};
    wfi_common common;
    wfi_matmul_request request = {.type = WF_TYPE_F32};
    void *a = NULL, *b = NULL;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (args.shape ? common.positional_count != 0 : common.positional_count != 2)
        return wfi_usage_error("matmul: give two .npy files, or --shape MxNxK");
    args.a = common.positional[0];
    args.b = common.positional[1];
    code = fill_request(&args, &request, &a, &b);
    if (code == WFI_EXIT_DONE)
        code = run(&args, &common, &request, argc, argv);
    free(a);
    free(b);
    return code;
}
