#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A star or box stencil in columns: a work-item updates CELLS neighbouring cells along i of MARCH
// planes. For a star it keeps the planes of its column in registers. With WIDTH, vector loads.
#include "grid_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = GRID_ID_MARCH) const int MARCH = 4;
#include "grid_problem.glsl"
#ifdef WIDTH
#define CELLS WIDTH
#else
#define CELLS 1
#endif

const int WINDOW = CELLS + 2 * RADIUS;
const int COLUMN = 2 * RADIUS + 1;

int i0; // the item's first cell

struct Cells {
    ACC v[CELLS];
};

// The item's cells of row (j, k).
Cells load_cells(int j, int k)
{
    Cells cells;
    uint at = push.base_in + element(i0, j, k);
#ifdef WIDTH
    if (i0 + WIDTH <= push.ni) {
        LOADED_ACC loaded = LOADED_ACC(loaded_in[at / WIDTH]);
        [[unroll]] for (int n = 0; n < CELLS; n++)
            cells.v[n] = loaded[n];
        return cells;
    }
#endif
    [[unroll]] for (int n = 0; n < CELLS; n++)
        cells.v[n] = ACC(values_in[at + uint(min(n, push.ni - 1 - i0))]);
    return cells;
}

// They and the RADIUS cells on either side.
void load_window(Cells centre, int j, int k, out ACC window[WINDOW])
{
    bool whole = i0 >= RADIUS && i0 + CELLS + RADIUS <= push.ni;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        window[RADIUS + n] = centre.v[n];
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        window[RADIUS - d] = load(whole ? i0 - d : mapped(i0 - d, push.ni), j, k);
        int east = i0 + CELLS - 1 + d;
        window[RADIUS + CELLS - 1 + d] = load(whole ? east : mapped(east, push.ni), j, k);
    }
    // Cells past the row's end stand for what lies beyond its border.
    if (i0 + CELLS > push.ni)
        [[unroll]] for (int n = 1; n < CELLS; n++)
            if (i0 + n >= push.ni)
                window[RADIUS + n] = load(mapped(i0 + n, push.ni), j, k);
}

void store_cells(Cells cells, int j, int k)
{
    uint at = push.base_out + element(i0, j, k);
#ifdef WIDTH
    if (i0 + WIDTH <= push.ni) {
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
        precise ACC next = fma(coefficients[tap], window[RADIUS + n + d], sum.v[n]);
        sum.v[n] = next;
    }
}

Cells star(Cells column[COLUMN], int j, int k)
{
    Cells centre = column[RADIUS], sum;
    ACC window[WINDOW];
    load_window(centre, j, k, window);
    [[unroll]] for (int n = 0; n < CELLS; n++) {
        precise ACC first = coefficients[0] * window[RADIUS + n];
        sum.v[n] = first;
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        add_window(sum, star_tap(0, d), window, -d);
        add_window(sum, star_tap(0, d) + 1, window, d);
    }
    [[unroll]] for (int d = 1; d <= RADIUS_J; d++) {
        add(sum, star_tap(1, d), load_cells(mapped(j - d, push.nj), k));
        add(sum, star_tap(1, d) + 1, load_cells(mapped(j + d, push.nj), k));
    }
    [[unroll]] for (int d = 1; d <= RADIUS; d++) {
        add(sum, star_tap(AXIS_K, d), column[RADIUS - d]);
        add(sum, star_tap(AXIS_K, d) + 1, column[RADIUS + d]);
    }
    return sum;
}

Cells box(int j, int k)
{
    Cells sum;
    uint tap = 0;
    [[unroll]] for (int n = 0; n < CELLS; n++)
        sum.v[n] = ACC(0);
    for (int dk = -RADIUS; dk <= RADIUS; dk++)
        for (int dj = -RADIUS_J; dj <= RADIUS_J; dj++) {
            int row = mapped(j + dj, push.nj), plane = mapped(k + dk, push.nk);
            ACC window[WINDOW];
            load_window(load_cells(row, plane), row, plane, window);
            [[unroll]] for (int d = -RADIUS; d <= RADIUS; d++)
                add_window(sum, tap++, window, d);
        }
    return sum;
}

Cells updated(Cells next, Cells centre, int j, int k)
{
    [[unroll]] for (int n = 0; n < CELLS; n++)
        next.v[n] = rounded(next.v[n]);
    if (BORDER == GRID_DIRICHLET) {
        bool all_fixed = (FLAT == 0 && fixed_at(j, push.nj)) || fixed_at(k, push.nk);
        [[unroll]] for (int n = 0; n < CELLS; n++)
            if (all_fixed || fixed_at(i0 + n, push.ni))
                next.v[n] = centre.v[n];
    }
    return next;
}

void main()
{
    i0 = int(gl_GlobalInvocationID.x) * CELLS;
    int j = int(gl_GlobalInvocationID.y);
    int k = push.first + int(gl_GlobalInvocationID.z) * MARCH;
    int end = min(k + MARCH, push.end);
    if (i0 >= push.ni || j >= push.nj || k >= end || stopped())
        return;
    if (SHAPE == GRID_BOX) {
        for (; k < end; k++)
            store_cells(updated(box(j, k), load_cells(j, k), j, k), j, k);
        return;
    }
    Cells column[COLUMN];
    [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
        column[n + 1] = load_cells(j, mapped(k - RADIUS + n, push.nk));
    Cells coming = load_cells(j, mapped(k + RADIUS, push.nk));
    for (; k < end; k++) {
        [[unroll]] for (int n = 0; n < COLUMN - 1; n++)
            column[n] = column[n + 1];
        column[COLUMN - 1] = coming;
        // Under way while this plane is computed.
        coming = load_cells(j, mapped(min(k + 1, end - 1) + RADIUS, push.nk));
        store_cells(updated(star(column, j, k), column[RADIUS], j, k), j, k);
    }
}
