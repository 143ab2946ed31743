#include "tool/verify/search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/heap.h"
#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/verify/message.h"

#define HANG_SECONDS 300 /* a case of a driver that compiles slowly takes a minute */
#define LAST_SECONDS 10  /* for what a driver does at its end, once the process has told of it */
#define LOOK_SECONDS 0.1 /* between looks for Ctrl-C */
#define MOST_LOSSES 10   /* processes that end before their time */
#define EXIT_LOST 65     /* one of those */

bool wfi_search_open(wfi_search *s)
{
    s->state = calloc(1, sizeof *s->state);
    return s->state != NULL;
}

void wfi_search_close(wfi_search *s)
{
    for (uint32_t i = 0; i < s->state->name_count; i++)
        wfi_free(s->state->names[i]);
    free(s->state);
}

/* ------------------------------------------------------------------------------------- verdicts */

static void print_finding(const wfi_search *s, const wfi_verdict *v)
{
    char point[WFI_NOTE_BYTES] = "";
    if (wfi_json_on_stdout(s->common))
        return;
    wfi_progress_clear(s->common->quiet);
    wfi_line(WFI_LABEL_COLUMNS, "%s    case %" PRIu64 ": %s",
             v->status == WFI_STATUS_FAILED ? "wrong " : "failed", v->number, v->reason);
    wfi_line(WFI_LABEL_COLUMNS, "problem   %s %s %s", v->family_name, wf_type_name(v->type),
             v->problem);
    if (v->has_plan) {
        wfi_format_plan(&v->plan, point, sizeof point);
        wfi_line(WFI_LABEL_COLUMNS, "variant   %s", point);
    }
    for (uint64_t i = 0; i < v->check.wrong && i < WF_CHECK_MISMATCHES; i++)
        wfi_line(WFI_LABEL_COLUMNS, "%s %s: %.9g, not %.9g within %.2g",
                 i == 0 ? "elements " : "         ", v->places[i], v->check.mismatches[i].result,
                 v->check.mismatches[i].expected, v->check.mismatches[i].bound);
    wfi_line(WFI_LABEL_COLUMNS, "repeat    %s", v->repeat);
    fflush(stdout);
}

static void keep_finding(wfi_search *s, const wfi_verdict *v)
{
    struct wfi_search_state *state = s->state;
    state->failed++;
    if (state->count < WFI_MOST_FINDINGS)
        state->findings[state->count++] = *v;
    print_finding(s, v);
}

static void count_case(wfi_search *s, const wfi_verdict *v)
{
    struct wfi_search_state *state = s->state;
    wf_variant_info info;
    state->cases[v->kind]++;
    state->elements += v->check.checked;
    state->unsupported += v->status == WFI_STATUS_UNSUPPORTED;
    for (uint32_t i = 0; v->has_plan && wf_family_variant(v->family, i, &info) == WF_SUCCESS; i++)
        if (i < 64 && strcmp(info.name, v->plan.variant) == 0)
            state->kernels[v->kind] |= UINT64_C(1) << i;
    if (v->status == WFI_STATUS_FAILED || v->status == WFI_STATUS_ERROR)
        keep_finding(s, v);
}

static void name_repeat(const wfi_search *s, wfi_verdict *v)
{
    snprintf(v->repeat, sizeof v->repeat, "wavefit verify --seed %" PRIu64 " --case %" PRIu64 "%s",
             s->request.seed, v->number, s->options);
}

static void finish_case(wfi_search *s)
{
    wfi_verdict *v = &s->state->now;
    s->state->next = v->number + 1;
    s->state->within = false;
    name_repeat(s, v);
    if (v->status != WFI_STATUS_CANCELLED)
        count_case(s, v);
}

static void note_device(wfi_search *s, const wf_caps *caps)
{
    const wfi_session session = {.common = s->common, .caps = caps};
    if (!s->state->opened && !wfi_json_on_stdout(s->common))
        wfi_device_print(&session);
    s->state->caps = *caps;
    s->state->opened = true;
}

