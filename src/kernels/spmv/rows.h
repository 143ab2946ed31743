/* What the rows of the spmv family are made of. */
#ifndef WFI_KERNELS_SPMV_ROWS_H
#define WFI_KERNELS_SPMV_ROWS_H

#include "kernels/spmv/build.h"

/* The search spaces. The first parameter of each is local_x; rows take as many of the front as they
 * have use for. */
extern const wfi_parameter wfi_spmv_parameters[3];
extern const wfi_parameter wfi_spmv_sliced_parameters[4];
extern const wfi_parameter wfi_spmv_equal_parameters[7];
extern const wfi_parameter wfi_spmv_merge_parameters[2];
extern const wfi_parameter wfi_spmv_quads_parameters[2];
extern const wfi_parameter wfi_spmv_stream_parameters[3];
extern const wfi_constraint wfi_spmv_lanes_constraints[4];
extern const wfi_constraint wfi_spmv_texel_constraints[4];
extern const wfi_constraint wfi_spmv_quads_constraints[3];
extern const wfi_constraint wfi_spmv_blocked_constraints[3];
extern const wfi_constraint wfi_spmv_many_constraints[2];
extern const wfi_constraint wfi_spmv_merge_constraints[3];
extern const wfi_constraint wfi_spmv_adaptive_constraints[1];
extern const wfi_constraint wfi_spmv_sliced_constraints[6];
extern const wfi_constraint wfi_spmv_equal_constraints[9];
extern const wfi_constraint wfi_spmv_stream_constraints[5];

void wfi_spmv_group(const wfi_point *point, uint32_t size[3]);
void wfi_spmv_strided_constants(const wfi_point *point, wfi_pipeline_desc *desc);
void wfi_spmv_adaptive_constants(const wfi_point *point, wfi_pipeline_desc *desc);
void wfi_spmv_many_constants(const wfi_point *point, wfi_pipeline_desc *desc);
uint64_t wfi_spmv_lanes_shared(const wfi_point *point);
uint64_t wfi_spmv_blocked_shared(const wfi_point *point);
uint64_t wfi_spmv_merge_shared(const wfi_point *point);
uint64_t wfi_spmv_sliced_shared(const wfi_point *point);
uint64_t wfi_spmv_equal_shared(const wfi_point *point);
uint64_t wfi_spmv_stream_shared(const wfi_point *point);

#endif
