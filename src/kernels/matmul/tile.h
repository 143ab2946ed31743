/* Tiles of C that work-groups compute: how a variant describes its own to what builds plans, the
 * constraints and the geometry that several variants share, and which matrices move four elements
 * at a time. */
#ifndef WFI_KERNELS_MATMUL_TILE_H
#define WFI_KERNELS_MATMUL_TILE_H

#include "plan/family.h"
#include "matmul/matmul_ids.h"

#define WFI_OTHER_REGISTERS 16 /* a work-item's addresses and counters, about */

/* A packed copy of A or B in a buffer of the plan. The whole product must be one slab. */
typedef struct wfi_matmul_packed_copy {
    uint64_t bytes;      /* 0: there is none */
    uint32_t own;        /* buffer of the plan */
    uint64_t ld, stride; /* elements */
    uint64_t k;          /* extent of the sum with the zeros behind it; 0: the product's */
    uint32_t exponents;  /* buffer of f16x2's exponents */
    uint64_t exponent_bytes;
} wfi_matmul_packed_copy;

/* The output tile of a work-group, and how work-groups share its sum. */
typedef struct wfi_matmul_tile {
    uint32_t m, n;
    uint32_t k;        /* the steps of each of split_k parts are a multiple of it; 0: 1 */
    uint32_t split_k;  /* 0: 1 */
    uint32_t stream_k; /* work-groups a compute unit that share what whole waves leave; 0: none */
    uint32_t swizzle;  /* tile swizzle, which stream-K's fixup must know; 0: 1 */
    bool one_each;     /* a dispatch for every output element */
    bool reverse;      /* every second execution begins at the other end */
    const wfi_matmul_packed_copy *packed; /* of A and B; NULL: both are read in place */
} wfi_matmul_tile;

/* The tile of a point of a variant that splits sums or shares tiles. */
wfi_matmul_tile wfi_matmul_tile_of(const wfi_point *point);

/* Which matrices can move four elements at a time: those whose stored rows begin at multiples of
 * four elements and are multiples of four long. Bits 1 A, 2 B, 4 C. */
uint32_t wfi_matmul_vec4_bits(const wfi_matmul_problem *p);
/* Whether the product allows all of these bits. */
bool wfi_matmul_vec4_allowed(const wfi_point *point, uint32_t bits);

/* Rows of tables of parameters that several variants have: the default, and the array of values. */
#define WFI_TILE_ROWS(value, values)                                                               \
    {"tile_m",          MATMUL_ID_TILE_M, value,                                                   \
     WFI_COUNT(values), values,           "rows of C a work-group computes"},                      \
    {                                                                                              \
        "tile_n", MATMUL_ID_TILE_N, value, WFI_COUNT(values), values,                              \
            "columns of C a work-group computes"                                                   \
    }
#define WFI_TILE_K_ROW(value, values)                                                              \
    {                                                                                              \
        "tile_k", MATMUL_ID_TILE_K, value, WFI_COUNT(values), values,                              \
            "steps of the sum held in shared memory"                                               \
    }
#define WFI_THREAD_ROWS(value, values)                                                             \
    {"thread_m", MATMUL_ID_THREAD_M,                                                               \
     value,      WFI_COUNT(values),                                                                \
     values,     "rows of C a work-item computes"},                                                \
    {                                                                                              \
        "thread_n", MATMUL_ID_THREAD_N, value, WFI_COUNT(values), values,                          \
            "columns of C a work-item computes"                                                    \
    }
#define WFI_SWIZZLE_ROW(value, values)                                                             \
    {                                                                                              \
        "swizzle", MATMUL_ID_SWIZZLE, value, WFI_COUNT(values), values,                            \
            "tile rows that neighbouring work-groups go down before the next column of tiles"      \
    }
#define WFI_SPLIT_K_ROW(values)                                                                    \
    {                                                                                              \
        "split_k", MATMUL_ID_SPLIT_K, 1, WFI_COUNT(values), values,                                \
            "parts of the sum that different work-groups make"                                     \
    }

#define WFI_VEC4_REASON                                                                            \
    "vec4 may move four elements at a time only in matrices whose rows begin at, and are as long " \
    "as, multiples of 4"

