/* A Himeno grid on many ranks. Ranks that have planes form a row, each with the next one below and
 * the next one above it. */
#ifndef WFI_MPI_HIMENO_H
#define WFI_MPI_HIMENO_H

#include "ranks.h"
#include "shared.h"

#define WFI_NAME_BYTES 32

/* What one rank chooses for all, in bytes that MPI can send. */
typedef struct wfi_himeno_choice {
    uint32_t planes, unit, steps;
    uint32_t constant_count;
    uint32_t values[WF_MAX_PARAMETERS];
    char variant[WFI_NAME_BYTES], names[WF_MAX_PARAMETERS][WFI_NAME_BYTES];
    char chosen_by[WFI_NAME_BYTES];
} wfi_himeno_choice;

struct wf_mpi_himeno {
    wfi_ranks ranks;
    wf_device *device;
    wf_himeno_params params; /* of this rank's subdomain; its tuning is `tuning` */
    wfi_himeno_choice choice;
    wf_constant constants[WF_MAX_PARAMETERS]; /* of `choice` */
    wf_tuning tuning;
    uint32_t *first;   /* inner plane, by rank, and behind the last */
    int root;          /* the lowest rank with planes */
    int lower, upper;  /* neighbours; MPI_PROC_NULL: the grid ends */
    wf_himeno *himeno; /* NULL: this rank has no planes */
    wf_himeno_halo halo;
    wfi_shared shared; /* with neighbours of this host, in place of messages */
    bool arrived;      /* the neighbours' planes are in `halo` */
    bool failed;       /* nothing more can be done */
};

/* Chooses on rank h->root, for all ranks, and sets h->first and the tuning. Collective. */
wf_result wfi_mpi_himeno_choose(wf_mpi_himeno *h, const wf_mpi_himeno_params *params);

#endif
