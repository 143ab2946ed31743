#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star of radius 1, STEPS steps a pass over memory (temporal blocking), as grid_time.comp but with a
// block of WIDTH x ROWS cells an item: a block's cells are each other's neighbours in registers, and
// only its edges go through shared memory. In turn t plane t of the block arrives at level 0. A plane
// that arrives at a level is the last neighbour that the sums of the plane before it wait for: these
// are then the next level's plane, which arrives there in the same turn. After the one barrier of a
// turn the edges are there, and the sums of the planes that arrived are made but for their last term.
// What a level gets from beyond the tile is wrong, a cell more of it each level: tiles overlap by STEPS
// cells on each side, along i by whole vectors.
#include "grid_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = GRID_ID_MARCH) const int MARCH = 16;
layout(constant_id = GRID_ID_STEPS) const int STEPS = 2;
layout(constant_id = GRID_ID_ROWS) const int ROWS = 1;
#include "grid_problem.glsl"
// Vectors are taken apart by name: compilers keep in memory what is indexed.
#define VEC LOADED_ACC
#if WIDTH == 4
#define BVEC bvec4
#define EACH(f) VEC(f(0), f(1), f(2), f(3))
#define EACH_BOOL(f) BVEC(f(0), f(1), f(2), f(3))
#define FIRST(v) (v).x
#define LAST(v) (v).w
#define TO_WEST(edge, v) VEC(edge, (v).xyz)
#define TO_EAST(v, edge) VEC((v).yzw, edge)
#else
#define BVEC bvec2
#define EACH(f) VEC(f(0), f(1))
#define EACH_BOOL(f) BVEC(f(0), f(1))
#define FIRST(v) (v).x
#define LAST(v) (v).y
#define TO_WEST(edge, v) VEC(edge, (v).x)
#define TO_EAST(v, edge) VEC((v).y, edge)
#endif

const int OVERLAP_I = (STEPS + WIDTH - 1) / WIDTH * WIDTH;
const int OVERLAP_J = FLAT != 0 ? 0 : STEPS;
const int ITEMS_I = int(gl_WorkGroupSize.x), ITEMS = ITEMS_I * int(gl_WorkGroupSize.y);
const int TILE_I = ITEMS_I * WIDTH, TILE_J = int(gl_WorkGroupSize.y) * ROWS;
const int TAP_K = FLAT != 0 ? 3 : 5;

// Of two turns and each level: every item's first and last column, and its first and last row.
const int COLUMN = ROWS * ITEMS;
shared ACC columns[STEPS * 2 * 2 * COLUMN];
shared VEC rows[FLAT != 0 ? 1 : STEPS * 2 * 2 * ITEMS];

VEC add(ACC tap, VEC cells, VEC sum)
{
    precise VEC next = fma(VEC(tap), cells, sum);
    return next;
}

VEC first_term(ACC tap, VEC cells)
{
    precise VEC next = VEC(tap) * cells;
    return next;
}

VEC rounded_each(VEC v)
{
#ifdef WF_TYPE_F16
    return VEC(rounded(v.x), rounded(v.y), rounded(v.z), rounded(v.w));
#else
    return v;
#endif
}

// Cells i0 … of the row that starts at `row`.
VEC load_row(uint row, int i0, bool whole)
{
    if (whole)
        return VEC(loaded_in[(row + uint(i0)) / WIDTH]);
#define LOAD(n) ACC(values_in[row + uint(mapped(i0 + n, push.ni))])
    return EACH(LOAD);
}

void store_row(VEC cells, int i0, int j, int k, bool whole)
{
    uint at = push.base_out + element(i0, j, k);
    if (whole) {
        loaded_out[at / WIDTH] = LOADED(cells);
        return;
    }
    [[unroll]] for (int n = 0; n < WIDTH; n++)
        if (i0 + n < push.ni)
            values_out[at + uint(n)] = REAL(cells[n]);
}

void main()
{
    if (stopped()) // all work-items see the same
        return;
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y), item = y * ITEMS_I + x;
    int tile_i = int(gl_WorkGroupID.x) * (TILE_I - 2 * OVERLAP_I) - OVERLAP_I,
        tile_j = int(gl_WorkGroupID.y) * (TILE_J - 2 * OVERLAP_J) - OVERLAP_J;
    int i0 = tile_i + x * WIDTH, j0 = tile_j + y * ROWS;
    int first = push.first + int(gl_WorkGroupID.z) * MARCH, end = min(first + MARCH, push.end);
    int most = end + STEPS - 1; // the last plane that is loaded
    // Items at the sides; itself at the tile's rim, where nothing right is left.
    int west = x > 0 ? item - 1 : item, east = x < ITEMS_I - 1 ? item + 1 : item;
    int north = y > 0 ? item - ITEMS_I : item,
        south = y < int(gl_WorkGroupSize.y) - 1 ? item + ITEMS_I : item;
    bool rim = tile_i <= 0 || tile_i + TILE_I >= push.ni ||
               (FLAT == 0 && (tile_j <= 0 || tile_j + TILE_J >= push.nj)); // of the grid
    bool whole = i0 >= 0 && i0 + WIDTH <= push.ni;
    bool kept_i = x * WIDTH >= OVERLAP_I && x * WIDTH < TILE_I - OVERLAP_I && i0 < push.ni;
