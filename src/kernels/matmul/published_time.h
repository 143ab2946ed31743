/* Times of products on GPUs whose rates nobody has measured: by what is published of their compute
 * units (core/architectures.c), with the formula by which compilers' statistics are judged
 * (profiles/unit_time.h). */
#ifndef WFI_KERNELS_MATMUL_PUBLISHED_TIME_H
#define WFI_KERNELS_MATMUL_PUBLISHED_TIME_H

#include "kernels/matmul/model.h"

/* Whether products are chosen so: the profile says that shared memory is the units' own and that
 * nothing better is known, the architecture is, no rates were measured, and sizes do not vary. */
bool wfi_matmul_has_published_time(const wfi_point *point);

/* Time, in the unit of model.h, of a legal point whose variant counts its bytes and whose
 * work-items take so many registers. */
double wfi_matmul_published_time(const wfi_point *point, uint32_t registers);

/* Time of reading memory once by so many work-groups, at least. */
double wfi_matmul_published_reading(const wfi_point *point, double groups);

/* How a variant takes part in the search for a block. */
typedef struct wfi_matmul_block_search {
    uint32_t least_thread; /* rows and columns of a work-item, at least */
    uint32_t least_depth;  /* steps of the sum in shared memory, at least */
    bool splits;           /* it has split_k */
    /* Sets what follows from a block; false: registers do not suffice. */
    bool (*complete)(wfi_point *trial);
    uint32_t (*registers)(const wfi_point *trial);
} wfi_matmul_block_search;

/* Sets the block and split_k of the least time, which it returns; < 0: no block is legal. */
double wfi_matmul_published_block(wfi_point *point, const wfi_matmul_block_search *search);

#endif
