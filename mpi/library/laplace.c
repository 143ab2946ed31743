/* A solve of Laplace's equation on many ranks: iterations between checks, and the hosts' verdict on
 * each check from the sums of all ranks. */
#include "laplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_UP_TAG = 14, ROW_DOWN_TAG };

/* A solve under way. Lengths on the devices are divided by 2^exponent. */
typedef struct solve {
    wf_mpi_laplace *l;
    double unit, norm; /* |u| as it begins, and |b| */
    int exponent;
    double wanted; /* square of |r| on the devices at which it has converged */
    double mark;   /* the last square that was progress, and its check */
    uint32_t mark_check;
    double kept_at, keeping; /* when a state was kept last; seconds that all took */
    bool checked;            /* there is an outcome to tell the application of */
    unsigned char *u;
    wf_mpi_laplace_result *out;
} solve;

/* What is summed over all ranks in a check. */
enum { SQUARES, SCALES, FAILED, CANCELLED, KEEP, SUMS };

static uint32_t rows_here(const wf_mpi_laplace *l)
{
    return wfi_mpi_laplace_rows(l, l->ranks.rank);
}

/* ---------------------------------------------------------------------------------------- norms */

static wf_result look(const solve *s, const void *lower, const void *upper, double unit,
                      wf_laplace_rows_found *found)
{
    const wf_mpi_laplace *l = s->l;
    *found = (wf_laplace_rows_found){.size = sizeof *found};
    return wf_laplace_rows_look(l->device, &l->grid, l->first[l->ranks.rank], rows_here(l), s->u,
                                lower, upper, unit, found);
}

