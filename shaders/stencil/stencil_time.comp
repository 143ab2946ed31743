// MODULE stencil_time_*
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star stencil with STEPS steps a pass over memory (temporal blocking). A work-group marches
// along k with a tile of cells; each work-item has ROWS of them along j. At front t a work-item
// loads plane t of its cells (level 0) and computes plane t - s RADIUS of step s (level s) from
// level s - 1, for s = 1 … STEPS. It keeps 2 RADIUS + 1 planes of each level of its own cells in
// registers; an earlier front has put the neighbours along i and j in shared memory, so that a
// front needs one barrier. What a level reads beyond the tile is wrong, so that each level loses
// RADIUS cells on every side: tiles overlap by STEPS x RADIUS cells on each side and store those
// that are right.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_MARCH) const int MARCH = 16;
layout(constant_id = STENCIL_ID_STEPS) const int STEPS = 2;
layout(constant_id = STENCIL_ID_ROWS) const int ROWS = 1;
#define UNIFORM_TAPS
#include "stencil_problem.glsl"

const int COLUMN = 2 * RADIUS + 1;
const int OVERLAP = STEPS * RADIUS;
const int OVERLAP_J = FLAT != 0 ? 0 : OVERLAP;
const int TILE_I = int(gl_WorkGroupSize.x), TILE_J = int(gl_WorkGroupSize.y) * ROWS;
const int ROW = TILE_I + 2 * RADIUS; // with a halo, whose values are wrong
const int PLANE = ROW * (TILE_J + 2 * RADIUS_J);
const int SLOTS = RADIUS + 1; // planes a level: written in front t, read until front t + RADIUS
shared ACC levels[STEPS * SLOTS * PLANE];

ACC columns[STEPS][ROWS][COLUMN];

// Of radius 1: whether the cells before and after one are those beyond the ends of their axes.
uint ends_i[2], ends_j[2][ROWS];

// The cell beside `own`; a mirrored border puts a cell at its end beside itself.
ACC beside(uint beyond, ACC own, ACC cell)
{
    return BORDER == STENCIL_NEUMANN ? masked(beyond, own, cell) : cell;
}

// A star of radius 1, without a branch at mirrored borders.
ACC narrow_star(int s, int r, int k, int mine)
{
    ACC own = columns[s][r][RADIUS];
    precise ACC sum = tap_at(0) * own;
    sum = fma(tap_at(1), beside(ends_i[0], own, levels[mine - 1]), sum);
    sum = fma(tap_at(2), beside(ends_i[1], own, levels[mine + 1]), sum);
    if (FLAT == 0) {
        ACC before = r > 0 ? columns[s][max(r - 1, 0)][RADIUS] : levels[mine - ROW],
            after = r < ROWS - 1 ? columns[s][min(r + 1, ROWS - 1)][RADIUS] : levels[mine + ROW];
        sum = fma(tap_at(3), beside(ends_j[0][r], own, before), sum);
        sum = fma(tap_at(4), beside(ends_j[1][r], own, after), sum);
    }
    uint tap = star_tap(AXIS_K, 1);
    sum = fma(tap_at(tap), beside(mask_of(k == 0), own, columns[s][r][0]), sum);
    sum = fma(tap_at(tap + 1), beside(mask_of(k == push.nk - 1), own, columns[s][r][2 * RADIUS]),
              sum);
    return sum;
}

// Distance in shared memory to the cell that the border puts d cells away, along an axis of stride
// `step`.
int reach(int at, int d, int n, int step)
{
    int to = at + d;
    // Only mirrored cells differ from what was loaded in their place.
    if (BORDER == STENCIL_NEUMANN && (to < 0 || to >= n) && at >= 0 && at < n)
        to = mapped(to, n);
    return (to - at) * step;
}

// The value d planes away from plane k in the column.
ACC along_k(int s, int r, int k, int d)
{
    ACC value = columns[s][r][RADIUS + d];
    if (BORDER == STENCIL_NEUMANN && (k + d < 0 || k + d >= push.nk)) {
        int from = mapped(k + d, push.nk) - k;
        [[unroll]] for (int n = -RADIUS; n <= RADIUS; n++)
            if (n == from)
                value = columns[s][r][RADIUS + n];
    }
    return value;
}

