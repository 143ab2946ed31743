// Cells and state of the Laplace solver. For Jacobi, cell (x, y) is element y stride + x of one
// array. For red-black order each colour has an array of its own, so that cells that a sweep reads
// or writes lie side by side: in row y, colour c has the cells x = 2 i + s, s = (y + c) mod 2, at y
// stride + i. The neighbours of such a cell are all of the other colour: above and below at i, to
// the sides at i + s - 1 and i + s.
#include "laplace_ids.h"
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = LAPLACE_ID_COLOURED) const uint COLOURED = 1;

layout(push_constant) uniform Push {
    uint sequence;       // the colour; for the verdict, the check
    uint nx;         // cells of a row, borders included
    uint stride;     // elements from a row of an array to the next
    uint cells;      // elements of a row that are cells
    uint first, end; // rows
    uint base;       // element of row 0, modulo 2^32: it may lie before the window bound
    uint groups;     // work-groups of a residual's dispatch
    uint partials;   // partial sums of a colour
    uint from;       // index of the dispatch's first partial sum
    uint every;      // iterations between checks
    uint most;       // iterations at most
    uint patience;   // checks without progress after which the solver gives up
#ifdef RECORDED
    uint sizes_at;   // of the dispatches, in words from the state on
    uint sizes;      // how many dispatches these are
#endif
} push;

uint shift(uint y)
{
    return COLOURED != 0 ? (y + push.sequence) & 1u : 0u;
}

uint row(uint y)
{
    return push.base + y * push.stride;
}
