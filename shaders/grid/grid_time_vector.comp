#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star of radius 1, STEPS steps a pass over memory (temporal blocking), as grid_time.comp but with a
// block of WIDTH x ROWS cells an item: a block's cells are each other's neighbours in registers, and
// only its edges go through shared memory. In turn t an item loads plane t of its block (level 0); step
// s makes plane t - s of level s from the last two planes of level s - 1, which are in registers, and
// from the one that arrives. The edges of a level's plane are written in the turn in which it arrives
// and read in the next, so that a turn needs one barrier; two turns are written out, so that planes
// change names and not registers. What a level gets from beyond the tile is wrong, a cell more of it
// each level: tiles overlap by STEPS cells on each side, along i by whole vectors.
#include "grid_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = GRID_ID_MARCH) const int MARCH = 16;
layout(constant_id = GRID_ID_STEPS) const int STEPS = 2;
layout(constant_id = GRID_ID_ROWS) const int ROWS = 1;
#include "grid_problem.glsl"
#define VEC LOADED_ACC

const int OVERLAP_I = (STEPS + WIDTH - 1) / WIDTH * WIDTH;
const int OVERLAP_J = FLAT != 0 ? 0 : STEPS;
const int ITEMS_I = int(gl_WorkGroupSize.x), ITEMS = ITEMS_I * int(gl_WorkGroupSize.y);
const int TILE_I = ITEMS_I * WIDTH, TILE_J = int(gl_WorkGroupSize.y) * ROWS;
const int TAPS = FLAT != 0 ? 5 : 7, TAP_K = TAPS - 2;

// Edges of a block, each one vector an item: columns of ROWS cells at its west and east, of which a
// vector holds WIDTH, and its first and last row.
const int COLUMN = (ROWS + WIDTH - 1) / WIDTH;
const int WEST = 0, EAST = COLUMN * ITEMS, FIRST = 2 * COLUMN * ITEMS, LAST = FIRST + ITEMS;
const int PLANE = FLAT != 0 ? FIRST : LAST + ITEMS; // edges of one plane of a level
shared VEC edges[STEPS * 2 * PLANE];

int i0, j0;                    // the block's first cell
int item, west, east, north, south; // this item and those at its sides; itself at the tile's rim
bool rim;                      // the tile touches a border along i or j
bool whole;                    // all cells of the block's rows are cells of the grid

void load_block(uint from[ROWS], int k, out VEC block[ROWS])
{
    uint plane = uint(mapped(k, push.nk)) * push.plane;
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        if (whole) {
            block[r] = VEC(loaded_in[(from[r] + plane + uint(i0)) / WIDTH]);
        } else {
            [[unroll]] for (int n = 0; n < WIDTH; n++)
                block[r][n] = ACC(values_in[from[r] + plane + uint(mapped(i0 + n, push.ni))]);
        }
    }
}

void store_block(VEC block[ROWS], int k)
{
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        int y = j0 + r - int(gl_WorkGroupID.y) * (TILE_J - 2 * OVERLAP_J);
        if (y < 0 || y >= TILE_J - 2 * OVERLAP_J || j0 + r >= push.nj)
            continue;
        uint at = push.base_out + element(i0, j0 + r, k);
        if (whole) {
            loaded_out[at / WIDTH] = LOADED(block[r]);
        } else {
            [[unroll]] for (int n = 0; n < WIDTH; n++)
                if (i0 + n < push.ni)
                    values_out[at + uint(n)] = REAL(block[r][n]);
        }
    }
}

void write_edges(int at, VEC block[ROWS])
{
    [[unroll]] for (int q = 0; q < COLUMN; q++) {
        VEC first = VEC(0), last = VEC(0);
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (q * WIDTH + n < ROWS) {
                first[n] = block[q * WIDTH + n][0];
                last[n] = block[q * WIDTH + n][WIDTH - 1];
            }
        edges[at + WEST + q * ITEMS + item] = first;
        edges[at + EAST + q * ITEMS + item] = last;
    }
    if (FLAT == 0) {
        edges[at + FIRST + item] = block[0];
        edges[at + LAST + item] = block[ROWS - 1];
    }
}

// The cells to the west of a block's, and to the east.
void shift_rows(int at, VEC here[ROWS], out VEC to_west[ROWS], out VEC to_east[ROWS])
{
    [[unroll]] for (int q = 0; q < COLUMN; q++) {
        VEC before = edges[at + EAST + q * ITEMS + west], after = edges[at + WEST + q * ITEMS + east];
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (q * WIDTH + n < ROWS) {
                int r = q * WIDTH + n;
                [[unroll]] for (int m = 0; m < WIDTH; m++) {
                    to_west[r][m] = m == 0 ? before[n] : here[r][m - 1];
                    to_east[r][m] = m == WIDTH - 1 ? after[n] : here[r][m + 1];
                }
            }
    }
    // Mirrored, a cell at the border is its own neighbour.
    if (BORDER == GRID_NEUMANN && rim)
        [[unroll]] for (int r = 0; r < ROWS; r++)
            [[unroll]] for (int n = 0; n < WIDTH; n++) {
                if (i0 + n == 0)
                    to_west[r][n] = here[r][n];
                if (i0 + n == push.ni - 1)
                    to_east[r][n] = here[r][n];
            }
}

