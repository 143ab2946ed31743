/* A sparse product while its plan is made, and what the plan keeps. */
#ifndef WFI_KERNELS_SPMV_SPMV_H
#define WFI_KERNELS_SPMV_SPMV_H

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
} wfi_spmv_job;

/* The third binding of a fused product, where it leaves the partial sums of the dot product of x
 * and y. */
#define WFI_SPMV_PARTIALS 2

/* pattern.c */
/* Checks every offset and index: the caller's arrays decide what the device reads. */
wf_result wfi_spmv_check_params(const wf_device *device, const wf_spmv_params *params);
/* Fills the job: defaults, transposition. wfi_spmv_job_free releases the copy. */
wf_result wfi_spmv_job_make(const wf_device *device, const wf_spmv_params *params,
                            wfi_spmv_job *job);
void wfi_spmv_job_free(wfi_spmv_job *job);
/* Returns row statistics for the models, and fills those for the caller. */
wfi_problem wfi_spmv_describe(const wf_spmv_params *matrix, wf_spmv_analysis *analysis);

/* update.c */
/* Adds the plan that fills a buffer of values anew; the arguments are those of wfi_spmv_values. */
wf_result wfi_spmv_add_update(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                              const uint32_t *places, uint64_t count, uint32_t begin, uint32_t end);
void wfi_spmv_kept_destroy(void *kept);

#endif
