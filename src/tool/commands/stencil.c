/* wavefit stencil: a star or box stencil with random coefficients on a random grid, verified and
 * timed. */
#include "tool/commands/commands.h"
#include "tool/cases/stencil_options.h"
#include "tool/cli/stages.h"

int wfi_tool_stencil(int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_stencil_arguments args = {0};
    const wfi_option options[] = {
        {"--grid", "NXxNY[xNZ]", &args.grid, NULL, "cells, x contiguous (default 256x256x256)"},
        {"--shape", "star|box", &args.shape, NULL, "default star"},
        {"--radius", "R", &args.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.steps, NULL, "steps a run (default 1)"},
        {"--type", "f32|f64|f16", &args.type, NULL, "element type (default f32)"},
    };
    const wfi_command command = {
        "stencil",
        "[--grid NXxNY[xNZ]] [--shape star|box] [--radius R] [--border B] [--steps N] [--type T]",
        "Applies a stencil with random constant coefficients, verifies and times it.",
        0,
        0,
        options,
        6};
    wfi_common common;
    wfi_session session;
    wfi_stencil_request request;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    code = wfi_stencil_parse(&args, &request);
    if (code == WFI_EXIT_DONE)
        code = wfi_session_open(&session, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_stencil(&session, &request, &result_case);
    if (result_case.has_plan)
        wfi_case_print(&session, &result_case);
    code = wfi_case_exit(&result_case, result);
    wfi_stages_finish(&common, &result_case);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}
