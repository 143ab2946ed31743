/* What the rows of the matmul family share: the problem made from parameters, the constants and
 * push constants of every module, building of plans, and parts of the model. */
#ifndef WFI_KERNELS_MATMUL_MATMUL_H
#define WFI_KERNELS_MATMUL_MATMUL_H

#include "plan/plan.h"
#include "matmul/matmul_ids.h"

/* ------------------------------------------------------------------- matmul_params.c: problems */

/* The problem that params ask for: defaults made explicit, limits checked. */
wf_result wfi_matmul_problem_of(const wfi_log *log, const wf_matmul_params *params,
                                wfi_matmul_problem *out);
/* False where C takes no product: k or alpha is 0. */
bool wfi_matmul_multiplies(const wf_matmul_params *params);
/* Elements from the first of A, B or C to behind the last, of all products of the batch. */
void wfi_matmul_extents(const wfi_matmul_problem *p, uint64_t extents[3]);
/* Bytes of a sum, and of an element of C. */
uint64_t wfi_matmul_sum_size(wf_type type);
uint64_t wfi_matmul_c_size(wf_type type, wf_matmul_output output);

double wfi_matmul_flops(const wfi_problem *problem);
double wfi_matmul_least_bytes(const wfi_problem *problem);

/* --------------------------------------------------------------------- matmul_build.c: building */

/* As in matmul_problem.glsl. Modules may add members behind; 24 bytes are left. */
typedef union wfi_matmul_scalar {
    float f32;
    double f64;
    int32_t i32;
} wfi_matmul_scalar;

typedef struct wfi_matmul_push {
    uint32_t m, n, k;
    uint32_t lda, ldb, ldc;
    uint32_t base_a, base_b, base_c, base_bias;
    uint32_t stride_a, stride_b, stride_c;
    uint32_t tiles_m, tiles_n;
    uint32_t chunk;
    wfi_matmul_scalar alpha, beta;
    uint32_t stride_split;
    uint32_t reversed; /* as a step's parity says, where it turns around */
    uint32_t shared_from, tile_steps, group_steps, longer_groups; /* of shared tiles */
} wfi_matmul_push;

/* A copy of A or B, as it is stored, in a buffer of the plan: rows begin at multiples of 16 bytes. The
 * whole product must be one part. */
typedef struct wfi_matmul_packed_copy {
    uint64_t bytes; /* 0: there is none */
    uint32_t own;
    uint64_t ld, stride; /* elements */
    uint64_t k;          /* extent of the sum with the zeros behind it; 0: as it is */
    uint32_t exponents;  /* buffer of them, where f32 was split */
    uint64_t exponent_bytes;
} wfi_matmul_packed_copy;

/* How one work-group's output tile is sized, and into how many parts its sum is split. */
typedef struct wfi_matmul_tile {
    uint32_t m, n;
    uint32_t k;       /* a split's steps are a multiple of it; 0: 1 */
    uint32_t split_k; /* 0: 1 */
    const wfi_matmul_packed_copy
        *packed;       /* of A and B; NULL: both are read where the caller has them */
    bool one_each;     /* a dispatch for every output element */
    bool reverse;      /* every other execution begins at the other end */
    uint32_t stream_k; /* groups a compute unit that share what tiles whole rounds leave; 0: none */
    uint32_t swizzle;  /* of tiles, where they are shared; 0: 1 */
} wfi_matmul_tile;

/* A variant's `constants`: what the product is (transposes, beta, bias, activation, output). */
void wfi_matmul_constants(const wfi_point *point, wfi_pipeline_desc *desc);

/* The plan of a variant whose groups each compute a tile (and split) numbered along n first, by
 * wfi_matmul_push: bindings, panels that fit storage-buffer bindings, batches, splits and their
 * reduction, products without A and B. */
wf_result wfi_matmul_build(wf_plan *plan, const wfi_point *point, const wf_matmul_params *params,
                           wfi_matmul_tile tile);

/* Whether elements of a matrix can move four at a time: every row, as stored, begins at and is as
 * long as a multiple of four. Bits 1 A, 2 B, 4 C. */
