/* The problems that tune and its measurements work on. */
#ifndef WFI_TOOL_TUNE_SUITE_H
#define WFI_TOOL_TUNE_SUITE_H

#include "io/csr.h"
#include "wavefit/wavefit.h"

#define WFI_MAX_TUNE_PROBLEMS 64
#define WFI_TUNE_MOST_TAPS 729 /* coefficients: a box of radius 4 */

typedef enum wfi_matrix_kind {
    WFI_MATRIX_FILE,
    WFI_MATRIX_POISSON27,
    WFI_MATRIX_UNIFORM,
    WFI_MATRIX_RMAT,
    WFI_MATRIX_GENERATED
} wfi_matrix_kind;

typedef struct wfi_tune_problem {
    wf_family family;
    char name[96];
    wf_type type;
    uint64_t a, b, c; /* stencil ni nj nk; grid nx ny nz; matmul m n k; spmv size, entries a row */
    wf_math math;     /* of a matrix product */
    wfi_matrix_kind kind;
    const char *path;       /* of a matrix file; of one that is made, KIND:SIZE */
    bool quick, cpu;        /* in the quick suite; for CPU devices too */
    wf_stencil_shape shape; /* of a grid */
    wf_border border;
    uint32_t radius, steps;
} wfi_tune_problem;

/* The suite's problems of a family (WF_FAMILY_COUNT: of all) for a device; returns how many. */
uint32_t wfi_tune_suite(bool quick, bool cpu, wf_family family,
                        wfi_tune_problem problems[WFI_MAX_TUNE_PROBLEMS]);

/* A problem's parameters, and the matrix they may point into. */
typedef struct wfi_tune_data {
    wfi_csr matrix;
    void *narrow; /* the matrix's values, where they are not f64 */
    wf_matmul_params matmul;
    wf_spmv_params spmv;
    wf_himeno_params himeno;
    wf_stencil_params stencil;
    double coefficients[WFI_TUNE_MOST_TAPS];
} wfi_tune_data;

/* Makes or reads what the problem needs and sets the problem in *params. False: `error` says why. */
bool wfi_tune_data_make(const wfi_tune_problem *problem, uint64_t seed, wfi_tune_data *data,
                        wf_tune_params *params, char error[1024]);
void wfi_tune_data_free(wfi_tune_data *data);

#endif
