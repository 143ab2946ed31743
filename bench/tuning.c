/* What `wavefit tune` does, with options for measuring the tuner itself; bench/tuning.sh runs it.
 * usage: bench_tuning [--slice SECONDS] [--all SECONDS|none] [--discard]
 *                     [what `wavefit tune` takes]
 *        bench_tuning --reprint FILE [--only TEXT] [FAMILY]
 * --slice: a comparison begins no problem after so long; run again to go on.
 * --all: the time of a comparison's exhaustive search (thrice the budget unless given; none:
 *   there is no such search, which takes minutes to list the points of a product).
 * --discard: a search keeps nothing of what it finds.
 * --reprint: print the tables of a file of `tune --compare --json FILE`; no device is needed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/comparison.h"
#include "tool/cli/console.h"
#include "tool/cli/options.h"
#include "tool/tune/compare_print.h"
#include "tool/tune/suite.h"
#include "tool/tune/tune.h"

#define MOST_ARGUMENTS 128

typedef struct own {
    const char *slice, *all, *reprint;
    bool discard;
} own;

/* Takes one own option at argv[*at] and its value; false: it is not one. *bad: its value is
 * missing. */
static bool take(own *o, int argc, char **argv, int *at, bool *bad)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--slice", &o->slice}, {"--all", &o->all}, {"--reprint", &o->reprint}};
    if (strcmp(argv[*at], "--discard") == 0)
        return o->discard = true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(argv[*at], options[i].name) != 0)
            continue;
        *bad = *at + 1 >= argc;
        if (!*bad)
            *options[i].value = argv[++*at];
        return true;
    }
    return false;
}

static bool searches_all(const own *o)
{
    return o->all && strcmp(o->all, "none") != 0;
}

/* The tables of one file: of the family and of problems with `only` in their names (NULL: all). */
static int reprint(const char *path, const char *family, const char *only)
{
    const wfi_compared *items[WFI_MAX_TUNE_PROBLEMS];
    wfi_comparison_file file;
    wfi_io_error error;
    uint32_t count = 0;
    if (access(path, F_OK) != 0)
        return wfi_run_error("%s: %s", path, strerror(errno));
    if (!wfi_comparison_read(path, &file, &error))
        return wfi_run_error("%s", error.text);
    for (uint32_t i = 0; i < file.count && count < WFI_MAX_TUNE_PROBLEMS; i++) {
        const wfi_compared *item = &file.items[i];
        const bool wanted = (!family || strcmp(item->family, family) == 0) &&
                            (!only || strstr(item->problem, only));
        if (wanted && !*item->error && wfi_compared_best(item) > 0)
            items[count++] = item;
    }
    if (count)
        wfi_compare_print(&file, items, count);
    wfi_comparison_free(&file);
    return count ? WFI_EXIT_DONE : wfi_run_error("%s: it has no such problem", path);
}

/* What else stands on the command line of --reprint: --only TEXT and a family. */
static int parse_and_reprint(const own *o, int count, char **rest)
{
    const char *only = NULL, *family = NULL;
    for (int i = 2; i < count; i++) {
        if (strcmp(rest[i], "--only") == 0 && i + 1 < count)
            only = rest[++i];
        else if (*rest[i] != '-' && !family)
            family = rest[i];
        else
            return wfi_usage_error("--reprint: unexpected argument '%s'", rest[i]);
    }
    return reprint(o->reprint, family, only);
}

int main(int argc, char **argv)
{
    char name[] = "wavefit", command[] = "tune";
    char *rest[MOST_ARGUMENTS + 1] = {name, command};
    own o = {0};
    wfi_tune_extras extras = {0};
    int count = 2;
    bool bad = false;
    wfi_console_start(&argc, &argv);
    wfi_tune_as_child(argc, argv);
    if (argc > MOST_ARGUMENTS - 1)
        return wfi_usage_error("more than %d arguments", MOST_ARGUMENTS - 2);
    for (int i = 1; i < argc && !bad; i++)
        if (!take(&o, argc, argv, &i, &bad))
            rest[count++] = argv[i];
    if (bad)
        return wfi_usage_error("option %s needs a value", argv[argc - 1]);
    if ((o.slice && !wfi_parse_seconds("--slice", o.slice, &extras.slice_seconds)) ||
        (searches_all(&o) && !wfi_parse_seconds("--all", o.all, &extras.all_seconds)))
        return WFI_EXIT_USAGE;
    if (o.all && !searches_all(&o))
        extras.all_seconds = -1;
    extras.discard = o.discard;
    return o.reprint ? parse_and_reprint(&o, count, rest) : wfi_tune_command(count, rest, &extras);
}
