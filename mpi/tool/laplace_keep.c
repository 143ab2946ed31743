#include "laplace_keep.h"

#include <string.h>

#include "tool/cases/laplace_options.h"
#include "tool/cli/console.h"

enum { ROWS_TAG = 16 };

/* ----------------------------------------------------------------------------------------- rows */

/* A row is an element of the messages, so that counts are those of rows. */
static void move(const wfi_laplace_keep *k, unsigned char *whole, unsigned char *own, bool out)
{
    const size_t row = k->grid->nx * wf_type_size(k->grid->type);
    MPI_Datatype type;
    MPI_Type_contiguous((int)row, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int other = 0; other < k->rank->count; other++) {
        uint32_t span[2] = {k->part.first_row, k->part.rows};
        MPI_Bcast(span, 2, MPI_UINT32_T, other, MPI_COMM_WORLD);
        unsigned char *there = whole ? whole + span[0] * row : NULL;
        if (other == 0 && there)
            memcpy(out ? own : there, out ? there : own, span[1] * row);
        else if (there && out)
            MPI_Send(there, (int)span[1], type, other, ROWS_TAG, MPI_COMM_WORLD);
        else if (there)
            MPI_Recv(there, (int)span[1], type, other, ROWS_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (k->rank->rank == other && out)
            MPI_Recv(own, (int)span[1], type, 0, ROWS_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (k->rank->rank == other)
            MPI_Send(own, (int)span[1], type, 0, ROWS_TAG, MPI_COMM_WORLD);
    }
    MPI_Type_free(&type);
}

void wfi_laplace_scatter(const wfi_laplace_keep *k, const void *whole, void *own)
{
    move(k, (unsigned char *)(uintptr_t)whole, own, true);
}

void wfi_laplace_gather(const wfi_laplace_keep *k, const void *own, void *whole)
{
    move(k, whole, (unsigned char *)(uintptr_t)own, false);
}

/* -------------------------------------------------------------------------------------- writing */

static uint64_t cells(const wfi_laplace_keep *k)
{
    return (uint64_t)k->grid->nx * k->grid->ny;
}

static void describe(const wfi_laplace_keep *k, const wf_mpi_laplace_state *state,
                     wfi_checkpoint *out)
{
    wfi_checkpoint_word(out, "family", "laplace");
    wfi_checkpoint_word(out, "method", wfi_laplace_method_text(k->grid));
    wfi_checkpoint_word(out, "type", wf_type_name(k->grid->type));
    wfi_checkpoint_number(out, "nx", k->grid->nx);
    wfi_checkpoint_number(out, "ny", k->grid->ny);
    wfi_checkpoint_number(out, "omega", k->part.omega);
    wfi_checkpoint_number(out, "check_every", k->part.check_every);
    wfi_checkpoint_number(out, "start_crc32", (double)k->sum);
    wfi_checkpoint_number(out, "iterations", state->iterations);
    wfi_checkpoint_number(out, "unit", state->unit);
    wfi_checkpoint_number(out, "norm", state->norm);
    wfi_checkpoint_number(out, "mark", state->mark);
    wfi_checkpoint_number(out, "mark_check", state->mark_check);
    wfi_checkpoint_array_add(out, "u", k->grid->type, cells(k), k->whole);
    wfi_checkpoint_array_add(out, "history", WF_TYPE_F64, state->iterations / k->part.check_every,
                             k->history);
}

bool wfi_laplace_keep_state(void *user, const wf_mpi_laplace_state *state)
{
    wfi_laplace_keep *k = user;
    wfi_checkpoint what = {0};
    wfi_laplace_gather(k, state->u, k->whole);
    if (k->rank->prints)
        describe(k, state, &what);
    k->told = wfi_checkpoints_write(k->rank, &k->checkpoints, &what);
    return k->told == WFI_EXIT_DONE;
}

/* -------------------------------------------------------------------------------------- reading */

static bool is_word(const wfi_checkpoint *c, const char *name, const char *wanted)
{
    const char *text = wfi_checkpoint_find_word(c, name);
    return text && strcmp(text, wanted) == 0;
}

/* Whether the checkpoint, which rank 0 has read, is of this problem. */
static int check(const wfi_laplace_keep *k, const char *path)
{
    const wfi_checkpoint *c = &k->before;
    const double iterations = wfi_checkpoint_find(c, "iterations"), every = k->part.check_every,
                 mark_check = wfi_checkpoint_find(c, "mark_check");
    if (!is_word(c, "method", wfi_laplace_method_text(k->grid)) ||
        !is_word(c, "type", wf_type_name(k->grid->type)) ||
        wfi_checkpoint_find(c, "nx") != k->grid->nx ||
        wfi_checkpoint_find(c, "ny") != k->grid->ny ||
        wfi_checkpoint_find(c, "omega") != k->part.omega ||
        wfi_checkpoint_find(c, "check_every") != every ||
        wfi_checkpoint_find(c, "start_crc32") != (double)k->sum)
        return wfi_run_error("%s: the checkpoint is of another problem: %.0fx%.0f, check every "
                             "%.0f, omega %.9g",
                             path, wfi_checkpoint_find(c, "nx"), wfi_checkpoint_find(c, "ny"),
                             wfi_checkpoint_find(c, "check_every"),
                             wfi_checkpoint_find(c, "omega"));
    const wfi_checkpoint_array *u = wfi_checkpoint_find_array(c, "u"),
                               *history = wfi_checkpoint_find_array(c, "history");
    const bool ok = iterations >= every && iterations <= 1e9 && u && u->type == k->grid->type &&
                    u->count == cells(k) && history && history->type == WF_TYPE_F64 &&
                    (double)history->count == iterations / every &&
                    wfi_checkpoint_find(c, "norm") > 0 && wfi_checkpoint_find(c, "unit") > 0 &&
                    wfi_checkpoint_find(c, "mark") >= 0 && mark_check >= 0 &&
                    mark_check < iterations / every;
    return ok ? WFI_EXIT_DONE : wfi_run_error("%s: the checkpoint is not whole", path);
}

int wfi_laplace_keep_read(wfi_laplace_keep *k, const char *path, void *whole, double *history)
{
    int code = wfi_checkpoints_read(k->rank, path, "laplace", &k->before);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_share(k->rank->prints ? check(k, path) : WFI_EXIT_DONE);
    const double iterations = wfi_checkpoint_find(&k->before, "iterations");
    if (code == WFI_EXIT_DONE && iterations >= wfi_laplace_most_iterations(k->grid))
        code = k->rank->prints ? wfi_usage_error("laplace: %s has %.0f iterations already; "
                                                 "--max-iterations counts all of them",
                                                 path, iterations)
                               : WFI_EXIT_USAGE;
    if (code != WFI_EXIT_DONE)
        return code;
    const wfi_checkpoint_array *u = wfi_checkpoint_find_array(&k->before, "u"),
                               *known = wfi_checkpoint_find_array(&k->before, "history");
    if (whole && u)
        memcpy(whole, u->data, u->count * wf_type_size(u->type));
    if (history && known)
        memcpy(history, known->data, known->count * sizeof *history);
    k->state = (wf_mpi_laplace_state){.size = sizeof k->state,
                                      .iterations = (uint32_t)iterations,
                                      .unit = wfi_checkpoint_find(&k->before, "unit"),
                                      .norm = wfi_checkpoint_find(&k->before, "norm"),
                                      .mark = wfi_checkpoint_find(&k->before, "mark"),
                                      .mark_check =
                                          (uint32_t)wfi_checkpoint_find(&k->before, "mark_check")};
    return WFI_EXIT_DONE;
}
