#include "tool/cases/stencil_options.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_GRID "256x256x256"
#define MOST_EXTENT (1u << 30)
#define MOST_STEPS 4096

static const char *const shapes[] = {"star", "box", NULL};
static const char *const borders[] = {"dirichlet", "neumann", "periodic", NULL};

/* The index of a name, or -1; the first is the default. */
static int index_of(const char *const *names, const char *text)
{
    for (int i = 0; names[i]; i++)
        if (!text || strcmp(names[i], text) == 0)
            return i;
    return -1;
}

/* "NXxNY" or "NXxNYxNZ". */
static int parse_grid(const char *text, const char *file, wfi_stencil_request *r)
{
    uint64_t extent[3] = {0};
    const char *first = strchr(text, 'x');
    const bool solid = first && strchr(first + 1, 'x');
    if (solid ? !wfi_parse_triple("--grid", text, MOST_EXTENT, extent)
              : !wfi_parse_pair("--grid", text, MOST_EXTENT, extent))
        return WFI_EXIT_USAGE;
    r->nx = (uint32_t)extent[0];
    r->ny = (uint32_t)extent[1];
    r->nz = (uint32_t)extent[2];
    const uint32_t least = 2 * r->radius + 1;
    if (r->nx >= least && r->ny >= least && (!solid || r->nz >= least))
        return WFI_EXIT_DONE;
    if (file)
        return wfi_run_error("%s: %s cells are too few for radius %u; each axis needs at least %u",
                             file, text, r->radius, least);
    return wfi_usage_error("--grid: '%s' is too small for radius %u; each axis needs at least %u",
                           text, r->radius, least);
}

int wfi_stencil_parse(const wfi_stencil_arguments *a, wfi_stencil_request *r)
{
    uint64_t radius = 1, steps = 1;
    const int shape = index_of(shapes, a->shape), border = index_of(borders, a->border);
    if (shape < 0)
        return wfi_usage_error("--shape: '%s' is not star or box", a->shape);
    if (border < 0)
        return wfi_usage_error("--border: '%s' is not dirichlet, neumann or periodic", a->border);
    *r = (wfi_stencil_request){.type = WF_TYPE_F32};
    if ((a->radius && !wfi_parse_u64("--radius", a->radius, 1, 4, &radius)) ||
        (a->steps && !wfi_parse_u64("--steps", a->steps, 1,
                                    a->most_steps ? a->most_steps : MOST_STEPS, &steps)) ||
        (a->type && !wfi_parse_type("--type", a->type, &r->type)))
        return WFI_EXIT_USAGE;
    if (!wfi_takes_type("--type: a stencil's", WF_FAMILY_STENCIL, r->type))
        return WFI_EXIT_USAGE;
    r->shape = (wf_stencil_shape)shape;
    r->border = (wf_border)border;
    r->radius = (uint32_t)radius;
    r->steps = (uint32_t)steps;
    return parse_grid(a->grid ? a->grid : DEFAULT_GRID, a->file, r);
}

static void append(char *text, size_t bytes, const char *option, const char *value)
{
    const size_t used = strlen(text);
    snprintf(text + used, bytes - used, "%s%s %s", used ? " " : "", option, value);
}

void wfi_stencil_text(const wfi_stencil_request *r, char *text, size_t bytes)
{
    char value[48];
    *text = '\0';
    snprintf(value, sizeof value, "%ux%u", r->nx, r->ny);
    if (r->nz)
        snprintf(value, sizeof value, "%ux%ux%u", r->nx, r->ny, r->nz);
    append(text, bytes, "--grid", value);
    if (r->shape != WF_STENCIL_STAR)
        append(text, bytes, "--shape", shapes[r->shape]);
    snprintf(value, sizeof value, "%u", r->radius);
    if (r->radius > 1)
        append(text, bytes, "--radius", value);
    if (r->border != WF_BORDER_DIRICHLET)
        append(text, bytes, "--border", borders[r->border]);
    snprintf(value, sizeof value, "%u", r->steps);
    if (r->steps > 1)
        append(text, bytes, "--steps", value);
    if (r->type != WF_TYPE_F32)
        append(text, bytes, "--type", wf_type_name(r->type));
}
