/* The search itself: cases one after another, in a process of their own, since a driver may crash
 * or hang in any of them. */
#ifndef WFI_TOOL_VERIFY_SEARCH_H
#define WFI_TOOL_VERIFY_SEARCH_H

#include "tool/verify/verify.h"

/* There are fewer variants, constants and shaders than that. */
#define WFI_SEARCH_NAMES 1024

typedef struct wfi_search {
    const wfi_common *common;
    wfi_verify_request request;
    double seconds;    /* of the whole search */
    uint64_t most;     /* cases; 0: as many as there is time for */
    char options[320]; /* of the command that runs a case again */

    /* What it came to. */
    struct wfi_search_state {
        wf_caps caps;
        bool opened; /* caps are there */
        bool within; /* a case, which is not over */
        double begun, took;
        uint64_t next; /* the number of the case after the present one */
        uint64_t cases[WFI_VERIFY_KIND_COUNT], elements, unsupported, failed;
        uint64_t kernels[WFI_VERIFY_KIND_COUNT]; /* bit i: variant i ran */
        wfi_verdict now;                         /* the present case */
        uint32_t count;
        wfi_verdict findings[WFI_MOST_FINDINGS];
        uint32_t name_count; /* names that verdicts have: they outlive who told of them */
        char *names[WFI_SEARCH_NAMES];
    } * state;
} wfi_search;

/* False: out of memory. */
bool wfi_search_open(wfi_search *search);
void wfi_search_close(wfi_search *search);

/* Runs the search and returns the exit code: FAILED where cases failed or it was interrupted. */
int wfi_search_run(wfi_search *search);
/* Runs one case in this process. */
int wfi_search_one(wfi_search *search, uint64_t number);

/* Where this process was started to run cases, does so and ends it. */
void wfi_search_as_child(int argc, char **argv);

#endif
