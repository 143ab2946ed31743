/* What a command line of `wavefit tune` says. */
#ifndef WFI_TOOL_TUNE_OPTIONS_H
#define WFI_TOOL_TUNE_OPTIONS_H

#include "tool/cases/families.h"
#include "tool/cli/options.h"
#include "tool/tune/suite.h"

typedef struct wfi_tune_arguments {
    const char *suite, *only, *count;               /* NULL: not given */
    uint32_t drawn;                                 /* how many, where the suite is drawn */
    wfi_given_problem given[WFI_TOOL_FAMILY_COUNT]; /* what names one problem */
    const char *type;
    bool compare, exhaustive, again, export, show, forget, calibrate, no_calibrate;
    bool fits;                        /* the device as a whole, by drawn problems */
    wf_family family;                 /* COUNT: all */
    double seconds, patience_seconds; /* seconds: of the budget, or to fit the device in */
    double calibrate_seconds;         /* 0: not given */
    int argc;
    char **argv;
} wfi_tune_arguments;

/* Parses all but the problem. On wrong usage prints one line and returns WFI_EXIT_USAGE. */
int wfi_tune_options(int argc, char **argv, wfi_tune_arguments *args, wfi_common *common);

/* Whether the command line names one problem; without, there is the suite. */
bool wfi_tune_names_one(const wfi_tune_arguments *args);
/* Whether the suite is of problems drawn at random. */
bool wfi_tune_is_drawn(const wfi_tune_arguments *args);
/* That problem. On wrong usage prints one line and returns WFI_EXIT_USAGE. */
int wfi_tune_parse_one(const wfi_tune_arguments *args, wfi_case_problem *problem);

#endif
