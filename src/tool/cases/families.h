/* What the commands know of each family: a family is one row, in cases/family_NAME.c. */
#ifndef WFI_TOOL_CASES_FAMILIES_H
#define WFI_TOOL_CASES_FAMILIES_H

#include "tool/cases/problem.h"
#include "tool/cases/study.h"

struct wfi_load_kind;

typedef struct wfi_tool_family {
    wf_family family;
    const char *const *options; /* options of a study that go with it, ended by NULL */
    const char *sizes[3];       /* names of a problem's sizes in results */
    bool sizes_of_matrix;       /* they are known when the matrix has been made */
    bool narrow_rates;          /* types under 32 bits have instructions of their own */
    bool rate_of_run;           /* a case's rate is of the whole run, not of the median sample */

    /* Studies (cases/study.h): the command line's options; a measurement; bytes that a call brings
     * and fetches; options that name the problem; the problem by its sizes. */
    int (*parse)(wfi_study *study, const wfi_common *common);
    wf_result (*run)(wfi_session *session, const wfi_study *study, wfi_result_case *out);
    void (*moved)(const wfi_study *study, const wf_plan_info *plan, double *up, double *down);
    void (*arguments)(const wfi_study *study, char *text, size_t bytes);
    void (*describe)(const wfi_study *study, wf_problem *problem);

    /* Problems of suites (cases/problem.h): a measurement; bytes on the device, roughly from above;
     * parameters for a search (false: `error` says why); what results tell beside the sizes. A
     * family without run_problem is not in the suite of bench; facts may be NULL. */
    void (*run_problem)(wfi_session *session, const wfi_case_problem *problem, double seconds,
                        wfi_result_case *out);
    double (*bytes)(const wfi_case_problem *problem);
    bool (*data)(const wfi_case_problem *problem, uint64_t seed, wfi_problem_data *data,
                 wf_tune_params *params, char error[1024]);
    void (*facts)(const wfi_case_problem *problem, wfi_result_case *out);

    /* The problem on the machine's own cores (tool/host/host.h); NULL: no version of the family. */
    void (*host)(const wfi_case_problem *problem, double seconds, uint64_t seed,
                 wfi_result_host *out);

    const struct wfi_load_kind *load; /* of `bench --sustained`; NULL: none */
} wfi_tool_family;

/* The families that commands work on, in the order in which they are listed. */
#define WFI_TOOL_FAMILIES(X) X(himeno) X(spmv) X(matmul) X(stencil)

#define WFI_DECLARE_FAMILY(name) extern const wfi_tool_family wfi_tool_##name##_family;
WFI_TOOL_FAMILIES(WFI_DECLARE_FAMILY)
#undef WFI_DECLARE_FAMILY

/* The row of a family; NULL: no command works on it. */
const wfi_tool_family *wfi_tool_family_of(wf_family family);

/* The family of that name. On another name prints one line, which begins with `what`, and returns
 * WFI_EXIT_USAGE. */
int wfi_parse_family(const char *what, const char *name, wf_family *family);

#endif
