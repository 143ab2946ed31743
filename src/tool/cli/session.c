#include "tool/cli/session.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/platform.h"
#include "io/memory.h"
#include "model/predict.h"
#include "model/rough.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/stages.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define PEAK_SECONDS 0.15
#define ROUGH_SECONDS 0.002 /* wfi_rates_are_rough */
#define ROUGH_SHARE 0.02

/* Called by threads that compile, too. */
static void keep_log(void *user, wf_log_level level, const char *text)
{
    static wfi_mutex lock = WFI_MUTEX_INIT;
    wfi_session *session = user;
    wfi_mutex_lock(&lock);
    if (level == WF_LOG_ERROR)
        snprintf(session->error, sizeof session->error, "%s", text);
    wfi_mutex_unlock(&lock);
    if (level == WF_LOG_ERROR)
        return;
    if (level == WF_LOG_WARNING)
        fprintf(stderr, "wavefit: warning: %s\n", text);
}

static int exit_code(wf_result result)
{
    switch (result) {
    case WF_SUCCESS:
        return WFI_EXIT_DONE;
    case WF_ERROR_NO_LOADER:
    case WF_ERROR_NO_DEVICE:
        return WFI_EXIT_NO_DEVICE;
    case WF_ERROR_INVALID_ARGUMENT:
    case WF_ERROR_UNKNOWN_VARIANT:
    case WF_ERROR_CONSTRAINT:
        return WFI_EXIT_USAGE;
    default:
        return WFI_EXIT_FAILED;
    }
}

static bool is_cancelled(void *user)
{
    (void)user;
    return wfi_interrupted();
}

static int open_session(wfi_session *session, const wfi_common *common, bool capture)
{
    *session =
        (wfi_session){.common = common, .copy_bandwidth = (double)NAN, .fma_f32 = (double)NAN};
    const wf_device_params params = {
        .size = sizeof params,
        .selector = common->device,
        .limits = common->minimum_limits ? WF_LIMITS_MINIMUM : WF_LIMITS_DEVICE,
        .log = keep_log,
        .log_user = session,
        .capture_statistics = capture,
        .dispatch_seconds = common->dispatch_seconds,
        .cancelled = is_cancelled,
    };
    wfi_interrupted();
    session->cancel = (wf_cancel){.size = sizeof(wf_cancel), .cancelled = is_cancelled};
    session->tuning = (wf_tuning){.size = sizeof(wf_tuning),
                                  .variant = common->variant,
                                  .constants = common->constants,
                                  .constant_count = common->constant_count,
                                  .no_tuning = common->no_tuning};
    wfi_stage_begin(common->quiet, WFI_STAGE_DEVICE, "opening the device");
    wf_result result = wf_device_create(&params, &session->device);
    wfi_stage_end(common->quiet);
    if (result != WF_SUCCESS)
        return wfi_session_error(session, result);
    session->caps = wf_device_caps(session->device);
    return WFI_EXIT_DONE;
}

int wfi_session_open(wfi_session *session, const wfi_common *common)
{
    return open_session(session, common, false);
}

int wfi_session_open_captured(wfi_session *session, const wfi_common *common)
{
    return open_session(session, common, true);
}

/* NVK tells of no product where there is no card, and of compute units that its shim made up: those
 * of the target's product stand in. */
static void take_product(wfi_session *session)
{
    const wfi_data_sheet *sheet = wfi_data_sheet_of(session->target);
    wf_caps *caps = (wf_caps *)session->caps; /* the device's, which is no constant */
    uint32_t architecture;
    if (!sheet || wf_architecture_find(caps->name, &architecture) == WF_SUCCESS)
        return;
    snprintf(caps->name, sizeof caps->name, "%s (%.32s)", sheet->product, caps->driver_name);
    if (caps->compute_units)
        caps->compute_units = (uint32_t)sheet->units;
}

int wfi_session_open_target(wfi_session *session, const wfi_common *common, const char *target)
{
    const int code = open_session(session, common, true);
    session->target = target;
    if (code == WFI_EXIT_DONE && target)
        take_product(session);
    return code;
}

void wfi_session_close(wfi_session *session)
{
    wf_device_destroy(&session->device);
}

int wfi_session_error(wfi_session *session, wf_result result)
{
    wfi_run_error("%s", result == WF_ERROR_CANCELLED ? "interrupted"
                        : *session->error            ? session->error
                                                     : wf_result_string(result));
    return exit_code(result);
}

void wfi_case_fail_text(wfi_result_case *c, wfi_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->reason, sizeof c->reason, format, args);
    va_end(args);
    c->status = status;
}

