/* Parameters of star and box stencils, by which a point keeps its values. Each id is that of a
 * specialization constant too; 0 to 2 are the work-group size. An id is never reused. */
#define STENCIL_ID_LOCAL_X 0
#define STENCIL_ID_LOCAL_Y 1
#define STENCIL_ID_LOCAL_Z 2
#define STENCIL_ID_RADIUS 3
#define STENCIL_ID_SHAPE 4
#define STENCIL_ID_BORDER 5
#define STENCIL_ID_FLAT 6
#define STENCIL_ID_MARCH 7
#define STENCIL_ID_STEPS 8
#define STENCIL_ID_ROWS 9
#define STENCIL_ID_STOP_AT 10
#define STENCIL_ID_EVEN 11
#define STENCIL_ID_BUFFERS 12
#define STENCIL_ID_ALIGNED 13
#define STENCIL_ID_PIECE 14

/* The binding that has the coefficients as uniforms, in fours (f64: in twos). */
#define STENCIL_TAPS_BINDING 3
#define STENCIL_MOST_TAPS 729

#define STENCIL_STAR 0
#define STENCIL_BOX 1
#define STENCIL_DIRICHLET 0
#define STENCIL_NEUMANN 1
#define STENCIL_PERIODIC 2
