#include "tool/tune/draw.h"

#include <stdio.h>
#include <string.h>

int wfi_tune_draw(const wfi_tune_arguments *args, const wfi_tune_device *device, uint64_t seed,
                  uint32_t count, uint32_t most, wfi_case_problem problems[WFI_MAX_TUNE_PROBLEMS],
                  uint32_t *found)
{
    static wfi_case_problem all[WFI_MOST_DRAWN];
    wf_type type = WF_TYPE_F32;
    uint32_t large = 0;
    *found = 0;
    if (args->type && !wfi_parse_type("--type", args->type, &type))
        return WFI_EXIT_USAGE;
    const wfi_drawn_request request = {
        .seed = seed, .family = args->family, .type = args->type ? &type : NULL, .count = count};
    const uint32_t there = wfi_drawn_suite(&request, all);
    for (uint32_t i = 0; i < there && *found < most; i++) {
        const bool wanted = !args->only || strstr(all[i].name, args->only);
        if (wanted && device->cpu && !all[i].cpu)
            large++;
        else if (wanted)
            problems[(*found)++] = all[i];
    }
    if (*found == 0)
        return wfi_usage_error("tune: %s (--count draws more)",
                               large ? "all problems drawn are too large for a CPU device"
                                     : "no such problem was drawn");
    if (large)
        fprintf(stderr, "wavefit: %u of the problems drawn are too large for a CPU device\n",
                large);
    return WFI_EXIT_DONE;
}
