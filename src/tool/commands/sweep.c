/* wavefit sweep: time against one parameter of a variant, with the occupancy beside it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/old_names.h"
#include "tool/commands/commands.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cases/study.h"
#include "tool/cli/table.h"
#include "tool/cli/target.h"
#include "tool/cli/wrap.h"

#define POINT_SECONDS 0.2
#define MAX_POINTS 120
#define BAR 32

#define MOST_SUBGROUPS 32

/* The parameters that are swept together: one, or the work-group's. */
typedef struct axes {
    uint32_t count;
    wf_parameter_info parameters[3];
    uint32_t unit; /* values are counted in so many: work-items of a subgroup; else 1 */
    uint32_t sizes[MOST_SUBGROUPS];
} axes;

/* Every count of subgroups a work-group, for variants whose work-groups have one side. */
static int choose_subgroups(const wf_variant_info *variant, const wf_caps *caps, axes *out)
{
    *out = (axes){.unit = caps->subgroup_size};
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        if (strncmp(variant->parameters[i].name, "local_", 6) == 0)
            out->parameters[out->count++ ? 1 : 0] = variant->parameters[i];
    if (out->count != 1)
        return wfi_usage_error("sweep: the work-group of %s has not one side alone: --over "
                               "work-group, or one of its parameters",
                               variant->name);
    for (uint32_t n = 0; n < MOST_SUBGROUPS; n++)
        out->sizes[n] = (n + 1) * out->unit;
    out->parameters[0].candidates = out->sizes;
    out->parameters[0].candidate_count = MOST_SUBGROUPS;
    return WFI_EXIT_DONE;
}

static int choose_axes(const wf_variant_info *variant, const char *over, axes *out)
{
    *out = (axes){.unit = 1};
    for (uint32_t i = 0; i < variant->parameter_count; i++) {
        const wf_parameter_info *p = &variant->parameters[i];
        const bool local = strncmp(p->name, "local_", 6) == 0;
        if ((strcmp(over, "work-group") == 0 ? local : strcmp(over, p->name) == 0) &&
            out->count < 3)
            out->parameters[out->count++] = *p;
    }
    if (out->count)
        return WFI_EXIT_DONE;
    char names[256] = "";
    for (uint32_t i = 0; i < variant->parameter_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 variant->parameters[i].name);
    if (strcmp(over, "work-group") == 0)
        return wfi_usage_error("sweep: the work-group of %s follows from its other parameters (%s)",
                               variant->name, names);
    return wfi_usage_error("sweep: variant %s has no parameter '%s' (%s)", variant->name, over,
                           names);
}

static uint32_t point_count(const axes *a)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < a->count; i++)
        count *= a->parameters[i].candidate_count;
    return count < MAX_POINTS ? count : MAX_POINTS;
}

/* The values of point `index`, and the forced constants of the command line behind them. */
static uint32_t point_constants(const axes *a, const wfi_common *common, uint32_t index,
                                wf_constant out[2 * WF_MAX_PARAMETERS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const wf_parameter_info *p = &a->parameters[i];
        out[count++] = (wf_constant){p->name, p->candidates[index % p->candidate_count]};
        index /= p->candidate_count;
    }
    for (uint32_t i = 0; i < common->constant_count; i++)
        out[count++] = common->constants[i];
    return count;
}

/* A sweep: what of, and over what. */
typedef struct sweep {
    const wfi_study *study;
    const char *variant, *over;
    bool compiles; /* for a device that is not there: nothing runs */
    bool by_time;  /* fastest first */
    axes axes;
} sweep;

static wf_result measure(wfi_session *session, const sweep *s, const char *variant,
                         const wf_constant *constants, uint32_t count, wfi_result_case *out)
{
    return s->compiles ? wfi_study_compile(session, s->study, variant, constants, count, out)
                       : wfi_study_run(session, s->study, variant, constants, count, out);
}

static void run_point(wfi_session *session, const sweep *s, uint32_t index, wfi_result_case *out)
{
    const axes *a = &s->axes;
    wf_constant constants[2 * WF_MAX_PARAMETERS];
    const uint32_t count = point_constants(a, session->common, index, constants);
    double product = 1;
    for (uint32_t i = 0; i < a->count; i++)
        product *= constants[i].value;
    if (wfi_interrupted()) {
        wfi_result_case_init(out, wf_family_name(s->study->family));
        snprintf(out->name, sizeof out->name, "%s", s->study->name);
        out->type = wf_type_name(s->study->type);
        wfi_case_fail_text(out, WFI_STATUS_CANCELLED, "interrupted");
    } else if (measure(session, s, s->variant, constants, count, out) == WF_ERROR_CONSTRAINT) {
        out->status = WFI_STATUS_SKIPPED;
    }
    if (!out->has_plan) {
        out->plan.variant = s->variant;
        for (uint32_t i = 0; i < count && i < WF_MAX_PARAMETERS; i++)
            out->plan.constants[out->plan.constant_count++] = constants[i];
    }
    out->study.kind = "sweep";
    out->study.step = index + 1;
    out->study.over = s->over;
    out->study.value = product / a->unit;
}

