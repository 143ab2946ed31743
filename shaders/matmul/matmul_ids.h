/* Parameters of the matmul family, by which a point keeps its values. Below WFI_HOST_IDS (64) an id
 * is that of a specialization constant too; 0 to 2 are the work-group size. An id is never reused.
 * */
#define MATMUL_ID_LOCAL_X 0
#define MATMUL_ID_LOCAL_Y 1
#define MATMUL_ID_TILE_M 3
#define MATMUL_ID_TILE_N 4
#define MATMUL_ID_TILE_K 5
#define MATMUL_ID_THREAD_M 6
#define MATMUL_ID_THREAD_N 7
#define MATMUL_ID_VEC4 8
/* What the product is; set from the problem, in every module. */
#define MATMUL_ID_TRANSPOSE_A 9
#define MATMUL_ID_TRANSPOSE_B 10
#define MATMUL_ID_BETA 11
#define MATMUL_ID_BIAS 12
#define MATMUL_ID_ACTIVATION 13
#define MATMUL_ID_OUTPUT 14
/* Of some modules. */
#define MATMUL_ID_LANES_M 15
#define MATMUL_ID_LANES_N 16
#define MATMUL_ID_SWIZZLE 17
/* Of the cooperative matrices. */
#define MATMUL_ID_SUB_M 18
#define MATMUL_ID_SUB_N 19
#define MATMUL_ID_FRAG_M 20
#define MATMUL_ID_FRAG_N 21
#define MATMUL_ID_FRAG_K 22
#define MATMUL_ID_SUBGROUP 23
/* Of the plain variants again. */
#define MATMUL_ID_MATRIX_IS_B 24
#define MATMUL_ID_VECTORS 25
#define MATMUL_ID_KEEP 26
#define MATMUL_ID_ACROSS 27
#define MATMUL_ID_DOUBLE_BUFFER 29
#define MATMUL_ID_PAIRS 30
#define MATMUL_ID_SERPENTINE 31
#define MATMUL_ID_ROWS_A 32 /* of its tile in shared memory: MATMUL_ROWS_ */
#define MATMUL_ID_PAD 33
#define MATMUL_ID_ROWS_B 34
#define MATMUL_ID_GATHERED 54
/* Of the kernels for thin and small products. */
#define MATMUL_ID_CHUNKS 40
#define MATMUL_ID_LOADS 41
#define MATMUL_ID_LANES_K 42
#define MATMUL_ID_LANES_O 43
#define MATMUL_ID_FOURS 44
#define MATMUL_ID_SLICES_K 45
#define MATMUL_ID_KEPT 47
#define MATMUL_ID_ROWS 48
#define MATMUL_ID_BLOCKS 49
#define MATMUL_ID_PER_SUBGROUP 51
#define MATMUL_ID_TAIL 52
#define MATMUL_ID_REVERSE 53
/* Of tiles whose sums work-groups share. */
#define MATMUL_ID_PARTIAL_TILES 60
/* Of the cooperative matrices again. */
#define MATMUL_ID_SUBS_K 50
/* Values of ROWS_A and ROWS_B. */
#define MATMUL_ROWS_PLAIN 0
#define MATMUL_ROWS_PADDED 1
#define MATMUL_ROWS_SWIZZLED 2
/* Of the host alone: no shader has them. */
#define MATMUL_ID_SPLIT_K 64
#define MATMUL_ID_PACK 65
#define MATMUL_ID_STREAM_K 66
