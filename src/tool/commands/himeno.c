/* wavefit himeno: the Himeno benchmark with the official sizes, rehearsal, Gosa and score. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/cases.h"
#include "tool/commands/commands.h"
#include "tool/cases/himeno_fields.h"
#include "tool/cases/himeno_size.h"
#include "tool/cli/path.h"
#include "tool/cli/stages.h"
#include "tool/cli/wrap.h"

#define DEFAULT_SIZE "M"
#define DEFAULT_SECONDS 60.0 /* the official program's aim */

static double extra(const wfi_result_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->extra_count; i++)
        if (strcmp(c->extras[i].name, name) == 0)
            return c->extras[i].number;
    return 0;
}

/* The lines that the official program prints. */
static void print_official(const wfi_session *session, const wfi_himeno_request *r,
                           const wfi_result_case *c)
{
    if (wfi_json_on_stdout(session->common))
        return;
    wfi_line(WFI_LABEL_COLUMNS, "grid      imax = %u jmax = %u kmax = %u, %.0f slab%s", r->ni,
             r->nj, r->nk, extra(c, "slabs"), extra(c, "slabs") > 1 ? "s" : "");
    /* The official program makes three; a variant of several steps a pass needs more to be seen. */
    wfi_line(WFI_LABEL_COLUMNS, "rehearsal %.0f iterations: MFLOPS: %.2f  Gosa of the third: %.7E",
             extra(c, "rehearsal_iterations"), extra(c, "rehearsal_mflops"),
             extra(c, "rehearsal_gosa"));
    if (!c->has_timing)
        return;
    printf("measured  Loop executed for %.0f times in %.3f s\n", extra(c, "iterations"),
           extra(c, "seconds"));
    printf("          Gosa : %.7E\n", extra(c, "gosa"));
    printf("          MFLOPS measured : %.2f\n", c->rate);
    printf("          Score based on Pentium III 600MHz : %.2f\n", extra(c, "score"));
}

/* What a run from the user's fields, or into a file, came to. */
static void print_once(const wfi_session *session, const wfi_result_case *c)
{
    if (wfi_json_on_stdout(session->common))
        return;
    const double seconds = extra(c, "seconds"), iterations = extra(c, "iterations");
    printf("iterated  %.0f times in %.3f s", iterations, seconds);
    if (seconds > 0)
        printf(": %.2f MFLOPS", c->plan.flops * iterations / seconds * 1e-6);
    printf("\ngosa      %.7E of the last\n", extra(c, "gosa"));
}