/* --------------------------------------------------------------------------------------- output */

typedef struct point {
    const wfi_result_case *result;
} point;

static int by_value(const void *a, const void *b)
{
    const wfi_result_case *x = ((const point *)a)->result, *y = ((const point *)b)->result;
    if (x->study.value != y->study.value)
        return x->study.value < y->study.value ? -1 : 1;
    return x->study.step < y->study.step ? -1 : 1;
}

/* The fastest point; of those that were only compiled the first with the highest occupancy. */
static const wfi_result_case *best_of(const wfi_result_case *cases, uint32_t count)
{
    const wfi_result_case *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].status == WFI_STATUS_OK && cases[i].has_timing &&
            (!best || cases[i].timing.median_us < best->timing.median_us))
            best = &cases[i];
    for (uint32_t i = 0; i < count && (!best || !best->has_timing); i++)
        if (cases[i].has_plan && cases[i].status == WFI_STATUS_SKIPPED &&
            (!best || cases[i].occupancy > best->occupancy))
            best = &cases[i];
    return best;
}

static int by_time(const void *a, const void *b)
{
    const double x = ((const point *)a)->result->timing.median_us,
                 y = ((const point *)b)->result->timing.median_us;
    return x != y ? (x < y ? -1 : 1) : by_value(a, b);
}

static void value_text(const wfi_result_case *c, const axes *a, char *text, size_t bytes)
{
    size_t used = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < c->plan.constant_count; k++)
            if (strcmp(c->plan.constants[k].name, a->parameters[i].name) == 0 && used < bytes) {
                used += (size_t)snprintf(text + used, bytes - used, "%s%u", i ? "x" : "",
                                         c->plan.constants[k].value / a->unit);
                break;
            }
}

static void add_bar(wfi_table *table, int row, int column, double fraction, const char *behind)
{
    char bar[BAR + 1];
    const int length = isfinite(fraction) ? (int)(fraction * BAR + 0.5) : 0;
    memset(bar, '#', sizeof bar);
    bar[length < BAR ? length : BAR] = '\0';
    wfi_table_set(table, row, column, "%s%s", bar, behind);
}

static void add_registers(wfi_table *table, int row, const wf_kernel_info *kernel)
{
    char text[32];
    wfi_study_registers(kernel, text, sizeof text);
    if (kernel->spilled)
        wfi_table_set(table, row, 2, "%s, %u spilled", text, kernel->spilled);
    else
        wfi_table_set(table, row, 2, "%s", text);
}

static void add_row(wfi_table *table, const wfi_result_case *c, const sweep *s,
                    const wfi_result_case *best)
{
    const wf_kernel_info *kernel = &c->plan.kernel;
    char text[WFI_CELL_BYTES] = "";
    const int row = wfi_table_row(table);
    value_text(c, &s->axes, text, sizeof text);
    wfi_table_set(table, row, 0, "%s", text);
    wfi_table_set(table, row, 1, "%u",
                  kernel->group_size[0] * kernel->group_size[1] * kernel->group_size[2]);
    if (isfinite(c->occupancy))
        wfi_table_set(table, row, 3, "%.0f %%", c->occupancy * 100);
    if (c->occupancy_limit)
        wfi_table_set(table, row, 4, "%s", c->occupancy_limit);
    if (s->compiles) {
        add_registers(table, row, kernel);
        add_bar(table, row, 5, c->occupancy, "");
        return;
    }
    wfi_format_time(c->timing.median_us, text, sizeof text);
    wfi_table_set(table, row, 2, "%s", text);
    add_bar(table, row, 5, best->timing.median_us / c->timing.median_us, c == best ? "  best" : "");
}

static bool is_told(const sweep *s, const wfi_result_case *c)
{
    return s->compiles ? c->has_plan : c->status == WFI_STATUS_OK && c->has_timing;
}

/* One line a point that ran, by value; the bar is as long as the point is fast, or full. */
static void print_sweep(const wfi_session *session, const sweep *s, const wfi_result_case *cases,
                        uint32_t count)
{
    static wfi_table table = {.columns = 6, .right = 0x0f};
    const char *const heading[] = {s->over,     "work-items", s->compiles ? "registers" : "time",
                                   "occupancy", "limited by", s->compiles ? "" : "speed"};
    const wfi_result_case *best = best_of(cases, count);
    point order[MAX_POINTS];
    uint32_t told = 0, illegal = 0;
    if (wfi_json_on_stdout(session->common))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (is_told(s, &cases[i]))
            order[told++] = (point){&cases[i]};
        else
            illegal += cases[i].status == WFI_STATUS_SKIPPED;
    }
    wfi_line(4, "%s %s: %s %s on %s%s", wf_family_name(s->study->family), cases[0].plan.variant,
             s->study->name, wf_type_name(s->study->type), session->caps->name,
             s->compiles ? ", compiled only" : "");
    putchar('\n');
    wfi_table_headings(&table, heading, 6);
    qsort(order, told, sizeof *order, s->by_time && !s->compiles ? by_time : by_value);
    for (uint32_t i = 0; i < told && best; i++)
        add_row(&table, order[i].result, s, best);
    wfi_table_print(&table);
    if (illegal)
        printf("\n%u of %u values do not fit the other constants or the device\n", illegal, count);
    if (best && best->occupancy_source) {
        putchar('\n');
        wfi_line(0, "occupancy is an estimate: %s", best->occupancy_source);
    }
}

