/* How a grid of Laplace's equation is cut among ranks, and its making. */
#include <stdlib.h>
#include <string.h>

#include "laplace.h"

/* A parameter structure of a caller built against another version of the header. */
static bool read_params(const wf_mpi_laplace_params *given, wf_mpi_laplace_params *out)
{
    if (!given || given->size < sizeof given->size || given->size > sizeof *out)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, given, given->size);
    return out->grid && out->grid->size == sizeof *out->grid && !out->grid->stages;
}

uint32_t wfi_mpi_laplace_rows(const wf_mpi_laplace *l, int rank)
{
    return l->first[rank + 1] - l->first[rank];
}

/* --------------------------------------------------------------------------------------- choice */

/* Cuts anywhere, unless a rank would then have fewer rows than a halo: at whole halos. */
static wf_result divide(wf_mpi_laplace *l)
{
    const uint32_t halo = l->cut.halo, whole = (halo + l->cut.unit - 1) / l->cut.unit * l->cut.unit;
    const double *weights = l->params.weights;
    wf_result result =
        wfi_ranks_divide(&l->ranks, l->grid.ny, l->cut.unit, halo, weights, l->first);
    bool thin = false;
    for (int r = 0; r < l->ranks.count && result == WF_SUCCESS; r++)
        thin |= wfi_mpi_laplace_rows(l, r) > 0 && wfi_mpi_laplace_rows(l, r) < halo;
    return thin ? wfi_ranks_divide(&l->ranks, l->grid.ny, whole, halo, weights, l->first) : result;
}

static uint32_t parts_of(const wf_mpi_laplace *l)
{
    uint32_t parts = 0;
    for (int r = 0; r < l->ranks.count; r++)
        parts += !l->params.weights || l->params.weights[r] > 0;
    return parts ? parts : 1;
}

/* On the root: the device's choice. */
static wf_result choose_here(wf_mpi_laplace *l, const wf_tuning *tuning)
{
    wf_laplace_params grid = l->grid;
    grid.tuning = tuning;
    l->cut.size = sizeof l->cut;
    const wf_result result = wf_laplace_plan_cut(l->device, &grid, parts_of(l), &l->cut);
    if (result == WF_SUCCESS && l->cut.variant)
        wfi_choice_keep(l->cut.variant, l->cut.chosen_by, l->cut.constants, l->cut.constant_count,
                        &l->choice);
    return result;
}

/* The same cut by this device. */
static wf_result try_choice(wf_mpi_laplace *l)
{
    wf_laplace_cut cut = {.size = sizeof cut};
    if (l->grid.method == WF_LAPLACE_JACOBI) {
        l->tuning = wfi_choice_tuning(&l->choice, l->constants);
        l->grid.tuning = &l->tuning;
    }
    uint32_t halo = l->cut.halo;
    MPI_Bcast(&halo, 1, MPI_UINT32_T, l->root, l->ranks.comm);
    wf_result result = wf_laplace_plan_cut(l->device, &l->grid, parts_of(l), &cut);
    if (result == WF_SUCCESS && cut.halo != halo)
        result = wfi_ranks_fail(&l->ranks, WF_ERROR_UNSUPPORTED,
                                "variant %s makes other steps on this device than on rank %d's",
                                l->choice.variant, l->root);
    l->cut = cut;
    return result;
}

static wf_result choose_together(wf_mpi_laplace *l, const wf_tuning *tuning)
{
    wf_result result = l->ranks.rank == l->root ? choose_here(l, tuning) : WF_SUCCESS;
    result = wfi_ranks_agree(&l->ranks, result);
    if (result != WF_SUCCESS)
        return result;
    MPI_Bcast(&l->choice, (int)sizeof l->choice, MPI_BYTE, l->root, l->ranks.comm);
    return wfi_ranks_agree(&l->ranks, try_choice(l));
}

static wf_result choose(wf_mpi_laplace *l)
{
    static const wf_tuning portable = {.size = sizeof portable, .variant = "naive"};
    const wf_tuning *tuning = l->grid.tuning;
    /* The parameters of ranks differ in their tuning alone, of which the root's counts. */
    int asked = tuning && tuning->variant;
    MPI_Bcast(&asked, 1, MPI_INT, l->root, l->ranks.comm);
    wf_result result = choose_together(l, tuning);
    if (!asked && l->grid.method == WF_LAPLACE_JACOBI &&
        (result == WF_ERROR_UNSUPPORTED || result == WF_ERROR_CONSTRAINT))
        result = choose_together(l, &portable);
    return result == WF_SUCCESS ? divide(l) : result;
}

/* --------------------------------------------------------------------------------------- making */

static wf_result bind(void *part, const wf_halo_bindings *halos)
{
    return wf_laplace_slab_bind_halos(part, halos);
}

