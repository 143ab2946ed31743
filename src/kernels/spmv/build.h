/* What the parts of the spmv family share. */
#ifndef WFI_KERNELS_SPMV_BUILD_H
#define WFI_KERNELS_SPMV_BUILD_H

#include "plan/plan.h"
#include "spmv/spmv_ids.h"

/* One buffer of values that a plan owns, and the plan that fills it anew. */
typedef struct wfi_spmv_update {
    wf_plan *plan;
    wf_buffer *values, *map;
} wfi_spmv_update;

/* What an spmv plan keeps besides its steps. */
typedef struct wfi_spmv_kept {
    wf_type type;
    uint32_t entries; /* of the caller's matrix */
    bool updatable;
    bool fuse;         /* asks for the dot product of x and y (wfi_spmv_plan_fused) */
    uint32_t partials; /* the sums that it is left in; 0: none */
    uint32_t update_count;
    wfi_spmv_update *updates;
    wf_spmv_analysis analysis;
} wfi_spmv_kept;

/* What is multiplied: the caller's matrix, or its transpose with `sources`. */
typedef struct wfi_spmv_job {
    wf_spmv_params matrix;   /* vectors and strides are never 0 here */
    const uint32_t *sources; /* the caller's entry that each entry is; NULL: the same */
    wfi_spmv_kept *kept;
} wfi_spmv_job;

/* spmv.c: a plan of y = A x whose product may also leave sums that add up to the dot product of x
 * and y in a third binding, *partials elements (0: it does not) that begin at a multiple of the
 * storage alignment. For square matrices. */
#define WFI_SPMV_PARTIALS 2

/* spmv_pattern.c */
/* The caller's arrays decide what the device reads: every offset and index is checked. */
wf_result wfi_spmv_check_params(const wf_device *device, const wf_spmv_params *params);
/* Fills the job: defaults, transposition. wfi_spmv_job_free releases the copy. */
wf_result wfi_spmv_job_make(const wf_device *device, const wf_spmv_params *params,
                            wfi_spmv_job *job);
void wfi_spmv_job_free(wfi_spmv_job *job);
/* Row statistics for the planner and for the caller. */
wfi_problem wfi_spmv_describe(const wf_spmv_params *matrix, wf_spmv_analysis *analysis);

/* spmv_build.c */
/* The type of x, y and all arithmetic. */
wf_type wfi_spmv_real(wf_type type);
/* Whether alpha and beta are finite in the type of x and y. */
bool wfi_spmv_scale_fits(wf_type type, double alpha, double beta);
/* alpha and beta, which all push constants begin with; returns their bytes. */
uint32_t wfi_spmv_put_scale(wf_type type, double alpha, double beta, unsigned char *push);
/* The step's push constants: alpha, beta and `bytes` of the variant's own; returns where these are. */
uint32_t wfi_spmv_put_push(const wf_spmv_params *p, const void *push, uint32_t bytes,
                           wfi_step *step);
/* 1: kernels that count segments have memory barriers beside the atomic; 0: the atomic itself acquires
 * and releases. */
uint32_t wfi_spmv_fences(const wf_caps *caps);
/* Whether y is anything but A x. */
bool wfi_spmv_is_scaled(const wf_spmv_params *p);
/* WF_ERROR_TOO_LARGE: x is over a binding. */
wf_result wfi_spmv_check_x(const wf_device *device, const wfi_spmv_job *job);
/* The same with a pipeline of the caller's. */
wf_result wfi_spmv_begin_with(wf_plan *plan, const wfi_pipeline_desc *desc, const wfi_spmv_job *job,
                              uint32_t *pipeline);
/* The point's pipeline with `count` constants more; the plan's first one brings the bindings too. */
wf_result wfi_spmv_add_kernel(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_constant *constants, uint32_t count, bool first,
                              uint32_t *pipeline);
wfi_slot wfi_spmv_x_slot(const wfi_spmv_job *job);
/* The binding of y from `first` on; *base_y is what is left of the offset, in elements. */
wfi_slot wfi_spmv_y_slot(const wf_caps *caps, const wfi_spmv_job *job, uint32_t first,
                         uint32_t rows, uint32_t *base_y);
uint64_t wfi_spmv_y_bytes(const wfi_spmv_job *job, uint32_t rows);
/* The most bytes that a binding of the plan's own can have. */
uint64_t wfi_spmv_range(const wf_caps *caps);
/* Whether a block's arrays fit bindings: words of pattern, values, rows of y and bytes of scratch. */
bool wfi_spmv_rearranged_fits(const wf_caps *caps, const wfi_spmv_job *job, uint32_t rows,
                              uint64_t pattern_words, uint64_t place_count, uint64_t scratch);
