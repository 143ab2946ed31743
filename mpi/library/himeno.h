/* A Himeno grid on many ranks, in slabs or blocks. */
#ifndef WFI_MPI_HIMENO_H
#define WFI_MPI_HIMENO_H

#include "ranks.h"
#include "blocks.h"
#include "choice.h"
#include "slabs.h"

typedef struct wfi_himeno_choice {
    uint32_t unit, steps; /* unit: along k, as wf_himeno_cut has it */
    uint32_t group[3], blocks[3];
    wfi_choice_sent sent;
} wfi_himeno_choice;

struct wf_mpi_himeno {
    wfi_ranks ranks;
    wf_device *device;
    wf_himeno_params params; /* of this rank's subdomain; its tuning is `tuning` */
    wfi_himeno_choice choice;
    wf_constant constants[WF_MAX_PARAMETERS]; /* of `choice` */
    wf_tuning tuning;
    wfi_blocks blocks; /* inner cells */
    int root;          /* the lowest rank with cells */
    wf_himeno *himeno; /* NULL: this rank has no cells */
    wfi_slabs slabs;
    bool failed; /* nothing more can be done */
};

/* Chooses on rank h->root, for all ranks, and sets the blocks and the tuning. Collective. */
wf_result wfi_mpi_himeno_choose(wf_mpi_himeno *h, const wf_mpi_himeno_params *params);

/* A box of the whole grid, borders counted. */
typedef struct wfi_himeno_box {
    uint32_t begin[3], end[3];
} wfi_himeno_box;

/* What a rank's wf_himeno_read gives: its own cells with the grid's border where it has the first
 * or the last inner ones; and what wf_himeno_write_planes wants: what a pass needs, too. */
wfi_himeno_box wfi_himeno_box_read(const wf_mpi_himeno *h, int rank);
wfi_himeno_box wfi_himeno_box_held(const wf_mpi_himeno *h, int rank);
uint64_t wfi_himeno_box_plane(const wfi_himeno_box *box); /* cells */
/* Sends a box of this rank's, whose planes lie behind each other, or receives it. */
void wfi_himeno_send_box(const wf_mpi_himeno *h, const float *own, const wfi_himeno_box *box,
                         int to, int tag);
void wfi_himeno_receive_box(const wf_mpi_himeno *h, float *own, const wfi_himeno_box *box, int from,
                            int tag);
/* A type of a box in the whole grid; to be freed. */
MPI_Datatype wfi_himeno_box_type(const wf_mpi_himeno *h, const wfi_himeno_box *box);
/* Whether MPI's counts hold the grid. */
bool wfi_himeno_is_countable(const wf_mpi_himeno *h);

#endif
