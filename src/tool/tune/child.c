#include "tool/tune/child.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/thread_jobs.h"
#include "tool/tune/job.h"

#define COMPARE_SECONDS 3.0 /* of the interleaved run at the end of a comparison */
#define WEIGH_SECONDS 0.5   /* of one of two choices */

typedef struct child {
    const wfi_tune_work *work;
    uint32_t problem;
    intptr_t to;         /* pipe */
    const wf_jobs *jobs; /* NULL: kernels are compiled one by one */
    bool searches;       /* for the problem: it told of its progress */
} child;

static void tell(const child *c, const wfi_child_message *m)
{
    wfi_pipe_write(c->to, m, sizeof *m); /* where nobody reads it, that is noticed elsewhere */
}

static bool note_progress(void *user, const wf_tune_progress *progress)
{
    child *c = user;
    wfi_child_message m;
    c->searches = true;
    memset(&m, 0, sizeof m);
    m.problem = c->problem;
    m.compiles = strcmp(progress->stage, "compiling") == 0;
    m.decides = strcmp(progress->stage, "deciding") == 0;
    m.progress = *progress;
    /* The names are of this process; the parent only shows them. */
    m.progress.stage = NULL;
    tell(c, &m);
    return !wfi_interrupted();
}

static void tell_why(const wfi_session *session, wf_result result, wfi_tune_outcome *o)
{
    snprintf(o->error, sizeof o->error, "%.500s",
             result == WF_ERROR_CANCELLED ? WFI_INTERRUPTED
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
    o->before = wfi_tuned_point_of(&r->before, r->before_us);
    o->best = wfi_tuned_point_of(&r->best, r->best_us);
    o->spread = r->spread;
    o->measured = r->measured;
    o->wrong = r->wrong;
    o->spilling = r->spilling;
    o->legal = r->legal;
    o->finished = r->finished;
    o->drawn = r->drawn;
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
    const int searches = c->work->all_seconds < 0 ? 2 : 3; /* the last is the exhaustive one */
    const uint32_t rivals = WFI_RIVAL_TUNED + (uint32_t)searches;
    for (int i = 0; i < searches && result == WF_SUCCESS; i++) {
        wf_tuning *tuning = &tunings[WFI_RIVAL_TUNED + i];
        result = find(c, session, params, exhaustive[i] ? all : budget, exhaustive[i],
                      c->work->common->seed + (uint64_t)i, &found[i]);
        tuning->variant = found[i].best.variant;
        tuning->constants = found[i].best.constants;
        tuning->constant_count = found[i].best.constant_count;
        tuning->no_tuning = true;
    }
    if (result == WF_SUCCESS)
        result = wf_tune_compare(session->device, params, tunings, rivals, infos, o->rival_us,
                                 o->rival_noise);
    o->done = result == WF_SUCCESS;
    for (uint32_t i = 0; i < rivals && o->done; i++) {
        const wfi_tuned_point point = wfi_tuned_point_of(&infos[i], 0);
        memcpy(o->rival_by[i], point.by, sizeof o->rival_by[i]);
        wfi_tuned_point_text(&point, o->rival_point[i], sizeof o->rival_point[i]);
    }
    if (o->done && searches == 3) {
        o->measured = found[2].measured;
        o->legal = found[2].legal;
    }
    return result;
}

/* What is chosen without and with what was tuned and measured on this device, in turn. */
static wf_result weigh(wfi_session *session, const wf_tune_params *params, wfi_tune_outcome *o)
{
    const wf_tuning tunings[] = {
        {.size = sizeof *tunings, .skip_levels = WF_TUNING_MEASURED | WF_TUNING_RATES},
        {.size = sizeof *tunings}};
    wf_plan_info infos[] = {{.size = sizeof *infos}, {.size = sizeof *infos}};
    double us[2], noise[2];
    const wf_result result = wf_tune_compare(session->device, params, tunings, 2, infos, us, noise);
    o->done = result == WF_SUCCESS;
    if (o->done) {
        o->before = wfi_tuned_point_of(&infos[0], us[0]);
        o->best = wfi_tuned_point_of(&infos[1], us[1]);
        o->spread = fmax(noise[0], noise[1]);
    }
    return result;
}

/* False: the device was lost, and with it what this process can do. */
static bool search(child *c, wfi_session *session, double seconds)
{
    const wfi_tune_work *work = c->work;
    wfi_problem_data data;
    char error[1024];
    wfi_child_message m;
    memset(&m, 0, sizeof m);
    m.problem = c->problem;
    m.tells = WFI_TELLS_OUTCOME;
    wf_tune_params params = {.size = sizeof params,
                             .budget_seconds = seconds,
                             .exhaustive = work->exhaustive,
                             .again = work->again,
                             .discard = work->discard,
                             .seed = work->common->seed,
                             .progress = note_progress,
                             .user = c,
                             .jobs = c->jobs,
                             .unless_kept = work->unless_kept};
    wf_tuning within;
    params.within = within_of(work->common, &within);
    session->error[0] = '\0';
    if (wfi_tune_data_make(&work->problems[c->problem], work->common->seed, &data, &params,
                           error)) {
        wf_tune_result r = {.size = sizeof r};
        wf_result result;
        if (work->compare || work->weigh) {
            result = work->weigh ? weigh(session, &params, &m.outcome)
                                 : compare(c, session, &params, &m.outcome);
            m.outcome.result = result;
            if (result != WF_SUCCESS)
                tell_why(session, result, &m.outcome);
        } else {
            c->searches = false;
            result = wf_tune(session->device, &params, &r);
            fill_outcome(session, &r, result, &m.outcome);
            m.outcome.searched = c->searches;
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

/* Returns whether the device is still there. */
static bool search_all(child *c, wfi_session *session, const wfi_tune_job *job)
{
    const wfi_tune_work *work = &job->work;
    const double until = wfi_host_seconds() + job->left;
    for (; c->problem < work->count && !wfi_interrupted(); c->problem++) {
        const double remaining = until - wfi_host_seconds();
        if (work->ends && remaining <= 0)
            break;
        const double equal = remaining / (work->count - c->problem);
        const double share = work->compare      ? fmin(work->budget_seconds, COMPARE_SECONDS)
                             : work->weigh      ? fmin(equal, WEIGH_SECONDS)
                             : work->exhaustive ? work->budget_seconds
                                                : equal;
        if (!search(c, session, share > 0.2 ? share : 0.2))
            return false;
    }
    return true;
}

/* A model that guesses is no reason not to search. */
static void calibrate(wfi_session *session)
{
    wf_calibration found = {.size = sizeof found};
    const wf_calibrate_params params = {.size = sizeof params, .jobs = &wfi_thread_jobs};
    wf_calibrate(session->device, &params, &found);
    session->error[0] = '\0';
}

int wfi_child_main(const wfi_starter *starter)
{
    static wfi_tune_job job;
    static wfi_child_message end = {.tells = WFI_TELLS_END};
    wfi_session session;
    wfi_interrupts_are_the_starters();
    if (!wfi_job_hear(starter, &job))
        return WFI_EXIT_FAILED;
    child c = {&job.work, job.first, starter->to, job.one_by_one ? NULL : &wfi_thread_jobs, false};
    wfi_process_watch_starter(starter, job.device.journal);
    end.code = wfi_session_open_captured(&session, &job.common);
    if (end.code == WFI_EXIT_DONE) {
        if (job.work.calibrates)
            calibrate(&session);
        const bool there = search_all(&c, &session, &job);
        if (!there) {
            end.tells = WFI_TELLS_LOSS;
            tell(&c, &end); /* before the driver is asked to give back what is lost */
        }
        wfi_session_close(&session);
        if (!there)
            return WFI_EXIT_FAILED;
    }
    tell(&c, &end);
    return end.code;
}
