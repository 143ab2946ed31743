/* What the models of tiled variants share. Time is counted in multiply-adds of the plain variants,
 * an addition and a product each. */
#ifndef WFI_KERNELS_MATMUL_MODEL_H
#define WFI_KERNELS_MATMUL_MODEL_H

#include "plan/family.h"
#include "profiles/matmul_rates.h"

#define WFI_LEAST_REVERSED 4e7 /* bytes of a matrix of which caches keep some, not all */
/* Steps of the sum: shorter sums gained nothing by the order of products or by larger blocks
 * (bench/notes/matmul.md#machine-code). */
#define WFI_LONG_SUM 512
#define WFI_SHORT_SUM 64 /* up to so many steps storing C may take most of the time */
/* Up to so many steps storing C is nearly all that products do, in 16-bit types and in f32
 * (bench/notes/matmul.md#shallow). */
#define WFI_SHALLOW_SUM 24
#define WFI_SHALLOW_SUM_F32 6
#define WFI_SEEN_MEMORY 1.25 /* of the time that memory takes for operands that no cache holds */

/* Registers of 32 bits that a sum or an operand takes. */
uint32_t wfi_matmul_words(const wfi_point *point);
/* Compute units; where no extension tells, those of a middling GPU. */
double wfi_matmul_units(const wf_caps *caps);
/* The device's rates: measured ones, or a guess that is close enough; NULL: lists of sizes
 * decide. */
const wfi_rates *wfi_matmul_rates_of(const wfi_point *point);
/* A microsecond in the unit of these times, where a device makes so many multiply-adds in it. */
double wfi_matmul_plain_rate(double multiply_adds);
/* A microsecond in that unit; 0: the device's rates are not known. */
double wfi_matmul_microsecond(const wfi_point *point);
/* Whether storing C decides the time of tiles, also of many: its rows are no vectors, and sums are
 * short. */
bool wfi_matmul_stores_short(const wfi_matmul_problem *p);
/* Whether storing C by vectors is nearly all that a product does: sums are of 32 bits and of a few
 * steps. */
bool wfi_matmul_is_shallow(const wfi_problem *problem);
/* Whether products on matrix units are chosen by predicted times: the device's rates are known,
 * operands are f16 or bf16, and C has few enough tiles for their number to decide, or storing it
 * does. */
bool wfi_matmul_times_matrices(const wfi_point *point);
/* Time where reading each operand once and writing C decide. */
double wfi_matmul_memory_time(const wfi_point *point);
/* The fraction of the device that so many work-items keep busy, where each compute unit wants
 * `wanted` to hide latency. */
double wfi_matmul_busy(const wf_caps *caps, double work_items, double wanted);
/* Work-groups of so many work-items, each with so many registers, that a compute unit holds. A unit
 * has no more shared memory for all of them than one may have. */
double wfi_matmul_held(const wfi_point *point, double items, double registers);
/* Tiles of that size, of all products of the batch. */
double wfi_matmul_tile_count(const wfi_matmul_problem *p, double tile_m, double tile_n);

/* The tile of a work-group and the block of a work-item. */
typedef struct wfi_matmul_block {
    uint32_t tile_m, tile_n, tile_k, thread_m, thread_n;
} wfi_matmul_block;

void wfi_matmul_set_block(wfi_point *point, const wfi_matmul_block *block);
/* Time of a point: multiply-adds of whole tiles and the reads that feed them, over the fraction of
 * the device that is busy. */
double wfi_matmul_block_time(const wfi_point *point, double wanted);
/* Whether a work-item's sums and the operands of a step fit its registers, where their number is
 * published: sums in memory are slower than any smaller tile. */
/* Registers of 32 bits that a work-item of so large a work-group may take by a model's count before
 * the compiler spills, by the device's profile and architecture and the problem's type;
 * UINT32_MAX: not known. */
uint32_t wfi_matmul_most_registers(const wfi_point *point, uint32_t group_items);

bool wfi_matmul_fits_registers(const wfi_point *point);
/* Sets the legal block of a list that takes the least time, which it returns; < 0: no block is
 * legal. `complete` sets what follows from a block, and returns false where the device is no good
 * for it; NULL: nothing follows. */
double wfi_matmul_best_block(wfi_point *point, const wfi_matmul_block *list, size_t count,
                             double wanted, bool (*complete)(wfi_point *trial));

/* `fit` of the ladder's steps that nothing chooses by itself: the defaults stay. */
double wfi_matmul_never_fit(wfi_point *point);

#endif
