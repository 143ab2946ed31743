/* One verified measurement of each family: what the subcommands and bench share. Each fills the
 * case (status, reason, plan, timing, rate, check) and returns the library's result. */
#ifndef WFI_TOOL_CASES_CASES_H
#define WFI_TOOL_CASES_CASES_H

#include "io/csr.h"
#include "tool/cases/problem.h"
#include "tool/cli/session.h"

typedef struct wfi_matmul_request {
    uint64_t m, n, k;
    wf_type type;
    wf_matmul_params more; /* all else of the product; sizes, type and tuning are not looked at */
    const void *a, *b;     /* as the parameters lay them out; NULL: random */
    const void *c, *bias;  /* likewise, where the parameters use them */
    double budget_seconds;
    bool untimed; /* the answer and its check are enough */
} wfi_matmul_request;

wf_matmul_params wfi_product_params(const wfi_case_problem *p); /* but for the tuning */
/* "5 of 100x200x300 A^T B^T fast": m, n and k, and what else of the parameters names tell. */
void wfi_product_name(const uint64_t extent[3], const wf_matmul_params *params, char *name,
                      size_t bytes);
/* What results tell of a product beside its sizes. */
void wfi_matmul_facts(const wf_matmul_params *params, wfi_result_case *out);
/* *product (may be NULL) gets C as the parameters lay it out, malloc'ed, when the case is ok. */
wf_result wfi_case_matmul(wfi_session *session, const wfi_matmul_request *request,
                          wfi_result_case *out, void **product);

typedef struct wfi_spmv_request {
    const wfi_csr *matrix;
    const char *name;
    wf_type type;
    const void *x, *y; /* of the vectors' type (f32 for f16); NULL: random. y: what beta takes */
    double budget_seconds;
    bool untimed; /* the answer and its check are enough */
    bool transpose;
    uint32_t vectors;    /* 0: 1 */
    const double *alpha; /* NULL: 1 */
    double beta;
    struct wfi_spmv_explain *explain; /* NULL: not asked for */
} wfi_spmv_request;

/* *y (may be NULL) gets the result, malloc'ed, when the case is ok. */
wf_result wfi_case_spmv(wfi_session *session, const wfi_spmv_request *request, wfi_result_case *out,
                        void **y);

typedef struct wfi_himeno_request {
    const char *name;
    uint32_t ni, nj, nk; /* cells, borders included; i contiguous */
    uint32_t iterations; /* after the rehearsal; 0: as many as fill `seconds` */
    double seconds;
    bool once; /* `iterations` from the start values, once, in place of rehearsal and measurement */
    const wf_himeno_arrays *start; /* of such a run; NULL: the benchmark's own */
    float *p;                      /* what such a run leaves, where the case is ok; or NULL */
} wfi_himeno_request;

wf_result wfi_case_himeno(wfi_session *session, const wfi_himeno_request *request,
                          wfi_result_case *out);

typedef struct wfi_stencil_request {
    uint32_t nx, ny, nz; /* nz 0: two dimensions */
    wf_stencil_shape shape;
    uint32_t radius;
    wf_border border;
    uint32_t steps;
    wf_type type;
    double budget_seconds;
    const void *in;             /* the grid; NULL: random */
    const double *coefficients; /* NULL: random ones that sum to at most 1 in magnitude */
    bool untimed;               /* the answer and its check are enough */
    bool check_steps;           /* wfi_stencil_check_steps */
} wfi_stencil_request;

/* How many coefficients the shape has. */
uint32_t wfi_stencil_request_taps(const wfi_stencil_request *request);
#define WFI_STENCIL_MOST_TAPS 729
/* A random grid, malloc'ed, and the request's coefficients, or random ones. */
wf_result wfi_stencil_random(const wfi_stencil_request *request, uint64_t seed, void **grid);
void wfi_stencil_coefficients(const wfi_stencil_request *request, uint64_t seed, double *out);
/* What the request asks for; coefficients, tuning and cancel are still to be set. */
wf_stencil_params wfi_stencil_params(const wfi_stencil_request *request);
/* "64x64x64 star 1 dirichlet, 2 steps". */
void wfi_stencil_name(const wfi_stencil_request *request, char *text, size_t bytes);
/* Begins a result of the request: its name, its facts and its type. */
void wfi_stencil_name_case(const wfi_stencil_request *request, wfi_result_case *out);

/* *grid (may be NULL) gets the result, malloc'ed, when the case is ok. */
wf_result wfi_case_stencil(wfi_session *session, const wfi_stencil_request *request,
                           wfi_result_case *out, void **grid);

#endif
