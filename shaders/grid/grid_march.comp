#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star or box stencil in columns: a work-item updates CELLS neighbouring cells along i of MARCH
// planes. For a star it keeps the planes of its column in registers; for a box of radius 1 it takes each
// plane once, into the sums of those that it is a neighbour of. With WIDTH, vector loads.
#include "grid_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = GRID_ID_MARCH) const int MARCH = 4;
#include "grid_problem.glsl"
#ifdef WIDTH
#define CELLS WIDTH
#else
#define CELLS 1
#endif

const int COLUMN = 2 * RADIUS + 1, SIDE_J = 2 * RADIUS_J + 1;
const int SIDE = (RADIUS + CELLS - 1) / CELLS; // vectors that hold the cells to one side
const int WINDOW = (2 * SIDE + 1) * CELLS;

int i0;      // the item's first cell
bool whole;  // its cells are all cells of the grid
bool inside; // those of its window too

struct Cells {
    ACC v[CELLS];
};

// The item's cells of the row that starts at `row`, `by` cells on.
Cells load_cells(uint row)
{
    Cells cells;
#ifdef WIDTH
    if (whole) {
        LOADED_ACC loaded = LOADED_ACC(loaded_in[(row + uint(i0)) / WIDTH]);
        [[unroll]] for (int n = 0; n < CELLS; n++)
            cells.v[n] = loaded[n];
        return cells;
    }
#endif
    [[unroll]] for (int n = 0; n < CELLS; n++)
        cells.v[n] = ACC(values_in[row + uint(min(i0 + n, push.ni - 1))]);
    return cells;
}

// They and the cells on either side, of which RADIUS are right.
void load_window(uint row, out ACC window[WINDOW])
{
#ifdef WIDTH
    // A few more cells by vectors cost less than each by itself; of a single one that is not so.
    if (inside && RADIUS > 1) {
        [[unroll]] for (int q = 0; q < 2 * SIDE + 1; q++) {
            LOADED_ACC loaded =
                LOADED_ACC(loaded_in[(row + uint(i0 + (q - SIDE) * WIDTH)) / WIDTH]);
            [[unroll]] for (int n = 0; n < CELLS; n++)
                window[q * CELLS + n] = loaded[n];
        }
        return;
    }
#endif
    Cells centre = load_cells(row);
    [[unroll]] for (int n = 0; n < CELLS; n++)
        window[SIDE * CELLS + n] = centre.v[n];
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        int left = i0 - d, right = i0 + CELLS - 1 + d;
        if (!inside) {
            left = mapped(left, push.ni);
            right = mapped(right, push.ni);
        }
        window[SIDE * CELLS - d] = ACC(values_in[row + uint(left)]);
        window[SIDE * CELLS + CELLS - 1 + d] = ACC(values_in[row + uint(right)]);
    }
    // Cells past the row's end stand for what lies beyond its border.
    if (!whole)
        [[unroll]] for (int n = 1; n < CELLS; n++)
            if (i0 + n >= push.ni)
                window[SIDE * CELLS + n] = ACC(values_in[row + uint(mapped(i0 + n, push.ni))]);
}

void store_cells(Cells cells, int j, int k)
{
    uint at = push.base_out + element(i0, j, k);
#ifdef WIDTH
    if (whole) {
        LOADED_ACC stored;
        [[unroll]] for (int n = 0; n < CELLS; n++)
            stored[n] = cells.v[n];
        loaded_out[at / WIDTH] = LOADED(stored);
        return;
    }
#endif
    [[unroll]] for (int n = 0; n < CELLS; n++)
        if (i0 + n < push.ni)
            values_out[at + uint(n)] = REAL(cells.v[n]);
}

void add(inout Cells sum, uint tap, Cells cells)
{
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC next = fma(coefficients[tap], cells.v[n], sum.v[n]);
        sum.v[n] = next;
    }
}

void add_window(inout Cells sum, uint tap, ACC window[WINDOW], int d)
{
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC next = fma(coefficients[tap], window[SIDE * CELLS + n + d], sum.v[n]);
        sum.v[n] = next;
    }
}

// `rows`: where the rows of j - RADIUS_J … j + RADIUS_J start, in plane `plane`.
Cells star(Cells column[COLUMN], uint rows[SIDE_J], uint plane)
{
    Cells sum;
    ACC window[WINDOW];
    load_window(rows[RADIUS_J] + plane, window);
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC first = coefficients[0] * window[SIDE * CELLS + n];
        sum.v[n] = first;
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        add_window(sum, star_tap(0, d), window, -d);
        add_window(sum, star_tap(0, d) + 1, window, d);
    }
    [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
        add(sum, star_tap(1, d), load_cells(rows[RADIUS_J - d] + plane));
        add(sum, star_tap(1, d) + 1, load_cells(rows[RADIUS_J + d] + plane));
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        add(sum, star_tap(AXIS_K, d), column[RADIUS - d]);
        add(sum, star_tap(AXIS_K, d) + 1, column[RADIUS + d]);
    }
    return sum;
}

