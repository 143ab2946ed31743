/* wavefit spmv on many ranks: a product, verified in f64 by rank 0, and its time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "sparse.h"
#include "timeline.h"
#include "tool/cases/case_parts.h"
#include "tool/cases/generate.h"
#include "tool/cli/console.h"
#include "tool/cli/path.h"

#define SAMPLES 5
#define SAMPLE_SECONDS 0.2
#define MOST_PRODUCTS 100000 /* in a sample */
#define WARM_UP 3            /* runs, each as long as a sample by the speed of the one before */

typedef struct arguments {
    const char *type, *x, *output, *text;
    wfi_matrix_name name;
    wf_type real;
} arguments;

typedef struct run {
    wfi_rank *rank;
    const arguments *args;
    wfi_rank_matrix matrix;
    wfi_shares shares;
    wf_mpi_matrix *m;
    wf_mpi_vector *x, *y;
    void *whole_x, *own_x, *whole_y, *own_y;
    wf_mpi_times times;
    uint32_t products; /* that they are of */
    wfi_timeline timeline;
    wfi_result_case *out;
} run;

static wf_result multiply(run *r)
{
    wf_result result = wf_mpi_vector_create(r->m, WF_MPI_OF_COLUMNS, &r->x);
    if (result == WF_SUCCESS)
        result = wf_mpi_vector_create(r->m, WF_MPI_OF_ROWS, &r->y);
    if (result == WF_SUCCESS)
        result = wf_mpi_vector_write(r->x, r->own_x);
    result = wfi_rank_agree(result);
    if (result == WF_SUCCESS)
        result = wf_mpi_spmv_run(r->m, r->x, r->y, 1, NULL, &r->times);
    r->products = 1;
    if (result == WF_SUCCESS)
        result = wfi_rank_agree(wf_mpi_vector_read(r->y, r->own_y));
    return result;
}

static wf_result check(run *r)
{
    const wfi_csr *csr = &r->matrix.whole;
    const wf_spmv_params params = {.size = sizeof params,
                                   .rows = csr->rows,
                                   .columns = csr->columns,
                                   .row_offsets = csr->row_offsets,
                                   .column_indices = csr->column_indices,
                                   .values = r->matrix.whole_values,
                                   .type = r->args->real,
                                   .cancel = &r->rank->session.cancel};
    wf_result result = WF_SUCCESS;
    wfi_rank_gather(r->rank, r->matrix.first_row, r->args->real, r->own_y, r->whole_y);
    if (r->rank->prints) {
        result = wf_spmv_check(&params, r->whole_x, r->whole_y, &r->out->check);
        if (result == WF_SUCCESS)
            wfi_case_checked(r->out, "element", r->out->check.worst + 1);
    }
    return (wf_result)wfi_rank_share((int)result);
}

/* Finds how many products a sample takes by runs of more and more, which bring the devices' clocks
 * up after the check on the host. All ranks get the seconds of the slowest one. */
static wf_result warm_up(run *r, uint32_t *count)
{
    double seconds = 0;
    wf_result result = wf_mpi_spmv_run(r->m, r->x, r->y, 1, &seconds, NULL);
    for (int n = 0; n < WARM_UP && result == WF_SUCCESS; n++) {
        const double fit = SAMPLE_SECONDS / (seconds / *count + 1e-9);
        *count = (uint32_t)fmin(fmax(fit, 1), MOST_PRODUCTS);
        result = wf_mpi_spmv_run(r->m, r->x, r->y, *count, &seconds, NULL);
    }
    return result;
}

