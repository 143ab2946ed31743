/* wavefit tune: searches for the best variants and constants on this device, and what it keeps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/himeno_size.h"
#include "tool/table.h"
#include "tool/tune_compare.h"
#include "tool/tune_results.h"

#define MOST_EXTENT 2147483648u
#define MOST_CELLS (1u << 30) /* along an axis of a grid */

typedef struct arguments {
    const char *budget, *patience, *suite, *only, *shape, *size, *grid, *steps, *radius, *matrix,
        *type, *slice, *reprint;
    bool box, compare, exhaustive, again, discard, export, show, forget;
    wf_family family; /* COUNT: all */
    double seconds, patience_seconds, slice_seconds;
    int argc;
    char **argv;
} arguments;

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
    wfi_table_set(table, at, 7, "%.95s", text);
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
                                          "tried",  "bad",  "is",      "best"};
    static wfi_table table = {.columns = 8, .right = 1u << 3 | 1u << 5};
    const char *path = wf_tuning_path(session->device);
    printf("%s: %s\n", session->caps->name, path ? path : "no folder to keep tuning data in");
    wfi_table_row(&table);
    for (int i = 0; i < 8; i++)
        wfi_table_set(&table, 0, i, "%s", heading[i]);
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
    char before[48], best[48], before_point[224], point[224];
    printf("%-8s %-4s %-18s ", wf_family_name(problem->family), wf_type_name(problem->type),
           problem->name);
    if (!o->done) {
        printf("%s\n", o->error);
        if (o->best.us > 0) {
            wfi_format_time(o->best.us, best, sizeof best);
            wfi_tuned_point_text(&o->best, point, sizeof point);
            printf("%33s%s, %s (best of %u points so far%s)\n", "", best, point, o->measured,
                   o->kept ? "" : ", not kept");
        }
        return;
    }
    wfi_format_time(o->before.us, before, sizeof before);
    wfi_format_time(o->best.us, best, sizeof best);
    printf("%10s %10s %6.2fx %5.1f %%  %u points%s%s\n", before, best,
           o->before.us > 0 ? o->before.us / o->best.us : (double)NAN, o->spread * 100, o->measured,
           o->finished ? ", all in reach" : "", o->kept ? "" : ", not kept");
    wfi_tuned_point_text(&o->before, before_point, sizeof before_point);
    wfi_tuned_point_text(&o->best, point, sizeof point);
    printf("%33s%s (%s)\n", "", before_point, o->before.by);
    if (strcmp(before_point, point) != 0)
        printf("%33s%s (tuned)\n", "", point);
    if (o->wrong)
        printf("%33s%u points failed or were wrong\n", "", o->wrong);
    if (o->spilling)
        printf("%33s%u points spill registers and were not timed\n", "", o->spilling);
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

/* "NXxNY" or "NXxNYxNZ". */
static bool parse_grid(const arguments *args, wfi_tune_problem *problem)
{
    uint64_t extent[3] = {0}, radius = 1, steps = 1;
    const char *first = strchr(args->grid, 'x');
    const bool solid = first && strchr(first + 1, 'x');
    if (!(solid ? wfi_parse_triple("--grid", args->grid, MOST_CELLS, extent)
                : wfi_parse_pair("--grid", args->grid, MOST_CELLS, extent)) ||
        (args->radius && !wfi_parse_u64("--radius", args->radius, 1, 4, &radius)) ||
        (args->steps && !wfi_parse_u64("--steps", args->steps, 1, 4096, &steps)))
        return false;
    problem->family = WF_FAMILY_GRID;
    problem->shape = args->box ? WF_STENCIL_BOX : WF_STENCIL_STAR;
    problem->radius = (uint32_t)radius;
    problem->steps = (uint32_t)steps;
    problem->a = extent[0];
    problem->b = extent[1];
    problem->c = extent[2];
    return true;
}

static bool parse_sizes(const arguments *args, wfi_tune_problem *problem)
{
    uint64_t sizes[3];
    const char *text = args->shape ? args->shape : args->size;
    if (args->shape ? !wfi_parse_triple("--shape", text, MOST_EXTENT, sizes)
                    : !wfi_parse_himeno_size("--size", text, sizes))
        return false;
    problem->family = args->shape ? WF_FAMILY_MATMUL : WF_FAMILY_STENCIL;
    problem->a = sizes[0];
    problem->b = sizes[1];
    problem->c = sizes[2];
    return true;
}