static wf_result pass_begin(void *part, uint32_t iterations, bool arrived)
{
    (void)arrived; /* always: the start values are exchanged, too */
    return wf_laplace_slab_pass_begin(part, iterations);
}

static wf_result pass_next(void *part, uint32_t iterations, bool arrived, double *seconds)
{
    (void)arrived;
    return wf_laplace_slab_pass_next(part, iterations, seconds);
}

static wf_result pass_end(void *part, double *seconds)
{
    return wf_laplace_slab_pass_end(part, seconds);
}

static wf_result make_slab(wf_mpi_laplace *l)
{
    static const wfi_slab_functions functions = {bind, pass_begin, pass_next, pass_end};
    const uint32_t rows = wfi_mpi_laplace_rows(l, l->ranks.rank);
    const uint64_t held = rows ? rows + UINT64_C(2) * l->cut.halo : 0;
    const wf_laplace_slab_params params = {.size = sizeof params,
                                           .grid = &l->grid,
                                           .first_row = l->first[l->ranks.rank],
                                           .rows = rows,
                                           .iterations = l->cut.iterations};
    wfi_slabs_find(&l->slabs, &l->ranks, l->first, false);
    l->slabs.functions = &functions;
    wf_result result = wfi_ranks_fit(&l->ranks, l->device, 2 * held * l->cut.row_bytes);
    if (result == WF_SUCCESS && rows)
        result = wf_laplace_slab_create(l->device, &params, &l->slab);
    l->slabs.part = l->slab;
    if (result == WF_SUCCESS && rows)
        result = wf_laplace_slab_halos(l->slab, &l->slabs.halo);
    result = wfi_ranks_agree(&l->ranks, result);
    return result == WF_SUCCESS ? wfi_slabs_open(&l->slabs, l->device) : result;
}

static int first_with_weight(const wfi_ranks *ranks, const double *weights)
{
    for (int r = 0; weights && r < ranks->count; r++)
        if (weights[r] > 0)
            return r;
    return 0;
}

wf_result wf_mpi_laplace_create(MPI_Comm comm, wf_device *device,
                                const wf_mpi_laplace_params *given, wf_mpi_laplace **out)
{
    wf_mpi_laplace_params params;
    if (!device || !out || !read_params(given, &params))
        return WF_ERROR_INVALID_ARGUMENT;
    wf_mpi_laplace *l = calloc(1, sizeof *l);
    if (!l)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    l->device = device;
    l->params = params;
    l->grid = *params.grid;
    wfi_ranks_poll(device);
    wfi_ranks_open(&l->ranks, comm, params.log, params.log_user);
    l->root = first_with_weight(&l->ranks, params.weights);
    l->first = calloc((size_t)l->ranks.count + 1, sizeof *l->first);
    wf_result result =
        wfi_ranks_agree(&l->ranks, l->first ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result == WF_SUCCESS)
        result = choose(l);
    if (result == WF_SUCCESS)
        result = make_slab(l);
    l->params.weights = NULL; /* these are the caller's, and read */
    l->params.grid = NULL;
    if (result != WF_SUCCESS) {
        wf_mpi_laplace_destroy(&l);
        return result;
    }
    *out = l;
    return WF_SUCCESS;
}

void wf_mpi_laplace_destroy(wf_mpi_laplace **handle)
{
    wf_mpi_laplace *l = handle ? *handle : NULL;
    if (!l)
        return;
    wf_laplace_slab_destroy(&l->slab);
    wfi_slabs_close(&l->slabs);
    wfi_ranks_close(&l->ranks);
    free(l->first);
    free(l);
    *handle = NULL;
}

wf_result wf_mpi_laplace_describe(const wf_mpi_laplace *l, wf_mpi_laplace_info *info,
                                  wf_plan_info *plan)
{
    if (!l || !info || info->size != sizeof *info || (plan && plan->size < sizeof *plan))
        return WF_ERROR_INVALID_ARGUMENT;
    *info = (wf_mpi_laplace_info){.size = sizeof *info,
                                  .first_row = l->first[l->ranks.rank],
                                  .rows = wfi_mpi_laplace_rows(l, l->ranks.rank),
                                  .iterations = l->cut.iterations,
                                  .check_every = l->cut.check_every,
                                  .omega = l->cut.omega,
                                  .shared = wfi_slabs_shared(&l->slabs)};
    if (!plan || l->grid.method != WF_LAPLACE_JACOBI)
        return WF_SUCCESS;
    plan->variant = l->choice.variant;
    plan->chosen_by = l->choice.chosen_by;
    plan->constant_count = l->choice.constant_count;
    memcpy(plan->constants, l->constants, sizeof plan->constants);
    return WF_SUCCESS;
}
