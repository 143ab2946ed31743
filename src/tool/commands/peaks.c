/* wavefit peaks: the ceilings that everything else is compared with, measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/commands/commands.h"
#include "tool/tune/calibrate.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/session.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define DEFAULT_SECONDS 20.0
#define LEAST_BYTES (UINT64_C(1) << 15)
#define MOST_BYTES (UINT64_C(1) << 30)
#define MOST_BYTES_CPU (UINT64_C(1) << 27)
#define MAX_PEAKS 128
#define BAR 30

typedef struct plan_line {
    uint32_t index; /* of the ceiling */
    uint64_t bytes; /* working set; 0: none, or the largest */
} plan_line;

/* Whether `name` is among the names in `only`, separated by commas; NULL: all are. */
static bool wanted(const char *only, const char *name)
{
    if (!only)
        return true;
    while (*only) {
        const size_t length = strcspn(only, ",");
        if (strlen(name) == length && strncmp(only, name, length) == 0)
            return true;
        only += length + (only[length] == ',');
    }
    return false;
}

/* Every ceiling once; those over a working set for every power of two up from 32 KiB. */
static uint32_t make_lines(const wf_caps *caps, const char *only, plan_line lines[MAX_PEAKS])
{
    const bool cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint64_t most = cpu ? MOST_BYTES_CPU : MOST_BYTES;
    uint32_t count = 0;
    while (most > caps->available_bytes / 8 || most > caps->max_storage_range)
        most /= 2;
    for (uint32_t i = 0; i < wf_peak_count(); i++) {
        wf_peak_info info;
        wf_peak_describe(i, &info);
        if (!wanted(only, info.name))
            continue;
        if (!info.over_bytes && count < MAX_PEAKS)
            lines[count++] = (plan_line){i, 0};
        for (uint64_t bytes = LEAST_BYTES; info.over_bytes && bytes <= most; bytes *= 2)
            if (count < MAX_PEAKS)
                lines[count++] = (plan_line){i, bytes};
    }
    return count;
}

static void measure_line(wfi_session *session, const plan_line *line, double budget,
                         wfi_result_peak *out)
{
    wf_peak_info info;
    const wf_peak_params params = {
        .size = sizeof params, .budget_seconds = budget, .bytes = line->bytes, .warm = true};
    wf_peak_describe(line->index, &info);
    *out = (wfi_result_peak){.name = info.name, .unit = info.unit};
    if (wfi_interrupted()) {
        out->status = WFI_STATUS_CANCELLED;
        snprintf(out->reason, sizeof out->reason, "interrupted");
        return;
    }
    *session->error = '\0';
    const wf_result result = wf_peak_measure(session->device, line->index, &params, &out->peak);
    if (result == WF_SUCCESS)
        return;
    out->status = result == WF_ERROR_UNSUPPORTED ? WFI_STATUS_UNSUPPORTED
                  : result == WF_ERROR_CANCELLED ? WFI_STATUS_CANCELLED
                                                 : WFI_STATUS_ERROR;
    snprintf(out->reason, sizeof out->reason, "%.150s",
             result == WF_ERROR_CANCELLED ? "interrupted"
             : *session->error            ? session->error
                                          : wf_result_string(result));
}

/* Whether the ceiling was measured on a set as large or larger just before: the least set of a
 * device can be over what was asked for. */
static bool is_repeated(const plan_line *line, const plan_line *before, const wfi_result_peak *peak)
{
    return line->index == before->index && peak->status == WFI_STATUS_OK &&
           line->bytes <= peak->peak.bytes;
}

/* Measures the lines and drops those that say nothing new; returns how many are left. */
static uint32_t measure_lines(wfi_session *session, plan_line *lines, uint32_t count, double budget,
                              wfi_result_peak *peaks)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        wf_peak_info info;
        if (done > 0 && is_repeated(&lines[i], &lines[done - 1], &peaks[done - 1]))
            continue;
        wf_peak_describe(lines[i].index, &info);
        wfi_progress_show(session->common->quiet, (double)i / count, info.name);
        lines[done] = lines[i];
        measure_line(session, &lines[done], budget, &peaks[done]);
        done++;
    }
    return done;
}

