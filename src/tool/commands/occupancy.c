/* wavefit occupancy: how many work-groups a compute unit holds, by what is published of an
 * architecture. No device is needed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/occupancy.h"
#include "tool/cli/options.h"
#include "tool/cli/table.h"
#include "tool/cli/target.h"
#include "tool/cli/wrap.h"
#include "tool/commands/commands.h"

#define MOST_ITEMS 1024u /* of a work-group */
#define MOST_POINTS 32   /* of the curve */
#define BAR 30

typedef struct arguments {
    const char *target, *registers, *shared, *group, *subgroup;
    uint32_t index; /* of the architecture */
    wf_architecture architecture;
    uint64_t register_count, shared_bytes, group_size, subgroup_size;
} arguments;

/* "name, name" of all rows, or of those of one generation but for one. */
static void list_names(char *text, size_t bytes, const char *generation, const char *without)
{
    wf_architecture a = {.size = sizeof a};
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; wf_architecture_describe(i, &a) == WF_SUCCESS; i++) {
        const bool wanted =
            !generation || (strcmp(a.generation, generation) == 0 && strcmp(a.name, without) != 0);
        if (wanted && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "", a.name);
    }
}

/* -------------------------------------------------------------------------------------- options */

static bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most,
                         uint64_t *value)
{
    return !text || wfi_parse_u64(option, text, least, most, value);
}

static int parse(arguments *args)
{
    char names[1024];
    wf_architecture *a = &args->architecture;
    const char *usual = wfi_target_usual(args->target);
    if (wf_architecture_find(usual ? usual : args->target, &args->index) != WF_SUCCESS) {
        list_names(names, sizeof names, NULL, NULL);
        return wfi_usage_error("--target: nothing is published of '%s'; there are %s, and the "
                               "names of their devices",
                               args->target, names);
    }
    a->size = sizeof *a;
    wf_architecture_describe(args->index, a);
    const uint64_t most = a->item_registers ? a->item_registers : 1024;
    args->subgroup_size = a->subgroup_size;
    if (!parse_number("--registers", args->registers, 0, most, &args->register_count) ||
        !parse_number("--shared", args->shared, 0, UINT32_MAX / 2, &args->shared_bytes) ||
        !parse_number("--group", args->group, 1, MOST_ITEMS, &args->group_size) ||
        !parse_number("--subgroup", args->subgroup, 1, 128, &args->subgroup_size))
        return WFI_EXIT_USAGE;
    if (args->subgroup_size & (args->subgroup_size - 1))
        return wfi_usage_error("--subgroup: '%s' is no power of two", args->subgroup);
    return WFI_EXIT_DONE;
}

static bool occupancy_of(const arguments *args, uint32_t items, wfi_occupancy_point *out)
{
    const wf_kernel_info kernel = {.group_size = {items, 1, 1},
                                   .shared_bytes = args->shared_bytes,
                                   .subgroup_size = (uint32_t)args->subgroup_size,
                                   .registers = (uint32_t)args->register_count};
    out->group_size = items;
    return wf_architecture_occupancy(args->index, &kernel, &out->occupancy) == WF_SUCCESS;
}

/* --------------------------------------------------------------------------------------- output */

static void print_architecture(const arguments *args)
{
    const wf_architecture *a = &args->architecture;
    char others[256], text[64];
    wfi_line(4, "%s (%s): a %s holds %u subgroups of %u work-items", a->generation, a->name,
             a->unit, a->most_subgroups, (uint32_t)args->subgroup_size);
    if (a->most_groups)
        wfi_line(4, "  %u work-groups%s", a->most_groups,
                 a->groups_by_barriers ? " of several subgroups (each takes a barrier)" : "");
    if (a->registers)
        wfi_line(4, "  %u registers of 32 bits, at most %u a work-item", a->registers,
                 a->item_registers);
    wfi_format_bytes(a->shared_bytes, text, sizeof text);
    if (a->shared_bytes)
        wfi_line(4, "  %s of shared memory", text);
    wfi_line(4, "  source: %s", a->source);
    list_names(others, sizeof others, a->generation, a->name);
    if (others[0])
        wfi_line(4, "  of the same generation: %s", others);
}

static void limit_row(wfi_table *table, const char *what, uint32_t groups, const char *limiter,
                      const char *limited_by)
{
    const int row = wfi_table_row(table);
    wfi_table_set(table, row, 0, "%s", what);
    if (groups == UINT32_MAX)
        wfi_table_set(table, row, 1, "-");
    else
        wfi_table_set(table, row, 1, "%u", groups);
    wfi_table_set(table, row, 2, "%s", strcmp(limiter, limited_by) == 0 ? "limits" : "");
}

