/* Laplace's equation on the device: what wf_laplace_solve's parts share. */
#ifndef WFI_SOLVE_LAPLACE_H
#define WFI_SOLVE_LAPLACE_H

#include "core/stream.h"
#include "plan/plan.h"

enum { WFI_LAPLACE_SWEEP, WFI_LAPLACE_RESIDUAL, WFI_LAPLACE_VERDICT, WFI_LAPLACE_KERNELS };

/* A grid being solved. Jacobi goes from one array of cells to the other and back; red-black order
 * keeps a colour in each. */
typedef struct wfi_laplace {
    wf_device *device;
    const wf_laplace_params *params;
    wf_type type;
    bool coloured;
    uint32_t nx, ny;
    uint32_t cells, stride;       /* elements of an array's row that are cells, and of a row */
    uint32_t every, most, checks; /* iterations between checks, and at most; checks at most */
    uint32_t slabs, groups;       /* dispatches of a residual, and work-groups of one */
    double omega;
    double wanted; /* |r| on the device at which it has converged */
    int exponent;  /* values are on the device divided by two to the power of it */
    wf_buffer *arrays[2], *workspace, *state, *partials, *slots; /* slots: copies of the state */
    wf_plan *advance,
        *remainder; /* Jacobi: of a check's iterations, and of the last, shorter one's */
    wf_plan *kernels[WFI_LAPLACE_KERNELS];
    wfi_stream stream;
    uint32_t first, end; /* the checks of the submission being recorded */
    uint32_t begun[WFI_STREAM_SLOTS], ended[WFI_STREAM_SLOTS]; /* of each under way */
    double seconds, check_seconds; /* of all iterations that count; of a check, as last seen */
    uint32_t timed;                /* how many these iterations are, */
    uint32_t submissions;          /* and in how many; the first counts only until there are two */
} wfi_laplace;

static inline double wfi_laplace_get(const void *data, wf_type type, size_t i)
{
    return wf_element_get(type, data, i);
}

static inline void wfi_laplace_put(void *data, wf_type type, size_t i, double value)
{
    wf_element_set(type, data, i, value);
}

/* The largest eigenvalue of the Jacobi iteration on the grid. */
double wfi_laplace_jacobi_radius(const wf_laplace_params *params);

/* laplace_open.c: plans and buffers. params outlives it, its defaults filled in. */
wf_result wfi_laplace_open(wf_device *device, const wf_laplace_params *params, wfi_laplace *out);
void wfi_laplace_close(wfi_laplace *l);

/* laplace_data.c: the grid u to the device, divided by 2^exponent, and inner cells back after `checks`
 * checks. Block. */
wf_result wfi_laplace_write(wfi_laplace *l, const void *u);
wf_result wfi_laplace_read(wfi_laplace *l, uint32_t checks, void *u);

/* laplace_run.c: iterates until |r| <= wanted or something else ends it. norm is |b| on the device. */
wf_result wfi_laplace_run(wfi_laplace *l, double norm, wf_laplace_result *out);

#endif
