/* What the commands know of each family: a family is one row, in cases/family_NAME.c. */
#ifndef WFI_TOOL_CASES_FAMILIES_H
#define WFI_TOOL_CASES_FAMILIES_H

#include "tool/cases/problem.h"
#include "tool/cases/study.h"

struct wfi_load_kind;

/* An option of `wavefit tune` for one problem of the family: it names the problem, or goes with one
 * that does. */
typedef struct wfi_problem_option {
    const char *name, *argument, *help; /* as in wfi_option */
    bool names;
    bool positional; /* may also stand behind the family without the option's name */
} wfi_problem_option;

#define WFI_MOST_PROBLEM_OPTIONS 5

/* What a command line gave, in the order of the family's options. */
typedef struct wfi_given_problem {
    const char *text[WFI_MOST_PROBLEM_OPTIONS]; /* NULL: not given */
    bool flag[WFI_MOST_PROBLEM_OPTIONS];        /* of options without an argument */
    const char *type;                           /* of --type; NULL: not given */
} wfi_given_problem;

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
     * parameters for a search, in data->own, which is data_bytes of zeros (false: `error` says
     * why); what results tell beside the sizes. A family without run_problem is not in the suite of
     * bench; facts may be NULL. */
    void (*run_problem)(wfi_session *session, const wfi_case_problem *problem, double seconds,
                        wfi_result_case *out);
    double (*bytes)(const wfi_case_problem *problem);
    bool (*data)(const wfi_case_problem *problem, uint64_t seed, wfi_problem_data *data,
                 wf_tune_params *params, char error[1024]);
    size_t data_bytes;
    void (*facts)(const wfi_case_problem *problem, wfi_result_case *out);

    /* Problems that `wavefit tune` searches for where none is named; and the options that name one,
     * with the problem that they name: its type is set before (on wrong usage prints one line and
     * returns WFI_EXIT_USAGE). */
    const wfi_case_problem *suite;
    uint32_t suite_count;

    /* Problems drawn at random (cases/drawn.h): sizes, name and `cpu` of one; the types that it may
     * have, the usual ones several times. */
    void (*draw)(uint64_t *state, wfi_case_problem *out);
    const wf_type *drawn_types;
    uint32_t drawn_type_count;

    const wfi_problem_option *problem_options;
    uint32_t problem_option_count;
    int (*parse_problem)(const wfi_given_problem *given, wfi_case_problem *problem);

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

#define WFI_COUNT_FAMILY(name) +1
enum { WFI_TOOL_FAMILY_COUNT = 0 WFI_TOOL_FAMILIES(WFI_COUNT_FAMILY) };
#undef WFI_COUNT_FAMILY

extern const wfi_tool_family *const wfi_tool_families[WFI_TOOL_FAMILY_COUNT];

/* The row of a family; NULL: no command works on it. */
const wfi_tool_family *wfi_tool_family_of(wf_family family);

/* Their names, with `between` between them. */
void wfi_family_names(const char *between, char *text, size_t bytes);

/* The family of that name. On another name prints one line, which begins with `what`, and returns
 * WFI_EXIT_USAGE. */
int wfi_parse_family(const char *what, const char *name, wf_family *family);

#endif
