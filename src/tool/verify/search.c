#include "tool/verify/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/verify/apart.h"

#define HANG_SECONDS 300 /* a case of a driver that compiles slowly takes a minute */
#define MOST_LOSSES 10   /* processes that end before their time */
#define EXIT_LOST 65     /* of a child whose device is lost */

bool wfi_search_open(wfi_search *s)
{
    s->state = wfi_apart_memory(sizeof *s->state);
    return s->state != NULL;
}

void wfi_search_close(wfi_search *s)
{
    wfi_apart_free(s->state, sizeof *s->state);
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

static wf_result run_case(wfi_search *s, wfi_session *session, uint64_t number)
{
    wfi_verdict *v = &s->state->now;
    s->state->next = number + 1;
    const wf_result result = wfi_verify_case(session, &s->request, number, v);
    name_repeat(s, v);
    if (v->status != WFI_STATUS_CANCELLED)
        count_case(s, v);
    return result;
}

/* ---------------------------------------------------------------------------------------- child */

static bool is_over(const wfi_search *s)
{
    const struct wfi_search_state *state = s->state;
    if (wfi_interrupted() || (s->most && state->next >= s->most))
        return true;
    return state->next > 0 && wfi_host_seconds() - state->begun > s->seconds;
}

static int open_device(wfi_search *s, wfi_session *session)
{
    const int code = wfi_session_open(session, s->common);
    if (code != WFI_EXIT_DONE)
        return code;
    if (!s->state->opened && !wfi_json_on_stdout(s->common))
        wfi_device_print(session);
    fflush(stdout);
    s->state->caps = *session->caps;
    s->state->opened = true;
    return WFI_EXIT_DONE;
}

static int run_cases(void *user)
{
    wfi_search *s = user;
    struct wfi_search_state *state = s->state;
    wfi_session session;
    int code = open_device(s, &session);
    if (code != WFI_EXIT_DONE)
        return code;
    while (!is_over(s) && code == WFI_EXIT_DONE) {
        char text[64];
        const double part = (wfi_host_seconds() - state->begun) / s->seconds;
        snprintf(text, sizeof text, "case %" PRIu64 ", %" PRIu64 " failed", state->next,
                 state->failed);
        wfi_progress_show(s->common->quiet, part < 1 ? part : 1, text);
        if (run_case(s, &session, state->next) == WF_ERROR_DEVICE_LOST)
            code = EXIT_LOST;
    }
    wfi_progress_clear(s->common->quiet);
    wfi_session_close(&session);
    return code;
}

/* --------------------------------------------------------------------------------------- parent */

/* What the process was at when it ended. */
static void blame(wfi_search *s, const char *how)
{
    wfi_verdict *v = &s->state->now;
    if (s->state->next == 0)
        return;
    v->status = WFI_STATUS_ERROR;
    v->check = (wf_check){0};
    snprintf(v->reason, sizeof v->reason, "it ended the process: %s", how);
    name_repeat(s, v);
    s->state->cases[v->kind]++;
    keep_finding(s, v);
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
    while (code == EXIT_LOST && !is_over(s)) {
        const char *how = "";
        code = wfi_apart_run(run_cases, s, &s->state->next, HANG_SECONDS, &how);
        if (code < 0 && !wfi_interrupted())
            blame(s, how);
        if ((code < 0 || code == EXIT_LOST) && ++losses < MOST_LOSSES && s->state->next > 0)
            code = EXIT_LOST;
    }
    s->state->took = wfi_host_seconds() - s->state->begun;
    if (code < 0 && s->state->next == 0)
        return wfi_run_error("verify: the driver ended the process when the device was opened");
    if (losses == MOST_LOSSES)
        wfi_run_error("verify: the search ended early, since the driver did %d times", losses);
    return conclude(s, code < 0 || code == EXIT_LOST ? WFI_EXIT_DONE : code);
}

int wfi_search_one(wfi_search *s, uint64_t number)
{
    wfi_session session;
    s->state->begun = wfi_host_seconds();
    const int code = open_device(s, &session);
    if (code != WFI_EXIT_DONE)
        return code;
    run_case(s, &session, number);
    s->state->took = wfi_host_seconds() - s->state->begun;
    wfi_session_close(&session);
    return conclude(s, code);
}
