#include "tool/cli/stages.h"

#include <math.h>
#include <stdio.h>

#include "core/platform.h"
#include "tool/cli/progress.h"
#include "tool/cli/table.h"
#include "tool/cli/wrap.h"

#define NO_STAGE WFI_STAGE_COUNT

/* The stage that runs since `begun`, and the seconds of each so far. */
static struct {
    wfi_stage now;
    double begun;
    double seconds[WFI_STAGE_COUNT + 1]; /* the last: no stage */
} stages = {.now = NO_STAGE};

static void change(wfi_stage stage)
{
    const double now = wfi_host_seconds();
    stages.seconds[stages.now] += now - stages.begun;
    stages.begun = now;
    stages.now = stage;
}

void wfi_stage_begin(bool quiet, wfi_stage stage, const char *what)
{
    change(stage);
    if (what)
        wfi_progress_phase(quiet, (double)NAN, what);
}

void wfi_stage_end(bool quiet)
{
    change(NO_STAGE);
    wfi_progress_clear(quiet);
}

static void move(wfi_stage to, double seconds)
{
    stages.seconds[to] += seconds;
    stages.seconds[stages.now] -= seconds;
}

void wfi_stages_note(const wf_solve_stages *of_solve)
{
    move(WFI_STAGE_ANALYSIS, of_solve->analysis);
    move(WFI_STAGE_UPLOAD, of_solve->upload);
    move(WFI_STAGE_RUN, of_solve->run);
    move(WFI_STAGE_DOWNLOAD, of_solve->download);
    move(WFI_STAGE_CHECK, of_solve->check);
}

static void print(const wfi_result_case *c)
{
    char text[256] = "", time[32];
    size_t used = 0;
    for (int i = 0; i < WFI_STAGE_COUNT; i++) {
        if (!(c->stages[i] > 0))
            continue;
        wfi_format_time(c->stages[i] * 1e6, time, sizeof time);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "",
                                 wfi_stage_name((wfi_stage)i), time);
        if (used >= sizeof text)
            break;
    }
    wfi_line(WFI_LABEL_COLUMNS, "stages    %s", text);
    wfi_format_time(wfi_stages_whole(c->stages) * 1e6, time, sizeof time);
    wfi_line(WFI_LABEL_COLUMNS, "whole     %s from operands to answer in host memory", time);
}

void wfi_stages_finish(const wfi_common *common, wfi_result_case *c)
{
    wfi_stage_end(common->quiet);
    if (!(stages.seconds[WFI_STAGE_RUN] > 0))
        return;
    for (int i = 0; i < WFI_STAGE_COUNT; i++)
        c->stages[i] = fmax(stages.seconds[i], 0);
    if (!wfi_json_on_stdout(common))
        print(c);
}
