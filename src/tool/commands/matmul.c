/* wavefit matmul: C = activation(alpha op(A) op(B) + beta C + bias) of .npy matrices, or of random
 * ones of a given shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/element.h"
#include "tool/cases/cases.h"
#include "tool/commands/commands.h"
#include "tool/cli/path.h"
#include "tool/cli/stages.h"
#include "tool/cases/vectors.h"

#define MOST_EXTENT 2147483648u
#define MOST_LD 4294967295u

typedef struct arguments {
    const char *shape, *type, *output_file, *c, *bias;
    const char *alpha, *beta, *lda, *ldb, *ldc, *batch, *activation, *math, *output;
    bool transpose_a, transpose_b, random_bias, time;
    const char *a, *b; /* .npy files, NULL with a shape */
    double alpha_value;
} arguments;

/* Host matrices read from files. */
typedef struct matrices {
    wfi_npy a, b, c, bias;
} matrices;

static bool parse_choice(const char *option, const char *text, const char *const *names, int count,
                         int *value)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0) {
            *value = i;
            return true;
        }
    wfi_usage_error("%s: '%s' is none of its values (see wavefit matmul --help)", option, text);
    return false;
}

/* What the options say of the product, files aside. */
static bool parse_product(arguments *args, wfi_matmul_request *request)
{
    static const char *const activations[] = {"none", "relu", "gelu"};
    static const char *const maths[] = {"exact", "fast"};
    static const char *const outputs[] = {"type", "sums"};
    wf_matmul_params *p = &request->more;
    int activation = 0, math = 0, output = 0;
    const bool ok =
        (!args->type || wfi_parse_type("--type", args->type, &request->type)) &&
        (!args->alpha || wfi_parse_number("--alpha", args->alpha, &args->alpha_value)) &&
        (!args->beta || wfi_parse_number("--beta", args->beta, &p->beta)) &&
        (!args->lda || wfi_parse_u64("--lda", args->lda, 1, MOST_LD, &p->lda)) &&
        (!args->ldb || wfi_parse_u64("--ldb", args->ldb, 1, MOST_LD, &p->ldb)) &&
        (!args->ldc || wfi_parse_u64("--ldc", args->ldc, 1, MOST_LD, &p->ldc)) &&
        (!args->batch || wfi_parse_u64("--batch", args->batch, 1, MOST_EXTENT, &p->batch)) &&
        (!args->activation ||
         parse_choice("--activation", args->activation, activations, 3, &activation)) &&
        (!args->math || parse_choice("--math", args->math, maths, 2, &math)) &&
        (!args->output || parse_choice("--output", args->output, outputs, 2, &output));
    p->alpha = args->alpha ? &args->alpha_value : NULL;
    p->transpose_a = args->transpose_a;
    p->transpose_b = args->transpose_b;
    p->bias = args->bias || args->random_bias;
    p->activation = (wf_activation)activation;
    p->math = (wf_math)math;
    p->output = (wf_matmul_output)output;
    return ok;
}

/* The type of sums, and of a C that -c or -o names. */
static wf_type sum_type(const wfi_matmul_request *r)
{
    return wfi_element_of(r->type)->real;
}

static bool c_is_sums(const wfi_matmul_request *r)
{
    return wfi_element_of(r->type)->whole || r->more.output == WF_MATMUL_OUTPUT_SUMS;
}

/* f64 whole numbers as 32-bit ones, in place. */
static void to_whole(void *data, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const double value = ((const double *)data)[i];
        const int32_t whole = value < -2147483648.0  ? INT32_MIN
                              : value > 2147483647.0 ? INT32_MAX
                                                     : (int32_t)value;
        memcpy((char *)data + i * sizeof whole, &whole, sizeof whole);
    }
}

/* Reads a matrix (or, for a bias, a vector) and converts it to a type. */
static int read_matrix(const char *path, wf_type type, bool whole, uint32_t dimensions,
                       uint64_t shape[2], wfi_npy *npy)
{
    wfi_io_error error;
    if (!wfi_npy_read(path, npy, &error))
        return wfi_run_error("%s", error.text);
    if (npy->dimensions != dimensions || npy->shape[0] == 0 || npy->shape[1] == 0)
        return wfi_run_error(dimensions == 2
                                 ? "%s: a matrix must have two dimensions, neither of them 0"
                                 : "%s: a bias must have one dimension, which is not 0",
                             path);
    memcpy(shape, npy->shape, sizeof npy->shape);
    const int code = wfi_npy_elements(path, npy, type);
    if (code == WFI_EXIT_DONE && whole)
        to_whole(npy->data, shape[0] * shape[1]);
    return code;
}

