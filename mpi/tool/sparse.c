#include "sparse.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/random.h"
#include "tool/cases/vectors.h"

enum { MATRIX_TAG = 3 };
#define PIECE ((size_t)1 << 28) /* elements of a message */
#define ROW_COST 4              /* a row's part of the vectors takes as long as so many entries */

/* ---------------------------------------------------------------------------------------- cuts */

double wfi_rank_matrix_work(double rows, double entries)
{
    return entries + ROW_COST * rows;
}

/* The first row of rank `rank`, by the entries and rows that those before it get. */
static uint32_t cut(const wfi_csr *csr, double share)
{
    const double all = wfi_rank_matrix_work(csr->rows, csr->entries);
    uint32_t low = 0, high = csr->rows;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (wfi_rank_matrix_work(middle, csr->row_offsets[middle]) < all * share - 0.5)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double total(const wfi_rank *rank, const double *weights, int ranks)
{
    double sum = 0;
    for (int r = 0; r < ranks && r < rank->count; r++)
        sum += weights ? weights[r] : 1;
    return sum;
}

static int divide(const wfi_rank *rank, const double *weights, wfi_rank_matrix *m)
{
    const wfi_csr *csr = &m->whole;
    const double all = total(rank, weights, rank->count);
    if (!(all > 0))
        return wfi_usage_error("--weights: no rank has a weight above 0: nobody would work");
    int last = rank->count - 1;
    while (weights && last > 0 && !(weights[last] > 0))
        last--;
    for (int r = 0; r <= rank->count; r++) {
        const double share = total(rank, weights, r) / all;
        m->first_row[r] = r > last ? csr->rows : cut(csr, share);
        m->first_column[r] = csr->rows == csr->columns ? m->first_row[r]
                             : r > last                ? csr->columns
                                                       : (uint32_t)(csr->columns * share);
    }
    return WFI_EXIT_DONE;
}

/* --------------------------------------------------------------------------------------- matrix */

static MPI_Datatype real_type(wf_type type)
{
    return type == WF_TYPE_F64 ? MPI_DOUBLE : MPI_FLOAT;
}

static void send(const void *data, size_t count, size_t size, MPI_Datatype type, int to)
{
    for (size_t at = 0; at < count; at += PIECE)
        MPI_Send((const char *)data + at * size, (int)(count - at < PIECE ? count - at : PIECE),
                 type, to, MATRIX_TAG, MPI_COMM_WORLD);
}

static void receive(void *data, size_t count, size_t size, MPI_Datatype type)
{
    for (size_t at = 0; at < count; at += PIECE)
        MPI_Recv((char *)data + at * size, (int)(count - at < PIECE ? count - at : PIECE), type, 0,
                 MATRIX_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int read_whole(const wfi_rank *rank, const char *text, wf_type type, bool square,
                      wfi_rank_matrix *m)
{
    wfi_io_error error;
    wfi_matrix_label(text, m->name, sizeof m->name);
    const int code = wfi_matrix_get(&rank->common, text, NULL, &m->whole);
    if (code != WFI_EXIT_DONE)
        return code;
    if (square && m->whole.rows != m->whole.columns)
        return wfi_run_error("%s: the matrix is %u x %u; a square one is needed", m->name,
                             m->whole.rows, m->whole.columns);
    if (m->whole.rows > INT_MAX || m->whole.columns > INT_MAX)
        return wfi_run_error("%s: the matrix has more rows or columns than a message takes",
                             m->name);
    m->whole_values = wfi_matrix_values(&m->whole, m->name, type, &m->narrow, &error);
    if (!m->whole_values)
        return wfi_run_error("%s", error.text);
    return WFI_EXIT_DONE;
}

static void send_rows(const wfi_rank_matrix *m, int to)
{
    const wfi_csr *csr = &m->whole;
    const uint32_t row = m->first_row[to], rows = m->first_row[to + 1] - row;
    const uint32_t at = csr->row_offsets[row], entries = csr->row_offsets[row + rows] - at;
    const size_t real = wf_type_size(m->params.type);
    send(csr->row_offsets + row, rows + (size_t)1, sizeof(uint32_t), MPI_UINT32_T, to);
    send(csr->column_indices + at, entries, sizeof(uint32_t), MPI_UINT32_T, to);
    send((const char *)m->whole_values + at * real, entries, real, real_type(m->params.type), to);
}

static void free_rows(wfi_rank_matrix *m)
{
    free(m->offsets);
    free(m->columns);
    free(m->values);
    m->offsets = m->columns = NULL;
    m->values = NULL;
}

/* Memory for this rank's rows; rank 0 has all but offsets that begin with 0. */
static int take_rows(const wfi_rank *rank, wfi_rank_matrix *m)
{
    wf_mpi_matrix_params *p = &m->params;
    const size_t real = wf_type_size(p->type);
    const bool prints = rank->prints;
    m->offsets = malloc((p->own_rows + (size_t)1) * sizeof *m->offsets);
    if (m->offsets && prints)
        memcpy(m->offsets, m->whole.row_offsets + m->first_row[0],
               (p->own_rows + (size_t)1) * sizeof *m->offsets);
    else if (m->offsets)
        receive(m->offsets, p->own_rows + (size_t)1, sizeof *m->offsets, MPI_UINT32_T);
    const uint32_t at = m->offsets ? m->offsets[0] : 0,
                   entries = m->offsets ? m->offsets[p->own_rows] - at : 0;
    if (m->offsets && !prints) {
        m->columns = malloc((entries + (size_t)1) * sizeof *m->columns);
        m->values = malloc((entries + (size_t)1) * real);
    }
    if (!m->offsets || (!prints && (!m->columns || !m->values))) {
        wfi_run_error("rank %d: out of memory for its rows", rank->rank);
        MPI_Abort(MPI_COMM_WORLD, WFI_EXIT_FAILED); /* rank 0 is already sending */
        return WFI_EXIT_FAILED;
    }
    for (uint32_t i = 0; i <= p->own_rows; i++)
        m->offsets[i] -= at;
    p->row_offsets = m->offsets;
    if (!prints) {
        receive(m->columns, entries, sizeof *m->columns, MPI_UINT32_T);
        receive(m->values, entries, real, real_type(p->type));
    }
    p->column_indices = prints ? m->whole.column_indices + at : m->columns;
    p->values = prints ? (const char *)m->whole_values + at * real : m->values;
    return WFI_EXIT_DONE;
}

int wfi_rank_matrix_share(const wfi_rank *rank, const double *weights, wfi_rank_matrix *m)
{
    const int firsts = rank->count + 1;
    const int code = wfi_rank_share(rank->prints ? divide(rank, weights, m) : WFI_EXIT_DONE);
    if (code != WFI_EXIT_DONE)
        return code;
    MPI_Bcast(m->first_row, firsts, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(m->first_column, firsts, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    m->params.own_rows = m->first_row[rank->rank + 1] - m->first_row[rank->rank];
    m->params.own_columns = m->first_column[rank->rank + 1] - m->first_column[rank->rank];
    free_rows(m);
    for (int r = 1; r < rank->count && rank->prints; r++)
        send_rows(m, r);
    return take_rows(rank, m);
}

int wfi_rank_matrix_get(const wfi_rank *rank, const char *text, wf_type type, bool square,
                        const double *weights, wfi_rank_matrix *m)
{
    const size_t firsts = (size_t)rank->count + 1;
    uint32_t sizes[3] = {0};
    m->params = (wf_mpi_matrix_params){.size = sizeof m->params, .type = type};
    m->first_row = calloc(firsts, sizeof *m->first_row);
    m->first_column = calloc(firsts, sizeof *m->first_column);
    int code = wfi_rank_worst(m->first_row && m->first_column ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return rank->prints ? wfi_run_error("out of memory") : code;
    if (rank->prints)
        code = read_whole(rank, text, type, square, m);
    code = wfi_rank_share(code);
    if (code != WFI_EXIT_DONE)
        return code;
    if (rank->prints) {
        sizes[0] = m->whole.rows;
        sizes[1] = m->whole.columns;
        sizes[2] = m->whole.entries;
    }
    MPI_Bcast(sizes, 3, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(m->name, sizeof m->name, MPI_CHAR, 0, MPI_COMM_WORLD);
    m->params.rows = sizes[0];
    m->params.columns = sizes[1];
    m->entries = sizes[2];
    return wfi_rank_matrix_share(rank, weights, m);
}

void wfi_rank_matrix_use(wfi_rank *rank, wfi_rank_matrix *m)
{
    m->params.tuning = &rank->session.tuning;
    m->params.log = wfi_rank_log;
    m->params.log_user = &rank->session;
}

void wfi_rank_matrix_free(wfi_rank_matrix *m)
{
    wfi_csr_free(&m->whole);
    free(m->narrow);
    free(m->first_row);
    free(m->first_column);
    free_rows(m);
}

/* -------------------------------------------------------------------------------------- vectors */

/* Rank 0 sends or receives each rank's part by itself: their counts need no arrays. */
static void move(const wfi_rank *rank, const uint32_t *first, wf_type type, char *whole, char *own,
                 bool out)
{
    const size_t real = wf_type_size(type);
    const uint32_t mine = first[rank->rank + 1] - first[rank->rank];
    if (!rank->prints && out)
        receive(own, mine, real, real_type(type));
    else if (!rank->prints)
        send(own, mine, real, real_type(type), 0);
    for (int r = 1; r < rank->count && rank->prints; r++) {
        char *part = whole + first[r] * real;
        const uint32_t count = first[r + 1] - first[r];
        if (out)
            send(part, count, real, real_type(type), r);
        else if (count)
            MPI_Recv(part, (int)count, real_type(type), r, MATRIX_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

void wfi_rank_scatter(const wfi_rank *rank, const uint32_t *first, wf_type type, const void *whole,
                      void *own)
{
    move(rank, first, type, (char *)(uintptr_t)whole, own, true);
    if (own && whole)
        memcpy(own, whole, first[1] * wf_type_size(type));
}

void wfi_rank_gather(const wfi_rank *rank, const uint32_t *first, wf_type type, const void *own,
                     void *whole)
{
    move(rank, first, type, whole, (char *)(uintptr_t)own, false);
    if (own && whole)
        memcpy(whole, own, first[1] * wf_type_size(type));
}

static int read_vector(const wfi_rank *rank, const char *path, uint32_t count, wf_type type,
                       void *whole)
{
    wfi_npy file = {0};
    uint64_t one = 1;
    if (!path) {
        wfi_random_fill(whole, type, count, rank->common.seed);
        return WFI_EXIT_DONE;
    }
    const int code = wfi_read_vectors(path, type, count, &one, &file);
    if (code == WFI_EXIT_DONE && file.data)
        memcpy(whole, file.data, count * wf_type_size(type));
    wfi_npy_free(&file);
    return code;
}

int wfi_rank_vector(const wfi_rank *rank, const char *path, const uint32_t *first, wf_type type,
                    void **whole, void **own)
{
    const size_t real = wf_type_size(type);
    const uint32_t count = first[rank->count], mine = first[rank->rank + 1] - first[rank->rank];
    *own = malloc(mine * real + 1);
    *whole = rank->prints ? malloc(count * real + 1) : NULL;
    int code = wfi_rank_worst(*own && (*whole || !rank->prints) ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    if (code != WFI_EXIT_DONE)
        return rank->prints ? wfi_run_error("out of memory for the vectors") : code;
    if (*whole)
        code = read_vector(rank, path, count, type, *whole);
    code = wfi_rank_share(code);
    if (code == WFI_EXIT_DONE)
        wfi_rank_scatter(rank, first, type, *whole, *own);
    return code;
}
