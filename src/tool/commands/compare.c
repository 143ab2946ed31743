/* wavefit compare: a problem's kernel on several GPUs that are not here, side by side. */
#include "tool/commands/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/targets.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/cli/target.h"
#include "tool/cli/wrap.h"
#include "tool/commands/commands.h"

#define MOST_TARGETS 64
#define LOOK_SECONDS 0.1 /* between looks for Ctrl-C */

/* -------------------------------------------------------------------------------------- targets */

/* Fills names with those of the list, or with all; all: only those that are here count. */
static int list_targets(const char *list, char names[MOST_TARGETS][32], uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; !list && i < wfi_target_count() && i < MOST_TARGETS; i++)
        snprintf(names[(*count)++], 32, "%s", wfi_target_name(i));
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        if (*count == MOST_TARGETS)
            return wfi_usage_error("--targets: more than %d", MOST_TARGETS);
        snprintf(names[*count], 32, "%.*s", (int)length, list);
        const char *name = names[*count];
        if (wfi_target_check(&name) != WFI_EXIT_DONE)
            return WFI_EXIT_USAGE;
        snprintf(names[(*count)++], 32, "%s", name);
        list += length + (list[length] == ',');
    }
    return *count ? WFI_EXIT_DONE : wfi_usage_error("--targets: names no target");
}

/* Waits for the row; false: the process ended without it, or Ctrl-C came (*hangs). */
static bool hear_row(wfi_process *child, wfi_target_row *row, bool *hangs)
{
    char *at = (char *)row;
    size_t left = sizeof *row;
    while (left > 0) {
        const int64_t got = wfi_pipe_read(child->from, at, left, LOOK_SECONDS);
        *hangs = wfi_interrupted();
        if (got < 0 || *hangs)
            return false;
        at += got;
        left -= (size_t)got;
    }
    return true;
}

static void compile_for(const char *target, int argc, char **argv, wfi_target_row *row)
{
    wfi_process child;
    wfi_process_end end;
    wfi_target_row heard;
    bool hangs = false;
    char name[sizeof row->target] = "";
    *row = (wfi_target_row){.predicted_us = (double)NAN, .occupancy = (double)NAN};
    snprintf(name, sizeof name, "%.31s", target);
    memcpy(row->target, name, sizeof name);
    if (!wfi_target_prepare(target, row->reason, sizeof row->reason))
        return;
    if (!wfi_process_start(WFI_ROLE_COMPARE, &child)) {
        snprintf(row->reason, sizeof row->reason, "no process starts for it");
        return;
    }
    const bool whole = wfi_pipe_write(child.to, name, sizeof name) &&
                       wfi_compare_tell(&child, argc, argv) && hear_row(&child, &heard, &hangs);
    wfi_process_reap(&child, hangs, &end);
    if (whole)
        *row = heard;
    else if (hangs)
        snprintf(row->reason, sizeof row->reason, "interrupted");
    else
        snprintf(row->reason, sizeof row->reason,
                 "this driver does not know the chip, or failed: %s", end.how);
}

/* --------------------------------------------------------------------------------------- output */

static void add_row(wfi_table *table, const wfi_target_row *r)
{
    char text[32];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%s", r->target);
    if (!r->compiled) {
        wfi_table_note(table, row, 1, "%s", r->reason);
        return;
    }
    if (r->registers)
        wfi_table_set(table, row, 1, "%u", r->registers);
    else if (r->live)
        wfi_table_set(table, row, 1, "%u live", r->live);
    if (r->spills_told)
        wfi_table_set(table, row, 2, "%u", r->spilled);
    if (r->instructions)
        wfi_table_set(table, row, 3, "%u", r->instructions);
    if (isfinite(r->occupancy))
        wfi_table_set(table, row, 4, "%.0f %%", r->occupancy * 100);
    wfi_format_bytes(r->group_bytes > 0 ? r->group_bytes : r->least_bytes, text, sizeof text);
    wfi_table_set(table, row, 5, "%s", text);
    if (isfinite(r->predicted_us)) {
        wfi_format_time(r->predicted_us, text, sizeof text);
        wfi_table_set(table, row, 6, "%s", text);
        wfi_table_set(table, row, 7, "%s", r->set_by);
    }
}

