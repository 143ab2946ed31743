/* What the family of star and box stencils tells those who know no family by name. */
#include "plan/hooks.h"

#include <stdio.h>

#include "core/params.h"
#include "kernels/families.h"
#include "kernels/stencil/stencil.h"
#include "plan/plan.h"
#include "wfi_sources.h"

#define CHECK_CELLS 4000

static void classes(const wfi_problem *problem, wfi_key *key)
{
    const wfi_stencil_problem *p = &problem->stencil;
    wfi_key_add_size(key, "nx", (double)p->nx);
    wfi_key_add_size(key, "ny", (double)p->ny);
    wfi_key_add_size(key, "nz", p->dimensions == 3 ? (double)p->nz : 0);
    wfi_key_add_size(key, "steps", p->steps);
    wfi_key_add(key, "=shape", (int32_t)(p->shape * 4 + p->dimensions));
    wfi_key_add(key, "=radius", (int32_t)p->radius);
    wfi_key_add(key, "=border", (int32_t)p->border);
    wfi_key_add(key, "=aligned", p->row_stride % 4 == 0);
}

static void text(const wfi_problem *problem, char *out, size_t bytes)
{
    const wfi_stencil_problem *p = &problem->stencil;
    snprintf(out, bytes, "%llux%llux%llu", (unsigned long long)p->nx, (unsigned long long)p->ny,
             (unsigned long long)p->nz);
}

/* Rows and planes of cells lie one behind the other, as where rows of tuning data are measured. */
static bool resize(const wfi_problem *problem, const char *given, wfi_problem *out)
{
    uint64_t e[3];
    if (!wfi_read_extents(given, e))
        return false;
    wfi_stencil_problem *p = &out->stencil;
    *out = *problem;
    p->nx = p->row_stride = e[0];
    p->ny = e[1];
    p->nz = e[2];
    p->plane_rows = p->unit_x = 0;
    p->part = (wfi_stencil_part){0};
    return true;
}

/* By its parameters in place of type and extents. */
static wf_result describe(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    wf_stencil_params params;
    wf_result result =
        wfi_params_read(log, "wf_kernel_compile", given->stencil, &params, sizeof params);
    if (result != WF_SUCCESS)
        return result;
    out->type = params.type;
    if (!given->stencil || (unsigned)params.type >= WF_TYPE_COUNT ||
        !wfi_stencil_sizes_of(&params, &out->stencil))
        return wfi_fail(log, WF_ERROR_INVALID_ARGUMENT,
                        "wf_kernel_compile: the stencil's parameters are out of range");
    return WF_SUCCESS;
}

static void simplify(void *params)
{
    wf_stencil_params *p = params;
    p->vary_x = p->vary_y = p->vary_z = 0;
    p->image = WF_IMAGE_NONE;
}

static wf_type element(wf_type type, uint32_t binding)
{
    (void)binding;
    return type;
}

static wf_result check(const void *params, void *const *host, uint64_t seed, wf_check *out)
{
    return wf_stencil_check(params, host[WF_STENCIL_IN], host[WF_STENCIL_OUT], CHECK_CELLS, seed,
                            out);
}

/* Coefficients are data: no pipeline depends on them. */
static void list(wf_device *device, const wfi_choice *choice, const void *params,
                 wfi_pipeline_list *out)
{
    (void)params;
    wfi_plan_list(device, choice, NULL, out);
}

const struct wfi_family_hooks wfi_stencil_hooks = {
    .sources = WFI_SOURCES_STENCIL,
    .classes = classes,
    .text = text,
    .expect_error = 0.1, /* bench/notes/stencil.md#borders */
    .resize = resize,
    .describe = describe,
    .list = list,
    .simplify = simplify,
    .element = element,
    .check = check,
};
