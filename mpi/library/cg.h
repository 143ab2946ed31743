/* Conjugate gradients on many ranks. Vectors stay on the devices; the scalars of an iteration are
 * computed by every host from the same sums. */
#ifndef WFI_MPI_CG_H
#define WFI_MPI_CG_H

#include "matrix.h"

/* Without a preconditioner U is R, M is W and Q is S. */
enum {
    WFI_CG_X,
    WFI_CG_R,
    WFI_CG_U,
    WFI_CG_P,
    WFI_CG_S,
    WFI_CG_W,
    WFI_CG_Z,
    WFI_CG_Q,
    WFI_CG_M,
    WFI_CG_N,
    WFI_CG_VECTORS
};

/* What is summed over all ranks. FAILED counts the ranks that cannot go on. */
enum { WFI_CG_RU, WFI_CG_WU, WFI_CG_RR, WFI_CG_FAILED, WFI_CG_SUMS };

typedef struct wfi_mpi_cg {
    const wf_mpi_cg_params *params;
    wf_mpi_matrix *matrix;
    double tolerance;
    uint32_t most;
    wf_mpi_vector *own[WFI_CG_VECTORS];     /* NULL: it is not needed, or another one */
    wf_mpi_vector *vectors[WFI_CG_VECTORS]; /* with those that are others */
    wf_plan *preconditioner;                /* NULL: none, or no rows */
    wf_plan *add, *subtract, *combine;      /* y += alpha x, y -= alpha x, y = x + beta y */
    wf_plan *dots[WFI_CG_FAILED];
    wf_buffer *factors, *sums, *workspace; /* factors: alpha, beta; the first two are mapped */
    double alpha, ru;                      /* of the iteration before */
    wf_result failure;
} wfi_mpi_cg;

/* Iterates from x = 0 and the r that is written. On failure the device is at rest. Collective. */
wf_result wfi_mpi_cg_iterate(wfi_mpi_cg *c, wf_mpi_cg_result *out);

#endif
