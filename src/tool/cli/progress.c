#include "tool/cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "tool/cli/console.h"

#define WIDTH 24
#define COLUMNS 80            /* where the terminal does not tell */
#define TELLING_FRACTION 0.05 /* before that the rest cannot be told from what went before */
#define PATIENCE_SECONDS 1.0  /* what is over before is not shown */
#define TICK_SECONDS 0.25

/* What is shown, and the case in it. A thread draws it again and again, since calls into drivers
 * and readers block for long. */
static struct {
    wfi_mutex lock;
    bool ticks;    /* the thread is there */
    bool has_line; /* there is something to show, */
    bool drawn;    /* and it stands on the terminal */
    bool has_case;
    double begun;       /* of the line */
    double phase_begun; /* of what it is at now */
    double fraction;
    char name[256], text[512];
} line = {.lock = WFI_MUTEX_INIT};

static bool shown(bool quiet)
{
    return !quiet && wfi_console_draws();
}

/* Seconds left, if what is left goes as fast as what is done; < 0: not known yet. */
static double seconds_left(double fraction)
{
    static double start, last = 2;
    if (fraction < last)
        start = wfi_host_seconds();
    last = fraction;
    return fraction < TELLING_FRACTION ? -1
                                       : (wfi_host_seconds() - start) * (1 - fraction) / fraction;
}

/* A line that is longer than the terminal could not be drawn over. */
static int columns(void)
{
    const int told = wfi_console_columns();
    return told > 0 ? told : COLUMNS;
}

/* With the lock held. */
static void draw(void)
{
    char bar[WIDTH + 1], left[32] = "", text[640];
    const double now = wfi_host_seconds();
    if (now - line.begun < PATIENCE_SECONDS)
        return;
    if (isfinite(line.fraction)) {
        const double seconds = seconds_left(line.fraction);
        const int full = (int)(line.fraction * WIDTH);
        if (seconds >= 1)
            snprintf(left, sizeof left, ", %.0f s left", seconds);
        memset(bar, ' ', WIDTH);
        memset(bar, '=', (size_t)(full > WIDTH ? WIDTH : full));
        bar[WIDTH] = '\0';
        snprintf(text, sizeof text, "[%s] %3.0f %%%s  %s", bar, line.fraction * 100, left,
                 line.text);
    } else {
        const double seconds = floor(now - line.phase_begun);
        if (seconds >= 1)
            snprintf(left, sizeof left, ", %.0f s", seconds);
        snprintf(text, sizeof text, "%s%s", line.text, left);
    }
    fprintf(stderr, "\r\033[K%.*s", columns() - 1, text);
    fflush(stderr);
    line.drawn = true;
}

static void *tick(void *unused)
{
    for (;;) {
        wfi_sleep(TICK_SECONDS);
        wfi_mutex_lock(&line.lock);
        if (line.has_line)
            draw();
        wfi_mutex_unlock(&line.lock);
    }
    return unused;
}

/* Without a thread the line is as old as the last call. */
static void start_ticking(void)
{
    line.ticks = line.ticks || wfi_thread_start(NULL, tick, NULL);
}

/* With the lock held. */
static void set_line(double fraction, const char *text)
{
    const double now = wfi_host_seconds();
    if (!line.has_line)
        line.begun = now;
    if (!line.has_line || strcmp(line.text, text) != 0)
        line.phase_begun = now;
    line.has_line = true;
    line.fraction = fraction;
    snprintf(line.text, sizeof line.text, "%s", text);
    start_ticking();
    draw();
}

void wfi_progress_show(bool quiet, double fraction, const char *what)
{
    if (!shown(quiet))
        return;
    wfi_mutex_lock(&line.lock);
    line.has_case = true;
    snprintf(line.name, sizeof line.name, "%s", what);
    set_line(fraction, what);
    wfi_mutex_unlock(&line.lock);
}

void wfi_progress_phase(bool quiet, double fraction, const char *what)
{
    char text[512];
    if (!shown(quiet))
        return;
    wfi_mutex_lock(&line.lock);
    if (line.has_case) {
        snprintf(text, sizeof text, "%s: %s", line.name, what);
        set_line(line.fraction, text);
    } else {
        set_line(fraction, what);
    }
    wfi_mutex_unlock(&line.lock);
}

void wfi_progress_clear(bool quiet)
{
    if (!shown(quiet))
        return;
    wfi_mutex_lock(&line.lock);
    line.has_case = line.has_line = false;
    if (line.drawn)
        fputs("\r\033[K", stderr);
    line.drawn = false;
    wfi_mutex_unlock(&line.lock);
}
