#include "tool/tune/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "core/platform_file.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/tune/child.h"
#include "tool/tune/job.h"

/* Between looks for Ctrl-C, which may come between the look for it and the wait for the child. */
#define LOOK_SECONDS 0.1
#define LAST_SECONDS 10 /* for what a driver does at its end, once the child has told of it */
#define LATE_SECONDS 1  /* after the time is up, for what a search does last */
#define MOST_RESTARTS 64
#define MOST_IN_A_ROW 16 /* lost without a point that ran: the device is to blame */
#define MOST_DECISIONS 4 /* of a problem that were lost: all of its points had run */

typedef struct parent {
    const wfi_tune_work *work;
    wfi_process child;
    uint32_t problem;
    char trying[256];
    bool compiles;       /* kernels of several points */
    bool decides;        /* between points that have run */
    uint32_t decisions;  /* of the problem that were lost */
    bool one_by_one;     /* it did not outlive that once */
    bool calibrates;     /* the next child measures the model's rates first */
    bool calibrating;    /* this child does, and has told of no search yet */
    bool ran;            /* a point did, since it was lost last */
    bool told;           /* the child, that it should end */
    bool late;           /* it was told since the time was up, not by the user */
    double late_at;      /* when the time is up; 0: searches end by themselves */
    double kill_at;      /* where it was told, or tells of its end */
    wfi_child_tells end; /* LOSS or END, as it told; else it was ended */
    int code;            /* of its END */
} parent;

/* Where the user interrupts, or the time is up and the driver is still busy: with a kernel that it
 * compiles, on a processor for many seconds, no search can end by itself. */
static void tell_to_end(parent *p)
{
    const double now = wfi_host_seconds();
    const bool late = p->late_at > 0 && now > p->late_at, interrupted = wfi_interrupted();
    if (p->told || (!late && !interrupted))
        return;
    p->told = true;
    p->late = !interrupted;
    p->kill_at = now + WFI_GRACE_SECONDS;
    wfi_pipe_close(&p->child.to);
}

/* True when a whole message came; false at the end, or after too long a silence, or when it does
 * not end although it was told (*hangs). */
