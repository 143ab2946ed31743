#include "tool/cases/ladders.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "tool/cases/families.h"

static const wfi_ladder *const ladders[] = {&wfi_himeno_ladder, &wfi_spmv_ladder,
                                            &wfi_matmul_ladder, &wfi_stencil_ladder,
                                            &wfi_cg_ladder,     &wfi_laplace_ladder};

int wfi_parse_ladder(const char *subject, const wfi_ladder **ladder)
{
    char solvers[64] = "";
    wf_family family;
    for (size_t i = 0; i < WFI_COUNT(ladders); i++) {
        const size_t used = strlen(solvers);
        *ladder = ladders[i];
        if (strcmp(subject, ladders[i]->subject) == 0)
            return WFI_EXIT_DONE;
        if (ladders[i]->run)
            snprintf(solvers + used, sizeof solvers - used, "%s%s", used ? ", " : "",
                     ladders[i]->subject);
    }
    char what[128];
    snprintf(what, sizeof what, "ladder (of a family or of %s)", solvers);
    const int code = wfi_parse_family(what, subject, &family);
    return code == WFI_EXIT_DONE ? wfi_usage_error("ladder: '%s' has no ladder", subject) : code;
}

/* Whether the variant is that of a rung. */
static bool is_told(const wfi_ladder *ladder, const char *variant)
{
    for (uint32_t i = 0; i < ladder->count; i++)
        if (ladder->rungs[i].variant && strcmp(ladder->rungs[i].variant, variant) == 0)
            return true;
    return false;
}

uint32_t wfi_ladder_rungs(const wfi_ladder *ladder, wfi_rung rungs[WFI_MAX_RUNGS])
{
    wf_variant_info info;
    uint32_t count = ladder->count;
    for (uint32_t i = 0; i < count; i++)
        rungs[i] = ladder->rungs[i];
    for (uint32_t i = 0;
         ladder->others && wf_family_variant(ladder->family, i, &info) == WF_SUCCESS; i++)
        if (!is_told(ladder, info.name) && count < WFI_MAX_RUNGS)
            rungs[count++] = (wfi_rung){.name = info.name, .variant = info.name};
    return count;
}