static int run_points(wfi_session *session, const sweep *s, int argc, char **argv)
{
    const uint32_t count = point_count(&s->axes);
    wfi_result_case *cases = calloc(count, sizeof *cases);
    if (!cases)
        return wfi_run_error("sweep: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        wfi_progress_show(session->common->quiet, (double)i / count, s->over);
        run_point(session, s, i, &cases[i]);
    }
    wfi_progress_clear(session->common->quiet);
    print_sweep(session, s, cases, count);
    int code = wfi_cases_exit("sweep", "points", cases, count);
    if (code == WFI_EXIT_DONE && !best_of(cases, count))
        code = wfi_run_error("sweep: no value could run: %.300s", cases[0].reason);
    const int written = wfi_session_write(session, argc, argv, cases, count);
    free(cases);
    return code != WFI_EXIT_DONE ? code : written;
}

static int unknown_variant(wf_family family, const char *variant)
{
    const char *name = wf_family_name(family), *now = wfi_old_variant(name, variant);
    char names[512] = "";
    wf_variant_info info;
    if (strcmp(now, variant) != 0)
        return wfi_usage_error("family %s has no variant '%s', which is called '%s' now", name,
                               variant, now);
    for (uint32_t i = 0; wf_family_variant(family, i, &info) == WF_SUCCESS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 info.name);
    return wfi_usage_error("family %s has no variant '%s' (%s)", name, variant, names);
}

/* The variant to sweep: the one forced, or the one that wavefit chooses for the problem. */
static int run(wfi_session *session, sweep *s, int argc, char **argv)
{
    static wfi_result_case chosen;
    const wfi_common *common = session->common;
    s->variant = common->variant;
    if (!s->variant) {
        wfi_progress_show(common->quiet, 0, "wavefit's own choice");
        const wf_result result =
            measure(session, s, NULL, common->constants, common->constant_count, &chosen);
        if (!chosen.has_plan || result == WF_ERROR_CANCELLED) {
            const int failed = wfi_case_exit(&chosen, result);
            wfi_session_write(session, argc, argv, &chosen, 1);
            return failed;
        }
        s->variant = chosen.plan.variant;
    }
    const uint32_t index = wfi_study_variant(s->study->family, s->variant);
    if (index == UINT32_MAX)
        return unknown_variant(s->study->family, s->variant);
    const wf_variant_info info = wfi_study_variant_info(s->study->family, index);
    s->variant = info.name;
    const int code = strcmp(s->over, "subgroups") == 0
                         ? choose_subgroups(&info, session->caps, &s->axes)
                         : choose_axes(&info, s->over, &s->axes);
    return code != WFI_EXIT_DONE ? code : run_points(session, s, argc, argv);
}

int wfi_tool_sweep(int argc, char **argv)
{
    wfi_study study = {.budget_seconds = wfi_session_seconds(POINT_SECONDS)};
    sweep s = {.study = &study};
    const char *target = NULL;
    wfi_option options[WFI_STUDY_OPTIONS + 3];
    const wfi_command command = {
        "sweep",
        "himeno|spmv|matmul|stencil [MATRIX.mtx] --over work-group|subgroups|PARAMETER "
        "[--variant NAME]",
        "Measures every value that a parameter can have; wavefit chooses the others.",
        1,
        2,
        options,
        WFI_STUDY_OPTIONS + 3};
    wfi_common common;
    wfi_session session;
    wfi_study_options(&study, options);
    options[WFI_STUDY_OPTIONS] = (wfi_option){"--over", "PARAMETER", &s.over, NULL,
                                              "what is swept: a parameter's name, work-group, or "
                                              "subgroups (1 to 32 a work-group)"};
    options[WFI_STUDY_OPTIONS + 1] =
        (wfi_option){"--by-time", NULL, NULL, &s.by_time, "print the fastest first, not by value"};
    options[WFI_STUDY_OPTIONS + 2] =
        (wfi_option){"--target", "VENDOR:CHIP", &target, NULL,
                     "compile for a device that is not there: registers and occupancy alone"};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (!s.over)
        return wfi_usage_error("sweep: --over says what is swept: work-group or a parameter");
    code = wfi_study_parse(&study, "sweep", &common);
    s.compiles = target != NULL;
    if (code == WFI_EXIT_DONE && target) {
        common.device = NULL;
        code = wfi_target_select(&target, argv);
    }
    if (code == WFI_EXIT_DONE &&
        (code = wfi_session_open_target(&session, &common, target)) == WFI_EXIT_DONE) {
        code = run(&session, &s, argc, argv);
        wfi_session_close(&session);
    }
    wfi_study_free(&study);
    return code;
}