/* C and bias, when they come from files. */
static int read_others(const arguments *args, wfi_matmul_request *r, matrices *files)
{
    const bool whole = wfi_element_of(r->type)->whole;
    const uint64_t batch = r->more.batch ? r->more.batch : 1;
    const uint64_t rows = r->m * batch;
    uint64_t shape[2] = {0};
    int code = WFI_EXIT_DONE;
    if (args->bias) {
        code = read_matrix(args->bias, sum_type(r), whole, 1, shape, &files->bias);
        if (code == WFI_EXIT_DONE && shape[0] != r->n)
            return wfi_run_error("%s has %llu elements, C has %llu columns", args->bias,
                                 (unsigned long long)shape[0], (unsigned long long)r->n);
    }
    if (code == WFI_EXIT_DONE && args->c) {
        code =
            read_matrix(args->c, c_is_sums(r) ? sum_type(r) : r->type, whole, 2, shape, &files->c);
        if (code == WFI_EXIT_DONE && (shape[0] != rows || shape[1] != r->n))
            return wfi_run_error("%s is %llux%llu, the product %llux%llu", args->c,
                                 (unsigned long long)shape[0], (unsigned long long)shape[1],
                                 (unsigned long long)rows, (unsigned long long)r->n);
    }
    r->c = files->c.data;
    r->bias = files->bias.data;
    return code;
}

static int read_files(const arguments *args, wfi_matmul_request *r, matrices *files)
{
    const uint64_t batch = r->more.batch ? r->more.batch : 1;
    uint64_t a[2] = {0}, b[2] = {0};
    int code = read_matrix(args->a, r->type, false, 2, a, &files->a);
    if (code == WFI_EXIT_DONE)
        code = read_matrix(args->b, r->type, false, 2, b, &files->b);
    if (code != WFI_EXIT_DONE)
        return code;
    if (a[0] % batch || b[0] % batch)
        return wfi_run_error(
            "%s has %llu rows, which %llu matrices do not share", a[0] % batch ? args->a : args->b,
            (unsigned long long)(a[0] % batch ? a[0] : b[0]), (unsigned long long)batch);
    const bool ta = args->transpose_a, tb = args->transpose_b;
    const uint64_t inner = ta ? a[0] / batch : a[1], other = tb ? b[1] : b[0] / batch;
    if (inner != other)
        return wfi_run_error("%s has %llu %s but %s has %llu %s", args->a,
                             (unsigned long long)inner, ta ? "rows" : "columns", args->b,
                             (unsigned long long)other, tb ? "columns" : "rows");
    r->m = ta ? a[1] : a[0] / batch;
    r->n = tb ? b[0] / batch : b[1];
    r->k = inner;
    r->a = files->a.data;
    r->b = files->b.data;
    return WFI_EXIT_DONE;
}

static int fill_request(arguments *args, wfi_matmul_request *request, matrices *files)
{
    uint64_t shape[3];
    int code = WFI_EXIT_DONE;
    if (!parse_product(args, request))
        return WFI_EXIT_USAGE;
    if (args->shape) {
        if (!wfi_parse_triple("--shape", args->shape, MOST_EXTENT, shape))
            return WFI_EXIT_USAGE;
        request->m = shape[0];
        request->n = shape[1];
        request->k = shape[2];
    } else {
        code = read_files(args, request, files);
    }
    return code == WFI_EXIT_DONE ? read_others(args, request, files) : code;
}

/* Writes C without its padding, all products one below another: whole numbers as f64, and types
 * that .npy files do not have as f32. */
static int write_product(const char *path, const wfi_matmul_request *r, const void *product)
{
    const uint64_t batch = r->more.batch ? r->more.batch : 1;
    const uint64_t ldc = r->more.ldc ? r->more.ldc : r->n;
    const bool sums = c_is_sums(r);
    const wfi_element *element = wfi_element_of(r->type);
    const wf_type type = sums || !element->numpy ? sum_type(r) : r->type;
    const wf_type held = sums ? sum_type(r) : r->type;
    const uint64_t shape[2] = {r->m * batch, r->n};
    void *packed = malloc((size_t)(shape[0] * shape[1] * wf_type_size(type)));
    wfi_io_error error;
    if (!packed)
        return wfi_run_error("%s: out of memory", path);
    for (uint64_t i = 0; i < shape[0] * shape[1]; i++) {
        const uint64_t from = i / r->n * ldc + i % r->n;
        wf_element_set(type, packed, i,
                       element->whole ? (double)((const int32_t *)product)[from]
                                      : wf_element_get(held, product, from));
    }
    const bool written = wfi_npy_write(path, type, 2, shape, packed, &error);
    free(packed);
    return written ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}

