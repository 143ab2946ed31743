#include "cg_keep.h"

#include <stdlib.h>
#include <string.h>

#include "tool/cli/console.h"

enum { VECTORS = 4 };
static const char *const vector_names[VECTORS] = {"x", "r", "p", "s"};

static uint64_t sum_of_b(const wfi_cg_keep *k)
{
    const wf_mpi_matrix_params *m = &k->matrix->params;
    return k->rank->prints
               ? wfi_checkpoint_sum(k->whole_b, m->rows * (uint64_t)wf_type_size(m->type))
               : 0;
}

/* ------------------------------------------------------------------------------------- writing */

static void describe(const wfi_cg_keep *k, const wf_mpi_cg_state *state, wfi_checkpoint *out)
{
    const wf_mpi_matrix_params *m = &k->matrix->params;
    wfi_checkpoint_word(out, "family", "cg");
    wfi_checkpoint_word(out, "matrix", k->matrix->name);
    wfi_checkpoint_word(out, "type", wf_type_name(m->type));
    wfi_checkpoint_number(out, "rows", m->rows);
    wfi_checkpoint_number(out, "entries", k->matrix->entries);
    wfi_checkpoint_number(out, "precondition", k->precondition);
    wfi_checkpoint_number(out, "b_crc32", (double)sum_of_b(k));
    wfi_checkpoint_number(out, "values_crc32", (double)k->values_sum);
    wfi_checkpoint_number(out, "columns_crc32", (double)k->columns_sum);
    wfi_checkpoint_number(out, "iterations", state->iterations);
    wfi_checkpoint_number(out, "ru", state->ru);
    wfi_checkpoint_number(out, "alpha", state->alpha);
}

/* A wf_mpi_cg_keep_fn. */
static bool keep_state(void *user, const wf_mpi_cg_state *state)
{
    wfi_cg_keep *k = user;
    const wf_mpi_matrix_params *m = &k->matrix->params;
    const void *const own[VECTORS] = {state->x, state->r, state->p, state->s};
    void *whole[VECTORS] = {NULL};
    wfi_checkpoint what = {0};
    int code = WFI_EXIT_DONE;
    for (int v = 0; v < VECTORS && k->rank->prints && code == WFI_EXIT_DONE; v++) {
        whole[v] = malloc(m->rows * wf_type_size(m->type) + 1);
        if (!whole[v])
            code = wfi_run_error("cg: out of memory");
    }
    code = wfi_rank_share(code);
    for (int v = 0; v < VECTORS && code == WFI_EXIT_DONE; v++)
        wfi_rank_gather(k->rank, k->matrix->first_row, m->type, own[v], whole[v]);
    if (code == WFI_EXIT_DONE && k->rank->prints) {
        describe(k, state, &what);
        for (int v = 0; v < VECTORS; v++)
            wfi_checkpoint_array_add(&what, vector_names[v], m->type, m->rows, whole[v]);
        wfi_checkpoint_array_add(&what, "history", WF_TYPE_F64, state->iterations, k->history);
    }
    if (code == WFI_EXIT_DONE)
        code = wfi_checkpoints_write(k->rank, &k->checkpoints, &what);
    for (int v = 0; v < VECTORS; v++)
        free(whole[v]);
    k->told = code;
    return code == WFI_EXIT_DONE;
}

void wfi_cg_keep_ask(wfi_cg_keep *k, wf_mpi_cg_params *params)
{
    if (!k->checkpoints.path)
        return;
    params->keep = keep_state;
    params->keep_every = (uint32_t)k->checkpoints.iterations;
    params->keep_seconds = k->checkpoints.seconds;
    params->user = k;
}

/* ------------------------------------------------------------------------------------- reading */

