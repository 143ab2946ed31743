/* A stencil's grid on many ranks, in slabs or blocks. */
#include "blocks.h"
#include "choice.h"
#include "slabs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 0x1p48 /* which those of a host's ranks may be added to each other */

struct wf_mpi_stencil {
    wfi_ranks ranks;
    wf_device *device;
    wf_stencil_params grid; /* the whole one; its tuning is `tuning` */
    wf_stencil_cut cut;     /* as all ranks have it */
    wfi_choice_sent choice;
    wf_constant constants[WF_MAX_PARAMETERS]; /* of `choice` */
    wf_tuning tuning;
    wfi_blocks blocks; /* along i, j and k: in two dimensions k is y, and there is no j */
    int root;          /* the lowest rank with cells */
    wf_stencil_slab *slab;
    wfi_slabs slabs;
    bool written, failed; /* failed: nothing more can be done */
};

/* A parameter structure of a caller built against another version of the header. */
static bool read_params(const wf_mpi_stencil_params *given, wf_mpi_stencil_params *out)
{
    if (!given || given->size < sizeof given->size || given->size > sizeof *out)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, given, given->size);
    return out->grid && out->grid->size == sizeof *out->grid;
}

/* --------------------------------------------------------------------------------------- choice */

static bool is_flat(const wf_mpi_stencil *s)
{
    return s->grid.nz == 0;
}

/* Cuts anywhere, unless a rank would then have fewer cells than a halo: at whole halos. */
static wfi_blocks_axis along(const wf_mpi_stencil *s, int axis)
{
    const uint32_t cells[] = {s->grid.nx, is_flat(s) ? 1 : s->grid.ny, s->cut.planes};
    return (wfi_blocks_axis){.cells = cells[axis], .unit = 1, .least = s->cut.halo};
}

static wf_result divide_axis(wf_mpi_stencil *s, int axis, const double *weights)
{
    wfi_blocks_axis cells = along(s, axis);
    /* What a block holds along i and j must be a grid of the stencil's: 2 radius + 1. */
    if (axis < 2 && s->cut.steps == 1 && s->grid.border != WF_BORDER_PERIODIC)
        cells.least++;
    const uint32_t *first = s->blocks.first[axis];
    wf_result result = wfi_blocks_divide(&s->ranks, &s->blocks, axis, &cells, weights);
    bool thin = false;
    for (int n = 0; n < s->blocks.count[axis] && result == WF_SUCCESS; n++)
        thin |= first[n + 1] > first[n] && first[n + 1] - first[n] < cells.least;
    if (!thin || s->blocks.count[axis] == 1)
        return result;
    cells.unit = cells.least;
    return wfi_blocks_divide(&s->ranks, &s->blocks, axis, &cells, weights);
}

/* As the root's device says. */
static void choose_blocks(const wf_mpi_stencil *s, const double *weights,
                          const wfi_blocks_axis axes[3], uint32_t count[3])
{
    wfi_blocks_costs costs = wfi_blocks_costs_of(s->device, s->grid.type);
    costs.cell_bytes = 2 * costs.element_bytes;
    costs.around = s->grid.border == WF_BORDER_PERIODIC;
    memset(count, 0, 3 * sizeof *count);
    if (!weights)
        wfi_blocks_choose(s->ranks.count, axes, &costs, count);
    MPI_Bcast(count, 3, MPI_UINT32_T, s->root, s->ranks.comm);
}

/* The caller counts along x, y and z. */
static wf_result divide(wf_mpi_stencil *s, const wf_mpi_stencil_params *params)
{
    const uint32_t *given = params->blocks;
    const wfi_blocks_axis axes[] = {along(s, 0), along(s, 1), along(s, 2)};
    uint32_t count[3] = {given[0], is_flat(s) ? given[2] : given[1],
                         is_flat(s) ? given[1] : given[2]};
    if (given[0] == WF_MPI_BLOCKS_AUTO)
        choose_blocks(s, params->weights, axes, count);
    wf_result result = wfi_blocks_open(&s->ranks, count, &s->blocks);
    if (result == WF_SUCCESS && params->weights && !wfi_blocks_are_slabs(&s->blocks))
        result = wfi_ranks_fail(&s->ranks, WF_ERROR_INVALID_ARGUMENT,
                                "weights are for slabs: blocks have equal shares");
    for (int axis = 0; axis < 3 && result == WF_SUCCESS; axis++)
        result = divide_axis(s, axis, axis == 2 ? params->weights : NULL);
    return wfi_ranks_agree(&s->ranks, result);
}

/* On the root: the device's choice. */
static wf_result choose_here(wf_mpi_stencil *s, const wf_tuning *tuning)
{
    wf_stencil_params grid = s->grid;
    grid.tuning = tuning;
    s->cut.size = sizeof s->cut;
    const wf_result result = wf_stencil_plan_cut(s->device, &grid, &s->cut);
    if (result == WF_SUCCESS)
        wfi_choice_keep(s->cut.variant, s->cut.chosen_by, s->cut.constants, s->cut.constant_count,
                        &s->choice);
    return result;
}

