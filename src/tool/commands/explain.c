/* wavefit explain: where the time of a problem goes, what limits it, and what to try. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/cases/families.h"
#include "core/platform.h"
#include "tool/commands/commands.h"
#include "tool/commands/explain_print.h"
#include "tool/cli/console.h"
#include "tool/cli/progress.h"
#include "tool/cli/target.h"
#include "tool/cli/wrap.h"

#define CASE_SECONDS 1.0
#define MOST_MOVED (256.0 * 1024 * 1024) /* bytes of a transfer that is timed; more is scaled */
#define CACHE_BYTES (UINT64_C(4) << 20)  /* a set that every GPU's last-level cache holds */
#define STEPS 9
#define ARGUMENT_BYTES 160

/* Measured ceilings in GB/s; NaN: not measured. */
typedef struct wfi_explain_levels {
    double memory, cache, shared;
} wfi_explain_levels;

/* Microseconds that the host takes to move `bytes` to the device, or from it; 0 where it cannot. */
static double transfer_us(wfi_session *session, double bytes, bool up)
{
    const double moved = fmin(bytes, MOST_MOVED);
    const uint64_t size = ((uint64_t)moved + 3) & ~UINT64_C(3);
    wf_buffer *buffer = NULL;
    void *host = calloc(1, size);
    double best = 0;
    wf_result result = host ? wf_buffer_create(session->device, size, WF_MEMORY_DEVICE, &buffer)
                            : WF_ERROR_OUT_OF_HOST_MEMORY;
    /* The first also makes the staging memory; the faster of the next two counts. */
    for (int i = 0; i < 3 && result == WF_SUCCESS; i++) {
        const double start = wfi_host_seconds();
        result =
            up ? wf_buffer_write(buffer, 0, host, size) : wf_buffer_read(buffer, 0, host, size);
        const double us = (wfi_host_seconds() - start) * 1e6;
        if (i > 0 && (best == 0 || us < best))
            best = us;
    }
    wf_buffer_destroy(&buffer);
    free(host);
    return result == WF_SUCCESS ? best * bytes / moved : 0;
}

static void step(const wfi_session *session, int done, const char *what)
{
    wfi_progress_show(session->common->quiet, (double)done / STEPS, what);
}

/* Bytes of each level: counted, at least, and at most by ceilings in GB/s. */
static void count_bytes(const wfi_session *session, const wfi_explain_levels *levels,
                        wfi_result_case *c)
{
    const double us = c->timing.median_us;
    wfi_study_bytes(session, c);
    c->bytes.memory_most = levels->memory * 1e3 * us;
    c->bytes.cache_most = levels->cache * 1e3 * us;
    c->bytes.shared_most = levels->shared * 1e3 * us;
}

/* Whether the kernel that takes the most time is the variant's own: its accesses are counted, those
 * of kernels that copy and add are not. */
static bool own_kernel_takes_most(const wfi_result_case *c)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < c->kernel_count; i++)
        if (c->kernels[i].us > c->kernels[most].us)
            most = i;
    return c->kernel_count == 0 || c->kernels[most].kernel.main;
}

/* Everything that the rules look at, measured beside the case. */
static void observe(wfi_session *session, const wfi_study *study, wfi_result_case *c,
                    wfi_observation *o)
{
    wfi_explain_levels levels;
    double up, down;
    wfi_study_moved(study, &c->plan, &up, &down);
    step(session, 2, "transfers");
    c->timeline.execute_us = c->timing.median_us;
    c->timeline.upload_us = o->upload_us = transfer_us(session, up, true);
    c->timeline.download_us = o->download_us = transfer_us(session, down, false);
    step(session, 3, "latencies");
    c->timeline.submit_us = o->submit_us = wfi_session_ceiling(session, "submit", 0);
    o->dispatch_us = wfi_session_ceiling(session, "dispatch", 0);
    o->barrier_us = wfi_session_ceiling(session, "barrier", 0);
    step(session, 5, "memory");
    levels.memory = wfi_session_copy_bandwidth(session) * 1e-9;
    levels.cache = wfi_session_ceiling(session, "read", CACHE_BYTES);
    levels.shared = wfi_session_ceiling(session, "shared", 0);
    count_bytes(session, &levels, c);
    step(session, 7, "arithmetic");
    o->fma = wfi_study_rate(session, study) * 1e-9;
    o->fma_f32 = wfi_session_fma_rate(session, WF_TYPE_F32) * 1e-9;
    o->matrix_f16 = wfi_tool_family_of(study->family)->narrow_rates
                        ? wfi_session_ceiling(session, "matrix_f16_f32", 0)
                        : (double)NAN;
    o->time_us = c->timing.median_us;
    o->floor_us = c->floor_us;
    o->memory_bound = strcmp(c->floor_by, "memory") == 0;
    o->copy = levels.memory;
    if (!own_kernel_takes_most(c)) {
        o->access = (wf_access){0};
        o->rows = (wfi_row_use){0};
    }
    o->cache = levels.cache;
}

