/* Ids of the spmv family's parameters, by which a point keeps its values. Below WFI_HOST_IDS (64)
 * an id is that of a specialization constant too; 0 to 2 are the work-group size. An id is never
 * reused. */
#define SPMV_ID_LOCAL_X 0
#define SPMV_ID_LANES 3
#define SPMV_ID_STRIDED 4
#define SPMV_ID_ITEMS 5
#define SPMV_ID_BLOCK 6
#define SPMV_ID_VECTORS 7
#define SPMV_ID_GRID_STRIDE 8
#define SPMV_ID_LOADS 9
#define SPMV_ID_SLICES 10
#define SPMV_ID_WIDTH 11
#define SPMV_ID_BASED 12
#define SPMV_ID_GROUP_ROWS 13
#define SPMV_ID_FOLDED 14
#define SPMV_ID_SCALED 15
#define SPMV_ID_ROWS 16
#define SPMV_ID_ALTERNATES 17
#define SPMV_ID_FENCES 18
#define SPMV_ID_COLUMNS 19
/* Words that a work-item of spmv_update moves: f32, f64, or two f16. */
#define SPMV_UPDATE_WORDS 4
/* Parameters of the host, which no shader has. */
#define SPMV_ID_WINDOW 64
#define SPMV_ID_ROW_SUBGROUPS 65
#define SPMV_ID_LONG_X 66
#define SPMV_ID_LONG_LOADS 67
#define SPMV_ID_SLICE_LOADS 68 /* `loads` of variant sliced, whose slices store their own */
