#include "himeno_keep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/console.h"

static const char *const extents[] = {"ni", "nj", "nk"};

static wf_result describe(const wf_mpi_himeno *himeno, wf_plan_info *info)
{
    uint32_t first = 0, planes = 0;
    *info = (wf_plan_info){.size = sizeof *info};
    return wf_mpi_himeno_describe(himeno, info, &first, &planes);
}

wf_result wfi_himeno_unit(const wf_mpi_himeno *himeno, uint32_t *unit)
{
    wf_plan_info info;
    const wf_result result = describe(himeno, &info);
    int steps = 1;
    for (uint32_t i = 0; i < info.constant_count; i++)
        if (strcmp(info.constants[i].name, "steps") == 0)
            steps = (int)info.constants[i].value;
    *unit = (uint32_t)wfi_rank_share(steps);
    return wfi_rank_agree(result);
}

/* -------------------------------------------------------------------------------------- writing */

static int write_state(const wfi_rank *rank, wfi_checkpoints *c, const wf_plan_info *info,
                       const wfi_himeno_state *state)
{
    wfi_checkpoint what = {0};
    uint64_t cells = 1;
    wfi_checkpoint_word(&what, "family", "himeno");
    for (int axis = 0; axis < 3; axis++) {
        wfi_checkpoint_number(&what, extents[axis], state->extent[axis]);
        cells *= state->extent[axis];
    }
    wfi_checkpoint_number(&what, "iterations", state->iterations);
    wfi_checkpoint_number(&what, "gosa", (double)state->gosa);
    wfi_checkpoints_add_point(info, &what);
    wfi_checkpoint_array_add(&what, "p", WF_TYPE_F32, cells, state->p);
    return wfi_checkpoints_write(rank, c, &what);
}

int wfi_himeno_keep(wfi_rank *rank, wfi_checkpoints *c, wf_mpi_himeno *himeno,
                    const wfi_himeno_state *state)
{
    wf_plan_info info;
    wf_result result = wfi_rank_agree(describe(himeno, &info));
    if (result == WF_SUCCESS)
        result = wf_mpi_himeno_read(himeno, 0, state->p);
    return result == WF_SUCCESS ? write_state(rank, c, &info, state)
                                : wfi_rank_failed(rank, result);
}

/* -------------------------------------------------------------------------------------- reading */

static bool take_extent(const wfi_checkpoint *c, int axis, wfi_himeno_state *state)
{
    const double there = wfi_checkpoint_find(c, extents[axis]);
    if (!(there >= 3 && there <= UINT32_MAX) ||
        (state->extent[axis] && state->extent[axis] != (uint32_t)there))
        return false;
    state->extent[axis] = (uint32_t)there;
    return true;
}

int wfi_himeno_keep_read(wfi_rank *rank, const char *path, wfi_checkpoint *out,
                         wfi_himeno_state *state)
{
    int code = wfi_checkpoints_read(rank, path, "himeno", out);
    if (code != WFI_EXIT_DONE)
        return code;
    const double iterations = wfi_checkpoint_find(out, "iterations"),
                 gosa = wfi_checkpoint_find(out, "gosa");
    bool ok = true;
    for (int axis = 0; axis < 3; axis++)
        ok = take_extent(out, axis, state) && ok;
    if (!ok)
        return rank->prints
                   ? wfi_run_error("%s: the checkpoint is of a grid of %.0fx%.0fx%.0f cells", path,
                                   wfi_checkpoint_find(out, "ni"), wfi_checkpoint_find(out, "nj"),
                                   wfi_checkpoint_find(out, "nk"))
                   : WFI_EXIT_FAILED;
    const wfi_checkpoint_array *p = wfi_checkpoint_find_array(out, "p");
    const double cells = (double)state->extent[0] * state->extent[1] * state->extent[2];
    ok = iterations >= 1 && iterations <= UINT32_MAX &&
         wfi_checkpoints_take_point(out, &rank->common) &&
         (!rank->prints || (p && p->type == WF_TYPE_F32 && (double)p->count == cells));
    code = wfi_rank_worst(ok ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return rank->prints ? wfi_run_error("%s: the checkpoint is not whole", path) : code;
    state->iterations = (uint32_t)iterations;
    state->gosa = (float)gosa;
    return WFI_EXIT_DONE;
}

wf_result wfi_himeno_resume(const wfi_checkpoint *c, wf_mpi_himeno *himeno)
{
    const wfi_checkpoint_array *p = wfi_checkpoint_find_array(c, "p");
    return wf_mpi_himeno_write(himeno, 0, p ? p->data : NULL);
}
