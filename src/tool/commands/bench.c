/* wavefit bench: a few sizes of each family, verified, in one table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"
#include "core/platform.h"
#include "tool/commands/again.h"
#include "tool/commands/commands.h"
#include "tool/host/host.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/report/page.h"
#include "tool/commands/sustained.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define MAX_CASES 48
#define QUICK_SECONDS 40.0  /* what is not begun by then is skipped */
#define MEMORY_FRACTION 0.5 /* of the available device memory that a case may take */

static const wfi_case_problem suite[] = {
    WFI_HIMENO_PROBLEM("himeno XS", 64, 32, 32, true, true),
    WFI_HIMENO_PROBLEM("himeno S", 128, 64, 64, true, true),
    WFI_HIMENO_PROBLEM("himeno M", 256, 128, 128, true, true),
    WFI_HIMENO_PROBLEM("himeno L", 512, 256, 256, false, true),
    WFI_HIMENO_PROBLEM("himeno XL", 1024, 512, 512, false, false),
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 32, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 32^3", WF_TYPE_F64, WFI_MATRIX_POISSON27, 32, 0, true, true),
    WFI_SPMV_PROBLEM("uniform 64Ki x 8", WF_TYPE_F32, WFI_MATRIX_UNIFORM, 65536, 8, true, true),
    WFI_SPMV_PROBLEM("rmat 2^14 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 14, 0, true, true),
    WFI_SPMV_PROBLEM("poisson27 128^3", WF_TYPE_F32, WFI_MATRIX_POISSON27, 128, 0, false, true),
    WFI_SPMV_PROBLEM("poisson27 128^3", WF_TYPE_F64, WFI_MATRIX_POISSON27, 128, 0, false, true),
    WFI_SPMV_PROBLEM("rmat 2^18 x 16", WF_TYPE_F32, WFI_MATRIX_RMAT, 18, 0, false, true),
    WFI_MATMUL_PROBLEM("256^3", WF_TYPE_F32, 256, 256, 256, true, true),
    WFI_MATMUL_PROBLEM("512^3", WF_TYPE_F32, 512, 512, 512, true, true),
    WFI_MATMUL_PROBLEM("1024^3", WF_TYPE_F32, 1024, 1024, 1024, true, false),
    WFI_MATMUL_PROBLEM("1000x2000x3000", WF_TYPE_F32, 1000, 2000, 3000, false, true),
    WFI_MATMUL_PROBLEM("127x8192x513", WF_TYPE_F32, 127, 8192, 513, false, true),
    WFI_MATMUL_PROBLEM("4096^3", WF_TYPE_F32, 4096, 4096, 4096, true, false),
    WFI_MATMUL_PROBLEM("8192^3", WF_TYPE_F32, 8192, 8192, 8192, false, false),
};

static void run_line(wfi_session *session, const wfi_case_problem *line, double budget, bool host,
                     wfi_result_case *out)
{
    const wfi_tool_family *family = wfi_tool_family_of(line->family);
    const wf_tuning before = session->tuning;
    wf_constant constants[WF_MAX_PARAMETERS];
    wfi_again_point(line, &session->tuning, constants);
    family->run_problem(session, line, budget, out);
    session->tuning = before;
    snprintf(out->name, sizeof out->name, "%s", line->name);
    if (host && family->host && out->status == WFI_STATUS_OK && !wfi_interrupted())
        family->host(line, budget, session->common->seed, &out->host);
}

static void leave_out(const wfi_case_problem *line, wfi_status status, const char *reason,
                      wfi_result_case *out)
{
    wfi_result_case_init(out, wf_family_name(line->family));
    snprintf(out->name, sizeof out->name, "%s", line->name);
    out->type = wf_type_name(line->type);
    wfi_case_fail_text(out, status, "%s", reason);
}

static uint32_t run_suite(wfi_session *session, bool quick, bool host, wfi_result_case *cases)
{
    const bool cpu = session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const bool quiet = session->common->quiet;
    const double start = wfi_host_seconds();
    const double budget = quick ? 0.4 : 1.5;
    const size_t lines = WFI_COUNT(suite);
    uint32_t count = 0;
    for (size_t i = 0; i < lines; i++) {
        const wfi_case_problem *line = &suite[i];
        if ((quick && !line->quick) || (cpu && !line->cpu))
            continue;
        wfi_result_case *out = &cases[count++];
        wfi_progress_show(quiet, (double)i / (double)lines, line->name);
        if (wfi_interrupted())
            leave_out(line, WFI_STATUS_CANCELLED, "interrupted", out);
        else if (quick && wfi_host_seconds() - start > QUICK_SECONDS)
            leave_out(line, WFI_STATUS_SKIPPED, "the quick suite's time was spent", out);
        else if (wfi_tool_family_of(line->family)->bytes(line) >
                 MEMORY_FRACTION * wfi_session_available(session))
            leave_out(line, WFI_STATUS_SKIPPED, "over half of the memory that the device has left",
                      out);
        else
            run_line(session, line, budget, host, out);
    }
    wfi_progress_clear(quiet);
    return count;
}

static void add_row(wfi_table *table, const wfi_result_case *c, bool verbose)
{
    char text[WFI_CELL_BYTES];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%s", c->family);
    wfi_table_set(table, row, 1, "%.60s", c->name);
    wfi_table_set(table, row, 2, "%s", c->type ? c->type : "");
    if (c->status != WFI_STATUS_OK) {
        wfi_table_note(table, row, 3, "%s: %s", wfi_status_name(c->status), c->reason);
        return;
    }
    if (c->has_timing) {
        wfi_format_time(c->timing.median_us, text, sizeof text);
        wfi_table_set(table, row, 3, "%s", text);
        if (c->timing.count > 1)
            wfi_table_set(table, row, 4, "%.1f %%", c->timing.spread * 100);
    }
    wfi_format_rate(c->rate, c->rate_unit, text, sizeof text);
    wfi_table_set(table, row, 5, "%s", text);
    if (isfinite(c->percent)) {
        wfi_format_percent(c->percent, text, sizeof text);
        wfi_table_set(table, row, 6, "%s %s", text, strstr(c->percent_of, "copy") ? "copy" : "fma");
    }
    wfi_table_set(table, row, 7, "%s", c->plan.variant);
    wfi_format_constants(&c->plan, text, sizeof text);
    if (verbose)
        wfi_table_note(table, row, 1, "%s", text);
}

static void print_results(wfi_session *session, const wfi_result_case *cases, uint32_t count,
                          bool verbose)
{
    static const char *const heading[] = {"family", "case", "type",    "time",
                                          "spread", "rate", "of peak", "variant"};
    static wfi_table table = {.columns = 8, .right = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6};
    if (wfi_json_on_stdout(session->common))
        return;
    wfi_line(4, "%s%s: copy %.1f GB/s, f32 multiply-add %.1f GFLOPS (measured)",
             session->caps->name,
             session->caps->limits == WF_LIMITS_MINIMUM ? " (minimum limits)" : "",
             wfi_session_copy_bandwidth(session) * 1e-9,
             wfi_session_fma_rate(session, WF_TYPE_F32) * 1e-9);
    putchar('\n');
    wfi_table_headings(&table, heading, 8);
    for (uint32_t i = 0; i < count; i++)
        add_row(&table, &cases[i], verbose);
    wfi_table_print(&table);
}

/* The device's time beside that of the machine's own cores. */
static void print_host(const wfi_result_case *cases, uint32_t count)
{
    static const char *const heading[] = {"family", "case",   "type",         "device",
                                          "host",   "spread", "times as fast"};
    static wfi_table table = {.columns = 7, .right = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6};
    const uint32_t threads = wfi_host_threads();
    putchar('\n');
    wfi_line(0, "The same in plain C on %u thread%s of this machine%s", threads,
             threads == 1 ? "" : "s",
             wfi_host_has_openmp() ? "" : ", since this wavefit was built without OpenMP");
    putchar('\n');
    wfi_table_headings(&table, heading, 7);
    for (uint32_t i = 0; i < count; i++) {
        const wfi_result_host *h = &cases[i].host;
        char text[WFI_CELL_BYTES];
        if (!h->asked)
            continue;
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", cases[i].family);
        wfi_table_set(&table, row, 1, "%.60s", cases[i].name);
        wfi_table_set(&table, row, 2, "%s", cases[i].type ? cases[i].type : "");
        wfi_format_time(cases[i].timing.median_us, text, sizeof text);
        wfi_table_set(&table, row, 3, "%s", text);
        if (h->samples == 0) {
            wfi_table_note(&table, row, 4, "%s", h->reason);
            continue;
        }
        wfi_format_time(h->median_us, text, sizeof text);
        wfi_table_set(&table, row, 4, "%s", text);
        wfi_table_set(&table, row, 5, "%.1f %%", h->spread * 100);
        wfi_table_set(&table, row, 6, "%.3g", h->median_us / cases[i].timing.median_us);
    }
    wfi_table_print(&table);
}

/* A wrong result of the host's fails the run as a device's does. */
static bool host_is_wrong(const wfi_result_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].host.asked && !(cases[i].host.check.error_over_bound <= 1))
            return true;
    return false;
}

