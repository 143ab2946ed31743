#include "tool/cases/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arithmetic.h"
#include "core/element.h"
#include "model/predict.h"
#include "model/wave_bytes.h"
#include "tool/cases/families.h"

void wfi_study_options(wfi_study *study, wfi_option *options)
{
    const wfi_option all[WFI_STUDY_OPTIONS] = {
        {"--size", "XS…XL|IxJxK", &study->size, NULL, "himeno: the grid (default M)"},
        WFI_MATRIX_OPTION(&study->matrix_name.matrix),
        {"--generate", "KIND:N", &study->matrix_name.generate, NULL,
         "spmv: a matrix that `wavefit spmv` can make"},
        {"--shape", "MxNxK|star|box", &study->text.shape, NULL,
         "matmul: the sizes (default 1024x1024x1024); stencil: its shape (default star)"},
        {"--transpose-a", NULL, NULL, &study->transpose_a, "matmul: A is stored K x M"},
        {"--transpose-b", NULL, NULL, &study->transpose_b, "matmul: B is stored N x K"},
        {"--batch", "N", &study->batch, NULL, "matmul: N products (default 1)"},
        {"--grid", "NXxNY[xNZ]", &study->text.grid, NULL,
         "stencil: the grid's cells (default 256x256x256)"},
        {"--radius", "R", &study->text.radius, NULL, "stencil: 1 to 4 (default 1)"},
        {"--border", "dirichlet|…", &study->text.border, NULL,
         "stencil: dirichlet, neumann or periodic (default dirichlet)"},
        {"--steps", "N", &study->text.steps, NULL, "stencil: steps a run (default 1)"},
        {"--type", "f32|f64|…", &study->text.type, NULL, "element type (default f32)"}};
    memcpy(options, all, sizeof all);
}

static bool goes_with(const wfi_tool_family *family, const char *option)
{
    for (const char *const *own = family->options; *own; own++)
        if (strcmp(*own, option) == 0)
            return true;
    return false;
}

/* The options given must be of the family. */
static int check_options(const wfi_study *study, const wfi_tool_family *family)
{
    const wfi_stencil_arguments *text = &study->text;
    const struct {
        const char *option, *given;
    } own[] = {{"--size", study->size},
               {"--matrix", study->matrix_name.matrix},
               {"--generate", study->matrix_name.generate},
               {"--shape", text->shape},
               {"--transpose-a", study->transpose_a ? "" : NULL},
               {"--transpose-b", study->transpose_b ? "" : NULL},
               {"--batch", study->batch},
               {"--grid", text->grid},
               {"--radius", text->radius},
               {"--border", text->border},
               {"--steps", text->steps}};
    for (size_t i = 0; i < WFI_COUNT(own); i++)
        if (own[i].given && !goes_with(family, own[i].option))
            return wfi_usage_error("%s does not go with %s", own[i].option,
                                   wf_family_name(study->family));
    return WFI_EXIT_DONE;
}

int wfi_study_parse(wfi_study *study, const char *command, const wfi_common *common)
{
    const int code = wfi_parse_family(command, common->positional[0], &study->family);
    if (code != WFI_EXIT_DONE)
        return code;
    const wfi_tool_family *family = wfi_tool_family_of(study->family);
    study->type = WF_TYPE_F32;
    if (common->positional_count > 1) {
        if (!goes_with(family, "--matrix"))
            return wfi_usage_error("%s: unexpected argument '%s' (see wavefit %s --help)", command,
                                   common->positional[1], command);
        study->matrix_name.positional = common->positional[1];
    }
    if (wfi_matrix_name_one(command, &study->matrix_name, &study->matrix_text) != WFI_EXIT_DONE)
        return WFI_EXIT_USAGE;
    if (check_options(study, family) != WFI_EXIT_DONE ||
        (study->text.type && !wfi_parse_type("--type", study->text.type, &study->type)))
        return WFI_EXIT_USAGE;
    return family->parse(study, common);
}

