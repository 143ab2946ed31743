/* The vectors and kernels of the form of Chronopoulos and Gear, which are those of one device's
 * solve (wf_cg_step_plan), and the pieces that updates are made in. */
#include <stdlib.h>
#include <string.h>

#include "cg.h"

/* An update reads and writes about so many vectors; from so many bytes on it is made in pieces. */
#define VECTORS 8
#define LONG_BYTES (UINT64_C(128) << 20)
/* Elements that a device updates while one goes over its bus, a few times over. */
#define MEANWHILE 16

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

/* Whether the update, and the product all the more, take so long that an exchange can hide behind
 * them. WAVEFIT_MPI_PIECES says otherwise: 0 never, 1 always. */
static bool is_long(const wfi_mpi_cg *c)
{
    const char *asked = getenv("WAVEFIT_MPI_PIECES");
    if (asked && (strcmp(asked, "0") == 0 || strcmp(asked, "1") == 0))
        return *asked == '1';
    return VECTORS * wfi_cg_real_bytes(c) * c->matrix->y.length >= LONG_BYTES;
}

/* Of a matrix whose entries lie symmetrically others need elements of boundary rows alone. */
static bool sends_boundary(const wf_mpi_matrix *m)
{
    bool all = m->sent.total > 0;
    for (uint32_t i = 0; i < m->sent.total && all; i++)
        all = m->sent.elements[i] >= m->boundary_at;
    return all;
}

static void cut(wfi_mpi_cg *c)
{
    const wf_mpi_matrix *m = c->matrix;
    const uint32_t unit = wfi_mpi_alignment(m), units = m->boundary_at / unit;
    const uint64_t wanted = MEANWHILE * (uint64_t)m->sent.total / unit + 1;
    c->pieces[0].count = m->y.length;
    c->piece_count = 1;
    if (!m->sum_count || units < 2 || m->aside || !is_long(c) || !sends_boundary(m))
        return;
    const uint32_t middle = (uint32_t)(wanted < units / 2 ? wanted : units / 2) * unit;
    c->pieces[0].first = m->boundary_at;
    c->pieces[0].count = m->y.length - m->boundary_at;
    c->pieces[1].count = middle;
    c->pieces[2].first = middle;
    c->pieces[2].count = m->boundary_at - middle;
    c->piece_count = WFI_CG_PIECES;
}

/* What products leave of u w, of which the host adds up the partial sums: a kernel that does so
 * takes the device longer. They are those by which this step has more than the others. */
static wf_result open_rest(wfi_mpi_cg *c, wf_cg_step_params params, uint64_t others)
{
    uint64_t partials = 0;
    params.step = WF_CG_STEP_REST;
    params.rest = c->rest;
    if (!c->rest)
        return WF_SUCCESS;
    wf_result result = wf_cg_step_plan(c->matrix->device, &params, &partials,
                                       &c->pieces[0].steps[WF_CG_STEP_REST]);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(c->matrix->device, partials * wfi_cg_real_bytes(c),
                                  WF_MEMORY_READBACK, &c->rest_sums);
    c->rest_sums_at = others;
    c->rest_count = result == WF_SUCCESS ? partials - others : 0;
    return result;
}

/* The first piece has what products leave of u w. */
static wf_result open_piece(wfi_mpi_cg *c, wfi_cg_piece *piece)
{
    static const wf_cg_step steps[] = {WF_CG_STEP_START, WF_CG_STEP_SUM, WF_CG_STEP_UPDATE};
    const wf_mpi_matrix *m = c->matrix;
    const bool first = piece == c->pieces;
    uint64_t partials = 0;
    wf_cg_step_params params = {.size = sizeof params,
                                .type = m->type,
                                .count = piece->count,
                                .stride = c->stride,
                                .jacobi = wfi_cg_has_u(c),
                                .product = first ? m->sum_count : 0};
    wf_result result = WF_SUCCESS;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && result == WF_SUCCESS; i++) {
        params.step = steps[i];
        result = wf_cg_step_plan(m->device, &params, &partials, &piece->steps[steps[i]]);
    }
    if (result == WF_SUCCESS && first)
        result = open_rest(c, params, partials);
    return result == WF_SUCCESS ? wf_buffer_create(m->device, partials * wfi_cg_real_bytes(c),
                                                   WF_MEMORY_DEVICE, &piece->partials)
                                : result;
}

