#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "timeline.h"
#include "tool/cli/console.h"
#include "tool/cli/table.h"

int wfi_rank_share(int code)
{
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return code;
}

int wfi_rank_worst(int code)
{
    int most = 0;
    MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* Cards that were idle while a matrix was handed out came to their full clock after 0.3 to 0.45 s
 * of work (docs/mpi.md, slow iterations). */
double wfi_rank_warm_seconds(const wfi_rank *rank)
{
    return rank->session.caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 0 : 1;
}

bool wfi_rank_warms(const wfi_rank *rank, double seconds)
{
    return wfi_rank_share(seconds < wfi_rank_warm_seconds(rank)) != 0;
}

uint32_t wfi_rank_sum(uint32_t own)
{
    uint32_t all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

wf_result wfi_rank_agree(wf_result result)
{
    int mine = result < 0 ? (int)result : 0, least = 0; /* errors are negative */
    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return mine < 0 ? result : (wf_result)least;
}

int wfi_rank_parse(wfi_rank *rank, const wfi_command *command, int argc, char **argv, bool *done)
{
    int code = WFI_EXIT_DONE, help = 0;
    *done = true;
    if (rank->prints) {
        code = wfi_options_parse(command, argc, argv, &rank->common);
        help = rank->common.help;
    }
    code = wfi_rank_share(code);
    help = wfi_rank_share(help);
    if (code != WFI_EXIT_DONE || help)
        return code;
    if (!rank->prints)
        code = wfi_options_parse(command, argc, argv, &rank->common);
    if (!rank->prints) {
        rank->common.quiet = true;
        rank->common.json = NULL;
    }
    *done = false;
    return wfi_rank_worst(code);
}

int wfi_rank_open(wfi_rank *rank)
{
    int code = WFI_EXIT_DONE;
    /* Where the loader finds nothing, the session says so. */
    if (!rank->common.device && wf_mpi_select(MPI_COMM_WORLD, rank->selector) == WF_SUCCESS)
        rank->common.device = rank->selector;
    code = wfi_session_open(&rank->session, &rank->common);
    return wfi_rank_worst(code);
}

void wfi_rank_close(wfi_rank *rank)
{
    if (rank->session.device)
        wfi_session_close(&rank->session);
    free(rank->all);
}

void wfi_rank_log(void *user, wf_log_level level, const char *text)
{
    wfi_session *session = user;
    if (level == WF_LOG_ERROR)
        snprintf(session->error, sizeof session->error, "%s", text);
}

int wfi_rank_failed(wfi_rank *rank, wf_result result)
{
    wfi_session *session = &rank->session;
    const bool words = *session->error && result != WF_ERROR_CANCELLED;
    int mine = words ? rank->rank : rank->count, lowest = 0;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    int code = WFI_EXIT_DONE;
    if (mine == lowest && words) {
        char text[sizeof session->error];
        snprintf(text, sizeof text, "rank %d: %.900s", rank->rank, session->error);
        snprintf(session->error, sizeof session->error, "%s", text);
        code = wfi_session_error(session, result);
    } else if (lowest == rank->count && rank->prints) {
        code = wfi_session_error(session, result);
    }
    return wfi_rank_worst(code);
}

/* ---------------------------------------------------------------------------------------- table */

void wfi_rank_collect(wfi_rank *rank, const char *what, uint64_t first, uint64_t count,
                      const wf_mpi_times *times, double iterations, wfi_result_case *out)
{
    const double each = iterations > 0 ? 1e6 / iterations : 0;
    const wf_caps *caps = rank->session.caps;
    wfi_result_rank mine = {.what = what,
                            .first = first,
                            .count = count,
                            .inside_us = times->inside * each,
                            .halo_us = times->halo * each,
                            .wait_us = times->wait * each,
                            .reduction_us = times->reduction * each};
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(host, &length);
    snprintf(mine.host, sizeof mine.host, "%.60s", host);
    snprintf(mine.device, sizeof mine.device, "%.250s", caps->name);
    snprintf(mine.driver, sizeof mine.driver, "%.120s %.120s", caps->driver_name,
             caps->driver_info);
    wfi_timeline_collect(rank, times->trace, &mine);
    int ok = 1;
    if (rank->prints) {
        free(rank->all);
        rank->all = calloc((size_t)rank->count, sizeof *rank->all);
        ok = rank->all != NULL;
    }
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ok)
        return;
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, rank->all, (int)sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    for (int r = 0; rank->all && r < rank->count; r++)
        rank->all[r].what = what; /* the pointer was the other process's */
    if (rank->prints) {
        out->ranks = rank->all;
        out->rank_count = (uint32_t)rank->count;
    }
}

static void set_time(wfi_table *table, int row, int column, double us)
{
    char text[64];
    wfi_format_time(us, text, sizeof text);
    wfi_table_set(table, row, column, "%s", us > 0 ? text : "-");
}

void wfi_rank_print(const wfi_result_case *c)
{
    static const char *const headings[] = {"rank", "",          "inside", "halo",
                                           "wait", "reduction", "device"};
    static wfi_table table = {.columns = 7};
    wfi_table_headings(&table, headings, 7);
    table.right = 0x3f;
    const uint32_t most = c->rank_count < WFI_MAX_ROWS - 1 ? c->rank_count : WFI_MAX_ROWS - 1;
    if (most > 0)
        wfi_table_set(&table, 0, 1, "%s", c->ranks[0].what);
    for (uint32_t i = 0; i < most; i++) {
        const wfi_result_rank *r = &c->ranks[i];
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%u", i);
        wfi_table_set(&table, row, 1, "%llu", (unsigned long long)r->count);
        set_time(&table, row, 2, r->inside_us);
        set_time(&table, row, 3, r->halo_us);
        set_time(&table, row, 4, r->wait_us);
        set_time(&table, row, 5, r->reduction_us);
        wfi_table_set(&table, row, 6, "%.40s", r->device);
    }
    wfi_table_print(&table);
    if (most < c->rank_count)
        printf("and %u ranks more\n", c->rank_count - most);
}

/* -------------------------------------------------------------------------------------- weights */

int wfi_rank_weights(const wfi_rank *rank, const char *text, double **out)
{
    *out = NULL;
    if (!text)
        return WFI_EXIT_DONE;
    double *weights = calloc((size_t)rank->count, sizeof *weights);
    if (!weights)
        return wfi_run_error("out of memory");
    int count = 0;
    double sum = 0;
    const char *at = text;
    bool ok = true;
    while (ok && *at) {
        char *end;
        const double weight = strtod(at, &end);
        sum += weight;
        ok = end != at && weight >= 0 && isfinite(sum) && (*end == ',' || !*end) &&
             count < rank->count;
        if (ok)
            weights[count++] = weight;
        at = *end == ',' ? end + 1 : end;
    }
    if (ok && count == rank->count) {
        *out = weights;
        return WFI_EXIT_DONE;
    }
    free(weights);
    return rank->prints ? wfi_usage_error("--weights: '%s' is not one number of 0 or more for each "
                                          "of %d ranks, with commas between them",
                                          text, rank->count)
                        : WFI_EXIT_USAGE;
}

int wfi_rank_write(wfi_rank *rank, const wfi_rank_output *output, const wfi_result_case *c,
                   int argc, char **argv)
{
    const uint64_t shape[1] = {output->count};
    wfi_io_error error;
    int code = wfi_case_exit(c, WF_SUCCESS);
    if (output->path &&
        !wfi_npy_write(output->path, output->type, 1, shape, output->vector, &error))
        code = wfi_run_error("%s", error.text);
    const int written = wfi_session_write(&rank->session, argc, argv, c, 1);
    return code != WFI_EXIT_DONE ? code : written;
}
