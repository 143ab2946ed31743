/* wavefit tune: searches for the best variants and constants on this device, and what it keeps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/himeno_size.h"
#include "tool/table.h"
#include "tool/tune_worker.h"

#define MOST_EXTENT 2147483648u

typedef struct arguments {
    const char *budget, *patience, *suite, *shape, *size, *matrix, *type;
    bool compare, exhaustive, again, discard, export, show, forget;
    wf_family family; /* COUNT: all */
    double seconds, patience_seconds;
} arguments;

/* ------------------------------------------------------------------------------- what is kept */

static void row_text(const wf_tuning_row *row, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", *row->variant ? row->variant : "none");
    for (uint32_t i = 0; i < row->constant_count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", row->constant_names[i],
                                 row->constant_values[i]);
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
    wfi_table_set(table, at, 4, "%u%s", row->tried, row->finished ? "" : ", not all");
    wfi_table_set(table, at, 5, "%u", row->bad);
    wfi_table_set(table, at, 6, "%s", row->current ? "tuned" : "hint");
    row_text(row, text, sizeof text);
    wfi_table_set(table, at, 7, "%.95s", text);
}

static int show(wfi_session *session, wf_family family)
{
    static const char *const heading[] = {"family", "type", "problem", "time",
                                          "tried",  "bad",  "is",      "best"};
    static wfi_table table = {.columns = 8, .right = 1u << 3 | 1u << 5};
    const char *path = wf_tuning_path(session->device);
    wf_tuning_row row = {.size = sizeof row};
    printf("%s: %s\n", session->caps->name, path ? path : "no folder to keep tuning data in");
    wfi_table_row(&table);
    for (int i = 0; i < 8; i++)
        wfi_table_set(&table, 0, i, "%s", heading[i]);
    for (uint32_t i = 0; wf_tuning_row_get(session->device, i, &row) == WF_SUCCESS; i++)
        if ((family == WF_FAMILY_COUNT || row.family == family) && table.rows < WFI_MAX_ROWS)
            add_row(&table, &row);
    if (table.rows == 1) {
        puts("nothing was tuned on this device yet");
        return WFI_EXIT_DONE;
    }
    wfi_table_print(&table);
    puts("a hint was measured with another driver or other shaders; the search begins there");
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

static int with_device(const arguments *args, const wfi_common *common)
{
    wfi_session session;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    if (args->show)
        code = show(&session, args->family);
    else if (args->export)
        code = export_rows(&session);
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

static void print_outcome(const wfi_tune_problem *problem, const wfi_tune_outcome *o)
{
    char before[48], best[48];
    printf("%-8s %-4s %-18s ", wf_family_name(problem->family), wf_type_name(problem->type),
           problem->name);
    if (!o->done) {
        printf("%s\n", o->error);
        return;
    }
    wfi_format_time(o->before_us, before, sizeof before);
    wfi_format_time(o->best_us, best, sizeof best);
    printf("%10s %10s %6.2fx %5.1f %%  %u points%s%s\n", before, best,
           o->before_us > 0 ? o->before_us / o->best_us : (double)NAN, o->spread * 100, o->measured,
           o->finished ? ", all in reach" : "", o->kept ? "" : ", not kept");
    printf("%33s%s (%s)\n", "", o->before, o->before_by);
    if (strcmp(o->before, o->best) != 0)
        printf("%33s%s (tuned)\n", "", o->best);
    if (o->wrong)
        printf("%33s%u points failed or were wrong\n", "", o->wrong);
}

static int print_outcomes(const wfi_tune_problem *problems, const wfi_tune_outcome *outcomes,
                          uint32_t count)
{
    int code = WFI_EXIT_DONE;
    printf("%-8s %-4s %-18s %10s %10s %7s %7s\n", "family", "type", "problem", "before", "tuned",
           "faster", "spread");
    for (uint32_t i = 0; i < count; i++) {
        print_outcome(&problems[i], &outcomes[i]);
        if (!outcomes[i].done && outcomes[i].result != WF_ERROR_UNSUPPORTED &&
            outcomes[i].result != WF_ERROR_TOO_LARGE)
            code = WFI_EXIT_FAILED;
    }
    return code;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How much longer each choice takes than the best of all searches, in percent. */
static int print_comparison(const wfi_tune_problem *problems, const wfi_tune_outcome *outcomes,
                            uint32_t count)
{
    double losses[WFI_TUNE_RIVALS][WFI_MAX_TUNE_PROBLEMS];
    uint32_t done = 0;
    printf("%-8s %-4s %-18s %10s %9s %9s %9s %9s %9s %9s\n", "family", "type", "problem", "best",
           "model", "shipped", "left out", "tuned", "again", "exhaust.");
    for (uint32_t i = 0; i < count; i++) {
        const wfi_tune_outcome *o = &outcomes[i];
        char text[48];
        double best = 0;
        printf("%-8s %-4s %-18s ", wf_family_name(problems[i].family),
               wf_type_name(problems[i].type), problems[i].name);
        if (!o->done) {
            printf("%s\n", o->error);
            continue;
        }
        for (int r = 0; r < WFI_TUNE_RIVALS; r++)
            if (o->rival_us[r] > 0 && (best == 0 || o->rival_us[r] < best))
                best = o->rival_us[r];
        wfi_format_time(best, text, sizeof text);
        printf("%10s", text);
        for (int r = 0; r < WFI_TUNE_RIVALS; r++) {
            losses[r][done] = (o->rival_us[r] / best - 1) * 100;
            printf(" %7.1f %%", losses[r][done]);
        }
        printf("\n%33s%u of %llu points; shipped: %s; left out: %s\n%33sbest: %s\n%33smodel: %s\n",
               "", o->measured, (unsigned long long)o->legal, o->rival_by[WFI_RIVAL_SHIPPED],
               o->rival_by[WFI_RIVAL_LEFT_OUT], "", o->best, "", o->before);
        done++;
    }
    for (int line = 0; line < 2 && done; line++) {
        printf("%-43s", line ? "worst" : "median");
        for (int r = 0; r < WFI_TUNE_RIVALS; r++) {
            qsort(losses[r], done, sizeof *losses[r], compare_doubles);
            printf(" %7.1f %%", losses[r][line ? done - 1 : done / 2]);
        }
        putchar('\n');
    }
    return done == count ? WFI_EXIT_DONE : WFI_EXIT_FAILED;
}

/* The one problem that the options name; false with a line printed, or true with *count 0: none. */
static bool single_problem(const arguments *args, wfi_tune_problem *problem, uint32_t *count)
{
    uint64_t sizes[3];
    const char *text = args->shape ? args->shape : args->size;
    *count = text || args->matrix ? 1 : 0;
    memset(problem, 0, sizeof *problem);
    if (args->type && !wfi_parse_type("--type", args->type, &problem->type))
        return false;
    if (args->matrix) {
        problem->family = WF_FAMILY_SPMV;
        problem->kind = WFI_MATRIX_FILE;
        problem->path = args->matrix;
    } else if (text) {
        if (args->shape ? !wfi_parse_triple("--shape", text, MOST_EXTENT, sizes)
                        : !wfi_parse_himeno_size("--size", text, sizes))
            return false;
        problem->family = args->shape ? WF_FAMILY_MATMUL : WF_FAMILY_STENCIL;
        problem->a = sizes[0];
        problem->b = sizes[1];
        problem->c = sizes[2];
    }
    snprintf(problem->name, sizeof problem->name, "%s", text ? text : args->matrix);
    if (*count && args->family != WF_FAMILY_COUNT && args->family != problem->family) {
        wfi_usage_error("tune: the problem given is not of family %s",
                        wf_family_name(args->family));
        return false;
    }
    return true;
}

static int search(const arguments *args, const wfi_common *common)
{
    static wfi_tune_problem problems[WFI_MAX_TUNE_PROBLEMS];
    static wfi_tune_outcome outcomes[WFI_MAX_TUNE_PROBLEMS];
    uint32_t count = 0;
    const bool quick = !args->suite || strcmp(args->suite, "quick") == 0;
    if (!quick && strcmp(args->suite, "full") != 0)
        return wfi_usage_error("--suite: '%s' is not a suite (quick, full)", args->suite);
    if (!single_problem(args, &problems[0], &count))
        return WFI_EXIT_USAGE;
    if (count == 0) {
        bool cpu = false;
        const int opened = wfi_tune_is_cpu(common, &cpu);
        if (opened != WFI_EXIT_DONE)
            return opened;
        count = wfi_tune_suite(quick, cpu, args->family, problems);
    }
    const wfi_tune_work work = {.common = common,
                                .budget_seconds = args->seconds,
                                .patience_seconds = args->patience_seconds,
                                .compare = args->compare,
                                .exhaustive = args->exhaustive,
                                .again = args->again,
                                .discard = args->discard,
                                .count = count,
                                .problems = problems,
                                .outcomes = outcomes};
    const int code = wfi_tune_run(&work);
    if (code == WFI_EXIT_NO_DEVICE || code == WFI_EXIT_USAGE)
        return code;
    if (count == 1 && !outcomes[0].done)
        return wfi_run_error("%s", outcomes[0].error);
    const int printed = args->compare ? print_comparison(problems, outcomes, count)
                                      : print_outcomes(problems, outcomes, count);
    return code != WFI_EXIT_DONE ? code : printed;
}

static bool parse_family(const wfi_common *common, wf_family *family)
{
    *family = WF_FAMILY_COUNT;
    if (common->positional_count == 0)
        return true;
    for (int i = 0; i < WF_FAMILY_COUNT; i++)
        if (strcmp(common->positional[0], wf_family_name((wf_family)i)) == 0) {
            *family = (wf_family)i;
            return true;
        }
    wfi_usage_error("tune: '%s' is not a family (stencil, spmv, matmul)", common->positional[0]);
    return false;
}

int wfi_tool_tune(int argc, char **argv)
{
    arguments args = {.seconds = 60, .patience_seconds = 60};
    const wfi_option options[] = {
        {"--budget", "SECONDS", &args.budget, NULL, "time for all problems together (default 60)"},
        {"--suite", "quick|full", &args.suite, NULL, "which problems (default quick)"},
        {"--shape", "MxNxK", &args.shape, NULL, "this matrix product alone"},
        {"--size", "XS…XL|IxJxK", &args.size, NULL, "this Himeno grid alone"},
        {"--matrix", "FILE.mtx[.gz]", &args.matrix, NULL, "this sparse matrix alone"},
        {"--type", "f32", &args.type, NULL, "element type of the problem given"},
        {"--patience", "SECONDS", &args.patience, NULL,
         "a driver that is silent for so long hangs (default 60)"},
        {"--again", NULL, NULL, &args.again, "measure what earlier runs have measured"},
        {"--exhaustive", NULL, NULL, &args.exhaustive, "every legal point; the budget is each's"},
        {"--compare", NULL, NULL, &args.compare,
         "model, rows, two searches of the budget and an exhaustive one of thrice that, each "
         "problem"},
        {"--discard", NULL, NULL, &args.discard, "keep nothing of what is found"},
        {"--show", NULL, NULL, &args.show, "what is kept of this device"},
        {"--export", NULL, NULL, &args.export, "print it as rows to check in"},
        {"--forget", NULL, NULL, &args.forget, "remove what is kept (of FAMILY)"},
    };
    const wfi_command command = {
        "tune",
        "[stencil|spmv|matmul] [OPTIONS]",
        "Searches for the fastest variants and constants on this device and keeps them.",
        0,
        1,
        options,
        sizeof options / sizeof *options};
    wfi_common common;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (!parse_family(&common, &args.family))
        return WFI_EXIT_USAGE;
    if (args.budget && !wfi_parse_seconds("--budget", args.budget, &args.seconds))
        return WFI_EXIT_USAGE;
    if (args.patience && !wfi_parse_seconds("--patience", args.patience, &args.patience_seconds))
        return WFI_EXIT_USAGE;
    if ((args.shape != NULL) + (args.size != NULL) + (args.matrix != NULL) > 1 ||
        args.show + args.export + args.forget > 1)
        return wfi_usage_error("tune: --shape, --size and --matrix exclude each other, as do "
                               "--show, --export and --forget");
    return args.show || args.export || args.forget ? with_device(&args, &common)
                                                   : search(&args, &common);
}
