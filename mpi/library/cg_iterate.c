/* The iterations. In the form of Chronopoulos and Gear the product w = A u goes first, then all dot
 * products at once. In the pipelined one (Ghysels and Vanroose) w is carried along, and while its
 * dot products are added up, n = A M w is made. */
#include <math.h>

#include "cg.h"

/* ----------------------------------------------------------------------------- on the device */

static wf_binding bind(const wfi_mpi_cg *c, int vector)
{
    const wf_mpi_matrix *m = c->matrix;
    return (wf_binding){.buffer = c->vectors[vector]->buffer,
                        .bytes = m->y.length * (uint64_t)wf_type_size(m->type)};
}

/* One operation on two vectors; ranks without rows have none. */
static void give(wfi_mpi_cg *c, wf_plan *plan, int x, int y, wf_buffer *scalars)
{
    if (!plan || c->failure != WF_SUCCESS)
        return;
    wf_bindings bindings = {.size = sizeof bindings};
    bindings.items[0] = bind(c, x); /* of products, too, x is the first and y the second */
    bindings.items[1] = bind(c, y);
    if (scalars)
        bindings.items[WF_VECTOR_SCALARS] = (wf_binding){.buffer = scalars};
    if (c->workspace)
        bindings.workspace = (wf_binding){.buffer = c->workspace};
    c->failure = wf_queue_run(c->matrix->queue, plan, &bindings, NULL);
}

static void product(wfi_mpi_cg *c, int x, int y, wf_mpi_times *times)
{
    c->failure =
        wfi_mpi_product(c->matrix, c->vectors[x]->buffer, c->vectors[y]->buffer, c->failure, times);
}

static void precondition(wfi_mpi_cg *c, int from, int to)
{
    if (c->preconditioner)
        give(c, c->preconditioner, from, to, NULL);
}

static void wait_for_device(wfi_mpi_cg *c, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(c->matrix->queue, 0);
    const double end = MPI_Wtime();
    wfi_trace(times, WF_MPI_STAGE_INSIDE, start, end);
    times->inside += end - start;
}

static void give_dots(wfi_mpi_cg *c)
{
    give(c, c->dots[WFI_CG_RU], WFI_CG_R, WFI_CG_U, c->sums);
    give(c, c->dots[WFI_CG_WU], WFI_CG_W, WFI_CG_U, c->sums);
    give(c, c->dots[WFI_CG_RR], WFI_CG_R, WFI_CG_R, c->sums);
}

static void give_updates(wfi_mpi_cg *c)
{
    const bool pipelined = c->params->pipelined, own_u = c->own[WFI_CG_U] != NULL;
    if (pipelined)
        give(c, c->combine, WFI_CG_N, WFI_CG_Z, c->factors);
    if (pipelined && own_u)
        give(c, c->combine, WFI_CG_M, WFI_CG_Q, c->factors);
    give(c, c->combine, WFI_CG_W, WFI_CG_S, c->factors);
    give(c, c->combine, WFI_CG_U, WFI_CG_P, c->factors);
    give(c, c->add, WFI_CG_P, WFI_CG_X, c->factors);
    give(c, c->subtract, WFI_CG_S, WFI_CG_R, c->factors);
    if (pipelined && own_u)
        give(c, c->subtract, WFI_CG_Q, WFI_CG_U, c->factors);
    if (pipelined)
        give(c, c->subtract, WFI_CG_Z, WFI_CG_W, c->factors);
    else
        precondition(c, WFI_CG_R, WFI_CG_U);
}

/* -------------------------------------------------------------------------------- on the host */

/* This rank's sums, or none of a rank that has failed. */
static void read_sums(const wfi_mpi_cg *c, double sums[WFI_CG_SUMS])
{
    const wf_type type = c->matrix->type;
    const void *from = c->failure == WF_SUCCESS && c->sums ? wf_buffer_mapped(c->sums) : NULL;
    for (int i = 0; i < WFI_CG_SUMS; i++)
        sums[i] = 0;
    for (uint64_t i = 0; i < WFI_CG_FAILED && from; i++)
        if (c->dots[i])
            sums[i] = wf_element_get(type, from, i);
    if (from && !c->dots[WFI_CG_RR])
        sums[WFI_CG_RR] = sums[WFI_CG_RU];
    sums[WFI_CG_FAILED] = c->failure != WF_SUCCESS;
}

