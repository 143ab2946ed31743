/* wavefit verify: random problems with random kernels, against f64, until the time is over. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/commands/commands.h"
#include "tool/verify/search.h"

#define DEFAULT_SECONDS 60.0

static uint32_t bits(uint64_t set)
{
    uint32_t count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

static void print_counts(const wfi_search *s)
{
    static wfi_table table = {.columns = 4, .right = 1u << 1 | 1u << 2 | 1u << 3};
    static const char *const heading[] = {"family", "cases", "variants that ran", "of"};
    const struct wfi_search_state *state = s->state;
    putchar('\n');
    wfi_table_headings(&table, heading, 4);
    for (int k = 0; k < WFI_VERIFY_KIND_COUNT; k++) {
        if (state->cases[k] == 0)
            continue;
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", wfi_verify_kind_name(k));
        wfi_table_set(&table, row, 1, "%" PRIu64, state->cases[k]);
        wfi_table_set(&table, row, 2, "%u", bits(state->kernels[k]));
        /* A solver cannot use all variants of the family that it is made of. */
        if (!wfi_verify_kind_is_solver(k))
            wfi_table_set(&table, row, 3, "%u", wf_family_variant_count(wfi_verify_kind_family(k)));
    }
    wfi_table_print(&table);
    putchar('\n');
    wfi_line(WFI_LABEL_COLUMNS,
             "verified  %" PRIu64 " elements against f64 in %.1f s: %" PRIu64 " case%s wrong or "
             "failed, %" PRIu64 " that no variant takes",
             state->elements, state->took, state->failed, state->failed == 1 ? " is" : "s are",
             state->unsupported);
}

/* What one case came to, where nothing was found. */
static void print_case(const wfi_search *s)
{
    const wfi_verdict *v = &s->state->now;
    char point[WFI_NOTE_BYTES];
    if (v->status != WFI_STATUS_OK && v->status != WFI_STATUS_UNSUPPORTED)
        return;
    wfi_line(WFI_LABEL_COLUMNS, "problem   %s %s %s", v->family_name, wf_type_name(v->type),
             v->problem);
    if (v->status == WFI_STATUS_UNSUPPORTED) {
        wfi_line(WFI_LABEL_COLUMNS, "skipped   no variant takes it on this device");
        return;
    }
    wfi_format_plan(&v->plan, point, sizeof point);
    wfi_line(WFI_LABEL_COLUMNS, "variant   %s", point);
    wfi_line(WFI_LABEL_COLUMNS,
             "verified  %" PRIu64 " elements against f64: largest error %.3g of its bound",
             v->check.checked, v->check.error_over_bound);
}

static int write_report(const wfi_search *s, int argc, char **argv)
{
    const struct wfi_search_state *state = s->state;
    wfi_io_error error;
    wfi_verdicts verdicts = {.argc = argc,
                             .argv = argv,
                             .caps = state->opened ? &state->caps : NULL,
                             .seed = s->request.seed,
                             .seconds = state->took,
                             .elements = state->elements,
                             .unsupported = state->unsupported,
                             .failed = state->failed,
                             .kind_count = WFI_VERIFY_KIND_COUNT,
                             .count = state->count,
                             .findings = state->findings};
    memcpy(verdicts.cases, state->cases, sizeof state->cases);
    for (int k = 0; k < WFI_VERIFY_KIND_COUNT; k++)
        verdicts.kinds[k] = wfi_verify_kind_name(k);
    if (!s->common->json || wfi_verdicts_write(s->common->json, &verdicts, &error))
        return WFI_EXIT_DONE;
    return wfi_run_error("%s", error.text);
}

static int search(wfi_search *s, bool one, uint64_t number, int argc, char **argv)
{
    if (!wfi_search_open(s))
        return wfi_run_error("verify: out of memory");
    const int code = one ? wfi_search_one(s, number) : wfi_search_run(s);
    int written = WFI_EXIT_DONE;
    if (s->state->opened && !wfi_json_on_stdout(s->common)) {
        if (one)
            print_case(s);
        else
            print_counts(s);
    }
    if (s->state->opened)
        written = write_report(s, argc, argv);
    wfi_search_close(s);
    return code != WFI_EXIT_DONE ? code : written;
}

int wfi_tool_verify(int argc, char **argv)
{
    const char *seconds = NULL, *family = NULL, *cases = NULL, *number_text = NULL;
    const wfi_option options[] = {
        {"--seconds", "N", &seconds, NULL, "how long to search (default 60)"},
        {"--cases", "N", &cases, NULL, "how many cases to run at most"},
        {"--family", "NAME", &family, NULL,
         "matmul, spmv, himeno, stencil, vector, cg or laplace (default: all)"},
        {"--case", "N", &number_text, NULL, "run case N of the seed alone, in this process"},
    };
    const wfi_command command = {
        "verify",
        "[--seconds N] [--family NAME] [--seed S] [--json FILE]",
        "Draws problems, variants and constants at random, and compares every element of what the "
        "device computes with f64. What is wrong comes with the command that repeats it.",
        0,
        0,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    wfi_search s = {.common = &common, .seconds = DEFAULT_SECONDS};
    uint64_t number = 0;
    const int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (number_text && (seconds || cases))
        return wfi_usage_error("verify: --case runs one case; --seconds and --cases do not go "
                               "with it");
    if ((seconds && !wfi_parse_seconds("--seconds", seconds, &s.seconds)) ||
        (cases && !wfi_parse_u64("--cases", cases, 1, UINT64_MAX, &s.most)) ||
        (number_text && !wfi_parse_u64("--case", number_text, 0, UINT64_MAX, &number)))
        return WFI_EXIT_USAGE;
    if (cases && !seconds)
        s.seconds = 86400;
    s.request.seed = common.seed;
    s.request.kind = family ? wfi_verify_kind_of(family) : -1;
    if (family && s.request.kind < 0)
        return wfi_usage_error("--family: '%s' is not a family (himeno, spmv, matmul, stencil, "
                               "vector, cg, laplace)",
                               family);
    snprintf(s.options, sizeof s.options, "%s%s", family ? " --family " : "", family ? family : "");
    wfi_common_repeat(&common, s.options, sizeof s.options);
    return search(&s, number_text != NULL, number, argc, argv);
}
