/* What both ends of `wavefit compare` share, and what a process of it does: it compiles for the one
 * driver that its environment names, and tells its starter of the kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arithmetic.h"
#include "io/targets.h"
#include "model/predict.h"
#include "tool/cli/table.h"
#include "tool/commands/compare.h"

#define MOST_ARGUMENTS 256
#define MOST_TEXT (64 * 1024)

int wfi_compare_parse(int argc, char **argv, wfi_common *common, wfi_study *study,
                      const char **targets)
{
    wfi_option options[WFI_STUDY_OPTIONS + 1];
    const wfi_command command = {
        "compare",
        "himeno|spmv|matmul|stencil [MATRIX.mtx] [--generate KIND:N] [--size S] [--shape MxNxK] "
        "[--grid G] [--targets LIST]",
        "Compiles a problem's kernel for GPUs that are not here, and puts what their compilers "
        "make of it side by side, with a time predicted by data sheets.",
        1,
        2,
        options,
        WFI_STUDY_OPTIONS + 1};
    wfi_study_options(study, options);
    options[WFI_STUDY_OPTIONS] = (wfi_option){
        "--targets", "A,B,…", targets, NULL,
        "targets as explain --target takes them (default: all whose compilers are here)"};
    const int code = wfi_options_parse(&command, argc - 2, argv + 2, common);
    if (code != WFI_EXIT_DONE || common->help)
        return code;
    if (common->device)
        return wfi_usage_error("compare: --device does not go with it: --targets names devices");
    return wfi_study_parse(study, "compare", common);
}

bool wfi_compare_tell(const wfi_process *child, int argc, char **argv)
{
    const uint32_t count = (uint32_t)argc;
    bool ok = wfi_pipe_write(child->to, &count, sizeof count);
    for (int i = 0; i < argc && ok; i++) {
        const uint32_t bytes = (uint32_t)strlen(argv[i]) + 1;
        ok = wfi_pipe_write(child->to, &bytes, sizeof bytes) &&
             wfi_pipe_write(child->to, argv[i], bytes);
    }
    return ok;
}

/* The command line, which the starter tells; 0: it does not come whole. */
static int hear(const wfi_starter *starter, char *text, char *argv[MOST_ARGUMENTS])
{
    uint32_t count = 0, used = 0;
    if (!wfi_pipe_read_all(starter->from, &count, sizeof count) || count > MOST_ARGUMENTS)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = 0;
        if (!wfi_pipe_read_all(starter->from, &bytes, sizeof bytes) || bytes > MOST_TEXT - used ||
            !wfi_pipe_read_all(starter->from, text + used, bytes))
            return 0;
        argv[i] = text + used;
        used += bytes;
    }
    return (int)count;
}

static void fill_row(const wfi_session *session, const wfi_result_case *c, wfi_target_row *row)
{
    const wf_kernel_info *kernel = &c->plan.kernel;
    row->compiled = true;
    snprintf(row->device, sizeof row->device, "%s", session->caps->name);
    snprintf(row->driver, sizeof row->driver, "%.60s %.90s", session->caps->driver_name,
             session->caps->driver_info);
    snprintf(row->variant, sizeof row->variant, "%s", c->plan.variant);
    snprintf(row->chosen_by, sizeof row->chosen_by, "%s", c->plan.chosen_by);
    wfi_format_constants(&c->plan, row->constants, sizeof row->constants);
    memcpy(row->group_size, kernel->group_size, sizeof row->group_size);
    row->subgroup_size = kernel->subgroup_size;
    row->registers = kernel->registers;
    row->live = wfi_study_live_registers(kernel);
    row->spills_told = wfi_study_tells_spills(kernel);
    row->spilled = kernel->spilled;
    row->instructions = wfi_instruction_count(kernel);
    row->shared_bytes = (double)kernel->shared_bytes;
    row->flops = c->plan.flops;
    row->least_bytes = c->plan.least_bytes;
    row->requested_bytes = c->plan.requested_bytes;
    row->shared_requested_bytes = c->plan.shared_requested_bytes;
    row->group_bytes = c->plan.group_bytes;
    row->occupancy = c->occupancy;
    if (c->occupancy_limit)
        snprintf(row->occupancy_limit, sizeof row->occupancy_limit, "%s", c->occupancy_limit);
}

static void add_prediction(const wfi_session *session, const wfi_result_case *c, wf_type type,
                           wfi_target_row *row)
{
    const wfi_data_sheet *sheet = wfi_data_sheet_of(row->target);
    wf_occupancy occupancy;
    const bool known =
        wf_kernel_occupancy(session->caps, &c->plan.kernel, &occupancy) == WF_SUCCESS;
    wfi_prediction p;
    if (!sheet)
        return;
    snprintf(row->product, sizeof row->product, "%s", sheet->product);
    snprintf(row->source, sizeof row->source, "%s", sheet->source);
    if (!wfi_predict(sheet, &c->plan, type, known ? &occupancy : NULL, &p))
        return;
    row->predicted_us = p.us;
    row->memory_us = p.memory_us;
    row->arithmetic_us = p.arithmetic_us;
    row->access_us = p.access_us;
    snprintf(row->set_by, sizeof row->set_by, "%s", p.set_by);
}

/* The device stays open: the process ends, and a driver whose card is not there need not close. */
static void compile(int argc, char **argv, wfi_target_row *row)
{
    static wfi_result_case c;
    wfi_common common;
    wfi_session session;
    const char *targets = NULL;
    wfi_study study = {0};
    if (wfi_compare_parse(argc, argv, &common, &study, &targets) != WFI_EXIT_DONE)
        snprintf(row->reason, sizeof row->reason, "the problem cannot be made again");
    else if (wfi_session_open_target(&session, &common, row->target) != WFI_EXIT_DONE)
        snprintf(row->reason, sizeof row->reason, "this driver does not know the chip");
    else {
        const wf_result result = wfi_study_compile(&session, &study, common.variant,
                                                   common.constants, common.constant_count, &c);
        if (result == WF_SUCCESS) {
            fill_row(&session, &c, row);
            add_prediction(&session, &c, study.type, row);
        } else {
            snprintf(row->reason, sizeof row->reason, "%s", c.reason);
        }
    }
    wfi_study_free(&study);
}

int wfi_compare_child_main(const wfi_starter *starter)
{
    static char text[MOST_TEXT];
    static char *argv[MOST_ARGUMENTS];
    static wfi_target_row row;
    wfi_process_crash_silently();
    row.predicted_us = row.memory_us = row.arithmetic_us = row.access_us = (double)NAN;
    row.occupancy = (double)NAN;
    const bool named = wfi_pipe_read_all(starter->from, row.target, sizeof row.target);
    const int argc = named ? hear(starter, text, argv) : 0;
    if (argc < 2)
        return WFI_EXIT_FAILED;
    compile(argc, argv, &row);
    const bool told = wfi_pipe_write(starter->to, &row, sizeof row);
    wfi_process_leave(told ? WFI_EXIT_DONE : WFI_EXIT_FAILED);
    return WFI_EXIT_FAILED;
}
