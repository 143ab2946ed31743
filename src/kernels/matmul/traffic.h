/* What the work-items of matrix products request of memory, counted from the algorithm: parts of
 * the variants' `traffic`. */
#ifndef WFI_KERNELS_MATMUL_TRAFFIC_H
#define WFI_KERNELS_MATMUL_TRAFFIC_H

#include "kernels/matmul/tile.h"
#include "plan/family.h"

/* Bytes of C as it is written, once. */
double wfi_matmul_c_stored(const wfi_point *point);
/* Bytes of C as it is written, and read where beta is not 0. */
double wfi_matmul_c_bytes(const wfi_point *point);
/* Bytes of A, read once for every column of tiles, and of B, once for every row of tiles. */
double wfi_matmul_tiles_bytes(const wfi_point *point, double tile_m, double tile_n);
/* Tiles of C in the order in which work-groups take them, a tile each. */
wf_tile_order wfi_matmul_tile_order(const wfi_point *point, double tile_m, double tile_n);
/* Of a variant that writes tiles to shared memory once, and reads `reads` values from there for
 * each multiply-add. */
void wfi_matmul_tiled_traffic(const wfi_point *point, double tile_m, double tile_n, double reads,
                              wfi_traffic *out);
/* The same of a variant whose work-items read a column of thread_m and a row of thread_n values
 * into registers in each step of the sum. */
void wfi_matmul_block_traffic(const wfi_point *point, wfi_traffic *out);

/* The point as its product runs behind copies of the operands in its `pack`: the sum is as long as
 * they make it. *problem is what it points to. */
wfi_point wfi_matmul_packed_point(const wfi_point *point, wfi_problem *problem);
/* The same bytes of memory, where nobody has counted those of shared memory: of variants with
 * split_k, packed copies and stream-K. */
void wfi_matmul_memory_traffic(const wfi_point *point, const wfi_matmul_tile *tile,
                               wfi_traffic *out);
/* Puts split_k partial sums an output in the place of C. */
void wfi_matmul_count_split(const wfi_point *point, wfi_traffic *out);
/* Puts the partial tiles of stream-K, which are whole, in the place of the tiles of C that they
 * make up. */
void wfi_matmul_count_stream_k(const wfi_point *point, const wfi_matmul_tile *tile,
                               wfi_traffic *out);
/* wfi_variant.access of tiles of tile_m x tile_n (tile_m x tile_m without the second). */
void wfi_matmul_tile_access(const wfi_point *point, wf_access *out);
/* The same of vector and subgroup_k, whose work-items read four elements of a tile at a time, as
 * blocks of lanes_m x lanes_n of them lie in a subgroup. */
void wfi_matmul_vector_access(const wfi_point *point, wf_access *out);

#endif