static wf_result make_plans(wfi_mpi_cg *c)
{
    const wf_mpi_matrix *m = c->matrix;
    const wf_vector_params finish = {.size = sizeof finish,
                                     .count = m->y.length,
                                     .type = m->type,
                                     .operation = WF_VECTOR_AXPY,
                                     .numerator = 1};
    wf_result result = wf_vector_plan(m->device, &finish, &c->finish);
    for (int i = 0; i < c->piece_count && result == WF_SUCCESS; i++)
        result = open_piece(c, &c->pieces[i]);
    return result;
}

static wf_result make_buffers(wfi_mpi_cg *c)
{
    wf_device *device = c->matrix->device;
    const uint64_t real = wfi_cg_real_bytes(c), vector = c->stride * real,
                   of_c = wfi_cg_has_u(c) ? 2 * vector : 4 * real;
    wf_result result = wf_buffer_create(device, 3 * vector, WF_MEMORY_DEVICE, &c->a);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, 2 * vector, WF_MEMORY_DEVICE, &c->b);
    if (result == WF_SUCCESS)
        result = wf_buffer_create(device, of_c, WF_MEMORY_DEVICE, &c->c);
    /* Padding of w and of M stays 0. */
    if (result == WF_SUCCESS)
        result = wf_buffer_fill(c->b, 0, 2 * vector, 0);
    return result == WF_SUCCESS ? wf_buffer_fill(c->c, 0, of_c, 0) : result;
}

wf_result wfi_mpi_cg_open_fused(wfi_mpi_cg *c, const void *r)
{
    const wf_mpi_matrix *m = c->matrix;
    const uint64_t vector = m->y.length * wfi_cg_real_bytes(c);
    void *inverse = NULL;
    if (m->y.count == 0)
        return WF_SUCCESS;
    find_sizes(c);
    wf_result result = WF_SUCCESS;
    if (m->inside && m->peer_count && is_long(c))
        result = wfi_mpi_matrix_aside(c->matrix);
    cut(c);
    if (result == WF_SUCCESS)
        result = make_plans(c);
    if (result == WF_SUCCESS)
        result = make_buffers(c);
    if (result == WF_SUCCESS && wfi_cg_has_u(c))
        result = wfi_mpi_cg_invert(c, &inverse);
    if (result == WF_SUCCESS && inverse)
        result = wf_buffer_write(c->c, c->stride * wfi_cg_real_bytes(c), inverse, vector);
    free(inverse);
    const wfi_place place = {c->a, c->stride * wfi_cg_real_bytes(c)};
    return result == WF_SUCCESS ? wfi_mpi_place_write(m, &m->y, place, r) : result;
}

wf_result wfi_mpi_cg_read_fused(wfi_mpi_cg *c, void *x)
{
    const wfi_place place = {.buffer = c->a};
    return wfi_mpi_place_read(c->matrix, &c->matrix->y, place, x);
}

void wfi_mpi_cg_close_fused(wfi_mpi_cg *c)
{
    for (int n = 0; n < WFI_CG_PIECES; n++) {
        for (int i = 0; i <= WF_CG_STEP_UPDATE; i++)
            wf_plan_destroy(&c->pieces[n].steps[i]);
        wf_buffer_destroy(&c->pieces[n].partials);
    }
    wf_plan_destroy(&c->finish);
    wf_buffer_destroy(&c->rest_sums);
    wf_buffer_destroy(&c->a);
    wf_buffer_destroy(&c->b);
    wf_buffer_destroy(&c->c);
}
