/* A family and a problem that ladder, sweep and explain look at, measured with any variant and
 * constants, with its floor by the measured ceilings and its occupancy. */
#ifndef WFI_TOOL_CASES_STUDY_H
#define WFI_TOOL_CASES_STUDY_H

#include "tool/cases/cases.h"
#include "tool/cases/matrix_name.h"
#include "tool/cases/stencil_options.h"

#define WFI_STUDY_OPTIONS 12

typedef struct wfi_study {
    wf_family family;
    wf_type type;
    char name[96];
    uint64_t extent[3];       /* himeno, stencil: cells; matmul: m, n, k */
    wf_matmul_params product; /* all else of a product; its sizes and type are not looked at */
    wfi_stencil_request grid;
    wf_stencil_params stencil; /* of grid, for wfi_study_problem */
    wfi_csr matrix;            /* spmv */
    double budget_seconds;     /* a measurement */
    /* what the command line gave */
    const char *size;
    wfi_matrix_name matrix_name;
    const char *matrix_text;    /* the one of them that was given; NULL: none */
    wfi_stencil_arguments text; /* of grid; shape and type are other families' too */
    const char *batch;
    bool transpose_a, transpose_b;
} wfi_study;

/* Fills options[0 … WFI_STUDY_OPTIONS-1] with those that name the problem. */
void wfi_study_options(wfi_study *study, wfi_option *options);
/* Takes the family from the first positional argument and the problem from the options; reads or
 * makes the matrix. Prints one line and returns the exit code on failure. */
int wfi_study_parse(wfi_study *study, const char *command, const wfi_common *common);
void wfi_study_free(wfi_study *study);

/* Measures once with the variant (NULL: wavefit's choice) and constants. */
wf_result wfi_study_run(wfi_session *session, const wfi_study *study, const char *variant,
                        const wf_constant *constants, uint32_t constant_count,
                        wfi_result_case *out);

/* The same without running anything: the case has the kernel and its occupancy, and is skipped. */
wf_result wfi_study_compile(wfi_session *session, const wfi_study *study, const char *variant,
                            const wf_constant *constants, uint32_t constant_count,
                            wfi_result_case *out);
/* The bytes of the plan that are counted, in out->bytes. */
void wfi_study_bytes(const wfi_session *session, wfi_result_case *out);
/* Registers of a whole thread that are live, where a compiler tells these and not those of a
 * work-item, as Intel's; else 0. */
uint32_t wfi_study_live_registers(const wf_kernel_info *kernel);
/* Whether the compiler says how many registers it keeps in memory, by any name. */
bool wfi_study_tells_spills(const wf_kernel_info *kernel);
/* "96", "96 live" of a whole thread, or "-" where the compiler tells of none. */
void wfi_study_registers(const wf_kernel_info *kernel, char *text, size_t bytes);
/* The estimated occupancy of the plan's kernel, where it is known. */
void wfi_study_occupancy(const wf_caps *caps, wfi_result_case *out);

/* The options that name the problem, for a command line: "--shape 1024x1024x1024". */
void wfi_study_arguments(const wfi_study *study, char *text, size_t bytes);
/* The problem by its sizes; valid as long as the study. */
wf_problem wfi_study_problem(const wfi_study *study);
/* Operations a second that the device's arithmetic reaches at best, measured; NaN: not known. */
double wfi_study_rate(wfi_session *session, const wfi_study *study);
/* Bytes that a call of the plan brings and fetches. */
void wfi_study_moved(const wfi_study *study, const wf_plan_info *plan, double *up, double *down);

/* The index of a variant by name; UINT32_MAX: none. */
uint32_t wfi_study_variant(wf_family family, const char *name);

/* As wf_family_variant, for an index that exists. */
wf_variant_info wfi_study_variant_info(wf_family family, uint32_t index);

#endif