/* The one problem that the options name; false with a line printed, or true with *count 0: none. */
static bool single_problem(const arguments *args, wfi_tune_problem *problem, uint32_t *count)
{
    const char *text = args->shape ? args->shape : args->size ? args->size : args->grid;
    *count = text || args->matrix ? 1 : 0;
    memset(problem, 0, sizeof *problem);
    if (args->type && !wfi_parse_type("--type", args->type, &problem->type))
        return false;
    if (args->matrix) {
        problem->family = WF_FAMILY_SPMV;
        problem->kind = WFI_MATRIX_FILE;
        problem->path = args->matrix;
    } else if (text && !(args->grid ? parse_grid(args, problem) : parse_sizes(args, problem))) {
        return false;
    }
    if (args->size && problem->type != WF_TYPE_F32) {
        wfi_usage_error("tune: --type: the stencil is f32");
        return false;
    }
    snprintf(problem->name, sizeof problem->name, "%s", text ? text : args->matrix);
    if (*count && args->family != WF_FAMILY_COUNT && args->family != problem->family) {
        wfi_usage_error("tune: the problem given is not of family %s",
                        wf_family_name(args->family));
        return false;
    }
    return true;
}

/* The problem that the options name, or those of the suite that have ONLY in their names. */
static int find_problems(const arguments *args, const wfi_tune_device *device,
                         wfi_tune_problem *problems, uint32_t *count)
{
    wfi_tune_problem all[WFI_MAX_TUNE_PROBLEMS];
    const bool quick = !args->suite || strcmp(args->suite, "quick") == 0;
    if (!single_problem(args, &problems[0], count))
        return WFI_EXIT_USAGE;
    if (*count)
        return WFI_EXIT_DONE;
    const uint32_t there = wfi_tune_suite(quick, device->cpu, args->family, all);
    for (uint32_t i = 0; i < there; i++)
        if (!args->only || strstr(all[i].name, args->only))
            problems[(*count)++] = all[i];
    if (*count == 0)
        return wfi_usage_error("tune: the suite has no such problem for this device");
    return WFI_EXIT_DONE;
}

/* One line on standard error when Ctrl-C ended it. */
static int tell_interruption(const wfi_tune_work *work)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < work->count; i++)
        left += work->outcomes[i].result == WF_ERROR_CANCELLED;
    return wfi_counts_exit("tune", "problems", 0, left, work->count);
}

static int search_all(const arguments *args, const wfi_common *common,
                      const wfi_tune_device *device, const wfi_tune_problem *problems,
                      uint32_t count)
{
    static wfi_tune_outcome outcomes[WFI_MAX_TUNE_PROBLEMS];
    const wfi_tune_work work = {.common = common,
                                .device = device,
                                .budget_seconds = args->seconds,
                                .patience_seconds = args->patience_seconds,
                                .exhaustive = args->exhaustive,
                                .again = args->again,
                                .discard = args->discard,
                                .count = count,
                                .problems = problems,
                                .outcomes = outcomes};
    int code = wfi_tune_run(&work), told = WFI_EXIT_DONE;
    if (code == WFI_EXIT_NO_DEVICE || code == WFI_EXIT_USAGE)
        return code;
    if (!wfi_json_on_stdout(common) && (count > 1 || outcomes[0].done || outcomes[0].best.us > 0))
        told = print_outcomes(problems, outcomes, count);
    const int written = wfi_tune_write(&work, args->argc, args->argv);
    if (code == WFI_EXIT_DONE)
        code = tell_interruption(&work);
    if (code == WFI_EXIT_DONE && count == 1 && !outcomes[0].done)
        code = wfi_run_error("%s", outcomes[0].error);
    return code != WFI_EXIT_DONE ? code : told != WFI_EXIT_DONE ? told : written;
}

static int search(const arguments *args, const wfi_common *common)
{
    static wfi_tune_problem problems[WFI_MAX_TUNE_PROBLEMS];
    static wfi_tune_device device;
    uint32_t count = 0;
    /* What is wrong with the options is told before any driver is touched. */
    if (args->suite && strcmp(args->suite, "quick") != 0 && strcmp(args->suite, "full") != 0)
        return wfi_usage_error("--suite: '%s' is not a suite (quick, full)", args->suite);
    if (!single_problem(args, &problems[0], &count))
        return WFI_EXIT_USAGE;
    int code = wfi_tune_probe(common, &device);
    if (code == WFI_EXIT_DONE)
        code = find_problems(args, &device, problems, &count);
    if (code != WFI_EXIT_DONE)
        return code;
    if (!args->compare)
        return search_all(args, common, &device, problems, count);
    const wfi_compare_request request = {.common = common,
                                         .device = &device,
                                         .budget_seconds = args->seconds,
                                         .patience_seconds = args->patience_seconds,
                                         .slice_seconds = args->slice_seconds,
                                         .count = count,
                                         .problems = problems};
    return wfi_tune_compare(&request);
}

