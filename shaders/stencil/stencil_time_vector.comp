// MODULE stencil_time_vector_* TYPES f32 f16 DEFINES WIDTH=4
// MODULE stencil_time_vector_* TYPES f64 DEFINES WIDTH=2
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star of radius 1 with STEPS steps a pass over memory (temporal blocking), as stencil_time.comp,
// but each work-item has a block of WIDTH x ROWS cells: the cells of a block find each other in
// registers, and only its edges go through shared memory. At front t plane t of the block arrives
// at level 0. A plane that arrives at a level is the last neighbour that the sums of the plane
// before it wait for: these are then complete, and arrive as a plane of the next level at the same
// front. After a barrier the edges can be read, and all terms but the last are added to the sums of
// the planes that arrived. Where BUFFERS is 1, a second barrier keeps the next front from
// overwriting edges that are still read; where it is 2, the next front's edges lie in the other
// buffer. What a level reads beyond the tile is wrong, so that each level
// loses a cell on every side: tiles overlap by STEPS cells on each side, along i by whole vectors,
// but not where the grid ends.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_MARCH) const int MARCH = 16;
layout(constant_id = STENCIL_ID_STEPS) const int STEPS = 2;
layout(constant_id = STENCIL_ID_ROWS) const int ROWS = 1;
layout(constant_id = STENCIL_ID_BUFFERS) const int BUFFERS = 2;
#define UNIFORM_TAPS
#include "stencil_problem.glsl"
// Components of vectors have names here, since compilers keep indexed vectors in memory.
#define VEC LOADED_ACC
#if WIDTH == 4
#define BVEC bvec4
#define EACH(f) VEC(f(0), f(1), f(2), f(3))
#define EACH_BOOL(f) BVEC(f(0), f(1), f(2), f(3))
#define FIRST(v) (v).x
#define LAST(v) (v).w
#define TO_WEST(edge, v) VEC(edge, (v).xyz)
#define TO_EAST(v, edge) VEC((v).yzw, edge)
#define MIDDLE vec2
#define MIDDLE_OF(v) (v).yz
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
const int KEPT_I = TILE_I - 2 * OVERLAP_I, KEPT_J = TILE_J - 2 * OVERLAP_J;
const int TAP_K = FLAT != 0 ? 3 : 5;
// Whether there are registers to spare for values that are otherwise computed anew at each front.
// In three dimensions a few more than 128 registers a work-item cost a fifth of the speed of f32,
// and three quarters of f64's.
#ifdef WF_TYPE_F16
const bool SPARE = true;
#else
const bool SPARE = FLAT != 0;
#endif

// Shared memory holds, for each level and buffer, every work-item's first and last column, and what
// lies between them of its first and last row. So it holds each word once, and the words that a
// subgroup reads together lie in different banks.
const int COLUMN = ROWS * ITEMS, EDGE_ROWS = ROWS > 1 ? 2 : 1;
shared ACC columns[STEPS * BUFFERS * 2 * COLUMN];
#ifdef MIDDLE
shared MIDDLE middles[FLAT != 0 ? 1 : STEPS * BUFFERS * EDGE_ROWS * ITEMS];
#endif

// The first (edge 0) or last (EDGE_ROWS - 1) row of a work-item's block, from the level and buffer
// that begin at `at`.
VEC edge_row(int at, int edge, int item)
{
    int column = at * 2 * ROWS + (edge == 0 ? 0 : COLUMN - ITEMS) + item;
#ifdef MIDDLE
    return VEC(columns[column], middles[(at * EDGE_ROWS) + edge * ITEMS + item],
               columns[column + COLUMN]);
#else
    return VEC(columns[column], columns[column + COLUMN]);
#endif
}

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

// WIDTH cells from i0 on of the row that starts at `row`; `column` is the cell that the border puts
// at i0.
VEC load_row(uint row, int i0, uint column)
{
    if (EVEN != 0)
        return widened(loaded_in[(row + column) / WIDTH]);
#define LOAD(n) ACC(values_in[row + uint(mapped(i0 + n, push.ni))])
    return EACH(LOAD);
}