/* --------------------------------------------------------------------------------------- output */

static const wfi_result_peak *find(const wfi_result_peak *peaks, uint32_t count, const char *name,
                                   uint64_t bytes)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peaks[i].name, name) == 0 && peaks[i].status == WFI_STATUS_OK &&
            peaks[i].peak.bytes == bytes)
            return &peaks[i];
    return NULL;
}

static const char *const set_names[] = {"copy", "read", "write"};
enum { SETS = WFI_COUNT(set_names) };

/* Which of them the bars show: the first measured, reading before all; -1: none was. */
static int bars_of(const wfi_result_peak *peaks, uint32_t count)
{
    static const int order[SETS] = {1, 0, 2};
    for (int n = 0; n < SETS; n++)
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(peaks[i].name, set_names[order[n]]) == 0 && peaks[i].status == WFI_STATUS_OK)
                return order[n];
    return -1;
}

static double fastest_set(const wfi_result_peak *peaks, uint32_t count, const char *name)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peaks[i].name, name) == 0 && peaks[i].status == WFI_STATUS_OK)
            most = fmax(most, peaks[i].peak.value);
    return most;
}

/* The line of one working set, if any ceiling was measured for it. */
static void add_set(wfi_table *table, const wfi_result_peak *peaks, uint32_t count, uint64_t bytes,
                    int bars, double most)
{
    const wfi_result_peak *found[SETS];
    bool any = false;
    char text[32], bar[BAR + 1];
    for (int n = 0; n < SETS; n++) {
        found[n] = find(peaks, count, set_names[n], bytes);
        any = any || found[n];
    }
    if (!any)
        return;
    const int row = wfi_table_row(table);
    wfi_format_bytes((double)bytes, text, sizeof text);
    wfi_table_set(table, row, 0, "%s", text);
    for (int n = 0; n < SETS; n++)
        if (found[n])
            wfi_table_set(table, row, 1 + n, "%.4g", found[n]->peak.value);
    const int length = found[bars] ? (int)(found[bars]->peak.value / most * BAR + 0.5) : 0;
    memset(bar, '#', sizeof bar);
    bar[length < BAR ? length : BAR] = '\0';
    wfi_table_set(table, row, 1 + SETS, "%s", bar);
}

/* One line a working set: copy, read, write, and a bar as long as one of them is fast. */
static void print_sets(const wfi_result_peak *peaks, uint32_t count)
{
    static wfi_table table = {.columns = 2 + SETS, .right = 0x0f};
    const int bars = bars_of(peaks, count);
    if (bars < 0)
        return;
    const double most = fastest_set(peaks, count, set_names[bars]);
    wfi_table_row(&table);
    wfi_table_set(&table, 0, 0, "working set");
    for (int n = 0; n < SETS; n++)
        wfi_table_set(&table, 0, 1 + n, "%s GB/s", set_names[n]);
    wfi_table_set(&table, 0, 1 + SETS, "%s", set_names[bars]);
    for (uint64_t bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= 2)
        add_set(&table, peaks, count, bytes, bars, most);
    wfi_table_print(&table);
    putchar('\n');
}

static void print_rates(const wfi_result_peak *peaks, uint32_t count, const plan_line *lines)
{
    static wfi_table table = {.columns = 2, .right = 1u << 1};
    for (uint32_t i = 0; i < count; i++) {
        wf_peak_info info;
        char text[48];
        const wfi_result_peak *p = &peaks[i];
        wf_peak_describe(lines[i].index, &info);
        if (info.over_bytes)
            continue;
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", p->name);
        if (p->status == WFI_STATUS_OK) {
            wfi_format_rate(p->peak.value, p->unit, text, sizeof text);
            wfi_table_set(&table, row, 1, "%s", text);
            wfi_table_note(&table, row, 2, "%s%s%s", info.meaning, *p->peak.how ? "; " : "",
                           p->peak.how);
        } else {
            wfi_table_set(&table, row, 1, "%s", wfi_status_name(p->status));
            wfi_table_note(&table, row, 2, "%s", p->reason);
        }
    }
    wfi_table_print(&table);
}

