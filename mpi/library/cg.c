/* wf_mpi_cg_solve: what the iterations need, and the verdict on their result. */
#include "cg.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parameter structure of a caller built against another version of the header. */
static bool read_params(const wf_mpi_cg_params *given, wf_mpi_cg_params *out)
{
    if (!given || given->size < sizeof given->size || given->size > sizeof *out)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, given, given->size);
    return out->matrix && out->matrix->size >= sizeof out->matrix->size;
}

/* -------------------------------------------------------------------------------- on the device */

wf_result wfi_mpi_cg_invert(const wfi_mpi_cg *c, void **out)
{
    const wf_mpi_matrix *m = c->matrix;
    const wf_mpi_matrix_params *p = c->params->matrix;
    const uint32_t first = m->first_row[m->ranks.rank];
    void *inverse = calloc(m->y.length + (size_t)1, wf_type_size(m->type));
    wf_result result = inverse ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t row = 0; row < m->y.count && result == WF_SUCCESS; row++) {
        double diagonal = 0;
        for (uint32_t i = p->row_offsets[row]; i < p->row_offsets[row + 1]; i++)
            if (p->column_indices[i] == first + row)
                diagonal += wf_element_get(m->type, p->values, i);
        if (!(diagonal > 0) || isinf(diagonal))
            result = wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                                    "the diagonal of row %u is %g; Jacobi needs it positive",
                                    first + row, diagonal);
        wf_element_set(m->type, inverse, m->y.places[row], 1 / diagonal);
    }
    *out = inverse;
    return result;
}

static wf_result open_device(wfi_mpi_cg *c, const void *r)
{
    wf_device *device = c->matrix->device;
    const uint64_t real = wf_type_size(c->matrix->type);
    wf_result result = WF_SUCCESS;
    if (c->matrix->y.count)
        result = wf_buffer_create(device, 4 * real, WF_MEMORY_UPLOAD, &c->factors);
    c->sums_apart = wfi_mpi_alignment(c->matrix);
    if (result == WF_SUCCESS && c->matrix->y.count)
        result = wf_buffer_create(device, WFI_CG_PIECES * c->sums_apart * real, WF_MEMORY_READBACK,
                                  &c->sums);
    if (result != WF_SUCCESS)
        return result;
    return c->params->pipelined ? wfi_mpi_cg_open_pipelined(c, r) : wfi_mpi_cg_open_fused(c, r);
}

static void close_device(wfi_mpi_cg *c)
{
    wfi_mpi_cg_close_fused(c);
    wfi_mpi_cg_close_pipelined(c);
    wf_buffer_destroy(&c->factors);
    wf_buffer_destroy(&c->sums);
    wf_mpi_matrix_destroy(&c->matrix);
}

/* ---------------------------------------------------------------------------------- on the host */

/* What the hosts find of an x together. */
typedef struct finding {
    double residual, x;              /* squares of |b - A x| and |x| */
    double largest_row, longest_row; /* sum of magnitudes, and entries */
} finding;

/* This rank's rows, by the caller's own columns and the whole x. */
static finding look_at(const wf_mpi_matrix_params *p, const void *b, const void *own,
                       const void *whole)
{
    finding found = {0};
    for (uint32_t row = 0; row < p->own_rows; row++) {
        const uint32_t begin = p->row_offsets[row], end = p->row_offsets[row + 1];
        const double x = wf_element_get(p->type, own, row);
        long double residual = wf_element_get(p->type, b, row);
        double sum = 0;
        for (uint32_t i = begin; i < end; i++) {
            const double value = wf_element_get(p->type, p->values, i);
            residual -= (long double)value * wf_element_get(p->type, whole, p->column_indices[i]);
            sum += fabs(value);
        }
        found.residual += (double)(residual * residual);
        found.x += x * x;
        found.largest_row = fmax(found.largest_row, sum);
        found.longest_row = fmax(found.longest_row, end - begin);
    }
    return found;
}

