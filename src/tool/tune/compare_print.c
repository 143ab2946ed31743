#include "tool/tune/compare_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/sort.h"
#include "tool/cli/table.h"
#include "tool/tune/worker.h"

#define FIRST_COLUMN 4 /* of the rivals */
/* What is expected, in percent of the best. */
#define TUNED_LOSS 3.0
#define MODEL_MEDIAN 15.0
#define MODEL_WORST 40.0

/* "apart" stands behind the rivals: how far two searches end from each other. */
enum { APART = WFI_COMPARED_RIVALS, MEASURES };

double wfi_compared_best(const wfi_compared *item)
{
    double best = 0;
    for (int i = 0; i < WFI_COMPARED_RIVALS; i++)
        if (item->rivals[i].us > 0 && (best == 0 || item->rivals[i].us < best))
            best = item->rivals[i].us;
    return best;
}

/* Whether every legal point was measured; else those measured were drawn from them. */
static bool is_exhaustive(const wfi_compared *item)
{
    return item->measured > 0 && item->measured >= item->legal;
}

/* How much longer the rival takes than the best of all, or the slower of two searches than the other,
 * in percent; NaN: it did not run. */
static double loss_of(const wfi_compared *item, int measure)
{
    const double a = item->rivals[WFI_RIVAL_TUNED].us, b = item->rivals[WFI_RIVAL_TUNED_AGAIN].us;
    if (measure == APART)
        return a > 0 && b > 0 ? (fmax(a, b) / fmin(a, b) - 1) * 100 : (double)NAN;
    const double us = item->rivals[measure].us;
    return us > 0 ? (us / wfi_compared_best(item) - 1) * 100 : (double)NAN;
}

/* Losses by one measure over several problems. */
typedef struct losses {
    uint32_t count, within;               /* in TUNED_LOSS, or in the noise beyond it */
    uint32_t in_noise;                    /* of these */
    double values[WFI_MAX_TUNE_PROBLEMS]; /* in order */
    double median, worst;
    const wfi_compared *at; /* the worst one; NULL: there is none */
} losses;

/* Of one family, or of all (NULL). */
static losses losses_of(const wfi_compared *const *items, uint32_t count, const char *family,
                        int measure)
{
    losses l = {.median = (double)NAN};
    for (uint32_t i = 0; i < count; i++) {
        const double loss = loss_of(items[i], measure);
        if (isnan(loss) || (family && strcmp(items[i]->family, family) != 0))
            continue;
        l.values[l.count++] = loss;
        const double noise = measure < APART ? items[i]->rivals[measure].noise * 100 : 0;
        l.within += loss - noise <= TUNED_LOSS;
        l.in_noise += loss > TUNED_LOSS && loss - noise <= TUNED_LOSS;
        if (!l.at || loss > l.worst) {
            l.worst = loss;
            l.at = items[i];
        }
    }
    wfi_sort(l.values, l.count);
    if (l.count)
        l.median = (l.values[(l.count - 1) / 2] + l.values[l.count / 2]) / 2;
    return l;
}

/* "3.4 ±1.2": noise that would be printed as 0 is left out. */
static void set_loss(wfi_table *table, int row, int column, double loss, double noise)
{
    if (isnan(loss))
        return;
    if (noise >= 0.05)
        wfi_table_set(table, row, column, "%.1f +-%.1f", loss, noise);
    else
        wfi_table_set(table, row, column, "%.1f", loss);
}

static void print_problems(const wfi_compared *const *items, uint32_t count)
{
    static const char *const heading[FIRST_COLUMN] = {"family", "type", "problem", "best"};
    static wfi_table table = {.columns = FIRST_COLUMN + WFI_COMPARED_RIVALS, .right = 0x3f8};
    char text[48];
    wfi_table_headings(&table, heading, FIRST_COLUMN);
    for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
        wfi_table_set(&table, 0, FIRST_COLUMN + r, "%s", wfi_compared_names[r]);
    for (uint32_t i = 0; i < count; i++) {
        const int row = wfi_table_row(&table);
        wfi_format_time(wfi_compared_best(items[i]), text, sizeof text);
        wfi_table_set(&table, row, 0, "%s", items[i]->family);
        wfi_table_set(&table, row, 1, "%s", items[i]->type);
        wfi_table_set(&table, row, 2, "%s", items[i]->problem);
        wfi_table_set(&table, row, 3, "%s", text);
        for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
            set_loss(&table, row, FIRST_COLUMN + r, loss_of(items[i], r),
                     items[i]->rivals[r].noise * 100);
    }
    wfi_table_print(&table);
}

