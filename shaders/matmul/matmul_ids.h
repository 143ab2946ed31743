/* Specialization constants of the matmul family; ids 0-2 are the work-group size. An id is never
 * reused. */
#define MATMUL_ID_TILE_M 3
#define MATMUL_ID_TILE_N 4
#define MATMUL_ID_TILE_K 5
#define MATMUL_ID_THREAD_M 6
#define MATMUL_ID_THREAD_N 7
#define MATMUL_ID_WIDE 8
