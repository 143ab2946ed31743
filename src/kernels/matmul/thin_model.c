/* The model of variants for few rows or columns of C: `panel` and `matvec`. */
#include <math.h>

#include "core/architectures.h"
#include "core/vendors.h"
#include "kernels/matmul/model.h"

#define VECTOR_FLOPS_A_BYTE 13.3 /* of a matrix times one vector, 3.0 TB/s */

#define LEAST_STREAMED 1024     /* outputs and steps of a large matrix, at least */
#define LEAST_ELEMENTS 4.19e6   /* of it; smaller ones are faster in tiles */
#define LEAST_SPLIT_K_STEPS 128 /* of the sum */
#define PANEL_TILE 128          /* outputs of a work-group */

static uint64_t vectors(const wfi_matmul_problem *p)
{
    return p->m < p->n ? p->m : p->n;
}

/* Whether an H100 took longer by any other variant, of those types that it was asked for. Of 16-bit types
 * matrix units are faster where all rows begin at vectors of them. */
static bool panel_pays(const wfi_problem *problem)
{
    const wfi_matmul_problem *p = &problem->matmul;
    const bool by_sum = wfi_matmul_by_sum(p);
    const uint64_t count = vectors(p), most = problem->type == WF_TYPE_F32   ? WFI_MOST_PANEL
                                              : problem->type == WF_TYPE_F64 ? WFI_MOST_VECTORS
                                                                             : 4;
    if (problem->type == WF_TYPE_I8 || (wf_type_size(problem->type) == 2 && !by_sum))
        return false;
    const uint64_t outputs = p->m > p->n ? p->m : p->n;
    return count >= (by_sum ? 2 : 4) && count <= most && p->k >= LEAST_STREAMED &&
           outputs >= LEAST_STREAMED && (double)outputs * (double)p->k >= LEAST_ELEMENTS;
}

/* Parts of the sum for two work-groups a compute unit, or for one where they are short. */
static void set_panel_split_k(wfi_point *point, uint32_t most_kept)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    const double units = wfi_matmul_units(point->caps);
    const double tiles = ceil((double)(p->m > p->n ? p->m : p->n) / PANEL_TILE) * (double)p->batch;
    uint32_t splits = 1, kept = most_kept;
    while (splits * 2 * tiles <= 2 * units && p->k / (splits * 2) >= 512)
        splits *= 2;
    while (splits * 2 * tiles <= units && p->k / (splits * 2) >= LEAST_SPLIT_K_STEPS)
        splits *= 2;
    while (kept > LEAST_SPLIT_K_STEPS && kept > p->k / splits)
        kept /= 2;
    point->values[MATMUL_ID_SPLIT_K] = splits;
    point->values[MATMUL_ID_KEPT] = kept;
}

/* As an H100 measured it; no other device has been asked (bench/notes/matmul.md#few-rows). */
double wfi_matmul_panel_fit(wfi_point *point)
{
    const wfi_problem *problem = point->problem;
    const wfi_matmul_problem *p = &problem->matmul;
    const bool by_sum = wfi_matmul_by_sum(p), f64 = problem->type == WF_TYPE_F64;
    const uint64_t count = vectors(p);
    uint32_t *v = point->values;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p) & 3;
    if (point->caps->vendor_id != WFI_NVIDIA || wfi_is_cpu(point->caps) || !panel_pays(problem) ||
        !(v[MATMUL_ID_VEC4] & (wfi_matmul_matrix_is_b(p) ? 2 : 1)))
        return -1;
    v[MATMUL_ID_LANES_K] = 8;
    v[MATMUL_ID_LANES_O] = by_sum ? 64 : 32;
    v[MATMUL_ID_ROWS] = by_sum ? 2 : 4;
    v[MATMUL_ID_BLOCKS] =
        by_sum ? (count <= 4 && !f64 ? 4 : 2) : (count <= WFI_MOST_VECTORS ? 1 : 2);
    set_panel_split_k(point, f64 && count > 4 ? 256 : 512);
    /* What `matvec` expects begins at 1, what tiles do at 1.25. */
    const double time = count <= WFI_MOST_VECTORS ? 0.95 : 1.2;
    return wfi_point_legal(point, NULL) ? time * wfi_matmul_memory_time(point) : -1;
}

#define MOST_VECTORS_CPU 2 /* more are faster by `vector` on lavapipe, up to six times */

double wfi_matmul_matvec_fit(wfi_point *point)
{
    const wfi_matmul_problem *p = &point->problem->matmul;
    uint32_t *v = point->values;
    const bool by_sum = wfi_matmul_by_sum(p), is_b = wfi_matmul_matrix_is_b(p);
    /* Along the outputs, an H100 wants a whole work-group of 1024 on 32 columns. */
    const bool cpu = wfi_is_cpu(point->caps);
    const uint32_t wanted = by_sum || cpu ? 256 : 1024;
    const uint32_t most =
        point->caps->max_invocations < wanted ? point->caps->max_invocations : wanted;
    v[MATMUL_ID_LOCAL_X] = by_sum ? 32 : 8;
    v[MATMUL_ID_LOCAL_Y] = by_sum ? most / 32 : most / 8;
    v[MATMUL_ID_VEC4] = wfi_matmul_vec4_bits(p) & (is_b ? 2u : 1u);
    v[MATMUL_ID_SPLIT_K] = 1;
    if (point->caps->vendor_id == WFI_NVIDIA && point->problem->type == WF_TYPE_F32 &&
        (p->m == 1 || p->n == 1) && wfi_matmul_least_bytes(point->problem) >= WFI_LEAST_REVERSED) {
        v[MATMUL_ID_LOADS] = 8;
        v[MATMUL_ID_CHUNKS] = 4;
    }
    const uint64_t count = vectors(p);
    if (!wfi_point_legal(point, NULL) || (cpu && count > MOST_VECTORS_CPU))
        return -1;
    if (!cpu && count == 1)
        return wfi_matmul_least_bytes(point->problem) * VECTOR_FLOPS_A_BYTE;
    /* Every vector is read an element at a time, by whole lines where it lies across: an H100's time grew faster
     * than their number. */
    const bool grows = point->caps->vendor_id == WFI_NVIDIA && count > (by_sum ? 3 : 4);
    return wfi_matmul_memory_time(point) * (grows ? (double)count : 1);
}
