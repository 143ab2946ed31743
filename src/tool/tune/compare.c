#include "tool/tune/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/comparison.h"
#include "core/platform.h"
#include "tool/cli/console.h"
#include "tool/tune/compare_print.h"

_Static_assert((int)WFI_TUNE_RIVALS == WFI_COMPARED_RIVALS, "the file has every rival");

/* ----------------------------------------------------------------------------------- measuring */

static wfi_compared item_of(const wfi_case_problem *problem, double budget,
                            const wfi_tune_outcome *o)
{
    wfi_compared item;
    memset(&item, 0, sizeof item);
    snprintf(item.family, sizeof item.family, "%s", wf_family_name(problem->family));
    snprintf(item.type, sizeof item.type, "%s", wf_type_name(problem->type));
    snprintf(item.problem, sizeof item.problem, "%s", problem->name);
    item.budget_seconds = budget;
    if (!o->done) {
        snprintf(item.error, sizeof item.error, "%.250s", o->error);
        return item;
    }
    item.measured = o->measured;
    item.legal = o->legal;
    for (int i = 0; i < WFI_TUNE_RIVALS; i++) {
        item.rivals[i].us = o->rival_us[i];
        item.rivals[i].noise = o->rival_noise[i];
        memcpy(item.rivals[i].by, o->rival_by[i], sizeof item.rivals[i].by);
        memcpy(item.rivals[i].point, o->rival_point[i], sizeof item.rivals[i].point);
    }
    return item;
}

static const wfi_compared *find(const wfi_comparison_file *file, const wfi_case_problem *problem)
{
    return wfi_comparison_find(file, wf_family_name(problem->family), wf_type_name(problem->type),
                               problem->name);
}

/* Measures one problem and puts it into the file, or counts it as one that the device cannot
 * have. */
static int measure(const wfi_compare_request *r, uint32_t index, wfi_comparison_file *file,
                   uint32_t *skipped)
{
    static wfi_tune_outcome outcome;
    wfi_io_error error;
    const char *path = r->common->json;
    const wfi_tune_work work = {.common = r->common,
                                .device = r->device,
                                .budget_seconds = r->budget_seconds,
                                .patience_seconds = r->patience_seconds,
                                .all_seconds = r->all_seconds,
                                .compare = true,
                                .count = 1,
                                .problems = &r->problems[index],
                                .outcomes = &outcome};
    memset(&outcome, 0, sizeof outcome);
    const int code = wfi_tune_run(&work);
    if (code != WFI_EXIT_DONE)
        return code;
    if (outcome.result == WF_ERROR_UNSUPPORTED || outcome.result == WF_ERROR_TOO_LARGE) {
        fprintf(stderr, "wavefit: %s %s %s is left out: %s\n",
                wf_family_name(r->problems[index].family), wf_type_name(r->problems[index].type),
                r->problems[index].name, outcome.error);
        (*skipped)++;
        return WFI_EXIT_DONE;
    }
    const wfi_compared item = item_of(&r->problems[index], r->budget_seconds, &outcome);
    if (!wfi_comparison_add(file, &item))
        return wfi_run_error("out of memory");
    if (path && strcmp(path, "-") != 0 && !wfi_comparison_write(path, file, &error))
        return wfi_run_error("%s", error.text);
    return WFI_EXIT_DONE;
}

static int measure_all(const wfi_compare_request *r, wfi_comparison_file *file, uint32_t *skipped)
{
    const double begun = wfi_host_seconds();
    int code = WFI_EXIT_DONE;
    for (uint32_t i = 0; i < r->count && code == WFI_EXIT_DONE; i++) {
        const wfi_compared *there = find(file, &r->problems[i]);
        if (there && !*there->error)
            continue;
        if (wfi_interrupted() ||
            (r->slice_seconds > 0 && wfi_host_seconds() - begun > r->slice_seconds))
            break;
        code = measure(r, i, file, skipped);
    }
    return code;
}

/* ------------------------------------------------------------------------------------ printing */

/* Prints what there is of the problems asked for. */
static int print(const wfi_compare_request *r, const wfi_comparison_file *file, uint32_t skipped)
{
    const wfi_compared *items[WFI_MAX_TUNE_PROBLEMS];
    uint32_t done = 0, left = 0, failed = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const wfi_compared *item = find(file, &r->problems[i]);
        if (item && !*item->error && wfi_compared_best(item) > 0)
            items[done++] = item;
        else if (item) {
            failed++;
            fprintf(stderr, "wavefit: %s %s %s: %s\n", item->family, item->type, item->problem,
                    item->error);
        } else
            left++;
    }
    if (done)
        wfi_compare_print(file, items, done);
    if (left > skipped)
        fprintf(stderr, "wavefit: %u of %u problems are left; run it again to go on\n",
                left - skipped, r->count);
    return failed ? WFI_EXIT_FAILED : WFI_EXIT_DONE;
}

/* What the file has, if it is of this device and driver. */
static int open_file(const wfi_compare_request *r, wfi_comparison_file *file)
{
    wfi_io_error error;
    const char *path = r->common->json;
    memset(file, 0, sizeof *file);
    if (path && strcmp(path, "-") != 0 && !wfi_comparison_read(path, file, &error))
        return wfi_run_error("%s", error.text);
    if (file->count && (strcmp(file->device, r->device->name) != 0 ||
                        strcmp(file->driver, r->device->driver) != 0)) {
        const int code = wfi_usage_error("%s: it is of %s, %s; another file is needed", path,
                                         file->device, file->driver);
        wfi_comparison_free(file);
        return code;
    }
    memcpy(file->device, r->device->name, sizeof file->device);
    memcpy(file->driver, r->device->driver, sizeof file->driver);
    return WFI_EXIT_DONE;
}

int wfi_tune_compare(const wfi_compare_request *request)
{
    wfi_comparison_file file;
    wfi_io_error error;
    int code = open_file(request, &file);
    if (code != WFI_EXIT_DONE)
        return code;
    uint32_t skipped = 0;
    code = measure_all(request, &file, &skipped);
    if (code == WFI_EXIT_DONE && request->common->json && strcmp(request->common->json, "-") == 0)
        code = wfi_comparison_write("-", &file, &error) ? code : wfi_run_error("%s", error.text);
    else if (code == WFI_EXIT_DONE)
        code = print(request, &file, skipped);
    wfi_comparison_free(&file);
    return code;
}
