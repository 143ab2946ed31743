/* Conjugate gradients on the device: what wf_cg_solve and its refinement share. */
#ifndef WFI_SOLVE_CG_H
#define WFI_SOLVE_CG_H

#include "core/stream.h"
#include "plan/plan.h"

enum { WFI_CG_START, WFI_CG_DOT, WFI_CG_UPDATE, WFI_CG_FINISH, WFI_CG_STATE, WFI_CG_KERNELS };

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
} wfi_cg;

/* cg_open.c: plans, buffers and the preconditioner. matrix and params outlive it. */
wf_result wfi_cg_open(wf_device *device, const wf_cg_params *params, const wf_spmv_params *matrix,
                      wfi_cg *out);
void wfi_cg_close(wfi_cg *c);

/* cg_run.c: solves A x = r for the residual that stands in the vector r, of length one, to
 * |r| <= tolerance within `most` iterations. history (NULL: not kept) gets |r| of each.
 * WF_ERROR_CANCELLED: out, history and x are as far as the run came. */
wf_result wfi_cg_run(wfi_cg *c, double tolerance, uint32_t most, double *history,
                     wf_cg_result *out);
uint64_t wfi_cg_vector_bytes(const wfi_cg *c);
/* Write r, or read x, and wait for it. */
wf_result wfi_cg_write_residual(wfi_cg *c, const void *r);
wf_result wfi_cg_read_solution(wfi_cg *c, void *x);
wf_result wfi_cg_measure_product(wfi_cg *c, uint32_t repeat, wf_cg_result *out);

/* cg_mixed.c: iterates in f32, refines in double-single; b and x are f64. */
wf_result wfi_cg_solve_mixed(wf_device *device, const wf_cg_params *params, const double *b,
                             double *x, wf_cg_result *out);

#endif
