/* wavefit tune: searches for the best variants and constants on this device, and what it keeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands/commands.h"
#include "tool/cli/matrix_file.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/tune/calibrate.h"
#include "tool/tune/child.h"
#include "tool/tune/compare.h"
#include "tool/tune/draw.h"
#include "tool/tune/fit.h"
#include "tool/tune/options.h"
#include "tool/tune/outcomes.h"
#include "tool/tune/probe.h"
#include "tool/tune/results.h"
#include "tool/tune/tune.h"

/* ------------------------------------------------------------------------------- what is kept */

static void row_text(const wf_tuning_row *row, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", *row->variant ? row->variant : "none");
    for (uint32_t i = 0; i < row->constant_count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", row->constant_names[i],
                                 row->constant_values[i]);
}

/* What the row is worth: only current ones are ever chosen. */
static const char *standing(const wf_tuning_row *row)
{
    if (row->level == WF_TUNING_MEASURED)
        return row->current ? "tuned" : "hint";
    if (row->level == WF_TUNING_DEVICE_ROWS)
        return row->current ? "device row" : "device row, hint";
    return row->current ? "architecture row" : "architecture row, hint";
}

static void add_row(wfi_table *table, const wf_tuning_row *row)
{
    char text[256];
    const int at = wfi_table_row(table);
    wfi_table_set(table, at, 0, "%s", wf_family_name(row->family));
    wfi_table_set(table, at, 1, "%s", wf_type_name(row->type));
    wfi_table_set(table, at, 2, "%s", row->problem);
    wfi_format_time(row->time_us, text, sizeof text);
    wfi_table_set(table, at, 3, "%s", row->time_us > 0 ? text : "");
    if (row->level == WF_TUNING_MEASURED) {
        wfi_table_set(table, at, 4, "%u%s", row->tried, row->finished ? "" : ", not all");
        wfi_table_set(table, at, 5, "%u", row->bad);
    }
    wfi_table_set(table, at, 6, "%s", standing(row));
    row_text(row, text, sizeof text);
    wfi_table_note(table, at, 1, "%s", text);
}

typedef wf_result (*get_row)(wf_device *device, uint32_t index, wf_tuning_row *row);

static void add_rows(wfi_session *session, wf_family family, get_row get, wfi_table *table)
{
    wf_tuning_row row = {.size = sizeof row};
    for (uint32_t i = 0; get(session->device, i, &row) == WF_SUCCESS; i++)
        if ((family == WF_FAMILY_COUNT || row.family == family) && table->rows < WFI_MAX_ROWS)
            add_row(table, &row);
}

/* What was tuned here, then what ships with wavefit for this device and its architecture. */
static int show(wfi_session *session, wf_family family)
{
    static const char *const heading[] = {"family", "type", "problem", "time",
                                          "tried",  "bad",  "is"};
    static wfi_table table = {.columns = 7, .right = 1u << 3 | 1u << 5};
    const char *path = wf_tuning_path(session->device);
    wfi_line(4, "%s: %s", session->caps->name, path ? path : "no folder to keep tuning data in");
    wfi_calibration_tell(session->device);
    wfi_table_headings(&table, heading, 7);
    add_rows(session, family, wf_tuning_row_get, &table);
    if (table.rows == 1)
        puts("nothing was tuned on this device yet");
    add_rows(session, family, wf_tuning_shipped_get, &table);
    if (table.rows == 1)
        return WFI_EXIT_DONE;
    wfi_table_print(&table);
    puts("a hint was made with another driver or other shaders: a search begins there, but it is "
         "never\nchosen by itself (the model chooses instead)");
    return WFI_EXIT_DONE;
}

static int export_rows(wfi_session *session)
{
    size_t bytes = 0;
    wf_result result = wf_tuning_export(session->device, NULL, &bytes);
    char *text = result == WF_SUCCESS ? malloc(++bytes) : NULL;
    if (text)
        result = wf_tuning_export(session->device, text, &bytes);
    if (!text || result != WF_SUCCESS) {
        free(text);
        return wfi_session_error(session, WF_ERROR_OUT_OF_HOST_MEMORY);
    }
    fputs(text, stdout);
    free(text);
    return WFI_EXIT_DONE;
}

static int with_device(const wfi_tune_arguments *args, const wfi_common *common)
{
    wfi_session session;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    if (args->show)
        code = show(&session, args->family);
    else if (args->export)
        code = export_rows(&session);
    else if (args->calibrate)
        code = wfi_calibrate_print(&session, args->calibrate_seconds);
    else {
        const wf_result result = wf_tuning_forget(session.device, args->family);
        if (result != WF_SUCCESS)
            code = wfi_session_error(&session, result);
        else
            puts("forgotten");
    }
    wfi_session_close(&session);
    return code;
}

/* ------------------------------------------------------------------------------------ searching */

/* The problem that the options name, or those of the suite that have ONLY in their names and are of
 * the type. */
static int find_problems(const wfi_tune_arguments *args, const wfi_common *common,
                         const wfi_tune_device *device, wfi_case_problem *problems, uint32_t *count)
{
    wfi_case_problem all[WFI_MAX_TUNE_PROBLEMS];
    const bool quick = !args->suite || strcmp(args->suite, "quick") == 0;
    if (wfi_tune_names_one(args)) {
        *count = 1;
        return wfi_tune_parse_one(args, &problems[0]);
    }
    if (wfi_tune_is_drawn(args))
        return wfi_tune_draw(args, device, common->seed, args->drawn, args->drawn, problems, count);
    wf_type type = WF_TYPE_F32;
    if (args->type && !wfi_parse_type("--type", args->type, &type))
        return WFI_EXIT_USAGE;
    const uint32_t there = wfi_tune_suite(quick, device->cpu, args->family, all);
    for (uint32_t i = 0; i < there; i++)
        if ((!args->only || strstr(all[i].name, args->only)) &&
            (!args->type || all[i].type == type))
            problems[(*count)++] = all[i];
    if (*count == 0)
        return wfi_usage_error("tune: the suite has no such problem for this device");
    return WFI_EXIT_DONE;
}

