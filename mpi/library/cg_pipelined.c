/* The pipelined form (Ghysels and Vanroose): w is carried along, and while its dot products are
 * added up, n = A M w is made. Vectors are updated one operation after the other. */
#include <stdlib.h>

#include "cg.h"

static wf_result make_vectors(wfi_mpi_cg *c)
{
    const bool own_u = c->params->precondition != WF_PRECONDITION_NONE;
    static const int instead[WFI_CG_VECTORS] = {
        [WFI_CG_U] = WFI_CG_R, [WFI_CG_M] = WFI_CG_W, [WFI_CG_Q] = WFI_CG_S};
    const bool needed[WFI_CG_VECTORS] = {
        [WFI_CG_X] = true,  [WFI_CG_R] = true, [WFI_CG_U] = own_u, [WFI_CG_P] = true,
        [WFI_CG_S] = true,  [WFI_CG_W] = true, [WFI_CG_Z] = true,  [WFI_CG_Q] = own_u,
        [WFI_CG_M] = own_u, [WFI_CG_N] = true};
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < WFI_CG_VECTORS && result == WF_SUCCESS; i++) {
        if (needed[i])
            result = wf_mpi_vector_create(c->matrix, WF_MPI_OF_COLUMNS, &c->own[i]);
        c->vectors[i] = c->own[i] ? c->own[i] : c->own[instead[i]];
    }
    return result;
}

static wf_result make_vector_plan(const wfi_mpi_cg *c, wf_vector_params params, wf_plan **out)
{
    params.size = sizeof params;
    params.count = c->matrix->y.length;
    params.type = c->matrix->type;
    return wf_vector_plan(c->matrix->device, &params, out);
}

static wf_result make_plans(wfi_mpi_cg *c)
{
    const wf_vector_params add = {.operation = WF_VECTOR_AXPY, .numerator = 1},
                           subtract = {.operation = WF_VECTOR_AXPY, .numerator = 1, .alpha = -1},
                           combine = {.operation = WF_VECTOR_XPAY, .numerator = 2};
    uint64_t workspace = 0;
    wf_result result = make_vector_plan(c, add, &c->add);
    if (result == WF_SUCCESS)
        result = make_vector_plan(c, subtract, &c->subtract);
    if (result == WF_SUCCESS)
        result = make_vector_plan(c, combine, &c->combine);
    for (uint32_t i = 0; i < WFI_CG_FAILED && result == WF_SUCCESS; i++) {
        if (i == WFI_CG_RR && !c->own[WFI_CG_U])
            continue; /* u is r */
        const wf_vector_params dot = {.operation = WF_VECTOR_DOT, .result = i};
        result = make_vector_plan(c, dot, &c->dots[i]);
        if (result == WF_SUCCESS && wf_plan_workspace(c->dots[i]) > workspace)
            workspace = wf_plan_workspace(c->dots[i]);
    }
    if (result == WF_SUCCESS && workspace)
        result = wf_buffer_create(c->matrix->device, workspace, WF_MEMORY_DEVICE, &c->workspace);
    return result;
}

wf_result wfi_mpi_cg_open_pipelined(wfi_mpi_cg *c, const void *r)
{
    const wf_mpi_matrix *m = c->matrix;
    void *inverse = NULL;
    wf_result result = make_vectors(c);
    if (result != WF_SUCCESS || m->y.count == 0)
        return result;
    result = make_plans(c);
    if (result == WF_SUCCESS && c->own[WFI_CG_U]) {
        result = wfi_mpi_cg_invert(c, &inverse);
        /* u = r / diagonal, as a product with a diagonal matrix */
        if (result == WF_SUCCESS)
            result =
                wfi_mpi_single_plan(m, m->y.length, m->y.length, NULL, inverse, &c->preconditioner);
        free(inverse);
    }
    return result == WF_SUCCESS ? wf_mpi_vector_write(c->own[WFI_CG_R], r) : result;
}

void wfi_mpi_cg_close_pipelined(wfi_mpi_cg *c)
{
    for (int i = 0; i < WFI_CG_VECTORS; i++)
        wf_mpi_vector_destroy(&c->own[i]);
    wf_plan_destroy(&c->preconditioner);
    wf_plan_destroy(&c->add);
    wf_plan_destroy(&c->subtract);
    wf_plan_destroy(&c->combine);
    for (int i = 0; i < WFI_CG_FAILED; i++)
        wf_plan_destroy(&c->dots[i]);
    wf_buffer_destroy(&c->workspace);
}

/* --------------------------------------------------------------------------------- an iteration */

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
    const wfi_place from = {.buffer = c->vectors[x]->buffer},
                    to = {.buffer = c->vectors[y]->buffer};
    c->failure = wfi_mpi_product(c->matrix, from, to, c->failure, times);
}

static void precondition(wfi_mpi_cg *c, int from, int to)
{
    if (c->preconditioner)
        give(c, c->preconditioner, from, to, NULL);
}

void wfi_mpi_cg_start_pipelined(wfi_mpi_cg *c, wf_mpi_times *times)
{
    precondition(c, WFI_CG_R, WFI_CG_U);
    product(c, WFI_CG_U, WFI_CG_W, times);
}

void wfi_mpi_cg_product_pipelined(wfi_mpi_cg *c, wf_mpi_times *times)
{
    precondition(c, WFI_CG_W, WFI_CG_M);
    product(c, WFI_CG_M, WFI_CG_N, times);
}

void wfi_mpi_cg_dots_pipelined(wfi_mpi_cg *c)
{
    give(c, c->dots[WFI_CG_RU], WFI_CG_R, WFI_CG_U, c->sums);
    give(c, c->dots[WFI_CG_WU], WFI_CG_W, WFI_CG_U, c->sums);
    give(c, c->dots[WFI_CG_RR], WFI_CG_R, WFI_CG_R, c->sums);
}

void wfi_mpi_cg_update_pipelined(wfi_mpi_cg *c)
{
    const bool own_u = c->own[WFI_CG_U] != NULL;
    give(c, c->combine, WFI_CG_N, WFI_CG_Z, c->factors);
    if (own_u)
        give(c, c->combine, WFI_CG_M, WFI_CG_Q, c->factors);
    give(c, c->combine, WFI_CG_W, WFI_CG_S, c->factors);
    give(c, c->combine, WFI_CG_U, WFI_CG_P, c->factors);
    give(c, c->add, WFI_CG_P, WFI_CG_X, c->factors);
    give(c, c->subtract, WFI_CG_S, WFI_CG_R, c->factors);
    if (own_u)
        give(c, c->subtract, WFI_CG_Q, WFI_CG_U, c->factors);
    give(c, c->subtract, WFI_CG_Z, WFI_CG_W, c->factors);
}
