/* Parameters of the grid family, by which a point keeps its values; each id is that of a
 * specialization constant too; 0 to 2 are the work-group size. An id is never reused. */
#define GRID_ID_LOCAL_X 0
#define GRID_ID_LOCAL_Y 1
#define GRID_ID_LOCAL_Z 2
#define GRID_ID_RADIUS 3
#define GRID_ID_SHAPE 4
#define GRID_ID_BORDER 5
#define GRID_ID_FLAT 6
#define GRID_ID_MARCH 7
#define GRID_ID_STEPS 8
#define GRID_ID_ROWS 9
#define GRID_ID_STOP_AT 10
#define GRID_ID_EVEN 11
#define GRID_ID_BUFFERS 12

#define GRID_STAR 0
#define GRID_BOX 1
#define GRID_DIRICHLET 0
#define GRID_NEUMANN 1
#define GRID_PERIODIC 2
