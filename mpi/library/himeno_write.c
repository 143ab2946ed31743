/* Setting p of a Himeno grid on many ranks, as it was after some iterations. */
#include <limits.h>
#include <stdlib.h>

#include "himeno.h"

#define WRITE_TAG 6

/* The grid's planes, borders counted, that rank `rank` holds: its own and as many beside them as a
 * pass needs. */
static void planes_held(const wf_mpi_himeno *h, int rank, uint32_t *begin, uint32_t *end)
{
    const uint32_t first = h->first[rank] + 1, last = h->first[rank + 1] + 1,
                   steps = h->choice.steps;
    *begin = first > steps ? first - steps : 0;
    *end = last + steps < h->params.nk ? last + steps : h->params.nk;
}

static bool has_planes(const wf_mpi_himeno *h, int rank)
{
    return h->first[rank + 1] > h->first[rank];
}

/* Planes overlap: a rank gets those of its neighbours too. */
static void hand_out(const wf_mpi_himeno *h, int root, const float *p, float *own)
{
    const uint64_t plane = (uint64_t)h->params.ni * h->params.nj;
    uint32_t begin = 0, end = 0;
    MPI_Datatype type;
    MPI_Type_contiguous((int)plane, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    for (int r = 0; r < h->ranks.count && h->ranks.rank == root; r++) {
        planes_held(h, r, &begin, &end);
        if (r != root && has_planes(h, r))
            MPI_Send(p + begin * plane, (int)(end - begin), type, r, WRITE_TAG, h->ranks.comm);
    }
    if (own) {
        planes_held(h, h->ranks.rank, &begin, &end);
        MPI_Recv(own, (int)(end - begin), type, root, WRITE_TAG, h->ranks.comm, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&type);
}

wf_result wf_mpi_himeno_write(wf_mpi_himeno *h, int root, const float *p)
{
    if (!h || h->failed || root < 0 || root >= h->ranks.count)
        return WF_ERROR_INVALID_ARGUMENT;
    const uint64_t plane = (uint64_t)h->params.ni * h->params.nj;
    const bool here = h->ranks.rank == root;
    uint32_t begin = 0, end = 0;
    float *own = NULL;
    planes_held(h, h->ranks.rank, &begin, &end);
    wf_result result = here && !p                                  ? WF_ERROR_INVALID_ARGUMENT
                       : plane > INT_MAX || h->params.nk > INT_MAX ? WF_ERROR_TOO_LARGE
                                                                   : WF_SUCCESS;
    if (result == WF_SUCCESS && h->himeno && !here) {
        own = malloc((end - begin) * plane * sizeof *own);
        result = own ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = wfi_ranks_agree(&h->ranks, result);
    if (result == WF_SUCCESS) {
        hand_out(h, root, p, own);
        if (h->himeno)
            result = wf_himeno_write_planes(h->himeno, begin, end - begin,
                                            here ? p + begin * plane : own);
        h->slabs.arrived = false; /* the neighbours' are among them */
        result = wfi_ranks_agree(&h->ranks, result);
        h->failed = result != WF_SUCCESS;
    }
    free(own);
    return result;
}
