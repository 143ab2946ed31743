/* wavefit ladder: the steps of the texts on one problem, in their order and with their constants,
 * then the other variants of the family. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/ladders.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/target.h"
#include "tool/commands/commands.h"
#include "tool/commands/ladder_print.h"

#define STEP_SECONDS 0.5

static void run_step(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                     const wfi_rung *rung, uint32_t step, bool compile, wfi_result_case *out)
{
    if (wfi_interrupted()) {
        wfi_result_case_init(out, ladder->subject);
        snprintf(out->name, sizeof out->name, "%s", study->name);
        out->type = wf_type_name(study->type);
        out->plan.variant = rung->variant;
        wfi_case_fail_text(out, WFI_STATUS_CANCELLED, "interrupted");
        out->study.rung = rung->name;
        out->study.summary = "not run";
    } else if (compile) {
        wfi_rung_compile(session, ladder, study, rung, out);
    } else {
        wfi_rung_run(session, ladder, study, rung, out);
    }
    out->study.kind = "ladder";
    out->study.step = step;
}

/* ---------------------------------------------------------------------------------------- gains */

static bool has_time(const wfi_result_case *c)
{
    return c->status == WFI_STATUS_OK && c->has_timing;
}

/* The rung that case `at` is compared with: the one that its text names, or, behind the texts'
 * steps, the fastest before it by the device's clock; NULL: none of these ran. */
static const wfi_result_case *compared(const wfi_result_case *cases, const wfi_rung *rungs,
                                       uint32_t at)
{
    const wfi_result_case *best = NULL;
    for (uint32_t i = 0; i < at; i++) {
        const wfi_result_case *c = &cases[i];
        if (!has_time(c) || strcmp(c->name, cases[at].name) != 0)
            continue;
        if (rungs[at].text ? rungs[at].over && strcmp(rungs[i].name, rungs[at].over) == 0
                           : c->timing.gpu_clock == cases[at].timing.gpu_clock &&
                                 (!best || c->timing.median_us < best->timing.median_us))
            best = c;
    }
    return best;
}

static void add_gains(wfi_result_case *cases, const wfi_rung *rungs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const wf_timing *now = &cases[i].timing;
        const wfi_result_case *c = has_time(&cases[i]) ? compared(cases, rungs, i) : NULL;
        wfi_result_study *s = &cases[i].study;
        s->compared_with = c ? c->study.rung : NULL;
        if (!c)
            continue;
        s->gain = c->timing.median_us / now->median_us;
        s->gain_low = c->timing.q1_us / now->q3_us;
        s->gain_high = c->timing.q3_us / now->q1_us;
        s->unsure = s->gain_low <= 1 && s->gain_high >= 1;
        s->other_clock = c->timing.gpu_clock != now->gpu_clock;
    }
}

/* ------------------------------------------------------------------------------------------ run */

static int run(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
               const wfi_rung *rungs, uint32_t count, const char *target, int argc, char **argv)
{
    const bool compile = target != NULL;
    wfi_result_case *cases = calloc(count ? count : 1, sizeof *cases);
    if (!cases)
        return wfi_run_error("ladder: out of memory");
    for (uint32_t i = 0; i < count; i++) {
        wfi_progress_show(session->common->quiet, (double)i / count, rungs[i].name);
        run_step(session, ladder, study, &rungs[i], i + 1, compile, &cases[i]);
    }
    wfi_progress_clear(session->common->quiet);
    add_gains(cases, rungs, count);
    if (!wfi_json_on_stdout(session->common))
        (compile ? wfi_ladder_print_compiled : wfi_ladder_print)(session, ladder, study, cases,
                                                                 count);
    const int code = wfi_cases_exit("ladder", "steps", cases, count);
    const int written = wfi_session_write(session, argc, argv, cases, count);
    free(cases);
    return code != WFI_EXIT_DONE ? code : written;
}

static bool rung_takes(const wfi_ladder *ladder, const wfi_rung *rung, const char *constant)
{
    const uint32_t index =
        rung->variant ? wfi_study_variant(ladder->family, rung->variant) : UINT32_MAX;
    const wf_variant_info info =
        index == UINT32_MAX ? (wf_variant_info){0} : wfi_study_variant_info(ladder->family, index);
    for (uint32_t i = 0; i < info.parameter_count; i++)
        if (strcmp(info.parameters[i].name, constant) == 0)
            return true;
    return false;
}

