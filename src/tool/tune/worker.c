#include "tool/tune/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tool/cli/clock.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/cli/thread_jobs.h"

#define KILL_SECONDS 10 /* how long a killed one may take to go */
#define GRACE_SECONDS 1 /* how long one that is told to end may take to do so by itself */
#define LOOK_MILLISECONDS                                                                          \
    100 /* Ctrl-C may come between the look for it and the wait for the child */
#define TELL_TO_END SIGTERM
#define INTERRUPTED "interrupted"
#define MOST_RESTARTS 64
#define MOST_IN_A_ROW 16 /* lost without a point that ran: it is the device */
/* The exit code of a child that lost its device. */
#define EXIT_LOST 65
#define COMPARE_SECONDS 3.0 /* of the interleaved run at the end of a comparison */

/* What the child tells: where it is, or the outcome of a problem. */
typedef struct message {
    uint32_t problem;
    bool is_outcome;
    bool compiles; /* kernels of several points */
    union {
        wf_tune_progress progress;
        wfi_tune_outcome outcome;
    };
} message;

/* A link that stands there is not followed. */ /* A link that stands there is not followed. */
static bool empty_journal(const char *path)
{
    const int fd = *path ? open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0)
        return !*path || errno == ENOENT;
    const bool ok = ftruncate(fd, 0) == 0;
    close(fd);
    return ok;
}

/* -------------------------------------------------------------------------------------- the child */

typedef struct child {
    const wfi_tune_work *work;
    uint32_t problem;
    int to;              /* pipe */
    const wf_jobs *jobs; /* NULL: kernels are compiled one by one */
} child;

static void tell(const child *c, const message *m)
{
    const char *at = (const char *)m;
    size_t left = sizeof *m;
    while (left > 0) {
        const ssize_t written = write(c->to, at, left);
        if (written <= 0 && errno != EINTR)
            return;
        if (written > 0) {
            at += written;
            left -= (size_t)written;
        }
    }
}

static bool note_progress(void *user, const wf_tune_progress *progress)
{
    const child *c = user;
    message m;
    memset(&m, 0, sizeof m);
    m.problem = c->problem;
    m.compiles = strcmp(progress->stage, "compiling") == 0;
    m.progress = *progress;
    /* The names are of this process; the parent only shows them. */
    m.progress.stage = NULL;
    tell(c, &m);
    return !wfi_interrupted();
}

void wfi_tuned_point_text(const wfi_tuned_point *point, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", point->variant);
    for (uint32_t i = 0; i < point->count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, " %s=%u", point->names[i],
                                 point->values[i]);
}

static wfi_tuned_point point_of(const wf_plan_info *plan, double us)
{
    wfi_tuned_point point = {.us = us, .count = plan->constant_count};
    snprintf(point.variant, sizeof point.variant, "%s", plan->variant ? plan->variant : "");
    snprintf(point.by, sizeof point.by, "%s", plan->chosen_by ? plan->chosen_by : "");
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        snprintf(point.names[i], sizeof point.names[i], "%s", plan->constants[i].name);
        point.values[i] = plan->constants[i].value;
    }
    return point;
}

static void tell_why(const wfi_session *session, wf_result result, wfi_tune_outcome *o)
{
    snprintf(o->error, sizeof o->error, "%.500s",
             result == WF_ERROR_CANCELLED ? INTERRUPTED
             : *session->error            ? session->error
                                          : wf_result_string(result));
}

/* What --variant and --set leave of the points; NULL: all. */
static const wf_tuning *within_of(const wfi_common *common, wf_tuning *within)
{
    *within = (wf_tuning){.size = sizeof *within,
                          .variant = common->variant,
                          .constants = common->constants,
                          .constant_count = common->constant_count};
    return common->variant || common->constant_count ? within : NULL;
}

static void fill_outcome(wfi_session *session, const wf_tune_result *r, wf_result result,
                         wfi_tune_outcome *o)
{
    o->result = result;
    o->done = result == WF_SUCCESS;
    if (!o->done)
        tell_why(session, result, o);
    o->before = point_of(&r->before, r->before_us);
    o->best = point_of(&r->best, r->best_us);
    o->spread = r->spread;
    o->measured = r->measured;
    o->wrong = r->wrong;
    o->spilling = r->spilling;
    o->legal = r->legal;
    o->finished = r->finished;
    o->kept = r->kept;
}

/* The point that a search of `seconds` finds, kept nowhere. */
static wf_result find(child *c, wfi_session *session, const wf_tune_params *base, double seconds,
                      bool exhaustive, uint64_t seed, wf_tune_result *r)
{
    wf_tune_params params = *base;
    params.budget_seconds = seconds;
    params.exhaustive = exhaustive;
    params.discard = params.again = true;
    params.seed = seed;
    params.user = c;
    *r = (wf_tune_result){.size = sizeof *r};
    return wf_tune(session->device, &params, r);
}

