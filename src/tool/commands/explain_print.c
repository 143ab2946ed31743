#include "tool/commands/explain_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define BAR 28

static void print_fraction(const char *name, double us, double all, const char *what)
{
    char time[32], bar[BAR + 1];
    const int length = (int)(us / all * BAR + 0.5);
    memset(bar, '#', sizeof bar);
    bar[length < BAR ? length : BAR] = '\0';
    wfi_format_time(us, time, sizeof time);
    printf("  %-9s %10s %5.1f %%  %-*s %s\n", name, time, us / all * 100, BAR, bar, what);
}

static void print_timeline(const wfi_result_timeline *t)
{
    const double all = t->upload_us + t->submit_us + t->execute_us + t->download_us;
    puts("\none call that brings its data and fetches the result");
    print_fraction("upload", t->upload_us, all, "to the device, host clock");
    print_fraction("submit", t->submit_us, all, "recording, submitting, awaiting");
    print_fraction("execute", t->execute_us, all, "the kernels");
    print_fraction("download", t->download_us, all, "back to the host, host clock");
}

static void print_level(const char *name, double bytes, double least, const char *what)
{
    char text[32];
    if (!isfinite(bytes) || !(bytes > 0))
        return;
    wfi_format_bytes(bytes, text, sizeof text);
    wfi_line(47, "  %-22s %11s  %7.4gx  %s", name, text, bytes / least, what);
}

/* Vulkan has no counters of bytes: what is asked for is counted from the algorithm, and what a
 * level can have moved is its ceiling times the time. */
void wfi_explain_print_bytes(const wfi_result_case *c)
{
    const wfi_result_bytes *b = &c->bytes;
    puts("\nbytes, and how many times the least");
    print_level("least of memory", b->least, b->least, "each input and output once");
    if (b->requested > 0) {
        char loaded[32], stored[32], what[96];
        wfi_format_bytes(b->requested - b->stored, loaded, sizeof loaded);
        wfi_format_bytes(b->stored, stored, sizeof stored);
        snprintf(what, sizeof what, "counted: %s loaded, %s stored", loaded, stored);
        print_level("requested by items", b->requested, b->least, what);
    } else
        puts("  requested by items     not counted for this variant");
    print_level("passed to work-groups", b->groups, b->least,
                "each byte once a group; less where groups share a cache");
    if (b->waves > 0) {
        char what[96];
        snprintf(what, sizeof what, "each byte once a wave of %.0f work-groups", b->wave_groups);
        print_level("passed to waves", b->waves, b->least, what);
    }
    print_level("requested in shared", b->shared_requested, b->least,
                "counted: loads and stores of shared memory");
    print_level("most of memory", b->memory_most, b->least,
                b->memory_most < b->least ? "in this time by the ceiling: caches kept the problem"
                                          : "in this time by the measured copy");
    print_level("most of caches", b->cache_most, b->least, "in this time by the measured reads");
    print_level("most of shared", b->shared_most, b->least, "in this time by the ceiling");
}

void wfi_explain_print_kernel(const wf_caps *caps, const wf_kernel_info *kernel)
{
    wf_occupancy occupancy;
    char groups[48] = "";
    if (kernel->groups)
        snprintf(groups, sizeof groups, ", %llu of them", (unsigned long long)kernel->groups);
    putchar('\n');
    wfi_line(2,
             "kernel: work-groups of %u x %u x %u%s; %llu bytes of shared memory each; subgroups "
             "of %u",
             kernel->group_size[0], kernel->group_size[1], kernel->group_size[2], groups,
             (unsigned long long)kernel->shared_bytes, kernel->subgroup_size);
    if (wf_kernel_occupancy(caps, kernel, &occupancy) == WF_SUCCESS) {
        wfi_line(4, "  occupancy %.0f %%: %u of %u subgroups a %s (%u work-groups), limited by %s",
                 occupancy.fraction * 100, occupancy.subgroups, occupancy.most_subgroups,
                 occupancy.unit, occupancy.groups, occupancy.limited_by);
        wfi_line(4, "  an estimate for %s%s: %s", occupancy.architecture,
                 kernel->registers ? ""
                                   : " that leaves out registers, which the driver does not tell",
                 occupancy.source);
    } else
        puts("  occupancy unknown: too little is published about this device");
    uint32_t told = 0;
    for (uint32_t i = 0; i < kernel->statistic_count; i++) {
        if (!wfi_statistic_means(&kernel->statistics[i]))
            continue;
        printf("  %-28s %.10g\n", kernel->statistics[i].name, kernel->statistics[i].value);
        told++;
    }
    if (told == 0)
        puts("  the driver tells no statistics");
}