void wfi_case_fail(wfi_session *session, wfi_result_case *c, wf_result result)
{
    if (result == WF_ERROR_CANCELLED) {
        wfi_case_fail_text(c, WFI_STATUS_CANCELLED, "interrupted");
        return;
    }
    const bool unsupported = result == WF_ERROR_UNSUPPORTED || result == WF_ERROR_TOO_LARGE;
    wfi_case_fail_text(c, unsupported ? WFI_STATUS_UNSUPPORTED : WFI_STATUS_ERROR, "%.500s",
                       *session->error ? session->error : wf_result_string(result));
}

int wfi_case_exit(const wfi_result_case *c, wf_result result)
{
    if (c->status == WFI_STATUS_OK && result == WF_SUCCESS)
        return WFI_EXIT_DONE;
    wfi_run_error("%s", *c->reason ? c->reason : wf_result_string(result));
    const int code = exit_code(result);
    return code == WFI_EXIT_DONE ? WFI_EXIT_FAILED : code;
}

int wfi_counts_exit(const char *command, const char *things, uint32_t failed, uint32_t cancelled,
                    uint32_t count)
{
    if (failed)
        return wfi_run_error("%s: %u of %u %s failed", command, failed, count, things);
    if (cancelled)
        return wfi_run_error("%s: interrupted, %u of %u %s were left", command, cancelled, count,
                             things);
    return WFI_EXIT_DONE;
}

int wfi_cases_exit(const char *command, const char *things, const wfi_result_case *cases,
                   uint32_t count)
{
    uint32_t failed = 0, cancelled = 0;
    for (uint32_t i = 0; i < count; i++) {
        failed += cases[i].status == WFI_STATUS_FAILED || cases[i].status == WFI_STATUS_ERROR;
        cancelled += cases[i].status == WFI_STATUS_CANCELLED;
    }
    return wfi_counts_exit(command, things, failed, cancelled, count);
}

double wfi_session_copy_bandwidth(wfi_session *session)
{
    double rate;
    if (isnan(session->copy_bandwidth) &&
        wf_device_copy_bandwidth(session->device, &rate) == WF_SUCCESS)
        session->copy_bandwidth = rate;
    return session->copy_bandwidth;
}

double wfi_session_fma_rate(wfi_session *session, wf_type type)
{
    double rate;
    if (wf_device_fma_rate(session->device, type, &rate) != WF_SUCCESS)
        return (double)NAN;
    if (type == WF_TYPE_F32)
        session->fma_f32 = rate;
    return rate;
}

double wfi_session_ceiling(wfi_session *session, const char *name, uint64_t bytes)
{
    const wf_peak_params params = {.size = sizeof params,
                                   .budget_seconds =
                                       wfi_rates_are_rough() ? ROUGH_SECONDS : PEAK_SECONDS,
                                   .bytes = bytes,
                                   .warm = true};
    wf_peak_info info;
    wf_peak peak;
    for (uint32_t i = 0; wf_peak_describe(i, &info) == WF_SUCCESS && !wfi_interrupted(); i++)
        if (strcmp(info.name, name) == 0)
            return wf_peak_measure(session->device, i, &params, &peak) == WF_SUCCESS ? peak.value
                                                                                     : (double)NAN;
    return (double)NAN;
}

double wfi_session_seconds(double seconds)
{
    return wfi_rates_are_rough() ? seconds * ROUGH_SHARE : seconds;
}

double wfi_session_available(const wfi_session *session)
{
    uint64_t bytes = 0;
    return wf_device_available(session->device, &bytes) == WF_SUCCESS ? (double)bytes : 0;
}

bool wfi_session_fits(wfi_session *session, wfi_result_case *c, double device_bytes,
                      double host_bytes)
{
    const double gib = 1024.0 * 1024 * 1024, available = wfi_session_available(session);
    /* Where memory is unified the device's copies live in the host's memory too. */
    const double host = host_bytes + (session->caps->unified_memory ? device_bytes : 0);
    if (device_bytes > available) {
        wfi_case_fail_text(c, WFI_STATUS_UNSUPPORTED,
                           "the problem needs %.1f GiB of device memory; %.1f GiB are available",
                           device_bytes / gib, available / gib);
        return false;
    }
    if (host > wfi_physical_memory()) {
        wfi_case_fail_text(c, WFI_STATUS_UNSUPPORTED,
                           "the problem needs %.1f GiB of host memory; the machine has %.1f GiB",
                           host / gib, wfi_physical_memory() / gib);
        return false;
    }
    return true;
}

static bool has_written;

bool wfi_session_has_written(void)
{
    return has_written;
}

