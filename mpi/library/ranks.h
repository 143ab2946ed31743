/* What distributed objects share: agreeing on errors, and how work is divided. */
#ifndef WFI_MPI_RANKS_H
#define WFI_MPI_RANKS_H

#include "wavefit/mpi.h"

typedef struct wfi_ranks {
    MPI_Comm comm; /* a duplicate; MPI_COMM_NULL: none yet */
    int rank, count;
    wf_log_fn log;
    void *log_user;
} wfi_ranks;

void wfi_ranks_open(wfi_ranks *ranks, MPI_Comm comm, wf_log_fn log, void *log_user);
void wfi_ranks_close(wfi_ranks *ranks);

/* The ranks of this one's host, to be freed. Where WAVEFIT_MPI_HOST names hosts, ranks with
 * different names count as of different ones. Collective. */
void wfi_ranks_host(const wfi_ranks *ranks, MPI_Comm *host);

/* A rank that sleeps when its device is ready keeps all others waiting, and MPI takes the rank's
 * processor anyway while it waits for messages. */
void wfi_ranks_poll(wf_device *device);

/* Logs the text and returns `result`. */
wf_result wfi_ranks_fail(const wfi_ranks *ranks, wf_result result, const char *format, ...);

/* The result that all ranks return: WF_SUCCESS only where each has it. Collective. */
wf_result wfi_ranks_agree(const wfi_ranks *ranks, wf_result result);

/* Adds a span to the trace that the caller asked for, if any; begins the trace's next iteration. */
void wfi_trace(const wf_mpi_times *times, wf_mpi_stage stage, double begin, double end);
void wfi_trace_next(const wf_mpi_times *times);

/* Divides `count` things, `unit` of which stay together, among the ranks by weight (NULL: equally):
 * rank r has those from first[r] to first[r + 1]. A rank that would get fewer than `least` of those
 * at the end leaves them to the one before. */
wf_result wfi_ranks_divide(const wfi_ranks *ranks, uint32_t count, uint32_t unit, uint32_t least,
                           const double *weights, uint32_t *first);

/* Whether the ranks that share a device find what they need of it together; the first one of those
 * that do not says so. Collective. */
wf_result wfi_ranks_fit(const wfi_ranks *ranks, const wf_device *device, uint64_t bytes);

#endif
