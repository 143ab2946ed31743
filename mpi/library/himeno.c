/* A Himeno grid on many ranks: its making, its start values and its result. */
#include "himeno.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A parameter structure of a caller built against another version of the header. */
static bool read_params(const wf_mpi_himeno_params *given, wf_mpi_himeno_params *out)
{
    if (!given || given->size < sizeof given->size || given->size > sizeof *out)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, given, given->size);
    return true;
}

static int first_with_weight(const wfi_ranks *ranks, const double *weights)
{
    for (int r = 0; weights && r < ranks->count; r++)
        if (weights[r] > 0)
            return r;
    return 0;
}

static uint32_t planes_of(const wf_mpi_himeno *h, int rank)
{
    return h->first[rank + 1] - h->first[rank];
}

static wf_result bind(void *part, const wf_halo_bindings *halos)
{
    return wf_himeno_bind_halos(part, halos);
}

static wf_result pass_begin(void *part, uint32_t steps, bool arrived)
{
    return wf_himeno_pass_begin(part, steps, arrived);
}

static wf_result pass_next(void *part, uint32_t steps, bool arrived, double *seconds)
{
    return wf_himeno_pass_next(part, steps, arrived, seconds);
}

static wf_result pass_end(void *part, double *seconds)
{
    return wf_himeno_pass_end(part, seconds);
}

static wf_result make_subdomain(wf_mpi_himeno *h)
{
    static const wfi_slab_functions functions = {bind, pass_begin, pass_next, pass_end};
    const uint32_t planes = planes_of(h, h->ranks.rank);
    h->params.first_plane = planes ? h->first[h->ranks.rank] : 0;
    h->params.planes = planes;
    h->slabs.functions = &functions;
    const uint64_t bytes = planes ? wf_himeno_memory(&h->params) : 0;
    wf_result result = wfi_ranks_fit(&h->ranks, h->device, bytes);
    if (result == WF_SUCCESS && planes)
        result = wf_himeno_create(h->device, &h->params, &h->himeno);
    h->slabs.part = h->himeno;
    if (result == WF_SUCCESS && planes)
        result = wf_himeno_halos(h->himeno, &h->slabs.halo);
    result = wfi_ranks_agree(&h->ranks, result);
    return result == WF_SUCCESS ? wfi_slabs_open(&h->slabs, h->device) : result;
}

