/* The search itself: cases one after another, in a child process, since a driver may crash or hang
 * in any of them. */
#ifndef WFI_TOOL_VERIFY_SEARCH_H
#define WFI_TOOL_VERIFY_SEARCH_H

#include "tool/verify/verify.h"

typedef struct wfi_search {
    const wfi_common *common;
    wfi_verify_request request;
    double seconds;    /* of the whole search */
    uint64_t most;     /* cases; 0: as many as there is time for */
    char options[320]; /* of the command that runs a case again */

    /* What it came to, in memory that parent and child share. */
    struct wfi_search_state {
        wf_caps caps;
        bool opened; /* caps are there */
        double begun, took;
        uint64_t next; /* the number of the case after the present one */
        uint64_t cases[WFI_VERIFY_KIND_COUNT], elements, unsupported, failed;
        uint64_t kernels[WFI_VERIFY_KIND_COUNT]; /* bit i: variant i ran */
        wfi_verdict now;                         /* the present case */
        uint32_t count;
        wfi_verdict findings[WFI_MOST_FINDINGS];
    } * state;
} wfi_search;

/* False: out of memory. */
bool wfi_search_open(wfi_search *search);
void wfi_search_close(wfi_search *search);

/* Runs the search and returns the exit code: FAILED where cases failed or it was interrupted. */
int wfi_search_run(wfi_search *search);
/* Runs one case in this process. */
int wfi_search_one(wfi_search *search, uint64_t number);

#endif