/* Whether the device has no arithmetic of the type of a matrix product, which is then widened. */
static bool no_hardware(const wf_caps *caps, const wfi_study *study)
{
    if (!wfi_tool_family_of(study->family)->narrow_rates)
        return false;
    switch (study->type) {
    case WF_TYPE_F16:
        return !caps->f16_arithmetic && !caps->cooperative_matrix;
    case WF_TYPE_BF16:
        return !caps->bf16_dot && !caps->bf16_cooperative;
    case WF_TYPE_I8:
        return !caps->integer_dot_accelerated && !caps->cooperative_matrix;
    default:
        return false;
    }
}

/* What is known of a kernel and its plan without a measurement. */
static void describe(const wfi_session *session, const wfi_study *study, const wf_plan_info *plan,
                     wfi_observation *o)
{
    o->dispatches = plan->dispatches;
    o->chosen_by = plan->chosen_by;
    o->kernel = plan->kernel;
    o->access = plan->access;
    o->flops = plan->flops;
    o->least_bytes = plan->least_bytes;
    o->requested_bytes = plan->requested_bytes;
    o->shared_requested_bytes = plan->shared_requested_bytes;
    o->group_bytes = plan->group_bytes;
    o->compute_units = session->caps->compute_units;
    o->processor = session->caps->device_type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    o->no_hardware = no_hardware(session->caps, study);
    o->has_occupancy =
        wf_kernel_occupancy(session->caps, &plan->kernel, &o->occupancy) == WF_SUCCESS;
    if (plan->access.row_lanes && study->matrix.row_offsets)
        o->rows = wfi_row_use_of(study->matrix.row_offsets, study->matrix.rows,
                                 plan->access.row_lanes, plan->access.group_rows);
}

/* Where something is forced: what wavefit would have done. */
static void observe_own_choice(wfi_session *session, const wfi_study *study, wfi_observation *o)
{
    static wfi_result_case own;
    step(session, 1, "wavefit's own choice");
    wfi_study_run(session, study, NULL, NULL, 0, &own);
    if (own.status != WFI_STATUS_OK)
        return;
    o->chosen_us = own.timing.median_us;
    o->chosen = &own.plan;
    o->chosen_occupancy = own.occupancy;
}

static void keep_advice(const wfi_session *session, const wfi_observation *o, wfi_result_case *c,
                        wfi_result_advice kept[WFI_MAX_ADVICE])
{
    wfi_advice advice[WFI_MAX_ADVICE];
    c->advice_count = wfi_advise(o, advice);
    for (uint32_t i = 0; i < c->advice_count; i++) {
        kept[i] = (wfi_result_advice){.rule = advice[i].rule, .gain = advice[i].gain};
        snprintf(kept[i].text, sizeof kept[i].text, "%s", advice[i].text);
        snprintf(kept[i].command, sizeof kept[i].command, "%s", advice[i].command);
        wfi_common_repeat(session->common, kept[i].command, sizeof kept[i].command);
    }
    c->advice = kept;
}

/* `text` gets the options that name the problem, and is kept. */
static wfi_observation observation_of(const wfi_session *session, const wfi_study *study,
                                      const wf_plan_info *plan, char text[ARGUMENT_BYTES])
{
    static wf_variant_info variant;
    const wfi_common *common = session->common;
    variant =
        wfi_study_variant_info(study->family, wfi_study_variant(study->family, plan->variant));
    wfi_study_arguments(study, text, ARGUMENT_BYTES);
    wfi_observation o = {.family = wf_family_name(study->family),
                         .type = study->type,
                         .arguments = text,
                         .variant = &variant,
                         .forced = common->variant || common->constant_count,
                         .box = study->grid.shape == WF_STENCIL_BOX,
                         .steps = study->grid.steps};
    describe(session, study, plan, &o);
    return o;
}