/* The share of each kernel of a plan that has several, and what it takes of a unit. */
static void print_kernels(const wfi_result_case *c)
{
    static const char *const heading[] = {"kernel",    "dispatches", "time",      "share",
                                          "registers", "occupancy",  "limited by"};
    static wfi_table table = {.columns = 7,
                              .right = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5};
    double all = 0;
    if (c->kernel_count < 2)
        return;
    for (uint32_t i = 0; i < c->kernel_count; i++)
        all += c->kernels[i].us;
    putchar('\n');
    wfi_line(2,
             "kernels of the plan, each timed by itself (%s clock); what follows is of the one "
             "that takes the most",
             c->kernels_gpu_clock ? "device" : "host");
    wfi_table_headings(&table, heading, 7);
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const wfi_result_kernel *k = &c->kernels[i];
        const int row = wfi_table_row(&table);
        char text[WFI_CELL_BYTES];
        wfi_table_set(&table, row, 0, "%s", k->kernel.name);
        wfi_table_set(&table, row, 1, "%u", k->kernel.dispatches);
        wfi_format_time(k->us, text, sizeof text);
        wfi_table_set(&table, row, 2, "%s", text);
        wfi_format_percent(k->us / all * 100, text, sizeof text);
        wfi_table_set(&table, row, 3, "%s", text);
        if (k->kernel.info.registers)
            wfi_table_set(&table, row, 4, "%u", k->kernel.info.registers);
        if (isfinite(k->occupancy))
            wfi_table_set(&table, row, 5, "%.0f %%", k->occupancy * 100);
        if (k->occupancy_limit)
            wfi_table_set(&table, row, 6, "%s", k->occupancy_limit);
    }
    wfi_table_print(&table);
}

static void print_waves(const wfi_observation *o)
{
    double waves, efficiency;
    if (wfi_waves(o, &waves, &efficiency))
        wfi_line(12,
                 "  tail      %.2f waves of work-groups over %u compute units: %.0f %% of their "
                 "places used",
                 waves, o->compute_units, efficiency * 100);
}

void wfi_explain_print_advice(const wfi_result_case *c)
{
    puts("\nadvice");
    if (c->advice_count == 0)
        puts("  nothing: no rule found anything to gain");
    for (uint32_t i = 0; i < c->advice_count; i++) {
        wfi_line(5, "  %u. %s At most x%.2f.", i + 1, c->advice[i].text, c->advice[i].gain);
        wfi_line(11, "       %s", c->advice[i].command);
    }
}

void wfi_explain_print(wfi_session *session, const wfi_study *study, const wfi_result_case *c,
                       const wfi_observation *o)
{
    char floor_text[32];
    const double flops = c->plan.flops, bytes = c->plan.least_bytes;
    wfi_case_print(session, c);
    wfi_format_time(c->floor_us, floor_text, sizeof floor_text);
    wfi_line(WFI_LABEL_COLUMNS, "floor     %s, set by %s: %.1f %% of it reached", floor_text,
             c->floor_by, c->floor_us / c->timing.median_us * 100);
    wfi_line(WFI_LABEL_COLUMNS,
             "intensity %.4g operations a byte; this device turns from memory to arithmetic at "
             "%.4g",
             flops / bytes, wfi_study_rate(session, study) / wfi_session_copy_bandwidth(session));
    print_timeline(&c->timeline);
    wfi_explain_print_bytes(c);
    print_kernels(c);
    wfi_explain_print_kernel(session->caps, &c->plan.kernel);
    print_waves(o);
    wfi_explain_print_advice(c);
}