static bool has_parameter(const wf_variant_info *info, const char *name)
{
    for (uint32_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* The rung's constants and, over them, those of the command line that its variant has. */
static uint32_t merge(const wfi_rung *rung, const wf_constant *own, const wfi_study *study,
                      const wfi_common *common, wf_constant out[WF_MAX_PARAMETERS])
{
    const uint32_t index = rung->variant ? wfi_study_variant(study->family, rung->variant) : 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < WFI_RUNG_CONSTANTS && own[i].name; i++)
        out[count++] = own[i];
    if (index == UINT32_MAX)
        return count;
    const wf_variant_info info = wfi_study_variant_info(study->family, index);
    for (uint32_t i = 0; i < common->constant_count; i++) {
        const wf_constant *given = &common->constants[i];
        uint32_t at = 0;
        while (at < count && strcmp(out[at].name, given->name) != 0)
            at++;
        if ((rung->variant && !has_parameter(&info, given->name)) || at == WF_MAX_PARAMETERS)
            continue;
        out[at] = *given;
        count += at == count;
    }
    return count;
}

static wf_result compile_rung(wfi_session *session, const wfi_study *study, const wfi_rung *rung,
                              const wf_constant *constants, uint32_t count, wfi_result_case *out)
{
    const wf_problem problem = wfi_study_problem(study);
    const wf_tuning before = session->tuning;
    wfi_result_case_init(out, wf_family_name(study->family));
    snprintf(out->name, sizeof out->name, "%s", study->name);
    out->type = wf_type_name(study->type);
    out->plan.size = sizeof out->plan;
    session->tuning.variant = rung->variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = count;
    *session->error = '\0';
    const wf_result result =
        wf_kernel_compile(session->device, &problem, &session->tuning, &out->plan);
    session->tuning = before;
    out->has_plan = result == WF_SUCCESS;
    if (result != WF_SUCCESS)
        wfi_case_fail(session, out, result);
    else
        wfi_case_fail_text(out, WFI_STATUS_SKIPPED, "compiled for a device that is not there");
    if (result == WF_SUCCESS)
        wfi_study_occupancy(session->caps, out);
    return result;
}

static wf_result run_with(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                          const wfi_rung *rung, const wf_constant *own, bool compile,
                          wfi_result_case *out)
{
    wf_constant constants[WF_MAX_PARAMETERS];
    const uint32_t count = merge(rung, own, study, session->common, constants);
    const wf_result result =
        compile       ? compile_rung(session, study, rung, constants, count, out)
        : ladder->run ? ladder->run(session, study, rung, constants, count, out)
                      : wfi_study_run(session, study, rung->variant, constants, count, out);
    if (!out->has_plan) {
        out->plan.variant = rung->variant;
        out->plan.constant_count = count;
        memcpy(out->plan.constants, constants, count * sizeof *constants);
    }
    return result;
}

/* How many lanes of a row have no entry to multiply, where lanes of a constant share one. */
static void note_lanes(const wfi_study *study, wfi_result_case *out)
{
    const wfi_csr *m = &study->matrix;
    uint32_t lanes = 1, longest = 0;
    double places = 0;
    if (study->family != WF_FAMILY_SPMV || !out->has_plan || out->status != WFI_STATUS_OK)
        return;
    for (uint32_t i = 0; i < out->plan.constant_count; i++)
        if (strcmp(out->plan.constants[i].name, "lanes") == 0)
            lanes = out->plan.constants[i].value;
    if (lanes <= 1)
        return;
    for (uint32_t row = 0; row < m->rows; row++) {
        const uint32_t length = m->row_offsets[row + 1] - m->row_offsets[row];
        const uint32_t rounds = (length + lanes - 1) / lanes;
        places += (double)rounds * lanes;
        longest = length > longest ? length : longest;
    }
    const uint32_t idle = (lanes - longest % lanes) % lanes;
    out->study.lanes_idle = places > 0 ? 1 - m->entries / places : (double)NAN;
    snprintf(out->study.lanes, sizeof out->study.lanes,
             "%u of %u lanes idle at the end of a row of %u entries; %.0f %% of all places", idle,
             lanes, longest, out->study.lanes_idle * 100);
}

static void do_rung(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                    const wfi_rung *rung, bool compile, wfi_result_case *out)
{
    wfi_study own = *study;
    if (rung->extent[0] && (double)rung->extent[0] * (double)rung->extent[1] <
                               (double)own.extent[0] * (double)own.extent[1]) {
        memcpy(own.extent, rung->extent, sizeof own.extent);
        wfi_product_name(own.extent, &own.product, own.name, sizeof own.name);
    }
    if (compile && rung->form) { /* kernels of a solver's own */
        wfi_result_case_init(out, ladder->subject);
        snprintf(out->name, sizeof out->name, "%s", own.name);
        wfi_case_fail_text(out, WFI_STATUS_UNSUPPORTED, "it is no plan that could be compiled");
        out->study.rung = rung->name;
        return;
    }
    wf_result result = run_with(session, ladder, &own, rung, rung->constants, compile, out);
    const bool fits = result != WF_ERROR_CONSTRAINT || !rung->smaller[0].name;
    if (!fits)
        result = run_with(session, ladder, &own, rung, rung->smaller, compile, out);
    /* What the device or the type rules out is no failure of the run. */
    if (result == WF_ERROR_CONSTRAINT || result == WF_ERROR_UNKNOWN_VARIANT)
        out->status = WFI_STATUS_UNSUPPORTED;
    const uint32_t index = rung->variant ? wfi_study_variant(own.family, rung->variant) : 0;
    const wf_variant_info info =
        wfi_study_variant_info(own.family, index == UINT32_MAX ? 0 : index);
    out->study.rung = rung->name;
    out->study.summary = rung->summary ? rung->summary : info.summary;
    out->study.source = rung->text ? rung->text : rung->variant ? info.source : NULL;
    out->study.figure = rung->figure;
    out->study.compared_with = rung->over;
    out->study.smaller = !fits;
    note_lanes(&own, out);
    if (out->has_plan) /* as explain has them, without those that need more measurements */
        wfi_study_bytes(session, out);
}

void wfi_rung_run(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                  const wfi_rung *rung, wfi_result_case *out)
{
    do_rung(session, ladder, study, rung, false, out);
}

void wfi_rung_compile(wfi_session *session, const wfi_ladder *ladder, const wfi_study *study,
                      const wfi_rung *rung, wfi_result_case *out)
{
    do_rung(session, ladder, study, rung, true, out);
}