static int run(const wfi_common *common, const wfi_himeno_request *request, const char *output,
               int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_session session;
    wfi_io_error error;
    const uint64_t shape[3] = {request->nk, request->nj, request->ni};
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_himeno(&session, request, &result_case);
    if (result_case.has_plan) {
        wfi_case_print(&session, &result_case);
        if (result_case.has_check && request->once)
            print_once(&session, &result_case);
        else if (result_case.has_check)
            print_official(&session, request, &result_case);
    }
    wfi_stage_begin(common->quiet, WFI_STAGE_WRITE, "writing p");
    code = wfi_case_exit(&result_case, result);
    if (code == WFI_EXIT_DONE && output &&
        !wfi_npy_write(output, WF_TYPE_F32, 3, shape, request->p, &error))
        code = wfi_run_error("%s", error.text);
    wfi_stages_finish(common, &result_case);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

typedef struct arguments {
    const char *size, *iterations, *seconds, *output;
    wfi_himeno_fields fields;
} arguments;

static int parse(const arguments *args, uint64_t extent[3], wfi_himeno_request *request)
{
    uint64_t count = 0;
    request->once = args->output || wfi_himeno_fields_given(&args->fields);
    if (args->iterations && args->seconds)
        return wfi_usage_error("himeno: give --iterations or --seconds, not both");
    if (request->once && !args->iterations)
        return wfi_usage_error("himeno: with fields of files, or -o, say how often they are "
                               "relaxed: --iterations N");
    if (args->output && !wfi_path_takes_npy(args->output))
        return wfi_usage_error("himeno: -o writes P.npy, not '%s'", args->output);
    if ((args->size && !wfi_parse_himeno_size("--size", args->size, extent)) ||
        (args->iterations &&
         !wfi_parse_u64("--iterations", args->iterations, 1, 1000000000, &count)) ||
        (args->seconds && !wfi_parse_seconds("--seconds", args->seconds, &request->seconds)))
        return WFI_EXIT_USAGE;
    if (!args->size && !wfi_himeno_fields_given(&args->fields))
        wfi_parse_himeno_size("--size", DEFAULT_SIZE, extent);
    request->iterations = (uint32_t)count;
    return WFI_EXIT_DONE;
}

static int read_and_run(arguments *args, const wfi_common *common, int argc, char **argv)
{
    wfi_himeno_request request = {.seconds = DEFAULT_SECONDS};
    uint64_t extent[3] = {0};
    char name[64];
    int code = parse(args, extent, &request);
    wfi_stage_begin(common->quiet, WFI_STAGE_READ, "reading the fields");
    if (code == WFI_EXIT_DONE && wfi_himeno_fields_given(&args->fields)) {
        code = wfi_himeno_fields_read(&args->fields, extent);
        request.start = &args->fields.arrays;
    }
    wfi_stage_end(common->quiet);
    request.ni = (uint32_t)extent[0];
    request.nj = (uint32_t)extent[1];
    request.nk = (uint32_t)extent[2];
    snprintf(name, sizeof name, "himeno %ux%ux%u", request.ni, request.nj, request.nk);
    if (args->size || !request.start)
        snprintf(name, sizeof name, "himeno %.40s", args->size ? args->size : DEFAULT_SIZE);
    request.name = name;
    if (code == WFI_EXIT_DONE && args->output) {
        request.p = malloc((size_t)(extent[0] * extent[1] * extent[2]) * sizeof *request.p + 1);
        code = request.p ? code : wfi_run_error("himeno: out of memory");
    }
    if (code == WFI_EXIT_DONE)
        code = run(common, &request, args->output, argc, argv);
    free(request.p);
    wfi_himeno_fields_free(&args->fields);
    return code;
}

int wfi_tool_himeno(int argc, char **argv)
{
    arguments args = {0};
    const char **paths = args.fields.paths;
    const wfi_option options[] = {
        {"--size", "XS|S|M|L|XL|IxJxK", &args.size, NULL,
         "cells, borders included (default: the fields', or M)"},
        {"--iterations", "N", &args.iterations, NULL, "how many iterations the measured run makes"},
        {"--seconds", "T", &args.seconds, NULL, "how long the measured run takes (default 60)"},
        {"--p", "P.npy", &paths[WFI_HIMENO_P], NULL,
         "a field of one's own, NK x NJ x NI (the Fortran program's), in place of the benchmark's"},
        {"--a", "A.npy", &paths[WFI_HIMENO_A], NULL, "4 x NK x NJ x NI"},
        {"--b", "B.npy", &paths[WFI_HIMENO_B], NULL, "3 x NK x NJ x NI"},
        {"--c", "C.npy", &paths[WFI_HIMENO_C], NULL, "3 x NK x NJ x NI"},
        {"--bnd", "BND.npy", &paths[WFI_HIMENO_BND], NULL, "NK x NJ x NI"},
        {"--wrk1", "W.npy", &paths[WFI_HIMENO_WRK1], NULL, "NK x NJ x NI"},
        {"-o", "P.npy", &args.output, NULL, "write p as it is after --iterations"},
    };
    const wfi_command command = {
        "himeno",
        "[--size XS|S|M|L|XL|IxJxK] [--iterations N | --seconds T] [--p P.npy] [-o P.npy]",
        "Runs the Himeno benchmark: a 19-point Jacobi relaxation in f32, verified against f64.",
        0,
        0,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    const int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    return code != WFI_EXIT_DONE || common.help ? code : read_and_run(&args, &common, argc, argv);
}