/* What --variant and --set leave of a problem's points is a problem of its own: its name says
 * so. */
static void name_piece(const wfi_common *common, wfi_case_problem *problem)
{
    char *name = problem->name;
    const size_t bytes = sizeof problem->name;
    size_t used = strlen(name);
    if (common->variant && used < bytes)
        used += (size_t)snprintf(name + used, bytes - used, " %s", common->variant);
    for (uint32_t i = 0; i < common->constant_count && used < bytes; i++)
        used += (size_t)snprintf(name + used, bytes - used, " %s=%u", common->constants[i].name,
                                 common->constants[i].value);
}

static int search_all(const wfi_tune_arguments *args, const wfi_common *common,
                      const wfi_tune_extras *extras, const wfi_tune_device *device,
                      const wfi_case_problem *problems, uint32_t count)
{
    static wfi_tune_outcome outcomes[WFI_MAX_TUNE_PROBLEMS];
    wfi_tune_work work = {.common = common,
                          .device = device,
                          .budget_seconds = args->seconds,
                          .patience_seconds = args->patience_seconds,
                          .exhaustive = args->exhaustive,
                          .again = args->again,
                          .discard = extras->discard,
                          .count = count,
                          .problems = problems,
                          .outcomes = outcomes};
    if (!extras->discard && !args->no_calibrate)
        wfi_calibrate_before(&work);
    int code = wfi_tune_run(&work), told = WFI_EXIT_DONE;
    if (code == WFI_EXIT_NO_DEVICE || code == WFI_EXIT_USAGE)
        return code;
    if (!wfi_json_on_stdout(common) && (count > 1 || outcomes[0].done || outcomes[0].best.us > 0))
        told = wfi_tune_print(problems, outcomes, count);
    const int written = wfi_tune_write(&work, args->argc, args->argv);
    if (code == WFI_EXIT_DONE)
        code = wfi_tune_tell_interruption(&work);
    if (code == WFI_EXIT_DONE && count == 1 && !outcomes[0].done)
        code = wfi_run_error("%s", outcomes[0].error);
    return code != WFI_EXIT_DONE ? code : told != WFI_EXIT_DONE ? told : written;
}

/* Refuses a file whose matrix the device could not multiply with, before a worker reads it. */
static int matrix_fits(const wfi_common *common, const wfi_case_problem *problem)
{
    const wfi_matrix_use use = {problem->type == WF_TYPE_F64 ? WF_TYPE_F64 : WF_TYPE_F32, 1, false};
    if (problem->kind != WFI_MATRIX_FILE)
        return WFI_EXIT_DONE;
    return wfi_matrix_file_fits(common, problem->path, &use);
}

static int search(const wfi_tune_arguments *args, const wfi_common *common,
                  const wfi_tune_extras *extras)
{
    static wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS];
    static wfi_tune_device device;
    uint32_t count = 0;
    /* What is wrong with the problem is told before any driver is touched. */
    int code = wfi_tune_names_one(args) ? wfi_tune_parse_one(args, &problems[0]) : WFI_EXIT_DONE;
    if (code == WFI_EXIT_DONE)
        code = wfi_tune_probe(common, &device);
    if (code == WFI_EXIT_DONE)
        code = find_problems(args, common, &device, problems, &count);
    for (uint32_t i = 0; i < count && code == WFI_EXIT_DONE; i++)
        code = matrix_fits(common, &problems[i]);
    if (code != WFI_EXIT_DONE)
        return code;
    for (uint32_t i = 0; i < count; i++)
        name_piece(common, &problems[i]);
    if (!args->compare)
        return search_all(args, common, extras, &device, problems, count);
    const wfi_compare_request request = {.common = common,
                                         .device = &device,
                                         .budget_seconds = args->seconds,
                                         .patience_seconds = args->patience_seconds,
                                         .slice_seconds = extras->slice_seconds,
                                         .all_seconds = extras->all_seconds,
                                         .count = count,
                                         .problems = problems};
    return wfi_tune_compare(&request);
}

void wfi_tune_as_child(int argc, char **argv)
{
    wfi_starter starter;
    int code;
    if (wfi_process_is(argc, argv, WFI_ROLE_SEARCH, &starter))
        code = wfi_child_main(&starter);
    else if (wfi_process_is(argc, argv, WFI_ROLE_PROBE, &starter))
        code = wfi_probe_main(&starter);
    else
        return;
    fflush(NULL);
    wfi_process_leave(code); /* whatever drivers do when a program ends */
}

int wfi_tune_command(int argc, char **argv, const wfi_tune_extras *extras)
{
    wfi_tune_arguments args;
    wfi_common common;
    const int code = wfi_tune_options(argc, argv, &args, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if ((extras->slice_seconds > 0 || extras->all_seconds != 0) && !args.compare)
        return wfi_usage_error("tune: --slice and --all are for --compare");
    if (extras->discard && args.compare)
        return wfi_usage_error("tune: --compare keeps nothing without --discard too");
    if (args.fits)
        return wfi_tune_fit(&args, &common);
    return args.show || args.export || args.forget || args.calibrate
               ? with_device(&args, &common)
               : search(&args, &common, extras);
}

int wfi_tool_tune(int argc, char **argv)
{
    return wfi_tune_command(argc, argv, &(wfi_tune_extras){0});
}