/* Ranks must have understood each other before they do anything else together. */
static wf_result begin(wf_mpi_himeno *h, const wf_mpi_himeno_params *params)
{
    h->params = (wf_himeno_params){.size = sizeof h->params,
                                   .ni = params->ni,
                                   .nj = params->nj,
                                   .nk = params->nk,
                                   .omega = params->omega};
    h->root = first_with_weight(&h->ranks, params->weights);
    h->first = calloc((size_t)h->ranks.count + 1, sizeof *h->first);
    return wfi_ranks_agree(&h->ranks, h->first ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
}

wf_result wf_mpi_himeno_create(MPI_Comm comm, wf_device *device, const wf_mpi_himeno_params *given,
                               wf_mpi_himeno **out)
{
    wf_mpi_himeno_params params;
    if (!device || !out || !read_params(given, &params))
        return WF_ERROR_INVALID_ARGUMENT;
    wf_mpi_himeno *h = calloc(1, sizeof *h);
    if (!h)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    h->device = device;
    wfi_ranks_poll(device);
    wfi_ranks_open(&h->ranks, comm, params.log, params.log_user);
    wf_result result = begin(h, &params);
    if (result == WF_SUCCESS)
        result = wfi_mpi_himeno_choose(h, &params);
    if (result == WF_SUCCESS) {
        wfi_slabs_find(&h->slabs, &h->ranks, h->first, false);
        result = make_subdomain(h);
    }
    if (result != WF_SUCCESS) {
        wf_mpi_himeno_destroy(&h);
        return result;
    }
    *out = h;
    return WF_SUCCESS;
}

uint32_t wf_mpi_himeno_shared(const wf_mpi_himeno *h)
{
    return h ? h->slabs.shared.with[WFI_LOWER] + 0u + h->slabs.shared.with[WFI_UPPER] : 0;
}

void wf_mpi_himeno_destroy(wf_mpi_himeno **handle)
{
    wf_mpi_himeno *h = handle ? *handle : NULL;
    if (!h)
        return;
    wf_himeno_destroy(&h->himeno);
    wfi_slabs_close(&h->slabs);
    wfi_ranks_close(&h->ranks);
    free(h->first);
    free(h);
    *handle = NULL;
}

wf_result wf_mpi_himeno_start(wf_mpi_himeno *h)
{
    if (!h || h->failed)
        return WF_ERROR_INVALID_ARGUMENT;
    wf_result result = h->himeno ? wf_himeno_start(h->himeno) : WF_SUCCESS;
    h->slabs.arrived = false; /* the start values have the neighbours' */
    result = wfi_ranks_agree(&h->ranks, result);
    h->failed = result != WF_SUCCESS;
    return result;
}

wf_result wf_mpi_himeno_describe(const wf_mpi_himeno *h, wf_plan_info *info, uint32_t *first_plane,
                                 uint32_t *planes)
{
    if (!h || !info || !first_plane || !planes || info->size < sizeof *info)
        return WF_ERROR_INVALID_ARGUMENT;
    *first_plane = h->first[h->ranks.rank];
    *planes = planes_of(h, h->ranks.rank);
    const wf_result result = h->himeno ? wf_himeno_describe(h->himeno, info, NULL) : WF_SUCCESS;
    info->chosen_by = h->choice.sent.chosen_by;
    info->variant = h->choice.sent.variant;
    info->constant_count = h->choice.sent.constant_count;
    memcpy(info->constants, h->constants, sizeof info->constants);
    return result;
}

/* --------------------------------------------------------------------------------------- result */

#define READ_TAG 2

/* The grid's planes (borders counted) that a rank's wf_himeno_read gives, for `rank` with planes:
 * those between its first and the next rank's, and borders where the grid ends. */
static void planes_read(const wf_mpi_himeno *h, int rank, uint32_t *begin, uint32_t *end)
{
    *begin = h->first[rank] == 0 ? 0 : h->first[rank] + 1;
    *end = h->first[rank + 1] == h->choice.planes ? h->params.nk : h->first[rank + 1] + 1;
}

static void move(wf_mpi_himeno *h, int root, float *p, float *own)
{
    const uint64_t plane = (uint64_t)h->params.ni * h->params.nj;
    uint32_t begin = 0, end = 0;
    MPI_Datatype type;
    MPI_Type_contiguous((int)plane, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    if (h->ranks.rank != root && own) {
        planes_read(h, h->ranks.rank, &begin, &end);
        MPI_Send(own, (int)(end - begin), type, root, READ_TAG, h->ranks.comm);
    }
    for (int r = 0; r < h->ranks.count && h->ranks.rank == root; r++) {
        if (r == root || planes_of(h, r) == 0)
            continue;
        planes_read(h, r, &begin, &end);
        MPI_Recv(p + begin * plane, (int)(end - begin), type, r, READ_TAG, h->ranks.comm,
                 MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&type);
}

wf_result wf_mpi_himeno_read(wf_mpi_himeno *h, int root, float *p)
{
    if (!h || root < 0 || root >= h->ranks.count)
        return WF_ERROR_INVALID_ARGUMENT;
    const uint64_t plane = (uint64_t)h->params.ni * h->params.nj;
    const bool here = h->ranks.rank == root;
    uint32_t begin = 0, end = 0;
    float *own = NULL;
    wf_result result = here && !p                                  ? WF_ERROR_INVALID_ARGUMENT
                       : plane > INT_MAX || h->params.nk > INT_MAX ? WF_ERROR_TOO_LARGE
                                                                   : WF_SUCCESS;
    if (h->himeno && result == WF_SUCCESS) {
        planes_read(h, h->ranks.rank, &begin, &end);
        own = here ? p + begin * plane : malloc((end - begin) * plane * sizeof *own);
        result = own ? wf_himeno_read(h->himeno, own) : WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = wfi_ranks_agree(&h->ranks, result);
    if (result == WF_SUCCESS)
        move(h, root, p, own);
    if (!here)
        free(own);
    return result;
}
