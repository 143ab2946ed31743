/* wavefit report: results files as one page, and their comparison with a base. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/platform_file.h"
#include "tool/commands/commands.h"
#include "tool/cli/options.h"
#include "tool/report/page.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

static void tell_difference(void *user, const char *name, const char *verdict, double base_us,
                            double us)
{
    (void)user;
    if (isfinite(us)) {
        char now[32], base[32];
        wfi_format_time(us, now, sizeof now);
        wfi_format_time(base_us, base, sizeof base);
        wfi_line(17, "%-7s  x%.3f  %s (%s, base %s)", verdict, us / base_us, name, now, base);
    } else
        wfi_line(17, "%-7s          %s", verdict, name);
}

/* How the ratios of many problems to the base lie. */
static void print_ratios(const wfi_ratios *ratios)
{
    static const char *const heading[] = {"family", "type", "problems", "geometric mean",
                                          "worst",  "best", "under 1"};
    static wfi_table table = {.columns = 7,
                              .right = 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6};
    uint32_t at = 0;
    for (const wfi_ratio_group *group; (group = wfi_ratios_next(ratios, &at)) != NULL;) {
        if (table.rows == 0) {
            printf("\ntimes as fast as in the base\n");
            wfi_table_headings(&table, heading, 7);
        }
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", group->family);
        wfi_table_set(&table, row, 1, "%s", group->type);
        wfi_table_set(&table, row, 2, "%u", group->count);
        wfi_table_set(&table, row, 3, "%.3g", wfi_ratios_mean(group));
        wfi_table_set(&table, row, 4, "%.3g", group->worst);
        wfi_table_set(&table, row, 5, "%.3g", group->best);
        wfi_table_set(&table, row, 6, "%u", group->under);
    }
    if (table.rows)
        wfi_table_print(&table);
}

/* Prints what differs; regressions fail the run where that was asked for. */
static int compare(wfi_report *report, const char *base, bool fail)
{
    wfi_comparison c;
    wfi_io_error error;
    if (!wfi_report_compare(report, base, tell_difference, NULL, &c, &error))
        return wfi_run_error("%s", error.text);
    if (!c.same_device)
        fprintf(stderr, "wavefit: warning: %s is of another device\n", base);
    if (c.other_ranks)
        fprintf(stderr, "wavefit: warning: %u of %u cases ran on another number of ranks in %s\n",
                c.other_ranks, c.compared, base);
    if (c.compared == 0)
        return wfi_run_error("%s has no case in common with the results", base);
    printf("%u cases compared: %u slower, %u faster, %u broken, %u the same", c.compared, c.slower,
           c.faster, c.broken, c.compared - c.slower - c.faster - c.broken);
    if (c.missing)
        printf("; %u of the base are not there", c.missing);
    putchar('\n');
    print_ratios(&c.ratios);
    if (fail && c.slower + c.broken)
        return wfi_run_error("%u of %u cases are slower than the base or broken",
                             c.slower + c.broken, c.compared);
    return WFI_EXIT_DONE;
}

/* Whether the page would take the place of results that it is made of. */
static bool is_input(const wfi_common *common, const char *output, const char *base)
{
    bool found = base && wfi_file_same(output, base);
    for (int i = 0; i < common->positional_count; i++)
        found = found || wfi_file_same(output, common->positional[i]);
    return found;
}

static int run(const wfi_common *common, const char *output, const char *base, bool fail)
{
    wfi_io_error error;
    wfi_report *report = wfi_report_create();
    int code = report ? WFI_EXIT_DONE : wfi_run_error("report: out of memory");
    for (int i = 0; i < common->positional_count && code == WFI_EXIT_DONE; i++)
        if (!wfi_report_add(report, common->positional[i], &error))
            code = wfi_run_error("%s", error.text);
    const bool readable = code == WFI_EXIT_DONE;
    if (readable && base)
        code = compare(report, base, fail);
    /* The page of a regression is what one wants to look at. */
    if (readable && output && !wfi_report_write(report, output, &error))
        code = wfi_run_error("%s", error.text);
    else if (readable && output)
        printf("%s: %d file%s on one page\n", output, common->positional_count,
               common->positional_count == 1 ? "" : "s");
    wfi_report_destroy(&report);
    return code;
}

int wfi_tool_report(int argc, char **argv)
{
    const char *output = NULL, *base = NULL;
    bool fail = false;
    const wfi_option options[] = {
        {"-o", "report.html", &output, NULL, "where the page is written (default report.html)"},
        {"--compare", "base.json", &base, NULL, "mark what is slower or faster than in this file"},
        {"--fail-on-regression", NULL, NULL, &fail,
         "exit 1 if a case is slower than in the base, or broken"},
    };
    const wfi_command command = {"report",
                                 "FILE.json… [-o report.html] [--compare base.json]",
                                 "Makes one self-contained page of results files.",
                                 1,
                                 WFI_MAX_POSITIONAL,
                                 options,
                                 3};
    wfi_common common;
    const int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (fail && !base)
        return wfi_usage_error("report: --fail-on-regression needs --compare");
    if (output && is_input(&common, output, base))
        return wfi_usage_error("report: -o %s would overwrite the results in it", output);
    /* A comparison alone needs no page. */
    return run(&common, output || base ? output : "report.html", base, fail);
}
