/* wavefit matmul: C = activation(alpha op(A) op(B) + beta C + bias) of .npy matrices, or of random
 * ones of a given shape. */
#include <math.h>
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

/* Host matrices read from files, and the shape of the product that goes with theirs. */
typedef struct matrices {
    wfi_npy a, b, c, bias;
    uint32_t dimensions;
    uint64_t shape[3];
} matrices;

/* How a file's array is a matrix, or a stack of them. */
typedef struct operand {
    const char *path;
    bool stack, vector;     /* three dimensions, one dimension */
    uint64_t count;         /* matrices of a stack, else 1 */
    uint64_t rows, columns; /* of one matrix */
} operand;

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
static int to_whole(const char *path, void *data, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const double value = ((const double *)data)[i];
        if (!(value >= -2147483648.0 && value <= 2147483647.0 && value == floor(value)))
            return wfi_run_error("%s: %g is no whole number of 32 bits, which C and bias of i8 are",
                                 path, value);
        const int32_t whole = (int32_t)value;
        memcpy((char *)data + i * sizeof whole, &whole, sizeof whole);
    }
    return WFI_EXIT_DONE;
}

/* Reads an array and converts it to a type. */
static int read_array(const char *path, wf_type type, bool whole, wfi_npy *npy)
{
    wfi_io_error error;
    if (!wfi_npy_read(path, npy, &error))
        return wfi_run_error("%s", error.text);
    if (npy->dimensions == 0 || npy->dimensions > 3)
        return wfi_run_error("%s: the array has %u dimensions; a matrix has two, a vector one, and "
                             "a batch of matrices three",
                             path, npy->dimensions);
    const int code = wfi_npy_elements(path, npy, type);
    return code == WFI_EXIT_DONE && whole ? to_whole(path, npy->data, wfi_npy_count(npy)) : code;
}

/* A vector is a row in front of the product, and a column behind it, as in NumPy. */
static operand operand_of(const char *path, const wfi_npy *npy, bool as_row)
{
    const uint64_t *n = npy->shape;
    if (npy->dimensions == 1)
        return (operand){path, false, true, 1, as_row ? 1 : n[0], as_row ? n[0] : 1};
    if (npy->dimensions == 2)
        return (operand){path, false, false, 1, n[0], n[1]};
    return (operand){path, true, false, n[0], n[1], n[2]};
}

static int read_bias(const char *path, wfi_matmul_request *r, wfi_npy *bias)
{
    char shape[WFI_NPY_SHAPE_TEXT];
    const int code = read_array(path, sum_type(r), wfi_element_of(r->type)->whole, bias);
    if (code != WFI_EXIT_DONE)
        return code;
    wfi_npy_shape_text(bias, shape);
    if (bias->dimensions != 1)
        return wfi_run_error("%s: a bias must have one dimension, not %s", path, shape);
    if (bias->shape[0] != r->n)
        return wfi_run_error("%s has %s elements, C has %llu columns", path, shape,
                             (unsigned long long)r->n);
    r->bias = bias->data;
    return WFI_EXIT_DONE;
}

/* C as it was has the shape of the product, or two dimensions. */
static int read_c(const char *path, wfi_matmul_request *r, matrices *files)
{
    char shape[WFI_NPY_SHAPE_TEXT];
    const wfi_npy *c = &files->c;
    const uint64_t rows = r->m * (r->more.batch ? r->more.batch : 1);
    const int code = read_array(path, c_is_sums(r) ? sum_type(r) : r->type,
                                wfi_element_of(r->type)->whole, &files->c);
    if (code != WFI_EXIT_DONE)
        return code;
    bool same = c->dimensions == files->dimensions;
    for (uint32_t i = 0; i < files->dimensions; i++)
        same = same && c->shape[i] == files->shape[i];
    wfi_npy_shape_text(c, shape);
    if (!same && !(c->dimensions == 2 && c->shape[0] == rows && c->shape[1] == r->n))
        return wfi_run_error("%s is %s, the product %llu x %llu", path, shape,
                             (unsigned long long)rows, (unsigned long long)r->n);
    r->c = c->data;
    return WFI_EXIT_DONE;
}

/* The batch: stacks, or --batch matrices one below another. What is no stack where the other is one
 * goes with every matrix. */
static int find_batch(wfi_matmul_request *r, operand *a, operand *b)
{
    const uint64_t given = r->more.batch, batch = a->stack ? a->count : b->count;
    if (a->stack && b->stack && a->count != b->count)
        return wfi_run_error("%s has %llu matrices, but %s has %llu", a->path,
                             (unsigned long long)a->count, b->path, (unsigned long long)b->count);
    if (a->stack || b->stack) {
        if (given && given != batch)
            return wfi_run_error("%s has %llu matrices; --batch says %llu",
                                 a->stack ? a->path : b->path, (unsigned long long)batch,
                                 (unsigned long long)given);
        r->more.batch = batch;
        r->more.stride_a = a->stack ? 0 : WF_STRIDE_SHARED;
        r->more.stride_b = b->stack ? 0 : WF_STRIDE_SHARED;
        return WFI_EXIT_DONE;
    }
    for (int i = 0; i < 2 && given > 1; i++) {
        operand *one = i ? b : a;
        if (one->vector)
            return wfi_run_error("%s has one dimension; --batch needs matrices one below another",
                                 one->path);
        if (one->rows % given)
            return wfi_run_error("%s has %llu rows, which %llu matrices do not share", one->path,
                                 (unsigned long long)one->rows, (unsigned long long)given);
        one->rows /= given;
    }
    return WFI_EXIT_DONE;
}