static bool hear(parent *p, wfi_child_message *m, bool *hangs)
{
    char *at = (char *)m;
    size_t left = sizeof *m;
    double silent_until = wfi_host_seconds() + p->work->patience_seconds;
    *hangs = false;
    while (left > 0) {
        tell_to_end(p);
        *hangs = wfi_host_seconds() >
                 (p->told || p->end != WFI_TELLS_PROGRESS ? p->kill_at : silent_until);
        if (*hangs)
            return false;
        const int64_t got = wfi_pipe_read(p->child.from, at, left, LOOK_SECONDS);
        if (got < 0)
            return false;
        if (got > 0) {
            at += got;
            left -= (size_t)got;
            silent_until = wfi_host_seconds() + p->work->patience_seconds;
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
        if (m.tells == WFI_TELLS_LOSS || m.tells == WFI_TELLS_END) {
            p->end = m.tells;
            p->code = m.code;
            p->kill_at = wfi_host_seconds() + LAST_SECONDS;
            continue;
        }
        p->calibrating = false;
        if (m.problem >= p->work->count)
            continue;
        p->problem = m.problem;
        if (m.tells == WFI_TELLS_OUTCOME) {
            p->work->outcomes[m.problem] = m.outcome;
            p->ran = p->ran || m.outcome.done;
            p->problem++;
            p->decisions = 0;
            p->trying[0] = '\0';
            p->compiles = p->decides = false;
        } else {
            p->compiles = m.compiles;
            p->decides = m.decides;
            p->ran = p->ran || m.progress.best_us > 0;
            memcpy(p->trying, m.progress.trying, sizeof p->trying);
            show(p, &m.progress);
        }
    }
    return hangs;
}

static bool start(parent *p, uint32_t first, double left)
{
    if (!wfi_process_start(WFI_ROLE_SEARCH, &p->child))
        return false;
    /* One that is gone already shows that when it is listened to. */
    wfi_tune_work work = *p->work;
    work.calibrates = p->calibrates;
    p->calibrating = p->calibrates;
    p->calibrates = false; /* whatever becomes of this one */
    if (!wfi_job_send(&p->child, &work, first, left, p->one_by_one))
        wfi_pipe_close(&p->child.to); /* it would wait for the rest */
    p->problem = first;
    p->trying[0] = '\0';
    p->compiles = p->decides = false;
    p->end = WFI_TELLS_PROGRESS;
    return true;
}

static void report_loss(const parent *p, bool hangs, const wfi_process_end *end)
{
    const char *how = p->end == WFI_TELLS_LOSS ? "loses the device"
                      : hangs                  ? "hangs the driver"
                                               : end->how;
    wfi_progress_clear(p->work->common->quiet);
    if (p->calibrating)
        fprintf(stderr,
                "wavefit: warning: measuring the model's rates: %s; the search goes on without\n",
                how);
    else if (p->compiles)
        fprintf(stderr,
                "wavefit: warning: several kernels compiled at once: %s; now they are one by one\n",
                how);
    else if (p->decides)
        fprintf(stderr, "wavefit: warning: comparing the best points: %s\n", how);
    else
        fprintf(stderr, "wavefit: warning: %s: %s; it is left out of this search\n",
                *p->trying ? p->trying : "the start of a search", how);
}

/* What the child did not tell of is marked so. */
static void note_interruption(const parent *p, bool killed)
{
    const wfi_tune_work *work = p->work;
    for (uint32_t i = p->problem; i < work->count; i++) {
        wfi_tune_outcome *o = &work->outcomes[i];
        o->result = WF_ERROR_CANCELLED;
        if (i == p->problem && killed)
            snprintf(o->error, sizeof o->error, WFI_INTERRUPTED);
    }
}

/* A search that was cut short has the best that it knew, and else was not begun. */
static void note_lateness(const parent *p)
{
    const wfi_tune_work *work = p->work;
    for (uint32_t i = 0; i < work->count; i++) {
        wfi_tune_outcome *o = &work->outcomes[i];
        if (o->result == WF_ERROR_CANCELLED) {
            o->result = WF_SUCCESS;
            o->done = o->before.us > 0 && o->best.us > 0;
        }
        if (!o->done && o->result == WF_SUCCESS)
            snprintf(o->error, sizeof o->error, "the time was up");
    }
}

/* The child was told to end. Where it had to be ended, the point that it was trying is not to
 * blame. */
static void note_end(const parent *p, bool killed)
{
    const char *journal = p->work->device->journal;
    if (p->late)
        note_lateness(p);
    else
        note_interruption(p, killed);
    if (killed && *journal && !wfi_file_empty(journal))
        fprintf(stderr, "wavefit: warning: %s: %s\n", journal, strerror(errno));
}

/* Whether what a search measures stays in the cache. */
static bool keeps(const wfi_tune_work *work)
{
    return !work->discard && !work->compare && !work->weigh && !work->common->variant &&
           work->common->constant_count == 0;
}

/* Where the search goes on after a loss: at the same problem; or behind it where nothing was being
 * tried, since the same would happen again, and where its decision was lost too often. */
static uint32_t next_problem(parent *p)
{
    wfi_tune_outcome *o = &p->work->outcomes[p->problem];
    if (!p->decides)
        return *p->trying || p->compiles || p->calibrating ? p->problem : p->problem + 1;
    if (++p->decisions < MOST_DECISIONS)
        return p->problem;
    o->result = WF_ERROR_DEVICE_LOST;
    snprintf(o->error, sizeof o->error,
             "the device was lost %u times while the best points ran in turn%s", p->decisions,
             keeps(p->work) ? "; what was measured is kept (tune --forget removes it)" : "");
    p->decisions = 0;
    return p->problem + 1;
}

int wfi_tune_run(const wfi_tune_work *work)
{
    parent p = {.work = work, .calibrates = work->calibrates};
    double until = wfi_host_seconds() + work->budget_seconds;
    uint32_t first = 0, losses = 0, in_a_row = 0;
    p.late_at = work->ends ? until + LATE_SECONDS : 0;
    for (uint32_t i = 0; i < work->count; i++)
        snprintf(work->outcomes[i].error, sizeof work->outcomes[i].error, "not begun");
    wfi_interrupted();
    while (first < work->count) {
        wfi_process_end end;
        if (!start(&p, first, until - wfi_host_seconds()))
            return wfi_run_error("no child process can be started: %s", strerror(errno));
        const bool hangs = listen_to_child(&p);
        const bool gone = wfi_process_reap(&p.child, hangs, &end);
        /* The child may have had the signal too, and have been faster. */
        p.told = p.told || wfi_interrupted();
        wfi_progress_clear(work->common->quiet);
        const bool killed = hangs || end.told, told = p.end != WFI_TELLS_PROGRESS;
        if (p.told && (killed || told)) {
            note_end(&p, killed);
            return WFI_EXIT_DONE;
        }
        if (!gone)
            return wfi_run_error("%s: the driver hangs and its process cannot be ended",
                                 *p.trying ? p.trying : "the start of a search");
        if (p.end == WFI_TELLS_END)
            return p.code;
        report_loss(&p, hangs, &end);
        first = next_problem(&p);
        p.one_by_one = p.one_by_one || p.compiles;
        /* Nobody is to blame yet: the search has its time back. */
        if (hangs && (p.compiles || p.calibrating))
            until += work->patience_seconds;
        in_a_row = p.ran && !p.decides ? 1 : in_a_row + 1;
        p.ran = false;
        if (in_a_row == MOST_IN_A_ROW)
            return wfi_run_error("the device was lost %u times in a row, whatever it was given",
                                 in_a_row);
        if (++losses == MOST_RESTARTS || wfi_interrupted())
            return wfi_run_error("the driver was lost %u times", losses);
    }
    return WFI_EXIT_DONE;
}