/* All ranks' x on each. Not by the halo lists, of which the iteration's errors could come. */
static wf_result gather(const wf_mpi_matrix *m, const void *own, void **out)
{
    const size_t real = wf_type_size(m->type);
    int *counts = calloc(2 * (size_t)m->ranks.count, sizeof *counts), *offsets;
    void *whole = malloc(m->rows * real + 1);
    const wf_result result =
        wfi_ranks_agree(&m->ranks, counts && whole ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result != WF_SUCCESS || !counts) {
        free(counts);
        free(whole);
        return result;
    }
    offsets = counts + m->ranks.count;
    for (int r = 0; r < m->ranks.count; r++) {
        offsets[r] = (int)m->first_row[r];
        counts[r] = (int)(m->first_row[r + 1] - m->first_row[r]);
    }
    const MPI_Datatype type = m->type == WF_TYPE_F64 ? MPI_DOUBLE : MPI_FLOAT;
    MPI_Allgatherv(own, counts[m->ranks.rank], type, whole, counts, offsets, type, m->ranks.comm);
    free(counts);
    *out = whole;
    return WF_SUCCESS;
}

/* The true residual, and whether rounding explains that it is over the tolerance: as wf_cg_result
 * says. */
static wf_result check(const wfi_mpi_cg *c, const void *b, const void *x, double norm,
                       wf_mpi_cg_result *out)
{
    void *whole = NULL;
    wf_result result = gather(c->matrix, x, &whole);
    if (result != WF_SUCCESS)
        return result;
    finding own = look_at(c->params->matrix, b, x, whole), all;
    MPI_Allreduce(&own.residual, &all.residual, 2, MPI_DOUBLE, MPI_SUM, c->matrix->ranks.comm);
    MPI_Allreduce(&own.largest_row, &all.largest_row, 2, MPI_DOUBLE, MPI_MAX,
                  c->matrix->ranks.comm);
    free(whole);
    const double u = c->matrix->type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24,
                 scale = 1 + all.largest_row * sqrt(all.x) / norm,
                 drift = (4.0 * out->iterations + 2 * all.longest_row + 8) * u * scale;
    out->true_residual = sqrt(all.residual) / norm;
    if (out->status == WF_CG_CONVERGED && !(out->true_residual <= c->tolerance + drift))
        out->status = WF_CG_INACCURATE;
    return WF_SUCCESS;
}

static wf_result find_norm(const wfi_mpi_cg *c, const void *b, double *norm)
{
    const wf_mpi_matrix *m = c->matrix;
    long double squares = 0;
    for (uint32_t i = 0; i < m->y.count; i++) {
        const long double value = wf_element_get(m->type, b, i);
        squares += value * value;
    }
    double own = (double)squares, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, m->ranks.comm);
    *norm = sqrt(all);
    if (isfinite(*norm))
        return WF_SUCCESS;
    return m->ranks.rank == 0 ? wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT,
                                               "b is not finite, or its square is not")
                              : WF_ERROR_INVALID_ARGUMENT;
}

/* b is scaled to length one, so that squares on the devices neither overflow nor vanish. */
static wf_result open_scaled(wfi_mpi_cg *c, const void *b, double norm)
{
    const wf_mpi_matrix *m = c->matrix;
    void *data = malloc(m->y.count * wf_type_size(m->type) + 1);
    if (!data)
        return WF_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < m->y.count; i++)
        wf_element_set(m->type, data, i, wf_element_get(m->type, b, i) / norm);
    const wf_result result = open_device(c, c->params->from ? c->params->from->r : data);
    free(data);
    return result;
}

