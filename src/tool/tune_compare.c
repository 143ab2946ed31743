#include "tool/tune_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/comparison.h"
#include "tool/clock.h"
#include "tool/progress.h"
#include "tool/sort.h"
#include "tool/table.h"

#define FIRST_COLUMN 4 /* of the rivals */
/* What is expected, in percent of the best. */
#define TUNED_LOSS 3.0
#define MODEL_MEDIAN 15.0
#define MODEL_WORST 40.0

_Static_assert((int)WFI_TUNE_RIVALS == WFI_COMPARED_RIVALS, "the file has every rival");

/* ----------------------------------------------------------------------------------- measuring */

static wfi_compared item_of(const wfi_tune_problem *problem, double budget,
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
        memcpy(item.rivals[i].by, o->rival_by[i], sizeof item.rivals[i].by);
        memcpy(item.rivals[i].point, o->rival_point[i], sizeof item.rivals[i].point);
    }
    return item;
}

static const wfi_compared *find(const wfi_comparison_file *file, const wfi_tune_problem *problem)
{
    return wfi_comparison_find(file, wf_family_name(problem->family), wf_type_name(problem->type),
                               problem->name);
}

/* Measures one problem and puts it into the file. */
static int measure(const wfi_compare_request *r, uint32_t index, wfi_comparison_file *file)
{
    static wfi_tune_outcome outcome;
    wfi_io_error error;
    const char *path = r->common->json;
    const wfi_tune_work work = {.common = r->common,
                                .budget_seconds = r->budget_seconds,
                                .patience_seconds = r->patience_seconds,
                                .compare = true,
                                .count = 1,
                                .problems = &r->problems[index],
                                .outcomes = &outcome};
    memset(&outcome, 0, sizeof outcome);
    const int code = wfi_tune_run(&work);
    if (code != WFI_EXIT_DONE)
        return code;
    const wfi_compared item = item_of(&r->problems[index], r->budget_seconds, &outcome);
    if (!wfi_comparison_add(file, &item))
        return wfi_run_error("out of memory");
    if (path && strcmp(path, "-") != 0 && !wfi_comparison_write(path, file, &error))
        return wfi_run_error("%s", error.text);
    return WFI_EXIT_DONE;
}

static int measure_all(const wfi_compare_request *r, wfi_comparison_file *file)
{
    const double begun = wfi_clock_seconds();
    int code = WFI_EXIT_DONE;
    for (uint32_t i = 0; i < r->count && code == WFI_EXIT_DONE; i++) {
        const wfi_compared *there = find(file, &r->problems[i]);
        if (there && !*there->error)
            continue;
        if (wfi_interrupted() ||
            (r->slice_seconds > 0 && wfi_clock_seconds() - begun > r->slice_seconds))
            break;
        code = measure(r, i, file);
    }
    return code;
}

/* ------------------------------------------------------------------------------------ printing */

static double best_of(const wfi_compared *item)
{
    double best = 0;
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++)
        if (item->rivals[i].us > 0 && (best == 0 || item->rivals[i].us < best))
            best = item->rivals[i].us;
    return best;
}

/* How much longer the rival takes than the best of all, in percent; NaN: it does not run. */
static double loss_of(const wfi_compared *item, int rival)
{
    const double us = item->rivals[rival].us;
    return us > 0 ? (us / best_of(item) - 1) * 100 : (double)NAN;
}

/* Losses of one rival over all problems. */
typedef struct losses {
    uint32_t count, within; /* in TUNED_LOSS */
    double values[WFI_MAX_TUNE_PROBLEMS], median;
    double worst;
    const wfi_compared *at; /* the worst one */
} losses;

static losses losses_of(const wfi_compared *const *items, uint32_t count, int rival)
{
    losses l = {.worst = -1};
    for (uint32_t i = 0; i < count; i++) {
        const double loss = loss_of(items[i], rival);
        if (isnan(loss))
            continue;
        l.values[l.count++] = loss;
        l.within += loss <= TUNED_LOSS;
        if (loss > l.worst) {
            l.worst = loss;
            l.at = items[i];
        }
    }
    wfi_sort(l.values, l.count);
    l.median = l.count ? l.values[l.count / 2] : (double)NAN;
    return l;
}

static void print_table(const wfi_compared *const *items, uint32_t count)
{
    static const char *const heading[FIRST_COLUMN] = {"family", "type", "problem", "best"};
    static wfi_table table = {.columns = FIRST_COLUMN + WFI_COMPARED_RIVALS, .right = 0x3f8};
    char text[48];
    wfi_table_row(&table);
    for (int i = 0; i < FIRST_COLUMN; i++)
        wfi_table_set(&table, 0, i, "%s", heading[i]);
    for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
        wfi_table_set(&table, 0, FIRST_COLUMN + r, "%s", wfi_compared_names[r]);
    for (uint32_t i = 0; i < count; i++) {
        const int row = wfi_table_row(&table);
        wfi_format_time(best_of(items[i]), text, sizeof text);
        wfi_table_set(&table, row, 0, "%s", items[i]->family);
        wfi_table_set(&table, row, 1, "%s", items[i]->type);
        wfi_table_set(&table, row, 2, "%s", items[i]->problem);
        wfi_table_set(&table, row, 3, "%s", text);
        for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
            if (!isnan(loss_of(items[i], r)))
                wfi_table_set(&table, row, FIRST_COLUMN + r, "%.1f %%", loss_of(items[i], r));
    }
    wfi_table_print(&table);
}

