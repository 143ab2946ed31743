/* wavefit bench: a few sizes of each family, verified, in one table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/drawn.h"
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

#define MAX_CASES WFI_MOST_DRAWN
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
    WFI_STENCIL_PROBLEM("star 128^3", WF_TYPE_F32, WF_STENCIL_STAR, 128, 128, 128, 1, true, true),
    WFI_STENCIL_PROBLEM("star 1024^2 x 4", WF_TYPE_F32, WF_STENCIL_STAR, 1024, 1024, 0, 4, true,
                        true),
    WFI_STENCIL_PROBLEM("box 96^3", WF_TYPE_F32, WF_STENCIL_BOX, 96, 96, 96, 1, false, true),
    WFI_STENCIL_PROBLEM("star 512^3", WF_TYPE_F32, WF_STENCIL_STAR, 512, 512, 512, 1, false, false),
    WFI_STENCIL_PROBLEM("star 256^3", WF_TYPE_F64, WF_STENCIL_STAR, 256, 256, 256, 1, false, false),
    WFI_STENCIL_PROBLEM("star 8192^2 x 4", WF_TYPE_F64, WF_STENCIL_STAR, 8192, 8192, 0, 4, false,
                        false),
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

/* The suite that was asked for. */
typedef struct bench_suite {
    const wfi_case_problem *lines;
    uint32_t count;
    bool quick, drawn;
} bench_suite;

