#include "tool/cli/console.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "io/unfinished.h"

#define TOGETHER_SECONDS 0.3 /* signals that mean one */

/* Where a standard stream is closed, the next file opened would take its number and be written to.
 * What is put there instead fails as a closed one does. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
            _exit(1);
}

void wfi_console_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fill_standard_streams();
    /* A full disk, a file-size limit or a reader that is gone must come back as a failed write, not
     * as a signal: results are still written to their file. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

bool wfi_console_reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

bool wfi_console_draws(void)
{
    return isatty(STDERR_FILENO);
}

int wfi_console_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---------------------------------------------------------------------------------- interrupts */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void note_end(int number)
{
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
    } else if ((double)(now.tv_sec - first.tv_sec) + (double)(now.tv_nsec - first.tv_nsec) * 1e-9 >
               TOGETHER_SECONDS) {
        wfi_unfinished_remove_all();
        signal(number, SIG_DFL);
        raise(number);
    }
}

static bool installed;

static void install(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* A batch system's time limit sends SIGTERM, a terminal that goes away SIGHUP; nohup(1) has the
 * latter ignored. */
bool wfi_interrupted(void)
{
    struct sigaction now;
    if (!installed) {
        install(SIGINT, note_end);
        install(SIGTERM, note_end);
        if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            install(SIGHUP, note_interrupt);
        installed = true;
    }
    return interrupted;
}

bool wfi_interrupt_noted(void)
{
    return interrupted;
}

void wfi_interrupt(void)
{
    interrupted = 1;
}

void wfi_interrupts_are_the_starters(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    install(SIGTERM, note_interrupt);
    installed = true;
}
