/* What conjugate gradients come to in between: given to the caller, and taken from there again. At
 * even numbers of iterations x has all steps (WF_CG_STEP_UPDATE). */
#include <stdlib.h>

#include "cg.h"

enum { X, R, P, S, STATE };

/* Vectors lie one behind the other: x, r and p in one buffer, s first in the other. */
static wfi_place place_of(const wfi_mpi_cg *c, int vector)
{
    const uint64_t bytes = c->stride * (uint64_t)wf_type_size(c->matrix->type);
    return vector == S ? (wfi_place){.buffer = c->b}
                       : (wfi_place){.buffer = c->a, .offset = (uint64_t)vector * bytes};
}

bool wfi_mpi_cg_keep_due(const wfi_mpi_cg *c)
{
    const wf_mpi_cg_params *p = c->params;
    return p->keep && p->keep_every == 0 && MPI_Wtime() >= c->kept_at + p->keep_seconds;
}

static wf_result read_state(wfi_mpi_cg *c, wf_mpi_cg_state *state)
{
    const wf_mpi_matrix *m = c->matrix;
    const size_t bytes = m->y.count * wf_type_size(m->type) + 1;
    const void **vectors[STATE] = {&state->x, &state->r, &state->p, &state->s};
    wf_result result = c->failure;
    for (int v = 0; v < STATE && result == WF_SUCCESS; v++) {
        void *own = malloc(bytes);
        *vectors[v] = own;
        result = !own         ? WF_ERROR_OUT_OF_HOST_MEMORY
                 : m->y.count ? wfi_mpi_place_read(m, &m->y, place_of(c, v), own)
                              : WF_SUCCESS;
    }
    return result;
}

void wfi_mpi_cg_keep(wfi_mpi_cg *c, uint32_t done)
{
    wf_mpi_cg_state state = {
        .size = sizeof state, .iterations = done, .ru = c->ru, .alpha = c->alpha};
    wfi_mpi_cg_complete_fused(c);
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(c->matrix->queue, 0);
    c->busy = 0;
    const double start = MPI_Wtime(); /* what the device had to do before is the iteration's */
    const wf_result own = read_state(c, &state);
    const wf_result all = wfi_ranks_agree(&c->matrix->ranks, own);
    if (own != WF_SUCCESS)
        c->failure = own;
    else if (all == WF_SUCCESS && !c->params->keep(c->params->user, &state))
        c->failure = WF_ERROR_CANCELLED;
    free((void *)(uintptr_t)state.x);
    free((void *)(uintptr_t)state.r);
    free((void *)(uintptr_t)state.p);
    free((void *)(uintptr_t)state.s);
    c->keep_due = false;
    c->kept_at = MPI_Wtime();
    c->keeping += c->kept_at - start;
}

uint32_t wfi_mpi_cg_resume(wfi_mpi_cg *c)
{
    const wf_mpi_matrix *m = c->matrix;
    const wf_mpi_cg_state *from = c->params->from;
    if (!from)
        return 0;
    const void *const vectors[STATE] = {from->x, from->r, from->p, from->s};
    c->ru = from->ru;
    c->alpha = from->alpha;
    /* The first step has set x, p and s to 0, and u by the r that is there. */
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(m->queue, 0);
    for (int v = 0; v < STATE && m->y.count && c->failure == WF_SUCCESS; v++)
        if (v != R)
            c->failure = wfi_mpi_place_write(m, &m->y, place_of(c, v), vectors[v]);
    return from->iterations;
}
