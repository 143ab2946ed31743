/* A stencil's grid on many ranks, in slabs. */
#include "choice.h"
#include "slabs.h"

#include <stdlib.h>
#include <string.h>

struct wf_mpi_stencil {
    wfi_ranks ranks;
    wf_device *device;
    wf_stencil_params grid; /* the whole one; its tuning is `tuning` */
    wf_stencil_cut cut;     /* as all ranks have it */
    wfi_choice_sent choice;
    wf_constant constants[WF_MAX_PARAMETERS]; /* of `choice` */
    wf_tuning tuning;
    uint32_t *first; /* plane, by rank, and behind the last */
    int root;        /* the lowest rank with planes */
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

static uint32_t planes_of(const wf_mpi_stencil *s, int rank)
{
    return s->first[rank + 1] - s->first[rank];
}

/* --------------------------------------------------------------------------------------- choice */

/* Cuts anywhere, unless a rank would then have fewer planes than a halo: at whole halos. */
static wf_result divide(wf_mpi_stencil *s, const double *weights)
{
    const uint32_t halo = s->cut.halo;
    wf_result result = wfi_ranks_divide(&s->ranks, s->cut.planes, 1, halo, weights, s->first);
    bool thin = false;
    for (int r = 0; r < s->ranks.count && result == WF_SUCCESS; r++)
        thin |= planes_of(s, r) > 0 && planes_of(s, r) < halo;
    return thin ? wfi_ranks_divide(&s->ranks, s->cut.planes, halo, halo, weights, s->first)
                : result;
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
    return result == WF_SUCCESS ? divide(s, params->weights) : result;
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

static wf_result make_slab(wf_mpi_stencil *s)
{
    static const wfi_slab_functions functions = {bind, pass_begin, pass_next, pass_end};
    const uint32_t planes = planes_of(s, s->ranks.rank);
    const uint64_t held = planes ? planes + UINT64_C(2) * s->cut.halo : 0;
    const wf_stencil_slab_params params = {.size = sizeof params,
                                           .grid = &s->grid,
                                           .first_plane = s->first[s->ranks.rank],
                                           .planes = planes};
    wfi_slabs_find(&s->slabs, &s->ranks, s->first, s->grid.border == WF_BORDER_PERIODIC);
    s->slabs.functions = &functions;
    wf_result result = wfi_ranks_fit(&s->ranks, s->device, 2 * held * s->cut.plane_bytes);
    if (result == WF_SUCCESS && planes)
        result = wf_stencil_slab_create(s->device, &params, &s->slab);
    s->slabs.part = s->slab;
    if (result == WF_SUCCESS && planes)
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
    s->first = calloc((size_t)s->ranks.count + 1, sizeof *s->first);
    wf_result result =
        wfi_ranks_agree(&s->ranks, s->first ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result == WF_SUCCESS)
        result = choose(s, &params);
    if (result == WF_SUCCESS)
        result = make_slab(s);
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
    free(s->first);
    free(s);
    *handle = NULL;
}

wf_result wf_mpi_stencil_describe(const wf_mpi_stencil *s, wf_mpi_stencil_info *info,
                                  wf_plan_info *plan)
{
    if (!s || !info || info->size != sizeof *info || (plan && plan->size < sizeof *plan))
        return WF_ERROR_INVALID_ARGUMENT;
    const int rank = s->ranks.rank;
    info->first_plane = s->first[rank];
    info->planes = planes_of(s, rank);
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
