/* Setting p of a Himeno grid on many ranks, as it was after some iterations. */
#include <stdlib.h>
#include <string.h>

#include "himeno.h"

#define WRITE_TAG 6

static void copy_box(const wf_mpi_himeno *h, const float *p, float *own, const wfi_himeno_box *box)
{
    const uint64_t row = box->end[0] - box->begin[0];
    for (uint32_t k = box->begin[2]; k < box->end[2]; k++)
        for (uint32_t j = box->begin[1]; j < box->end[1]; j++, own += row)
            memcpy(own, p + ((uint64_t)k * h->params.nj + j) * h->params.ni + box->begin[0],
                   row * sizeof *own);
}

/* Boxes overlap: a rank gets cells of its neighbours too. */
static void hand_out(const wf_mpi_himeno *h, int root, const float *p, float *own)
{
    const wfi_himeno_box mine = wfi_himeno_box_held(h, h->ranks.rank);
    const bool here = h->ranks.rank == root;
    for (int r = 0; r < h->ranks.count && here; r++) {
        if (!wfi_blocks_has_cells(&h->blocks, r))
            continue;
        const wfi_himeno_box box = wfi_himeno_box_held(h, r);
        MPI_Datatype type = wfi_himeno_box_type(h, &box);
        if (r == root && own)
            copy_box(h, p, own, &box);
        if (r != root)
            MPI_Send(p, 1, type, r, WRITE_TAG, h->ranks.comm);
        MPI_Type_free(&type);
    }
    if (own && !here)
        wfi_himeno_receive_box(h, own, &mine, root, WRITE_TAG);
}

wf_result wf_mpi_himeno_write(wf_mpi_himeno *h, int root, const float *p)
{
    if (!h || h->failed || root < 0 || root >= h->ranks.count)
        return WF_ERROR_INVALID_ARGUMENT;
    const wfi_himeno_box box = wfi_himeno_box_held(h, h->ranks.rank);
    const uint32_t planes = box.end[2] - box.begin[2];
    float *own = NULL;
    wf_result result = h->ranks.rank == root && !p   ? WF_ERROR_INVALID_ARGUMENT
                       : !wfi_himeno_is_countable(h) ? WF_ERROR_TOO_LARGE
                                                     : WF_SUCCESS;
    if (result == WF_SUCCESS && h->himeno) {
        own = malloc(planes * wfi_himeno_box_plane(&box) * sizeof *own);
        result = own ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = wfi_ranks_agree(&h->ranks, result);
    if (result == WF_SUCCESS) {
        hand_out(h, root, p, own);
        if (h->himeno)
            result = wf_himeno_write_planes(h->himeno, box.begin[2], planes, own);
        h->slabs.arrived = false; /* the neighbours' are among them */
        result = wfi_ranks_agree(&h->ranks, result);
        h->failed = result != WF_SUCCESS;
    }
    free(own);
    return result;
}
