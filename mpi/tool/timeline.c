#include "timeline.h"

#include <stdlib.h>

#define ROUNDS 10

enum { CLOCK_TAG = 5 };

void wfi_timeline_init(wfi_timeline *timeline)
{
    *timeline = (wfi_timeline){.trace = {.capacity = WFI_TIMELINE_SPANS}};
    timeline->trace.spans = timeline->spans;
}

/* What rank 0's clock shows when this rank's shows 0: of the answer that was back soonest, in whose
 * middle rank 0 looked at its clock. */
static double clock_of_rank_0(const wfi_rank *rank)
{
    double offset = 0, least = 0;
    for (int r = 1; r < rank->count; r++)
        for (int round = 0; round < ROUNDS && (rank->prints || rank->rank == r); round++) {
            double there = 0;
            char nothing = 0;
            if (rank->prints) {
                MPI_Recv(&nothing, 0, MPI_BYTE, r, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                there = MPI_Wtime();
                MPI_Send(&there, 1, MPI_DOUBLE, r, CLOCK_TAG, MPI_COMM_WORLD);
                continue;
            }
            const double asked = MPI_Wtime();
            MPI_Send(&nothing, 0, MPI_BYTE, 0, CLOCK_TAG, MPI_COMM_WORLD);
            MPI_Recv(&there, 1, MPI_DOUBLE, 0, CLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const double back = MPI_Wtime();
            if (round == 0 || back - asked < least) {
                least = back - asked;
                offset = there - (asked + back) / 2;
            }
        }
    return offset;
}

typedef struct stretch {
    double begin, end;
} stretch;

/* The host's time: the device's own clock may tell more. */
static bool find(const wf_mpi_trace *trace, uint32_t iteration, stretch *out)
{
    const uint64_t kept = trace->count < trace->capacity ? trace->count : trace->capacity;
    bool found = false;
    for (uint64_t i = 0; i < kept; i++) {
        const wf_mpi_span *span = &trace->spans[i];
        if (span->iteration != iteration || span->stage == WF_MPI_STAGE_DEVICE)
            continue;
        if (!found || span->begin < out->begin)
            out->begin = span->begin;
        if (!found || span->end > out->end)
            out->end = span->end;
        found = true;
    }
    return found;
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the iterations from `first` to the last but one, which may not be whole: that of rank 0's
 * median time. 0: there is none. */
static uint32_t choose(const wf_mpi_trace *trace, uint32_t first)
{
    static double sorted[WFI_TIMELINE_SPANS];
    stretch s = {0};
    size_t count = 0;
    for (uint32_t i = first; i < trace->iteration && count < WFI_TIMELINE_SPANS; i++)
        if (find(trace, i, &s))
            sorted[count++] = s.end - s.begin;
    if (count == 0)
        return 0;
    qsort(sorted, count, sizeof *sorted, by_number);
    for (uint32_t i = first; i < trace->iteration; i++)
        if (find(trace, i, &s) && s.end - s.begin >= sorted[count / 2])
            return i;
    return 0;
}

/* The first iteration of which all ranks have all spans; a rank without work has none at all. */
static uint32_t first_kept(const wf_mpi_trace *trace)
{
    const uint64_t count = trace->count, capacity = trace->capacity;
    uint32_t mine = 1, most = 1;
    if (count > capacity)
        mine = trace->spans[count % capacity].iteration + 1; /* of the oldest, a part may be gone */
    MPI_Allreduce(&mine, &most, 1, MPI_UINT32_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void wfi_timeline_collect(const wfi_rank *rank, const wf_mpi_trace *trace, wfi_result_rank *mine)
{
    if (!trace)
        return;
    const double offset = clock_of_rank_0(rank);
    const uint32_t first = first_kept(trace);
    const uint32_t iteration =
        (uint32_t)wfi_rank_share(rank->prints ? (int)choose(trace, first) : 0);
    stretch own = {0};
    double begin = find(trace, iteration, &own) && iteration ? own.begin + offset : 1e300,
           start = 0;
    MPI_Allreduce(&begin, &start, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    const uint64_t kept = trace->count < trace->capacity ? trace->count : trace->capacity;
    for (uint64_t i = 0; i < kept && iteration && mine->span_count < WFI_MAX_SPANS; i++) {
        const wf_mpi_span *span = &trace->spans[(trace->count - kept + i) % trace->capacity];
        if (span->iteration == iteration)
            mine->spans[mine->span_count++] =
                (wfi_result_span){.stage = (uint32_t)span->stage,
                                  .begin_us = (span->begin + offset - start) * 1e6,
                                  .end_us = (span->end + offset - start) * 1e6};
    }
}