#define FIXED(n) fixed_at(i0 + n, push.ni)
#define WESTMOST(n) (i0 + n == 0)
#define EASTMOST(n) (i0 + n == push.ni - 1)
    BVEC fixed_i = EACH_BOOL(FIXED), westmost = EACH_BOOL(WESTMOST), eastmost = EACH_BOOL(EASTMOST);

    ACC taps[7];
    [[unroll]] for (int n = 0; n < TAP_K + 2; n++)
        taps[n] = coefficients[n];
    VEC last[STEPS][ROWS], sum[STEPS][ROWS]; // of each level: the last plane, and its sums
    VEC planes[STEPS + 1][ROWS], coming[ROWS];
    uint from[ROWS];
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        from[r] = push.base_in + element(0, mapped(j0 + r, push.nj), 0);
        coming[r] = load_row(from[r] + uint(mapped(first - STEPS, push.nk)) * push.plane, i0, whole);
        [[unroll]] for (int s = 0; s < STEPS; s++)
            last[s][r] = sum[s][r] = VEC(0);
    }
    int slot = 0;
    for (int turn = first - STEPS; turn <= most; turn++) {
        uint plane = uint(mapped(min(turn + 1, most), push.nk)) * push.plane;
        [[unroll]] for (int r = 0; r < ROWS; r++) {
            planes[0][r] = coming[r];
            coming[r] = load_row(from[r] + plane, i0, whole);
        }
        [[unroll]] for (int s = 0; s < STEPS; s++) {
            int k = turn - s - 1; // the plane whose sums are complete now
            bool fixed_k = fixed_at(k, push.nk), mirrored = BORDER == GRID_NEUMANN && k == push.nk - 1;
            int at = (2 * s + slot) * 2 * ITEMS;
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                columns[at * ROWS + r * ITEMS + item] = FIRST(planes[s][r]);
                columns[at * ROWS + COLUMN + r * ITEMS + item] = LAST(planes[s][r]);
                VEC next = rounded_each(
                    add(taps[TAP_K + 1], mirrored ? last[s][r] : planes[s][r], sum[s][r]));
                if (BORDER == GRID_DIRICHLET && (rim || fixed_k)) {
                    bool all_fixed = fixed_k || (FLAT == 0 && fixed_at(j0 + r, push.nj));
                    next = mix(next, last[s][r], all_fixed ? BVEC(true) : fixed_i);
                }
                planes[s + 1][r] = next;
            }
            if (FLAT == 0) {
                rows[at + item] = planes[s][0];
                rows[at + ITEMS + item] = planes[s][ROWS - 1];
            }
        }
        int made = turn - STEPS;
        if (kept_i && made >= first && made < end)
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                int row = y * ROWS + r;
                if (row >= OVERLAP_J && row < TILE_J - OVERLAP_J && j0 + r < push.nj)
                    store_row(planes[STEPS][r], i0, j0 + r, made, whole);
            }
        barrier();
        [[unroll]] for (int s = 0; s < STEPS; s++) {
            bool mirrored = BORDER == GRID_NEUMANN && turn - s == 0;
            int at = (2 * s + slot) * 2 * ITEMS;
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                VEC own = planes[s][r];
                VEC to_west = TO_WEST(columns[at * ROWS + COLUMN + r * ITEMS + west], own);
                VEC to_east = TO_EAST(own, columns[at * ROWS + r * ITEMS + east]);
                // Mirrored, a cell at the border is its own neighbour.
                if (BORDER == GRID_NEUMANN && rim) {
                    to_west = mix(to_west, own, westmost);
                    to_east = mix(to_east, own, eastmost);
                }
                VEC next = first_term(taps[0], own);
                next = add(taps[1], to_west, next);
                next = add(taps[2], to_east, next);
                if (FLAT == 0) {
                    VEC above, below;
                    if (r > 0)
                        above = planes[s][max(r - 1, 0)];
                    else
                        above = rows[at + ITEMS + north];
                    if (r + 1 < ROWS)
                        below = planes[s][min(r + 1, ROWS - 1)];
                    else
                        below = rows[at + south];
                    if (BORDER == GRID_NEUMANN && rim) {
                        above = j0 + r == 0 ? own : above;
                        below = j0 + r == push.nj - 1 ? own : below;
                    }
                    next = add(taps[3], above, next);
                    next = add(taps[4], below, next);
                }
                sum[s][r] = add(taps[TAP_K], mirrored ? own : last[s][r], next);
            }
            [[unroll]] for (int r = 0; r < ROWS; r++)
                last[s][r] = planes[s][r];
        }
        slot = 1 - slot;
    }
}
