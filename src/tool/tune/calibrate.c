#include "tool/tune/calibrate.h"

#include <stdio.h>

#include "tool/cli/table.h"
#include "tool/cli/thread_jobs.h"
#include "tool/cli/wrap.h"

#define CALIBRATED_SECONDS 20 /* of a budget, from which on rates are measured first */

void wfi_calibrate_before(wfi_tune_work *work)
{
    bool products = false; /* which the rates are of */
    for (uint32_t i = 0; i < work->count; i++)
        products = products || work->problems[i].family == WF_FAMILY_MATMUL;
    work->calibrates =
        products && work->device->guesses && work->budget_seconds >= CALIBRATED_SECONDS;
    if (work->calibrates && !work->common->quiet)
        fprintf(stderr,
                "wavefit: %s: the model's rates are measured first, which takes 2 s and is done "
                "once (--no-calibrate leaves it out)\n",
                work->device->name);
}

void wfi_calibration_tell(wf_device *device)
{
    wf_rate rate = {.size = sizeof rate};
    wf_calibration found = {.size = sizeof found};
    if (wf_rate_get(device, 0, &rate) != WF_SUCCESS ||
        wf_calibration_get(device, &found) != WF_SUCCESS)
        return;
    if (found.measured)
        wfi_line(4, "rates of the model: measured by %u products, predicted within %.0f %%",
                 found.points, found.error * 100);
    else
        puts("rates of the model: guessed (wavefit tune --calibrate measures them)");
}

static void print_rates(wf_device *device)
{
    static const char *const heading[] = {"rate", "value", "unit", "of"};
    static wfi_table table = {.columns = 4, .right = 1u << 1};
    wf_rate rate = {.size = sizeof rate};
    wfi_table_headings(&table, heading, 4);
    for (uint32_t i = 0; wf_rate_get(device, i, &rate) == WF_SUCCESS; i++) {
        const int row = wfi_table_row(&table);
        wfi_table_set(&table, row, 0, "%s", rate.name);
        wfi_table_set(&table, row, 1, "%.4g", rate.value);
        wfi_table_set(&table, row, 2, "%s", rate.unit);
        wfi_table_set(&table, row, 3, "%s", rate.meaning);
    }
    wfi_table_print(&table);
}

int wfi_calibrate_print(wfi_session *session, double seconds)
{
    const wf_calibrate_params params = {
        .size = sizeof params, .budget_seconds = seconds, .jobs = &wfi_thread_jobs};
    wf_calibration found = {.size = sizeof found};
    const wf_result result = wf_calibrate(session->device, &params, &found);
    if (result != WF_SUCCESS)
        return wfi_session_error(session, result);
    if (!found.measured) {
        wfi_line(4,
                 "%s: rates by %u products in %.1f s predict them with an error of %.0f %% in the "
                 "median and are not used",
                 session->caps->name, found.points, found.seconds, found.error * 100);
        return WFI_EXIT_FAILED;
    }
    const char *path = wf_tuning_path(session->device);
    wfi_line(4,
             "%s: rates by %u products in %.1f s, which they predict within %.0f %% in the "
             "median; %s%s",
             session->caps->name, found.points, found.seconds, found.error * 100,
             found.kept ? "kept in " : "not kept", found.kept && path ? path : "");
    print_rates(session->device);
    return WFI_EXIT_DONE;
}
