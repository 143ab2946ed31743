#include "stencil_keep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/cli/console.h"

#define MOST_EXTENT (1u << 30)
#define MOST_RADIUS 4

/* UINT64_MAX, which no array has, where extents that make no grid are over 64 bits together. */
static uint64_t cells_of(const wfi_stencil_request *q)
{
    const uint64_t plane = (uint64_t)q->nx * q->ny, planes = q->nz ? q->nz : 1;
    return plane > UINT64_MAX / planes ? UINT64_MAX : plane * planes;
}

int wfi_stencil_keep(const wfi_rank *rank, wfi_checkpoints *c, const wfi_stencil_request *q,
                     const wf_plan_info *info, uint32_t steps, const void *grid)
{
    wfi_checkpoint what = {0};
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, rank->common.seed);
    wfi_checkpoint_word(&what, "family", "stencil");
    wfi_checkpoint_number(&what, "nx", q->nx);
    wfi_checkpoint_number(&what, "ny", q->ny);
    wfi_checkpoint_number(&what, "nz", q->nz);
    wfi_checkpoint_number(&what, "shape", q->shape);
    wfi_checkpoint_number(&what, "radius", q->radius);
    wfi_checkpoint_number(&what, "border", q->border);
    wfi_checkpoint_word(&what, "type", wf_type_name(q->type));
    wfi_checkpoint_word(&what, "seed", seed);
    wfi_checkpoint_number(&what, "iterations", steps);
    wfi_checkpoints_add_point(info, &what);
    wfi_checkpoint_array_add(&what, "grid", q->type, cells_of(q), grid);
    return wfi_checkpoints_write(rank, c, &what);
}

/* -------------------------------------------------------------------------------------- reading */

static bool take(const wfi_checkpoint *c, const char *name, uint32_t least, uint32_t most,
                 uint32_t *out)
{
    const double there = wfi_checkpoint_find(c, name);
    const bool ok = there >= least && there <= most;
    *out = ok ? (uint32_t)there : 0;
    return ok;
}

/* A JSON number may not hold a seed: it is written as a word. */
static bool take_seed(const wfi_checkpoint *c, wfi_common *common)
{
    const char *word = wfi_checkpoint_find_word(c, "seed");
    if (!word)
        return false;
    common->seed = strtoull(word, NULL, 10);
    return true;
}

static bool take_request(const wfi_checkpoint *c, wfi_stencil_request *q)
{
    uint32_t shape = 0, border = 0;
    q->type = wfi_checkpoint_type(wfi_checkpoint_find_word(c, "type"));
    const bool ok =
        take(c, "nx", 1, MOST_EXTENT, &q->nx) && take(c, "ny", 1, MOST_EXTENT, &q->ny) &&
        take(c, "nz", 0, MOST_EXTENT, &q->nz) && take(c, "radius", 1, MOST_RADIUS, &q->radius) &&
        take(c, "shape", 0, WF_STENCIL_BOX, &shape) &&
        take(c, "border", 0, WF_BORDER_PERIODIC, &border) && q->type != WF_TYPE_COUNT;
    q->shape = (wf_stencil_shape)shape;
    q->border = (wf_border)border;
    return ok;
}

/* Rank 0 alone has the grid. */
static bool has_grid(const wfi_checkpoint *c, const wfi_stencil_request *q)
{
    const wfi_checkpoint_array *grid = wfi_checkpoint_find_array(c, "grid");
    return grid && grid->type == q->type && grid->count == cells_of(q);
}

int wfi_stencil_keep_read(wfi_rank *rank, const char *path, wfi_checkpoint *out,
                          wfi_stencil_request *q, uint32_t *steps)
{
    int code = wfi_checkpoints_read(rank, path, "stencil", out);
    if (code != WFI_EXIT_DONE)
        return code;
    const bool ok = take_seed(out, &rank->common) &&
                    take(out, "iterations", 1, UINT32_MAX, steps) && take_request(out, q) &&
                    wfi_checkpoints_take_point(out, &rank->common) &&
                    (!rank->prints || has_grid(out, q));
    code = wfi_rank_worst(ok ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE && rank->prints)
        return wfi_run_error("%s: the checkpoint is not whole", path);
    return code;
}