static wf_result run(wfi_mpi_cg *c, const void *b, double norm, void *x, wf_mpi_cg_result *out)
{
    const wf_mpi_matrix *m = c->matrix;
    wf_result result = wfi_ranks_agree(&m->ranks, open_scaled(c, b, norm));
    if (result == WF_SUCCESS)
        result = wfi_mpi_cg_iterate(c, out);
    if (result != WF_SUCCESS)
        return result;
    result = c->params->pipelined ? wf_mpi_vector_read(c->own[WFI_CG_X], x)
                                  : wfi_mpi_cg_read_fused(c, x);
    result = wfi_ranks_agree(&m->ranks, result);
    for (uint32_t i = 0; i < m->y.count && result == WF_SUCCESS; i++)
        wf_element_set(m->type, x, i, wf_element_get(m->type, x, i) * norm);
    return result == WF_SUCCESS ? check(c, b, x, norm, out) : result;
}

static wf_result check_problem(const wfi_mpi_cg *c, const void *b, const void *x)
{
    const wf_mpi_matrix *m = c->matrix;
    const char *wrong = NULL;
    if (!m->alike || m->rows != m->columns)
        wrong = "the matrix is not square, or a rank has not as many columns as rows";
    else if (m->rows > INT_MAX)
        wrong = "the matrix has more rows than a message takes";
    else if (m->y.count && (!b || !x))
        wrong = "there is no b or no x";
    else if (c->params->precondition != WF_PRECONDITION_NONE &&
             c->params->precondition != WF_PRECONDITION_JACOBI)
        wrong = "many ranks have the preconditioner jacobi or none";
    else if (c->params->pipelined && (c->params->keep || c->params->from))
        wrong = "the pipelined form neither keeps what it has come to nor goes on from it";
    else if (c->params->from &&
             (c->params->from->size != sizeof *c->params->from || c->params->from->iterations % 2))
        wrong = "what is to be gone on from is not of an even number of iterations";
    else if (c->params->from && c->params->from->iterations > c->most)
        wrong = "what is to be gone on from has more iterations than max_iterations";
    else if (c->params->from && m->y.count &&
             (!c->params->from->x || !c->params->from->r || !c->params->from->p ||
              !c->params->from->s))
        wrong = "what is to be gone on from lacks a vector";
    if (!wrong)
        return WF_SUCCESS;
    return wfi_ranks_fail(&m->ranks, WF_ERROR_INVALID_ARGUMENT, "%s", wrong);
}

wf_result wf_mpi_cg_solve(MPI_Comm comm, wf_device *device, const wf_mpi_cg_params *given,
                          const void *b, void *x, wf_mpi_cg_result *out)
{
    wf_mpi_cg_params params;
    if (!device || !out || !read_params(given, &params))
        return WF_ERROR_INVALID_ARGUMENT;
    const double tightest = params.matrix->type == WF_TYPE_F64 ? 1e-10 : 1e-6;
    wfi_mpi_cg c = {.params = &params,
                    .tolerance = params.tolerance > 0 ? params.tolerance : tightest,
                    .most = params.max_iterations ? params.max_iterations : 1000};
    double norm = 0;
    *out = (wf_mpi_cg_result){.times = {.size = sizeof out->times, .trace = params.trace},
                              .part = {.size = sizeof out->part},
                              .product = {.size = sizeof out->product}};
    wf_result result =
        wfi_mpi_matrix_create(comm, device, params.matrix, !params.pipelined, &c.matrix);
    if (result != WF_SUCCESS)
        return result;
    result = check_problem(&c, b, x);
    if (result == WF_SUCCESS)
        result = wf_mpi_matrix_describe(c.matrix, &out->part, &out->product);
    result = wfi_ranks_agree(&c.matrix->ranks, result);
    if (result == WF_SUCCESS)
        result = find_norm(&c, b, &norm);
    if (result == WF_SUCCESS && norm > 0)
        result = run(&c, b, norm, x, out);
    else if (result == WF_SUCCESS && c.matrix->y.count)
        memset(x, 0, c.matrix->y.count * wf_type_size(c.matrix->type)); /* A 0 = 0 */
    close_device(&c);
    return result;
}