/* Whether the checkpoint, which rank 0 has read, is of this system. */
static int check(const wfi_cg_keep *k, const char *path)
{
    const wfi_checkpoint *c = &k->before;
    const wf_mpi_matrix_params *m = &k->matrix->params;
    const char *type = wfi_checkpoint_find_word(c, "type"),
               *name = wfi_checkpoint_find_word(c, "matrix");
    const double iterations = wfi_checkpoint_find(c, "iterations");
    if (!type || strcmp(type, wf_type_name(m->type)) != 0 ||
        wfi_checkpoint_find(c, "rows") != m->rows ||
        wfi_checkpoint_find(c, "entries") != k->matrix->entries ||
        wfi_checkpoint_find(c, "precondition") != k->precondition ||
        wfi_checkpoint_find(c, "b_crc32") != (double)sum_of_b(k) ||
        wfi_checkpoint_find(c, "values_crc32") != (double)k->values_sum ||
        wfi_checkpoint_find(c, "columns_crc32") != (double)k->columns_sum)
        return wfi_run_error("%s: the checkpoint is of another system: %.40s, %.0f rows, %s", path,
                             name ? name : "?", wfi_checkpoint_find(c, "rows"), type ? type : "?");
    bool ok = iterations >= 2 && iterations <= 1e9;
    const wfi_checkpoint_array *history = wfi_checkpoint_find_array(c, "history");
    ok = ok && history && history->type == WF_TYPE_F64 && (double)history->count == iterations;
    for (int v = 0; v < VECTORS; v++) {
        const wfi_checkpoint_array *a = wfi_checkpoint_find_array(c, vector_names[v]);
        ok = ok && a && a->type == m->type && a->count == m->rows;
    }
    return ok ? WFI_EXIT_DONE : wfi_run_error("%s: the checkpoint is not whole", path);
}

/* Every rank gets its rows. */
static int hand_out(wfi_cg_keep *k)
{
    const wf_mpi_matrix_params *m = &k->matrix->params;
    bool ok = true;
    for (int v = 0; v < VECTORS; v++) {
        k->own[v] = malloc(m->own_rows * wf_type_size(m->type) + 1);
        ok = ok && k->own[v];
    }
    const int code = wfi_rank_worst(ok ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return k->rank->prints ? wfi_run_error("cg: out of memory") : code;
    for (int v = 0; v < VECTORS; v++) {
        const wfi_checkpoint_array *a = wfi_checkpoint_find_array(&k->before, vector_names[v]);
        wfi_rank_scatter(k->rank, k->matrix->first_row, m->type, a ? a->data : NULL, k->own[v]);
    }
    return WFI_EXIT_DONE;
}

int wfi_cg_keep_read(wfi_cg_keep *k, const char *path, wf_mpi_cg_params *params, double *history)
{
    int code = wfi_checkpoints_read(k->rank, path, "cg", &k->before);
    if (code == WFI_EXIT_DONE)
        code = wfi_rank_share(k->rank->prints ? check(k, path) : WFI_EXIT_DONE);
    const double iterations = wfi_checkpoint_find(&k->before, "iterations");
    if (code == WFI_EXIT_DONE && iterations >= params->max_iterations)
        code = k->rank->prints ? wfi_usage_error("cg: %s has %.0f iterations already; "
                                                 "--max-iterations counts all of them",
                                                 path, iterations)
                               : WFI_EXIT_USAGE;
    if (code == WFI_EXIT_DONE)
        code = hand_out(k);
    if (code != WFI_EXIT_DONE)
        return code;
    const wfi_checkpoint_array *known = wfi_checkpoint_find_array(&k->before, "history");
    if (history && known)
        memcpy(history, known->data, known->count * sizeof *history);
    k->state = (wf_mpi_cg_state){.size = sizeof k->state,
                                 .iterations = (uint32_t)iterations,
                                 .ru = wfi_checkpoint_find(&k->before, "ru"),
                                 .alpha = wfi_checkpoint_find(&k->before, "alpha"),
                                 .x = k->own[0],
                                 .r = k->own[1],
                                 .p = k->own[2],
                                 .s = k->own[3]};
    params->from = &k->state;
    return WFI_EXIT_DONE;
}

void wfi_cg_keep_free(wfi_cg_keep *k)
{
    for (int v = 0; v < VECTORS; v++)
        free(k->own[v]);
    wfi_checkpoint_free(&k->before);
}
