#include "tool/commands/sustained.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tool/cases/families.h"
#include "tool/cases/load.h"
#include "core/platform.h"
#include "tool/cli/curve.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/report/page.h"
#include "tool/cli/table.h"

#define WINDOW_SECONDS 1.0
#define SUBMIT_SECONDS 0.05 /* far under any watchdog, long against a submit */
#define MOST_EXECUTIONS 4096
#define MOST_MINUTES 1440
#define NAP_SECONDS 0.1
#define CURVE_ROWS 16
#define DEFAULT_WORK_SECONDS 60
#define BAR_WIDTH 40

typedef struct run {
    wfi_session *session;
    wfi_load load;
    wfi_sustained sustained;
    wfi_curve curve;
    double begin;   /* host clock */
    uint32_t count; /* executions a submission */
    double worked;  /* seconds since the last pause */
    bool gpu_clock;
} run;

static void show(const run *r, const char *what, double rate)
{
    char text[64], line[192];
    const double at = wfi_host_seconds() - r->begin;
    if (isnan(rate)) {
        wfi_progress_show(r->session->common->quiet, at / r->sustained.asked_seconds, "a pause");
        return;
    }
    wfi_format_rate(rate, "GFLOPS", text, sizeof text);
    snprintf(line, sizeof line, "%s, %s", what, text);
    wfi_progress_show(r->session->common->quiet, at / r->sustained.asked_seconds, line);
}

/* Aims the next submission at SUBMIT_SECONDS; grows slowly, since the first ones also compile. */
static void resize(run *r, double seconds)
{
    const double wanted = r->count * SUBMIT_SECONDS / (seconds > 1e-6 ? seconds : 1e-6);
    const double most = 4.0 * r->count < MOST_EXECUTIONS ? 4.0 * r->count : MOST_EXECUTIONS;
    r->count = wanted < 1 ? 1 : (uint32_t)(wanted > most ? most : wanted);
}

/* One window of work, at least WINDOW_SECONDS long. */
static wf_result work(run *r, const char *name)
{
    const double start = wfi_host_seconds();
    double executions = 0, elapsed = 0;
    wf_result result = WF_SUCCESS;
    while (elapsed < WINDOW_SECONDS && result == WF_SUCCESS && !wfi_interrupted()) {
        double seconds = 0;
        result = wfi_load_run(&r->load, r->count, &seconds, &r->gpu_clock);
        executions += r->count;
        elapsed = wfi_host_seconds() - start;
        resize(r, seconds);
    }
    if (result != WF_SUCCESS || elapsed <= 0)
        return result;
    const double rate = executions * r->load.flops / elapsed * 1e-9;
    r->worked += elapsed;
    show(r, name, rate);
    return wfi_curve_add(&r->curve, start - r->begin, elapsed, rate) ? WF_SUCCESS
                                                                     : WF_ERROR_OUT_OF_HOST_MEMORY;
}

static wf_result pause_(run *r)
{
    const double start = wfi_host_seconds();
    while (wfi_host_seconds() - start < r->sustained.pause_seconds && !wfi_interrupted()) {
        wfi_sleep(NAP_SECONDS);
        show(r, "", (double)NAN);
    }
    r->worked = 0;
    return wfi_curve_add(&r->curve, start - r->begin, wfi_host_seconds() - start, (double)NAN)
               ? WF_SUCCESS
               : WF_ERROR_OUT_OF_HOST_MEMORY;
}

static wf_result run_all(run *r, const char *name)
{
    wf_result result = WF_SUCCESS;
    r->begin = wfi_host_seconds();
    r->count = 1;
    while (result == WF_SUCCESS && !wfi_interrupted() &&
           wfi_host_seconds() - r->begin < r->sustained.asked_seconds) {
        const bool tired = r->sustained.pause_seconds > 0 && r->worked >= r->sustained.work_seconds;
        result = tired ? pause_(r) : work(r, name);
    }
    wfi_progress_clear(r->session->common->quiet);
    return result;
}

static void print_rate(const char *label, double rate, const char *more)
{
    char text[64];
    wfi_format_rate(rate, "GFLOPS", text, sizeof text);
    printf("%-9s %s%s\n", label, text, more);
}