int wfi_session_write(wfi_session *session, int argc, char **argv, const wfi_result_case *cases,
                      uint32_t count)
{
    wfi_io_error error;
    const wfi_results results = {
        argc,  argv,  session->caps,       session->copy_bandwidth, session->fma_f32,
        count, cases, session->peak_count, session->peaks,          session->common->seed};
    if (!session->common->json)
        return WFI_EXIT_DONE;
    has_written = wfi_results_write(session->common->json, &results, &error);
    return has_written ? WFI_EXIT_DONE : wfi_run_error("%s", error.text);
}

void wfi_case_stage(const wfi_session *session, const wfi_result_case *c, wfi_stage stage)
{
    static const char *const doing[WFI_STAGE_COUNT] = {
        "making operands", "opening the device", "planning", "uploading", "running",
        "downloading",     "checking",           "timing",   "writing"};
    char text[160];
    snprintf(text, sizeof text, "%s %s: %s", c->family, c->name, doing[stage]);
    wfi_stage_begin(session->common->quiet, stage, text);
}

void wfi_plan_print(const wf_plan_info *plan)
{
    char text[WFI_NOTE_BYTES], dispatches[32] = "";
    wfi_format_plan(plan, text, sizeof text);
    if (plan->dispatches > 1)
        snprintf(dispatches, sizeof dispatches, ", %u dispatches", plan->dispatches);
    wfi_line(WFI_LABEL_COLUMNS, "variant   %s (%s)%s", text, plan->chosen_by, dispatches);
}

void wfi_device_print(const wfi_session *session)
{
    wfi_progress_clear(session->common->quiet);
    wfi_line(WFI_LABEL_COLUMNS, "device    %s%s", session->caps->name,
             session->caps->limits == WF_LIMITS_MINIMUM ? ", minimum limits" : "");
}

static void print_time(const wf_timing *timing)
{
    char text[64];
    wfi_format_time(timing->median_us, text, sizeof text);
    printf("time      %s, median of %u (spread %.1f %%, %s clock)\n", text, timing->count,
           timing->spread * 100, timing->gpu_clock ? "device" : "host");
}

static void print_rate(const wfi_result_case *c)
{
    char rate[64], gbs[64] = "", percent[32];
    wfi_format_rate(c->rate, c->rate_unit, rate, sizeof rate);
    if (isfinite(c->gbs))
        wfi_format_rate(c->gbs, "GB/s", gbs, sizeof gbs);
    if (isfinite(c->percent)) {
        wfi_format_percent(c->percent, percent, sizeof percent);
        wfi_line(WFI_LABEL_COLUMNS, "rate      %s%s%s, %s of %s", rate, *gbs ? ", " : "", gbs,
                 percent, c->percent_of);
    } else {
        wfi_line(WFI_LABEL_COLUMNS, "rate      %s%s%s", rate, *gbs ? ", " : "", gbs);
    }
}

/* What was compared, and how what was not is covered. */
static void print_check(const wfi_result_case *c)
{
    const wf_check *k = &c->check;
    wfi_line(WFI_LABEL_COLUMNS,
             "verified  %llu of %llu elements against f64: largest error %.3g of its bound%s",
             (unsigned long long)k->checked, (unsigned long long)k->total, k->error_over_bound,
             k->error_over_bound <= 1 ? "" : ", WRONG");
    if (k->summed && k->missed > 0)
        wfi_line(WFI_LABEL_COLUMNS,
                 "          %llu by Freivalds' test: an error like a row's own numbers is missed "
                 "with probability %.1e",
                 (unsigned long long)k->summed, k->missed);
    else if (k->summed)
        wfi_line(WFI_LABEL_COLUMNS,
                 "          %llu by sums of rows: an error like a row's own numbers in one of them "
                 "is found",
                 (unsigned long long)k->summed);
    if (k->ranged)
        wfi_line(WFI_LABEL_COLUMNS, "          %llu by their range alone",
                 (unsigned long long)k->ranged);
    if (c->checked_how)
        wfi_line(WFI_LABEL_COLUMNS, "          also %s", c->checked_how);
}

void wfi_case_print(const wfi_session *session, const wfi_result_case *c)
{
    if (wfi_json_on_stdout(session->common))
        return;
    wfi_device_print(session);
    wfi_line(WFI_LABEL_COLUMNS, "problem   %s %s", c->name, c->type);
    if (c->has_plan)
        wfi_plan_print(&c->plan);
    if (c->has_timing)
        print_time(&c->timing);
    if (isfinite(c->rate))
        print_rate(c);
    if (c->has_check)
        print_check(c);
}
