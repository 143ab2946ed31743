#include "tool/tune/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/cli/clock.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/tune/child.h"
#include "tool/tune/process.h"

/* Milliseconds between looks for Ctrl-C, which may come between the look for it and the wait for
 * the child. */
#define LOOK_MILLISECONDS 100
#define MOST_RESTARTS 64
#define MOST_IN_A_ROW 16 /* lost without a point that ran: the device is to blame */

typedef struct parent {
    const wfi_tune_work *work;
    pid_t child;
    int from; /* pipe */
    uint32_t problem;
    char trying[256];
    bool compiles;   /* kernels of several points */
    bool one_by_one; /* it did not outlive that once */
    bool ran;        /* a point did, since it was lost last */
    bool told;       /* the child, that it should end: until kill_at */
    double kill_at;
} parent;

static void pass_on_interrupt(parent *p)
{
    if (p->told || !wfi_interrupted())
        return;
    p->told = true;
    p->kill_at = wfi_clock_seconds() + WFI_GRACE_SECONDS;
    kill(p->child, WFI_TELL_TO_END);
}

/* True when a whole message came; false at the end, or after too long a silence, or when it does
 * not end although it was told (*hangs). */
static bool hear(parent *p, wfi_child_message *m, bool *hangs)
{
    char *at = (char *)m;
    size_t left = sizeof *m;
    double silent_until = wfi_clock_seconds() + p->work->patience_seconds;
    *hangs = false;
    while (left > 0) {
        struct pollfd readable = {.fd = p->from, .events = POLLIN};
        pass_on_interrupt(p);
        *hangs = wfi_clock_seconds() > (p->told ? p->kill_at : silent_until);
        if (*hangs)
            return false;
        if (poll(&readable, 1, LOOK_MILLISECONDS) <= 0)
            continue;
        const ssize_t got = read(p->from, at, left);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            left -= (size_t)got;
            silent_until = wfi_clock_seconds() + p->work->patience_seconds;
        }
    }
    return true;
}

static void show(const parent *p, const wf_tune_progress *progress)
{
    char text[320], best[32];
    const wfi_tune_work *work = p->work;
    const double fraction = (p->problem + progress->fraction) / (work->count ? work->count : 1);
    wfi_format_time(progress->best_us, best, sizeof best);
    if (progress->best_us > 0)
        snprintf(text, sizeof text, "%s %s: best %s of %u points, %.100s",
                 wf_family_name(work->problems[p->problem].family), work->problems[p->problem].name,
                 best, progress->measured, progress->best);
    else
        snprintf(text, sizeof text, "%s %s", wf_family_name(work->problems[p->problem].family),
                 work->problems[p->problem].name);
    wfi_progress_show(work->common->quiet, fraction, text);
}

/* Listens until the child is silent or gone; true: it hangs. */
static bool listen_to_child(parent *p)
{
    wfi_child_message m;
    bool hangs = false;
    while (hear(p, &m, &hangs)) {
        if (m.problem >= p->work->count)
            continue;
        p->problem = m.problem;
        if (m.is_outcome) {
            p->work->outcomes[m.problem] = m.outcome;
            p->ran = p->ran || m.outcome.done;
            p->problem++;
            p->trying[0] = '\0';
            p->compiles = false;
        } else {
            p->compiles = m.compiles;
            p->ran = p->ran || m.progress.best_us > 0;
            memcpy(p->trying, m.progress.trying, sizeof p->trying);
            show(p, &m.progress);
        }
    }
    return hangs;
}

static bool start(parent *p, uint32_t first, double left)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0)
        return false;
    p->child = fork();
    if (p->child == 0) {
        close(ends[0]);
        const int code = wfi_child_main(p->work, first, left, p->one_by_one, ends[1]);
        fflush(NULL);
        _exit(code);
    }
    close(ends[1]);
    p->from = ends[0];
    p->problem = first;
    p->trying[0] = '\0';
    p->compiles = false;
    if (p->child > 0)
        return true;
    close(ends[0]);
    return false;
}

static void report_loss(const parent *p, bool hangs, int status)
{
    const char *how = hangs                 ? "hangs the driver"
                      : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                            : "loses the device";
    wfi_progress_clear(p->work->common->quiet);
    if (p->compiles)
        fprintf(stderr,
                "wavefit: warning: several kernels compiled at once: %s; now they are one by one\n",
                how);
    else
        fprintf(stderr, "wavefit: warning: %s: %s; it is left out from now on\n",
                *p->trying ? p->trying : "the start of a search", how);
}

/* The child was interrupted: what it did not tell of is marked so, and where it had to be ended the
 * point that it was trying is not to blame. */
static void note_interruption(const parent *p, bool killed)
{
    const wfi_tune_work *work = p->work;
    for (uint32_t i = p->problem; i < work->count; i++) {
        wfi_tune_outcome *o = &work->outcomes[i];
        o->result = WF_ERROR_CANCELLED;
        if (i == p->problem && killed)
            snprintf(o->error, sizeof o->error, WFI_INTERRUPTED);
    }
    if (killed && !wfi_journal_empty(work->device->journal))
        fprintf(stderr, "wavefit: warning: %s: %s\n", work->device->journal, strerror(errno));
}

int wfi_tune_run(const wfi_tune_work *work)
{
    parent p = {.work = work};
    double until = wfi_clock_seconds() + work->budget_seconds;
    uint32_t first = 0, losses = 0, in_a_row = 0;
    for (uint32_t i = 0; i < work->count; i++)
        snprintf(work->outcomes[i].error, sizeof work->outcomes[i].error, "not begun");
    wfi_interrupted();
    while (first < work->count) {
        int status = 0;
        if (!start(&p, first, until - wfi_clock_seconds()))
            return wfi_run_error("no child process can be started: %s", strerror(errno));
        const bool hangs = listen_to_child(&p);
        close(p.from);
        if (!wfi_child_reap(p.child, hangs, &status))
            return wfi_run_error("%s: the driver hangs and its process cannot be ended", p.trying);
        /* The child may have had the signal too, and have been faster. */
        p.told = p.told || wfi_interrupted();
        wfi_progress_clear(work->common->quiet);
        const bool killed = hangs || (WIFSIGNALED(status) && WTERMSIG(status) == WFI_TELL_TO_END);
        if (p.told && (killed || WIFEXITED(status))) {
            note_interruption(&p, killed);
            return WFI_EXIT_DONE;
        }
        if (!hangs && WIFEXITED(status) && WEXITSTATUS(status) != WFI_EXIT_LOST)
            return WEXITSTATUS(status);
        /* Where nothing was being tried, the same would happen again. */
        report_loss(&p, hangs, status);
        first = *p.trying || p.compiles ? p.problem : p.problem + 1;
        p.one_by_one = p.one_by_one || p.compiles;
        if (hangs && p.compiles) /* nobody is to blame yet: the search has its time back */
            until += work->patience_seconds;
        in_a_row = p.ran ? 1 : in_a_row + 1;
        p.ran = false;
        if (in_a_row == MOST_IN_A_ROW)
            return wfi_run_error("the device was lost %u times in a row, whatever it was given",
                                 in_a_row);
        if (++losses == MOST_RESTARTS || wfi_interrupted())
            return wfi_run_error("the driver was lost %u times", losses);
    }
    return WFI_EXIT_DONE;
}