/* ------------------------------------------------------------------------------------ listening */

typedef struct listener {
    wfi_search *search;
    wfi_process child;
    bool told;          /* the process, that it should end */
    bool ending, hangs; /* it tells so, or was told to; it does not */
    double until;       /* then it hangs */
    int code;           /* what it tells of its end; -1: nothing */
} listener;

static void end_within(listener *l, double seconds)
{
    l->ending = true;
    l->until = wfi_host_seconds() + seconds;
}

static bool receive(listener *l, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        if (!l->told && wfi_interrupted()) {
            l->told = true;
            wfi_pipe_close(&l->child.to);
            end_within(l, WFI_GRACE_SECONDS);
        }
        l->hangs = wfi_host_seconds() > l->until;
        const int64_t got = l->hangs ? -1 : wfi_pipe_read(l->child.from, at, bytes, LOOK_SECONDS);
        if (got < 0)
            return false;
        at += got;
        bytes -= (size_t)got;
        if (got > 0 && !l->ending)
            l->until = wfi_host_seconds() + HANG_SECONDS;
    }
    return true;
}

/* The same text that lasts as long as the search. */
static const char *keep_name(struct wfi_search_state *state, const char *name)
{
    for (uint32_t i = 0; i < state->name_count; i++)
        if (strcmp(state->names[i], name) == 0)
            return state->names[i];
    char *copy = state->name_count < WFI_SEARCH_NAMES ? wfi_copy_text(name) : NULL;
    if (!copy)
        return "?";
    return state->names[state->name_count++] = copy;
}

static bool hear(listener *l, wfi_verify_message *m)
{
    const char **names[WFI_VERDICT_NAMES];
    uint64_t bytes = 0;
    if (!receive(l, m, sizeof *m) || !receive(l, &bytes, sizeof bytes))
        return false;
    char *texts = malloc((size_t)bytes);
    const bool ok = texts && receive(l, texts, (size_t)bytes);
    const char *at = texts;
    const uint32_t count = ok ? wfi_verdict_names(&m->verdict, names) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = wfi_texts_take(&at);
        *names[i] = name ? keep_name(l->search->state, name) : NULL;
    }
    free(texts);
    return ok;
}

static void show_progress(const wfi_search *s)
{
    const struct wfi_search_state *state = s->state;
    char text[64];
    const double part = (wfi_host_seconds() - state->begun) / s->seconds;
    snprintf(text, sizeof text, "case %" PRIu64 ", %" PRIu64 " failed", state->next, state->failed);
    wfi_progress_show(s->common->quiet, part < 1 ? part : 1, text);
}

static void listen_to_child(listener *l)
{
    static wfi_verify_message m;
    wfi_search *s = l->search;
    while (hear(l, &m)) {
        switch (m.tells) {
        case WFI_VERIFY_OPENED:
            note_device(s, &m.caps);
            break;
        case WFI_VERIFY_AT:
            s->state->now = m.verdict;
            s->state->within = true;
            break;
        case WFI_VERIFY_CASE:
            s->state->now = m.verdict;
            finish_case(s);
            break;
        case WFI_VERIFY_LOSS:
        case WFI_VERIFY_END:
            l->code = m.tells == WFI_VERIFY_LOSS ? EXIT_LOST : m.code;
            end_within(l, LAST_SECONDS);
            continue;
        }
        show_progress(s);
    }
    wfi_progress_clear(s->common->quiet);
}

/* ----------------------------------------------------------------------------------- the search */

/* What the process was at when it ended. */
static void blame(wfi_search *s, const char *how)
{
    wfi_verdict *v = &s->state->now;
    if (!s->state->within)
        return;
    s->state->within = false;
    s->state->next = v->number + 1;
    v->status = WFI_STATUS_ERROR;
    v->check = (wf_check){0};
    snprintf(v->reason, sizeof v->reason, "it ended the process: %s", how);
    name_repeat(s, v);
    s->state->cases[v->kind]++;
    keep_finding(s, v);
}