uint32_t wfi_matmul_vec4_bits(const wfi_matmul_problem *p);
/* Whether the product allows all of these bits. */
bool wfi_matmul_vec4_allowed(const wfi_point *point, uint32_t bits);
#define WFI_VEC4_REASON                                                                            \
    "vec4 may move four elements at a time only in matrices whose rows begin at, and are as long " \
    "as, multiples of 4"

/* ------------------------------------------------------------------- matmul_pack.c: aligned copies */

/* Whether A (bit 1) and B (bit 2) have rows that begin at multiples of 16 bytes and are whole vectors
 * of them, and C (bit 4) of four elements. */
uint32_t wfi_matmul_chunk_bits(const wfi_problem *problem);
/* Whether copies of the operands in `bits` fit this device's bindings. */
bool wfi_matmul_can_pack(const wfi_point *point, uint32_t bits);
double wfi_matmul_pack_bytes(const wfi_point *point, uint32_t bits); /* read and written */
/* Elements of 16 bytes of what the matrix units read. */
uint32_t wfi_matmul_chunk(wf_type type);
/* Adds the steps that copy the operands in `bits`, or split both of them for the variant that does; fills packed[0] and packed[1]. The sum is
 * lengthened to a multiple of tile_k where both are copied. */
wf_result wfi_matmul_pack(wf_plan *plan, const wfi_point *point, uint32_t bits, uint32_t tile_k,
                          wfi_matmul_packed_copy packed[2]);
/* wfi_matmul_build behind copies of the operands in `bits`, if any. */
wf_result wfi_matmul_build_packed(wf_plan *plan, const wfi_point *point,
                                  const wf_matmul_params *params, wfi_matmul_tile tile,
                                  uint32_t bits);

/* ------------------------------------------------------------------ matmul_shares.c: shared tiles */

/* The last tiles of C that groups share; the others have a group each. */
typedef struct wfi_matmul_stream_k {
    uint64_t tiles, shared; /* of all, the last */
    uint64_t tile_steps;    /* tiles of the sum */
    uint64_t groups;        /* that share; 0: none do */
} wfi_matmul_stream_k;

wfi_matmul_stream_k wfi_matmul_stream_k_of(const wfi_point *point, const wfi_matmul_tile *tile);
/* Whether the tile's `stream_k` is none or possible: for the product, by the device's dispatches, and by what a
 * binding takes of parts. */
bool wfi_matmul_may_stream_k(const wfi_point *point, const wfi_matmul_tile *tile);
#define WFI_STREAM_K_REASON                                                                        \
    "stream_k must be at most 64, without splits and batches, where tiles fit one axis of a "      \
    "dispatch and parts one storage-buffer binding"
uint64_t wfi_matmul_partials_bytes(const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                   wf_type type);
void wfi_matmul_push_stream_k(const wfi_matmul_stream_k *s, wfi_matmul_push *push);
/* The kernel that adds up parts, in order of groups, and finishes C there; any variant can leave them. */
wf_result wfi_matmul_fixup_pipeline(wf_plan *plan, const wfi_point *point,
                                    const wfi_matmul_tile *tile, uint32_t *index);
wf_result wfi_matmul_fixup_groups(wf_plan *plan, const wfi_point *point,
                                  const wfi_matmul_stream_k *s, const wfi_matmul_tile *tile,
                                  uint32_t groups[3]);

/* Groups a compute unit that share what whole rounds of tiles leave, 0 where an H100 gains nothing:
 * a part of 32768 outputs a unit costs it as much as 110 steps of the sum, and 92 more for a tile
 * that it ends (bench/notes/matmul.md#stream-k). */
uint32_t wfi_matmul_stream_k_for(const wfi_point *point, double tile_m, double tile_n);
/* Of two sizes of one class one may fill its last round. */
void wfi_matmul_vector_refit(wfi_point *point);
#define WFI_MANY_TILES 24 /* of 64 x 128, for a compute unit */

/* ------------------------------------------------------------------------ matmul_model.c: model */

double wfi_matmul_naive_fit(wfi_point *point);
double wfi_matmul_register_fit(wfi_point *point);
double wfi_matmul_vector_fit(wfi_point *point);
double wfi_matmul_dot_fit(wfi_point *point);

