#include "tool/cases/laplace_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/png_image.h"
#include "tool/cases/vectors.h"
#include "tool/cli/console.h"
#include "tool/cli/options.h"
#include "tool/cli/path.h"
#include "tool/report/picture.h"

#define LEAST_EXTENT 3
#define MOST_EXTENT (1u << 20)
#define MOST_EVERY 4096
#define MOST_ITERATIONS (1u << 24)
#define DEFAULT_ITERATIONS 10000000
#define LEAST_DEFAULT_EVERY 8 /* of the library's choices */
#define LINES 12              /* of the convergence shown */

/* -------------------------------------------------------------------------------------- options */

/* A number over 0, and below `most` if that is finite. */
static bool parse_positive(const char *option, const char *text, double most, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    if (!*end && end != text && *value > 0 && *value < most)
        return true;
    wfi_usage_error("%s: '%s' is not between 0 and %g", option, text, most);
    return false;
}

static int parse_method(const wfi_laplace_arguments *a, wf_laplace_params *p)
{
    if (!a->method || strcmp(a->method, "sor") == 0)
        return WFI_EXIT_DONE;
    if (strcmp(a->method, "jacobi") != 0)
        return wfi_usage_error("--method: '%s' is not jacobi or sor", a->method);
    p->method = WF_LAPLACE_JACOBI;
    if (a->omega)
        return wfi_usage_error("laplace: --omega goes with --method sor");
    return WFI_EXIT_DONE;
}

static int parse_output(const wfi_laplace_arguments *a)
{
    if (!a->output || wfi_path_takes_npy(a->output))
        return WFI_EXIT_DONE;
    if (!wfi_path_ends_in(a->output, ".png"))
        return wfi_usage_error("laplace: -o writes u.npy or u.png, not '%s'", a->output);
    if (!wfi_png_available())
        return wfi_run_error("%s: wavefit was built without libpng; name a file .npy", a->output);
    return WFI_EXIT_DONE;
}

static int parse_numbers(const wfi_laplace_arguments *a, wf_laplace_params *p)
{
    uint64_t every = 0, iterations = 0;
    if ((a->tolerance && !parse_positive("--tolerance", a->tolerance, 1, &p->tolerance)) ||
        (a->omega && !parse_positive("--omega", a->omega, 2, &p->omega)) ||
        (a->every && !wfi_parse_u64("--check-every", a->every, 1, MOST_EVERY, &every)) ||
        (a->iterations &&
         !wfi_parse_u64("--max-iterations", a->iterations, 1, MOST_ITERATIONS, &iterations)) ||
        (a->type && !wfi_parse_type("--type", a->type, &p->type)))
        return WFI_EXIT_USAGE;
    if (p->type != WF_TYPE_F32 && p->type != WF_TYPE_F64)
        return wfi_usage_error("laplace: --type must be f32 or f64");
    p->check_every = (uint32_t)every;
    p->max_iterations = (uint32_t)iterations;
    return WFI_EXIT_DONE;
}

static int parse_grid(const wfi_laplace_arguments *a, wf_laplace_params *p)
{
    uint64_t extent[2];
    if (!a->grid)
        return a->border ? WFI_EXIT_DONE
                         : wfi_usage_error("laplace: give --grid WxH or --border FILE.npy");
    if (!wfi_parse_pair("--grid", a->grid, MOST_EXTENT, extent))
        return WFI_EXIT_USAGE;
    if (extent[0] < LEAST_EXTENT || extent[1] < LEAST_EXTENT)
        return wfi_usage_error("--grid: '%s' is too small; each axis needs at least %u", a->grid,
                               LEAST_EXTENT);
    p->nx = (uint32_t)extent[0];
    p->ny = (uint32_t)extent[1];
    return WFI_EXIT_DONE;
}

int wfi_laplace_parse(const wfi_laplace_arguments *a, wf_laplace_params *p)
{
    *p = (wf_laplace_params){.size = sizeof *p, .type = WF_TYPE_F32};
    int code = parse_method(a, p);
    if (code == WFI_EXIT_DONE)
        code = parse_numbers(a, p);
    if (code == WFI_EXIT_DONE)
        code = parse_grid(a, p);
    return code == WFI_EXIT_DONE ? parse_output(a) : code;
}

/* ---------------------------------------------------------------------------------------- field */

