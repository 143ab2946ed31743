/* wavefit stencil: a star or box stencil with constant coefficients on a grid, of files or random
 * ones, verified and timed. */
#include <stdio.h>
#include <stdlib.h>

#include "core/arithmetic.h"
#include "tool/commands/commands.h"
#include "tool/cases/stencil_options.h"
#include "tool/cases/vectors.h"
#include "tool/cli/path.h"
#include "tool/cli/stages.h"

typedef struct arguments {
    wfi_stencil_arguments stencil;
    const char *in, *coefficients, *output;
    bool time;
} arguments;

/* What files hold. */
typedef struct arrays {
    wfi_npy grid, coefficients;
} arrays;

/* The grid of the file's shape, where --grid gives none: rows of cells, x contiguous. */
static int parse(arguments *args, wfi_stencil_request *request, wfi_npy *grid)
{
    char shape[64];
    wfi_io_error error;
    if (args->output && !wfi_path_takes_npy(args->output))
        return wfi_usage_error("stencil: -o writes V.npy, not '%s'", args->output);
    if (args->in && !wfi_npy_read(args->in, grid, &error))
        return wfi_run_error("%s", error.text);
    snprintf(shape, sizeof shape, "%llux%llu", (unsigned long long)grid->shape[1],
             (unsigned long long)grid->shape[0]);
    if (args->in && !args->stencil.grid)
        args->stencil.grid = shape;
    const int code = wfi_stencil_parse(&args->stencil, request);
    args->stencil.grid = NULL;
    return code;
}

static int read_grid(const arguments *args, wfi_stencil_request *request, wfi_npy *grid)
{
    const uint64_t rows = (uint64_t)request->ny * (request->nz ? request->nz : 1);
    if (!args->in)
        return WFI_EXIT_DONE;
    if (grid->shape[0] != rows || grid->shape[1] != request->nx)
        return wfi_run_error("%s has %llu rows of %llu; --grid needs %llu of %u, planes one below "
                             "another",
                             args->in, (unsigned long long)grid->shape[0],
                             (unsigned long long)grid->shape[1], (unsigned long long)rows,
                             request->nx);
    const int code = wfi_npy_elements(args->in, grid, request->type);
    request->in = grid->data;
    return code;
}

static int read_coefficients(const arguments *args, wfi_stencil_request *request,
                             wfi_npy *coefficients)
{
    if (!args->coefficients)
        return WFI_EXIT_DONE;
    const int code = wfi_read_vectors(args->coefficients, WF_TYPE_F64,
                                      wfi_stencil_request_taps(request), 1, coefficients);
    request->coefficients = coefficients->data;
    return code;
}

static int run(const arguments *args, const wfi_common *common, const wfi_stencil_request *request,
               int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_session session;
    wfi_io_error error;
    void *grid = NULL;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_stencil(&session, request, &result_case, &grid);
    if (result_case.has_plan)
        wfi_case_print(&session, &result_case);
    wfi_stage_begin(common->quiet, WFI_STAGE_WRITE, "writing the grid");
    code = wfi_case_exit(&result_case, result);
    const uint64_t shape[2] = {(uint64_t)request->ny * (request->nz ? request->nz : 1),
                               request->nx};
    if (code == WFI_EXIT_DONE && args->output &&
        !wfi_npy_write(args->output, request->type, 2, shape, grid, &error))
        code = wfi_run_error("%s", error.text);
    wfi_stages_finish(common, &result_case);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    free(grid);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

static int read_and_run(arguments *args, const wfi_common *common, int argc, char **argv)
{
    wfi_stencil_request request = {0};
    arrays files = {0};
    wfi_stage_begin(common->quiet, WFI_STAGE_READ, "reading the grid");
    int code = parse(args, &request, &files.grid);
    if (code == WFI_EXIT_DONE)
        code = read_grid(args, &request, &files.grid);
    if (code == WFI_EXIT_DONE)
        code = read_coefficients(args, &request, &files.coefficients);
    wfi_stage_end(common->quiet);
    request.untimed = args->output && !args->time && !common->repeat;
    if (code == WFI_EXIT_DONE)
        code = run(args, common, &request, argc, argv);
    wfi_npy_free(&files.grid);
    wfi_npy_free(&files.coefficients);
    return code;
}

int wfi_tool_stencil(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--grid", "NXxNY[xNZ]", &args.stencil.grid, NULL,
         "cells, x contiguous (default: the file's rows, or 256x256x256)"},
        {"--shape", "star|box", &args.stencil.shape, NULL, "default star"},
        {"--radius", "R", &args.stencil.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.stencil.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.stencil.steps, NULL, "steps a run (default 1)"},
        {"--type", "f32|f64|f16", &args.stencil.type, NULL, "element type (default f32)"},
        {"--coefficients", "C.npy", &args.coefficients, NULL,
         "in the order of wf_stencil_params (default: random)"},
        {"--time", NULL, NULL, &args.time, "time the stencil too when -o writes its result"},
        {"-o", "V.npy", &args.output, NULL, "write the grid, planes one below another"},
    };
    const wfi_command command = {
        "stencil",
        "[U.npy] [--grid NXxNY[xNZ]] [--shape star|box] [--radius R] [--border B] [--steps N] "
        "[-o V.npy]",
        "Applies a stencil with constant coefficients to a grid, verifies and times it.",
        0,
        1,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    const int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    args.in = common.positional_count ? common.positional[0] : NULL;
    return read_and_run(&args, &common, argc, argv);
}