/* Compute units; where no extension tells, those of a middling GPU. */
double wfi_matmul_units(const wf_caps *caps);
/* Expected time where the least bytes decide. */
double wfi_matmul_memory_time(const wfi_point *point);

/* matmul_subgroup_k_model.c */
double wfi_matmul_subgroup_k_fit(wfi_point *point);

/* matmul_thin_model.c */
double wfi_matmul_panel_fit(wfi_point *point);
double wfi_matmul_matvec_fit(wfi_point *point);

/* matmul_cooperative_model.c */
double wfi_matmul_cooperative_fit(wfi_point *point);
void wfi_matmul_cooperative_refit(wfi_point *point); /* as wfi_matmul_vector_refit */

/* ------------------------------------------------------------- matmul_points.c: search spaces */

/* How many parameters each row has. */
enum {
    WFI_NAIVE_PARAMETERS = 2,
    WFI_SQUARE_PARAMETERS = 2,
    WFI_REGISTER_PARAMETERS = 5,
    WFI_DOT_PARAMETERS = 6,
    WFI_MATVEC_PARAMETERS = 6,
    WFI_PANEL_PARAMETERS = 7,
    WFI_COOPERATIVE_PARAMETERS = 14,
    WFI_VECTOR_PARAMETERS = 16,
    WFI_SUBGROUP_K_PARAMETERS = 16,
};
/* Constraints of tiles, of all rows that have them: sizes between 1 and 1024; multiples of four; sums in registers; lanes
 * that are whole blocks; what waits in registers. */
bool wfi_matmul_sizes_positive(const wfi_point *point);
bool wfi_matmul_fours(const wfi_point *point);
bool wfi_matmul_few_registers(const wfi_point *point);
bool wfi_matmul_lanes_divide(const wfi_point *point);
bool wfi_matmul_few_moved(const wfi_point *point);

#define WFI_MOST_VECTORS 8 /* rows or columns of C that matvec takes */

#define WFI_REGISTER_CONSTRAINTS 4
#define WFI_MATVEC_CONSTRAINTS 4
#define WFI_VECTOR_CONSTRAINTS 14
#define WFI_DOT_CONSTRAINTS 6

extern const wfi_parameter wfi_matmul_naive_parameters[WFI_NAIVE_PARAMETERS];
extern const wfi_parameter wfi_matmul_register_parameters[WFI_REGISTER_PARAMETERS];
extern const wfi_parameter wfi_matmul_vector_parameters[WFI_VECTOR_PARAMETERS];
/* tile, and tile_k for the row that has it apart */
extern const wfi_parameter wfi_matmul_square_parameters[WFI_SQUARE_PARAMETERS];
extern const wfi_parameter wfi_matmul_matvec_parameters[WFI_MATVEC_PARAMETERS];
extern const wfi_constraint wfi_matmul_dispatch_constraints[1];
extern const wfi_constraint wfi_matmul_matvec_constraints[WFI_MATVEC_CONSTRAINTS];
extern const wfi_constraint wfi_matmul_register_constraints[WFI_REGISTER_CONSTRAINTS];
extern const wfi_constraint wfi_matmul_vector_constraints[WFI_VECTOR_CONSTRAINTS];
extern const wfi_parameter wfi_matmul_dot_parameters[WFI_DOT_PARAMETERS];
extern const wfi_constraint wfi_matmul_dot_constraints[WFI_DOT_CONSTRAINTS];