static bool any_ran(const wfi_result_case *cases, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].status == WFI_STATUS_OK)
            return true;
    return false;
}

#define ROW(name, summary) {#name, wfi_tool_##name},
static const struct {
    const char *name;
    wfi_again_fn run;
} commands[] = {WFI_COMMANDS(ROW)};
#undef ROW

static wfi_again_fn command_of(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run;
    return NULL;
}

/* Everything but where it runs is as in the file. */
static int run_again(const wfi_common *common, const char *path, bool more, char *program)
{
    if (more || common->variant || common->constant_count || common->repeat || common->seed != 1 ||
        common->no_tuning || common->minimum_limits || common->dispatch_seconds > 0)
        return wfi_usage_error("bench: --again takes its options from the file; only --device, "
                               "--json and --quiet go with it");
    if (wfi_json_on_stdout(common))
        return wfi_usage_error("bench: --again prints a comparison; --json needs a file's name");
    return wfi_again(common, path, program, command_of);
}

int wfi_tool_bench(int argc, char **argv)
{
    static wfi_result_case cases[MAX_CASES];
    const char *suite_name = NULL, *minutes = NULL, *again = NULL;
    bool verbose = false, host = false;
    wfi_sustained_request sustained = {0};
    const wfi_option options[] = {
        {"--suite", "quick|full", &suite_name, NULL,
         "a few sizes, or more and larger ones (default quick)"},
        {"--sustained", "MINUTES", &minutes, NULL,
         "run one load for so long, to see how heat slows the device"},
        {"--family", "NAME", &sustained.family, NULL,
         "of --sustained: the load, matmul, spmv or himeno (default matmul)"},
        {"--pause", "SECONDS", &sustained.pause, NULL,
         "of --sustained: pauses of this length (default: none)"},
        {"--work", "SECONDS", &sustained.work, NULL,
         "of --sustained: the work between two pauses (default 60)"},
        {"--host", NULL, NULL, &host,
         "run each problem in plain C on this machine's cores too, and compare"},
        {"--verbose", NULL, NULL, &verbose, "print the constants of each variant too"},
        {"--again", "FILE.json", &again, NULL,
         "run what this results file was made by once more, with the same constants, and say "
         "whether it came out the same"}};
    const wfi_command command = {
        "bench",
        "[--suite quick|full | --sustained MINUTES | --again FILE.json] [--host] [--json FILE]",
        "Measures every family on one device and verifies each result against f64.",
        0,
        0,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    wfi_session session;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (again)
        return run_again(&common, again,
                         suite_name || minutes || verbose || host || sustained.family ||
                             sustained.pause || sustained.work,
                         argv[0]);
    suite_name = suite_name ? suite_name : "quick";
    const bool quick = strcmp(suite_name, "quick") == 0;
    if (!quick && strcmp(suite_name, "full") != 0)
        return wfi_usage_error("--suite: '%s' is not a suite (quick, full)", suite_name);
    if (!minutes && (sustained.family || sustained.pause || sustained.work))
        return wfi_usage_error("bench: --family, --pause and --work go with --sustained");
    if (minutes && (verbose || host))
        return wfi_usage_error("bench: --%s is for suites", verbose ? "verbose" : "host");
    if (sustained.work && !sustained.pause)
        return wfi_usage_error("bench: --work goes with --pause");
    if (minutes)
        return wfi_tool_sustained(&common, minutes, &sustained, argc, argv);
    if (common.variant || common.constant_count)
        return wfi_usage_error("bench: --variant and --set are for one family's command");
    code = wfi_session_open(&session, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    const uint32_t count = run_suite(&session, quick, host, cases);
    print_results(&session, cases, count, verbose);
    if (host && !wfi_json_on_stdout(session.common))
        print_host(cases, count);
    code = wfi_cases_exit("bench", "cases", cases, count);
    if (code == WFI_EXIT_DONE && !any_ran(cases, count))
        code = wfi_run_error("bench: no case could run on this device");
    if (code == WFI_EXIT_DONE && host_is_wrong(cases, count))
        code = wfi_run_error("bench: a result of the host's cores was wrong");
    int written = wfi_session_write(&session, argc, argv, cases, count);
    if (common.json && written == WFI_EXIT_DONE && !wfi_again_keeps_nothing())
        written = wfi_report_beside(common.json);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}
