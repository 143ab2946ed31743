#include "tool/cli/progress.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "io/unfinished.h"
#include "tool/cli/clock.h"

#define WIDTH 24
#define COLUMNS 80            /* where the terminal does not tell */
#define TOGETHER_SECONDS 0.3  /* signals that mean one */
#define TELLING_FRACTION 0.05 /* before that the rest cannot be told from what went before */
#define PATIENCE_SECONDS 1.0  /* what is over before is not shown */
#define TICK_NANOSECONDS 250000000L

/* What is shown, and the case in it. A thread draws it again and again, since calls into drivers
 * and readers block for long. */
static struct {
    pthread_mutex_t lock;
    bool ticks;    /* the thread is there */
    bool has_line; /* there is something to show, */
    bool drawn;    /* and it stands on the terminal */
    bool has_case;
    double begun;       /* of the line */
    double phase_begun; /* of what it is at now */
    double fraction;
    char name[256], text[512];
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* With the lock held. */
static void draw(void)
{
    char bar[WIDTH + 1], left[32] = "", text[640];
    const double now = wfi_clock_seconds();
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
    const struct timespec pause = {.tv_nsec = TICK_NANOSECONDS};
    for (;;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&line.lock);
        if (line.has_line)
            draw();
        pthread_mutex_unlock(&line.lock);
    }
    return unused;
}

/* A child has the lock as it was, and no second thread. */
static void lock_line(void)
{
    pthread_mutex_lock(&line.lock);
}

static void unlock_line(void)
{
    pthread_mutex_unlock(&line.lock);
}

static void unlock_child(void)
{
    line.ticks = false;
    pthread_mutex_unlock(&line.lock);
}

/* Without a thread the line is as old as the last call. Signals are the main thread's. */
static void start_ticking(void)
{
    static bool forks_are_watched;
    sigset_t all, before;
    pthread_t thread;
    if (line.ticks)
        return;
    if (!forks_are_watched)
        pthread_atfork(lock_line, unlock_line, unlock_child);
    forks_are_watched = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, tick, NULL) == 0) {
        pthread_detach(thread);
        line.ticks = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock held. */
static void set_line(double fraction, const char *text)
{
    const double now = wfi_clock_seconds();
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
    pthread_mutex_lock(&line.lock);
    line.has_case = true;
    snprintf(line.name, sizeof line.name, "%s", what);
    set_line(fraction, what);
    pthread_mutex_unlock(&line.lock);
}

void wfi_progress_phase(bool quiet, double fraction, const char *what)
{
    char text[512];
    if (!shown(quiet))
        return;
    pthread_mutex_lock(&line.lock);
    if (line.has_case) {
        snprintf(text, sizeof text, "%s: %s", line.name, what);
        set_line(line.fraction, text);
    } else {
        set_line(fraction, what);
    }
    pthread_mutex_unlock(&line.lock);
}

void wfi_progress_clear(bool quiet)
{
    if (!shown(quiet))
        return;
    pthread_mutex_lock(&line.lock);
    line.has_case = line.has_line = false;
    if (line.drawn)
        fputs("\r\033[K", stderr);
    line.drawn = false;
    pthread_mutex_unlock(&line.lock);
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

void wfi_interrupted_by(int number)
{
    static const int others[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] != number)
            signal(others[i], SIG_IGN);
    install(number, note_interrupt);
    installed = true;
}
