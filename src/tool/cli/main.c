/* wavefit: the command-line tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/commands/commands.h"
#include "tool/commands/compare.h"
#include "tool/cli/console.h"
#include "tool/cli/options.h"
#include "tool/cli/ranks.h"
#include "tool/cli/target.h"
#include "tool/tune/tune.h"
#include "tool/verify/search.h"

#define ROW(name, summary) {#name, wfi_tool_##name, summary},
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {WFI_COMMANDS(ROW)};
#undef ROW

static void print_help(FILE *out)
{
    fputs("usage: wavefit COMMAND [OPTIONS]\n\n", out);
    for (size_t i = 0; i < WFI_COUNT(commands); i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("\nwavefit help COMMAND tells the options; exit codes: 0 done, 1 the run failed or\n"
          "a check did not hold, 2 wrong usage, 3 no usable device.\n",
          out);
}

/* What was printed must have arrived, unless its reader had enough. */
static int finish(int code)
{
    const bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || wfi_console_reader_is_gone() || code != WFI_EXIT_DONE)
        return code;
    return wfi_run_error("standard output cannot be written");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return WFI_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return WFI_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("wavefit %s\n", wf_version());
        return WFI_EXIT_DONE;
    }
    static char help[] = "--help";
    char *asked[] = {argv[0], argv[1], help, NULL};
    if (strcmp(argv[1], "help") == 0) { /* help COMMAND is COMMAND --help */
        if (argc > 3)
            return wfi_usage_error("help: unexpected argument '%s'", argv[3]);
        if (argc == 2) {
            print_help(stdout);
            return WFI_EXIT_DONE;
        }
        asked[1] = argv[2];
        argv = asked;
        argc = 3;
    }
    for (size_t i = 0; i < WFI_COUNT(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    return wfi_usage_error("'%s' is not a command (see wavefit --help)", argv[1]);
}

int main(int argc, char **argv)
{
    wfi_starter starter;
    wfi_console_start(&argc, &argv);
    if (wfi_process_is(argc, argv, WFI_ROLE_TARGET, &starter))
        return wfi_target_probe_main(&starter);
    if (wfi_process_is(argc, argv, WFI_ROLE_COMPARE, &starter))
        return wfi_compare_child_main(&starter);
    wfi_tune_as_child(argc, argv);
    wfi_search_as_child(argc, argv);
    const int code = wfi_ranks_take_over(argv);
    if (code != WFI_EXIT_DONE)
        return code;
    char **split = wfi_options_split(&argc, &argv);
    const int ended = finish(run(argc, argv));
    free(split);
    return ended;
}