/* Whether the iteration ends, and why. curvature is p A p, a difference whose sign means nothing
 * where rounding takes all its digits. */
static bool ends(const wfi_mpi_cg *c, double curvature, double scale, wf_mpi_cg_result *out)
{
    const double rounding = c->matrix->type == WF_TYPE_F64 ? 0x1p-49 : 0x1p-20;
    if (out->residual <= c->tolerance) {
        out->status = WF_CG_CONVERGED;
        return true;
    }
    if (!isfinite(out->residual) || (!isfinite(curvature) && out->iterations < c->most)) {
        out->status = WF_CG_NOT_FINITE;
        return true;
    }
    if (out->iterations == c->most) {
        out->status = WF_CG_MAX_ITERATIONS;
        return true;
    }
    out->status = fabs(curvature) <= rounding * scale ? WF_CG_BREAKDOWN : WF_CG_INDEFINITE;
    return !(curvature > rounding * scale);
}

/* The scalars of the next step; false: there is none more. */
static bool judge(wfi_mpi_cg *c, const double sums[WFI_CG_SUMS], uint32_t done,
                  wf_mpi_cg_result *out)
{
    const double beta = done ? sums[WFI_CG_RU] / c->ru : 0;
    const double before = done ? beta * sums[WFI_CG_RU] / c->alpha : 0;
    const double curvature = sums[WFI_CG_WU] - before;
    out->iterations = done;
    out->residual = sqrt(sums[WFI_CG_RR]);
    if (done && c->params->history)
        c->params->history[done - 1] = out->residual;
    if (ends(c, curvature, fabs(sums[WFI_CG_WU]) + fabs(before), out))
        return false;
    c->ru = sums[WFI_CG_RU];
    c->alpha = c->ru / curvature;
    if (c->factors) {
        void *factors = wf_buffer_mapped(c->factors);
        wf_element_set(c->matrix->type, factors, 0, c->alpha);
        wf_element_set(c->matrix->type, factors, 1, beta);
    }
    return true;
}

static void reduce_end(MPI_Request *request, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    MPI_Wait(request, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    wfi_trace(times, WF_MPI_STAGE_REDUCTION, start, end);
    times->reduction += end - start;
}

/* One step; false: there is none more. The device is at rest when the scalars change. */
static bool step(wfi_mpi_cg *c, uint32_t done, wf_mpi_cg_result *out)
{
    double own[WFI_CG_SUMS], sums[WFI_CG_SUMS];
    MPI_Request request;
    wfi_trace_next(&out->times);
    if (!c->params->pipelined)
        product(c, WFI_CG_U, WFI_CG_W, &out->times);
    give_dots(c);
    wait_for_device(c, &out->times);
    if (c->failure == WF_SUCCESS && c->params->progress &&
        !c->params->progress(c->params->user, out->iterations, out->residual))
        c->failure = WF_ERROR_CANCELLED;
    read_sums(c, own);
    MPI_Iallreduce(own, sums, WFI_CG_SUMS, MPI_DOUBLE, MPI_SUM, c->matrix->ranks.comm, &request);
    if (c->params->pipelined) {
        precondition(c, WFI_CG_W, WFI_CG_M);
        product(c, WFI_CG_M, WFI_CG_N, &out->times);
    }
    reduce_end(&request, &out->times);
    if (sums[WFI_CG_FAILED] > 0 || !judge(c, sums, done, out))
        return false;
    give_updates(c);
    return true;
}

wf_result wfi_mpi_cg_iterate(wfi_mpi_cg *c, wf_mpi_cg_result *out)
{
    const wfi_ranks *ranks = &c->matrix->ranks;
    MPI_Barrier(ranks->comm);
    const double start = MPI_Wtime();
    precondition(c, WFI_CG_R, WFI_CG_U);
    if (c->params->pipelined)
        product(c, WFI_CG_U, WFI_CG_W, &out->times);
    for (uint32_t done = 0; step(c, done, out); done++) {
    }
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(c->matrix->queue, 0);
    const double elapsed = MPI_Wtime() - start;
    const wf_result result = wfi_ranks_agree(ranks, c->failure);
    if (result != WF_SUCCESS)
        wf_queue_destroy(&c->matrix->queue); /* it waits */
    MPI_Allreduce(&elapsed, &out->seconds, 1, MPI_DOUBLE, MPI_MAX, ranks->comm);
    return result;
}