/* The same cut by this device. */
static wf_result try_choice(wf_mpi_stencil *s)
{
    wf_stencil_cut cut = {.size = sizeof cut};
    s->tuning = wfi_choice_tuning(&s->choice, s->constants);
    s->grid.tuning = &s->tuning;
    uint32_t halo = s->cut.halo;
    MPI_Bcast(&halo, 1, MPI_UINT32_T, s->root, s->ranks.comm);
    wf_result result = wf_stencil_plan_cut(s->device, &s->grid, &cut);
    if (result == WF_SUCCESS && cut.halo != halo)
        result = wfi_ranks_fail(&s->ranks, WF_ERROR_UNSUPPORTED,
                                "variant %s makes other steps on this device than on rank %d's",
                                s->choice.variant, s->root);
    s->cut = cut;
    return result;
}

static wf_result choose_together(wf_mpi_stencil *s, const wf_tuning *tuning)
{
    wf_result result = s->ranks.rank == s->root ? choose_here(s, tuning) : WF_SUCCESS;
    result = wfi_ranks_agree(&s->ranks, result);
    if (result != WF_SUCCESS)
        return result;
    MPI_Bcast(&s->choice, (int)sizeof s->choice, MPI_BYTE, s->root, s->ranks.comm);
    return wfi_ranks_agree(&s->ranks, try_choice(s));
}

static wf_result choose(wf_mpi_stencil *s, const wf_mpi_stencil_params *params)
{
    static const wf_tuning portable = {.size = sizeof portable, .variant = "naive"};
    const wf_tuning *tuning = params->grid->tuning;
    /* The parameters of ranks differ in their tuning alone, of which the root's counts. */
    int asked = tuning && tuning->variant;
    MPI_Bcast(&asked, 1, MPI_INT, s->root, s->ranks.comm);
    wf_result result = choose_together(s, tuning);
    if (!asked && (result == WF_ERROR_UNSUPPORTED || result == WF_ERROR_CONSTRAINT))
        result = choose_together(s, &portable);
    return result == WF_SUCCESS ? divide(s, params) : result;
}

/* --------------------------------------------------------------------------------------- making */

static wf_result bind(void *part, const wf_halo_bindings *halos)
{
    return wf_stencil_slab_bind_halos(part, halos);
}

static wf_result pass_begin(void *part, uint32_t steps, bool arrived)
{
    (void)arrived; /* always: wf_mpi_stencil_write exchanges them, too */
    return wf_stencil_slab_pass_begin(part, steps);
}

static wf_result pass_next(void *part, uint32_t steps, bool arrived, double *seconds)
{
    (void)arrived;
    return wf_stencil_slab_pass_next(part, steps, seconds);
}

static wf_result pass_end(void *part, double *seconds)
{
    return wf_stencil_slab_pass_end(part, seconds);
}

/* About what the part needs, twice with its neighbours' cells; of more than any device has, so
 * much. */
static uint64_t bytes_of(const wf_mpi_stencil *s, const uint32_t begin[3], const uint32_t end[3])
{
    double bytes = 2.0 * (double)wf_type_size(s->grid.type);
    for (int axis = 0; axis < 3; axis++)
        bytes *= end[axis] - begin[axis] + (s->blocks.count[axis] > 1 ? 2.0 * s->cut.halo : 0);
    return end[2] > begin[2] ? (uint64_t)fmin(bytes, MOST_BYTES) : 0;
}

static wf_result make_part(wf_mpi_stencil *s)
{
    static const wfi_slab_functions functions = {bind, pass_begin, pass_next, pass_end};
    uint32_t begin[3], end[3];
    wfi_blocks_span(&s->blocks, s->ranks.rank, begin, end);
    const bool here = end[2] > begin[2], flat = is_flat(s);
    const wf_stencil_slab_params params = {.size = sizeof params,
                                           .grid = &s->grid,
                                           .first_plane = begin[2],
                                           .planes = end[2] - begin[2],
                                           .first_row = flat ? 0 : begin[1],
                                           .rows = flat ? 0 : end[1] - begin[1],
                                           .first_cell = begin[0],
                                           .cells = end[0] - begin[0]};
    wfi_slabs_find_around(&s->slabs, &s->ranks, &s->blocks, s->grid.border == WF_BORDER_PERIODIC);
    s->slabs.functions = &functions;
    wf_result result = wfi_ranks_fit(&s->ranks, s->device, bytes_of(s, begin, end));
    if (result == WF_SUCCESS && here)
        result = wf_stencil_slab_create(s->device, &params, &s->slab);
    s->slabs.part = s->slab;
    if (result == WF_SUCCESS && here)
        result = wf_stencil_slab_halos(s->slab, &s->slabs.halo);
    result = wfi_ranks_agree(&s->ranks, result);
    return result == WF_SUCCESS ? wfi_slabs_open(&s->slabs, s->device) : result;
}

