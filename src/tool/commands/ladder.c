/* wavefit ladder: every algorithm of a family on one problem, from the plainest to the most
 * elaborate, with the works that they come from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands/commands.h"
#include "tool/cli/progress.h"
#include "tool/cases/study.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define STEP_SECONDS 0.5

static void run_step(wfi_session *session, const wfi_study *study, uint32_t index,
                     wfi_result_case *out)
{
    const wf_variant_info info = wfi_study_variant_info(study->family, index);
    if (wfi_interrupted()) {
        wfi_result_case_init(out, wf_family_name(study->family));
        snprintf(out->name, sizeof out->name, "%s", study->name);
        out->type = wf_type_name(study->type);
        wfi_case_fail_text(out, WFI_STATUS_CANCELLED, "interrupted");
    } else {
        const wf_result result = wfi_study_run(session, study, info.name, NULL, 0, out);
        /* What the device or the type rules out is no failure of the run. */
        if (result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNKNOWN_VARIANT)
            out->status = WFI_STATUS_UNSUPPORTED;
    }
    out->study.kind = "ladder";
    out->study.step = index + 1;
    out->study.summary = info.summary;
    out->study.source = info.source;
    if (!out->has_plan)
        out->plan.variant = info.name;
}

static bool has_time(const wfi_result_case *c)
{
    return c->status == WFI_STATUS_OK && c->has_timing;
}

/* Whether some steps were timed by the device's clock and others by the host's, which submitting
 * and waiting are part of. */
static bool clocks_differ(const wfi_result_case *cases, uint32_t count)
{
    bool seen[2] = {false, false};
    for (uint32_t i = 0; i < count; i++)
        if (has_time(&cases[i]))
            seen[cases[i].timing.gpu_clock] = true;
    return seen[0] && seen[1];
}

/* Over the step before; times of the host's clock are no part of it where others are the device's.
 * */
static void add_gains(wfi_result_case *cases, uint32_t count)
{
    const bool device_alone = clocks_differ(cases, count);
    const wf_timing *before = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const wf_timing *now = &cases[i].timing;
        if (!has_time(&cases[i]) || (device_alone && !now->gpu_clock))
            continue;
        if (before) {
            cases[i].study.gain = before->median_us / now->median_us;
            cases[i].study.unsure = before->q1_us <= now->q3_us && now->q1_us <= before->q3_us;
        }
        before = now;
    }
}

static void add_row(wfi_table *table, const wfi_result_case *c)
{
    char text[WFI_CELL_BYTES];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%u", c->study.step);
    wfi_table_set(table, row, 1, "%s", c->plan.variant);
    if (c->status != WFI_STATUS_OK) {
        wfi_table_note(table, row, 2, "%s: %s", wfi_status_name(c->status), c->reason);
        return;
    }
    wfi_format_time(c->timing.median_us, text, sizeof text);
    wfi_table_set(table, row, 2, "%s", text);
    wfi_table_set(table, row, 3, "%s", c->timing.gpu_clock ? "device" : "host");
    if (c->timing.count > 1)
        wfi_table_set(table, row, 4, "%.1f %%", c->timing.spread * 100);
    wfi_format_rate(c->rate, c->rate_unit, text, sizeof text);
    wfi_table_set(table, row, 5, "%s", text);
    if (isfinite(c->study.gain))
        wfi_table_set(table, row, 6, c->study.gain < 0.1 ? "x%.2g%s" : "x%.2f%s", c->study.gain,
                      c->study.unsure ? " ?" : "");
    if (isfinite(c->floor_us)) {
        wfi_format_percent(c->floor_us / c->timing.median_us * 100, text, sizeof text);
        wfi_table_set(table, row, 7, "%s", text);
    }
}

/* What each step changes, and the story that it comes from. */
static void print_steps(const wfi_result_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wfi_result_study *s = &cases[i].study;
        wfi_line(6, "%4u  %s", s->step, s->summary);
        if (s->source && *s->source)
            wfi_line(10, "%8s%s", "", s->source);
    }
}

static void print_ladder(const wfi_session *session, const wfi_study *study,
                         const wfi_result_case *cases, uint32_t count)
{
    static const char *const heading[] = {"step",   "variant", "time", "clock",
                                          "spread", "rate",    "gain", "of roofline"};
    static wfi_table table = {.columns = 8,
                              .right = 1u << 0 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7};
    if (wfi_json_on_stdout(session->common))
        return;
    wfi_line(4, "%s: %s %s on %s", wf_family_name(study->family), study->name,
             wf_type_name(study->type), session->caps->name);
    putchar('\n');
    wfi_table_headings(&table, heading, 8);
    for (uint32_t i = 0; i < count; i++)
        add_row(&table, &cases[i]);
    wfi_table_print(&table);
    for (uint32_t i = 0, told = 0; i < count && !told; i++)
        if ((told = cases[i].study.unsure))
            puts("\nA gain with ? may be noise: the quartiles of the two times overlap.");
    if (clocks_differ(cases, count))
        puts("\nTimes of the host's clock include submitting and waiting: gains are between times\n"
             "of the device's clock alone.");
    putchar('\n');
    print_steps(cases, count);
}

static int run(wfi_session *session, const wfi_study *study, int argc, char **argv)
{
    const uint32_t count = wf_family_variant_count(study->family);
    wfi_result_case *cases = calloc(count, sizeof *cases);
    if (!cases)
        return wfi_run_error("ladder: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        wfi_progress_show(session->common->quiet, (double)i / count,
                          wfi_study_variant_info(study->family, i).name);
        run_step(session, study, i, &cases[i]);
    }
    wfi_progress_clear(session->common->quiet);
    add_gains(cases, count);
    print_ladder(session, study, cases, count);
    const int code = wfi_cases_exit("ladder", "steps", cases, count);
    const int written = wfi_session_write(session, argc, argv, cases, count);
    free(cases);
    return code != WFI_EXIT_DONE ? code : written;
}

int wfi_tool_ladder(int argc, char **argv)
{
    wfi_study study = {.budget_seconds = STEP_SECONDS};
    wfi_option options[WFI_STUDY_OPTIONS];
    const wfi_command command = {
        "ladder",
        "himeno|spmv|matmul|stencil [MATRIX.mtx] [--generate KIND:N] [--size S] [--shape MxNxK] "
        "[--grid G]",
        "Measures every algorithm of a family on one problem, from the plainest to the most "
        "elaborate.",
        1,
        2,
        options,
        WFI_STUDY_OPTIONS};
    wfi_common common;
    wfi_session session;
    wfi_study_options(&study, options);
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    code = wfi_study_parse(&study, "ladder", &common);
    if (code == WFI_EXIT_DONE &&
        (code = wfi_session_open_captured(&session, &common)) == WFI_EXIT_DONE) {
        code = run(&session, &study, argc, argv);
        wfi_session_close(&session);
    }
    wfi_study_free(&study);
    return code;
}