/* The size that was asked for, limit by limit. */
static void print_asked(const arguments *args, const wfi_occupancy_point *point)
{
    static const char *const heading[] = {"by", "work-groups", ""};
    static wfi_table table = {.columns = 3, .right = 1u << 1};
    const wf_occupancy *o = &point->occupancy;
    putchar('\n');
    wfi_line(4, "work-groups of %u: %llu registers a work-item, %llu bytes of shared memory",
             point->group_size, (unsigned long long)args->register_count,
             (unsigned long long)args->shared_bytes);
    wfi_table_headings(&table, heading, 3);
    limit_row(&table, "subgroups a unit", o->by_subgroups, "work-group size", o->limited_by);
    limit_row(&table, "work-groups a unit", o->by_groups, "work-groups a unit", o->limited_by);
    limit_row(&table, "registers", o->by_registers, "registers", o->limited_by);
    limit_row(&table, "shared memory", o->by_shared, "shared memory", o->limited_by);
    wfi_table_print(&table);
    wfi_line(4, "occupancy %.0f %%: %u of %u subgroups in %u work-groups, limited by %s",
             o->fraction * 100, o->subgroups, o->most_subgroups, o->groups, o->limited_by);
}

/* The smallest size with the highest occupancy. */
static const wfi_occupancy_point *best_of(const wfi_occupancy_point *curve, uint32_t count)
{
    const wfi_occupancy_point *best = curve;
    for (uint32_t i = 1; i < count; i++)
        if (curve[i].occupancy.fraction > best->occupancy.fraction)
            best = &curve[i];
    return best;
}

static void print_curve(const wfi_occupancy_point *curve, uint32_t count)
{
    static const char *const heading[] = {"work-items", "occupancy", "subgroups", "limited by", ""};
    static wfi_table table = {.columns = 5, .right = 0x07};
    const wfi_occupancy_point *best = best_of(curve, count);
    putchar('\n');
    wfi_table_headings(&table, heading, 5);
    for (uint32_t i = 0; i < count; i++) {
        const wf_occupancy *o = &curve[i].occupancy;
        const int row = wfi_table_row(&table);
        char bar[BAR + 1];
        const int length = (int)(o->fraction * BAR + 0.5);
        memset(bar, '#', sizeof bar);
        bar[length] = '\0';
        wfi_table_set(&table, row, 0, "%u", curve[i].group_size);
        wfi_table_set(&table, row, 1, "%.0f %%", o->fraction * 100);
        wfi_table_set(&table, row, 2, "%u of %u", o->subgroups, o->most_subgroups);
        wfi_table_set(&table, row, 3, "%s", o->limited_by);
        wfi_table_set(&table, row, 4, "%s%s", bar, &curve[i] == best ? "  highest" : "");
    }
    wfi_table_print(&table);
}

static int run(const arguments *args, const wfi_common *common)
{
    const uint32_t subgroup = (uint32_t)args->subgroup_size, step = subgroup < 32 ? 32 : subgroup;
    wfi_occupancy_point curve[MOST_POINTS], asked;
    wfi_io_error error;
    uint32_t count = 0;
    for (uint32_t items = step; items <= MOST_ITEMS; items += step)
        if (!occupancy_of(args, items, &curve[count++]))
            return wfi_run_error("occupancy: too little is published of %s",
                                 args->architecture.name);
    if (args->group_size)
        occupancy_of(args, (uint32_t)args->group_size, &asked);
    const wfi_occupancy_result result = {.architecture = &args->architecture,
                                         .registers = (uint32_t)args->register_count,
                                         .shared_bytes = (uint32_t)args->shared_bytes,
                                         .subgroup_size = subgroup,
                                         .asked = args->group_size ? &asked : NULL,
                                         .count = count,
                                         .curve = curve};
    if (!wfi_json_on_stdout(common)) {
        print_architecture(args);
        if (args->group_size)
            print_asked(args, &asked);
        print_curve(curve, count);
    }
    if (common->json && !wfi_occupancy_write(common->json, &result, &error))
        return wfi_run_error("%s", error.text);
    return WFI_EXIT_DONE;
}

int wfi_tool_occupancy(int argc, char **argv)
{
    arguments args = {0};
    const wfi_option options[] = {
        {"--target", "CHIP", &args.target, NULL,
         "an architecture, generation, chip or device: nvidia:sm90, kepler, navi31, A770"},
        {"--registers", "R", &args.registers, NULL,
         "32-bit registers of a work-item (default: they set no limit)"},
        {"--shared", "BYTES", &args.shared, NULL, "shared memory of a work-group (default 0)"},
        {"--group", "N", &args.group, NULL,
         "work-items of a work-group, to be told limit by limit"},
        {"--subgroup", "N", &args.subgroup, NULL,
         "work-items of a subgroup (default: the architecture's usual one)"},
    };
    const wfi_command command = {
        "occupancy",
        "--target CHIP [--registers R] [--shared BYTES] [--group N]",
        "Tells how many work-groups a compute unit holds, and what limits them, for every size of "
        "work-groups.",
        0,
        0,
        options,
        WFI_COUNT(options)};
    wfi_common common;
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (!args.target)
        return wfi_usage_error("occupancy: --target names the chip, like navi31, H100 or kepler");
    code = parse(&args);
    return code == WFI_EXIT_DONE ? run(&args, &common) : code;
}