static void print_peaks(const wfi_session *session, const wfi_result_peak *peaks, uint32_t count,
                        const plan_line *lines)
{
    if (wfi_json_on_stdout(session->common))
        return;
    printf("%s%s\n\n", session->caps->name,
           session->caps->limits == WF_LIMITS_MINIMUM ? " (minimum limits)" : "");
    print_sets(peaks, count);
    print_rates(peaks, count, lines);
    wfi_calibration_tell(session->device);
}

static int verdict(const wfi_result_peak *peaks, uint32_t count)
{
    uint32_t bad = 0, cancelled = 0;
    for (uint32_t i = 0; i < count; i++) {
        bad += peaks[i].status == WFI_STATUS_ERROR;
        cancelled += peaks[i].status == WFI_STATUS_CANCELLED;
    }
    return wfi_counts_exit("peaks", "ceilings", bad, cancelled, count);
}

static void print_names(void)
{
    printf("\nCeilings:\n");
    for (uint32_t i = 0; i < wf_peak_count(); i++) {
        wf_peak_info info;
        wf_peak_describe(i, &info);
        wfi_line(19, "  %-16s %s", info.name, info.meaning);
    }
}

/* Every name in `only` must be a ceiling's. */
static int check_names(const char *only)
{
    if (!only)
        return WFI_EXIT_DONE;
    do {
        const size_t length = strcspn(only, ",");
        bool known = false;
        for (uint32_t i = 0; i < wf_peak_count(); i++) {
            wf_peak_info info;
            wf_peak_describe(i, &info);
            known = known || (strlen(info.name) == length && strncmp(only, info.name, length) == 0);
        }
        if (!known)
            return wfi_usage_error("--only: '%.*s' is not a ceiling (see wavefit peaks --help)",
                                   (int)length, only);
        only += length + (only[length] == ',');
    } while (*only);
    return WFI_EXIT_DONE;
}

static int run(wfi_session *session, const char *only, double seconds, int argc, char **argv)
{
    static wfi_result_peak peaks[MAX_PEAKS];
    static plan_line lines[MAX_PEAKS];
    const bool quiet = session->common->quiet;
    const uint32_t planned = make_lines(session->caps, only, lines);
    /* Half of the time goes to finding good repetitions; the two below warm the device up. */
    wfi_progress_show(quiet, 0, "warming up");
    wfi_session_copy_bandwidth(session);
    wfi_session_fma_rate(session, WF_TYPE_F32);
    const uint32_t count = measure_lines(session, lines, planned, seconds / 2 / planned, peaks);
    wfi_progress_clear(quiet);
    print_peaks(session, peaks, count, lines);
    session->peaks = peaks;
    session->peak_count = count;
    const int code = verdict(peaks, count);
    const int written = wfi_session_write(session, argc, argv, NULL, 0);
    return code != WFI_EXIT_DONE ? code : written;
}

int wfi_tool_peaks(int argc, char **argv)
{
    const char *budget = NULL, *only = NULL;
    const wfi_option options[] = {
        {"--budget", "SECONDS", &budget, NULL, "about how long measuring takes (default 20)"},
        {"--only", "NAME,…", &only, NULL, "measure these ceilings alone (see below)"}};
    const wfi_command command = {
        "peaks",
        "[--budget SECONDS] [--only NAME,…] [--json FILE]",
        "Measures the device's ceilings: bandwidths, arithmetic rates and latencies.",
        0,
        0,
        options,
        2};
    wfi_common common;
    wfi_session session;
    double seconds = DEFAULT_SECONDS;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code == WFI_EXIT_DONE && common.help)
        print_names();
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (budget && !wfi_parse_seconds("--budget", budget, &seconds))
        return WFI_EXIT_USAGE;
    if (check_names(only) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    code = wfi_session_open(&session, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    code = run(&session, only, seconds, argc, argv);
    wfi_session_close(&session);
    return code;
}