static void print_choice(const wfi_target_row *r)
{
    if (!r->compiled)
        return;
    wfi_line(16, "%-15s %s %s (%s); work-groups of %ux%ux%u, subgroups of %u%s%s%s", r->target,
             r->variant, r->constants, r->chosen_by, r->group_size[0], r->group_size[1],
             r->group_size[2], r->subgroup_size, *r->product ? "; predicted for " : "", r->product,
             *r->product && !isfinite(r->predicted_us) ? ": its sheet does not tell the rate" : "");
}

static void print(const wfi_study *study, const wfi_target_row *rows, uint32_t count)
{
    static const char *const heading[] = {"target",    "registers", "spilled",   "instructions",
                                          "occupancy", "bytes",     "predicted", "set by"};
    static wfi_table table = {.columns = 8, .right = 0x7e};
    uint32_t compiled = 0;
    wfi_line(4, "%s %s %s: compiled only, nothing ran", wf_family_name(study->family), study->name,
             wf_type_name(study->type));
    putchar('\n');
    wfi_table_headings(&table, heading, 8);
    for (uint32_t i = 0; i < count; i++) {
        add_row(&table, &rows[i]);
        compiled += rows[i].compiled;
    }
    wfi_table_print(&table);
    if (compiled == 0)
        return;
    putchar('\n');
    for (uint32_t i = 0; i < count; i++)
        print_choice(&rows[i]);
    putchar('\n');
    wfi_line(0, "Bytes are those that work-groups load and store, each once a group. A predicted "
                "time is the longer of memory's and of the units' multiply-adds and loads, by a "
                "product's data sheet: it orders kernels of one GPU, and is right to a factor of "
                "two and a half where it was checked (docs/devices.md).");
}

static int run(const wfi_common *common, const wfi_study *study, const char *list, int argc,
               char **argv)
{
    static char names[MOST_TARGETS][32];
    uint32_t count = 0, told = 0, compiled = 0;
    wfi_io_error error;
    int code = list_targets(list, names, &count);
    if (code != WFI_EXIT_DONE)
        return code;
    wfi_target_row *rows = calloc(count ? count : 1, sizeof *rows);
    if (!rows)
        return wfi_run_error("compare: out of memory");
    for (uint32_t i = 0; i < count && !wfi_interrupted(); i++) {
        wfi_progress_show(common->quiet, (double)i / count, names[i]);
        compile_for(names[i], argc, argv, &rows[told]);
        compiled += rows[told].compiled;
        told += list || rows[told].compiled;
    }
    wfi_progress_clear(common->quiet);
    const wfi_targets_result result = {.family = wf_family_name(study->family),
                                       .problem = study->name,
                                       .type = wf_type_name(study->type),
                                       .count = told,
                                       .rows = rows};
    if (wfi_interrupted())
        code = wfi_run_error("compare: interrupted");
    else if (told == 0) {
        wfi_run_error("compare: no target's compiler is here: './dev drivers' in wavefit's sources "
                      "lists them");
        code = WFI_EXIT_NO_DEVICE;
    } else if (!wfi_json_on_stdout(common))
        print(study, rows, told);
    if (code == WFI_EXIT_DONE && common->json && !wfi_targets_write(common->json, &result, &error))
        code = wfi_run_error("%s", error.text);
    if (code == WFI_EXIT_DONE && compiled == 0) {
        wfi_run_error("compare: no target asked for could be compiled for ('./dev drivers' in "
                      "wavefit's sources lists what each needs)");
        code = WFI_EXIT_NO_DEVICE;
    }
    free(rows);
    return code;
}

int wfi_tool_compare(int argc, char **argv)
{
    wfi_common common;
    const char *targets = NULL;
    wfi_study study = {0};
    int code = wfi_compare_parse(argc, argv, &common, &study, &targets);
    if (code == WFI_EXIT_DONE && !common.help)
        code = run(&common, &study, targets, argc, argv);
    wfi_study_free(&study);
    return code;
}
