/* Conjugate gradients on the device: what wf_cg_solve and its refinement share. */
#ifndef WFI_SOLVE_CG_H
#define WFI_SOLVE_CG_H

#include "core/ahead.h"
#include "core/stream.h"
#include "plan/plan.h"

enum {
    WFI_CG_START,
    WFI_CG_DOT,
    WFI_CG_UPDATE,
    WFI_CG_FINISH,
    WFI_CG_STATE,
    /* Of recorded solves. */
    WFI_CG_TAKE,
    WFI_CG_BEGIN,
    WFI_CG_UPDATE_RECORDED,
    WFI_CG_LEAVE,
    WFI_CG_RESIDUAL, /* of mixed precision: its plan keeps the matrix in pairs */
    WFI_CG_CORRECT,
    WFI_CG_GATE, /* the last: its plan keeps the sizes of the others' dispatches */
    WFI_CG_KERNELS
};

#define WFI_CG_PARTIALS_AT 12 /* in scalars, as in cg_problem.glsl */

/* A system being solved: the matrix, the kernels and the vectors on the device. */
typedef struct wfi_cg {
    wf_device *device;
    const wf_cg_params *params;
    const wf_spmv_params *matrix; /* of the type of the iteration */
    wf_type type;
    uint32_t count, stride, block; /* of a vector: elements, stride; M's blocks: side */
    uint32_t groups, most;         /* work-groups of a vector kernel; the most iterations */
    uint32_t partials, partials_at, history_at; /* in elements of scalars */
    bool fused;                                 /* the product leaves the dot product of x and y */
    wf_buffer *a, *b, *c, *scalars;             /* as in cg_problem.glsl */
    wf_buffer *state; /* a copy of the state for each slot of the stream */
    wf_plan *product, *kernels[WFI_CG_KERNELS];
    wfi_stream stream;
    uint32_t first, end; /* the iterations of the submission being recorded */
    double seconds;      /* of the iterations that are timed; the first batch is left out as soon */
    uint32_t ran;        /* as there is a second: how many these are, */
    uint32_t timed;      /* and the batches that were timed */
    uint32_t before;     /* iterations of earlier runs, which the application is told with these */
    double norm;         /* the length of the residual that this run began with */
    /* Of a recorded solve: the dispatches whose sizes are on the device, and where these sizes
     * begin, in words of scalars; c is then the plan's of WFI_CG_GATE, and there is no stream. */
    bool recorded;
    uint32_t sizes, sizes_at;
    uint32_t made; /* iterations recorded since the solve began */
    /* Of a recorded solve in mixed precision: the f64 matrix, which is read while the solve is
     * made, and in pairs of floats on the device; and a correction may end every so many
     * iterations, an even number. */
    const wf_spmv_params *wide;
    wf_buffer *pairs;
    uint32_t every;
} wfi_cg;

struct wf_cg {
    wf_cg_params params; /* the pointers in it and in matrix are not read after wf_cg_create */
    wf_spmv_params matrix, narrow; /* narrow: mixed, in f32 */
    wfi_cg c;
};

/* cg_open.c: plans, buffers and the preconditioner. matrix and params outlive it. */
wf_result wfi_cg_open(wf_device *device, const wf_cg_params *params, const wf_spmv_params *matrix,
                      wfi_cg *out);
/* The same for a recorded solve; touches no queue of an adopted device. wide: the matrix in f64
 * where the solve is in mixed precision and `matrix` in f32; else NULL. */
wf_result wfi_cg_open_recorded(wf_device *device, const wf_cg_params *params,
                               const wf_spmv_params *matrix, const wf_spmv_params *wide,
                               wfi_cg *out);
void wfi_cg_close(wfi_cg *c);
/* cg_preconditioner.c: inverts the diagonal, or its blocks. */
wf_result wfi_cg_fill_inverse(const wfi_cg *c, void *inverse);