ACC star(int s, int r, ivec2 cell, int k, int mine)
{
    precise ACC sum = tap_at(0) * columns[s][r][RADIUS];
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(0, d);
        sum = fma(tap_at(tap), levels[mine + reach(cell.x, -d, push.ni, 1)], sum);
        sum = fma(tap_at(tap + 1), levels[mine + reach(cell.x, d, push.ni, 1)], sum);
    }
    [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
        uint tap = star_tap(1, d);
        ACC before, after;
        if (BORDER != STENCIL_NEUMANN && r - d >= 0)
            before = columns[s][r - d][RADIUS];
        else
            before = levels[mine + reach(cell.y, -d, push.nj, ROW)];
        if (BORDER != STENCIL_NEUMANN && r + d < ROWS)
            after = columns[s][r + d][RADIUS];
        else
            after = levels[mine + reach(cell.y, d, push.nj, ROW)];
        sum = fma(tap_at(tap), before, sum);
        sum = fma(tap_at(tap + 1), after, sum);
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        uint tap = star_tap(AXIS_K, d);
        sum = fma(tap_at(tap), along_k(s, r, k, -d), sum);
        sum = fma(tap_at(tap + 1), along_k(s, r, k, d), sum);
    }
    return sum;
}

// The cell as it was where it is fixed. Flat grids of f64 are 3 to 8 % faster with a branch.
ACC kept(uint fixed_cell, ACC own, ACC next)
{
#ifdef WF_TYPE_F64
    if (FLAT != 0)
        return fixed_cell != 0 ? own : next;
#endif
    return BORDER == STENCIL_DIRICHLET ? masked(fixed_cell, own, next) : next;
}

void push_column(int level, int r, ACC value)
{
    [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
        columns[level][r][n] = columns[level][r][n + 1];
    columns[level][r][COLUMN - 1] = value;
}

void main()
{
    if (stopped()) // it is the same for all work-items
        return;
    // Components one by one, since the validation layer loses vectors of specialization constants.
    ivec2 local = ivec2(gl_LocalInvocationID.xy);
    local.y *= ROWS;
    ivec2 cell = ivec2(gl_WorkGroupID.xy);
    cell.x = first_i() + cell.x * (TILE_I - 2 * OVERLAP) - OVERLAP + local.x;
    cell.y = first_j() + cell.y * (TILE_J - 2 * OVERLAP_J) - OVERLAP_J + local.y;
    int first = push.first + int(gl_WorkGroupID.z) * MARCH, end = min(first + MARCH, push.end);
    int mine = (local.y + RADIUS_J) * ROW + local.x + RADIUS;
    bool kept_i = local.x >= OVERLAP && local.x < TILE_I - OVERLAP && cell.x < end_i();

    uint from[ROWS], fixed_cells[ROWS]; // fixed: in every plane
    ACC coming[ROWS];
    int front = first - OVERLAP, slot = 0;
    uint plane = uint(mapped(front, push.nk)) * push.plane;
    ends_i[0] = mask_of(cell.x == 0);
    ends_i[1] = mask_of(cell.x == push.ni - 1);
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        ends_j[0][r] = mask_of(cell.y + r == 0);
        ends_j[1][r] = mask_of(cell.y + r == push.nj - 1);
        fixed_cells[r] = mask_of(fixed_at(cell.x, push.ni) ||
                                 (FLAT == 0 && fixed_at(cell.y + r, push.nj)));
        from[r] = push.base_in +
                  element(mapped(cell.x, push.ni), mapped(cell.y + r, push.nj), 0);
        coming[r] = ACC(values_in[from[r] + plane]);
        [[unroll]] for (int s = 0; s < STEPS; s++)
            [[unroll]] for (int n = 0; n < COLUMN; n++)
                columns[s][r][n] = ACC(0);
    }
    for (; front < end + OVERLAP; front++) {
        // Level s was written to this slot RADIUS fronts ago, and is read from it now.
        int old = slot == SLOTS - 1 ? 0 : slot + 1;
        plane = uint(mapped(front + 1, push.nk)) * push.plane;
        [[unroll]] for (int r = 0; r < ROWS; r++) {
            push_column(0, r, coming[r]);
            levels[slot * PLANE + mine + r * ROW] = coming[r];
            coming[r] = ACC(values_in[from[r] + plane]);
        }
        [[unroll]] for (int s = 1; s <= STEPS; s++) {
            int k = front - s * RADIUS;
            uint fixed_plane = mask_of(fixed_at(k, push.nk));
            ACC next[ROWS];
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                int at = ((s - 1) * SLOTS + old) * PLANE + mine + r * ROW;
                next[r] = rounded(RADIUS == 1 ? narrow_star(s - 1, r, k, at)
                                              : star(s - 1, r, cell + ivec2(0, r), k, at));
                next[r] = kept(fixed_cells[r] | fixed_plane, columns[s - 1][r][RADIUS], next[r]);
            }
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                int y = local.y + r;
                if (s < STEPS) {
                    push_column(s, r, next[r]);
                    levels[(s * SLOTS + slot) * PLANE + mine + r * ROW] = next[r];
                } else if (kept_i && k >= first && k < end && y >= OVERLAP_J &&
                           y < TILE_J - OVERLAP_J && cell.y + r < end_j()) {
                    values_out[push.base_out + element(cell.x, cell.y + r, k)] = REAL(next[r]);
                }
            }
        }
        slot = old;
        barrier();
    }
}
