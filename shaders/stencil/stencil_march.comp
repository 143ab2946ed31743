// MODULE stencil_march_*
// MODULE stencil_vector_* TYPES f32 f16 DEFINES WIDTH=4
// MODULE stencil_vector_* TYPES f64 DEFINES WIDTH=2
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star or box stencil in columns: a work-item updates CELLS neighbouring cells along i of MARCH
// planes. For a star it keeps the planes of its column in registers; for a box it keeps the sums of
// the planes that the one that it loads is a neighbour of. With WIDTH it loads vectors, or cells
// one by one where rows do not start where vectors do. Compilers wait for a load within a branch
// before the next one begins: where rows are whole vectors (EVEN) no load is in a branch, so that
// all loads of a plane are under way together.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_MARCH) const int MARCH = 4;
#define UNIFORM_TAPS
#include "stencil_problem.glsl"
#ifdef WIDTH
#define CELLS WIDTH
#define AS_LOADED LOADED
#else
#define CELLS 1
#define AS_LOADED ACC
#endif

const int COLUMN = 2 * RADIUS + 1, SIDE_J = 2 * RADIUS_J + 1;
const int SIDE = (RADIUS + CELLS - 1) / CELLS; // vectors that hold the cells to one side
const int WINDOW = (2 * SIDE + 1) * CELLS;
// Loading more than one cell at each side by vectors takes less time than loading them one by one,
// although a few are not needed; a single cell is loaded by itself.
const bool SIDES_BY_VECTORS = RADIUS > 1 && CELLS > 1;
// Coefficients of a box that a work-item keeps in registers: all or none.
#define MOST_TAPS_HELD 49
const int TAPS = COLUMN * COLUMN * SIDE_J;
const int TAPS_HELD = SHAPE == STENCIL_BOX && TAPS <= MOST_TAPS_HELD ? TAPS : 0;
// The code of larger boxes would be thousands of operations.
const bool BOX_BY_PLANES = RADIUS <= 2 || FLAT != 0;

int i0;             // the work-item's first cell
bool whole;         // its cells are all cells of the grid
bool inside;        // those of its window are too
uint fixed_cells;   // bit n: cell n keeps its value in every plane
int before[RADIUS]; // the cells that stand for those 1, 2 … before the first one and after the last
int after[RADIUS];

struct Cells {
    ACC v[CELLS];
};

// The work-item's cells of the row that starts at `row`.
AS_LOADED load_own(uint row)
{
#ifdef WIDTH
    if (ALIGNED != 0 && (EVEN != 0 || whole))
        return loaded_in[(row + uint(i0)) / WIDTH];
    LOADED_ACC cells;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        cells[n] = ACC(values_in[row + uint(min(i0 + n, push.ni - 1))]);
    return narrowed(cells);
#else
    return ACC(values_in[row + uint(i0)]);
#endif
}

Cells cells_of(AS_LOADED loaded)
{
    Cells cells;
#ifdef WIDTH
    LOADED_ACC wide = widened(loaded);
    [[unroll]] for (int n = 0; n < CELLS; n++)
        cells.v[n] = wide[n];
#else
    cells.v[0] = loaded;
#endif
    return cells;
}

Cells load_cells(uint row)
{
    return cells_of(load_own(row));
}

// The work-item's cells, which are `own`, and those on either side. The nearest RADIUS of these are
// right, the others are there since loads are whole vectors.
void load_window(uint row, Cells own, out ACC window[WINDOW])
{
    [[unroll]] for (int n = 0; n < CELLS; n++)
        window[SIDE * CELLS + n] = own.v[n];
#ifdef WIDTH
    // With a fixed border every cell that is updated has all its neighbours within the grid.
    bool always = EVEN != 0 && BORDER == STENCIL_DIRICHLET;
    if (SIDES_BY_VECTORS && ALIGNED != 0 && (always || inside)) {
        [[unroll]] for (int q = 0; q < 2 * SIDE + 1; q++) {
            if (q == SIDE)
                continue;
            int at = i0 + (q - SIDE) * WIDTH;
            if (always)
                at = clamp(at, 0, push.ni - WIDTH);
            LOADED_ACC wide = widened(loaded_in[(row + uint(at)) / WIDTH]);
            [[unroll]] for (int n = 0; n < CELLS; n++)
                window[q * CELLS + n] = wide[n];
        }
        return;
    }
#endif
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        window[SIDE * CELLS - d] = ACC(values_in[row + uint(before[d - 1])]);
        window[SIDE * CELLS + CELLS - 1 + d] = ACC(values_in[row + uint(after[d - 1])]);
    }
    // Cells past the row's end must hold the cells that the border puts there.
    if (EVEN == 0 && !whole)
        [[unroll]] for (int n = 1; n < CELLS; n++)
            if (i0 + n >= push.ni)
                window[SIDE * CELLS + n] = ACC(values_in[row + uint(mapped(i0 + n, push.ni))]);
}

