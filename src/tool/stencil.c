/* wavefit stencil: a star or box stencil with random coefficients on a random grid, verified and timed. */
#include <stdio.h>
#include <string.h>

#include "tool/cases.h"
#include "tool/commands.h"

#define MOST_EXTENT (1u << 30)
#define MOST_STEPS 4096

typedef struct arguments {
    const char *grid, *shape, *radius, *border, *steps, *type;
} arguments;

static int index_of(const char *const *names, const char *text)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

/* "NXxNY" or "NXxNYxNZ". */
static bool parse_grid(const char *text, wfi_stencil_request *r)
{
    uint64_t extent[3] = {0};
    const char *first = strchr(text, 'x');
    const bool solid = first && strchr(first + 1, 'x');
    if (solid ? !wfi_parse_triple("--grid", text, MOST_EXTENT, extent)
              : !wfi_parse_pair("--grid", text, MOST_EXTENT, extent))
        return false;
    r->nx = (uint32_t)extent[0];
    r->ny = (uint32_t)extent[1];
    r->nz = (uint32_t)extent[2];
    const uint32_t least = 2 * r->radius + 1;
    if (r->nx < least || r->ny < least || (solid && r->nz < least)) {
        wfi_usage_error("--grid: '%s' is too small for radius %u; each axis needs at least %u",
                        text, r->radius, least);
        return false;
    }
    return true;
}

static int parse(const arguments *a, wfi_stencil_request *r)
{
    static const char *const shapes[] = {"star", "box", NULL};
    static const char *const borders[] = {"dirichlet", "neumann", "periodic", NULL};
    uint64_t radius = 1, steps = 1;
    const int shape = index_of(shapes, a->shape), border = index_of(borders, a->border);
    if (shape < 0)
        return wfi_usage_error("--shape: '%s' is not star or box", a->shape);
    if (border < 0)
        return wfi_usage_error("--border: '%s' is not dirichlet, neumann or periodic", a->border);
    if ((a->radius && !wfi_parse_u64("--radius", a->radius, 1, 4, &radius)) ||
        (a->steps && !wfi_parse_u64("--steps", a->steps, 1, MOST_STEPS, &steps)) ||
        (a->type && !wfi_parse_type("--type", a->type, &r->type)))
        return WFI_EXIT_USAGE;
    if (r->type != WF_TYPE_F32 && r->type != WF_TYPE_F64 && r->type != WF_TYPE_F16)
        return wfi_usage_error("stencil: --type must be f32, f64 or f16");
    r->shape = (wf_stencil_shape)shape;
    r->border = (wf_border)border;
    r->radius = (uint32_t)radius;
    r->steps = (uint32_t)steps;
    return parse_grid(a->grid, r) ? WFI_EXIT_DONE : WFI_EXIT_USAGE;
}

int wfi_tool_stencil(int argc, char **argv)
{
    static wfi_result_case result_case;
    arguments args = {.grid = "256x256x256", .shape = "star", .border = "dirichlet"};
    const wfi_option options[] = {
        {"--grid", "NXxNY[xNZ]", &args.grid, NULL, "cells, x contiguous (default 256x256x256)"},
        {"--shape", "star|box", &args.shape, NULL, "default star"},
        {"--radius", "R", &args.radius, NULL, "1 to 4 (default 1)"},
        {"--border", "dirichlet|neumann|periodic", &args.border, NULL, "default dirichlet"},
        {"--steps", "N", &args.steps, NULL, "applications a run (default 1)"},
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
    wfi_stencil_request request = {.type = WF_TYPE_F32};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    code = parse(&args, &request);
    if (code == WFI_EXIT_DONE)
        code = wfi_session_open(&session, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_stencil(&session, &request, &result_case);
    if (result_case.has_plan)
        wfi_case_print(&session, &result_case);
    code = wfi_case_exit(&result_case, result);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}
