/* Specialization constants of the spmv family; ids 0-2 are the work-group size. An id is never
 * reused. */
#define SPMV_ID_LANES 3
#define SPMV_ID_STRIDED 4
#define SPMV_ID_ITEMS 5
#define SPMV_ID_BLOCK 6
#define SPMV_ID_VECTORS 7
#define SPMV_ID_IN_TURNS 8
#define SPMV_ID_TURNS 9
#define SPMV_ID_SLICES 10
#define SPMV_ID_WIDTH 11
#define SPMV_ID_BASED 12
#define SPMV_ID_TEAMS 13
#define SPMV_ID_FOLDED 14
#define SPMV_ID_SCALED 15
#define SPMV_ID_ROWS 16
#define SPMV_ID_ALTERNATES 17
#define SPMV_ID_FENCES 18