void store_cells(Cells cells, int j, int k)
{
    uint at = push.base_out + element(i0, j, k);
#ifdef WIDTH
    if (ALIGNED != 0 && (EVEN != 0 || whole)) {
        LOADED_ACC wide;
        [[unroll]] for (int n = 0; n < CELLS; n++)
            wide[n] = cells.v[n];
        loaded_out[at / WIDTH] = narrowed(wide);
        return;
    }
#endif
    [[unroll]] for (int n = 0; n < CELLS; n++)
        if (i0 + n < push.ni)
            values_out[at + uint(n)] = REAL(cells.v[n]);
}

void add(inout Cells sum, ACC tap, Cells cells)
{
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC next = fma(tap, cells.v[n], sum.v[n]);
        sum.v[n] = next;
    }
}

void add_window(inout Cells sum, ACC tap, ACC window[WINDOW], int d)
{
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC next = fma(tap, window[SIDE * CELLS + n + d], sum.v[n]);
        sum.v[n] = next;
    }
}

uint plane_at(int k)
{
    return uint(mapped(k, push.nk)) * push.plane;
}

void store_updated(Cells next, Cells centre, int j, int k)
{
    [[unroll]] for (int n = 0; n < CELLS; n++)
        next.v[n] = rounded(next.v[n]);
    if (BORDER == STENCIL_DIRICHLET && RADIUS > 1) {
        bool all_fixed = (FLAT == 0 && fixed_at(j, push.nj)) || fixed_at(k, push.nk);
        [[unroll]] for (int n = 0; n < CELLS; n++)
            if (all_fixed || fixed_at(i0 + n, push.ni))
                next.v[n] = centre.v[n];
    } else if (BORDER == STENCIL_DIRICHLET) {
        uint kept = fixed_at(k, push.nk) ? 0xffffffffu : fixed_cells;
        if (kept != 0)
            [[unroll]] for (int n = 0; n < CELLS; n++)
                if ((kept & 1u << n) != 0)
                    next.v[n] = centre.v[n];
    }
    store_cells(next, j, k);
}

// Updates a plane of a box, and reads all rows of its neighbourhood.
void update_box(uint rows[SIDE_J], int j, int k)
{
    Cells sum, centre;
    int tap = 0;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        sum.v[n] = centre.v[n] = ACC(0);
    for (int dk = -RADIUS; dk <= RADIUS; dk++) {
        uint plane = plane_at(k + dk);
        for (int dj = 0; dj < SIDE_J; dj++) {
            ACC window[WINDOW];
            Cells own = load_cells(rows[dj] + plane);
            load_window(rows[dj] + plane, own, window);
            if (dk == 0 && dj == RADIUS_J)
                centre = own;
            [[unroll]] for (int d = -RADIUS; d <= RADIUS; d++)
                add_window(sum, tap_at(tap++), window, d);
        }
    }
    store_updated(sum, centre, j, k);
}

// The same of a single plane, with all loads of a small box under way together.
void update_box_at_once(uint rows[SIDE_J], int j, int k)
{
    Cells sum, centre;
    uint planes[COLUMN];
    [[unroll]] for (int n = 0; n < COLUMN; n++)
        planes[n] = plane_at(k + n - RADIUS);
    [[unroll]] for (int n = 0; n < CELLS; n++)
        sum.v[n] = ACC(0);
    [[unroll]] for (int dk = 0; dk < COLUMN; dk++)
        [[unroll]] for (int dj = 0; dj < SIDE_J; dj++) {
            ACC window[WINDOW];
            Cells own = load_cells(rows[dj] + planes[dk]);
            load_window(rows[dj] + planes[dk], own, window);
            if (dk == RADIUS && dj == RADIUS_J)
                centre = own;
            [[unroll]] for (int di = 0; di < COLUMN; di++)
                add_window(sum, tap_at((dk * SIDE_J + dj) * COLUMN + di), window,
                           di - RADIUS);
        }
    store_updated(sum, centre, j, k);
}