void wfi_study_free(wfi_study *study)
{
    wfi_csr_free(&study->matrix);
}

void wfi_study_moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down)
{
    wfi_tool_family_of(study->family)->moved(study, plan, up, down);
}

/* What the fastest instructions that can make such products reach. */
static double narrow_rate(wfi_session *session, wf_type type)
{
    const wfi_element *element = wfi_element_of(type);
    double rate = (double)NAN;
    for (size_t i = 0; i < WFI_COUNT(element->ceilings) && element->ceilings[i]; i++)
        rate = fmax(rate, wfi_session_ceiling(session, element->ceilings[i], 0) * 1e9);
    return element->whole ? rate
                          : fmax(fmax(wfi_session_fma_rate(session, WF_TYPE_F32),
                                      wfi_session_fma_rate(session, WF_TYPE_F16)),
                                 rate);
}

double wfi_study_rate(wfi_session *session, const wfi_study *study)
{
    const bool narrow = study->type != WF_TYPE_F32 && study->type != WF_TYPE_F64;
    if (!narrow || !wfi_tool_family_of(study->family)->narrow_rates) /* then it computes in f32 */
        return wfi_session_fma_rate(session, narrow ? WF_TYPE_F32 : study->type);
    if (!(session->narrow_rate > 0))
        session->narrow_rate = narrow_rate(session, study->type);
    return session->narrow_rate;
}

static void add_floor(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    const double rate = wfi_study_rate(session, study);
    const double memory_us = out->plan.least_bytes / wfi_session_copy_bandwidth(session) * 1e6;
    const double arithmetic_us = isfinite(rate) ? out->plan.flops / rate * 1e6 : 0;
    out->floor_us = fmax(memory_us, arithmetic_us);
    out->floor_by = arithmetic_us > memory_us ? "arithmetic" : "memory";
}

/* Rates of the median time, so that a row agrees with itself: those of a Himeno run are of the
 * whole run, whose parts may differ. */
static void rate_median(wfi_session *session, const wfi_study *study, wfi_result_case *out)
{
    if (!wfi_tool_family_of(study->family)->rate_of_run || !out->has_timing)
        return;
    const double us = out->timing.median_us;
    out->rate = out->plan.flops / us; /* MFLOPS */
    out->gbs = out->plan.least_bytes / us * 1e-3;
    out->percent = out->gbs * 1e9 / wfi_session_copy_bandwidth(session) * 100;
}

void wfi_study_occupancy(const wf_caps *caps, wfi_result_case *out)
{
    wf_occupancy occupancy;
    if (wf_kernel_occupancy(caps, &out->plan.kernel, &occupancy) != WF_SUCCESS)
        return;
    out->occupancy = occupancy.fraction;
    out->occupancy_limit = occupancy.limited_by;
    out->occupancy_source = occupancy.source;
}

uint32_t wfi_study_live_registers(const wf_kernel_info *kernel)
{
    for (uint32_t i = 0; i < kernel->statistic_count && !kernel->registers; i++)
        if (strcmp(kernel->statistics[i].name, "Max live registers") == 0)
            return (uint32_t)kernel->statistics[i].value;
    return 0;
}

bool wfi_study_tells_spills(const wf_kernel_info *kernel)
{
    static const char *const words[] = {"pill", "STP Count", "SLM Size", "cratch"};
    for (uint32_t i = 0; i < kernel->statistic_count; i++)
        for (size_t w = 0; w < WFI_COUNT(words); w++)
            if (strstr(kernel->statistics[i].name, words[w]))
                return true;
    return false;
}

void wfi_study_registers(const wf_kernel_info *kernel, char *text, size_t bytes)
{
    const uint32_t live = wfi_study_live_registers(kernel);
    if (kernel->registers)
        snprintf(text, bytes, "%u", kernel->registers);
    else if (live)
        snprintf(text, bytes, "%u live", live);
    else
        snprintf(text, bytes, "-");
}

/* Work-groups that the device holds at once; a target's units are those of its data sheet. 0: not
 * known. */
