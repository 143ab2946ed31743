#include "tool/commands/ladder_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define INDENT 10

/* "x1.23 (1.2-1.26)" over "naive", and what is to be known of it. */
static void add_gain(wfi_table *table, int row, const wfi_result_study *s)
{
    char spread[48] = "";
    if (!isfinite(s->gain))
        return;
    if (isfinite(s->gain_high) && s->gain_high > s->gain_low)
        snprintf(spread, sizeof spread, s->gain < 100 ? " (%.3g-%.3g)" : " (%.0f-%.0f)",
                 s->gain_low, s->gain_high);
    wfi_table_set(table, row, 5, s->gain < 100 ? "x%.3g%s%s%s" : "x%.0f%s%s%s", s->gain, spread,
                  s->unsure ? " ?" : "", s->other_clock ? " *" : "");
    wfi_table_set(table, row, 6, "%s", s->compared_with);
}

static void add_row(wfi_table *table, const wfi_result_case *c)
{
    char text[WFI_CELL_BYTES];
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%u", c->study.step);
    wfi_table_set(table, row, 1, "%s", c->study.rung);
    if (c->status != WFI_STATUS_OK) {
        wfi_table_note(table, row, 2, "%s: %s", wfi_status_name(c->status), c->reason);
        return;
    }
    wfi_format_time(c->timing.median_us, text, sizeof text);
    wfi_table_set(table, row, 2, "%s", text);
    wfi_table_set(table, row, 3, "%s", c->timing.gpu_clock ? "device" : "host");
    wfi_format_rate(c->rate, c->rate_unit, text, sizeof text);
    wfi_table_set(table, row, 4, "%s", text);
    add_gain(table, row, &c->study);
    if (isfinite(c->floor_us)) {
        wfi_format_percent(c->floor_us / c->timing.median_us * 100, text, sizeof text);
        wfi_table_set(table, row, 7, "%s", text);
    }
}

/* Bytes by level, where they are counted; each part of the sentence where there is one. */
static void print_bytes(const char *before, const wfi_result_case *c)
{
    const wfi_result_bytes *b = &c->bytes;
    char items[32], groups[32], least[32], waves[32], group_part[64] = "", wave_part[80] = "";
    if (!(b->requested > 0))
        return;
    wfi_format_bytes(b->requested, items, sizeof items);
    wfi_format_bytes(b->groups, groups, sizeof groups);
    wfi_format_bytes(b->waves, waves, sizeof waves);
    wfi_format_bytes(b->least, least, sizeof least);
    if (b->groups > 0)
        snprintf(group_part, sizeof group_part, "%s by work-groups, ", groups);
    if (b->waves > 0)
        snprintf(wave_part, sizeof wave_part, "%s by waves of %.0f groups, ", waves,
                 b->wave_groups);
    wfi_line(INDENT, "%s: %s asked for by work-items, %s%s%s the least", before, items, group_part,
             wave_part, least);
}

static void print_kernel(const wfi_result_case *c)
{
    const wf_kernel_info *k = &c->plan.kernel;
    char plan[256], registers[40] = "", occupancy[80] = "";
    if (!c->has_plan)
        return;
    wfi_format_constants(&c->plan, plan, sizeof plan);
    if (k->registers)
        snprintf(registers, sizeof registers, "; %u registers", k->registers);
    if (isfinite(c->occupancy))
        snprintf(occupancy, sizeof occupancy, "; occupancy %.0f %% by %s", c->occupancy * 100,
                 c->occupancy_limit ? c->occupancy_limit : "?");
    wfi_line(INDENT, "%8s%s %s; work-groups of %ux%ux%u%s%s", "", c->plan.variant, plan,
             k->group_size[0], k->group_size[1], k->group_size[2], registers, occupancy);
}

/* How much of the device one dispatch gives work to, where that is not all of it. */
static void print_units(const wfi_session *session, const wfi_result_case *c)
{
    const uint32_t units = session->caps->compute_units;
    const double groups = (double)c->plan.kernel.groups;
    if (!c->has_plan || !units || !(groups > 0) || groups >= units)
        return;
    wfi_line(INDENT, "%8sutilisation: a dispatch has work for %.0f of %u compute units (%.2g %%)",
             "", groups, units, groups / units * 100);
}