void store_row(VEC cells, int i0, uint at)
{
    if (EVEN != 0 || i0 + WIDTH <= push.ni) {
        loaded_out[at / WIDTH] = narrowed(cells);
        return;
    }
    [[unroll]] for (int n = 0; n < WIDTH; n++)
        if (i0 + n < push.ni)
            values_out[at + uint(n)] = REAL(cells[n]);
}

void main()
{
    if (stopped()) // it is the same for all work-items
        return;
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y), item = y * ITEMS_I + x;
    int tile_i = first_i() + int(gl_WorkGroupID.x) * KEPT_I,
        tile_j = first_j() + int(gl_WorkGroupID.y) * KEPT_J;
    // A grid that is periodic has no ends, and a piece may begin within it.
    if (BORDER == STENCIL_PERIODIC || first_i() > 0)
        tile_i -= OVERLAP_I;
    if (BORDER == STENCIL_PERIODIC || first_j() > 0)
        tile_j -= OVERLAP_J;
    int i0 = tile_i + x * WIDTH, j0 = tile_j + y * ROWS;
    int first = push.first + int(gl_WorkGroupID.z) * MARCH, end = min(first + MARCH, push.end);
    int most = end + STEPS - 1; // the last plane that is loaded
    // Where neighbouring work-items have their last and first column. At the tile's sides a
    // work-item is its own neighbour: cells there are wrong anyway.
    int west = COLUMN + (x > 0 ? item - 1 : item), east = x < ITEMS_I - 1 ? item + 1 : item;
    int north = y > 0 ? item - ITEMS_I : item,
        south = y < int(gl_WorkGroupSize.y) - 1 ? item + ITEMS_I : item;
    bool open = BORDER != STENCIL_PERIODIC; // the grid has ends
    bool starts_i = open && tile_i == 0, ends_i = open && tile_i + TILE_I >= push.ni,
         starts_j = open && tile_j == 0, ends_j = open && tile_j + TILE_J >= push.nj;
    bool rim = starts_i || ends_i || (FLAT == 0 && (starts_j || ends_j)); // the grid's
    bool kept_i = (x * WIDTH >= OVERLAP_I || starts_i) &&
                  (x * WIDTH < TILE_I - OVERLAP_I || ends_i) && i0 >= first_i() && i0 < end_i();