/* Has the product of a solver's rungs that share rows among lanes made by another such variant. */
static bool swap_variant(const wfi_ladder *ladder, const char *wanted, wfi_rung *rungs,
                         uint32_t count)
{
    const wfi_rung other = {.variant = wanted};
    const bool swaps = ladder->run && rung_takes(ladder, &other, "lanes");
    for (uint32_t i = 0; swaps && i < count; i++)
        if (rungs[i].variant && rung_takes(ladder, &rungs[i], "lanes"))
            rungs[i].variant = wanted;
    return swaps;
}

/* Leaves the rungs of that name or variant, and those that they are compared with. */
static int select_rungs(const wfi_ladder *ladder, const char *wanted, wfi_rung *rungs,
                        uint32_t *count)
{
    bool keep[WFI_MAX_RUNGS] = {false};
    uint32_t kept = 0;
    char names[1024] = "";
    for (uint32_t i = 0; i < *count; i++) {
        const char *variant = rungs[i].variant ? rungs[i].variant : rungs[i].name;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", rungs[i].name);
        keep[i] = strcmp(rungs[i].name, wanted) == 0 || strcmp(variant, wanted) == 0;
        for (uint32_t k = 0; keep[i] && rungs[i].over && k < i; k++)
            keep[k] |= strcmp(rungs[k].name, rungs[i].over) == 0;
    }
    for (uint32_t i = 0; i < *count; i++)
        if (keep[i])
            rungs[kept++] = rungs[i];
    if (kept == 0 && swap_variant(ladder, wanted, rungs, *count))
        return WFI_EXIT_DONE;
    if (kept == 0)
        return wfi_usage_error("ladder %s has no step or variant '%s' (%s)", ladder->subject,
                               wanted, names);
    *count = kept;
    return WFI_EXIT_DONE;
}

/* A constant of the command line must be some rung's. */
static int check_constants(const wfi_ladder *ladder, const wfi_common *common,
                           const wfi_rung *rungs, uint32_t count)
{
    for (uint32_t i = 0; i < common->constant_count; i++) {
        bool taken = false;
        for (uint32_t k = 0; k < count; k++)
            taken |= rung_takes(ladder, &rungs[k], common->constants[i].name);
        if (!taken)
            return wfi_usage_error("ladder %s: no step has a constant '%s'", ladder->subject,
                                   common->constants[i].name);
    }
    return WFI_EXIT_DONE;
}

int wfi_tool_ladder(int argc, char **argv)
{
    wfi_study study = {.budget_seconds = wfi_session_seconds(STEP_SECONDS)};
    const char *target = NULL;
    wfi_option options[WFI_STUDY_OPTIONS + 1];
    const wfi_command command = {
        "ladder",
        "himeno|spmv|cg|laplace|matmul|stencil [MATRIX.mtx] [--generate KIND:N] [--size S] "
        "[--shape MxNxK] [--grid G]",
        "Measures the steps of the texts that wavefit retells, in their order and with their "
        "constants, on one problem, and then every other variant.",
        1,
        2,
        options,
        WFI_STUDY_OPTIONS + 1};
    wfi_common common;
    wfi_session session;
    wfi_rung rungs[WFI_MAX_RUNGS];
    wfi_study_options(&study, options);
    options[WFI_STUDY_OPTIONS] =
        (wfi_option){"--target", "VENDOR:CHIP", &target, NULL,
                     "compile every step for a device that is not there, as explain does"};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    const wfi_ladder *ladder = NULL;
    code = wfi_parse_ladder(common.positional[0], &ladder);
    if (code != WFI_EXIT_DONE)
        return code;
    uint32_t count = wfi_ladder_rungs(ladder, rungs);
    common.positional[0] = wf_family_name(ladder->family); /* the problem is one of its family */
    if (!study.text.grid)
        study.text.grid = ladder->default_grid;
    code = wfi_study_parse(&study, "ladder", &common);
    if (code == WFI_EXIT_DONE && ladder->plane) {
        if (study.grid.nz)
            code = wfi_usage_error("ladder %s: --grid WxH, not '%s'", ladder->subject,
                                   study.text.grid);
        snprintf(study.name, sizeof study.name, "%ux%u", study.grid.nx, study.grid.ny);
    }
    if (code == WFI_EXIT_DONE && common.variant)
        code = select_rungs(ladder, common.variant, rungs, &count);
    if (code == WFI_EXIT_DONE)
        code = check_constants(ladder, &common, rungs, count);
    if (code == WFI_EXIT_DONE && target) {
        common.device = NULL;
        code = wfi_target_select(&target, argv);
    }
    if (code == WFI_EXIT_DONE &&
        (code = wfi_session_open_target(&session, &common, target)) == WFI_EXIT_DONE) {
        code = run(&session, ladder, &study, rungs, count, target, argc, argv);
        wfi_session_close(&session);
    }
    wfi_study_free(&study);
    return code;
}