VEC add(ACC tap, VEC cells, VEC sum)
{
    precise VEC next = fma(VEC(tap), cells, sum);
    return next;
}

// Row r of a block's plane k a step on; `at` is where the edges of `here` are.
VEC star(ACC taps[7], int r, VEC to_west, VEC to_east, VEC before, VEC here[ROWS], VEC after, int at,
         int k)
{
    VEC own = here[r];
    precise VEC sum = VEC(taps[0]) * own;
    sum = add(taps[1], to_west, sum);
    sum = add(taps[2], to_east, sum);
    if (FLAT == 0) {
        VEC above = r > 0 ? here[max(r - 1, 0)] : edges[at + LAST + north];
        VEC below = r + 1 < ROWS ? here[min(r + 1, ROWS - 1)] : edges[at + FIRST + south];
        if (BORDER == GRID_NEUMANN && rim) {
            above = j0 + r == 0 ? own : above;
            below = j0 + r == push.nj - 1 ? own : below;
        }
        sum = add(taps[3], above, sum);
        sum = add(taps[4], below, sum);
    }
    bool first = BORDER == GRID_NEUMANN && k == 0, last = BORDER == GRID_NEUMANN && k == push.nk - 1;
    sum = add(taps[TAP_K], first ? own : before, sum);
    sum = add(taps[TAP_K + 1], last ? own : after, sum);
    [[unroll]] for (int n = 0; n < WIDTH; n++)
        sum[n] = rounded(sum[n]);
    if (BORDER == GRID_DIRICHLET && (rim || fixed_at(k, push.nk))) {
        bool all_fixed = fixed_at(k, push.nk) || (FLAT == 0 && fixed_at(j0 + r, push.nj));
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (all_fixed || fixed_at(i0 + n, push.ni))
                sum[n] = own[n];
    }
    return sum;
}

// Places in the grid and in the work-group.
void find_places()
{
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y);
    int tile_i = int(gl_WorkGroupID.x) * (TILE_I - 2 * OVERLAP_I) - OVERLAP_I,
        tile_j = int(gl_WorkGroupID.y) * (TILE_J - 2 * OVERLAP_J) - OVERLAP_J;
    i0 = tile_i + x * WIDTH;
    j0 = tile_j + y * ROWS;
    item = y * ITEMS_I + x;
    west = x > 0 ? item - 1 : item;
    east = x < ITEMS_I - 1 ? item + 1 : item;
    north = y > 0 ? item - ITEMS_I : item;
    south = y < int(gl_WorkGroupSize.y) - 1 ? item + ITEMS_I : item;
    rim = tile_i <= 0 || tile_i + TILE_I >= push.ni ||
          (FLAT == 0 && (tile_j <= 0 || tile_j + TILE_J >= push.nj));
    whole = i0 >= 0 && i0 + WIDTH <= push.ni;
}

void main()
{
    if (stopped()) // all work-items see the same
        return;
    find_places();
    int x = int(gl_LocalInvocationID.x) * WIDTH;
    bool kept = x >= OVERLAP_I && x < TILE_I - OVERLAP_I && i0 < push.ni;
    int start = push.first + int(gl_WorkGroupID.z) * MARCH, end = min(start + MARCH, push.end);
    int most = end + STEPS - 1; // the last plane that is loaded
    ACC taps[7];
    [[unroll]] for (int n = 0; n < TAPS; n++)
        taps[n] = coefficients[n];
    uint from[ROWS];
    [[unroll]] for (int r = 0; r < ROWS; r++)
        from[r] = push.base_in + element(0, mapped(j0 + r, push.nj), 0);
    VEC planes[STEPS][2][ROWS]; // of each level the last two, which take turns
    [[unroll]] for (int s = 0; s < STEPS; s++)
        [[unroll]] for (int r = 0; r < ROWS; r++)
            planes[s][0][r] = planes[s][1][r] = VEC(0);
    VEC coming[ROWS], arriving[ROWS], to_west[ROWS], to_east[ROWS];
    load_block(from, start - STEPS, coming);
    for (int turns = start - STEPS; turns <= most; turns += 2)
        [[unroll]] for (int p = 0; p < 2; p++) {
            int turn = turns + p;
            [[unroll]] for (int r = 0; r < ROWS; r++)
                arriving[r] = coming[r];
            load_block(from, min(turn + 1, most), coming);
            [[unroll]] for (int s = 0; s < STEPS; s++) {
                int k = turn - s - 1, at = (2 * s + 1 - p) * PLANE;
                write_edges((2 * s + p) * PLANE, arriving);
                shift_rows(at, planes[s][1 - p], to_west, to_east);
                [[unroll]] for (int r = 0; r < ROWS; r++) {
                    VEC next = star(taps, r, to_west[r], to_east[r], planes[s][p][r],
                                    planes[s][1 - p], arriving[r], at, k);
                    planes[s][p][r] = arriving[r];
                    arriving[r] = next;
                }
            }
            int made = turn - STEPS;
            if (kept && made >= start && made < end)
                store_block(arriving, made);
            barrier();
        }
}
