/* Matrices that rank 0 reads or makes, and of which every rank gets its rows. */
#ifndef WFI_MPI_TOOL_SPARSE_H
#define WFI_MPI_TOOL_SPARSE_H

#include "balance.h"
#include "io/csr.h"
#include "tool/cases/matrix_name.h"

typedef struct wfi_rank_matrix {
    wf_mpi_matrix_params params; /* of this rank's rows; tuning and log are the session's */
    uint32_t entries;            /* of the whole */
    char name[96];
    uint32_t *first_row, *first_column; /* by rank, and behind the last */
    uint32_t *offsets, *columns;        /* of this rank; rank 0's columns are the whole matrix's */
    void *values;
    /* Rank 0 alone: */
    wfi_csr whole;
    void *narrow;
    const void *whole_values; /* in the type */
} wfi_rank_matrix;

/* Reads or makes the matrix on rank 0 and hands its rows out, as many entries to each rank by
 * weight (NULL: equally). Prints one line and returns the exit code on failure, the same on all
 * ranks; `m` is to be freed all the same. */
int wfi_rank_matrix_get(const wfi_rank *rank, const char *text, wf_type type, bool square,
                        const double *weights, wfi_rank_matrix *m);
/* What rows and entries take of a device's time, beside each other. */
double wfi_rank_matrix_work(double rows, double entries);
/* Hands the rows out anew. */
int wfi_rank_matrix_share(const wfi_rank *rank, const double *weights, wfi_rank_matrix *m);
/* sparse_balance.c: the same by how fast the devices, which are open, multiply what they have,
 * where that was asked for. The exit code is that of all ranks. */
int wfi_rank_matrix_balance(wfi_rank *rank, wfi_shares *shares, wfi_rank_matrix *m);
/* The rank's session, which is open by now, gives its tuning and its log. */
void wfi_rank_matrix_use(wfi_rank *rank, wfi_rank_matrix *m);
void wfi_rank_matrix_free(wfi_rank_matrix *m);

/* Parts of a vector that is whole on rank 0; first: the matrix's first_row or first_column. */
void wfi_rank_scatter(const wfi_rank *rank, const uint32_t *first, wf_type type, const void *whole,
                      void *own);
void wfi_rank_gather(const wfi_rank *rank, const uint32_t *first, wf_type type, const void *own,
                     void *whole);

/* A vector of as many elements as first[] ends with, on rank 0: of a file, or random (path NULL).
 * malloc'ed. The exit code is the same on all ranks. */
int wfi_rank_vector(const wfi_rank *rank, const char *path, const uint32_t *first, wf_type type,
                    void **whole, void **own);

#endif