/* At most CURVE_ROWS windows, evenly chosen, with bars. */
static void print_curve(const wfi_sustained *s)
{
    const uint32_t step = (s->count + CURVE_ROWS - 1) / CURVE_ROWS;
    char text[64];
    puts("");
    for (uint32_t i = 0; i < s->count; i += step) {
        const wfi_window *w = &s->windows[i];
        char bar[BAR_WIDTH + 1] = "";
        if (isnan(w->rate)) {
            printf("%7.0f s  a pause of %.0f s\n", w->start, w->seconds);
            continue;
        }
        memset(bar, '#', (size_t)(w->rate / s->best * BAR_WIDTH));
        wfi_format_rate(w->rate, "GFLOPS", text, sizeof text);
        printf("%7.0f s  %12s  %s\n", w->start, text, bar);
    }
}

static void print_results(const run *r, const wfi_result_case *c)
{
    const wfi_sustained *s = &r->sustained;
    char more[96];
    wfi_case_print(r->session, c);
    if (wfi_json_on_stdout(r->session->common) || isnan(s->first))
        return;
    print_rate("first", s->first, ", the first second");
    print_rate("best", s->best, "");
    if (isnan(s->settled)) {
        puts("settled   too short a run to say");
    } else {
        snprintf(more, sizeof more, ", %.1f %% of the first second (last quarter within %.1f %%)",
                 s->settled / s->first * 100, s->settled_spread * 100);
        print_rate("settled", s->settled, more);
    }
    if (!isnan(s->slower_at))
        printf("slower    than 95 %% of its best from %.0f s on\n", s->slower_at);
    print_curve(s);
}

static bool parse(const char *minutes, const wfi_sustained_request *request, wf_family *family,
                  wfi_sustained *out)
{
    double value;
    *out = (wfi_sustained){.work_seconds = DEFAULT_WORK_SECONDS};
    if (!wfi_parse_minutes("--sustained", minutes, MOST_MINUTES, &value))
        return false;
    out->asked_seconds = value * 60;
    if ((request->work && !wfi_parse_seconds("--work", request->work, &out->work_seconds)) ||
        (request->pause && !wfi_parse_seconds("--pause", request->pause, &out->pause_seconds)))
        return false;
    if (request->family && wfi_parse_family("--family", request->family, family) != WFI_EXIT_DONE)
        return false;
    if (wfi_tool_family_of(*family)->load)
        return true;
    wfi_usage_error("--family: --sustained has no load of %s (matmul, spmv, himeno)",
                    request->family);
    return false;
}

static int run_case(run *r, wf_family family, wfi_result_case *c)
{
    wf_result result =
        wfi_load_make(r->session, family, wfi_tool_family_of(family)->load, &r->load, c);
    if (result == WF_SUCCESS)
        result = run_all(r, c->name);
    const bool cancelled = wfi_interrupted();
    if (result == WF_ERROR_CANCELLED)
        result = WF_SUCCESS; /* what ran before it counts */
    wfi_curve_summarise(&r->curve, &r->sustained);
    c->sustained = &r->sustained;
    c->rate = isnan(r->sustained.settled) ? r->sustained.best : r->sustained.settled;
    c->rate_unit = "GFLOPS";
    if (result != WF_SUCCESS && c->status == WFI_STATUS_OK)
        wfi_case_fail(r->session, c, result);
    /* What was interrupted is not checked: its rates stand as unverified. */
    if (result == WF_SUCCESS && cancelled)
        wfi_case_fail_text(c, WFI_STATUS_CANCELLED, "interrupted after %.0f s",
                           wfi_host_seconds() - r->begin);
    else if (result == WF_SUCCESS)
        result = wfi_load_check(r->session, &r->load, c);
    print_results(r, c);
    return wfi_case_exit(c, result);
}

int wfi_tool_sustained(const wfi_common *common, const char *minutes,
                       const wfi_sustained_request *request, int argc, char **argv)
{
    wfi_session session;
    wfi_result_case c;
    wf_family family = WF_FAMILY_MATMUL;
    run r = {.session = &session};
    if (!parse(minutes, request, &family, &r.sustained))
        return WFI_EXIT_USAGE;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    code = run_case(&r, family, &c);
    int written = wfi_session_write(&session, argc, argv, &c, 1);
    if (common->json && written == WFI_EXIT_DONE)
        written = wfi_report_beside(common->json);
    wfi_load_free(&r.load);
    wfi_curve_free(&r.curve);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}
