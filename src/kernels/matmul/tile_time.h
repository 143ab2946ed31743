/* The time of products in tiles, by the rates of a device (profiles/matmul_rates.h). */
#ifndef WFI_KERNELS_MATMUL_TILE_TIME_H
#define WFI_KERNELS_MATMUL_TILE_TIME_H

#include "kernels/matmul/model.h"

/* Whether tiles are chosen by predicted times: the device's rates are known or well guessed, the
 * type is f32 or f64, or f16 or bf16 in sums of a few terms, sizes do not vary, and C has few
 * enough tiles for their number to decide, or storing it does. Of many tiles the compute units are
 * full in any case, and the order of tiles decides, which rates do not tell. */
bool wfi_matmul_times_tiles(const wfi_point *point);

/* Time of an execution that does nothing, for variants that are compared with timed tiles; 0 where
 * tiles are not timed. */
double wfi_matmul_start_time(const wfi_point *point);

/* Time of reading memory where so few work-groups read it that units wait for it, at least. */
double wfi_matmul_reading_time(const wfi_point *point, double groups);

/* Whether rows that begin at no multiple of 16 bytes are worth copying. */
bool wfi_matmul_copies_pay(const wfi_point *point);

/* Work-groups of such a point that a compute unit holds. */
double wfi_matmul_resident(const wfi_point *point);

/* What a point of `vector` or `subgroup_k` takes by such rates: so much of each of them. (Which
 * decides where one of two does depends on the rates themselves; GAP_ITEMS has no term.) */
void wfi_matmul_tile_terms(const wfi_point *point, const wfi_rates *rates, double terms[WFI_RATES]);

/* Time, in the unit of model.h, of such a point. */
double wfi_matmul_tile_time(const wfi_point *point);

/* Blocks that predicted times decide between. */
typedef struct wfi_matmul_blocks {
    const wfi_matmul_block *items;
    size_t count;
    size_t shared; /* so many of the first are tried with stream-K too */
    /* Sets what follows from a block; false: it is not for this problem. */
    bool (*complete)(wfi_point *trial, size_t index);
} wfi_matmul_blocks;

/* Sets the block, its split_k and stream_k to what takes the least time, which it returns; < 0: no
 * block is legal. */
double wfi_matmul_fastest_block(wfi_point *point, const wfi_matmul_blocks *blocks);

/* Parts of the sum that make at most so many work-groups of so many tiles; 1 where there are more
 * tiles, or parts would be short. */
uint32_t wfi_matmul_split_for(const wfi_matmul_problem *p, double tiles, double groups);

#endif