static int first_with_weight(const wfi_ranks *ranks, const double *weights)
{
    for (int r = 0; weights && r < ranks->count; r++)
        if (weights[r] > 0)
            return r;
    return 0;
}

wf_result wf_mpi_stencil_create(MPI_Comm comm, wf_device *device,
                                const wf_mpi_stencil_params *given, wf_mpi_stencil **out)
{
    wf_mpi_stencil_params params;
    if (!device || !out || !read_params(given, &params))
        return WF_ERROR_INVALID_ARGUMENT;
    wf_mpi_stencil *s = calloc(1, sizeof *s);
    if (!s)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    s->device = device;
    s->grid = *params.grid;
    wfi_ranks_poll(device);
    wfi_ranks_open(&s->ranks, comm, params.log, params.log_user);
    s->root = first_with_weight(&s->ranks, params.weights);
    wf_result result = choose(s, &params);
    if (result == WF_SUCCESS)
        result = make_part(s);
    if (result != WF_SUCCESS) {
        wf_mpi_stencil_destroy(&s);
        return result;
    }
    *out = s;
    return WF_SUCCESS;
}

void wf_mpi_stencil_destroy(wf_mpi_stencil **handle)
{
    wf_mpi_stencil *s = handle ? *handle : NULL;
    if (!s)
        return;
    wf_stencil_slab_destroy(&s->slab);
    wfi_slabs_close(&s->slabs);
    wfi_ranks_close(&s->ranks);
    wfi_blocks_close(&s->blocks);
    free(s);
    *handle = NULL;
}

wf_result wf_mpi_stencil_describe(const wf_mpi_stencil *s, wf_mpi_stencil_info *info,
                                  wf_plan_info *plan)
{
    if (!s || !info || info->size != sizeof *info || (plan && plan->size < sizeof *plan))
        return WF_ERROR_INVALID_ARGUMENT;
    uint32_t begin[3], end[3];
    wfi_blocks_span(&s->blocks, s->ranks.rank, begin, end);
    info->first_plane = begin[2];
    info->planes = end[2] - begin[2];
    for (int axis = 0; axis < 3; axis++) {
        /* In two dimensions y is k, and z has one plane. */
        const int own = is_flat(s) && axis > 0 ? 3 - axis : axis;
        info->part.blocks[axis] = (uint32_t)s->blocks.count[own];
        info->part.first[axis] = begin[own];
        info->part.cells[axis] = end[own] - begin[own];
    }
    info->plane_bytes = s->cut.plane_bytes;
    info->steps = s->cut.steps;
    info->shared = wfi_slabs_shared(&s->slabs);
    if (!plan)
        return WF_SUCCESS;
    plan->variant = s->choice.variant;
    plan->chosen_by = s->choice.chosen_by;
    plan->constant_count = s->choice.constant_count;
    memcpy(plan->constants, s->constants, sizeof plan->constants);
    return WF_SUCCESS;
}

/* ------------------------------------------------------------------------------------------ run */

wf_result wf_mpi_stencil_write(wf_mpi_stencil *s, const void *own)
{
    if (!s || s->failed)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = s->slab && !own ? WF_ERROR_INVALID_ARGUMENT : WF_SUCCESS;
    if (result == WF_SUCCESS && s->slab)
        result = wfi_slabs_bind(&s->slabs);
    if (result == WF_SUCCESS && s->slab)
        result = wf_stencil_slab_write(s->slab, own);
    result = wfi_ranks_agree(&s->ranks, result);
    if (result == WF_SUCCESS && s->slab)
        result = wfi_slabs_exchange(&s->slabs, WF_SUCCESS);
    s->written = result == WF_SUCCESS;
    s->failed = result != WF_SUCCESS;
    return result;
}

wf_result wf_mpi_stencil_run(wf_mpi_stencil *s, uint32_t steps, double *seconds,
                             wf_mpi_times *times)
{
    wf_mpi_times spent = {.size = sizeof spent, .trace = times ? times->trace : NULL};
    if (!s || s->failed || !s->written || steps == 0 || (times && times->size != sizeof *times))
        return WF_ERROR_INVALID_ARGUMENT;
    MPI_Barrier(s->ranks.comm);
    const double start = MPI_Wtime();
    const wf_result own = wfi_slabs_run(&s->slabs, steps, s->cut.steps, false, &spent);
    const double elapsed = MPI_Wtime() - start;
    double slowest = 0;
    const wf_result result = wfi_ranks_agree(&s->ranks, own);
    s->failed = result != WF_SUCCESS;
    if (s->failed)
        return result;
    MPI_Allreduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, s->ranks.comm);
    if (seconds)
        *seconds = slowest;
    if (times)
        *times = spent;
    return WF_SUCCESS;
}

wf_result wf_mpi_stencil_read(wf_mpi_stencil *s, void *own)
{
    if (!s || s->failed || (s->slab && !own))
        return WF_ERROR_INVALID_ARGUMENT;
    return s->slab ? wf_stencil_slab_read(s->slab, own) : WF_SUCCESS;
}
