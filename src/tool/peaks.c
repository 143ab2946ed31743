/* wavefit peaks: the ceilings that everything else is compared with, measured. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/progress.h"
#include "tool/session.h"
#include "tool/table.h"

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
    out->status = result == WF_ERROR_UNSUPPORTED ? WFI_STATUS_UNSUPPORTED : WFI_STATUS_ERROR;
    snprintf(out->reason, sizeof out->reason, "%.150s",
             *session->error ? session->error : wf_result_string(result));
}

/* ---------------------------------------------------------------------------------------- output */

static const wfi_result_peak *find(const wfi_result_peak *peaks, uint32_t count, const char *name,
                                   uint64_t bytes)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peaks[i].name, name) == 0 && peaks[i].status == WFI_STATUS_OK &&
            peaks[i].peak.bytes == bytes)
            return &peaks[i];
    return NULL;
}

static void set_value(wfi_table *table, int row, int column, const wfi_result_peak *peak)
{
    if (peak)
        wfi_table_set(table, row, column, "%.4g", peak->peak.value);
}

static bool has_sets(const wfi_result_peak *peaks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peaks[i].name, "read") == 0)
            return true;
    return false;
}

/* One line a working set: copy, read, write, and a bar as long as read is fast. */
static void print_sets(const wfi_result_peak *peaks, uint32_t count)
{
    static wfi_table table = {.columns = 5, .right = 0x0f};
    static const char *const heading[] = {"working set", "copy GB/s", "read GB/s", "write GB/s",
                                          "read"};
    double most = 0;
    if (!has_sets(peaks, count))
        return;
    wfi_table_row(&table);
    for (int i = 0; i < 5; i++)
        wfi_table_set(&table, 0, i, "%s", heading[i]);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(peaks[i].name, "read") == 0 && peaks[i].status == WFI_STATUS_OK)
            most = fmax(most, peaks[i].peak.value);
    for (uint64_t bytes = LEAST_BYTES; bytes <= MOST_BYTES; bytes *= 2) {
        const wfi_result_peak *read = find(peaks, count, "read", bytes);
        char text[32], bar[BAR + 1];
        if (!read)
            continue;
        const int row = wfi_table_row(&table);
        const int length = (int)(read->peak.value / most * BAR + 0.5);
        memset(bar, '#', sizeof bar);
        bar[length < BAR ? length : BAR] = '\0';
        wfi_format_bytes((double)bytes, text, sizeof text);
        wfi_table_set(&table, row, 0, "%s", text);
        set_value(&table, row, 1, find(peaks, count, "copy", bytes));
        set_value(&table, row, 2, read);
        set_value(&table, row, 3, find(peaks, count, "write", bytes));
        wfi_table_set(&table, row, 4, "%s", bar);
    }
    wfi_table_print(&table);
    putchar('\n');
}

static void print_rates(const wfi_result_peak *peaks, uint32_t count, const plan_line *lines)
{
    static wfi_table table = {.columns = 4, .right = 1u << 1};
    for (uint32_t i = 0; i < count; i++) {
        wf_peak_info info;
        char text[48];
        const wfi_result_peak *p = &peaks[i];
        wf_peak_describe(lines[i].index, &info);
        if (info.over_bytes)
            continue;
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", p->name);
        wfi_table_set(&table, row, 2, "%s", info.meaning);
        if (p->status == WFI_STATUS_OK) {
            wfi_format_rate(p->peak.value, p->unit, text, sizeof text);
            wfi_table_set(&table, row, 1, "%s", text);
            wfi_table_set(&table, row, 3, "%s", p->peak.how);
        } else {
            wfi_table_set(&table, row, 1, "%s", wfi_status_name(p->status));
            wfi_table_set(&table, row, 2, "%.90s", p->reason);
        }
    }
    wfi_table_print(&table);
}

static void print_peaks(const wfi_session *session, const wfi_result_peak *peaks, uint32_t count,
                        const plan_line *lines)
{
    if (session->common->json && strcmp(session->common->json, "-") == 0)
        return;
    printf("%s%s\n\n", session->caps->name,
           session->caps->limits == WF_LIMITS_MINIMUM ? " (minimum limits)" : "");
    print_sets(peaks, count);
    print_rates(peaks, count, lines);
}

static int verdict(const wfi_result_peak *peaks, uint32_t count)
{
    uint32_t errors = 0, cancelled = 0;
    for (uint32_t i = 0; i < count; i++) {
        errors += peaks[i].status == WFI_STATUS_ERROR;
        cancelled += peaks[i].status == WFI_STATUS_CANCELLED;
    }
    if (errors)
        return wfi_run_error("peaks: %u of %u ceilings could not be measured", errors, count);
    if (cancelled)
        return wfi_run_error("peaks: interrupted, %u of %u were left", cancelled, count);
    return WFI_EXIT_DONE;
}

/* Every name in `only` must be a ceiling's. */
static int check_names(const char *only)
{
    while (only && *only) {
        const size_t length = strcspn(only, ",");
        bool known = false;
        for (uint32_t i = 0; i < wf_peak_count(); i++) {
            wf_peak_info info;
            wf_peak_describe(i, &info);
            known = known || (strlen(info.name) == length && strncmp(only, info.name, length) == 0);
        }
        if (!known)
            return wfi_usage_error("--only: '%.*s' is not a ceiling (copy, fma_f32, submit, …)",
                                   (int)length, only);
        only += length + (only[length] == ',');
    }
    return WFI_EXIT_DONE;
}

static int run(wfi_session *session, const char *only, double seconds, int argc, char **argv)
{
    static wfi_result_peak peaks[MAX_PEAKS];
    static plan_line lines[MAX_PEAKS];
    const bool quiet = session->common->quiet;
    const uint32_t count = make_lines(session->caps, only, lines);
    /* Half of the time goes to finding good repetitions; the two below warm the device up. */
    wfi_progress_show(quiet, 0, "warming up");
    wfi_session_copy_bandwidth(session);
    wfi_session_fma_rate(session, WF_TYPE_F32);
    for (uint32_t i = 0; i < count; i++) {
        wf_peak_info info;
        wf_peak_describe(lines[i].index, &info);
        wfi_progress_show(quiet, (double)i / count, info.name);
        measure_line(session, &lines[i], seconds / 2 / count, &peaks[i]);
    }
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
        {"--budget", "SECONDS", &budget, NULL, "to spend, roughly (default 20)"},
        {"--only", "NAME,…", &only, NULL, "these ceilings alone"}};
    const wfi_command command = {"peaks",
                                 "[--budget SECONDS] [--only NAME,…] [--json FILE]",
                                 "Measures what the device can do at best.",
                                 0,
                                 0,
                                 options,
                                 2};
    wfi_common common;
    wfi_session session;
    double seconds = DEFAULT_SECONDS;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (budget && !wfi_parse_seconds("--budget", budget, &seconds))
        return WFI_EXIT_USAGE;
    if (check_names(only) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (common.variant || common.constant_count)
        return wfi_usage_error("peaks: --variant and --set are for one family's command");
    wfi_interrupted();
    code = wfi_session_open(&session, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    code = run(&session, only, seconds, argc, argv);
    wfi_session_close(&session);
    return code;
}