/* What rows chose, if not the model did; nothing where what was held goes with none of their values. */
static void print_row(const char *name, const wfi_compared_rival *rival)
{
    if (*rival->by && strcmp(rival->by, "model") != 0)
        printf("  %s   %s (%s)\n", name, rival->point, rival->by);
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
        printf("\n%s %s %s, %g s a search; %s: %llu of %llu points\n", item->family, item->type,
               item->problem, item->budget_seconds,
               is_exhaustive(item) ? "exhaustive" : "exhaustive, cut short",
               (unsigned long long)item->measured, (unsigned long long)item->legal);
        printf("  best       %s (%s)\n", item->rivals[best].point, wfi_compared_names[best]);
        if (*item->rivals[WFI_RIVAL_MODEL].point)
            printf("  model      %s\n", item->rivals[WFI_RIVAL_MODEL].point);
        print_row("shipped ", &item->rivals[WFI_RIVAL_SHIPPED]);
        print_row("left out", &item->rivals[WFI_RIVAL_LEFT_OUT]);
    }
}

static void add_family(wfi_table *table, const wfi_compared *const *items, uint32_t count,
                       const char *family)
{
    const int row = wfi_table_row(table);
    uint32_t problems = 0;
    for (uint32_t i = 0; i < count; i++)
        problems += !family || strcmp(items[i]->family, family) == 0;
    wfi_table_set(table, row, 0, "%s", family ? family : "all");
    wfi_table_set(table, row, 1, "%u", problems);
    for (int m = 0; m < MEASURES; m++) {
        const losses l = losses_of(items, count, family, m);
        if (l.count)
            wfi_table_set(table, row, 2 + m, "%.1f / %.1f", l.median, l.worst);
    }
}

static void print_families(const wfi_compared *const *items, uint32_t count)
{
    static wfi_table table = {.columns = 2 + MEASURES, .right = 0x1fe};
    wfi_table_row(&table);
    wfi_table_set(&table, 0, 0, "family");
    wfi_table_set(&table, 0, 1, "problems");
    for (int m = 0; m < MEASURES; m++)
        wfi_table_set(&table, 0, 2 + m, "%s", m == APART ? "apart" : wfi_compared_names[m]);
    for (uint32_t i = 0; i < count; i++) {
        bool there = false;
        for (uint32_t before = 0; before < i; before++)
            there = there || strcmp(items[before]->family, items[i]->family) == 0;
        if (!there)
            add_family(&table, items, count, items[i]->family);
    }
    add_family(&table, items, count, NULL);
    puts("\nmedian / worst, in percent (apart: tuned and tuned again of each other):\n");
    wfi_table_print(&table);
}

static void print_loss(const char *expected, const losses *l, bool median)
{
    if (!l->at)
        return;
    printf("%-52s", expected);
    if (median)
        printf("median %.1f %%, ", l->median);
    printf("worst %.1f %% (%s %s %s)\n", l->worst, l->at->family, l->at->type, l->at->problem);
}

static void tuned_text(const char *of, const losses *l, char *text, size_t bytes)
{
    const int used =
        snprintf(text, bytes, "tuned, %s %g %%: %u of %u", of, TUNED_LOSS, l->within, l->count);
    if (l->in_noise)
        snprintf(text + used, bytes - (size_t)used, " (%u by the noise)", l->in_noise);
}

static void print_verdict(const wfi_compared *const *items, uint32_t count)
{
    char text[96];
    const wfi_compared *whole[WFI_MAX_TUNE_PROBLEMS];
    uint32_t wholes = 0;
    losses l = losses_of(items, count, NULL, WFI_RIVAL_TUNED);
    putchar('\n');
    tuned_text("within", &l, text, sizeof text);
    print_loss(text, &l, false);
    for (uint32_t i = 0; i < count; i++)
        if (is_exhaustive(items[i]))
            whole[wholes++] = items[i];
    l = losses_of(whole, wholes, NULL, WFI_RIVAL_TUNED);
    tuned_text("where all points were measured,", &l, text, sizeof text);
    print_loss(text, &l, false);
    l = losses_of(items, count, NULL, WFI_RIVAL_MODEL);
    snprintf(text, sizeof text, "model, wanted %g %%, at worst %g %%", MODEL_MEDIAN, MODEL_WORST);
    print_loss(text, &l, true);
    l = losses_of(items, count, NULL, WFI_RIVAL_SHIPPED);
    print_loss("shipped rows", &l, true);
    l = losses_of(items, count, NULL, WFI_RIVAL_LEFT_OUT);
    print_loss("without the device's own rows", &l, true);
    l = losses_of(items, count, NULL, APART);
    print_loss("two searches differ by", &l, true);
}

void wfi_compare_print(const wfi_comparison_file *file, const wfi_compared *const *items,
                       uint32_t count)
{
    printf("%s, %s\nhow much longer than the best of all, in percent:\n\n", file->device,
           file->driver);
    print_problems(items, count);
    print_choices(items, count);
    print_families(items, count);
    print_verdict(items, count);
}
