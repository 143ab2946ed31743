/* Specialization constants of the stencil family; ids 0-2 are the work-group size. An id is never
 * reused. */
#define STENCIL_ID_MARCH 3
#define STENCIL_ID_STEPS 4
#define STENCIL_ID_OWN_SUMS 5
#define STENCIL_ID_REVERSE 6
#define STENCIL_ID_PARTS 7
#define STENCIL_ID_DEPTH 8
#define STENCIL_ID_BLOCK 9
#define STENCIL_ID_SUBGROUPS 10
