/* What Himeno's family tells those who know no family by name. */
#include "plan/hooks.h"

#include <stdio.h>

#include "kernels/families.h"
#include "kernels/himeno/himeno.h"
#include "wfi_sources.h"

static void classes(const wfi_problem *problem, wfi_key *key)
{
    wfi_key_add_size(key, "ni", (double)problem->himeno.ni);
    wfi_key_add_size(key, "nj", (double)problem->himeno.nj);
    wfi_key_add_size(key, "nk", (double)problem->himeno.nk);
}

static void text(const wfi_problem *problem, char *out, size_t bytes)
{
    const wfi_himeno_problem *p = &problem->himeno;
    snprintf(out, bytes, "%llux%llux%llu", (unsigned long long)p->ni, (unsigned long long)p->nj,
             (unsigned long long)p->nk);
}

static bool resize(const wfi_problem *problem, const char *given, wfi_problem *out)
{
    uint64_t e[3];
    if (!wfi_read_extents(given, e) || e[0] < 3 || e[1] < 3 || e[2] < 3)
        return false;
    *out = *problem;
    out->himeno.ni = e[0];
    out->himeno.nj = e[1];
    out->himeno.nk = e[2];
    return true;
}

static wf_result describe(const wfi_log *log, const wf_problem *given, wfi_problem *out)
{
    const uint64_t *e = given->extent;
    const wf_result result = wfi_describe_extents(log, given);
    if (result == WF_SUCCESS)
        out->himeno = (wfi_himeno_problem){.ni = e[0], .nj = e[1], .nk = e[2]};
    return result;
}

/* The pipelines of passes and of the single iterations that may remain. They do not depend on how
 * the grid is cut, so that one slab stands for all. */
static void list(wf_device *device, const wfi_choice *choice, const void *params,
                 wfi_pipeline_list *out)
{
    const wfi_himeno_problem *p = &choice->point.problem->himeno;
    const wfi_himeno_slab whole = {.i = {.count = (uint32_t)p->ni - 2},
                                   .j = {.count = (uint32_t)p->nj - 2},
                                   .planes = (uint32_t)p->nk - 2,
                                   .p_first = 1,
                                   .p_planes = p->nk};
    wfi_choice single = *choice;
    (void)params;
    wfi_plan_list(device, choice, &whole, out);
    if (wfi_himeno_steps(&choice->point) == 1)
        return;
    wfi_himeno_single(&choice->point, &single.point);
    wfi_plan_list(device, &single, &whole, out);
}

const struct wfi_family_hooks wfi_himeno_hooks = {
    .sources = WFI_SOURCES_HIMENO,
    .classes = classes,
    .text = text,
    .expect_error = 0.055, /* bench/notes/himeno.md#three-iterations */
    .resize = resize,
    .describe = describe,
    .fits = wfi_himeno_fits,
    .list = list,
};
