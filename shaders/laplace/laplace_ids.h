/* Specialization constants of the Laplace solver's kernels (ids 0-2 are the work-group size), and
 * the places in its state. An id is never reused. */
#define LAPLACE_ID_COLOURED 3
#define LAPLACE_ID_MARCH 4

/* Elements of the state. The coefficients and the status are where the stencil family's kernels
 * look for coefficients and the flag that stops them. */
#define LAPLACE_COEFFICIENTS 0
#define LAPLACE_STATUS 5
#define LAPLACE_ITERATIONS 6
#define LAPLACE_WANTED 7 /* square of the residual's norm at which the solver has converged */
#define LAPLACE_OMEGA 8
#define LAPLACE_MARK 9 /* the last square of the norm that was progress, and its check */
#define LAPLACE_MARK_CHECK 10
/* Of recorded solves. */
#define LAPLACE_FIXED 11   /* not 0: only values that are not finite end the solve */
#define LAPLACE_NORM 12    /* square of |b| */
#define LAPLACE_HISTORY 16 /* squares of the residual's norm, by check modulo LAPLACE_CHECKS */
#define LAPLACE_CHECKS 64
#define LAPLACE_STATE_END 80

#define LAPLACE_RUNNING 0
#define LAPLACE_CONVERGED 1
#define LAPLACE_STAGNATED 2
#define LAPLACE_NOT_FINITE 3
