#include "tool/cli/progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "io/atomic_file.h"
#include "tool/cli/clock.h"

#define WIDTH 24
#define COLUMNS 80            /* where the terminal does not tell */
#define TOGETHER_SECONDS 0.3  /* signals that mean one */
#define TELLING_FRACTION 0.05 /* before that the rest cannot be told from what went before */

/* The line that is shown, and the case in it. */
static struct {
    bool up, has_case;
    double fraction;
    char name[256];
} line;

static bool shown(bool quiet)
{
    return !quiet && isatty(STDERR_FILENO);
}

/* Seconds left, if what is left goes as fast as what is done; < 0: not known yet. */
static double seconds_left(double fraction)
{
    static double start, last = 2;
    if (fraction < last)
        start = wfi_clock_seconds();
    last = fraction;
    return fraction < TELLING_FRACTION ? -1
                                       : (wfi_clock_seconds() - start) * (1 - fraction) / fraction;
}

/* A line that is longer than the terminal could not be drawn over. */
static int columns(void)
{
    struct winsize size;
    const bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return told ? size.ws_col : COLUMNS;
}

static void draw(double fraction, const char *what)
{
    char bar[WIDTH + 1], left[32] = "", text[512];
    if (isfinite(fraction)) {
        const double seconds = seconds_left(fraction);
        const int full = (int)(fraction * WIDTH);
        if (seconds >= 1)
            snprintf(left, sizeof left, ", %.0f s left", seconds);
        memset(bar, ' ', WIDTH);
        memset(bar, '=', (size_t)(full > WIDTH ? WIDTH : full));
        bar[WIDTH] = '\0';
        snprintf(text, sizeof text, "[%s] %3.0f %%%s  %s", bar, fraction * 100, left, what);
    } else {
        snprintf(text, sizeof text, "%s", what);
    }
    fprintf(stderr, "\r\033[K%.*s", columns() - 1, text);
    fflush(stderr);
    line.up = true;
}

void wfi_progress_show(bool quiet, double fraction, const char *what)
{
    if (!shown(quiet))
        return;
    line.has_case = true;
    line.fraction = fraction;
    snprintf(line.name, sizeof line.name, "%s", what);
    draw(fraction, what);
}

void wfi_progress_phase(bool quiet, double fraction, const char *what)
{
    char text[512];
    if (!shown(quiet))
        return;
    if (!line.has_case) {
        draw(fraction, what);
        return;
    }
    snprintf(text, sizeof text, "%s: %s", line.name, what);
    draw(line.fraction, text);
}

void wfi_progress_clear(bool quiet)
{
    line.has_case = false;
    if (line.up && shown(quiet))
        fputs("\r\033[K", stderr);
    line.up = false;
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* The second Ctrl-C or SIGTERM ends the program, unless it comes with the first: timeout(1) signals
 * its child and then the child's group. */
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
        wfi_atomic_remove_unfinished();
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

void wfi_interrupted_by(int number)
{
    static const int others[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] != number)
            signal(others[i], SIG_IGN);
    install(number, note_interrupt);
    installed = true;
}