/* NumPy's shape of the product; of --batch the products are one below another. */
static void shape_product(const wfi_matmul_request *r, const operand *a, const operand *b,
                          matrices *files)
{
    const bool stack = a->stack || b->stack;
    const uint64_t batch = stack || r->more.batch ? r->more.batch : 1;
    if (stack)
        files->shape[files->dimensions++] = batch;
    if (!a->vector)
        files->shape[files->dimensions++] = stack ? r->m : r->m * batch;
    if (!b->vector)
        files->shape[files->dimensions++] = r->n;
}

static int read_files(const arguments *args, wfi_matmul_request *r, matrices *files)
{
    int code = read_array(args->a, r->type, false, &files->a);
    if (code == WFI_EXIT_DONE)
        code = read_array(args->b, r->type, false, &files->b);
    if (code != WFI_EXIT_DONE)
        return code;
    const bool ta = args->transpose_a, tb = args->transpose_b;
    operand a = operand_of(args->a, &files->a, !ta), b = operand_of(args->b, &files->b, tb);
    code = find_batch(r, &a, &b);
    if (code != WFI_EXIT_DONE)
        return code;
    const uint64_t inner = ta ? a.rows : a.columns, other = tb ? b.columns : b.rows;
    if (inner != other)
        return wfi_run_error("%s has %llu %s but %s has %llu %s", args->a,
                             (unsigned long long)inner, ta ? "rows" : "columns", args->b,
                             (unsigned long long)other, tb ? "columns" : "rows");
    r->m = ta ? a.columns : a.rows;
    r->n = tb ? b.rows : b.columns;
    r->k = inner;
    r->a = files->a.data;
    r->b = files->b.data;
    shape_product(r, &a, &b, files);
    if ((a.stack || b.stack) && r->more.batch == 0) /* for the library, 0 is 1 */
        r->m = 0;
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
        files->dimensions = 2;
        files->shape[0] = request->m * (request->more.batch ? request->more.batch : 1);
        files->shape[1] = request->n;
    } else {
        code = read_files(args, request, files);
    }
    if (code == WFI_EXIT_DONE && args->bias)
        code = read_bias(args->bias, request, &files->bias);
    if (code == WFI_EXIT_DONE && args->c)
        code = read_c(args->c, request, files);
    return code;
}

/* Writes C without its padding: whole numbers as f64, and types that .npy files do not have as
 * f32. */
static int write_product(const char *path, const wfi_matmul_request *r, const matrices *files,
                         const void *product)
{
    const uint64_t batch = r->more.batch ? r->more.batch : 1, count = r->m * batch * r->n;
    const uint64_t ldc = r->more.ldc ? r->more.ldc : r->n;
    const bool sums = c_is_sums(r);
    const wfi_element *element = wfi_element_of(r->type);
    const wf_type type = sums || !element->numpy ? sum_type(r) : r->type;
    const wf_type held = sums ? sum_type(r) : r->type;
    void *packed = malloc((size_t)(count * wf_type_size(type)) + 1);
    wfi_io_error error;
    if (!packed)
        return wfi_run_error("%s: out of memory", path);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t from = i / r->n * ldc + i % r->n;
        wf_element_set(type, packed, i,
                       element->whole ? (double)((const int32_t *)product)[from]
                                      : wf_element_get(held, product, from));
    }
    const bool written = wfi_npy_write(path, type, files->dimensions, files->shape, packed, &error);
    free(packed);
    return written ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}

static int run(const arguments *args, const wfi_common *common, wfi_matmul_request *request,
               const matrices *files, int argc, char **argv)
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
        code = write_product(args->output_file, request, files, product);
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
         "make N products; files hold their matrices one below another (or in three dimensions)"},
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
    wfi_stage_begin(common.quiet, WFI_STAGE_READ, "reading the matrices");
    code = fill_request(&args, &request, &files);
    wfi_stage_end(common.quiet);
    /* Nothing takes no time. */
    request.untimed =
        (args.output_file && !args.time && !common.repeat) || request.m == 0 || request.n == 0;
    if (code == WFI_EXIT_DONE)
        code = run(&args, &common, &request, &files, argc, argv);
    wfi_npy_free(&files.a);
    wfi_npy_free(&files.b);
    wfi_npy_free(&files.c);
    wfi_npy_free(&files.bias);
    return code;
}
