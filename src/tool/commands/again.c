#include "tool/commands/again.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/heap.h"
#include "core/platform_file.h"
#include "core/text.h"
#include "io/unfinished.h"
#include "tool/cli/session.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define MOST_ARGUMENTS (WFI_AGAIN_MOST_ARGUMENTS + 2 * WF_MAX_PARAMETERS + 16)

static const wfi_again_file *again; /* that is run */
static bool keeps_nothing;

bool wfi_again_keeps_nothing(void)
{
    return keeps_nothing;
}

bool wfi_again_point(const wfi_case_problem *problem, wf_tuning *tuning,
                     wf_constant constants[WF_MAX_PARAMETERS])
{
    for (uint32_t i = 0; again && i < again->count; i++) {
        const wfi_again_case *c = &again->cases[i];
        if (strcmp(c->family, wf_family_name(problem->family)) != 0 ||
            strcmp(c->name, problem->name) != 0 || !*c->variant ||
            strcmp(c->type, wf_type_name(problem->type)) != 0)
            continue;
        for (uint32_t k = 0; k < c->constant_count; k++)
            constants[k] = (wf_constant){c->names[k], c->values[k]};
        tuning->variant = c->variant;
        tuning->constants = constants;
        tuning->constant_count = c->constant_count;
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------- the command line */

typedef struct command_line {
    int argc;
    char *argv[MOST_ARGUMENTS];
    char sets[WF_MAX_PARAMETERS][64]; /* "name=value" */
} command_line;

static void add(command_line *line, const char *text)
{
    char *copy = NULL;
    /* argv is not const, and no command writes to it. */
    memcpy(&copy, &text, sizeof copy);
    if (line->argc < MOST_ARGUMENTS - 1)
        line->argv[line->argc++] = copy;
}

static bool has(const wfi_again_file *file, const char *option)
{
    for (int i = 2; i < file->argc; i++)
        if (strcmp(file->argv[i], option) == 0)
            return true;
    return false;
}

/* Of a command of one case: the point that it had. Solvers and studies choose theirs by what the
 * command line says. */
static void add_point(const wfi_again_file *file, command_line *line)
{
    static const char *const commands[] = {"himeno", "matmul", "spmv", "stencil"};
    const wfi_again_case *c = file->cases;
    bool takes = false;
    for (size_t i = 0; i < WFI_COUNT(commands); i++)
        takes = takes || strcmp(file->argv[1], commands[i]) == 0;
    if (!takes || file->count != 1 || !*c->variant || has(file, "--variant") || has(file, "--set"))
        return;
    add(line, "--variant");
    add(line, c->variant);
    for (uint32_t i = 0; i < c->constant_count; i++) {
        snprintf(line->sets[i], sizeof line->sets[i], "%s=%u", c->names[i], c->values[i]);
        add(line, "--set");
        add(line, line->sets[i]);
    }
}

static void make_line(const wfi_common *common, const wfi_again_file *file, char *program,
                      const char *json, command_line *line)
{
    add(line, program);
    for (int i = 1; i < file->argc; i++) {
        const char *text = file->argv[i];
        const bool drops_two = strcmp(text, "--json") == 0 || strcmp(text, "-o") == 0 ||
                               (common->device && strcmp(text, "--device") == 0);
        if (drops_two)
            i++;
        else if (strcmp(text, "--quiet") != 0)
            add(line, text);
    }
    /* With -o nothing is timed unless that is asked for. */
    if (has(file, "-o") && !has(file, "--time") && !has(file, "--repeat"))
        add(line, "--time");
    add_point(file, line);
    if (common->device) {
        add(line, "--device");
        add(line, common->device);
    }
    if (common->quiet)
        add(line, "--quiet");
    add(line, "--json");
    add(line, json);
    line->argv[line->argc] = NULL;
}

/* ----------------------------------------------------------------------------------- comparing */

typedef struct tally {
    uint32_t compared, same, missing;
} tally;

static const wfi_again_case *find(const wfi_again_file *file, const wfi_again_case *c,
                                  uint32_t index)
{
    const wfi_again_case *by_place = index < file->count ? &file->cases[index] : NULL;
    const bool fits = by_place && strcmp(by_place->family, c->family) == 0 &&
                      strcmp(by_place->name, c->name) == 0 && strcmp(by_place->type, c->type) == 0;
    return fits ? by_place : NULL;
}

static void say_difference(const char *what, const char *then, const char *now)
{
    if (strcmp(then, now) == 0)
        wfi_line(WFI_LABEL_COLUMNS, "%-9s the same: %s", what, now);
    else
        wfi_line(WFI_LABEL_COLUMNS, "%-9s another: %s; it was %s", what, now, then);
}

static void add_row(wfi_table *table, const wfi_again_case *then, const wfi_again_case *now,
                    const char *verdict)
{
    char text[WFI_CELL_BYTES];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%s", then->family);
    wfi_table_set(table, row, 1, "%.60s", then->name);
    wfi_table_set(table, row, 2, "%s", then->type);
    wfi_format_time(then->time.median, text, sizeof text);
    wfi_table_set(table, row, 3, "%s", text);
    wfi_table_set(table, row, 4, "%.1f %%", then->time.spread * 100);
    if (now && now->time.median > 0) {
        wfi_format_time(now->time.median, text, sizeof text);
        wfi_table_set(table, row, 5, "%s", text);
        wfi_table_set(table, row, 6, "%.1f %%", now->time.spread * 100);
        wfi_table_set(table, row, 7, "%.3f", now->time.median / then->time.median);
    }
    wfi_table_set(table, row, 8, "%s", verdict);
}

/* The same kernel, or one that is not the one of the file. */
static bool same_point(const wfi_again_case *then, const wfi_again_case *now)
{
    bool same =
        strcmp(then->variant, now->variant) == 0 && then->constant_count == now->constant_count;
    for (uint32_t i = 0; same && i < then->constant_count; i++)
        same = strcmp(then->names[i], now->names[i]) == 0 && then->values[i] == now->values[i];
    return same;
}

static tally compare(const wfi_again_file *base, const wfi_again_file *file)
{
    static const char *const heading[] = {"family", "case",   "type",  "then",   "spread",
                                          "now",    "spread", "ratio", "verdict"};
    static wfi_table table = {.columns = 9,
                              .right = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7};
    tally t = {0, 0, 0};
    putchar('\n');
    say_difference("device", base->device, file->device);
    say_difference("driver", base->driver, file->driver);
    say_difference("wavefit", base->wavefit, file->wavefit);
    if (strcmp(base->limits, file->limits) != 0)
        say_difference("limits", base->limits, file->limits);
    putchar('\n');
    wfi_table_headings(&table, heading, 9);
    for (uint32_t i = 0; i < base->count; i++) {
        const wfi_again_case *then = &base->cases[i], *now = find(file, then, i);
        double noise = (double)NAN;
        if (!then->time.ok || !(then->time.median > 0))
            continue;
        const char *verdict =
            now ? wfi_compare_times(&then->time, &now->time, &noise) : "not there";
        verdict = verdict ? verdict : "not timed";
        if (now && strcmp(verdict, "broken") != 0 && !same_point(then, now))
            verdict = "another kernel";
        t.compared++;
        t.same += strcmp(verdict, "same") == 0;
        add_row(&table, then, now, verdict);
    }
    wfi_table_print(&table);
    putchar('\n');
    return t;
}

/* --------------------------------------------------------------------------------- the command */

static int refuse(const wfi_again_file *file, const char *path)
{
    uint32_t timed = 0;
    size_t ranks = 0;
    for (uint32_t i = 0; i < file->count; i++) {
        timed += file->cases[i].time.ok && file->cases[i].time.median > 0;
        ranks = file->cases[i].ranks > ranks ? file->cases[i].ranks : ranks;
    }
    if (ranks > 0)
        return wfi_run_error("%s: of %zu rank%s of MPI, which mpirun starts: run its command line "
                             "so, and then wavefit report NEW.json --compare %s",
                             path, ranks, ranks > 1 ? "s" : "", path);
    if (strcmp(file->argv[1], "tune") == 0)
        return wfi_run_error("%s: of a search, which goes by time and comes out otherwise each "
                             "time; wavefit tune --compare tells its noise",
                             path);
    if (timed == 0)
        return wfi_run_error("%s: no case of it was timed", path);
    return WFI_EXIT_DONE;
}

static int run_and_compare(const wfi_common *common, const wfi_again_file *base, char *program,
                           wfi_again_fn run, const char *json)
{
    static command_line line;
    wfi_again_file file;
    wfi_io_error error;
    make_line(common, base, program, json, &line);
    again = base;
    const int code = run(line.argc, line.argv);
    again = NULL;
    /* Of a run that had no input, say, no results were written: what --json names is of another. */
    if ((code != WFI_EXIT_DONE && code != WFI_EXIT_FAILED) || !wfi_session_has_written())
        return code;
    if (!wfi_again_read(json, &file, &error))
        return code == WFI_EXIT_DONE ? wfi_run_error("%s", error.text) : code;
    const tally t = compare(base, &file);
    wfi_again_free(&file);
    if (code != WFI_EXIT_DONE)
        return code;
    if (t.same < t.compared)
        return wfi_run_error("bench: %u of %u cases did not come out the same within the noise",
                             t.compared - t.same, t.compared);
    printf("%u of %u cases came out the same within the noise of both\n", t.same, t.compared);
    return WFI_EXIT_DONE;
}

/* A new file in the folder for such; NULL: it cannot be made. */
static char *make_temporary(void)
{
    const char *asked = getenv("TMPDIR"), *folder = asked && *asked ? asked : getenv("TEMP");
    char *path = wfi_path_join(folder && *folder ? folder : "/tmp", "wavefit-again-XXXXXX");
    const int fd = path ? wfi_unfinished_make(path) : -1;
    if (fd >= 0) {
        wfi_file_close(fd);
        return path;
    }
    wfi_free(path);
    return NULL;
}

int wfi_again(const wfi_common *common, const char *path, char *program,
              wfi_again_fn (*command_of)(const char *name))
{
    wfi_again_file base;
    wfi_io_error error;
    if (!wfi_again_read(path, &base, &error))
        return wfi_run_error("%s", error.text);
    const wfi_again_fn run = command_of(base.argv[1]);
    int code = run ? refuse(&base, path)
                   : wfi_run_error("%s: '%s' is no command of this wavefit", path, base.argv[1]);
    char *temporary = code == WFI_EXIT_DONE && !common->json ? make_temporary() : NULL;
    if (!temporary && code == WFI_EXIT_DONE && !common->json)
        code = wfi_run_error("no temporary file can be made (TMPDIR names the folder)");
    keeps_nothing = temporary != NULL;
    if (run && code == WFI_EXIT_DONE)
        code = run_and_compare(common, &base, program, run, temporary ? temporary : common->json);
    if (temporary)
        wfi_unfinished_remove(temporary);
    wfi_free(temporary);
    wfi_again_free(&base);
    return code;
}
