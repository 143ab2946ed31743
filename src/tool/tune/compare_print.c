#include "tool/tune/compare_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/sort.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"
#include "tool/tune/worker.h"

#define FIRST_COLUMN 1  /* of the rivals */
#define POINT_COLUMN 13 /* of what was chosen for a problem */
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

/* How much longer the rival takes than the best of all, or the slower of two searches than the
 * other, in percent; NaN: it did not run. */
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

/* "3.4"; what only a file edited by hand can have is short too: "1.5e+300". */
static void loss_text(double loss, char text[32])
{
    snprintf(text, 32, fabs(loss) < 1e5 ? "%.1f" : "%.2g", loss);
}

/* "3.4 +-1.2": noise that would be printed as 0 is left out. */
static void set_loss(wfi_table *table, int row, int column, double loss, double noise)
{
    char text[32], noise_text[32];
    if (isnan(loss))
        return;
    loss_text(loss, text);
    loss_text(noise, noise_text);
    if (noise >= 0.05)
        wfi_table_set(table, row, column, "%s +-%s", text, noise_text);
    else
        wfi_table_set(table, row, column, "%s", text);
}

/* Each problem has two lines: its name, and below it the best time and what each choice loses. */
static void print_problems(const wfi_compared *const *items, uint32_t count)
{
    static wfi_table table = {.columns = FIRST_COLUMN + WFI_COMPARED_RIVALS, .right = 0xff};
    char text[48];
    wfi_table_row(&table);
    wfi_table_set(&table, 0, 0, "best");
    for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
        wfi_table_set(&table, 0, FIRST_COLUMN + r, "%s", wfi_compared_names[r]);
    for (uint32_t i = 0; i < count; i++) {
        wfi_table_note(&table, wfi_table_row(&table), 0, "%s %s %s", items[i]->family,
                       items[i]->type, items[i]->problem);
        const int row = wfi_table_row(&table);
        wfi_format_time(wfi_compared_best(items[i]), text, sizeof text);
        wfi_table_set(&table, row, 0, "%s", text);
        for (int r = 0; r < WFI_COMPARED_RIVALS; r++)
            set_loss(&table, row, FIRST_COLUMN + r, loss_of(items[i], r),
                     items[i]->rivals[r].noise * 100);
    }
    wfi_table_print(&table);
}

/* What rows chose, if not the model did; nothing where what was held goes with none of their
 * values. */
static void print_row(const char *name, const wfi_compared_rival *rival)
{
    if (*rival->by && strcmp(rival->by, "model") != 0)
        wfi_line(POINT_COLUMN, "  %s   %s (%s)", name, rival->point, rival->by);
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
        putchar('\n');
        wfi_line(2, "%s %s %s, %g s a search; %s: %llu of %llu points", item->family, item->type,
                 item->problem, item->budget_seconds,
                 is_exhaustive(item) ? "exhaustive" : "exhaustive, cut short",
                 (unsigned long long)item->measured, (unsigned long long)item->legal);
        wfi_line(POINT_COLUMN, "  best       %s (%s)", item->rivals[best].point,
                 wfi_compared_names[best]);
        if (*item->rivals[WFI_RIVAL_MODEL].point)
            wfi_line(POINT_COLUMN, "  model      %s", item->rivals[WFI_RIVAL_MODEL].point);
        print_row("shipped ", &item->rivals[WFI_RIVAL_SHIPPED]);
        print_row("left out", &item->rivals[WFI_RIVAL_LEFT_OUT]);
    }
}

/* The column of one family, or of all (NULL): how many problems, and median and worst losses. */
static void add_family(wfi_table *table, const wfi_compared *const *items, uint32_t count,
                       const char *family, int column)
{
    uint32_t problems = 0;
    for (uint32_t i = 0; i < count; i++)
        problems += !family || strcmp(items[i]->family, family) == 0;
    wfi_table_set(table, 0, column, "%s", family ? family : "all");
    wfi_table_set(table, 1, column, "%u", problems);
    for (int m = 0; m < MEASURES; m++) {
        const losses l = losses_of(items, count, family, m);
        char median[32], worst[32];
        loss_text(l.median, median);
        loss_text(l.worst, worst);
        if (l.count)
            wfi_table_set(table, 2 + m, column, "%s / %s", median, worst);
    }
}

static bool is_first_of_family(const wfi_compared *const *items, uint32_t index)
{
    for (uint32_t before = 0; before < index; before++)
        if (strcmp(items[before]->family, items[index]->family) == 0)
            return false;
    return true;
}

/* A column a family, and a row a measure. */
static void print_families(const wfi_compared *const *items, uint32_t count)
{
    static wfi_table table = {.right = ~1u};
    table.columns = WFI_MAX_COLUMNS;
    for (int row = 0; row < 2 + MEASURES; row++)
        wfi_table_row(&table);
    wfi_table_set(&table, 0, 0, "family");
    wfi_table_set(&table, 1, 0, "problems");
    for (int m = 0; m < MEASURES; m++)
        wfi_table_set(&table, 2 + m, 0, "%s", m == APART ? "apart" : wfi_compared_names[m]);
    int columns = 1;
    for (uint32_t i = 0; i < count && columns < WFI_MAX_COLUMNS - 1; i++)
        if (is_first_of_family(items, i))
            add_family(&table, items, count, items[i]->family, columns++);
    add_family(&table, items, count, NULL, columns++);
    table.columns = columns;
    puts("\nmedian / worst, in percent (apart: the two searches of each other):\n");
    wfi_table_print(&table);
}

static void print_loss(const char *expected, const losses *l, bool median)
{
    char typical[48] = "", worst[32];
    if (!l->at)
        return;
    loss_text(l->median, worst);
    if (median)
        snprintf(typical, sizeof typical, "median %s %%, ", worst);
    loss_text(l->worst, worst);
    wfi_line(4, "%-44s %sworst %s %% (%s %s %s)", expected, typical, worst, l->at->family,
             l->at->type, l->at->problem);
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
    wfi_line(4, "%s, %s", file->device, file->driver);
    puts("how much longer than the best of all, in percent:\n");
    print_problems(items, count);
    print_choices(items, count);
    print_families(items, count);
    print_verdict(items, count);
}
