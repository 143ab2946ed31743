/* A star or box stencil as command lines name it. */
#ifndef WFI_TOOL_CASES_STENCIL_OPTIONS_H
#define WFI_TOOL_CASES_STENCIL_OPTIONS_H

#include "tool/cases/cases.h"

/* What a command line gave; NULL: the default. */
typedef struct wfi_stencil_arguments {
    const char *grid, *shape, *radius, *border, *steps, *type;
    const char *file;    /* whose shape `grid` is; NULL: it was given */
    uint64_t most_steps; /* that are taken; 0: as many as a plan makes */
} wfi_stencil_arguments;

/* On wrong usage prints one line and returns WFI_EXIT_USAGE; WFI_EXIT_FAILED where the file's grid
 * is too small. */
int wfi_stencil_parse(const wfi_stencil_arguments *arguments, wfi_stencil_request *request);

/* The options that give the same request: "--grid 64x64x64 --shape box". */
void wfi_stencil_text(const wfi_stencil_request *request, char *text, size_t bytes);

#endif