static double wave_groups(const wfi_session *session, const wf_kernel_info *kernel)
{
    const wfi_data_sheet *sheet = session->target ? wfi_data_sheet_of(session->target) : NULL;
    const double told = session->caps->compute_units, units = sheet && !told ? sheet->units : told;
    wf_occupancy occupancy;
    if (wf_kernel_occupancy(session->caps, kernel, &occupancy) != WF_SUCCESS)
        return 0;
    return floor(units / (occupancy.counted_units ? occupancy.counted_units : 1) *
                 occupancy.groups);
}

void wfi_study_bytes(const wfi_session *session, wfi_result_case *out)
{
    const wf_plan_info *plan = &out->plan;
    const double groups = wave_groups(session, &plan->kernel);
    out->bytes = (wfi_result_bytes){.requested = plan->requested_bytes,
                                    .stored = plan->stored_bytes,
                                    .shared_requested = plan->shared_requested_bytes,
                                    .groups = plan->group_bytes,
                                    .waves = wfi_wave_bytes(&plan->tile_order, groups),
                                    .wave_groups = groups,
                                    .least = plan->least_bytes,
                                    .memory_most = (double)NAN,
                                    .cache_most = (double)NAN,
                                    .shared_most = (double)NAN};
}

wf_result wfi_study_run(wfi_session *session, const wfi_study *study, const char *variant,
                        const wf_constant *constants, uint32_t constant_count, wfi_result_case *out)
{
    const wf_tuning before = session->tuning;
    session->tuning.variant = variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = constant_count;
    *session->error = '\0';
    const wf_result result = wfi_tool_family_of(study->family)->run(session, study, out);
    session->tuning = before;
    if (out->status == WFI_STATUS_OK)
        add_floor(session, study, out);
    if (out->status == WFI_STATUS_OK)
        rate_median(session, study, out);
    if (out->has_plan)
        wfi_study_occupancy(session->caps, out);
    return result;
}

wf_result wfi_study_compile(wfi_session *session, const wfi_study *study, const char *variant,
                            const wf_constant *constants, uint32_t constant_count,
                            wfi_result_case *out)
{
    const wf_tuning before = session->tuning;
    const wf_problem problem = wfi_study_problem(study);
    session->tuning.variant = variant;
    session->tuning.constants = constants;
    session->tuning.constant_count = constant_count;
    *session->error = '\0';
    wfi_result_case_init(out, wf_family_name(study->family));
    snprintf(out->name, sizeof out->name, "%s", study->name);
    out->type = wf_type_name(study->type);
    out->plan.size = sizeof out->plan;
    const wf_result result =
        wf_kernel_compile(session->device, &problem, &session->tuning, &out->plan);
    session->tuning = before;
    if (result != WF_SUCCESS) {
        wfi_case_fail(session, out, result);
        return result;
    }
    out->has_plan = true;
    wfi_study_occupancy(session->caps, out);
    wfi_case_fail_text(out, WFI_STATUS_SKIPPED, "compiled for a device that is not there");
    return WF_SUCCESS;
}

void wfi_study_arguments(const wfi_study *study, char *text, size_t bytes)
{
    wfi_tool_family_of(study->family)->arguments(study, text, bytes);
}

wf_problem wfi_study_problem(const wfi_study *study)
{
    wf_problem problem = {.size = sizeof problem, .family = study->family, .type = study->type};
    wfi_tool_family_of(study->family)->describe(study, &problem);
    return problem;
}

uint32_t wfi_study_variant(wf_family family, const char *name)
{
    wf_variant_info info;
    for (uint32_t i = 0; wf_family_variant(family, i, &info) == WF_SUCCESS; i++)
        if (strcmp(info.name, name) == 0)
            return i;
    return UINT32_MAX;
}

wf_variant_info wfi_study_variant_info(wf_family family, uint32_t index)
{
    wf_variant_info info = {0};
    wf_family_variant(family, index, &info);
    return info;
}
