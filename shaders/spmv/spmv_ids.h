/* Specialization constants of the spmv family; ids 0-2 are the work-group size. An id is never
 * reused. */
#define SPMV_ID_LANES 3
#define SPMV_ID_STRIDED 4
#define SPMV_ID_ITEMS 5
#define SPMV_ID_BLOCK 6
#define SPMV_ID_VECTORS 7
#define SPMV_ID_IN_TURNS 8
