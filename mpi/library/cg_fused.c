/* The form of Chronopoulos and Gear by the kernels of one device's solve (wf_cg_step_plan): the
 * product w = A u goes first, which leaves most of its dot product, and one kernel updates all
 * vectors. */
#include <stdlib.h>

#include "cg.h"

static uint64_t real_bytes(const wfi_mpi_cg *c)
{
    return wf_type_size(c->matrix->type);
}

static bool has_u(const wfi_mpi_cg *c)
{
    return c->params->precondition != WF_PRECONDITION_NONE;
}

/* ------------------------------------------------------------------------------------- opening */

/* What products leave out of u w: the boundary, or all. */
static void find_sizes(wfi_mpi_cg *c)
{
    const wf_mpi_matrix *m = c->matrix;
    const uint32_t length = m->x.length + m->halo;
    c->stride = length;
    c->rest_at = m->sum_count ? m->boundary_at : 0;
    c->rest = m->sum_count && !m->boundary_rows ? 0 : m->y.length - c->rest_at;
}

static wf_result make_plans(wfi_mpi_cg *c, uint64_t *partials)
{
    const wf_mpi_matrix *m = c->matrix;
    const wf_vector_params finish = {.size = sizeof finish,
                                     .count = m->y.length,
                                     .type = m->type,
                                     .operation = WF_VECTOR_AXPY,
                                     .numerator = 1};
    wf_cg_step_params params = {.size = sizeof params,
                                .type = m->type,
                                .count = m->y.length,
                                .stride = c->stride,
                                .jacobi = has_u(c),
                                .product = m->sum_count,
                                .rest = c->rest};
    wf_result result = wf_vector_plan(m->device, &finish, &c->finish);
    for (int i = 0; i <= WF_CG_STEP_UPDATE && result == WF_SUCCESS; i++) {
        params.step = (wf_cg_step)i;
        if (i != WF_CG_STEP_REST || c->rest)
            result = wf_cg_step_plan(m->device, &params, partials, &c->steps[i]);
    }
    return result;
}

static wf_result make_buffers(wfi_mpi_cg *c, uint64_t partials)
{
    wf_device *device = c->matrix->device;
    const uint64_t real = real_bytes(c), vector = c->stride * real,
                   of_c = has_u(c) ? 2 * vector : 4 * real;
    wf_result result = wf_buffer_create(device, 3 * vector, WF_MEMORY_DEVICE, &c->a);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, 2 * vector, WF_MEMORY_DEVICE, &c->b);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, of_c, WF_MEMORY_DEVICE, &c->c);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, partials * real, WF_MEMORY_DEVICE, &c->partials);
    /* Padding of w and of M stays 0. */
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(c->b, 0, 2 * vector, 0);
    return result == WF_SUCCESS ? wf_buffer_fill(c->c, 0, of_c, 0) : result;
}

wf_result wfi_mpi_cg_open_fused(wfi_mpi_cg *c, const void *r)
{
    const wf_mpi_matrix *m = c->matrix;
    const uint64_t vector = m->y.length * real_bytes(c);
    uint64_t partials = 0;
    void *inverse = NULL;
    if (m->y.count == 0)
        return WF_SUCCESS;
    find_sizes(c);
    wf_result result = make_plans(c, &partials);
    if (result == WF_SUCCESS)
        result = make_buffers(c, partials);
    if (result == WF_SUCCESS && has_u(c))
        result = wfi_mpi_cg_invert(c, &inverse);
    if (result == WF_SUCCESS && inverse)
        result = wf_buffer_write(c->c, c->stride * real_bytes(c), inverse, vector);
    free(inverse);
    const wfi_place place = {c->a, c->stride * real_bytes(c)};
    return result == WF_SUCCESS ? wfi_mpi_place_write(m, &m->y, place, r) : result;
}

wf_result wfi_mpi_cg_read_fused(wfi_mpi_cg *c, void *x)
{
    const wfi_place place = {.buffer = c->a};
    return wfi_mpi_place_read(c->matrix, &c->matrix->y, place, x);
}

void wfi_mpi_cg_close_fused(wfi_mpi_cg *c)
{
    for (int i = 0; i <= WF_CG_STEP_UPDATE; i++)
        wf_plan_destroy(&c->steps[i]);
    wf_plan_destroy(&c->finish);
    wf_buffer_destroy(&c->a);
    wf_buffer_destroy(&c->b);
    wf_buffer_destroy(&c->c);
    wf_buffer_destroy(&c->partials);
}

/* --------------------------------------------------------------------------------- an iteration */

static void run(wfi_mpi_cg *c, wf_plan *plan, const wf_bindings *bindings)
{
    if (plan && c->failure == WF_SUCCESS)
        c->failure = wf_queue_run(c->matrix->queue, plan, bindings, NULL);
}

/* A step on the vectors, from element `first` of each on. */
static void run_step(wfi_mpi_cg *c, wf_cg_step step, uint32_t first)
{
    const uint64_t offset = first * real_bytes(c);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_CG_STEP_A] = {.buffer = c->a, .offset = offset},
                  [WF_CG_STEP_B] = {.buffer = c->b, .offset = offset},
                  [WF_CG_STEP_C] = {.buffer = c->c, .offset = has_u(c) ? offset : 0},
                  [WF_CG_STEP_PARTIALS] = {.buffer = c->partials},
                  [WF_CG_STEP_FACTORS] = {.buffer = c->factors}}};
    run(c, c->steps[step], &bindings);
}

void wfi_mpi_cg_start_fused(wfi_mpi_cg *c)
{
    run_step(c, WF_CG_STEP_START, 0);
}

void wfi_mpi_cg_product_fused(wfi_mpi_cg *c, wf_mpi_times *times)
{
    const uint64_t vector = c->stride * real_bytes(c);
    const wfi_place u = has_u(c) ? (wfi_place){.buffer = c->c} : (wfi_place){c->a, vector},
                    w = {c->b, vector};
    const wf_bindings sums = {
        .size = sizeof sums,
        .items = {[WF_CG_STEP_PRODUCT] = {.buffer = c->matrix->sum_count ? c->matrix->sum_buffer
                                                                         : c->partials},
                  [WF_CG_STEP_SUMS] = {.buffer = c->sums},
                  [WF_CG_STEP_OF_ALL] = {.buffer = c->partials}}};
    c->failure = wfi_mpi_product(c->matrix, u, w, c->failure, times);
    run_step(c, WF_CG_STEP_REST, c->rest_at);
    run(c, c->steps[WF_CG_STEP_SUM], &sums);
}

void wfi_mpi_cg_update_fused(wfi_mpi_cg *c)
{
    /* It goes with what is gathered for the neighbours next. */
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_hold(c->matrix->queue);
    run_step(c, WF_CG_STEP_UPDATE, 0);
}

/* The first of two updates leaves x to the second. */
void wfi_mpi_cg_finish_fused(wfi_mpi_cg *c, uint32_t iterations)
{
    const uint64_t real = real_bytes(c), bytes = c->matrix->y.length * real;
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_VECTOR_X] = {.buffer = c->a, .offset = 2 * c->stride * real, .bytes = bytes},
                  [WF_VECTOR_Y] = {.buffer = c->a, .bytes = bytes},
                  [WF_VECTOR_SCALARS] = {.buffer = c->factors}}};
    if (iterations % 2)
        run(c, c->finish, &bindings);
}
