/* Stages of one iteration on all ranks, on one clock. */
#ifndef WFI_MPI_TOOL_TIMELINE_H
#define WFI_MPI_TOOL_TIMELINE_H

#include "ranks.h"

#define WFI_TIMELINE_SPANS 512

typedef struct wfi_timeline {
    wf_mpi_trace trace; /* for a run whose iterations are kept */
    wf_mpi_span spans[WFI_TIMELINE_SPANS];
} wfi_timeline;

void wfi_timeline_init(wfi_timeline *timeline);

/* Sets the spans of `mine`: those of an iteration among the last ones that took rank 0 about as
 * long as most. trace NULL, here as on all ranks: none. Collective. */
void wfi_timeline_collect(const wfi_rank *rank, const wf_mpi_trace *trace, wfi_result_rank *mine);

#endif