// Radius 1: each plane is loaded once and added to the sums of the three planes that it is a
// neighbour of, the oldest first. Planes come in the order of the coefficients, so that sums are
// made in that order.
void march_narrow_box(uint rows[SIDE_J], int j, int first, int end)
{
    ACC taps[27];
    [[unroll]] for (int n = 0; n < 9 * SIDE_J; n++)
        taps[n] = tap_at(n);
    Cells sums[3], centre, next_centre;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        sums[1].v[n] = sums[2].v[n] = next_centre.v[n] = ACC(0);
    for (int k = first - 2; k < end; k++) {
        uint plane = plane_at(k + 1);
        sums[0] = sums[1];
        sums[1] = sums[2];
        centre = next_centre;
        [[unroll]] for (int n = 0; n < CELLS; n++)
            sums[2].v[n] = ACC(0);
        [[unroll]] for (int dj = 0; dj < SIDE_J; dj++) {
            ACC window[WINDOW];
            Cells own = load_cells(rows[dj] + plane);
            load_window(rows[dj] + plane, own, window);
            if (dj == RADIUS_J)
                next_centre = own;
            [[unroll]] for (int di = 0; di < 3; di++)
                [[unroll]] for (int s = 0; s < 3; s++)
                    add_window(sums[s], taps[((2 - s) * SIDE_J + dj) * 3 + di], window, di - 1);
        }
        if (k >= first)
            store_updated(sums[0], centre, j, k);
    }
}

// The same of any radius. (With it llvmpipe takes four times as long for radius 1.)
void march_box(uint rows[SIDE_J], int j, int first, int end)
{
    ACC taps[MOST_TAPS_HELD];
    [[unroll]] for (int n = 0; n < TAPS_HELD; n++)
        taps[n] = tap_at(n);
    Cells sums[COLUMN], centres[RADIUS + 1];
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        [[unroll]] for (int s = 1; s < COLUMN; s++)
            sums[s].v[n] = ACC(0);
        [[unroll]] for (int s = 1; s <= RADIUS; s++)
            centres[s].v[n] = ACC(0);
    }
    for (int k = first - 2 * RADIUS; k < end; k++) {
        uint plane = plane_at(k + RADIUS);
        [[unroll]] for (int s = 0; s < COLUMN - 1; s++)
            sums[s] = sums[s + 1];
        [[unroll]] for (int s = 0; s < RADIUS; s++)
            centres[s] = centres[s + 1];
        [[unroll]] for (int n = 0; n < CELLS; n++)
            sums[COLUMN - 1].v[n] = ACC(0);
        [[unroll]] for (int dj = 0; dj < SIDE_J; dj++) {
            ACC window[WINDOW];
            Cells own = load_cells(rows[dj] + plane);
            load_window(rows[dj] + plane, own, window);
            if (dj == RADIUS_J)
                centres[RADIUS] = own;
            [[unroll]] for (int di = 0; di < COLUMN; di++)
                [[unroll]] for (int s = 0; s < COLUMN; s++) {
                    int tap = ((COLUMN - 1 - s) * SIDE_J + dj) * COLUMN + di;
                    add_window(sums[s], TAPS_HELD != 0 ? taps[tap] : tap_at(tap), window,
                               di - RADIUS);
                }
        }
        if (k >= first)
            store_updated(sums[0], centres[0], j, k);
    }
}

// For radius 1 in three dimensions: the loads of a plane begin while the plane before is computed.
// Compilers that save registers would load row by row instead.
void march_narrow_star(uint rows[SIDE_J], int j, int first, int end)
{
    ACC taps[7];
    [[unroll]] for (int n = 0; n < 5 + 2 * RADIUS_J; n++)
        taps[n] = tap_at(n);
    uint row = rows[RADIUS_J], plane = uint(first) * push.plane;
    Cells below = load_cells(row + plane_at(first - 1)), here = load_cells(row + plane);
    AS_LOADED coming = load_own(row + plane_at(first + 1)),
              coming_north = load_own(rows[0] + plane),
              coming_south = load_own(rows[2 * RADIUS_J] + plane);
    ACC west = ACC(values_in[row + plane + uint(before[0])]),
        east = ACC(values_in[row + plane + uint(after[0])]);
    for (int k = first; k < end; k++) {
        Cells above = cells_of(coming), north = cells_of(coming_north),
              south = cells_of(coming_south), sum;
        ACC window[WINDOW];
        [[unroll]] for (int n = 0; n < CELLS; n++)
            window[SIDE * CELLS + n] = here.v[n];
        window[SIDE * CELLS - 1] = west;
        window[SIDE * CELLS + CELLS] = east;
        int next = min(k + 1, end - 1);
        plane = uint(next) * push.plane;
        coming = load_own(row + plane_at(next + 1));
        coming_north = load_own(rows[0] + plane);
        coming_south = load_own(rows[2 * RADIUS_J] + plane);
        west = ACC(values_in[row + plane + uint(before[0])]);
        east = ACC(values_in[row + plane + uint(after[0])]);
        [[unroll]] for (int n = 0; n < CELLS; n++) {
            precise ACC own = taps[0] * here.v[n];
            sum.v[n] = own;
        }
        add_window(sum, taps[1], window, -1);
        add_window(sum, taps[2], window, 1);
        add(sum, taps[3], north);
        add(sum, taps[4], south);
        add(sum, taps[star_tap(AXIS_K, 1)], below);
        add(sum, taps[star_tap(AXIS_K, 1) + 1], above);
        store_updated(sum, here, j, k);
        below = here;
        here = above;
    }
}