static void print_choices(const wfi_compared *const *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wfi_compared *item = items[i];
        int best = 0;
        for (int r = 1; r < WFI_COMPARED_RIVALS; r++)
            if (item->rivals[r].us > 0 &&
                (!(item->rivals[best].us > 0) || item->rivals[r].us < item->rivals[best].us))
                best = r;
        printf("\n%s %s %s, %g s a search; exhaustive: %llu of %llu points\n", item->family,
               item->type, item->problem, item->budget_seconds, (unsigned long long)item->measured,
               (unsigned long long)item->legal);
        printf("  best       %s (%s)\n", item->rivals[best].point, wfi_compared_names[best]);
        printf("  model      %s\n", item->rivals[WFI_RIVAL_MODEL].point);
        if (strcmp(item->rivals[WFI_RIVAL_SHIPPED].by, "model") != 0)
            printf("  shipped    %s (%s)\n", item->rivals[WFI_RIVAL_SHIPPED].point,
                   item->rivals[WFI_RIVAL_SHIPPED].by);
        if (strcmp(item->rivals[WFI_RIVAL_LEFT_OUT].by, "model") != 0)
            printf("  left out   %s (%s)\n", item->rivals[WFI_RIVAL_LEFT_OUT].point,
                   item->rivals[WFI_RIVAL_LEFT_OUT].by);
    }
}

/* How far apart two searches end, in percent. */
static double apart(const wfi_compared *item)
{
    const double a = item->rivals[WFI_RIVAL_TUNED].us, b = item->rivals[WFI_RIVAL_TUNED_AGAIN].us;
    return a > 0 && b > 0 ? (fmax(a, b) / fmin(a, b) - 1) * 100 : (double)NAN;
}

static void print_loss(const char *expected, const losses *l, bool median)
{
    printf("%-48s", expected);
    if (median)
        printf("median %.1f %%, ", l->median);
    printf("worst %.1f %% (%s %s %s)\n", l->worst, l->at->family, l->at->type, l->at->problem);
}

static void print_verdict(const wfi_compared *const *items, uint32_t count)
{
    char text[96];
    double between[WFI_MAX_TUNE_PROBLEMS];
    uint32_t pairs = 0;
    const losses model = losses_of(items, count, WFI_RIVAL_MODEL),
                 left_out = losses_of(items, count, WFI_RIVAL_LEFT_OUT),
                 shipped = losses_of(items, count, WFI_RIVAL_SHIPPED),
                 tuned = losses_of(items, count, WFI_RIVAL_TUNED);
    for (uint32_t i = 0; i < count; i++)
        if (!isnan(apart(items[i])))
            between[pairs++] = apart(items[i]);
    wfi_sort(between, pairs);
    putchar('\n');
    snprintf(text, sizeof text, "tuned, within %g %% of the best: %u of %u", TUNED_LOSS,
             tuned.within, tuned.count);
    print_loss(text, &tuned, false);
    snprintf(text, sizeof text, "model, wanted %g %%, at worst %g %%", MODEL_MEDIAN, MODEL_WORST);
    print_loss(text, &model, true);
    print_loss("shipped rows", &shipped, true);
    print_loss("without the device's own rows", &left_out, true);
    if (pairs)
        printf("%-48smedian %.1f %%, worst %.1f %%\n", "two searches differ by", between[pairs / 2],
               between[pairs - 1]);
}

/* Prints what there is of the problems asked for. */
static int print(const wfi_compare_request *r, const wfi_comparison_file *file)
{
    const wfi_compared *items[WFI_MAX_TUNE_PROBLEMS];
    uint32_t done = 0, left = 0, failed = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const wfi_compared *item = find(file, &r->problems[i]);
        if (item && !*item->error && best_of(item) > 0)
            items[done++] = item;
        else if (item) {
            failed++;
            fprintf(stderr, "wavefit: %s %s %s: %s\n", item->family, item->type, item->problem,
                    item->error);
        } else
            left++;
    }
    if (done) {
        printf("%s, %s\nhow much longer than the best of all, in percent:\n\n", file->device,
               file->driver);
        print_table(items, done);
        print_choices(items, done);
        print_verdict(items, done);
    }
    if (left)
        fprintf(stderr, "wavefit: %u of %u problems are left; run it again to go on\n", left,
                r->count);
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
    code = measure_all(request, &file);
    if (code == WFI_EXIT_DONE && request->common->json && strcmp(request->common->json, "-") == 0)
        code = wfi_comparison_write("-", &file, &error) ? code : wfi_run_error("%s", error.text);
    else if (code == WFI_EXIT_DONE)
        code = print(request, &file);
    wfi_comparison_free(&file);
    return code;
}