// Adds a plane to the sums of the COLUMN planes that it is a neighbour of, the oldest first. Planes come
// in the order of the coefficients, so that a sum is made in that order.
void take_plane(inout Cells sums[COLUMN], uint rows[SIDE_J], uint plane)
{
    [[unroll]] for (int s = 0; s < COLUMN; s++)
        [[unroll]] for (int n = 0; n < CELLS; n++)
            sums[s].v[n] = s + 1 < COLUMN ? sums[min(s + 1, COLUMN - 1)].v[n] : ACC(0);
    [[unroll]] for (int dj = 0; dj < SIDE_J; dj++) {
        ACC window[WINDOW];
        load_window(rows[dj] + plane, window);
        [[unroll]] for (int di = 0; di < COLUMN; di++)
            [[unroll]] for (int s = 0; s < COLUMN; s++)
                add_window(sums[s], uint(((COLUMN - 1 - s) * SIDE_J + dj) * COLUMN + di), window,
                           di - RADIUS);
    }
}

uint plane_at(int k)
{
    return uint(mapped(k, push.nk)) * push.plane;
}

// A plane of a box, all of whose rows are read.
Cells box(uint rows[SIDE_J], int k)
{
    Cells sum;
    uint tap = 0;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        sum.v[n] = ACC(0);
    for (int dk = -RADIUS; dk <= RADIUS; dk++) {
        uint plane = plane_at(k + dk);
        for (int dj = 0; dj < SIDE_J; dj++) {
            ACC window[WINDOW];
            load_window(rows[dj] + plane, window);
            [[unroll]] for (int d = -RADIUS; d <= RADIUS; d++)
                add_window(sum, tap++, window, d);
        }
    }
    return sum;
}

void store_updated(Cells next, Cells centre, int j, int k)
{
    [[unroll]] for (int n = 0; n < CELLS; n++)
        next.v[n] = rounded(next.v[n]);
    if (BORDER == GRID_DIRICHLET) {
        bool all_fixed = (FLAT == 0 && fixed_at(j, push.nj)) || fixed_at(k, push.nk);
        [[unroll]] for (int n = 0; n < CELLS; n++)
            if (all_fixed || fixed_at(i0 + n, push.ni))
                next.v[n] = centre.v[n];
    }
    store_cells(next, j, k);
}

// Rows all of whose cells are updated need no old values.
Cells old_cells(uint rows[SIDE_J], int j, int k)
{
    Cells old;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        old.v[n] = ACC(0);
    if ((FLAT == 0 && fixed_at(j, push.nj)) || fixed_at(k, push.nk) || fixed_at(i0, push.ni) ||
        fixed_at(i0 + CELLS - 1, push.ni))
        old = load_cells(rows[RADIUS_J] + plane_at(k));
    return old;
}

// Sums of a box's planes; of wider ones than radius 1 there would be too many for the registers.
void march_box(uint rows[SIDE_J], int j, int first, int end)
{
    Cells sums[COLUMN];
    [[unroll]] for (int s = 0; s < COLUMN; s++)
        [[unroll]] for (int n = 0; n < CELLS; n++)
            sums[s].v[n] = ACC(0);
    for (int k = first - 2 * RADIUS; k < end; k++) {
        take_plane(sums, rows, plane_at(k + RADIUS));
        if (k >= first)
            store_updated(sums[0], old_cells(rows, j, k), j, k);
    }
}

void march_star(uint rows[SIDE_J], int j, int first, int end)
{
    Cells column[COLUMN];
    [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
        column[n + 1] = load_cells(rows[RADIUS_J] + plane_at(first - RADIUS + n));
    Cells coming = load_cells(rows[RADIUS_J] + plane_at(first + RADIUS));
    for (int k = first; k < end; k++) {
        [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
            column[n] = column[n + 1];
        column[COLUMN - 1] = coming;
        // Under way while this plane is computed.
        coming = load_cells(rows[RADIUS_J] + plane_at(min(k + 1, end - 1) + RADIUS));
        store_updated(star(column, rows, uint(k) * push.plane), column[RADIUS], j, k);
    }
}

void main()
{
    i0 = int(gl_GlobalInvocationID.x) * CELLS;
    int j = int(gl_GlobalInvocationID.y);
    int first = push.first + int(gl_GlobalInvocationID.z) * MARCH;
    int end = min(first + MARCH, push.end);
    if (i0 >= push.ni || j >= push.nj || first >= end || stopped())
        return;
    whole = i0 + CELLS <= push.ni;
    inside = i0 >= SIDE * CELLS && i0 + (SIDE + 1) * CELLS <= push.ni;
    uint rows[SIDE_J];
    [[unroll]] for (int n = 0; n < SIDE_J; n++)
        rows[n] = push.base_in + element(0, mapped(j + n - RADIUS_J, push.nj), 0);
    if (SHAPE == GRID_STAR)
        march_star(rows, j, first, end);
    else if (RADIUS == 1)
        march_box(rows, j, first, end);
    else
        for (int k = first; k < end; k++)
            store_updated(box(rows, k), old_cells(rows, j, k), j, k);
}
