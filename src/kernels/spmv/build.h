/* Pipelines and steps that the plans of several variants are made of. */
#ifndef WFI_KERNELS_SPMV_BUILD_H
#define WFI_KERNELS_SPMV_BUILD_H

#include "kernels/spmv/arrays.h"
#include "kernels/spmv/push.h"
#include "spmv/spmv_ids.h"

#define WFI_SPMV_X_SLOT 2 /* the binding of x, of all variants */
#define WFI_SPMV_Y_SLOT 3 /* and that of y */

/* Adds the plan's first pipeline, and the bindings of x and y. */
wf_result wfi_spmv_begin_with(wf_plan *plan, const wfi_pipeline_desc *desc, const wfi_spmv_job *job,
                              uint32_t *pipeline);
/* Adds the point's pipeline with `count` constants more; the first one of a plan brings the
 * bindings of x and y too. */
wf_result wfi_spmv_add_kernel(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              const wfi_constant *constants, uint32_t count, bool first,
                              uint32_t *pipeline);

/* A block of whole rows, as many as bindings hold. */
typedef struct wfi_spmv_block {
    uint32_t first, rows, entries;
    uint32_t pipeline;
    uint32_t rows_a_group;
    uint32_t more;          /* the variant's own push constant */
    wfi_spmv_csr_push push; /* what wfi_spmv_block_step has put into the step */
} wfi_spmv_block;
typedef wf_result (*wfi_spmv_add_fn)(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                                     wfi_spmv_block *block);
/* Calls add for blocks of rows, as few as bindings allow. `extra`: bytes a row that the pattern's
 * binding must hold besides. add may take fewer rows and says so in its block. */
wf_result wfi_spmv_each_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              uint32_t extra, wfi_spmv_add_fn add);
/* Makes the step of a block with pattern, values, x and y bound, and does not add it to the plan;
 * `tail` words stand behind the pattern. */
wf_result wfi_spmv_block_step(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                              wfi_spmv_block *block, const uint32_t *tail, uint32_t tail_words,
                              wfi_step *step);
/* Adds the step of a block whose kernel computes rows_a_group rows a work-group; `depth` is the
 * third dimension of the dispatch. */
wf_result wfi_spmv_add_block(wf_plan *plan, const wfi_point *point, const wfi_spmv_job *job,
                             wfi_spmv_block *block, uint32_t rows_a_group, uint32_t depth);
/* The build of variants that multiply a row with `lanes` work-items. */
wf_result wfi_spmv_lanes_build(wf_plan *plan, const wfi_point *point, const void *params);

#endif