/* cg_kernels.c: the kernels' plans, and sizes of what they use. */
wf_result wfi_cg_make_kernels(wfi_cg *c);
/* Begins to compile them; NULL for recorded solves, which are made once. */
wfi_ahead *wfi_cg_begin_kernels(const wfi_cg *c);
uint32_t wfi_cg_group_items(const wf_caps *caps);
void wfi_cg_vector_group(const wfi_point *point, uint32_t size[3]);
uint64_t wfi_cg_shared_bytes(const wfi_point *point);
/* Work-groups of a kernel on vectors of `count` elements; side: of M's blocks, 0 or 1 without. */
uint32_t wfi_cg_groups(const wf_caps *caps, uint32_t count, uint32_t side);
uint64_t wfi_cg_vector_bytes(const wfi_cg *c);
uint64_t wfi_cg_a_bytes(const wfi_cg *c);
uint64_t wfi_cg_c_elements(const wfi_cg *c);
uint64_t wfi_cg_scalars_bytes(const wfi_cg *c);
uint64_t wfi_cg_pairs_bytes(const wfi_cg *c);

/* cg_params.c: whether the parameters are those of a solve, and what residual is wanted. */
wf_result wfi_cg_check_params(const wf_device *device, const char *function, const wf_cg_params *p);
double wfi_cg_tolerance(const wf_cg_params *p);

/* cg_run.c: solves A x = r for the residual that stands in the vector r, of length one, to
 * |r| <= tolerance within `most` iterations. history (NULL: not kept) gets |r| of each.
 * WF_ERROR_CANCELLED: out, history and x are as far as the run came. */
wf_result wfi_cg_run(wfi_cg *c, double tolerance, uint32_t most, double *history,
                     wf_cg_result *out);
/* What the product w = A u binds. */
wf_bindings wfi_cg_product_bindings(const wfi_cg *c);
/* Write r, or read x, and wait for it. */
wf_result wfi_cg_write_residual(wfi_cg *c, const void *r);
wf_result wfi_cg_read_solution(wfi_cg *c, void *x);
wf_result wfi_cg_measure_product(wfi_cg *c, uint32_t repeat, wf_cg_result *out);

/* cg_vectors.c: the length of a vector of f32 or f64, which is not finite where that is not; |b|,
 * which must be finite; b / norm to the vector r; norm times the solution. */
wf_result wfi_cg_norm(wf_device *device, wf_type type, uint32_t count, const void *vector,
                      double *norm);
wf_result wfi_cg_length(wf_device *device, const wf_spmv_params *m, const void *b, double *norm);
wf_result wfi_cg_write_scaled(wfi_cg *c, const void *b, double norm);
wf_result wfi_cg_read_scaled(wfi_cg *c, double norm, void *x);
/* What the host computes of an x; lengths are divided by norm. */
typedef struct wfi_cg_finding {
    double residual;      /* |b - A x| */
    double x;             /* |x| */
    double largest_row;   /* the largest sum of magnitudes of a row of A: no less than |A| */
    uint32_t longest_row; /* entries */
} wfi_cg_finding;
wf_result wfi_cg_look(wf_device *device, const wf_spmv_params *m, const void *b, const void *x,
                      double norm, wfi_cg_finding *out);

/* cg_pairs.c: what the host does with f64 where the device has f32, by several threads. */
typedef struct wfi_pair { /* whose sum is the number, to twice the digits of f32 */
    float high, low;
} wfi_pair;
wfi_pair wfi_cg_split(double value);
/* Rounds the values to f32; refuses those that are too large. *values is to be freed, whatever is
 * returned. */
wf_result wfi_cg_narrow(wf_device *device, const char *function, const wf_spmv_params *matrix,
                        float **values, wf_spmv_params *out);
/* Writes numbers / by as pairs; and reads pairs, to numbers times by. */
wf_result wfi_cg_write_pairs(wf_buffer *buffer, uint64_t offset, const double *numbers,
                             uint64_t count, double by);
wf_result wfi_cg_read_pairs(wf_buffer *buffer, uint32_t count, double by, double *numbers);

/* cg_mixed.c: iterates in f32, refines in double-single; b and x are f64, norm is |b|. */
wf_result wfi_cg_solve_mixed(wf_device *device, const wf_cg_params *params, const double *b,
                             double norm, double *x, wf_cg_result *out);

#endif