static bool is_over(const wfi_search *s)
{
    const struct wfi_search_state *state = s->state;
    if (wfi_interrupted() || (s->most && state->next >= s->most))
        return true;
    return state->next > 0 && wfi_host_seconds() - state->begun > s->seconds;
}

/* Runs cases in a process until it ends. Returns the exit code that it tells; EXIT_LOST where the
 * device was lost, or where the process ended without a word: then the case that it was at is to
 * blame, unless it was to end. */
static int run_cases(wfi_search *s)
{
    wfi_process_end end;
    listener l = {.search = s, .code = -1};
    const wfi_verify_job job = {.request = s->request,
                                .first = s->state->next,
                                .most = s->most,
                                .until = s->state->begun + s->seconds,
                                .common = *s->common};
    if (!wfi_process_start(WFI_ROLE_VERIFY, &l.child))
        return wfi_run_error("no child process can be started: %s", strerror(errno));
    l.until = wfi_host_seconds() + HANG_SECONDS;
    /* One that is gone already shows that when it is listened to. */
    wfi_verify_job_send(&l.child, &job);
    listen_to_child(&l);
    const bool gone = wfi_process_reap(&l.child, l.hangs, &end), interrupted = wfi_interrupted();
    if (l.code < 0 && !interrupted)
        blame(s, l.hangs ? "the driver did not come back" : end.how);
    if (!gone && !interrupted)
        return wfi_run_error("verify: the driver hangs and its process cannot be ended");
    return l.code < 0 ? EXIT_LOST : l.code;
}

static int conclude(const wfi_search *s, int code)
{
    const struct wfi_search_state *state = s->state;
    uint64_t cases = 0;
    for (int f = 0; f < WFI_VERIFY_KIND_COUNT; f++)
        cases += state->cases[f];
    if (code != WFI_EXIT_DONE)
        return code;
    if (state->failed)
        return wfi_run_error("verify: %" PRIu64 " of %" PRIu64 " cases failed%s", state->failed,
                             cases, s->common->json ? "" : " (--json FILE writes a report)");
    if (wfi_interrupted())
        return wfi_run_error("verify: interrupted after %" PRIu64 " cases", cases);
    return WFI_EXIT_DONE;
}

int wfi_search_run(wfi_search *s)
{
    int code = EXIT_LOST, losses = 0;
    wfi_interrupted();
    s->state->begun = wfi_host_seconds();
    while (code == EXIT_LOST && losses < MOST_LOSSES && !is_over(s)) {
        code = run_cases(s);
        if (code != EXIT_LOST)
            break;
        losses++;
        if (s->state->next == 0 && !wfi_interrupted())
            return wfi_run_error("verify: the driver ended the process when the device was opened");
    }
    s->state->took = wfi_host_seconds() - s->state->begun;
    if (losses == MOST_LOSSES)
        wfi_run_error("verify: the search ended early, since the driver did %d times", losses);
    return conclude(s, code == EXIT_LOST ? WFI_EXIT_DONE : code);
}

int wfi_search_one(wfi_search *s, uint64_t number)
{
    wfi_session session;
    s->state->begun = wfi_host_seconds();
    const int code = wfi_session_open(&session, s->common);
    if (code != WFI_EXIT_DONE)
        return code;
    note_device(s, session.caps);
    wfi_verify_case(&session, &s->request, number, NULL, &s->state->now);
    finish_case(s);
    s->state->took = wfi_host_seconds() - s->state->begun;
    wfi_session_close(&session);
    return conclude(s, code);
}

void wfi_search_as_child(int argc, char **argv)
{
    wfi_starter starter;
    if (!wfi_process_is(argc, argv, WFI_ROLE_VERIFY, &starter))
        return;
    const int code = wfi_verify_child_main(&starter);
    fflush(NULL);
    wfi_process_leave(code); /* whatever drivers do when a program ends */
}
