/* A problem of Laplace's equation as command lines name it, its field, and what is said of it. */
#ifndef WFI_TOOL_CASES_LAPLACE_OPTIONS_H
#define WFI_TOOL_CASES_LAPLACE_OPTIONS_H

#include "io/npy.h"
#include "wavefit/wavefit.h"

/* What a command line gave; NULL: the default. */
typedef struct wfi_laplace_arguments {
    const char *grid, *tolerance, *method, *omega, *type, *every, *iterations, *border, *output;
} wfi_laplace_arguments;

/* These print one line and return the exit code on failure. */
int wfi_laplace_parse(const wfi_laplace_arguments *arguments, wf_laplace_params *params);
/* The grid from the file of borders, if one is named, or both alike. */
int wfi_laplace_read_border(const wfi_laplace_arguments *arguments, wf_laplace_params *params,
                            wfi_npy *border);
/* The file's values, or 1 along the top and 0 elsewhere: *u is border->data, or *made, to be
 * freed. */
int wfi_laplace_make_field(const wfi_laplace_arguments *arguments, const wf_laplace_params *params,
                           wfi_npy *border, void **u, void **made);
/* As u.npy or u.png. */
int wfi_laplace_write_field(const char *path, const wf_laplace_params *params, const void *u);

uint32_t wfi_laplace_most_iterations(const wf_laplace_params *params);
/* How long a history can become. */
uint32_t wfi_laplace_most_checks(const wf_laplace_params *params);
const char *wfi_laplace_method_text(const wf_laplace_params *params);
const char *wfi_laplace_status_text(wf_laplace_status status);
/* Some of the checks, evenly spread, the last one among them. */
void wfi_laplace_print_history(uint32_t checks, uint32_t every, uint32_t iterations,
                               const double *history);

#endif