/* All there is to choose from, one beside the other. */
static wf_result compare(child *c, wfi_session *session, const wf_tune_params *params,
                         wfi_tune_outcome *o)
{
    static const bool exhaustive[] = {false, false, true};
    wf_tune_result found[3];
    wf_plan_info infos[WFI_TUNE_RIVALS];
    wf_tuning tunings[WFI_TUNE_RIVALS];
    wf_result result = WF_SUCCESS;
    for (int i = 0; i < WFI_TUNE_RIVALS; i++) {
        within_of(c->work->common, &tunings[i]);
        tunings[i].skip_levels = WF_TUNING_MEASURED;
        infos[i] = (wf_plan_info){.size = sizeof infos[i]};
    }
    tunings[WFI_RIVAL_MODEL].no_tuning = true;
    tunings[WFI_RIVAL_LEFT_OUT].skip_levels |= WF_TUNING_DEVICE_ROWS;
    const double budget = c->work->budget_seconds;
    const double all = c->work->all_seconds > 0 ? c->work->all_seconds : 3 * budget;
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        wf_tuning *tuning = &tunings[WFI_RIVAL_TUNED + i];
        result = find(c, session, params, exhaustive[i] ? all : budget, exhaustive[i],
                      c->work->common->seed + (uint64_t)i, &found[i]);
        tuning->variant = found[i].best.variant;
        tuning->constants = found[i].best.constants;
        tuning->constant_count = found[i].best.constant_count;
        tuning->no_tuning = true;
    }
    if (result == WF_SUCCESS)
        result = wf_tune_compare(session->device, params, tunings, WFI_TUNE_RIVALS, infos,
                                 o->rival_us, o->rival_noise);
    o->done = result == WF_SUCCESS;
    for (int i = 0; i < WFI_TUNE_RIVALS && o->done; i++) {
        const wfi_tuned_point point = point_of(&infos[i], 0);
        memcpy(o->rival_by[i], point.by, sizeof o->rival_by[i]);
        wfi_tuned_point_text(&point, o->rival_point[i], sizeof o->rival_point[i]);
    }
    if (o->done) {
        o->measured = found[2].measured;
        o->legal = found[2].legal;
    }
    return result;
}

/* False: the device was lost, and with it what this process can do. */
static bool search(child *c, wfi_session *session, double seconds)
{
    const wfi_tune_work *work = c->work;
    wfi_tune_data data;
    char error[1024];
    message m;
    memset(&m, 0, sizeof m);
    m.problem = c->problem;
    m.is_outcome = true;
    wf_tune_params params = {.size = sizeof params,
                             .budget_seconds = seconds,
                             .exhaustive = work->exhaustive,
                             .again = work->again,
                             .discard = work->discard,
                             .seed = work->common->seed,
                             .progress = note_progress,
                             .user = c,
                             .jobs = c->jobs};
    wf_tuning within;
    params.within = within_of(work->common, &within);
    session->error[0] = '\0';
    if (wfi_tune_data_make(&work->problems[c->problem], work->common->seed, &data, &params,
                           error)) {
        wf_tune_result r = {.size = sizeof r};
        wf_result result;
        if (work->compare) {
            result = compare(c, session, &params, &m.outcome);
            m.outcome.result = result;
            if (result != WF_SUCCESS)
                tell_why(session, result, &m.outcome);
        } else {
            result = wf_tune(session->device, &params, &r);
            fill_outcome(session, &r, result, &m.outcome);
        }
        m.outcome.rows = data.matrix.rows;
        m.outcome.columns = data.matrix.columns;
        m.outcome.entries = data.matrix.entries;
        wfi_tune_data_free(&data);
        if (result == WF_ERROR_DEVICE_LOST)
            return false;
    } else {
        m.outcome.result = WF_ERROR_INVALID_ARGUMENT;
        snprintf(m.outcome.error, sizeof m.outcome.error, "%.500s", error);
    }
    tell(c, &m);
    return true;
}

/* The parent holds the other end of the pipe: when it closes, the parent is gone, however it ended,
 * and what is searched for has no reader. A driver that does not come back is left then, as the
 * parent would. */
typedef struct watch {
    int pipe;
    const char *journal; /* "": none */
} watch;

static void *watch_parent(void *user)
{
    const watch *w = user;
    struct pollfd end = {.fd = w->pipe};
    while (poll(&end, 1, -1) < 0 || !(end.revents & (POLLERR | POLLHUP)))
        ;
    wfi_interrupt();
    nanosleep(&(struct timespec){.tv_sec = GRACE_SECONDS}, NULL);
    empty_journal(w->journal);
    _exit(WFI_EXIT_FAILED);
}