/* What each rung changes, the text that it comes from, its constants and the text's figure. */
static void print_rung(const wfi_session *session, const wfi_study *study, const wfi_result_case *c)
{
    const wfi_result_study *s = &c->study;
    char floor[32];
    if (strcmp(c->name, study->name) != 0 && c->status == WFI_STATUS_OK)
        wfi_line(6, "%4u  %s: %s, on %s", s->step, s->rung, s->summary ? s->summary : "", c->name);
    else
        wfi_line(6, "%4u  %s: %s", s->step, s->rung, s->summary ? s->summary : "");
    if (s->source && *s->source)
        wfi_line(INDENT, "%8s%s", "", s->source);
    if (s->figure)
        wfi_line(INDENT, "%8sin the text: %s", "", s->figure);
    if (c->status != WFI_STATUS_OK)
        return;
    print_kernel(c);
    if (s->smaller)
        wfi_line(INDENT, "%8ssmaller than in the text, whose constants do not fit this device", "");
    if (*s->lanes)
        wfi_line(INDENT, "%8s%s", "", s->lanes);
    if (*s->parts)
        wfi_line(INDENT, "%8s%s", "", s->parts);
    print_bytes("        bytes", c);
    print_units(session, c);
    if (isfinite(c->floor_us)) {
        wfi_format_time(c->floor_us, floor, sizeof floor);
        wfi_line(INDENT, "%8sfloor: %s by the measured %s", "", floor, c->floor_by);
    }
}

static void print_notes(const wfi_result_case *cases, uint32_t count)
{
    bool unsure = false, clocks = false;
    for (uint32_t i = 0; i < count; i++) {
        unsure |= cases[i].study.unsure;
        clocks |= cases[i].study.other_clock;
    }
    if (unsure || clocks)
        putchar('\n');
    if (unsure)
        wfi_line(0, "A gain with ? may be noise: the quartiles of the two times overlap.");
    if (clocks)
        wfi_line(0, "A gain with * is between two clocks: a time of the host's includes submitting "
                    "and waiting.");
}

void wfi_ladder_print(const wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                      const wfi_result_case *cases, uint32_t count)
{
    static const char *const heading[] = {"step", "name", "time", "clock",
                                          "rate", "gain", "over", "roofline"};
    static wfi_table table = {.columns = 8, .right = 1u << 0 | 1u << 2 | 1u << 4 | 1u << 7};
    wfi_line(4, "%s: %s %s on %s", ladder->subject, study->name, wf_type_name(study->type),
             session->caps->name);
    putchar('\n');
    wfi_table_headings(&table, heading, 8);
    for (uint32_t i = 0; i < count; i++)
        add_row(&table, &cases[i]);
    wfi_table_print(&table);
    print_notes(cases, count);
    putchar('\n');
    for (uint32_t i = 0; i < count; i++)
        print_rung(session, study, &cases[i]);
}

void wfi_ladder_print_compiled(const wfi_session *session, const wfi_ladder *ladder,
                               const wfi_study *study, const wfi_result_case *cases, uint32_t count)
{
    static const char *const heading[] = {"step",   "name",      "registers",  "spilled",
                                          "shared", "occupancy", "limited by", "constants"};
    static wfi_table table = {.columns = 8,
                              .right = 1u << 0 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5};
    wfi_line(4, "%s: %s %s on %s: compiled only, nothing ran", ladder->subject, study->name,
             wf_type_name(study->type), session->caps->name);
    putchar('\n');
    wfi_table_headings(&table, heading, 8);
    for (uint32_t i = 0; i < count; i++) {
        const wfi_result_case *c = &cases[i];
        const wf_kernel_info *k = &c->plan.kernel;
        char text[WFI_CELL_BYTES];
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%u", c->study.step);
        wfi_table_set(&table, row, 1, "%s", c->study.rung);
        if (!c->has_plan) {
            wfi_table_note(&table, row, 2, "%s: %s", wfi_status_name(c->status), c->reason);
            continue;
        }
        wfi_study_registers(k, text, sizeof text);
        wfi_table_set(&table, row, 2, "%s", text);
        if (wfi_study_tells_spills(k))
            wfi_table_set(&table, row, 3, "%u", k->spilled);
        else
            wfi_table_set(&table, row, 3, "-");
        wfi_table_set(&table, row, 4, "%llu", (unsigned long long)k->shared_bytes);
        if (isfinite(c->occupancy)) {
            wfi_table_set(&table, row, 5, "%.0f %%", c->occupancy * 100);
            wfi_table_set(&table, row, 6, "%s", c->occupancy_limit ? c->occupancy_limit : "");
        }
        wfi_format_constants(&c->plan, text, sizeof text);
        wfi_table_set(&table, row, 7, "%s", text);
    }
    wfi_table_print(&table);
    putchar('\n');
    for (uint32_t i = 0; i < count; i++) {
        char before[80];
        snprintf(before, sizeof before, "bytes of %.60s", cases[i].study.rung);
        print_bytes(before, &cases[i]);
    }
}
