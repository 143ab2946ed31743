/* Laplace's equation on the device: what wf_laplace_solve's parts share. */
#ifndef WFI_SOLVE_LAPLACE_H
#define WFI_SOLVE_LAPLACE_H

#include "core/stream.h"
#include "plan/plan.h"

enum {
    WFI_LAPLACE_SWEEP,
    WFI_LAPLACE_RESIDUAL,
    WFI_LAPLACE_VERDICT,
    /* Of recorded solves. */
    WFI_LAPLACE_VERDICT_RECORDED,
    WFI_LAPLACE_TAKE,
    WFI_LAPLACE_LEAVE,
    WFI_LAPLACE_TELL,
    WFI_LAPLACE_GATE, /* the last: its plan keeps the sizes of the others' dispatches */
    WFI_LAPLACE_KERNELS
};

/* A grid under solution. Jacobi iterates from one array of cells to the other and back; red-black
 * order keeps one colour in each array. */
typedef struct wfi_laplace {
    wf_device *device;
    const wf_laplace_params *params;
    wf_type type;
    bool coloured;
    uint32_t nx, ny;
    uint32_t top, bottom;         /* the rows that plans are made for go from top to below bottom */
    uint32_t slab_rows;           /* most of a dispatch */
    uint32_t cells, stride;       /* cells of a row of an array, and elements from row to row */
    uint32_t every, most, checks; /* iterations between checks; the most iterations and checks */
    uint32_t slabs, groups;       /* dispatches of a residual, and work-groups of one */
    uint32_t march;               /* rows that a work-item of a sweep goes down */
    double omega;
    double wanted; /* |r| on the device at which it has converged */
    int exponent;  /* values on the device are divided by 2^exponent */
    /* slots: copies of the state, or of a part's partial sums */
    wf_buffer *arrays[2], *workspace, *state, *partials, *slots;
    wf_plan *advance, *remainder; /* Jacobi: the iterations between checks, and the last ones */
    wf_plan *kernels[WFI_LAPLACE_KERNELS];
    wfi_stream stream;
    uint32_t first, end; /* the checks of the submission being recorded */
    uint32_t begun[WFI_STREAM_SLOTS], ended[WFI_STREAM_SLOTS]; /* checks of those under way */
    double seconds;       /* of the iterations that are timed; the first submission is left out */
    uint32_t timed;       /* as soon as there is a second: how many these iterations are, */
    uint32_t submissions; /* and the submissions that were timed */
    double check_seconds; /* of a check with its iterations, as last timed */
    bool part; /* of a grid that several devices share: ny is how many rows the arrays hold */
    /* Of a recorded solve: the dispatches whose sizes are on the device, behind the state. There is
     * no stream then. */
    bool recorded;
    uint32_t sizes;
    uint32_t made; /* checks recorded since the solve began */
} wfi_laplace;

struct wf_laplace {
    wf_laplace_params params;
    wfi_laplace l;
};

/* As wf_element_get and wf_element_set of f32 and f64, in loops over all cells. */
static inline double wfi_laplace_get(const void *data, wf_type type, size_t i)
{
    return type == WF_TYPE_F64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static inline void wfi_laplace_put(void *data, wf_type type, size_t i, double value)
{
    if (type == WF_TYPE_F64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

/* laplace_open.c: makes plans and buffers. params, with defaults filled in, must outlive them. */
wf_result wfi_laplace_open(wf_device *device, const wf_laplace_params *params, wfi_laplace *out);
/* The same for a recorded solve; touches no queue of an adopted device. */
wf_result wfi_laplace_open_recorded(wf_device *device, const wf_laplace_params *params,
                                    wfi_laplace *out);
/* A part of a grid, whose arrays hold `rows` rows: a residual of those from `first` to `end`, and
 * no stream. */
wf_result wfi_laplace_open_part(wf_device *device, const wf_laplace_params *params, uint32_t rows,
                                uint32_t first, uint32_t end, wfi_laplace *out);
/* A sweep over rows of a part. */
wf_result wfi_laplace_plan_sweep(wfi_laplace *l, uint32_t first, uint32_t end, wf_plan **out);
void wfi_laplace_close(wfi_laplace *l);
/* Where the sizes of dispatches begin in the state, in bytes. */
uint64_t wfi_laplace_sizes_at(const wfi_laplace *l);
/* The largest eigenvalue of the Jacobi iteration on the grid. */
double wfi_laplace_jacobi_radius(const wf_laplace_params *params);
/* The number of checks in which exact arithmetic would reduce the residual to a tenth, by the
 * largest eigenvalue of the iteration (Young 1954). Where it has not fallen at all in as many
 * checks, rounding keeps it from ever falling. */
uint32_t wfi_laplace_patience(const wf_laplace_params *params);
/* The stencil of check_every Jacobi iterations; a row of an array of the device. */
wf_stencil_params wfi_laplace_stencil(const wf_laplace_params *params);
uint64_t wfi_laplace_row_bytes(const wf_laplace_params *params);

/* laplace.c: whether the parameters are those of a solve, and their defaults. */
wf_result wfi_laplace_check_params(const wf_device *device, const char *function,
                                   const wf_laplace_params *p);
void wfi_laplace_fill_defaults(wf_laplace_params *p);

/* laplace_data.c: writes the grid u to the device, divided by 2^exponent, or reads the inner cells
 * back after `checks` checks, and waits for it. */
wf_result wfi_laplace_write(wfi_laplace *l, const void *u);
wf_result wfi_laplace_read(wfi_laplace *l, uint32_t checks, void *u);

/* laplace_run.c: bindings of the arrays for a sweep or a residual of array `own`. */
wf_bindings wfi_laplace_bindings(const wfi_laplace *l, uint32_t own);

/* Iterates until |r| <= wanted or another condition ends it. norm: |b| on the
 * device. */
wf_result wfi_laplace_run(wfi_laplace *l, double norm, wf_laplace_result *out);

#endif