static int run(wfi_session *session, const wfi_study *study, int argc, char **argv)
{
    static wfi_result_case c;
    static wfi_result_advice advice[WFI_MAX_ADVICE];
    static wfi_result_kernel kernels[WFI_MAX_KERNELS];
    const wfi_common *common = session->common;
    char arguments[ARGUMENT_BYTES];
    step(session, 0, study->name);
    session->kernels = kernels;
    const wf_result result = wfi_study_run(session, study, common->variant, common->constants,
                                           common->constant_count, &c);
    session->kernels = NULL;
    c.study.kind = "explain";
    if (c.status != WFI_STATUS_OK || !c.has_timing) {
        wfi_progress_clear(common->quiet);
        const int failed = wfi_case_exit(&c, result);
        const int written = wfi_session_write(session, argc, argv, &c, 1);
        return failed != WFI_EXIT_DONE ? failed : written;
    }
    wfi_observation o = observation_of(session, study, &c.plan, arguments);
    if (o.forced && !wfi_interrupted())
        observe_own_choice(session, study, &o);
    observe(session, study, &c, &o);
    wfi_progress_clear(common->quiet);
    keep_advice(session, &o, &c, advice);
    int code = WFI_EXIT_DONE;
    if (wfi_interrupted()) {
        wfi_case_fail_text(&c, WFI_STATUS_CANCELLED, "interrupted");
        code = wfi_run_error("explain: interrupted");
    } else if (!wfi_json_on_stdout(common)) {
        wfi_explain_print(session, study, &c, &o);
    }
    const int written = wfi_session_write(session, argc, argv, &c, 1);
    return code != WFI_EXIT_DONE ? code : written;
}

/* What another vendor's compiler makes of the kernel: nothing runs. */
static int compile(wfi_session *session, const wfi_study *study, const char *target, int argc,
                   char **argv)
{
    static wfi_result_case c;
    static wfi_result_advice advice[WFI_MAX_ADVICE];
    char arguments[ARGUMENT_BYTES];
    const wfi_common *common = session->common;
    const wf_result result = wfi_study_compile(session, study, common->variant, common->constants,
                                               common->constant_count, &c);
    if (result != WF_SUCCESS)
        return wfi_session_error(session, result);
    wfi_observation o = observation_of(session, study, &c.plan, arguments);
    o.target = target;
    keep_advice(session, &o, &c, advice);
    wfi_study_bytes(session, &c);
    if (!wfi_json_on_stdout(common)) {
        wfi_line(WFI_LABEL_COLUMNS, "device    %s: compiled only, nothing ran",
                 session->caps->name);
        wfi_line(WFI_LABEL_COLUMNS, "problem   %s %s", c.name, c.type);
        wfi_plan_print(&c.plan);
        wfi_explain_print_bytes(&c);
        wfi_explain_print_kernel(session->caps, &c.plan.kernel);
        wfi_explain_print_advice(&c);
    }
    return wfi_session_write(session, argc, argv, &c, 1);
}

/* `explain cg …` is `cg … --explain`. */
static int explain_solver(int argc, char **argv, int (*solver)(int argc, char **argv))
{
    static char flag[] = "--explain";
    char **given = calloc((size_t)argc + 1, sizeof *given);
    int count = 0;
    if (!given)
        return wfi_run_error("explain: out of memory");
    for (int i = 0; i < argc; i++)
        if (i != 1)
            given[count++] = argv[i];
    given[count++] = flag;
    const int code = solver(count, given);
    free(given);
    return code;
}

int wfi_tool_explain(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[2], "cg") == 0)
        return explain_solver(argc, argv, wfi_tool_cg);
    if (argc > 2 && strcmp(argv[2], "laplace") == 0)
        return explain_solver(argc, argv, wfi_tool_laplace);
    wfi_study study = {.budget_seconds = wfi_session_seconds(CASE_SECONDS)};
    const char *target = NULL;
    wfi_option options[WFI_STUDY_OPTIONS + 1];
    const wfi_command command = {
        "explain",
        "himeno|spmv|matmul|stencil|cg|laplace [MATRIX.mtx] [--generate KIND:N] [--size S] "
        "[--shape MxNxK] [--grid G]",
        "Tells where the time goes, what limits it, and what to try.",
        1,
        2,
        options,
        WFI_STUDY_OPTIONS + 1};
    wfi_common common;
    wfi_session session;
    wfi_study_options(&study, options);
    options[WFI_STUDY_OPTIONS] =
        (wfi_option){"--target", "VENDOR:CHIP", &target, NULL,
                     "compile for a device that is not there: amd:navi31, intel:dg2, …"};
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    code = wfi_study_parse(&study, "explain", &common);
    if (code == WFI_EXIT_DONE && target) {
        common.device = NULL;
        code = wfi_target_select(&target, argv);
    }
    if (code == WFI_EXIT_DONE &&
        (code = wfi_session_open_target(&session, &common, target)) == WFI_EXIT_DONE) {
        code = target ? compile(&session, &study, target, argc, argv)
                      : run(&session, &study, argc, argv);
        wfi_session_close(&session);
    }
    wfi_study_free(&study);
    return code;
}