/* Constraints, of tile_m, tile_n, tile_k, thread_m and thread_n. */
bool wfi_matmul_sizes_positive(const wfi_point *point);
bool wfi_matmul_thread_m_divides(const wfi_point *point);
bool wfi_matmul_thread_n_divides(const wfi_point *point);
bool wfi_matmul_few_sums(const wfi_point *point);
bool wfi_matmul_multiples_of_four(const wfi_point *point);
bool wfi_matmul_lanes_divide(const wfi_point *point);
bool wfi_matmul_few_moved(const wfi_point *point);

#define WFI_SIZES_POSITIVE                                                                         \
    {                                                                                              \
        "tile and thread sizes must be between 1 and 1024", wfi_matmul_sizes_positive              \
    }
#define WFI_THREAD_M_DIVIDES                                                                       \
    {                                                                                              \
        "tile_m must be a multiple of thread_m, since each work-item computes a whole block",      \
            wfi_matmul_thread_m_divides                                                            \
    }
#define WFI_THREAD_N_DIVIDES                                                                       \
    {                                                                                              \
        "tile_n must be a multiple of thread_n, since each work-item computes a whole block",      \
            wfi_matmul_thread_n_divides                                                            \
    }
#define WFI_FEW_SUMS                                                                               \
    {                                                                                              \
        "thread_m x thread_n must be at most 256, since a work-item keeps its sums in registers",  \
            wfi_matmul_few_sums                                                                    \
    }
#define WFI_MULTIPLES_OF_FOUR                                                                      \
    {                                                                                              \
        "tile_k, thread_m and thread_n must be multiples of 4, since values move four at a time",  \
            wfi_matmul_multiples_of_four                                                           \
    }
#define WFI_LANES_DIVIDE                                                                           \
    {                                                                                              \
        "lanes_m and lanes_n must divide the work-items along rows and along columns of the "      \
        "tile, "                                                                                   \
        "since blocks of lanes_m x lanes_n work-items are whole",                                  \
            wfi_matmul_lanes_divide                                                                \
    }
#define WFI_FEW_MOVED                                                                              \
    {                                                                                              \
        "tile_k x (tile_m + tile_n) must be at most 64 elements a work-item, since each keeps "    \
        "what "                                                                                    \
        "it moves in registers",                                                                   \
            wfi_matmul_few_moved                                                                   \
    }

/* Work-items that compute a tile. */
uint32_t wfi_matmul_tile_threads(const uint32_t *values);
void wfi_matmul_tile_group(const wfi_point *point, uint32_t size[3]);
/* local_x by local_y work-items. */
void wfi_matmul_local_group(const wfi_point *point, uint32_t size[3]);
/* Registers of 32 bits that a work-item needs by count: sums, the values that feed them, what is on
 * its way to shared memory, and the places where that goes if it moves singly. */
uint32_t wfi_matmul_registers(const wfi_point *point);
/* Whether work-items of `vector` store elements of C side by side, as in matmul_vector.comp: where
 * that is asked for, rows of C are no vectors, and a row of each work-item's fits the memory of B's
 * tiles. */
bool wfi_matmul_gathers(const wfi_point *point);
/* Which matrices move four elements at a time, as they are or copied (bits as of VEC4). */
uint32_t wfi_matmul_vec4_moves(const wfi_point *point);
/* Tiles of operands that are stored along the sum may have rows in shared memory that are four
 * elements longer, which spares bank conflicts of stores. */
enum { WFI_PADDED_A = 1, WFI_PADDED_B = 2 };
/* The tiles that `vector` pads so. */
uint32_t wfi_matmul_padding(const wfi_point *point);
/* The operands whose rows in memory run along the sum, which tiles hold across their rows. */
uint32_t wfi_matmul_along_the_sum(const wfi_matmul_problem *p);
/* The operands that are stored along the sum and whose elements move singly: as many work-items
 * side by side as a tile has steps of the sum store into one bank unless the tile is padded. */
uint32_t wfi_matmul_stores_across(const wfi_point *point);
/* The operands whose tile rows are swizzled in shared memory in place of being padded, which takes
 * no room (matmul_fours.glsl): in `vector`, where sums have 32 bits, vectors along the sum are
 * stored across the rows, and a tile has more steps than padding keeps apart. */
uint32_t wfi_matmul_swizzled(const wfi_point *point);
/* Bytes of two tiles of each operand with that padding. */
uint64_t wfi_matmul_tiles_shared(const wfi_point *point, uint32_t padding);

#endif