int wfi_laplace_read_border(const wfi_laplace_arguments *a, wf_laplace_params *p, wfi_npy *border)
{
    wfi_io_error error;
    const char *path = a->border;
    if (!path)
        return WFI_EXIT_DONE;
    if (!wfi_npy_read(path, border, &error))
        return wfi_run_error("%s", error.text);
    const uint64_t rows = border->shape[0], columns = border->shape[1];
    if (border->dimensions != 2 || rows < LEAST_EXTENT || columns < LEAST_EXTENT ||
        rows > MOST_EXTENT || columns > MOST_EXTENT)
        return wfi_run_error("%s: two dimensions of %u to %u are needed", path, LEAST_EXTENT,
                             MOST_EXTENT);
    if (a->grid && (columns != p->nx || rows != p->ny))
        return wfi_run_error("%s has %llu rows of %llu; --grid says %ux%u", path,
                             (unsigned long long)rows, (unsigned long long)columns, p->nx, p->ny);
    p->nx = (uint32_t)columns;
    p->ny = (uint32_t)rows;
    return WFI_EXIT_DONE;
}

static int check_values(const wfi_laplace_arguments *a, const wf_laplace_params *p, const void *u)
{
    for (size_t i = 0; i < p->nx * (size_t)p->ny; i++)
        if (!isfinite(wf_element_get(p->type, u, i)))
            return wfi_run_error("%s: row %u, column %u is %g", a->border, (unsigned)(i / p->nx),
                                 (unsigned)(i % p->nx), wf_element_get(p->type, u, i));
    return WFI_EXIT_DONE;
}

int wfi_laplace_make_field(const wfi_laplace_arguments *a, const wf_laplace_params *p,
                           wfi_npy *border, void **u, void **made)
{
    if (a->border) {
        const int code = wfi_npy_elements(a->border, border, p->type);
        *u = border->data;
        return code == WFI_EXIT_DONE ? check_values(a, p, *u) : code;
    }
    *u = *made = wfi_answer_memory(p->nx * (size_t)p->ny * wf_type_size(p->type));
    if (!*u)
        return wfi_run_error("laplace: out of memory");
    for (uint32_t x = 0; x < p->nx; x++)
        wf_element_set(p->type, *u, x, 1);
    return WFI_EXIT_DONE;
}

int wfi_laplace_write_field(const char *path, const wf_laplace_params *p, const void *u)
{
    wfi_io_error error;
    const uint64_t shape[2] = {p->ny, p->nx};
    const bool ok = wfi_path_ends_in(path, ".png")
                        ? wfi_picture_write(path, p->type, p->nx, p->ny, u, &error)
                        : wfi_npy_write(path, p->type, 2, shape, u, &error);
    return ok ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}

/* ----------------------------------------------------------------------------------------- text */

uint32_t wfi_laplace_most_iterations(const wf_laplace_params *p)
{
    return p->max_iterations ? p->max_iterations : DEFAULT_ITERATIONS;
}

uint32_t wfi_laplace_most_checks(const wf_laplace_params *p)
{
    const uint32_t every = p->check_every ? p->check_every : LEAST_DEFAULT_EVERY;
    return wfi_laplace_most_iterations(p) / every + 1;
}

const char *wfi_laplace_method_text(const wf_laplace_params *p)
{
    return p->method == WF_LAPLACE_JACOBI ? "jacobi" : "sor";
}

const char *wfi_laplace_status_text(wf_laplace_status status)
{
    switch (status) {
    case WF_LAPLACE_CONVERGED:
        return "converged";
    case WF_LAPLACE_MAX_ITERATIONS:
        return "the tolerance was not met within the iterations";
    case WF_LAPLACE_STAGNATED:
        return "rounding keeps the residual above the tolerance (--type f64 goes further)";
    case WF_LAPLACE_NOT_FINITE:
        return "the iteration overflowed";
    case WF_LAPLACE_CANCELLED:
        return "interrupted";
    case WF_LAPLACE_INACCURATE:
        return "wrong: the residual of what came back is over the tolerance by more than rounding "
               "explains (the device erred)";
    }
    return "?";
}

void wfi_laplace_print_history(uint32_t checks, uint32_t every, uint32_t iterations,
                               const double *history)
{
    const uint32_t lines = checks < LINES ? checks : LINES;
    for (uint32_t i = 0; i < lines; i++) {
        const uint32_t check = (uint32_t)((uint64_t)checks * (i + 1) / lines) - 1;
        const uint64_t iteration = (check + UINT64_C(1)) * every;
        printf("%-9s %10u  %.3e\n", i ? "" : "residual",
               iteration < iterations ? (uint32_t)iteration : iterations, history[check]);
    }
}
