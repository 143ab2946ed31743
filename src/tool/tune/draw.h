/* Problems drawn at random that tune works on. */
#ifndef WFI_TOOL_TUNE_DRAW_H
#define WFI_TOOL_TUNE_DRAW_H

#include "tool/tune/options.h"
#include "tool/tune/worker.h"

/* Draws `count` of the family and type that the options ask for, leaves out those that would keep a
 * CPU device busy for minutes, and gives the first `most` of the others. Returns the tool's exit
 * code, and has printed one line where no problem is left. */
int wfi_tune_draw(const wfi_tune_arguments *args, const wfi_tune_device *device, uint64_t seed,
                  uint32_t count, uint32_t most, wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS],
                  uint32_t *found);

#endif
