/* What every module of the family is given: push constants, and the specialization constants that
 * say what the product is. */
#ifndef WFI_KERNELS_MATMUL_MODULE_H
#define WFI_KERNELS_MATMUL_MODULE_H

#include "plan/family.h"
#include "matmul/matmul_ids.h"

typedef union wfi_matmul_scalar {
    float f32;
    double f64;
    int32_t i32;
} wfi_matmul_scalar;

/* As in matmul_problem.glsl. A module may add members behind these; 24 of 128 bytes are left. */
typedef struct wfi_matmul_push {
    uint32_t m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t base_a, base_b, base_c, base_bias;
    uint32_t stride_a, stride_b, stride_c;
    uint32_t tiles_m, tiles_n;
    uint32_t chunk; /* steps of the sum that each of split_k work-groups takes */
    wfi_matmul_scalar alpha, beta;
    uint32_t stride_split; /* elements between the partial sums of an output */
    uint32_t reversed;     /* 1: this execution begins at the last step of the sum */
    uint32_t shared_from, tile_steps, group_steps, longer_groups; /* of stream-K */
} wfi_matmul_push;

/* Appends transposes, beta, bias, activation and output: `constants` of most variants. */
void wfi_matmul_constants(const wfi_point *point, wfi_pipeline_desc *desc);
/* Gives a constant that is there another value. */
void wfi_matmul_set_constant(wfi_pipeline_desc *desc, uint32_t id, uint32_t value);

/* 0: the kernel has none of that number. */
uint32_t wfi_matmul_get_constant(const wfi_pipeline_desc *desc, uint32_t id);

#endif
