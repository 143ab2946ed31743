/* Iterations of the form of Chronopoulos and Gear: the product w = A u goes first, which leaves
 * most of its dot product, and one kernel updates all vectors. A long update is made in pieces,
 * behind which the exchange is hidden (docs/mpi.md). */
#include "cg.h"

static wfi_place place_of_u(const wfi_mpi_cg *c)
{
    return wfi_cg_has_u(c) ? (wfi_place){.buffer = c->c}
                           : (wfi_place){c->a, c->stride * wfi_cg_real_bytes(c)};
}

static wfi_place place_of_w(const wfi_mpi_cg *c)
{
    return (wfi_place){c->b, c->stride * wfi_cg_real_bytes(c)};
}

/* That something cannot be prepared is no failure, but returned. */
static wf_result note(wfi_mpi_cg *c, wf_result result)
{
    if (result != WF_SUCCESS && !(c->preparing && result == WF_NOT_READY))
        c->failure = result;
    return result;
}

static wf_result run(wfi_mpi_cg *c, wf_plan *plan, const wf_bindings *bindings, uint64_t *number)
{
    if (!plan || c->failure != WF_SUCCESS)
        return c->failure;
    return note(c, wf_queue_run(c->matrix->queue, plan, bindings, number));
}

static void go_beside(wfi_mpi_cg *c)
{
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_beside(c->matrix->queue);
}

/* A step on the vectors of a piece. */
static wf_result run_step(wfi_mpi_cg *c, wf_cg_step step, int n, uint64_t *number)
{
    const wfi_cg_piece *piece = &c->pieces[n];
    const uint32_t first = step == WF_CG_STEP_REST ? c->rest_at : piece->first;
    const uint64_t offset = first * wfi_cg_real_bytes(c);
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_CG_STEP_A] = {.buffer = c->a, .offset = offset},
                  [WF_CG_STEP_B] = {.buffer = c->b, .offset = offset},
                  [WF_CG_STEP_C] = {.buffer = c->c, .offset = wfi_cg_has_u(c) ? offset : 0},
                  [WF_CG_STEP_PARTIALS] = {.buffer = step == WF_CG_STEP_REST ? c->rest_sums
                                                                             : piece->partials},
                  [WF_CG_STEP_FACTORS] = {.buffer = c->factors}}};
    return run(c, piece->steps[step], &bindings, number);
}

static wf_result run_sum(wfi_mpi_cg *c, int n)
{
    const wfi_cg_piece *piece = &c->pieces[n];
    const bool product = n == 0 && c->matrix->sum_count;
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {
            [WF_CG_STEP_PRODUCT] = {.buffer = product ? c->matrix->sum_buffer : piece->partials},
            [WF_CG_STEP_SUMS] = {.buffer = c->sums,
                                 .offset = n * c->sums_apart * wfi_cg_real_bytes(c)},
            [WF_CG_STEP_OF_ALL] = {.buffer = piece->partials}}};
    return run(c, piece->steps[WF_CG_STEP_SUM], &bindings, &c->summing_last);
}

static wf_result pack(wfi_mpi_cg *c)
{
    if (c->failure != WF_SUCCESS)
        return c->failure;
    return note(c, wfi_mpi_product_pack(c->matrix, place_of_u(c)));
}

static wf_result mark(wfi_mpi_cg *c)
{
    if (c->failure != WF_SUCCESS)
        return c->failure;
    return note(c, wf_queue_mark(c->matrix->queue));
}

static void submit(wfi_mpi_cg *c)
{
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_submit(c->matrix->queue);
}

/* The last piece of several needs none of the others. */
static wf_result give_last_piece(wfi_mpi_cg *c)
{
    go_beside(c);
    const wf_result result = run_step(c, WF_CG_STEP_UPDATE, c->piece_count - 1, &c->busy);
    c->behind = result != WF_SUCCESS;
    return result;
}

static wf_result give_inside(wfi_mpi_cg *c)
{
    if (c->failure != WF_SUCCESS || c->piece_count == 0)
        return c->failure;
    return note(c, wfi_mpi_product_inside(c->matrix, place_of_u(c), place_of_w(c)));
}

void wfi_mpi_cg_warm_fused(wfi_mpi_cg *c)
{
    for (int n = 0; n < c->piece_count; n++)
        run_step(c, WF_CG_STEP_START, n, &c->written);
}

void wfi_mpi_cg_start_fused(wfi_mpi_cg *c)
{
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_hold(c->matrix->queue);
    wfi_mpi_cg_warm_fused(c);
    if (!c->matrix->aside)
        pack(c);
    else if (mark(c) == WF_SUCCESS)
        give_inside(c);
    submit(c);
}