static wf_result measure(run *r)
{
    wf_timing *timing = &r->out->timing;
    double seconds = 0;
    uint32_t count = 1;
    wf_result result = warm_up(r, &count);
    wfi_timeline_init(&r->timeline);
    r->times = (wf_mpi_times){.size = sizeof r->times, .trace = &r->timeline.trace};
    r->products = 0;
    for (int sample = 0; sample < SAMPLES && result == WF_SUCCESS; sample++) {
        wf_mpi_times times = {.size = sizeof times, .trace = r->times.trace};
        result = wfi_rank_agree(wfi_interrupted() ? WF_ERROR_CANCELLED : WF_SUCCESS);
        if (result != WF_SUCCESS)
            break;
        result = wf_mpi_spmv_run(r->m, r->x, r->y, count, &seconds, &times);
        r->times.inside += times.inside;
        r->times.halo += times.halo;
        r->times.wait += times.wait;
        r->products += count;
        timing->samples_us[timing->count++] = seconds / count * 1e6;
    }
    timing->batch = count;
    if (result != WF_SUCCESS || !r->rank->prints)
        return result;
    wfi_case_summarise(timing);
    r->out->has_timing = true;
    r->out->rate = 2.0 * r->matrix.entries / timing->median_us * 1e-3;
    r->out->rate_unit = "GFLOPS";
    return WF_SUCCESS;
}

static wf_result describe(run *r)
{
    wf_mpi_matrix_info info = {.size = sizeof info};
    r->out->plan.size = sizeof r->out->plan;
    const wf_result result = wf_mpi_matrix_describe(r->m, &info, &r->out->plan);
    r->out->has_plan = result == WF_SUCCESS && r->out->plan.variant;
    r->out->plan.flops = 2.0 * r->matrix.entries;
    wfi_result_case_extra(r->out, "shared_halos", wfi_rank_sum(info.shared));
    wfi_rank_collect(r->rank, "rows", info.first_row, info.rows, &r->times, r->products, r->out);
    return result;
}

static int finish(run *r, int argc, char **argv)
{
    const wfi_result_case *c = r->out;
    const wfi_rank_output output = {c->status == WFI_STATUS_OK ? r->args->output : NULL,
                                    r->args->real, r->matrix.params.rows, r->whole_y};
    if (!r->rank->prints)
        return WFI_EXIT_DONE;
    if (!wfi_json_on_stdout(&r->rank->common)) {
        wfi_case_print(&r->rank->session, c);
        wfi_rank_print(c);
        wfi_shares_print(r->rank, &r->shares);
        printf("matrix    %u rows, %u columns, %u entries, %d rank%s\n", r->matrix.params.rows,
               r->matrix.params.columns, r->matrix.entries, r->rank->count,
               r->rank->count > 1 ? "s" : "");
    }
    return wfi_rank_write(r->rank, &output, c, argc, argv);
}

static int execute(run *r, int argc, char **argv)
{
    wfi_rank *rank = r->rank;
    const wf_mpi_matrix_params *p = &r->matrix.params;
    wfi_rank_matrix_use(rank, &r->matrix);
    wf_result result = wf_mpi_matrix_create(MPI_COMM_WORLD, rank->session.device, p, &r->m);
    if (result == WF_SUCCESS)
        result = multiply(r);
    if (result == WF_SUCCESS)
        result = check(r);
    const bool times = !r->args->output && p->rows && p->columns;
    if (result == WF_SUCCESS && times && wfi_rank_share(r->out->status) == WFI_STATUS_OK)
        result = measure(r);
    if (result != WF_SUCCESS)
        return wfi_rank_failed(rank, result);
    if (describe(r) != WF_SUCCESS)
        return wfi_run_error("spmv: no plan");
    return wfi_rank_share(finish(r, argc, argv));
}

/* -------------------------------------------------------------------------------------- options */

