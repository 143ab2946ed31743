/* Packing: copies of operands whose rows begin at multiples of 16 bytes. */
#ifndef WFI_KERNELS_MATMUL_PACK_H
#define WFI_KERNELS_MATMUL_PACK_H

#include "kernels/matmul/build.h"

/* Which operands have rows that begin at multiples of 16 bytes and are whole vectors of them (bits
 * 1 A, 2 B), and whether C's rows are of four elements (bit 4). */
uint32_t wfi_matmul_chunk_bits(const wfi_problem *problem);
/* Whether copies of the operands in `bits` fit this device's bindings, and all matrices do, since
 * no slabs are made of copies. Where sizes vary, a recording writes its copies, with their padding,
 * into the buffers that the largest ones need. */
bool wfi_matmul_can_pack(const wfi_point *point, uint32_t bits);
/* Bytes that copying the operands in `bits` reads and writes. */
double wfi_matmul_pack_bytes(const wfi_point *point, uint32_t bits);
/* The steps of the sum that the product makes with copies of the operands in `bits`. */
uint64_t wfi_matmul_packed_steps(const wfi_point *point, uint32_t bits, uint32_t tile_k);
/* Adds what making the copies requests; f16x2 reads its operands twice, and an exponent for each
 * element. */
void wfi_matmul_count_pack(const wfi_point *point, uint32_t bits, wfi_traffic *out);
/* wfi_matmul_build behind copies of the operands in `bits`, if any; variant f16x2's copies are f32
 * taken apart. The sum is lengthened to a multiple of tile.k where both operands are copied. */
wf_result wfi_matmul_build_packed(wf_plan *plan, const wfi_point *point,
                                  const wf_matmul_params *params, wfi_matmul_tile tile,
                                  uint32_t bits);

#endif