static bool parse_family(const wfi_common *common, wf_family *family)
{
    *family = WF_FAMILY_COUNT;
    if (common->positional_count == 0)
        return true;
    static wfi_tune_problem problems[WFI_MAX_TUNE_PROBLEMS];
    for (int i = 0; i < WF_FAMILY_COUNT; i++)
        if (strcmp(common->positional[0], wf_family_name((wf_family)i)) == 0 &&
            wfi_tune_suite(false, false, (wf_family)i, problems) > 0) {
            *family = (wf_family)i;
            return true;
        }
    wfi_usage_error("tune: '%s' is not a family (stencil, spmv, matmul, grid)",
                    common->positional[0]);
    return false;
}

int wfi_tool_tune(int argc, char **argv)
{
    arguments args = {.seconds = 60, .patience_seconds = 60, .argc = argc, .argv = argv};
    const wfi_option options[] = {
        {"--budget", "SECONDS", &args.budget, NULL, "time for all problems together (default 60)"},
        {"--suite", "quick|full", &args.suite, NULL, "which problems (default quick)"},
        {"--only", "TEXT", &args.only, NULL, "problems of it with TEXT in their names"},
        {"--shape", "MxNxK", &args.shape, NULL, "this matrix product alone"},
        {"--size", "XS…XL|IxJxK", &args.size, NULL, "this Himeno grid alone"},
        {"--grid", "NXxNY[xNZ]", &args.grid, NULL, "this grid alone, with a star or box stencil"},
        {"--steps", "N", &args.steps, NULL, "of --grid: applications a run (default 1)"},
        {"--radius", "R", &args.radius, NULL, "of --grid: 1 to 4 (default 1)"},
        {"--box", NULL, NULL, &args.box, "of --grid: a box in place of a star"},
        {"--matrix", "FILE.mtx[.gz]", &args.matrix, NULL, "this sparse matrix alone"},
        {"--type", "f32|f64|…", &args.type, NULL,
         "element type of the problem given (default f32)"},
        {"--patience", "SECONDS", &args.patience, NULL,
         "a driver that is silent for so long hangs (default 60)"},
        {"--again", NULL, NULL, &args.again, "measure what earlier runs have measured"},
        {"--exhaustive", NULL, NULL, &args.exhaustive, "every legal point; the budget is each's"},
        {"--compare", NULL, NULL, &args.compare,
         "model, rows, two searches of the budget and an exhaustive one of thrice that, each "
         "problem; with --json FILE what is in the file is not measured again"},
        {"--slice", "SECONDS", &args.slice, NULL,
         "--compare begins no problem after so long; run again to go on"},
        {"--reprint", "FILE", &args.reprint, NULL,
         "the tables of such a FILE (of FAMILY, --only TEXT), without a device"},
        {"--discard", NULL, NULL, &args.discard, "keep nothing of what is found"},
        {"--show", NULL, NULL, &args.show, "what is kept of this device"},
        {"--export", NULL, NULL, &args.export, "print it as rows to check in"},
        {"--forget", NULL, NULL, &args.forget, "remove what is kept (of FAMILY)"},
    };
    const wfi_command command = {
        "tune",
        "[stencil|spmv|matmul|grid] [OPTIONS]",
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
    if (args.slice && !wfi_parse_seconds("--slice", args.slice, &args.slice_seconds))
        return WFI_EXIT_USAGE;
    if ((args.shape != NULL) + (args.size != NULL) + (args.grid != NULL) + (args.matrix != NULL) >
            1 ||
        args.show + args.export + args.forget > 1)
        return wfi_usage_error("tune: --shape, --size, --grid and --matrix exclude each other, as "
                               "do --show, --export and --forget");
    if (args.type && !args.shape && !args.size && !args.grid && !args.matrix)
        return wfi_usage_error("tune: --type goes with --shape, --grid or --matrix");
    if (!args.grid && (args.steps || args.radius || args.box))
        return wfi_usage_error("tune: --steps, --radius and --box are for --grid");
    if (common.json && (args.show || args.export || args.forget || args.reprint))
        return wfi_usage_error("tune: --json is for searches (--export prints rows)");
    if (args.slice && !args.compare)
        return wfi_usage_error("tune: --slice is for --compare");
    if (args.reprint)
        return wfi_tune_reprint(args.reprint, args.family, args.only);
    return args.show || args.export || args.forget ? with_device(&args, &common)
                                                   : search(&args, &common);
}
