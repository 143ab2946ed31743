/* What the cases of all families end with: the check's outcome, the time and the rates. */
#ifndef WFI_TOOL_CASES_CASE_PARTS_H
#define WFI_TOOL_CASES_CASE_PARTS_H

#include "tool/cli/session.h"

/* c->check is filled: a check that does not hold fails the case. `worst` is the number of the
 * `part` ("cell", "element") that is farthest off, as the user counts. */
void wfi_case_checked(wfi_result_case *c, const char *part, uint64_t worst);

/* The same of a check of what the timed runs left, which counts where it does not hold. */
void wfi_case_checked_timed(wfi_result_case *c, const wf_check *check, const char *part,
                            uint64_t worst);

/* Times the plan and sets the rate of its operations, in GFLOPS. budget_seconds 0: the default. */
wf_result wfi_case_time(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                        double budget_seconds, wfi_result_case *c);

/* The same for a plan that memory bounds: with the bandwidth of its least bytes. */
wf_result wfi_case_time_memory(wfi_session *session, wf_plan *plan, const wf_bindings *bindings,
                               double budget_seconds, wfi_result_case *c);

/* Whether a solve is to be made once more, for the timing of whole solves; adds one that was. */
bool wfi_case_next_solve(const wfi_session *session, const wfi_result_case *c);
void wfi_case_add_solve(const wf_solve_stages *stages, wfi_result_case *c);
/* "solves    12 ms, median of 5 (…)"; nothing where there were none. */
void wfi_case_print_solves(const wfi_result_case *c);

/* Median, quartiles and spread of a timing's few samples: nearest order statistics. */
void wfi_case_summarise(wf_timing *timing);

/* The effective bandwidth in GB/s, and what share of the measured copy bandwidth it is. */
void wfi_case_bandwidth(wfi_session *session, wfi_result_case *c, double gbs);

#endif
