// MODULE stencil_naive_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star or box stencil with one work-item a cell, which reads everything from memory.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define UNIFORM_TAPS
#include "stencil_problem.glsl"

const int SIDE = 2 * RADIUS + 1, SIDE_J = 2 * RADIUS_J + 1;
// Loads of a box that are under way together; of larger ones a row's are.
#define MOST_AT_ONCE 49

// Offsets, in elements, of the columns, rows and planes of the neighbourhood. The border is asked
// for each of them once, and no load is in a branch.
uint column[SIDE], row[SIDE_J], plane[SIDE];

ACC at(int i, int j, int k)
{
    return ACC(values_in[column[i + RADIUS] + row[j + RADIUS_J] + plane[k + RADIUS]]);
}

ACC star()
{
    precise ACC sum = tap_at(0) * at(0, 0, 0);
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(0, d);
        sum = fma(tap_at(tap), at(-d, 0, 0), sum);
        sum = fma(tap_at(tap + 1), at(d, 0, 0), sum);
    }
    [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
        uint tap = star_tap(1, d);
        sum = fma(tap_at(tap), at(0, -d, 0), sum);
        sum = fma(tap_at(tap + 1), at(0, d, 0), sum);
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(AXIS_K, d);
        sum = fma(tap_at(tap), at(0, 0, -d), sum);
        sum = fma(tap_at(tap + 1), at(0, 0, d), sum);
    }
    return sum;
}

ACC box()
{
    precise ACC sum = ACC(0);
    uint tap = 0;
    if (SIDE * SIDE * SIDE_J <= MOST_AT_ONCE) {
        [[unroll]] for (int dk = -RADIUS; dk <= RADIUS; dk++)
            [[unroll]] for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++)
                [[unroll]] for (int di = -RADIUS; di <= RADIUS; di++)
                    sum = fma(tap_at(tap++), at(di, dj, dk), sum);
        return sum;
    }
    for (int dk = -RADIUS; dk <= RADIUS; dk++)
        for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++)
            [[unroll]] for (int di = -RADIUS; di <= RADIUS; di++)
                sum = fma(tap_at(tap++), at(di, dj, dk), sum);
    return sum;
}

void main()
{
    ivec3 cell = ivec3(gl_GlobalInvocationID) + ivec3(first_i(), first_j(), push.first);
    if (cell.x >= end_i() || cell.y >= end_j() || cell.z >= push.end || stopped())
        return;
    column[RADIUS] = uint(cell.x);
    row[RADIUS_J] = uint(cell.y) * push.row;
    plane[RADIUS] = uint(cell.z) * push.plane + push.base_in;
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        column[RADIUS - d] = uint(mapped(cell.x - d, push.ni));
        column[RADIUS + d] = uint(mapped(cell.x + d, push.ni));
        plane[RADIUS - d] = uint(mapped(cell.z - d, push.nk)) * push.plane + push.base_in;
        plane[RADIUS + d] = uint(mapped(cell.z + d, push.nk)) * push.plane + push.base_in;
    }
    [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
        row[RADIUS_J - d] = uint(mapped(cell.y - d, push.nj)) * push.row;
        row[RADIUS_J + d] = uint(mapped(cell.y + d, push.nj)) * push.row;
    }
    ACC value;
    if (fixed_cell(cell.x, cell.y, cell.z))
        value = at(0, 0, 0);
    else if (SHAPE == STENCIL_STAR)
        value = rounded(star());
    else
        value = rounded(box());
    values_out[push.base_out + element(cell.x, cell.y, cell.z)] = REAL(value);
}
