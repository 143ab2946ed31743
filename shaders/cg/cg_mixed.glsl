// A recorded solve in mixed precision: x and b are pairs of floats, of the application's and here.
// Conjugate gradients in f32 solve A d = r / |r| for a correction d (its x); where these have
// converged, x += |r| d, and r = b - A x begins the next correction.
#include "cg_problem.glsl"

// Behind x, r and p of the correction: x and b, in pairs.
#define HIGH(vector, i) a[(3 + 2 * (vector)) * push.stride + 2 * (i)]
#define LOW(vector, i) a[(3 + 2 * (vector)) * push.stride + 2 * (i) + 1]
#define SOLUTION 0
#define RIGHT_SIDE 1

#define REFINED(which) scalars[push.refined_at + (which)]
#define OVERALL REFINED(0)     // RUNNING, or what ended the refinement
#define NORM REFINED(1)        // |r| that the correction began with
#define SCALE REFINED(2)       // r is kept times this power of two, so that no square underflows
#define DONE REFINED(3)        // iterations of earlier corrections
#define REFINEMENTS REFINED(4) // corrections that were added
#define IS_FIXED REFINED(5)
#define STALLED 5 // no correction would make the residual much smaller

// r r and b b are summed where the next iteration's partial sums will be.
#define RR_AT PARTIALS_AT(RR + 1)
#define BB_AT PARTIALS_AT(RU + 1)

// Which of the two states a correction ended with; `iterations` were recorded.
uint ended_state(uint iterations)
{
    if (STATE(0, STATUS) != REAL(RUNNING))
        return 0;
    return STATE(1, STATUS) != REAL(RUNNING) ? 1 : iterations & 1;
}

// Whether a correction that ended so, or runs, is worth adding.
bool adds(uint status)
{
    return OVERALL == REAL(RUNNING) && (status == RUNNING || status == CONVERGED);
}
