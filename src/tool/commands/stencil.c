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
    const char *in, *input, *coefficients, *output; /* in: U.npy, or --in */
    bool time, check_steps;
} arguments;

/* What files hold. */
typedef struct arrays {
    wfi_npy grid, coefficients;
} arrays;

/* "NXxNY" or "NXxNYxNZ" of the file: x is the last index, and contiguous. */
static int grid_of_file(const char *path, const wfi_npy *grid, char *text, size_t bytes)
{
    const uint64_t *n = grid->shape;
    char shape[WFI_NPY_SHAPE_TEXT];
    wfi_npy_shape_text(grid, shape);
    if ((grid->dimensions != 2 && grid->dimensions != 3) || wfi_npy_count(grid) == 0)
        return wfi_run_error("%s: a grid has cells in two or three dimensions, not %s", path,
                             shape);
    const bool solid = grid->dimensions == 3;
    const int used = snprintf(text, bytes, "%llux%llu", (unsigned long long)n[solid ? 2 : 1],
                              (unsigned long long)n[solid ? 1 : 0]);
    if (solid)
        snprintf(text + used, bytes - (size_t)used, "x%llu", (unsigned long long)n[0]);
    return WFI_EXIT_DONE;
}

/* The grid of the file's shape, where --grid gives none. */
static int parse(arguments *args, wfi_stencil_request *request, wfi_npy *grid)
{
    char shape[64];
    wfi_io_error error;
    if (args->output && !wfi_path_takes_npy(args->output))
        return wfi_usage_error("stencil: -o writes V.npy, not '%s'", args->output);
    if (args->in && !wfi_npy_read(args->in, grid, &error))
        return wfi_run_error("%s", error.text);
    int code = args->in ? grid_of_file(args->in, grid, shape, sizeof shape) : WFI_EXIT_DONE;
    if (code != WFI_EXIT_DONE)
        return code;
    if (args->in && !args->stencil.grid) {
        args->stencil.grid = shape;
        args->stencil.file = args->in;
    }
    code = wfi_stencil_parse(&args->stencil, request);
    args->stencil.grid = NULL;
    return code;
}

static int read_grid(const arguments *args, wfi_stencil_request *request, wfi_npy *grid)
{
    const uint64_t rows = (uint64_t)request->ny * (request->nz ? request->nz : 1);
    char shape[WFI_NPY_SHAPE_TEXT];
    if (!args->in)
        return WFI_EXIT_DONE;
    wfi_npy_shape_text(grid, shape);
    if (grid->dimensions == 3 && (grid->shape[0] != request->nz || grid->shape[1] != request->ny ||
                                  grid->shape[2] != request->nx))
        return wfi_run_error("%s has %s cells, the last index along x; --grid says %ux%ux%u",
                             args->in, shape, request->nx, request->ny, request->nz);
    if (grid->dimensions == 2 && (grid->shape[0] != rows || grid->shape[1] != request->nx))
        return wfi_run_error("%s has %llu rows of %llu; --grid needs %llu of %u, planes one below "
                             "another",
                             args->in, (unsigned long long)grid->shape[0],
                             (unsigned long long)grid->shape[1], (unsigned long long)rows,
                             request->nx);
    const int code = wfi_npy_elements(args->in, grid, request->type);
    request->in = grid->data;
    return code;
}

/* Whether the coefficients lie as the box does, z, y and x. */
static bool box_shaped(const wfi_stencil_request *request, const wfi_npy *coefficients)
{
    const uint32_t dimensions = request->nz ? 3 : 2;
    for (uint32_t i = 0; i < dimensions; i++)
        if (coefficients->shape[i] != 2 * request->radius + 1)
            return false;
    return coefficients->dimensions == dimensions;
}

static int read_coefficients(const arguments *args, wfi_stencil_request *request,
                             wfi_npy *coefficients)
{
    const char *path = args->coefficients;
    if (!path)
        return WFI_EXIT_DONE;
    uint64_t one = 1;
    wfi_io_error error;
    int code;
    if (!wfi_npy_read(path, coefficients, &error) || !box_shaped(request, coefficients)) {
        wfi_npy_free(coefficients);
        code = wfi_read_vectors(path, WF_TYPE_F64, wfi_stencil_request_taps(request), &one,
                                coefficients);
    } else if (request->shape != WF_STENCIL_BOX)
        code = wfi_run_error("%s: coefficients of a box go with --shape box; a star's are a vector "
                             "of %llu",
                             path, (unsigned long long)wfi_stencil_request_taps(request));
    else
        code = wfi_npy_elements(path, coefficients, WF_TYPE_F64);
    request->coefficients = coefficients->data;
    return code;
}

/* In as many dimensions as the file had, or else as the grid has. */
static bool write_grid(const char *path, const wfi_stencil_request *r, const wfi_npy *in,
                       const void *grid, wfi_io_error *error)
{
    const uint64_t flat[2] = {(uint64_t)r->ny * (r->nz ? r->nz : 1), r->nx};
    const uint64_t solid[3] = {r->nz, r->ny, r->nx};
    return r->nz && in->dimensions != 2 ? wfi_npy_write(path, r->type, 3, solid, grid, error)
                                        : wfi_npy_write(path, r->type, 2, flat, grid, error);
}

static int run(const arguments *args, const wfi_common *common, const wfi_stencil_request *request,
               const arrays *files, int argc, char **argv)
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
    if (code == WFI_EXIT_DONE && args->output &&
        !write_grid(args->output, request, &files->grid, grid, &error))
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
    request.check_steps = args->check_steps;
    request.untimed = args->output && !args->time && !common->repeat;
    if (code == WFI_EXIT_DONE)
        code = run(args, common, &request, &files, argc, argv);
    wfi_npy_free(&files.grid);
    wfi_npy_free(&files.coefficients);
    return code;
}

int wfi_tool_stencil(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--in", "U.npy", &args.input, NULL, "the grid: its last index is x, its first y or z"},
        {"--grid", "NXxNY[xNZ]", &args.stencil.grid, NULL,
         "cells, x contiguous (default: the file's, or 256x256x256)"},
        {"--shape", "star|box", &args.stencil.shape, NULL, "default star"},
        {"--radius", "R", &args.stencil.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.stencil.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.stencil.steps, NULL, "steps a run (default 1)"},
        {"--type", "f32|f64|f16", &args.stencil.type, NULL, "element type (default f32)"},
        {"--coefficients", "C.npy", &args.coefficients, NULL,
         "in the order of wf_stencil_params, or a box as it lies (default: random)"},
        {"--check-steps", NULL, NULL, &args.check_steps,
         "check each cell of each step by itself, however long that takes"},
        {"--time", NULL, NULL, &args.time, "time the stencil too when -o writes its result"},
        {"-o", "V.npy", &args.output, NULL, "write the grid, in as many dimensions as U.npy has"},
    };
    const wfi_command command = {
        "stencil",
        "[[--in] U.npy] [--coefficients C.npy] [--grid NXxNY[xNZ]] [--shape star|box] [--radius R] "
        "[--border B] [--steps N] "
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
    if (args.input && common.positional_count)
        return wfi_usage_error("stencil: the grid is given twice, '%s' and --in '%s'",
                               common.positional[0], args.input);
    args.in = common.positional_count ? common.positional[0] : args.input;
    return read_and_run(&args, &common, argc, argv);
}
