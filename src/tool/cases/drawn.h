/* Problems drawn at random: what nobody has tuned for. The n-th problem of a family depends on the
 * seed and on n alone, and is the same on every machine. */
#ifndef WFI_TOOL_CASES_DRAWN_H
#define WFI_TOOL_CASES_DRAWN_H

#include "tool/cases/problem.h"

#define WFI_MOST_DRAWN 150
#define WFI_DEFAULT_DRAWN 24

typedef struct wfi_drawn_request {
    uint64_t seed;
    wf_family family;    /* WF_FAMILY_COUNT: all, in turn */
    const wf_type *type; /* NULL: drawn too; families without that type are left out */
    uint32_t count;      /* at most WFI_MOST_DRAWN */
} wfi_drawn_request;

/* Returns how many problems there are, 0 where no family has the type. */
uint32_t wfi_drawn_suite(const wfi_drawn_request *request,
                         wfi_case_problem problems[WFI_MOST_DRAWN]);

/* Reads the text of --count (NULL: the default). On wrong usage prints one line and returns
 * WFI_EXIT_USAGE. */
int wfi_drawn_parse_count(const char *text, uint32_t *count);

#endif