#define EASTMOST(n) (i0 + n == push.ni - 1)
    BVEC eastmost = EACH_BOOL(EASTMOST);
    // With a mirrored border a cell at the grid's end is its own neighbour.
    if (BORDER == STENCIL_NEUMANN && i0 == 0)
        west = item;
    if (BORDER == STENCIL_NEUMANN && EVEN != 0 && i0 + WIDTH == push.ni)
        east = COLUMN + item;

    ACC taps[7];
    [[unroll]] for (int n = 0; n < TAP_K + 2; n++)
        taps[n] = tap_at(n);
    // Registers hold the sums of each level's last plane, and its last two planes. The plane that
    // arrives takes the place of the one before the last: fronts come in pairs, so that no plane is
    // moved.
    VEC sum[STEPS][ROWS], planes[2][STEPS + 1][ROWS], coming[ROWS];
    uint from[ROWS], to[ROWS], column = uint(mapped(i0, push.ni)), fixed_cells = 0, kept_rows = 0;
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        int row = y * ROWS + r;
        from[r] = push.base_in + element(0, mapped(j0 + r, push.nj), 0);
        to[r] = push.base_out + element(i0, j0 + r, first);
        coming[r] =
            load_row(from[r] + uint(mapped(first - STEPS, push.nk)) * push.plane, i0, column);
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (fixed_at(i0 + n, push.ni) || (FLAT == 0 && fixed_at(j0 + r, push.nj)))
                fixed_cells |= 1u << (r * WIDTH + n);
        if (kept_i && (row >= OVERLAP_J || starts_j) && (row < TILE_J - OVERLAP_J || ends_j) &&
            j0 + r >= first_j() && j0 + r < end_j())
            kept_rows |= 1u << r;
        [[unroll]] for (int s = 0; s < STEPS; s++)
            planes[0][s][r] = planes[1][s][r] = sum[s][r] = VEC(0);
    }
    for (int pair = first - STEPS; pair <= most; pair += 2) {
        // Whether some cell that the pair of fronts updates keeps its value.
        bool some_fixed = rim || fixed_at(pair - STEPS, push.nk) || fixed_at(pair, push.nk);
        [[unroll]] for (int now = 0; now < 2; now++) {
            int front = pair + now, was = 1 - now, slot = BUFFERS == 2 ? now : 0;
            uint plane = uint(mapped(min(front + 1, most), push.nk)) * push.plane;
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                planes[now][0][r] = coming[r];
                coming[r] = load_row(from[r] + plane, i0, column);
            }
            [[unroll]] for (int s = 0; s < STEPS; s++) {
                int k = front - s - 1; // the plane whose sums are complete now
                bool mirrored = BORDER == STENCIL_NEUMANN && k == push.nk - 1;
                int at = (BUFFERS * s + slot) * ITEMS;
                [[unroll]] for (int r = 0; r < ROWS; r++) {
                    VEC arrived = planes[now][s][r];
                    columns[at * 2 * ROWS + r * ITEMS + item] = FIRST(arrived);
                    columns[at * 2 * ROWS + COLUMN + r * ITEMS + item] = LAST(arrived);
#ifdef MIDDLE
                    if (FLAT == 0 && (r == 0 || r == ROWS - 1))
                        middles[at * EDGE_ROWS + (r == 0 ? 0 : ITEMS) + item] = MIDDLE_OF(arrived);
#endif
                    planes[now][s + 1][r] = rounded_each(
                        add(taps[TAP_K + 1], mirrored ? planes[was][s][r] : arrived, sum[s][r]));
                }
                bool fixed_k = fixed_at(k, push.nk);
                if (BORDER == STENCIL_DIRICHLET && (SPARE ? some_fixed : rim || fixed_k)) {
                    uint kept = fixed_k ? 0xffffffffu : fixed_cells;
#define FIXED(n) ((kept & 1u << (r * WIDTH + n)) != 0u)
                    [[unroll]] for (int r = 0; r < ROWS; r++)
                        planes[now][s + 1][r] =
                            mix(planes[now][s + 1][r], planes[was][s][r], EACH_BOOL(FIXED));
                }
            }
            int made = front - STEPS;
            if (made >= first && made < end)
                [[unroll]] for (int r = 0; r < ROWS; r++)
                    if ((kept_rows & 1u << r) != 0u)
                        store_row(planes[now][STEPS][r], i0,
                                  SPARE ? to[r] + uint(made - first) * push.plane
                                        : push.base_out + element(i0, j0 + r, made));
            barrier();
            [[unroll]] for (int s = 0; s < STEPS; s++) {
                bool mirrored = BORDER == STENCIL_NEUMANN && front - s == 0;
                int at = (BUFFERS * s + slot) * ITEMS;
                [[unroll]] for (int r = 0; r < ROWS; r++) {
                    VEC own = planes[now][s][r];
                    VEC to_west = TO_WEST(columns[at * 2 * ROWS + r * ITEMS + west], own);
                    VEC to_east = TO_EAST(own, columns[at * 2 * ROWS + r * ITEMS + east]);
                    if (BORDER == STENCIL_NEUMANN && EVEN == 0)
                        to_east = mix(to_east, own, eastmost);
                    VEC next = first_term(taps[0], own);
                    next = add(taps[1], to_west, next);
                    next = add(taps[2], to_east, next);
                    if (FLAT == 0) {
                        VEC above, below;
                        if (r > 0)
                            above = planes[now][s][max(r - 1, 0)];
                        else
                            above = edge_row(at, EDGE_ROWS - 1, north);
                        if (r + 1 < ROWS)
                            below = planes[now][s][min(r + 1, ROWS - 1)];
                        else
                            below = edge_row(at, 0, south);
                        // No tile begins before the grid's first row.
                        if (BORDER == STENCIL_NEUMANN && r == 0)
                            above = mix(above, own, BVEC(j0 == 0));
                        if (BORDER == STENCIL_NEUMANN)
                            below = mix(below, own, BVEC(j0 + r == push.nj - 1));
                        next = add(taps[3], above, next);
                        next = add(taps[4], below, next);
                    }
                    sum[s][r] = add(taps[TAP_K], mirrored ? own : planes[was][s][r], next);
                }
            }
            if (BUFFERS == 1)
                barrier();
        }
    }
}