static int run(const arguments *args, const wfi_common *common, wfi_matmul_request *request,
               int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_session session;
    void *product = NULL;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_matmul(&session, request, &result_case, &product);
    if (result_case.has_plan)
        wfi_case_print(&session, &result_case);
    wfi_stage_begin(common->quiet, WFI_STAGE_WRITE, "writing the product");
    code = wfi_case_exit(&result_case, result);
    if (code == WFI_EXIT_DONE && args->output_file)
        code = write_product(args->output_file, request, product);
    wfi_stages_finish(common, &result_case);
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
        {"--type", "f32", &args.type, NULL,
         "type of A and B: f32, f64, f16, bf16 or i8 (default f32)"},
        {"--transpose-a", NULL, NULL, &args.transpose_a, "A is stored K x M"},
        {"--transpose-b", NULL, NULL, &args.transpose_b, "B is stored N x K"},
        {"--alpha", "X", &args.alpha, NULL, "factor of the product (default 1)"},
        {"--beta", "X", &args.beta, NULL, "factor of C as it was (default 0)"},
        {"-c", "C.npy", &args.c, NULL, "C as it was, for --beta (default random)"},
        {"--bias", "BIAS.npy", &args.bias, NULL, "a vector of N to add to every row"},
        {"--random-bias", NULL, NULL, &args.random_bias, "add a random vector to every row"},
        {"--activation", "none|relu|gelu", &args.activation, NULL,
         "function applied to every element at the end"},
        {"--lda", "N", &args.lda, NULL,
         "leading dimension of A, with --shape: elements from row to row"},
        {"--ldb", "N", &args.ldb, NULL, "leading dimension of B"},
        {"--ldc", "N", &args.ldc, NULL, "leading dimension of C"},
        {"--batch", "N", &args.batch, NULL,
         "make N products; files hold their matrices one below another"},
        {"--output", "type|sums", &args.output, NULL, "type of C: as A and B, or as the sums"},
        {"--math", "exact|fast", &args.math, NULL, "fast: f32 may be split into narrower numbers"},
        {"--time", NULL, NULL, &args.time, "time the product too when -o writes it"},
        {"-o", "C.npy", &args.output_file, NULL,
         "write the product (bf16 as f32, i8's sums as f64)"},
    };
    const wfi_command command = {"matmul",
                                 "A.npy B.npy [-o C.npy] | --shape MxNxK",
                                 "Multiplies dense matrices, verifies and times the product.",
                                 0,
                                 2,
                                 options,
                                 WFI_COUNT(options)};
    wfi_common common;
    wfi_matmul_request request = {.type = WF_TYPE_F32};
    matrices files = {0};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (args.shape ? common.positional_count != 0 : common.positional_count != 2)
        return wfi_usage_error("matmul: give two .npy files, or --shape MxNxK");
    if (!args.shape && (args.lda || args.ldb || args.ldc))
        return wfi_usage_error("matmul: --lda, --ldb and --ldc go with --shape");
    if (args.c && (!args.beta || args.ldc))
        return wfi_usage_error("matmul: -c goes with --beta, and without --ldc");
    if (args.bias && args.random_bias)
        return wfi_usage_error("matmul: give --bias or --random-bias, not both");
    if (args.output_file && !wfi_path_takes_npy(args.output_file))
        return wfi_usage_error("matmul: -o writes C.npy, not '%s'", args.output_file);
    args.a = common.positional[0];
    args.b = common.positional[1];
    request.untimed = args.output_file && !args.time && !common.repeat;
    wfi_stage_begin(common.quiet, WFI_STAGE_READ, "reading the matrices");
    code = fill_request(&args, &request, &files);
    wfi_stage_end(common.quiet);
    if (code == WFI_EXIT_DONE)
        code = run(&args, &common, &request, argc, argv);
    wfi_npy_free(&files.a);
    wfi_npy_free(&files.b);
    wfi_npy_free(&files.c);
    wfi_npy_free(&files.bias);
    return code;
}
