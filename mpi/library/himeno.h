/* A Himeno grid on many ranks. Ranks that have planes form a row, each with the next one below and
 * the next one above it. */
#ifndef WFI_MPI_HIMENO_H
#define WFI_MPI_HIMENO_H

#include "ranks.h"
#include "choice.h"
#include "slabs.h"

typedef struct wfi_himeno_choice {
    uint32_t planes, unit, steps;
    wfi_choice_sent sent;
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
    wf_himeno *himeno; /* NULL: this rank has no planes */
    wfi_slabs slabs;
    bool failed; /* nothing more can be done */
};

/* Chooses on rank h->root, for all ranks, and sets h->first and the tuning. Collective. */
wf_result wfi_mpi_himeno_choose(wf_mpi_himeno *h, const wf_mpi_himeno_params *params);

#endif