static uint32_t run_suite(wfi_session *session, const bench_suite *asked, bool host,
                          wfi_result_case *cases)
{
    const bool cpu = session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const bool quiet = session->common->quiet;
    const double start = wfi_host_seconds();
    const double budget = wfi_session_seconds(asked->drawn ? 0.25 : asked->quick ? 0.4 : 1.5);
    uint32_t count = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        const wfi_case_problem *line = &asked->lines[i];
        if ((asked->quick && !line->quick) || (cpu && !line->cpu && !asked->drawn))
            continue;
        wfi_result_case *out = &cases[count++];
        wfi_progress_show(quiet, (double)i / (double)asked->count, line->name);
        if (wfi_interrupted())
            leave_out(line, WFI_STATUS_CANCELLED, "interrupted", out);
        else if (cpu && !line->cpu)
            leave_out(line, WFI_STATUS_SKIPPED, "too large for a CPU device", out);
        else if (asked->quick && wfi_host_seconds() - start > QUICK_SECONDS)
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
    for (size_t i = 0; i < WFI_COUNT(commands); i++)
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

/* What the command line says. */
typedef struct bench_arguments {
    const char *suite, *count, *type, *minutes, *again;
    bool verbose, host, list;
    wfi_sustained_request sustained;
} bench_arguments;

static bool is_drawn(const bench_arguments *a)
{
    return a->suite && strcmp(a->suite, "drawn") == 0;
}

static int check_arguments(const bench_arguments *a, const wfi_common *common)
{
    const wfi_sustained_request *s = &a->sustained;
    const bool drawn = is_drawn(a);
    if (a->suite && !drawn && strcmp(a->suite, "quick") != 0 && strcmp(a->suite, "full") != 0)
        return wfi_usage_error("--suite: '%s' is not a suite (quick, full, drawn)", a->suite);
    if (!drawn && (a->count || a->type || a->list))
        return wfi_usage_error("bench: --count, --type and --list go with --suite drawn");
    if (!a->minutes && ((s->family && !drawn) || s->pause || s->work))
        return wfi_usage_error("bench: --family, --pause and --work go with --sustained (--family "
                               "with --suite drawn, too)");
    if (drawn && a->host)
        return wfi_usage_error("bench: --host is for the suites quick and full");
    if (a->minutes && drawn)
        return wfi_usage_error("bench: --sustained is no suite; --suite drawn does not go with it");
    if (a->minutes && (a->verbose || a->host))
        return wfi_usage_error("bench: --%s is for suites", a->verbose ? "verbose" : "host");
    if (s->work && !s->pause)
        return wfi_usage_error("bench: --work goes with --pause");
    if (!a->minutes && (common->variant || common->constant_count))
        return wfi_usage_error("bench: --variant and --set are for one family's command");
    return WFI_EXIT_DONE;
}

static int draw_suite(const bench_arguments *a, const wfi_common *common, bench_suite *out)
{
    static wfi_case_problem problems[WFI_MOST_DRAWN];
    wfi_drawn_request request = {.seed = common->seed, .family = WF_FAMILY_COUNT};
    wf_type type = WF_TYPE_F32;
    if (wfi_drawn_parse_count(a->count, &request.count) != WFI_EXIT_DONE ||
        (a->type && !wfi_parse_type("--type", a->type, &type)) ||
        (a->sustained.family && wfi_parse_family("bench: --family", a->sustained.family,
                                                 &request.family) != WFI_EXIT_DONE))
        return WFI_EXIT_USAGE;
    request.type = a->type ? &type : NULL;
    *out = (bench_suite){problems, wfi_drawn_suite(&request, problems), false, true};
    return out->count ? WFI_EXIT_DONE
                      : wfi_usage_error("bench: there are no %s problems of %s", a->type,
                                        a->sustained.family ? a->sustained.family : "any family");
}

static int choose_suite(const bench_arguments *a, const wfi_common *common, bench_suite *out)
{
    if (is_drawn(a))
        return draw_suite(a, common, out);
    *out =
        (bench_suite){suite, WFI_COUNT(suite), !a->suite || strcmp(a->suite, "quick") == 0, false};
    return WFI_EXIT_DONE;
}

static int run(const bench_arguments *a, const bench_suite *asked, const wfi_common *common,
               int argc, char **argv)
{
    static wfi_result_case cases[MAX_CASES];
    wfi_session session;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const uint32_t count = run_suite(&session, asked, a->host, cases);
    print_results(&session, cases, count, a->verbose);
    if (a->host && !wfi_json_on_stdout(session.common))
        print_host(cases, count);
    code = wfi_cases_exit("bench", "cases", cases, count);
    if (code == WFI_EXIT_DONE && !any_ran(cases, count))
        code = wfi_run_error("bench: no case could run on this device");
    if (code == WFI_EXIT_DONE && host_is_wrong(cases, count))
        code = wfi_run_error("bench: a result of the host's cores was wrong");
    int written = wfi_session_write(&session, argc, argv, cases, count);
    if (common->json && written == WFI_EXIT_DONE && !wfi_again_keeps_nothing())
        written = wfi_report_beside(common->json);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

/* What was drawn, for programs that are to run the same. */
static int list(const bench_suite *asked)
{
    for (uint32_t i = 0; i < asked->count; i++)
        printf("%s %s %s\n", wf_family_name(asked->lines[i].family),
               wf_type_name(asked->lines[i].type), asked->lines[i].name);
    return WFI_EXIT_DONE;
}

int wfi_tool_bench(int argc, char **argv)
{
    bench_arguments a = {0};
    const wfi_option options[] = {
        {"--suite", "quick|full|drawn", &a.suite, NULL,
         "a few sizes, or more and larger ones (default quick); drawn: problems at random by "
         "--seed, the same on every machine, that nothing was tuned with"},
        {"--count", "N", &a.count, NULL, "of --suite drawn: so many problems (default 24)"},
        {"--type", "f32|f64|…", &a.type, NULL,
         "of --suite drawn: all of this type (default: drawn too)"},
        {"--list", NULL, NULL, &a.list, "of --suite drawn: print the problems and run nothing"},
        {"--sustained", "MINUTES", &a.minutes, NULL,
         "run one load for so long, to see how heat slows the device"},
        {"--family", "NAME", &a.sustained.family, NULL,
         "of --sustained: the load, matmul, spmv or himeno (default matmul); of --suite drawn: "
         "problems of this family alone"},
        {"--pause", "SECONDS", &a.sustained.pause, NULL,
         "of --sustained: pauses of this length (default: none)"},
        {"--work", "SECONDS", &a.sustained.work, NULL,
         "of --sustained: the work between two pauses (default 60)"},
        {"--host", NULL, NULL, &a.host,
         "run each problem in plain C on this machine's cores too, and compare"},
        {"--verbose", NULL, NULL, &a.verbose, "print the constants of each variant too"},
        {"--again", "FILE.json", &a.again, NULL,
         "run what this results file was made by once more, with the same constants, and say "
         "whether it came out the same"}};
    const wfi_command command = {
        "bench",
        "[--suite quick|full|drawn | --sustained MINUTES | --again FILE.json] [--host] "
        "[--json FILE]",
        "Measures every family on one device and verifies each result against f64.",
        0,
        0,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    bench_suite asked;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (a.again) {
        const wfi_sustained_request *s = &a.sustained;
        const bool more = a.suite || a.count || a.type || a.list || a.minutes || a.verbose ||
                          a.host || s->family || s->pause || s->work;
        return run_again(&common, a.again, more, argv[0]);
    }
    code = check_arguments(&a, &common);
    if (code != WFI_EXIT_DONE)
        return code;
    if (a.minutes)
        return wfi_tool_sustained(&common, a.minutes, &a.sustained, argc, argv);
    code = choose_suite(&a, &common, &asked);
    if (code != WFI_EXIT_DONE)
        return code;
    return a.list ? list(&asked) : run(&a, &asked, &common, argc, argv);
}
