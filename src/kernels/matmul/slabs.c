/* The slabs of a matrix product, where bindings are too small for the whole. */
#include "core/arithmetic.h"
#include "kernels/matmul/builder.h"
#include "kernels/matmul/matmul.h"

static uint64_t limit_of(const wfi_matmul_builder *b, uint64_t size)
{
    return (b->caps->max_storage_range - b->caps->storage_alignment) / size;
}

/* Lowers *rows so that rows of ld elements, each `row` long, are within the limit. */
static void fit_rows(uint64_t *rows, uint64_t row, uint64_t ld, uint64_t limit)
{
    if (ld)
        *rows = wfi_least(*rows, (limit - row) / ld + 1);
}

static void keep_units(uint64_t *slab_extent, uint64_t whole)
{
    if (*slab_extent<whole && * slab_extent> WFI_SLAB_UNIT)
        *slab_extent -= *slab_extent % WFI_SLAB_UNIT;
}

/* Products of the batch that fit: the last one begins (count - 1) strides on. */
static uint64_t fit_batch(uint64_t count, uint64_t extent, uint64_t stride, uint64_t limit)
{
    return stride && extent <= limit ? wfi_least(count, (limit - extent) / stride + 1) : count;
}

void wfi_matmul_size_slabs(wfi_matmul_builder *b)
{
    const wfi_matmul_problem *p = b->p;
    const uint64_t size = wf_type_size(b->point->problem->type),
                   sum = wfi_matmul_sum_size(b->point->problem->type);
    const uint64_t inputs = limit_of(b, size), sums = limit_of(b, sum);
    wfi_matmul_slab *w = &b->whole;
    *w = (wfi_matmul_slab){.batch = wfi_least(p->batch, b->caps->max_groups[2]),
                           .m = wfi_least(p->m, wfi_least(inputs, sums)),
                           .n = wfi_least(p->n, wfi_least(inputs, sums)),
                           .k = wfi_least(p->k, inputs)};
    if (p->transpose_b)
        fit_rows(&w->n, w->k, p->ldb, inputs);
    else
        fit_rows(&w->k, w->n, p->ldb, inputs);
    keep_units(&w->n, p->n);
    keep_units(&w->k, p->k);
    if (p->transpose_a)
        fit_rows(&w->k, w->m, p->lda, inputs);
    else
        fit_rows(&w->m, w->k, p->lda, inputs);
    /* C or the partial sums may have elements as wide as a sum. */
    fit_rows(&w->m, w->n, p->ldc, sums);
    if (b->raw && w->n)
        w->m = wfi_least(w->m, sums / (w->n * b->tile.split_k));
    w->m = w->m ? w->m : 1;
    if (b->tile.one_each)
        w->m = w->n = 1;
    keep_units(&w->m, p->m);
    keep_units(&w->k, p->k);
    if (w->m < p->m || w->n < p->n || w->k < p->k) {
        w->batch = 1;
        return;
    }
    uint64_t extents[3];
    wfi_matmul_problem single = *p;
    single.batch = 1;
    wfi_matmul_extents(&single, extents);
    w->batch = fit_batch(w->batch, extents[0], p->stride_a, inputs);
    w->batch = fit_batch(w->batch, extents[1], p->stride_b, inputs);
    w->batch = fit_batch(w->batch, extents[2], p->stride_c, sums);
    const uint64_t kept = w->m * w->n * b->tile.split_k;
    if (b->raw && kept)
        w->batch = wfi_least(w->batch, sums / kept);
}