void march_star(uint rows[SIDE_J], int j, int first, int end)
{
    ACC taps[25];
    Cells column[COLUMN];
    [[unroll]] for (int n = 0; n < 1 + 4 * RADIUS + 2 * RADIUS_J; n++)
        taps[n] = tap_at(n);
    [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
        column[n + 1] = load_cells(rows[RADIUS_J] + plane_at(first - RADIUS + n));
    AS_LOADED coming = load_own(rows[RADIUS_J] + plane_at(first + RADIUS));
    for (int k = first; k < end; k++) {
        uint plane = uint(k) * push.plane;
        ACC window[WINDOW];
        Cells sum;
        [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
            column[n] = column[n + 1];
        column[COLUMN - 1] = cells_of(coming);
        // This load is under way while the plane is computed.
        coming = load_own(rows[RADIUS_J] + plane_at(min(k + 1, end - 1) + RADIUS));
        load_window(rows[RADIUS_J] + plane, column[RADIUS], window);
        [[unroll]] for (int n = 0; n < CELLS; n++) {
            precise ACC own = taps[0] * window[SIDE * CELLS + n];
            sum.v[n] = own;
        }
        [[unroll]] for (int d = 1; d <= RADIUS; d++) {
            add_window(sum, taps[star_tap(0, d)], window, -d);
            add_window(sum, taps[star_tap(0, d) + 1], window, d);
        }
        [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
            add(sum, taps[star_tap(1, d)], load_cells(rows[RADIUS_J - d] + plane));
            add(sum, taps[star_tap(1, d) + 1], load_cells(rows[RADIUS_J + d] + plane));
        }
        [[unroll]] for (int d = 1; d <= RADIUS; d++) {
            add(sum, taps[star_tap(AXIS_K, d)], column[RADIUS - d]);
            add(sum, taps[star_tap(AXIS_K, d) + 1], column[RADIUS + d]);
        }
        store_updated(sum, column[RADIUS], j, k);
    }
}

void main()
{
    i0 = first_i() + int(gl_GlobalInvocationID.x) * CELLS;
    int j = first_j() + int(gl_GlobalInvocationID.y);
    int first = push.first + int(gl_GlobalInvocationID.z) * MARCH;
    int end = min(first + MARCH, push.end);
    if (i0 >= end_i() || j >= end_j() || first >= end || stopped())
        return;
    whole = i0 + CELLS <= push.ni;
    inside = i0 >= SIDE * CELLS && i0 + (SIDE + 1) * CELLS <= push.ni;
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        before[d - 1] = mapped(i0 - d, push.ni);
        after[d - 1] = mapped(i0 + CELLS - 1 + d, push.ni);
    }
    fixed_cells = 0;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        if (fixed_at(i0 + n, push.ni) || (FLAT == 0 && fixed_at(j, push.nj)))
            fixed_cells |= 1u << n;
    uint rows[SIDE_J];
    [[unroll]] for (int n = 0; n < SIDE_J; n++)
        rows[n] = push.base_in + element(0, mapped(j + n - RADIUS_J, push.nj), 0);
    if (SHAPE == STENCIL_STAR && RADIUS == 1 && FLAT == 0 && EVEN != 0)
        march_narrow_star(rows, j, first, end);
    else if (SHAPE == STENCIL_STAR)
        march_star(rows, j, first, end);
    else if (MARCH == 1 && TAPS_HELD != 0)
        update_box_at_once(rows, j, first);
    else if (RADIUS == 1)
        march_narrow_box(rows, j, first, end);
    else if (BOX_BY_PLANES)
        march_box(rows, j, first, end);
    else
        for (int k = first; k < end; k++)
            update_box(rows, j, k);
}
