#include "tool/commands/explain_solver.h"

#include <math.h>
#include <stdio.h>

#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define WAITING                                                                                    \
    0.3 /* fraction of an iteration in waits between dispatches, above which it is reported */
#define LARGEST 0.5 /* of an iteration */

static void print_parts(const wfi_solver_explain *e, double copy)
{
    static const char *const heading[] = {"part", "time", "share", "bytes", "rate", "of copy", ""};
    static wfi_table table = {.columns = 7, .right = 0x3e};
    char text[WFI_CELL_BYTES];
    putchar('\n');
    wfi_table_headings(&table, heading, 7);
    for (uint32_t i = 0; i < e->count; i++) {
        const wfi_solver_part *p = &e->parts[i];
        const int row = wfi_table_row(&table);
        const double rate = p->bytes / (p->us * 1e-6);
        wfi_table_set(&table, row, 0, "%s", p->name);
        wfi_format_bytes(p->bytes, text, sizeof text);
        wfi_table_set(&table, row, 3, "%s", text);
        wfi_table_set(&table, row, 6, "%s", p->what);
        if (!(p->us > 0))
            continue;
        wfi_format_time(p->us, text, sizeof text);
        wfi_table_set(&table, row, 1, "%s", text);
        wfi_format_percent(p->us / e->iteration_us * 100, text, sizeof text);
        wfi_table_set(&table, row, 2, "%s", text);
        wfi_format_rate(rate * 1e-9, "GB/s", text, sizeof text);
        wfi_table_set(&table, row, 4, "%s", text);
        wfi_format_percent(rate / copy * 100, text, sizeof text);
        wfi_table_set(&table, row, 5, "%s", text);
    }
    wfi_table_print(&table);
}

static wfi_result_advice *add_advice(wfi_solver_explain *e, wfi_result_case *c, const char *rule,
                                     double gain)
{
    wfi_result_advice *advice = &e->advice[c->advice_count++];
    *advice = (wfi_result_advice){.rule = rule, .gain = gain};
    c->advice = e->advice;
    return advice;
}

/* The part that takes the most, with its own floor, and waits between dispatches. */
static void advise(wfi_session *session, wfi_solver_explain *e, double copy, wfi_result_case *c)
{
    const double barrier = wfi_session_ceiling(session, "barrier", 0);
    const double waits = e->dispatches * barrier;
    const wfi_solver_part *most = &e->parts[0];
    for (uint32_t i = 1; i < e->count; i++)
        if (e->parts[i].us > most->us)
            most = &e->parts[i];
    if (most->us > LARGEST * e->iteration_us && most == &e->parts[0]) {
        const double floor_us = most->bytes / copy * 1e6;
        const double rest = e->iteration_us - most->us;
        wfi_result_advice *a =
            add_advice(e, c, "largest-part", e->iteration_us / (rest + fmin(floor_us, most->us)));
        snprintf(a->text, sizeof a->text, "%.0f %% of an iteration is %s, %s.",
                 most->us / e->iteration_us * 100, most->name, e->largest_text);
        snprintf(a->command, sizeof a->command, "%s", e->largest_command);
    }
    if (waits > WAITING * e->iteration_us) {
        wfi_result_advice *a =
            add_advice(e, c, "dispatches", 1 / fmax(1 - fmin(waits / e->iteration_us, 0.9), 0.1));
        snprintf(
            a->text, sizeof a->text,
            "The %u dispatches of an iteration wait for one another, which alone takes %.0f %% "
            "of it: the problem is small for this device.",
            e->dispatches, fmin(waits / e->iteration_us, 1) * 100);
        snprintf(a->command, sizeof a->command, "wavefit peaks --only dispatch,barrier");
    }
}

void wfi_explain_solver(wfi_session *session, wfi_solver_explain *e, wfi_result_case *c)
{
    const double copy = wfi_session_copy_bandwidth(session);
    double bytes = 0;
    char time[32];
    for (uint32_t i = 0; i < e->count; i++)
        bytes += e->parts[i].bytes;
    c->floor_us = bytes / copy * 1e6;
    c->floor_by = "memory";
    advise(session, e, copy, c);
    for (uint32_t i = 0; i < c->advice_count; i++)
        wfi_common_repeat(session->common, e->advice[i].command, sizeof e->advice[i].command);
    if (wfi_json_on_stdout(session->common))
        return;
    print_parts(e, copy);
    wfi_format_time(c->floor_us, time, sizeof time);
    wfi_line(WFI_LABEL_COLUMNS, "floor     %s an iteration, set by memory: %.1f %% of it reached%s",
             time, c->floor_us / e->iteration_us * 100,
             c->floor_us > e->iteration_us ? " (caches hold the problem)" : "");
    puts("\nadvice");
    if (c->advice_count == 0)
        puts("  nothing: no rule found anything to gain");
    for (uint32_t i = 0; i < c->advice_count; i++) {
        wfi_line(5, "  %u. %s At most x%.2f.", i + 1, c->advice[i].text, c->advice[i].gain);
        wfi_line(11, "       %s", c->advice[i].command);
    }
}
