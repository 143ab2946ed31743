/* wavefit himeno: the Himeno benchmark with the official sizes, rehearsal, Gosa and score. */
#include <stdio.h>
#include <string.h>

#include "tool/cases/cases.h"
#include "tool/commands/commands.h"
#include "tool/cases/himeno_size.h"
#include "tool/cli/stages.h"
#include "tool/cli/wrap.h"

#define DEFAULT_SECONDS 60.0 /* the official program's aim */

static double extra(const wfi_result_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->extra_count; i++)
        if (strcmp(c->extras[i].name, name) == 0)
            return c->extras[i].number;
    return 0;
}

/* The lines that the official program prints. */
static void print_official(const wfi_session *session, const wfi_himeno_request *r,
                           const wfi_result_case *c)
{
    if (wfi_json_on_stdout(session->common))
        return;
    wfi_line(WFI_LABEL_COLUMNS, "grid      imax = %u jmax = %u kmax = %u, %.0f slab%s", r->ni,
             r->nj, r->nk, extra(c, "slabs"), extra(c, "slabs") > 1 ? "s" : "");
    /* The official program makes three; a variant of several steps a pass needs more to be seen. */
    wfi_line(WFI_LABEL_COLUMNS, "rehearsal %.0f iterations: MFLOPS: %.2f  Gosa of the third: %.7E",
             extra(c, "rehearsal_iterations"), extra(c, "rehearsal_mflops"),
             extra(c, "rehearsal_gosa"));
    if (!c->has_timing)
        return;
    printf("measured  Loop executed for %.0f times in %.3f s\n", extra(c, "iterations"),
           extra(c, "seconds"));
    printf("          Gosa : %.7E\n", extra(c, "gosa"));
    printf("          MFLOPS measured : %.2f\n", c->rate);
    printf("          Score based on Pentium III 600MHz : %.2f\n", extra(c, "score"));
}

static int run(const wfi_common *common, const wfi_himeno_request *request, int argc, char **argv)
{
    static wfi_result_case result_case;
    wfi_session session;
    int code = wfi_session_open(&session, common);
    if (code != WFI_EXIT_DONE)
        return code;
    const wf_result result = wfi_case_himeno(&session, request, &result_case);
    if (result_case.has_plan) {
        wfi_case_print(&session, &result_case);
        if (result_case.has_check)
            print_official(&session, request, &result_case);
    }
    code = wfi_case_exit(&result_case, result);
    wfi_stages_finish(common, &result_case);
    const int written = wfi_session_write(&session, argc, argv, &result_case, 1);
    wfi_session_close(&session);
    return code != WFI_EXIT_DONE ? code : written;
}

int wfi_tool_himeno(int argc, char **argv)
{
    const char *size = "M", *iterations = NULL, *seconds = NULL;
    const wfi_option options[] = {
        {"--size", "XS|S|M|L|XL|IxJxK", &size, NULL, "cells, borders included (default M)"},
        {"--iterations", "N", &iterations, NULL, "how many iterations the measured run makes"},
        {"--seconds", "T", &seconds, NULL, "how long the measured run takes (default 60)"},
    };
    const wfi_command command = {
        "himeno",
        "[--size XS|S|M|L|XL|IxJxK] [--iterations N | --seconds T]",
        "Runs the Himeno benchmark: a 19-point Jacobi relaxation in f32, verified against f64.",
        0,
        0,
        options,
        3};
    wfi_common common;
    wfi_himeno_request request = {.seconds = DEFAULT_SECONDS};
    uint64_t count = 0, extent[3];
    char name[64];
    int code = wfi_options_parse(&command, argc - 2, argv + 2, &common);
    if (code != WFI_EXIT_DONE || common.help)
        return code;
    if (iterations && seconds)
        return wfi_usage_error("himeno: give --iterations or --seconds, not both");
    if (!wfi_parse_himeno_size("--size", size, extent) ||
        (iterations && !wfi_parse_u64("--iterations", iterations, 1, 1000000000, &count)) ||
        (seconds && !wfi_parse_seconds("--seconds", seconds, &request.seconds)))
        return WFI_EXIT_USAGE;
    request.iterations = (uint32_t)count;
    request.ni = (uint32_t)extent[0];
    request.nj = (uint32_t)extent[1];
    request.nk = (uint32_t)extent[2];
    snprintf(name, sizeof name, "himeno %s", size);
    request.name = name;
    return run(&common, &request, argc, argv);
}
