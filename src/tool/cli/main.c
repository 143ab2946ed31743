/* wavefit: the command-line tool. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/arithmetic.h"
#include "tool/commands/commands.h"
#include "tool/cli/options.h"

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

/* Where a standard stream is closed, the next file opened would take its number and be written to.
 * What is put there instead fails as a closed one does. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(WFI_EXIT_FAILED);
}

/* What was printed must have arrived, unless its reader had enough. */
static int finish(int code)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    const bool lost = fflush(stdout) != 0 || ferror(stdout);
    const bool reader_gone = poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
    if (!lost || reader_gone || code != WFI_EXIT_DONE)
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
    fill_standard_streams();
    /* A full disk, a file-size limit or a reader that is gone must come back as a failed write, not
     * as a signal: results are still written to their file. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    return finish(run(argc, argv));
}
