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
// for each of them once, and no load is in a branch. They are no arrays, which V3DV keeps in memory
// however they are indexed.
struct Offsets {
    uvec4 low, high;
    uint last;
} columns, rows, planes;

// Of the n-th of the places from at - radius to at + radius of an axis of `count` cells; 0 beyond
// them. The border is not asked for the cell itself, nor of Dirichlet's at all, where cells with
// neighbours beyond an end keep their values.
uint offset_of(int at, int n, int radius, int count, uint stride)
{
    if (n > 2 * radius)
        return 0;
    int place = at + n - radius;
    return uint(BORDER == STENCIL_DIRICHLET || n == radius ? place : mapped(place, count)) * stride;
}

Offsets offsets_of(int at, int radius, int count, uint stride)
{
    Offsets o;
    [[unroll]] for (int n = 0; n < 4; n++) {
        o.low[n] = offset_of(at, n, radius, count, stride);
        o.high[n] = offset_of(at, n + 4, radius, count, stride);
    }
    o.last = offset_of(at, 8, radius, count, stride);
    return o;
}

uint offset_at(Offsets o, int n)
{
    return n < 4 ? o.low[n & 3] : n < 8 ? o.high[n & 3] : o.last;
}

ACC at(int i, int j, int k)
{
    return ACC(values_in[push.base_in + offset_at(columns, i + RADIUS) +
                         offset_at(rows, j + RADIUS_J) + offset_at(planes, k + RADIUS)]);
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
    columns = offsets_of(cell.x, RADIUS, push.ni, 1);
    rows = offsets_of(cell.y, RADIUS_J, push.nj, push.row);
    planes = offsets_of(cell.z, RADIUS, push.nk, push.plane);
    ACC value;
    if (fixed_cell(cell.x, cell.y, cell.z))
        value = at(0, 0, 0);
    else if (SHAPE == STENCIL_STAR)
        value = rounded(star());
    else
        value = rounded(box());
    values_out[push.base_out + element(cell.x, cell.y, cell.z)] = REAL(value);
}