/* A buffer of the plan's, bound whole; without data it starts at zero. */
wf_result wfi_spmv_own(wf_plan *plan, const wfi_spmv_job *job, const void *data, uint64_t bytes,
                       wfi_slot *slot);
/* A buffer of values: place i has entry places[i] (UINT32_MAX: zero; places NULL: entry begin + i),
 * all of them in [begin, end). Kept so that wf_spmv_update finds it. */
wf_result wfi_spmv_values(wf_plan *plan, const wfi_spmv_job *job, const uint32_t *places,
                          uint64_t count, uint32_t begin, uint32_t end, wfi_slot *slot);
/* Fails: the row does not fit a binding. */
wf_result wfi_spmv_row_too_long(wf_plan *plan, const wfi_spmv_job *job, uint32_t row);

/* A block of whole rows, and its step with pattern, values, x and y bound. */
typedef struct wfi_spmv_block {
    uint32_t first, rows, entries;
    uint32_t pipeline;
    uint32_t rows_a_group;
    uint32_t more; /* the variant's own push constant */
} wfi_spmv_block;
#define WFI_SPMV_X_SLOT 2 /* the binding of x, of all variants */
#define WFI_SPMV_PUSH 40  /* of the variants on compressed sparse rows */
typedef wf_result (*wfi_spmv_add_fn)(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                                     wfi_spmv_block *block);
/* Calls add for blocks of rows, as few as bindings allow; `extra` bytes a row more are needed. add
 * may take fewer rows. */
wf_result wfi_spmv_each_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              uint32_t extra, wfi_spmv_add_fn add);
/* The step of a block, its grid for `count` rows; `tail` words are put behind the pattern. */
wf_result wfi_spmv_block_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_spmv_block *block, const uint32_t *tail,
                              uint32_t tail_words, wfi_step *step);
wf_result wfi_spmv_row_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_lanes_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_texel_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_add_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_many_build(wf_plan *plan, const wfi_point *point, const void *params);
/* spmv_special.c */
wf_result wfi_spmv_atomic_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_adaptive_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_merge_build(wf_plan *plan, const wfi_point *point, const void *params);
wf_result wfi_spmv_blocked_build(wf_plan *plan, const wfi_point *point, const void *params);
/* spmv_sliced.c */
wf_result wfi_spmv_sliced_build(wf_plan *plan, const wfi_point *point, const void *params);
#define WFI_SPMV_SLICED_PUSH 48
/* spmv_equal.c */
wf_result wfi_spmv_equal_build(wf_plan *plan, const wfi_point *point, const void *params);
/* spmv_stream.c */
wf_result wfi_spmv_stream_build(wf_plan *plan, const wfi_point *point, const void *params);
/* spmv_quads.c */
wf_result wfi_spmv_quads_build(wf_plan *plan, const wfi_point *point, const void *params);
enum { WFI_SPMV_QUADS_ROWS, WFI_SPMV_QUADS_COLUMNS, WFI_SPMV_QUADS_VALUES = 4 }; /* bindings */

/* spmv_update.c */
wf_result wfi_spmv_add_update(wf_plan *plan, const wfi_spmv_job *job, const wfi_slot *values,
                              const uint32_t *places, uint64_t count, uint32_t begin, uint32_t end);
void wfi_spmv_kept_destroy(void *kept);

/* Subgroup size to pin, 0 where the device has only one. */
uint32_t wfi_spmv_pinned_subgroup(const wfi_point *point);

/* spmv_model.c: the variants' fit. */
double wfi_spmv_row_fit(wfi_point *point);
double wfi_spmv_lanes_fit(wfi_point *point);
double wfi_spmv_add_fit(wfi_point *point);
double wfi_spmv_shared_fit(wfi_point *point);
double wfi_spmv_step_fit(wfi_point *point); /* steps of the ladder, never chosen: < 0 */
double wfi_spmv_many_fit(wfi_point *point);
double wfi_spmv_adaptive_fit(wfi_point *point);
double wfi_spmv_merge_fit(wfi_point *point);
double wfi_spmv_blocked_fit(wfi_point *point);
double wfi_spmv_sliced_fit(wfi_point *point);
double wfi_spmv_equal_fit(wfi_point *point);
double wfi_spmv_stream_fit(wfi_point *point);
double wfi_spmv_quads_fit(wfi_point *point);

#endif
