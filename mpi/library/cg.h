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

/* What is summed over all ranks. FAILED counts the ranks that cannot go on; KEEP is not 0
 * where rank 0 wants to keep what there is. */
enum { WFI_CG_RU, WFI_CG_WU, WFI_CG_RR, WFI_CG_FAILED, WFI_CG_KEEP, WFI_CG_SUMS };

/* Vectors are updated at once, or in pieces: what others need; what the device does while that goes
 * to the host's memory; the other elements, while the neighbours' come. */
enum { WFI_CG_PIECES = 3 };

typedef struct wfi_cg_piece {
    uint32_t first, count;                 /* elements */
    wf_plan *steps[WF_CG_STEP_UPDATE + 1]; /* NULL: it has nothing to do */
    wf_buffer *partials;
} wfi_cg_piece;

typedef struct wfi_mpi_cg {
    const wf_mpi_cg_params *params;
    wf_mpi_matrix *matrix;
    double tolerance;
    uint32_t most;
    wf_buffer *factors, *sums; /* mapped: alpha, beta, …; what was summed here, by pieces */
    uint32_t sums_apart;       /* elements from the sums of a piece to those of the next */
    double alpha, ru;          /* of the iteration before */
    wf_result failure;
    bool keep_due;
    double kept_at, keeping; /* MPI_Wtime() of the last state; seconds that all took */
    /* Of the form that is not pipelined: vectors and kernels as of wf_cg_step_plan. */
    uint32_t stride, rest_at, rest;
    wf_buffer *a, *b, *c;
    wfi_cg_piece pieces[WFI_CG_PIECES];
    int piece_count; /* 0: no rows */
    wf_plan *finish; /* x += alpha p */
    /* Partial sums of u w that the host adds up: mapped, `rest_count` of them at the end. */
    wf_buffer *rest_sums;
    uint64_t rest_sums_at, rest_count;
    bool preparing, prepared; /* what an iteration begins with: is being recorded, is recorded */
    uint64_t written;         /* number of the last execution that updates u */
    bool behind;              /* the last piece of the update is still to be given */
    uint64_t busy;            /* number of that piece; 0: there is none */
    bool summing;             /* the sums are given, too: no halo is waited for */
    /* Numbers of the executions that leave the last of the sums: given last, and waited for. */
    uint64_t summing_last, summed;
    /* Of the pipelined one: */
    wf_mpi_vector *own[WFI_CG_VECTORS];     /* NULL: it is not needed, or another one */
    wf_mpi_vector *vectors[WFI_CG_VECTORS]; /* with those that are others */
    wf_plan *preconditioner;                /* NULL: none, or no rows */
    wf_plan *add, *subtract, *combine;      /* y += alpha x, y -= alpha x, y = x + beta y */
    wf_plan *dots[WFI_CG_FAILED];
    wf_buffer *workspace;
} wfi_mpi_cg;

static inline uint64_t wfi_cg_real_bytes(const wfi_mpi_cg *c)
{
    return wf_type_size(c->matrix->type);
}

static inline bool wfi_cg_has_u(const wfi_mpi_cg *c)
{
    return c->params->precondition != WF_PRECONDITION_NONE;
}

/* cg_fused.c (iterations: cg_fused_run.c) and cg_pipelined.c: the vectors and kernels of a form, of
 * which a rank without rows has none; r, as large as the layout of y, is written. */
wf_result wfi_mpi_cg_open_fused(wfi_mpi_cg *c, const void *r);
wf_result wfi_mpi_cg_open_pipelined(wfi_mpi_cg *c, const void *r);
void wfi_mpi_cg_close_fused(wfi_mpi_cg *c);
void wfi_mpi_cg_close_pipelined(wfi_mpi_cg *c);
wf_result wfi_mpi_cg_read_fused(wfi_mpi_cg *c, void *x);
/* cg.c: inverts the diagonal, in the order of y's layout, to be freed. */
wf_result wfi_mpi_cg_invert(const wfi_mpi_cg *c, void **inverse);

/* These give work to the queue, where c->failure is none: what is before the first iteration, the
 * product and what it is summed with, updates, and x once `iterations` are made. */
void wfi_mpi_cg_warm_fused(wfi_mpi_cg *c); /* the vectors alone, as often as one likes */
void wfi_mpi_cg_start_fused(wfi_mpi_cg *c);
void wfi_mpi_cg_product_fused(wfi_mpi_cg *c, wf_mpi_times *times);
void wfi_mpi_cg_update_fused(wfi_mpi_cg *c);
/* What wfi_mpi_cg_update_fused left for the next product to give. */
void wfi_mpi_cg_complete_fused(wfi_mpi_cg *c);
void wfi_mpi_cg_finish_fused(wfi_mpi_cg *c, uint32_t iterations);
void wfi_mpi_cg_start_pipelined(wfi_mpi_cg *c, wf_mpi_times *times);
void wfi_mpi_cg_dots_pipelined(wfi_mpi_cg *c);
void wfi_mpi_cg_product_pipelined(wfi_mpi_cg *c, wf_mpi_times *times);
void wfi_mpi_cg_update_pipelined(wfi_mpi_cg *c);

/* cg_keep.c: whether time tells this rank to keep what there is; keeps what `done` iterations came
 * to (collective); sets what is to be gone on from, behind the start, and returns its
 * iterations. */
bool wfi_mpi_cg_keep_due(const wfi_mpi_cg *c);
void wfi_mpi_cg_keep(wfi_mpi_cg *c, uint32_t done);
uint32_t wfi_mpi_cg_resume(wfi_mpi_cg *c);

/* Iterates from x = 0 and the r that is written. On failure the device is at rest. Collective. */
wf_result wfi_mpi_cg_iterate(wfi_mpi_cg *c, wf_mpi_cg_result *out);

#endif