/* The boundary needs no sums, nor do these need it. */
static wf_result give_sums(wfi_mpi_cg *c)
{
    wf_result result = WF_SUCCESS;
    for (int n = 0; n < c->piece_count && result == WF_SUCCESS; n++) {
        if (n || c->matrix->boundary)
            go_beside(c);
        result = run_sum(c, n);
    }
    return result == WF_SUCCESS ? run_step(c, WF_CG_STEP_REST, 0, &c->summing_last) : result;
}

/* What goes in one submission with the update and with what is gathered for the neighbours, as much
 * of it as may: what there is to do while that is on its way, or, without neighbours, all. */
static void go_on(wfi_mpi_cg *c)
{
    const bool alone = !c->matrix->peer_count;
    if (c->piece_count > 1) {
        if (mark(c) == WF_SUCCESS)
            give_last_piece(c);
    } else if ((alone || mark(c) == WF_SUCCESS) && give_inside(c) == WF_SUCCESS && alone) {
        c->summing = give_sums(c) == WF_SUCCESS;
        if (c->summing)
            mark(c);
    }
}

/* The update, at least but for its last piece of several, and what is gathered for the
 * neighbours. */
static wf_result give_update(wfi_mpi_cg *c)
{
    c->busy = 0;
    c->behind = c->piece_count > 1;
    c->summing = false;
    wf_result result = run_step(c, WF_CG_STEP_UPDATE, 0, &c->written);
    if (result == WF_SUCCESS && !c->matrix->aside)
        result = pack(c);
    if (result == WF_SUCCESS && c->piece_count > 1) {
        go_beside(c);
        result = run_step(c, WF_CG_STEP_UPDATE, 1, NULL);
    }
    if (result == WF_SUCCESS)
        go_on(c);
    return result;
}

static void drop(wfi_mpi_cg *c)
{
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_drop(c->matrix->queue);
    c->prepared = c->behind = c->summing = c->matrix->inside_given = false;
    c->busy = 0;
}

/* Records what the next iteration begins with while the device makes this one, so that it goes to
 * the device as soon as its factors are known. What cannot be prepared is given then. */
static void prepare(wfi_mpi_cg *c)
{
    const uint32_t turn = c->matrix->turn;
    if (c->failure == WF_SUCCESS)
        c->failure = wf_queue_prepare(c->matrix->queue);
    c->preparing = true;
    c->prepared = c->failure == WF_SUCCESS && give_update(c) == WF_SUCCESS;
    c->preparing = false;
    if (c->prepared)
        return;
    c->matrix->turn = turn;
    drop(c);
}

void wfi_mpi_cg_update_fused(wfi_mpi_cg *c)
{
    if (!c->prepared) {
        if (c->failure == WF_SUCCESS)
            c->failure = wf_queue_hold(c->matrix->queue);
        give_update(c);
    }
    submit(c);
    c->prepared = false;
}

void wfi_mpi_cg_complete_fused(wfi_mpi_cg *c)
{
    if (c->behind)
        give_last_piece(c);
    submit(c);
    c->behind = false;
}

void wfi_mpi_cg_product_fused(wfi_mpi_cg *c, wf_mpi_times *times)
{
    wfi_mpi_cg_complete_fused(c);
    c->failure = c->matrix->aside
                     ? wfi_mpi_product_exchange(c->matrix, place_of_u(c), place_of_w(c), c->written,
                                                c->failure, times)
                     : wfi_mpi_product_multiply(c->matrix, place_of_u(c), place_of_w(c), c->busy,
                                                c->failure, times);
    if (!c->summing) {
        give_sums(c);
        mark(c);
    }
    c->summed = c->summing_last;
    submit(c);
    prepare(c);
}

/* The first of two updates leaves x to the second. */
void wfi_mpi_cg_finish_fused(wfi_mpi_cg *c, uint32_t iterations)
{
    const uint64_t real = wfi_cg_real_bytes(c), bytes = c->matrix->y.length * real;
    const wf_bindings bindings = {
        .size = sizeof bindings,
        .items = {[WF_VECTOR_X] = {.buffer = c->a, .offset = 2 * c->stride * real, .bytes = bytes},
                  [WF_VECTOR_Y] = {.buffer = c->a, .bytes = bytes},
                  [WF_VECTOR_SCALARS] = {.buffer = c->factors}}};
    if (c->prepared)
        drop(c);
    if (iterations % 2)
        run(c, c->finish, &bindings, NULL);
}