void wfi_matmul_dispatch_group(const wfi_point *point, uint32_t size[3]);
void wfi_matmul_square_group(const wfi_point *point, uint32_t size[3]);
uint64_t wfi_matmul_tiled_shared(const wfi_point *point);
uint64_t wfi_matmul_kstep_shared(const wfi_point *point);
void wfi_matmul_matvec_group(const wfi_point *point, uint32_t size[3]);
uint64_t wfi_matmul_matvec_shared(const wfi_point *point);
/* Outputs of a group, along n where B is the large matrix, else along m. */
uint32_t wfi_matmul_matvec_outputs(const wfi_point *point);
bool wfi_matmul_matrix_is_b(const wfi_matmul_problem *p);
bool wfi_matmul_by_sum(const wfi_matmul_problem *p); /* the large matrix lies along the sum */
void wfi_matmul_naive_group(const wfi_point *point, uint32_t size[3]);
void wfi_matmul_tile_group(const wfi_point *point, uint32_t size[3]);
uint32_t wfi_matmul_tile_threads(const uint32_t *values);
uint64_t wfi_matmul_register_shared(const wfi_point *point);
/* Bytes of two tiles of each operand, with `padding` fours beside each row of A's where A is stored
 * along the sum. */
uint64_t wfi_matmul_tiles_shared(const wfi_point *point, uint32_t padding);
uint64_t wfi_matmul_vector_shared(const wfi_point *point);
uint32_t wfi_matmul_vector_registers(const wfi_point *point);
void wfi_matmul_vector_constants(const wfi_point *point, wfi_pipeline_desc *desc);
#define WFI_OTHER_REGISTERS 16 /* a work-item's addresses and counters */
wfi_matmul_tile wfi_matmul_vector_tile(const wfi_point *point);
uint64_t wfi_matmul_dot_shared(const wfi_point *point);

/* ------------------------------------------- matmul_panel.c, matmul_subgroup_k.c: the same */

#define WFI_MOST_PANEL 16 /* rows or columns of C that panel takes */
#define WFI_PANEL_CONSTRAINTS 5

extern const wfi_parameter wfi_matmul_panel_parameters[WFI_PANEL_PARAMETERS];
extern const wfi_constraint wfi_matmul_panel_constraints[WFI_PANEL_CONSTRAINTS];

void wfi_matmul_panel_group(const wfi_point *point, uint32_t size[3]);
uint64_t wfi_matmul_panel_shared(const wfi_point *point);
void wfi_matmul_panel_constants(const wfi_point *point, wfi_pipeline_desc *desc);
wf_result wfi_matmul_panel_build(wf_plan *plan, const wfi_point *point, const void *params);

#define WFI_SUBGROUP_K_CONSTRAINTS 9

extern const wfi_parameter wfi_matmul_subgroup_k_parameters[WFI_SUBGROUP_K_PARAMETERS];
extern const wfi_constraint wfi_matmul_subgroup_k_constraints[WFI_SUBGROUP_K_CONSTRAINTS];

void wfi_matmul_subgroup_k_group(const wfi_point *point, uint32_t size[3]);
uint64_t wfi_matmul_subgroup_k_shared(const wfi_point *point);
uint32_t wfi_matmul_subgroup_k_subgroup(const wfi_point *point);
void wfi_matmul_subgroup_k_constants(const wfi_point *point, wfi_pipeline_desc *desc);
wf_result wfi_matmul_subgroup_k_build(wf_plan *plan, const wfi_point *point, const void *params);

/* ------------------------------------------------------------- matmul_cooperative.c: the same */

#define WFI_COOPERATIVE_CONSTRAINTS 11

extern const wfi_parameter wfi_matmul_cooperative_parameters[WFI_COOPERATIVE_PARAMETERS];
extern const wfi_constraint wfi_matmul_cooperative_constraints[WFI_COOPERATIVE_CONSTRAINTS];

void wfi_matmul_cooperative_group(const wfi_point *point, uint32_t size[3]);
uint32_t wfi_matmul_cooperative_subgroup(const wfi_point *point);
uint64_t wfi_matmul_cooperative_shared(const wfi_point *point);
wfi_matmul_tile wfi_matmul_cooperative_tile(const wfi_point *point);
void wfi_matmul_cooperative_constants(const wfi_point *point, wfi_pipeline_desc *desc);
wf_result wfi_matmul_cooperative_build(wf_plan *plan, const wfi_point *point, const void *params);
/* A shape the device offers for the type; NULL: none of that size (0: any, the largest). */
const wf_cooperative_shape *wfi_matmul_shape(const wf_caps *caps, wf_type type, uint32_t m,
                                             uint32_t n, uint32_t k);

#endif
