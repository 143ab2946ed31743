/* A problem of a suite: what bench measures and tune searches for. */
#ifndef WFI_TOOL_CASES_PROBLEM_H
#define WFI_TOOL_CASES_PROBLEM_H

#include "io/csr.h"
#include "wavefit/wavefit.h"

#define WFI_MOST_TAPS 729 /* coefficients: a box of radius 4 */

typedef enum wfi_matrix_kind {
    WFI_MATRIX_NONE, /* the problem is not sparse */
    WFI_MATRIX_FILE,
    WFI_MATRIX_POISSON27,
    WFI_MATRIX_UNIFORM,
    WFI_MATRIX_RMAT,
    WFI_MATRIX_GENERATED
} wfi_matrix_kind;

typedef struct wfi_case_problem {
    wf_family family;
    char name[96];
    wf_type type;
    uint64_t a, b,
        c;          /* himeno ni nj nk; stencil nx ny nz; matmul m n k; spmv size, entries a row */
    wf_math math;   /* of a matrix product */
    uint64_t batch; /* of products; 0: 1 */
    bool transpose_a, transpose_b; /* of a product: as it is stored */
    wfi_matrix_kind kind;
    const char *path; /* of a matrix file; of one that is made, KIND:SIZE, or KIND alone where `a`
                       * is its size and b about its entries */
    bool quick, cpu;  /* in the quick suite; small enough for CPU devices */
    wf_stencil_shape shape; /* of a stencil */
    wf_border border;
    uint32_t radius, steps;
} wfi_case_problem;

/* Rows of suites. quick_: in the quick suite; cpu_: for CPU devices too. */
#define WFI_HIMENO_PROBLEM(text, i, j, k, quick_, cpu_)                                            \
    {                                                                                              \
        .family = WF_FAMILY_HIMENO, .name = text, .a = i, .b = j, .c = k, .quick = quick_,         \
        .cpu = cpu_                                                                                \
    }
#define WFI_SPMV_PROBLEM(text, type_, kind_, size, more, quick_, cpu_)                             \
    {                                                                                              \
        .family = WF_FAMILY_SPMV, .name = text, .type = type_, .kind = kind_, .a = size,           \
        .b = more, .quick = quick_, .cpu = cpu_                                                    \
    }
#define WFI_MATMUL_PROBLEM(text, type_, m, n, k, quick_, cpu_)                                     \
    {                                                                                              \
        .family = WF_FAMILY_MATMUL, .name = text, .type = type_, .a = m, .b = n, .c = k,           \
        .quick = quick_, .cpu = cpu_                                                               \
    }
/* Radius 1 and fixed edges; z 0: a plane. */
#define WFI_STENCIL_PROBLEM(text, type_, shape_, x, y, z, steps_, quick_, cpu_)                    \
    {                                                                                              \
        .family = WF_FAMILY_STENCIL, .name = text, .type = type_, .shape = shape_, .radius = 1,    \
        .a = x, .b = y, .c = z, .steps = steps_, .quick = quick_, .cpu = cpu_                      \
    }

/* A problem's parameters, in a structure of the family's own, and the matrix that they may point
 * into. */
typedef struct wfi_problem_data {
    wfi_csr matrix;
    void *narrow; /* the matrix's values, where they are not f64 */
    void *own;    /* zeros at first, of the size that the family's row says (data_bytes) */
} wfi_problem_data;

#endif
