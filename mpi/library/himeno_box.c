/* Boxes of the whole grid's p, as ranks have them and as messages bring them. */
#include <limits.h>

#include "himeno.h"

static uint32_t inner(const wf_mpi_himeno *h, int axis)
{
    const uint32_t extent[] = {h->params.ni, h->params.nj, h->params.nk};
    return extent[axis] - 2;
}

wfi_himeno_box wfi_himeno_box_read(const wf_mpi_himeno *h, int rank)
{
    wfi_himeno_box box;
    wfi_blocks_span(&h->blocks, rank, box.begin, box.end);
    for (int axis = 0; axis < 3; axis++) {
        box.end[axis] += box.end[axis] == inner(h, axis) ? 2 : 1;
        box.begin[axis] += box.begin[axis] == 0 ? 0 : 1;
    }
    return box;
}

wfi_himeno_box wfi_himeno_box_held(const wf_mpi_himeno *h, int rank)
{
    const uint32_t steps = h->choice.steps;
    wfi_himeno_box box;
    wfi_blocks_span(&h->blocks, rank, box.begin, box.end);
    for (int axis = 0; axis < 3; axis++) {
        const uint32_t first = box.begin[axis] + 1, last = box.end[axis] + 1,
                       extent = inner(h, axis) + 2;
        box.begin[axis] = first > steps ? first - steps : 0;
        box.end[axis] = last + steps < extent ? last + steps : extent;
    }
    return box;
}

uint64_t wfi_himeno_box_plane(const wfi_himeno_box *box)
{
    return (uint64_t)(box->end[0] - box->begin[0]) * (box->end[1] - box->begin[1]);
}

bool wfi_himeno_is_countable(const wf_mpi_himeno *h)
{
    return (uint64_t)h->params.ni * h->params.nj <= INT_MAX && h->params.nk <= INT_MAX;
}

static MPI_Datatype plane_type(const wfi_himeno_box *box)
{
    MPI_Datatype type;
    MPI_Type_contiguous((int)wfi_himeno_box_plane(box), MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}

void wfi_himeno_send_box(const wf_mpi_himeno *h, const float *own, const wfi_himeno_box *box,
                         int to, int tag)
{
    MPI_Datatype type = plane_type(box);
    MPI_Send(own, (int)(box->end[2] - box->begin[2]), type, to, tag, h->ranks.comm);
    MPI_Type_free(&type);
}

void wfi_himeno_receive_box(const wf_mpi_himeno *h, float *own, const wfi_himeno_box *box, int from,
                            int tag)
{
    MPI_Datatype type = plane_type(box);
    MPI_Recv(own, (int)(box->end[2] - box->begin[2]), type, from, tag, h->ranks.comm,
             MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

MPI_Datatype wfi_himeno_box_type(const wf_mpi_himeno *h, const wfi_himeno_box *box)
{
    const int whole[] = {(int)h->params.nk, (int)h->params.nj, (int)h->params.ni};
    int cells[3], begin[3];
    MPI_Datatype type;
    for (int axis = 0; axis < 3; axis++) {
        cells[2 - axis] = (int)(box->end[axis] - box->begin[axis]);
        begin[2 - axis] = (int)box->begin[axis];
    }
    MPI_Type_create_subarray(3, whole, cells, begin, MPI_ORDER_C, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}
