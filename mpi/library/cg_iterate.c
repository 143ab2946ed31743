/* The iterations, and what the hosts compute in each from the sums of all ranks. */
#include <math.h>

#include "cg.h"

/* Not for what is recorded for the next iteration. */
static void wait_for_device(wfi_mpi_cg *c, wf_mpi_times *times)
{
    const double start = MPI_Wtime();
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(c->matrix->queue, c->summed);
    const double end = MPI_Wtime();
    wfi_trace(times, WF_MPI_STAGE_INSIDE, start, end);
    times->inside += end - start;
}

/* This rank's sums, or none of a rank that has failed. */
static void read_sums(const wfi_mpi_cg *c, double sums[WFI_CG_SUMS])
{
    const wf_type type = c->matrix->type;
    const void *from = c->failure == WF_SUCCESS && c->sums ? wf_buffer_mapped(c->sums) : NULL;
    for (int i = 0; i < WFI_CG_SUMS; i++)
        sums[i] = 0;
    for (uint64_t i = 0; i < WFI_CG_FAILED && from; i++)
        for (int n = 0; n < c->piece_count; n++)
            sums[i] += wf_element_get(type, from, n * (uint64_t)c->sums_apart + i);
    const void *rest = from && c->rest_count ? wf_buffer_mapped(c->rest_sums) : NULL;
    for (uint64_t i = 0; i < c->rest_count && rest; i++)
        sums[WFI_CG_WU] += wf_element_get(type, rest, c->rest_sums_at + i);
    for (uint64_t i = 0; i < WFI_CG_FAILED && from && c->params->pipelined; i++)
        if (c->dots[i])
            sums[i] = wf_element_get(type, from, i);
    if (from && c->params->pipelined && !c->dots[WFI_CG_RR])
        sums[WFI_CG_RR] = sums[WFI_CG_RU];
    sums[WFI_CG_FAILED] = c->failure != WF_SUCCESS;
    sums[WFI_CG_KEEP] = c->matrix->ranks.rank == 0 && wfi_mpi_cg_keep_due(c);
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
    if (out->iterations >= c->most) {
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
    const double factors[] = {sums[WFI_CG_RU] / curvature, beta, c->alpha, done % 2};
    c->ru = sums[WFI_CG_RU];
    c->alpha = factors[0];
    for (uint64_t i = 0; i < sizeof factors / sizeof *factors && c->factors; i++)
        wf_element_set(c->matrix->type, wf_buffer_mapped(c->factors), i, factors[i]);
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
    const bool pipelined = c->params->pipelined;
    if (c->keep_due && done % 2 == 0)
        wfi_mpi_cg_keep(c, done);
    wfi_trace_next(&out->times);
    if (pipelined)
        wfi_mpi_cg_dots_pipelined(c);
    else
        wfi_mpi_cg_product_fused(c, &out->times);
    const bool go_on = !c->params->progress || c->failure != WF_SUCCESS ||
                       c->params->progress(c->params->user, out->iterations, out->residual);
    wait_for_device(c, &out->times);
    if (c->failure == WF_SUCCESS && !go_on)
        c->failure = WF_ERROR_CANCELLED;
    read_sums(c, own);
    MPI_Iallreduce(own, sums, WFI_CG_SUMS, MPI_DOUBLE, MPI_SUM, c->matrix->ranks.comm, &request);
    if (pipelined)
        wfi_mpi_cg_product_pipelined(c, &out->times);
    reduce_end(&request, &out->times);
    if (sums[WFI_CG_FAILED] > 0 || !judge(c, sums, done, out))
        return false;
    const uint32_t every = c->params->keep ? c->params->keep_every + c->params->keep_every % 2 : 0;
    c->keep_due = c->keep_due || sums[WFI_CG_KEEP] > 0 || (every && (done + 1) % every == 0);
    if (pipelined)
        wfi_mpi_cg_update_pipelined(c);
    else
        wfi_mpi_cg_update_fused(c);
    return true;
}

/* A GPU that was idle runs at a fraction of its clock. What is repeated leaves the same each time,
 * products among it would not: their direction alternates. */
static void warm_up(wfi_mpi_cg *c)
{
    const double end = MPI_Wtime() + c->params->warm_seconds;
    while (c->matrix->y.count && c->failure == WF_SUCCESS && MPI_Wtime() < end) {
        if (c->params->pipelined)
            wfi_mpi_cg_dots_pipelined(c);
        else
            wfi_mpi_cg_warm_fused(c);
        if (c->failure == WF_SUCCESS)
            c->failure = wf_queue_wait(c->matrix->queue, 0);
    }
}

wf_result wfi_mpi_cg_iterate(wfi_mpi_cg *c, wf_mpi_cg_result *out)
{
    const wfi_ranks *ranks = &c->matrix->ranks;
    warm_up(c);
    MPI_Barrier(ranks->comm);
    const double start = MPI_Wtime();
    if (c->params->pipelined)
        wfi_mpi_cg_start_pipelined(c, &out->times);
    else
        wfi_mpi_cg_start_fused(c);
    c->kept_at = MPI_Wtime();
    for (uint32_t done = wfi_mpi_cg_resume(c); step(c, done, out); done++) {
    }
    if (!c->params->pipelined)
        wfi_mpi_cg_finish_fused(c, out->iterations);
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_wait(c->matrix->queue, 0);
    const double here[] = {MPI_Wtime() - start - c->keeping, c->keeping};
    double slowest[2];
    const wf_result result = wfi_ranks_agree(ranks, c->failure);
    if (result != WF_SUCCESS) { /* they wait: the vectors may be destroyed */
        wf_queue_destroy(&c->matrix->aside);
        wf_queue_destroy(&c->matrix->queue);
    }
    MPI_Allreduce(here, slowest, 2, MPI_DOUBLE, MPI_MAX, ranks->comm);
    out->seconds = slowest[0];
    out->keep_seconds = slowest[1];
    return result;
}