static int parse(const wfi_rank *rank, arguments *args)
{
    args->name.positional = rank->common.positional_count ? rank->common.positional[0] : NULL;
    args->real = WF_TYPE_F32;
    if (wfi_matrix_name_one("spmv", &args->name, &args->text) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (!args->text)
        return wfi_usage_error("spmv: give one of MATRIX.mtx, --matrix and --generate");
    if (args->type && !wfi_parse_type("--type", args->type, &args->real))
        return WFI_EXIT_USAGE;
    if (args->real != WF_TYPE_F32 && args->real != WF_TYPE_F64)
        return wfi_usage_error("spmv: many ranks multiply in f32 or f64");
    if (args->output && !wfi_path_takes_npy(args->output))
        return wfi_usage_error("spmv: -o writes y.npy, not '%s'", args->output);
    return WFI_EXIT_DONE;
}

/* Vectors, of which each rank has those of its rows or columns, and the case. */
static int prepare(run *r)
{
    wfi_rank *rank = r->rank;
    wfi_result_case *c = r->out;
    int code = wfi_rank_vector(rank, r->args->x, r->matrix.first_column, r->args->real, &r->whole_x,
                               &r->own_x);
    if (code != WFI_EXIT_DONE)
        return code;
    const size_t real = wf_type_size(r->args->real);
    r->own_y = malloc(r->matrix.params.own_rows * real + 1);
    r->whole_y = rank->prints ? malloc(r->matrix.params.rows * real + 1) : NULL;
    code =
        wfi_rank_worst(r->own_y && (r->whole_y || !rank->prints) ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return rank->prints ? wfi_run_error("spmv: out of memory") : code;
    wfi_result_case_init(c, "spmv");
    snprintf(c->name, sizeof c->name, "%s", r->matrix.name);
    wfi_result_case_fact(c, "rows", r->matrix.params.rows);
    wfi_result_case_fact(c, "columns", r->matrix.params.columns);
    wfi_result_case_fact(c, "entries", r->matrix.entries);
    wfi_result_case_fact(c, "ranks", rank->count);
    c->type = wf_type_name(r->args->real);
    return WFI_EXIT_DONE;
}

int wfi_mpi_spmv(wfi_rank *rank, int argc, char **argv)
{
    arguments args = {0};
    static wfi_result_case result_case;
    run r = {.rank = rank, .args = &args, .out = &result_case, .times = {.size = sizeof r.times}};
    const wfi_option options[] = {
        {"--type", "f32|f64", &args.type, NULL, "element type (default f32)"},
        {"--generate", "KIND:SIZE", &args.name.generate, NULL, "make the matrix; see below"},
        {"--matrix", "FILE|KIND:SIZE", &args.name.matrix, NULL, "either of the two"},
        {"--x", "v.npy", &args.x, NULL, "the vector (default: random)"},
        WFI_SHARES_OPTIONS(&r.shares, "entries"),
        {"-o", "y.npy", &args.output, NULL, "write the result"},
    };
    const wfi_command command = {
        "spmv",
        "MATRIX.mtx[.gz] | --generate KIND:SIZE [--weights W,W,… | --balance] [-o y.npy]",
        "Multiplies a sparse matrix with a vector on the devices of all ranks, verifies and times "
        "the product.",
        0,
        1,
        options,
        sizeof options / sizeof *options};
    bool done = false;
    int code = wfi_rank_parse(rank, &command, argc - 2, argv + 2, &done);
    if (rank->prints && done && rank->common.help) {
        printf("\nKinds of --generate:\n");
        wfi_generate_list(stdout);
    }
    if (code != WFI_EXIT_DONE || done)
        return code;
    code = wfi_rank_share(rank->prints ? parse(rank, &args) : WFI_EXIT_DONE);
    if (code == WFI_EXIT_DONE && !rank->prints)
        code = parse(rank, &args);
    if (code == WFI_EXIT_DONE)
        code = wfi_shares_parse(rank, "spmv", &r.shares);
    if (code != WFI_EXIT_DONE)
        return code;
    code = wfi_rank_matrix_get(rank, args.text, args.real, false,
                               r.shares.balance ? NULL : r.shares.weights, &r.matrix);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_open(rank);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_matrix_balance(rank, &r.shares, &r.matrix);
    if (code == WFI_EXIT_DONE)
        code = prepare(&r);
    if (code == WFI_EXIT_DONE)
        code = execute(&r, argc, argv);
    wf_mpi_vector_destroy(&r.x);
    wf_mpi_vector_destroy(&r.y);
    wf_mpi_matrix_destroy(&r.m);
    wfi_rank_close(rank);
    wfi_rank_matrix_free(&r.matrix);
    free(r.whole_x);
    free(r.own_x);
    free(r.whole_y);
    free(r.own_y);
    wfi_shares_free(&r.shares);
    return code;
}
