/* Families that a build may leave out, and those that are searched. */
#ifndef WFI_API_FAMILIES_H
#define WFI_API_FAMILIES_H

#include "core/log.h"

/* WF_ERROR_UNSUPPORTED, with a line in the log, where this build does not have the family. */
wf_result wfi_family_require(const wfi_log *log, wf_family family, const char *function);

/* A family whose best points are searched (wf_tune). */
typedef struct wfi_searched {
    wf_family family;
    size_t given; /* where wf_tune_params points to its parameters */
    size_t bytes; /* of its parameters */
    /* The plan of such parameters, with that tuning in place of their own; NULL: the family's work
     * is more than one plan. */
    wf_result (*plan)(wf_device *device, const void *params, const wf_tuning *tuning,
                      wf_plan **out);
} wfi_searched;

/* The family of the one problem that the parameters have; NULL: they have none, or several. */
const wfi_searched *wfi_searched_of(const wf_tune_params *params);
/* The parameters of that problem as they were given, of a size that an older header may say. */
const void *wfi_searched_given(const wfi_searched *searched, const wf_tune_params *params);

#endif
