/* A Himeno grid on many ranks: its making, its start values and its result. */
#include "himeno.h"

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
    uint32_t begin[3], end[3];
    wfi_blocks_span(&h->blocks, h->ranks.rank, begin, end);
    const uint32_t planes = end[2] - begin[2];
    h->params.first_plane = begin[2];
    h->params.planes = planes;
    h->params.first_row = begin[1];
    h->params.rows = end[1] - begin[1];
    h->params.first_cell = begin[0];
    h->params.cells = end[0] - begin[0];
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
    wf_result result = WF_SUCCESS;
    if (params->weights && params->blocks[0] != WF_MPI_BLOCKS_AUTO &&
        (params->blocks[0] > 1 || params->blocks[1] > 1))
        result = wfi_ranks_fail(&h->ranks, WF_ERROR_INVALID_ARGUMENT,
                                "weights are for slabs: blocks have equal shares");
    return wfi_ranks_agree(&h->ranks, result);
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
        wfi_slabs_find_around(&h->slabs, &h->ranks, &h->blocks, false);
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
    return h ? wfi_slabs_shared(&h->slabs) : 0;
}

void wf_mpi_himeno_destroy(wf_mpi_himeno **handle)
{
    wf_mpi_himeno *h = handle ? *handle : NULL;
    if (!h)
        return;
    wf_himeno_destroy(&h->himeno);
    wfi_slabs_close(&h->slabs);
    wfi_ranks_close(&h->ranks);
    wfi_blocks_close(&h->blocks);
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
    uint32_t begin[3], end[3];
    wfi_blocks_span(&h->blocks, h->ranks.rank, begin, end);
    *first_plane = begin[2];
    *planes = end[2] - begin[2];
    const wf_result result = h->himeno ? wf_himeno_describe(h->himeno, info, NULL) : WF_SUCCESS;
    info->chosen_by = h->choice.sent.chosen_by;
    info->variant = h->choice.sent.variant;
    info->constant_count = h->choice.sent.constant_count;
    memcpy(info->constants, h->constants, sizeof info->constants);
    return result;
}

wf_result wf_mpi_himeno_part(const wf_mpi_himeno *h, wf_mpi_part *part)
{
    if (!h || !part || part->size != sizeof *part)
        return WF_ERROR_INVALID_ARGUMENT;
    uint32_t end[3];
    wfi_blocks_span(&h->blocks, h->ranks.rank, part->first, end);
    for (int axis = 0; axis < 3; axis++) {
        part->blocks[axis] = (uint32_t)h->blocks.count[axis];
        part->cells[axis] = end[axis] - part->first[axis];
    }
    return WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- result */

#define READ_TAG 2

static void move(wf_mpi_himeno *h, int root, float *p, const float *own)
{
    const int rank = h->ranks.rank;
    const wfi_himeno_box mine = wfi_himeno_box_read(h, rank);
    if (rank != root && own)
        wfi_himeno_send_box(h, own, &mine, root, READ_TAG);
    for (int r = 0; r < h->ranks.count && rank == root; r++) {
        if (r == root || !wfi_blocks_has_cells(&h->blocks, r))
            continue;
        const wfi_himeno_box box = wfi_himeno_box_read(h, r);
        MPI_Datatype type = wfi_himeno_box_type(h, &box);
        MPI_Recv(p, 1, type, r, READ_TAG, h->ranks.comm, MPI_STATUS_IGNORE);
        MPI_Type_free(&type);
    }
}

/* Puts a box of this rank's into the whole grid. */
static void put(const wf_mpi_himeno *h, float *p, const float *own)
{
    const wfi_himeno_box box = wfi_himeno_box_read(h, h->ranks.rank);
    const uint64_t row = box.end[0] - box.begin[0];
    for (uint32_t k = box.begin[2]; k < box.end[2]; k++)
        for (uint32_t j = box.begin[1]; j < box.end[1]; j++, own += row)
            memcpy(p + ((uint64_t)k * h->params.nj + j) * h->params.ni + box.begin[0], own,
                   row * sizeof *own);
}

wf_result wf_mpi_himeno_read(wf_mpi_himeno *h, int root, float *p)
{
    if (!h || root < 0 || root >= h->ranks.count)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_himeno_box box = wfi_himeno_box_read(h, h->ranks.rank);
    const uint64_t plane = wfi_himeno_box_plane(&box);
    const bool here = h->ranks.rank == root,
               in_place = here && wfi_blocks_are_slabs(&h->blocks); /* its planes are whole */
    float *own = NULL;
    wf_result result = here && !p                    ? WF_ERROR_INVALID_ARGUMENT
                       : !wfi_himeno_is_countable(h) ? WF_ERROR_TOO_LARGE
                                                     : WF_SUCCESS;
    if (h->himeno && result == WF_SUCCESS) {
        own = in_place ? p + box.begin[2] * plane
                       : malloc((box.end[2] - box.begin[2]) * plane * sizeof *own);
        result = own ? wf_himeno_read(h->himeno, own) : WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = wfi_ranks_agree(&h->ranks, result);
    if (result == WF_SUCCESS)
        move(h, root, p, own);
    if (result == WF_SUCCESS && here && own && !in_place)
        put(h, p, own);
    if (!in_place)
        free(own);
    return result;
}