/* |u| and |b| of all ranks. */
static wf_result find_norms(solve *s)
{
    const MPI_Comm comm = s->l->ranks.comm;
    wf_laplace_rows_found found;
    wf_result result = wfi_ranks_agree(&s->l->ranks, look(s, NULL, NULL, 0, &found));
    if (result != WF_SUCCESS)
        return result;
    MPI_Allreduce(&found.largest, &s->unit, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (isinf(s->unit))
        return s->l->ranks.rank ? WF_ERROR_INVALID_ARGUMENT
                                : wfi_ranks_fail(&s->l->ranks, WF_ERROR_INVALID_ARGUMENT,
                                                 "u has values that are not finite");
    if (s->unit > 0)
        result = wfi_ranks_agree(&s->l->ranks, look(s, NULL, NULL, s->unit, &found));
    double squares = 0;
    MPI_Allreduce(&found.border, &squares, 1, MPI_DOUBLE, MPI_SUM, comm);
    s->norm = s->unit > 0 ? sqrt(squares) * s->unit : 0;
    return result;
}

/* The rows beside this rank's, from the ranks that have them. Not by the halos of the devices, of
 * which an error could come. */
static wf_result fetch_rows(const solve *s, unsigned char **lower, unsigned char **upper)
{
    const wf_mpi_laplace *l = s->l;
    const size_t row = l->grid.nx * wf_type_size(l->grid.type), rows = rows_here(l);
    const int below = l->slabs.neighbours[WFI_LOWER], above = l->slabs.neighbours[WFI_UPPER];
    unsigned char *last = rows ? s->u + (rows - 1) * row : s->u;
    *lower = malloc(row);
    *upper = malloc(row);
    const wf_result result =
        wfi_ranks_agree(&l->ranks, *lower && *upper ? WF_SUCCESS : WF_ERROR_OUT_OF_HOST_MEMORY);
    if (result != WF_SUCCESS)
        return result;
    MPI_Sendrecv(last, (int)row, MPI_BYTE, above, ROW_UP_TAG, *lower, (int)row, MPI_BYTE, below,
                 ROW_UP_TAG, l->ranks.comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(s->u, (int)row, MPI_BYTE, below, ROW_DOWN_TAG, *upper, (int)row, MPI_BYTE, above,
                 ROW_DOWN_TAG, l->ranks.comm, MPI_STATUS_IGNORE);
    return WF_SUCCESS;
}

/* n u / (1 - n u), INFINITY where there is no bound (Higham 2002, section 3.1). */
static double gamma_of(double n, wf_type type)
{
    const double u = n * (type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24);
    return u < 1 ? u / (1 - u) : INFINITY;
}

/* The true residual, and whether rounding explains that it is over the tolerance: as
 * wf_laplace_result says. */
static wf_result check(solve *s)
{
    const wf_mpi_laplace *l = s->l;
    unsigned char *lower = NULL, *upper = NULL;
    wf_laplace_rows_found found = {.size = sizeof found};
    wf_result result = fetch_rows(s, &lower, &upper);
    if (result == WF_SUCCESS && rows_here(l))
        result = look(s, lower, upper, s->unit, &found);
    free(lower);
    free(upper);
    result = wfi_ranks_agree(&l->ranks, result);
    if (result != WF_SUCCESS)
        return result;
    double own[2] = {found.residual, found.scale}, all[2];
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, l->ranks.comm);
    const double cells = (l->grid.nx - 2.0) * (l->grid.ny - 2.0),
                 scale = sqrt(all[1]) * s->unit / s->norm,
                 bound = l->cut.tolerance * (1 + fmin(gamma_of(cells, l->grid.type), 1)) +
                         gamma_of(4, l->grid.type) * scale;
    s->out->true_residual = sqrt(all[0]) * s->unit / s->norm;
    if (s->out->status == WF_LAPLACE_CONVERGED && !(s->out->true_residual <= bound))
        s->out->status = WF_LAPLACE_INACCURATE;
    return WF_SUCCESS;
}

/* -------------------------------------------------------------------------------------- verdict */

/* As laplace_verdict.comp: whether the iterations go on. */
static bool goes_on(solve *s, double squares, double scales)
{
    const wf_laplace_cut *cut = &s->l->cut;
    const uint32_t number = s->out->checks - 1;
    const double rounding = s->l->grid.type == WF_TYPE_F64 ? 0x1p-53 : 0x1p-24;
    const bool progress = number == 0 || squares <= 0.81 * s->mark;
    if (progress) {
        s->mark = squares;
        s->mark_check = number;
    }
    s->out->status = !isfinite(squares)                        ? WF_LAPLACE_NOT_FINITE
                     : squares <= s->wanted                    ? WF_LAPLACE_CONVERGED
                     : squares <= rounding * rounding * scales ? WF_LAPLACE_STAGNATED
                     : number >= s->mark_check + cut->patience ? WF_LAPLACE_STAGNATED
                                                               : WF_LAPLACE_MAX_ITERATIONS;
    return s->out->status == WF_LAPLACE_MAX_ITERATIONS && s->out->iterations < cut->max_iterations;
}

static bool is_keep_due(const solve *s)
{
    const wf_mpi_laplace_params *p = &s->l->params;
    return p->keep && p->keep_every == 0 && s->l->ranks.rank == 0 &&
           MPI_Wtime() >= s->kept_at + p->keep_seconds;
}

/* Adds up this rank's sums with those of all; false: a rank has failed. */
static bool reduce(solve *s, wf_result *result, double sums[SUMS])
{
    wf_result own = *result;
    double here[SUMS] = {0};
    const double start = MPI_Wtime();
    if (own == WF_SUCCESS && s->l->slab)
        own = wfi_slabs_bind_arrived(&s->l->slabs);
    if (own == WF_SUCCESS && s->l->slab)
        own = wf_laplace_slab_residual(s->l->slab, &here[SQUARES], &here[SCALES]);
    here[FAILED] = own != WF_SUCCESS;
    const wf_laplace_params *p = &s->l->grid;
    here[CANCELLED] = own == WF_SUCCESS && p->progress && s->checked &&
                      !p->progress(p->user, s->out->iterations, s->out->residual);
    here[KEEP] = is_keep_due(s);
    MPI_Allreduce(here, sums, SUMS, MPI_DOUBLE, MPI_SUM, s->l->ranks.comm);
    const double end = MPI_Wtime();
    wfi_trace(&s->out->times, WF_MPI_STAGE_REDUCTION, start, end);
    s->out->times.reduction += end - start;
    *result = own;
    return sums[FAILED] <= 0;
}

static wf_result read_rows(const solve *s)
{
    const wf_result own = s->l->slab ? wf_laplace_slab_read(s->l->slab, s->u) : WF_SUCCESS;
    return wfi_ranks_agree(&s->l->ranks, own);
}

static wf_result keep(solve *s)
{
    const double start = MPI_Wtime();
    wf_result result = read_rows(s);
    const wf_mpi_laplace_params *p = &s->l->params;
    const wf_mpi_laplace_state state = {.size = sizeof state,
                                        .iterations = s->out->iterations,
                                        .unit = s->unit,
                                        .norm = s->norm,
                                        .mark = s->mark,
                                        .mark_check = s->mark_check,
                                        .u = s->u};
    if (result == WF_SUCCESS && !p->keep(p->keep_user, &state))
        result = WF_ERROR_CANCELLED;
    result = wfi_ranks_agree(&s->l->ranks, result);
    s->kept_at = MPI_Wtime();
    s->keeping += s->kept_at - start;
    return result;
}

static bool passed_multiple(const solve *s, uint32_t made)
{
    const uint32_t every = s->l->params.keep_every;
    return s->l->params.keep && every &&
           s->out->iterations / every > (s->out->iterations - made) / every;
}

/* The iterations up to a check, and the check. */
static wf_result advance(solve *s, bool *more)
{
    wf_mpi_laplace *l = s->l;
    wf_mpi_laplace_result *out = s->out;
    double sums[SUMS];
    const uint32_t left = l->cut.max_iterations - out->iterations,
                   made = left < l->cut.check_every ? left : l->cut.check_every;
    wf_result own = wfi_slabs_run(&l->slabs, made, l->cut.iterations, false, &out->times);
    const bool whole = reduce(s, &own, sums);
    *more = false;
    if (!whole)
        return wfi_ranks_agree(&l->ranks, own);
    out->iterations += made;
    out->checks++;
    s->checked = true;
    out->residual = ldexp(sqrt(sums[SQUARES]), s->exponent) / s->norm;
    const wf_laplace_params *p = &l->grid;
    if (p->history && out->checks <= p->history_room)
        p->history[out->checks - 1] = out->residual;
    *more = goes_on(s, sums[SQUARES], sums[SCALES]);
    if (*more && sums[CANCELLED] > 0) {
        out->status = WF_LAPLACE_CANCELLED;
        *more = false;
    }
    return *more && (sums[KEEP] > 0 || passed_multiple(s, made)) ? keep(s) : WF_SUCCESS;
}

/* ---------------------------------------------------------------------------------------- solve */

static wf_result write_rows(solve *s)
{
    wf_mpi_laplace *l = s->l;
    wf_result result = l->slab ? wfi_slabs_bind(&l->slabs) : WF_SUCCESS;
    if (result == WF_SUCCESS && l->slab)
        result = wf_laplace_slab_write(l->slab, s->u, s->exponent);
    result = wfi_ranks_agree(&l->ranks, result);
    return result == WF_SUCCESS && l->slab ? wfi_slabs_exchange(&l->slabs, WF_SUCCESS) : result;
}

static void go_on_from(solve *s, const wf_mpi_laplace_state *from)
{
    s->out->iterations = from->iterations;
    s->out->checks = from->iterations / s->l->cut.check_every;
    s->unit = from->unit;
    s->norm = from->norm;
    s->mark_check = from->mark_check;
}

static wf_result run(solve *s, const wf_mpi_laplace_state *from)
{
    const wf_mpi_laplace *l = s->l;
    frexp(s->unit, &s->exponent);
    s->wanted = pow(ldexp(l->cut.tolerance * s->norm, -s->exponent), 2);
    s->mark = from ? from->mark : 0;
    wf_result result = write_rows(s);
    const double start = MPI_Wtime();
    s->kept_at = start;
    for (bool more = result == WF_SUCCESS; more && result == WF_SUCCESS;)
        result = advance(s, &more);
    const double here[] = {MPI_Wtime() - start - s->keeping, s->keeping};
    double slowest[2];
    MPI_Allreduce(here, slowest, 2, MPI_DOUBLE, MPI_MAX, l->ranks.comm);
    s->out->seconds = slowest[0];
    s->out->keep_seconds = slowest[1];
    if (result == WF_SUCCESS)
        result = read_rows(s);
    return result == WF_SUCCESS ? check(s) : result;
}

/* Where the border is zero, so is the solution. */
static void clear_inner(const solve *s)
{
    const wf_mpi_laplace *l = s->l;
    const size_t real = wf_type_size(l->grid.type), row = l->grid.nx * real;
    const uint32_t first = l->first[l->ranks.rank];
    for (uint32_t y = 0; y < rows_here(l); y++)
        if (first + y > 0 && first + y + 1 < l->grid.ny)
            memset(s->u + y * row + real, 0, row - 2 * real);
}

static bool fits(const wf_mpi_laplace *l, const wf_mpi_laplace_state *from)
{
    return !from ||
           (from->size == sizeof *from && from->norm > 0 && from->unit > 0 &&
            from->iterations % l->cut.check_every == 0 && from->iterations < l->cut.max_iterations);
}

wf_result wf_mpi_laplace_solve(wf_mpi_laplace *l, const wf_mpi_laplace_state *from, void *u,
                               wf_mpi_laplace_result *out)
{
    if (!l || l->failed || !out || (rows_here(l) && !u) || !fits(l, from))
        return WF_ERROR_INVALID_ARGUMENT;
    solve s = {.l = l, .u = u, .out = out};
    *out = (wf_mpi_laplace_result){.times = {.size = sizeof out->times, .trace = l->params.trace}};
    wf_result result = WF_SUCCESS;
    if (from)
        go_on_from(&s, from);
    else
        result = find_norms(&s);
    if (result == WF_SUCCESS && s.norm > 0)
        result = run(&s, from);
    else if (result == WF_SUCCESS)
        clear_inner(&s);
    l->failed = result != WF_SUCCESS;
    return result == WF_SUCCESS && out->status == WF_LAPLACE_CANCELLED ? WF_ERROR_CANCELLED
                                                                       : result;
}
