/* A sparse product while its plan is made, and what the plan keeps. */
#ifndef WFI_KERNELS_SPMV_SPMV_H
#define WFI_KERNELS_SPMV_SPMV_H

#include "kernels/spmv/analysis/device_csr.h"
#include "plan/plan.h"

/* One buffer of values that a plan owns, and the plan that fills it with new ones. */
typedef struct wfi_spmv_update {
    wf_plan *plan;
    wf_buffer *values, *map;
} wfi_spmv_update;

/* What an spmv plan keeps besides its steps. */
typedef struct wfi_spmv_kept {
    wf_type type;
    uint32_t entries; /* of the caller's matrix */
    bool updatable;
    bool unscaled;     /* a kernel is compiled for alpha 1 and beta 0 */
    bool fuse;         /* the caller asks for the dot product of x and y (wfi_spmv_plan_fused) */
    uint64_t places;   /* of values, those of padding too */
    uint32_t partials; /* partial sums that the dot product is left in; 0: it is not computed */
    uint32_t update_count;
    wfi_spmv_update *updates;
    wf_spmv_analysis analysis;
} wfi_spmv_kept;

/* What is multiplied: the caller's matrix, or a transposed copy of it with `sources`. */
typedef struct wfi_spmv_job {
    wf_spmv_params matrix;   /* vectors and strides are never 0 here */
    const uint32_t *sources; /* the caller's entry that each entry is; NULL: the same */
    wfi_spmv_kept *kept;
    wfi_device_csr csr;        /* the matrix in device memory; zero: it is not there */
    wf_spmv_params downloaded; /* host arrays made from that */
} wfi_spmv_job;

/* The third binding of a fused product, where it leaves the partial sums of the dot product of x
 * and y. */
#define WFI_SPMV_PARTIALS 2

/* pattern.c */
/* Takes the parameters, with their defaults. wfi_spmv_job_free releases all that the job has. */
void wfi_spmv_job_start(const wf_spmv_params *params, wfi_spmv_job *job);
/* Replaces the matrix, which is checked, by a transposed copy in host memory. */
wf_result wfi_spmv_job_transpose(const wf_device *device, wfi_spmv_job *job);
/* Gives the job host arrays, where it has only device memory. */
wf_result wfi_spmv_job_download(wfi_spmv_job *job);
void wfi_spmv_job_free(wfi_spmv_job *job);

/* update.c */
/* Adds the plan that fills a buffer of values anew, by a map that is the plan's own buffer. */
wf_result wfi_spmv_add_update(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                              uint32_t map, uint64_t count, uint32_t begin, uint32_t end);
/* Makes the map first; the arguments are those of wfi_spmv_values. */
wf_result wfi_spmv_map(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                       const uint32_t *places, uint64_t count, uint32_t begin, uint32_t end);
/* Forgets what a plan that came to nothing has left there. */
void wfi_spmv_kept_forget(wfi_spmv_kept *kept);
void wfi_spmv_kept_destroy(void *kept);

#endif
