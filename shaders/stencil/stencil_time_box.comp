#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A box stencil, STEPS steps a pass over memory (temporal blocking). A work-group marches along k with
// a tile of cells, ROWS along j an item. In front t an item loads plane t of its cells (level 0), and
// each level s = 1 … STEPS takes from shared memory the plane that level s - 1 finished in the front
// before, once, and adds it to the sums of the 2 RADIUS + 1 planes that it is a neighbour of; the
// oldest of them, t - s (RADIUS + 1), is then finished. Planes come in the order that the coefficients
// have, so that a sum has the bits of a single step's. Mirrored planes would come out of order: with
// such a border a level's last planes stay in shared memory, and a plane's sums are made in one front.
// What a level gets from beyond the tile is wrong, as in grid_time.comp.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_MARCH) const int MARCH = 16;
layout(constant_id = STENCIL_ID_STEPS) const int STEPS = 2;
layout(constant_id = STENCIL_ID_ROWS) const int ROWS = 1;
#include "stencil_problem.glsl"

const int SIDE = 2 * RADIUS + 1, SIDE_J = 2 * RADIUS_J + 1;
const int LAG = RADIUS + 1; // turns that a level is behind the one before
const int OVERLAP = STEPS * RADIUS;
const int OVERLAP_J = FLAT != 0 ? 0 : OVERLAP;
const int TILE_I = int(gl_WorkGroupSize.x), TILE_J = int(gl_WorkGroupSize.y) * ROWS;
const int ROW = TILE_I + 2 * RADIUS; // with a rim that is read but never right
const int PLANE = ROW * (TILE_J + 2 * RADIUS_J);
// Planes a level: written in front t, read in front t + 1, and until t + SIDE where they mirror.
const int SLOTS = BORDER == STENCIL_NEUMANN ? SIDE + 1 : 2;
shared ACC levels[STEPS * SLOTS * PLANE];

ACC sums[STEPS][ROWS][SIDE];    // of planes under way, the oldest first
ACC centres[STEPS][ROWS][LAG];  // the item's own cells of the last planes taken

// How far the cell that stands for the one d away along an axis is.
int reach(int at, int d, int n)
{
    int to = at + d;
    if (BORDER == STENCIL_NEUMANN && (to < 0 || to >= n) && at >= 0 && at < n)
        to = mapped(to, n);
    return to - at;
}

// Adds the plane that lies at `mine` to the sums, and gives those that it was the last for.
ACC taken(int s, int r, int mine)
{
    [[unroll]] for (int n = 0; n < SIDE; n++)
        sums[s][r][n] = n + 1 < SIDE ? sums[s][r][n + 1] : ACC(0);
    for (int dj = 0; dj < SIDE_J; dj++)
        for (int di = 0; di < SIDE; di++) {
            ACC value = levels[mine + (dj - RADIUS_J) * ROW + di - RADIUS];
            [[unroll]] for (int n = 0; n < SIDE; n++) {
                int tap = ((SIDE - 1 - n) * SIDE_J + dj) * SIDE + di;
                precise ACC next = fma(coefficients[tap], value, sums[s][r][n]);
                sums[s][r][n] = next;
            }
        }
    return sums[s][r][0];
}

// The sum of one cell, from the planes in the level's slots; the one RADIUS before plane k is in
// slot `oldest`.
ACC gathered(ivec3 cell, int level, int oldest, int mine)
{
    precise ACC sum = ACC(0);
    int tap = 0;
    for (int dk = -RADIUS; dk <= RADIUS; dk++) {
        int slot = (oldest + RADIUS + reach(cell.z, dk, push.nk)) % SLOTS;
        int at = level + slot * PLANE + mine;
        for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++) {
            int row = at + reach(cell.y, dj, push.nj) * ROW;
            for (int di = -RADIUS; di <= RADIUS; di++)
                sum = fma(coefficients[tap++], levels[row + reach(cell.x, di, push.ni)], sum);
        }
    }
    return sum;
}

void keep_centre(int s, int r, ACC value)
{
    [[unroll]] for (int n = 0; n + 1 < LAG; n++)
        centres[s][r][n] = centres[s][r][n + 1];
    centres[s][r][LAG - 1] = value;
}

void main()
{
    if (stopped()) // all work-items see the same
        return;
    // By components: the validation layer loses vectors of specialization constants.
    ivec2 local = ivec2(gl_LocalInvocationID.xy);
    local.y *= ROWS;
    ivec2 cell = ivec2(gl_WorkGroupID.xy);
    cell.x = cell.x * (TILE_I - 2 * OVERLAP) - OVERLAP + local.x;
    cell.y = cell.y * (TILE_J - 2 * OVERLAP_J) - OVERLAP_J + local.y;
    int first = push.first + int(gl_WorkGroupID.z) * MARCH, end = min(first + MARCH, push.end);
    int mine = (local.y + RADIUS_J) * ROW + local.x + RADIUS;
    bool kept_i = local.x >= OVERLAP && local.x < TILE_I - OVERLAP && cell.x < push.ni;
    bool fixed_i = fixed_at(cell.x, push.ni);

    uint from[ROWS];
    ACC coming[ROWS];
    int front = first - OVERLAP, slot = 0;
    uint plane = uint(mapped(front, push.nk)) * push.plane;
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        from[r] = push.base_in +
                  element(mapped(cell.x, push.ni), mapped(cell.y + r, push.nj), 0);
        coming[r] = ACC(values_in[from[r] + plane]);
        [[unroll]] for (int s = 0; s < STEPS; s++) {
            [[unroll]] for (int n = 0; n < SIDE; n++)
                sums[s][r][n] = ACC(0);
            [[unroll]] for (int n = 0; n < LAG; n++)
                centres[s][r][n] = ACC(0);
        }
    }
    for (; front < end + STEPS * LAG; front++) {
        int before = slot == 0 ? SLOTS - 1 : slot - 1; // written in the last front
        plane = uint(mapped(min(front + 1, end + OVERLAP - 1), push.nk)) * push.plane;
        [[unroll]] for (int r = 0; r < ROWS; r++) {
            levels[slot * PLANE + mine + r * ROW] = coming[r];
            coming[r] = ACC(values_in[from[r] + plane]);
        }
        [[unroll]] for (int s = 1; s <= STEPS; s++) {
            int k = front - s * LAG, level = (s - 1) * SLOTS * PLANE;
            bool fixed_k = fixed_at(k, push.nk);
            ACC next[ROWS];
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                if (BORDER == STENCIL_NEUMANN) {
                    // SIDE turns ago, which is one on around the slots.
                    int oldest = slot + 1 == SLOTS ? 0 : slot + 1;
                    next[r] = rounded(gathered(ivec3(cell.x, cell.y + r, k), level, oldest,
                                               mine + r * ROW));
                    continue;
                }
                int at = level + before * PLANE + mine + r * ROW;
                next[r] = rounded(taken(s - 1, r, at));
                keep_centre(s - 1, r, levels[at]);
                if (fixed_i || fixed_k || (FLAT == 0 && fixed_at(cell.y + r, push.nj)))
                    next[r] = centres[s - 1][r][0];
            }
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                int y = local.y + r;
                if (s < STEPS)
                    levels[(s * SLOTS + slot) * PLANE + mine + r * ROW] = next[r];
                else if (kept_i && k >= first && k < end && y >= OVERLAP_J &&
                         y < TILE_J - OVERLAP_J && cell.y + r < push.nj)
                    values_out[push.base_out + element(cell.x, cell.y + r, k)] = REAL(next[r]);
            }
        }
        slot = slot + 1 == SLOTS ? 0 : slot + 1;
        barrier();
    }
}
