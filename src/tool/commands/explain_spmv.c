#include "tool/commands/explain_spmv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

static void print_rows(const wf_spmv_analysis *a)
{
    printf("\nrows      %llu, %llu columns, %llu entries\n", (unsigned long long)a->rows,
           (unsigned long long)a->columns, (unsigned long long)a->entries);
    printf("entries   %u to %u a row, %.2f on average, deviation %.2f\n", a->shortest_row,
           a->longest_row, a->mean_row, a->row_deviation);
    printf("bandwidth %u (largest distance from the diagonal)\n", a->bandwidth);
    printf("blocks    %u x %u, %.0f %% filled where there are any\n", a->block, a->block,
           a->block_fill * 100);
    printf("\nrow length        rows\n");
    for (int i = 0; i < 33; i++) {
        const unsigned long long rows = a->row_histogram[i];
        const double share = (double)rows / (double)a->rows;
        char span[40];
        if (rows == 0)
            continue;
        if (i < 2)
            snprintf(span, sizeof span, "%d", i);
        else
            snprintf(span, sizeof span, "%llu to %llu", 1ull << (i - 1), (1ull << i) - 1);
        printf("  %-15s %9llu  %5.1f %%  %.*s\n", span, rows, share * 100, (int)ceil(share * 40),
               "########################################");
    }
}

static double expected_of(const wf_spmv_analysis *a, const char *variant)
{
    for (uint32_t i = 0; i < a->candidate_count; i++)
        if (strcmp(a->candidates[i].variant, variant) == 0)
            return a->candidates[i].expected;
    return -1;
}

static void print_choice(const wf_spmv_analysis *a, const wf_plan_info *plan)
{
    const double chosen = expected_of(a, plan->variant);
    printf("\nchosen    %s (%s)\n", plan->variant, plan->chosen_by);
    printf("variant         expected time by the model\n");
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        const wf_spmv_candidate *c = &a->candidates[i];
        if (c->reason[0]) {
            wfi_line(16, "  %-12s  cannot run here: %s", c->variant, c->reason);
            continue;
        }
        printf("  %-12s  ", c->variant);
        if (c->expected < 0)
            printf("not weighed: for other matrices, or a step of the ladder\n");
        else if (chosen > 0)
            printf("%.2f of the chosen one's\n", c->expected / chosen);
        else
            printf("%.3g\n", c->expected);
    }
}

static void print_bytes(const wf_spmv_analysis *a, const wfi_result_case *c)
{
    const double value = c->type && strcmp(c->type, "f16") == 0   ? 2
                         : c->type && strcmp(c->type, "f64") == 0 ? 8
                                                                  : 4;
    const double csr = (double)a->entries * (4 + value) + ((double)a->rows + 1) * 4;
    const double vectors = c->plan.least_bytes - csr;
    putchar('\n');
    wfi_line(WFI_LABEL_COLUMNS,
             "moved     %.3f MB of matrix (%.2f bytes an entry), %.3f MB of x and y at least",
             (double)a->matrix_bytes * 1e-6, (double)a->matrix_bytes / fmax((double)a->entries, 1),
             vectors * 1e-6);
    wfi_line(WFI_LABEL_COLUMNS,
             "least     %.3f MB as compressed sparse rows, each byte once: %.2f of it are moved",
             c->plan.least_bytes * 1e-6, ((double)a->matrix_bytes + vectors) / c->plan.least_bytes);
}

static void print_cost(const wfi_spmv_explain *e, const wfi_result_case *c)
{
    const wf_spmv_analysis *a = &e->analysis;
    char first[32], second[32];
    wfi_format_time(a->seconds * 1e6, first, sizeof first);
    wfi_format_time(a->statistics_seconds * 1e6, second, sizeof second);
    putchar('\n');
    wfi_line(WFI_LABEL_COLUMNS,
             "analysis  %s: %s to look and choose, the rest to convert, compile and upload", first,
             second);
    if (!e->baseline || !c->has_timing)
        return;
    const double cost = a->seconds - e->baseline_seconds;
    const double gain = e->baseline_us - c->timing.median_us;
    wfi_format_time(e->baseline_us, first, sizeof first);
    wfi_format_time(e->baseline_seconds * 1e6, second, sizeof second);
    printf("baseline  %s: %s a product, %s to plan\n", e->baseline, first, second);
    if (gain <= 0)
        printf("break-even never: the baseline is no slower\n");
    else if (cost <= 0)
        printf("break-even at once: it costs no more than the baseline's\n");
    else
        printf("break-even after %.0f products\n", ceil(cost * 1e6 / gain));
}

void wfi_explain_spmv(const wfi_result_case *c, const wfi_spmv_explain *e)
{
    print_rows(&e->analysis);
    print_choice(&e->analysis, &c->plan);
    print_bytes(&e->analysis, c);
    print_cost(e, c);
}
