#include "tool/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 24

static bool shown(bool quiet)
{
    return !quiet && isatty(STDERR_FILENO);
}

void wfi_progress_show(bool quiet, double fraction, const char *what)
{
    char bar[WIDTH + 1];
    if (!shown(quiet))
        return;
    const int full = (int)(fraction * WIDTH);
    memset(bar, ' ', WIDTH);
    memset(bar, '=', (size_t)(full > WIDTH ? WIDTH : full));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3.0f %%  %s", bar, fraction * 100, what);
    fflush(stderr);
}

void wfi_progress_clear(bool quiet)
{
    if (shown(quiet))
        fputs("\r\033[K", stderr);
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

bool wfi_interrupted(void)
{
    static bool installed;
    if (!installed) {
        struct sigaction action = {.sa_handler = note_interrupt};
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESETHAND; /* a second Ctrl-C ends the program */
        sigaction(SIGINT, &action, NULL);
        installed = true;
    }
    return interrupted;
}