/* *w stays where it is until the process ends. */
static void start_watch(watch *w)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch_parent, w) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Searches from `first` on, the time that is left shared among the problems that are. */
static int child_main(const wfi_tune_work *work, uint32_t first, double left, bool one_by_one,
                      int to)
{
    wfi_session session;
    child c = {work, first, to, one_by_one ? NULL : &wfi_thread_jobs};
    const double until = wfi_clock_seconds() + left;
    watch of_parent = {to, work->device->journal};
    wfi_interrupted_by(TELL_TO_END);
    start_watch(&of_parent);
    int code = wfi_session_open_captured(&session, work->common);
    if (code != WFI_EXIT_DONE)
        return code;
    for (; code == WFI_EXIT_DONE && c.problem < work->count && !wfi_interrupted(); c.problem++) {
        const double remaining = until - wfi_clock_seconds();
        const double share = work->compare      ? fmin(work->budget_seconds, COMPARE_SECONDS)
                             : work->exhaustive ? work->budget_seconds
                                                : remaining / (work->count - c.problem);
        if (!search(&c, &session, share > 0.2 ? share : 0.2))
            code = EXIT_LOST;
    }
    wfi_session_close(&session);
    return code;
}

/* ------------------------------------------------------------------------------------- the parent */

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
    p->kill_at = wfi_clock_seconds() + GRACE_SECONDS;
    kill(p->child, TELL_TO_END);
}

/* True when a whole message came; false at the end, or after too long a silence, or when it does not
 * end although it was told (*hangs). */
static bool hear(parent *p, message *m, bool *hangs)
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
    message m;
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

/* Waits for the end of a child; one that hangs is killed, and one that cannot be killed is left. */
static bool reap(pid_t pid, bool hangs, int *status)
{
    if (hangs)
        kill(pid, SIGKILL);
    const double until = wfi_clock_seconds() + KILL_SECONDS;
    for (;;) {
        const pid_t got = waitpid(pid, status, hangs ? WNOHANG : 0);
        if (got == pid)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (hangs && wfi_clock_seconds() > until)
            return false;
        if (hangs)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
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
        const int code = child_main(p->work, first, left, p->one_by_one, ends[1]);
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
            snprintf(o->error, sizeof o->error, INTERRUPTED);
    }
    if (killed && !empty_journal(work->device->journal))
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
        if (!reap(p.child, hangs, &status))
            return wfi_run_error("%s: the driver hangs and its process cannot be ended", p.trying);
        /* The child may have had the signal too, and have been faster. */
        p.told = p.told || wfi_interrupted();
        wfi_progress_clear(work->common->quiet);
        const bool killed = hangs || (WIFSIGNALED(status) && WTERMSIG(status) == TELL_TO_END);
        if (p.told && (killed || WIFEXITED(status))) {
            note_interruption(&p, killed);
            return WFI_EXIT_DONE;
        }
        if (!hangs && WIFEXITED(status) && WEXITSTATUS(status) != EXIT_LOST)
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

/* Opens the device and writes what it is to the pipe. */
static int probe_main(const wfi_common *common, int to)
{
    wfi_session session;
    wfi_tune_device device;
    memset(&device, 0, sizeof device);
    watch of_parent = {to, ""};
    start_watch(&of_parent);
    const int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_caps *caps = session.caps;
    device.cpu = caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    snprintf(device.name, sizeof device.name, "%s", caps->name);
    snprintf(device.driver, sizeof device.driver, "%.120s %.120s", caps->driver_name,
             caps->driver_info);
    const char *path = wf_tuning_path(session.device);
    if (path)
        snprintf(device.journal, sizeof device.journal, "%s.search", path);
    device.caps = *caps;
    const bool told = write(to, &device, sizeof device) == (ssize_t)sizeof device;
    wfi_session_close(&session);
    return told ? WFI_EXIT_DONE : WFI_EXIT_FAILED;
}

int wfi_tune_probe(const wfi_common *common, wfi_tune_device *out)
{
    int status = 0, ends[2];
    fflush(NULL);
    const pid_t pid = pipe(ends) == 0 ? fork() : -1;
    if (pid < 0)
        return wfi_run_error("no child process can be started: %s", strerror(errno));
    if (pid == 0) {
        close(ends[0]);
        _exit(probe_main(common, ends[1]));
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t part = 1; part > 0 && got<sizeof *out; got += part> 0 ? (size_t)part : 0)
        part = read(ends[0], (char *)out + got, sizeof *out - got);
    const bool heard = got == sizeof *out;
    const bool reaped = reap(pid, false, &status);
    close(ends[0]); /* not before: the child would take it for this process's end */
    if (!reaped || !WIFEXITED(status))
        return wfi_run_error("the driver crashes when the device is opened");
    return WEXITSTATUS(status) == WFI_EXIT_DONE && !heard ? WFI_EXIT_FAILED : WEXITSTATUS(status);
}
