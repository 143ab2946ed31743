#include "tool/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 24

static bool shown(bool quiet)
{
    return !quiet && isatty(STDERR_FILENO);
}

#define TELLING_FRACTION 0.05 /* before that the rest cannot be told from what went before */

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds left, if what is left goes as fast as what is done; < 0: not known yet. */
static double seconds_left(double fraction)
{
    static double start, last = 2;
    if (fraction < last)
        start = now_seconds();
    last = fraction;
    return fraction < TELLING_FRACTION ? -1 : (now_seconds() - start) * (1 - fraction) / fraction;
}

void wfi_progress_show(bool quiet, double fraction, const char *what)
{
    char bar[WIDTH + 1], left[32] = "";
    if (!shown(quiet))
        return;
    const double seconds = seconds_left(fraction);
    if (seconds >= 1)
        snprintf(left, sizeof left, ", %.0f s left", seconds);
    const int full = (int)(fraction * WIDTH);
    memset(bar, ' ', WIDTH);
    memset(bar, '=', (size_t)(full > WIDTH ? WIDTH : full));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3.0f %%%s  %s", bar, fraction * 100, left, what);
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
