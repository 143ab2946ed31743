#include "ranks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wfi_ranks_open(wfi_ranks *ranks, MPI_Comm comm, wf_log_fn log, void *log_user)
{
    *ranks = (wfi_ranks){.comm = MPI_COMM_NULL, .log = log, .log_user = log_user};
    MPI_Comm_dup(comm, &ranks->comm);
    MPI_Comm_rank(ranks->comm, &ranks->rank);
    MPI_Comm_size(ranks->comm, &ranks->count);
}

/* FNV-1a: of names that differ, numbers may be equal, and their ranks then count as of one host. */
static int number_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (int)(hash >> 1);
}

void wfi_ranks_host(const wfi_ranks *ranks, MPI_Comm *host)
{
    const char *name = getenv("WAVEFIT_MPI_HOST");
    MPI_Comm here;
    MPI_Comm_split_type(ranks->comm, MPI_COMM_TYPE_SHARED, ranks->rank, MPI_INFO_NULL, &here);
    MPI_Comm_split(here, name ? number_of(name) : 0, ranks->rank, host);
    MPI_Comm_free(&here);
}

void wfi_ranks_poll(wf_device *device)
{
    wf_device_poll(device, 0.1);
}

void wfi_ranks_close(wfi_ranks *ranks)
{
    if (ranks->comm != MPI_COMM_NULL)
        MPI_Comm_free(&ranks->comm);
}

wf_result wfi_ranks_fail(const wfi_ranks *ranks, wf_result result, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (ranks->log)
        ranks->log(ranks->log_user, WF_LOG_ERROR, text);
    return result;
}

wf_result wfi_ranks_agree(const wfi_ranks *ranks, wf_result result)
{
    int mine = result < 0 ? (int)result : 0, least = 0; /* errors are negative */
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, ranks->comm);
    return mine < 0 ? result : (wf_result)least;
}

/* ---------------------------------------------------------------------------------------- trace */

void wfi_trace(const wf_mpi_times *times, wf_mpi_stage stage, double begin, double end)
{
    wf_mpi_trace *trace = times->trace;
    if (trace)
        trace->spans[trace->count++ % trace->capacity] =
            (wf_mpi_span){trace->iteration, stage, begin, end};
}

void wfi_trace_next(const wf_mpi_times *times)
{
    if (times->trace)
        times->trace->iteration++;
}

/* ------------------------------------------------------------------------------------- division */

static double weight_of(const double *weights, int rank)
{
    return weights ? weights[rank] : 1;
}

wf_result wfi_ranks_divide(const wfi_ranks *ranks, uint32_t count, uint32_t unit, uint32_t least,
                           const double *weights, uint32_t *first)
{
    const uint32_t units = (count + unit - 1) / unit;
    double sum = 0, before = 0;
    for (int r = 0; r < ranks->count; r++) {
        const double weight = weight_of(weights, r);
        if (!(weight >= 0 && isfinite(weight)))
            return wfi_ranks_fail(ranks, WF_ERROR_INVALID_ARGUMENT,
                                  "the weight of rank %d is %g, and must be 0 or more", r, weight);
        sum += weight;
    }
    if (!(sum > 0 && isfinite(sum)))
        return wfi_ranks_fail(ranks, WF_ERROR_INVALID_ARGUMENT,
                              "no rank has a weight above 0: nobody would work");
    int last = 0;
    for (int r = 0; r < ranks->count; r++) {
        first[r] = (uint32_t)ceil(units * (before / sum) - 1e-9 * units) * unit;
        first[r] = first[r] < count ? first[r] : count;
        before += weight_of(weights, r);
        if (weight_of(weights, r) > 0)
            last = r;
    }
    /* What rounding left goes to the last rank that has a weight. */
    for (int r = last + 1; r <= ranks->count; r++)
        first[r] = count;
    for (int r = ranks->count - 1; r > 0; r--)
        if (first[r] < count && count - first[r] < least)
            first[r] = count;
    return WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- memory */

typedef struct need {
    uint64_t bytes, available;
    int host; /* the lowest rank there */
    uint8_t uuid[16];
    char name[64];
} need;

static int host_of(const wfi_ranks *ranks)
{
    MPI_Comm host;
    int lowest = ranks->rank;
    MPI_Comm_split_type(ranks->comm, MPI_COMM_TYPE_SHARED, ranks->rank, MPI_INFO_NULL, &host);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, host);
    MPI_Comm_free(&host);
    return lowest;
}

static bool same_device(const need *a, const need *b)
{
    return a->host == b->host && memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
}

wf_result wfi_ranks_fit(const wfi_ranks *ranks, const wf_device *device, uint64_t bytes)
{
    const wf_caps *caps = wf_device_caps(device);
    need mine = {.bytes = bytes, .host = host_of(ranks)};
    memcpy(mine.uuid, caps->uuid, sizeof mine.uuid);
    snprintf(mine.name, sizeof mine.name, "%.60s", caps->name);
    wf_result result = wf_device_available(device, &mine.available);
    need *all = calloc((size_t)ranks->count, sizeof *all);
    if (!all)
        result = WF_ERROR_OUT_OF_HOST_MEMORY;
    result = wfi_ranks_agree(ranks, result);
    if (result == WF_SUCCESS && all) {
        uint64_t together = 0;
        int sharing = 0, lowest = ranks->rank;
        MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE,
                      ranks->comm);
        for (int r = ranks->count - 1; r >= 0; r--)
            if (same_device(&mine, &all[r])) {
                together += all[r].bytes;
                sharing++;
                lowest = r;
            }
        if (together > mine.available)
            result = WF_ERROR_TOO_LARGE;
        if (result != WF_SUCCESS && lowest == ranks->rank)
            wfi_ranks_fail(ranks, result,
                           "%d rank%s on %s need%s %llu MiB of device memory; %llu MiB are free",
                           sharing, sharing > 1 ? "s" : "", mine.name, sharing > 1 ? "" : "s",
                           (unsigned long long)(together >> 20),
                           (unsigned long long)(mine.available >> 20));
        result = wfi_ranks_agree(ranks, result);
    }
    free(all);
    return result;
}
