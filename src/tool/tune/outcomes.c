#include "tool/tune/outcomes.h"

#include <stdio.h>
#include <string.h>

#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define LEAST_DRAWN 10  /* points, of which something can be said */
#define POINT_COLUMN 14 /* of what stands below a problem's line */

/* "  before      vector tile_m=… (model)". */
static void print_point(const char *what, const wfi_tuned_point *point, const char *more)
{
    char text[WFI_NOTE_BYTES];
    wfi_tuned_point_text(point, text, sizeof text);
    wfi_line(POINT_COLUMN, "  %-11s %s%s", what, text, more);
}

static void print_outcome(const wfi_case_problem *problem, const wfi_tune_outcome *o)
{
    char before[48], best[48], faster[32], before_point[WFI_NOTE_BYTES], point[WFI_NOTE_BYTES],
        more[96];
    char head[192];
    snprintf(head, sizeof head, "%-7s %-4s %-14s", wf_family_name(problem->family),
             wf_type_name(problem->type), problem->name);
    wfi_format_time(o->best.us, best, sizeof best);
    if (!o->done) {
        wfi_line(POINT_COLUMN, "%s  %s", head, o->error);
        snprintf(more, sizeof more, ", %s (best of %u points so far%s)", best, o->measured,
                 o->kept ? "" : ", not kept");
        if (o->best.us > 0)
            print_point("best", &o->best, more);
        return;
    }
    snprintf(before, sizeof before, "-"); /* it did not run */
    snprintf(faster, sizeof faster, "-");
    if (o->before.us > 0) {
        wfi_format_time(o->before.us, before, sizeof before);
        snprintf(faster, sizeof faster, "%.2fx", o->before.us / o->best.us);
    }
    if (!o->searched) {
        wfi_line(POINT_COLUMN, "%s %10s %10s %7s %5.1f %%  kept before", head, before, best, faster,
                 o->spread * 100);
        print_point("tuned", &o->best, " (tuned)");
        return;
    }
    wfi_line(POINT_COLUMN, "%s %10s %10s %7s %5.1f %%  %u points%s%s", head, before, best, faster,
             o->spread * 100, o->measured, o->finished ? ", all in reach" : "",
             o->kept ? "" : ", not kept");
    wfi_tuned_point_text(&o->before, before_point, sizeof before_point);
    wfi_tuned_point_text(&o->best, point, sizeof point);
    snprintf(more, sizeof more, " (%s)", o->before.by);
    print_point("before", &o->before, more);
    if (strcmp(before_point, point) != 0)
        print_point("tuned", &o->best, " (tuned)");
    if (o->drawn >= LEAST_DRAWN)
        printf("  %u points drawn widely since were slower: 95 %% sure that at most %.0f %% are "
               "faster\n",
               o->drawn, 300.0 / o->drawn);
    if (o->wrong)
        printf("  %u points failed or were wrong\n", o->wrong);
    if (o->spilling)
        printf("  %u points spill registers and were not timed\n", o->spilling);
}

int wfi_tune_print(const wfi_case_problem *problems, const wfi_tune_outcome *outcomes,
                   uint32_t count)
{
    int code = WFI_EXIT_DONE;
    printf("%-7s %-4s %-14s %10s %10s %7s %7s\n", "family", "type", "problem", "before", "tuned",
           "faster", "spread");
    for (uint32_t i = 0; i < count; i++) {
        print_outcome(&problems[i], &outcomes[i]);
        if (!outcomes[i].done && outcomes[i].result != WF_ERROR_UNSUPPORTED &&
            outcomes[i].result != WF_ERROR_TOO_LARGE)
            code = WFI_EXIT_FAILED;
    }
    return code;
}

int wfi_tune_tell_interruption(const wfi_tune_work *work)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < work->count; i++)
        left += work->outcomes[i].result == WF_ERROR_CANCELLED;
    return wfi_counts_exit("tune", "problems", 0, left, work->count);
}
