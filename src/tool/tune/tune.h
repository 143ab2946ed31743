/* wavefit tune, for the tool and for bench/tuning.c, which has more options. */
#ifndef WFI_TOOL_TUNE_TUNE_H
#define WFI_TOOL_TUNE_TUNE_H

#include <stdbool.h>

/* What only bench/tuning.c can ask for; all zero for users. */
typedef struct wfi_tune_extras {
    double slice_seconds; /* a comparison begins no problem after so long; 0: no end */
    /* Of a comparison's exhaustive search; 0: thrice the budget, negative: there is none. */
    double all_seconds;
    bool discard; /* a search keeps nothing of what it finds */
} wfi_tune_extras;

/* Where this process is one that searches start, does its work and ends it: the first thing that
 * main calls. */
void wfi_tune_as_child(int argc, char **argv);

/* Runs `wavefit tune` with the whole argv. Returns the tool's exit code. */
int wfi_tune_command(int argc, char **argv, const wfi_tune_extras *extras);

#endif
