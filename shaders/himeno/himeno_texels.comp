// MODULE himeno_texels_f32
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Himeno's relaxation in columns, as himeno_march.comp, for devices that fetch texels of four words
// in less time than they load one word from a buffer: a work-item updates four cells of each of two
// neighbouring rows, so that a row of p is fetched once for both.
#include "himeno_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = HIMENO_ID_MARCH) const uint MARCH = 8;
#define WIDTH 4
#define TEXELS
#include "himeno_problem.glsl"
#include "himeno_partial.glsl"

struct Rows {
    Row before, first, second, after;
};

// The neighbourhood of the row at element `at` and of the one behind it. The last row that is read
// lies `after` elements on.
Rows load_rows(uint at, uint i, uint after)
{
    return Rows(load_row(at - push.p_row, i), load_row(at, i), load_row(at + push.p_row, i),
                load_row(at + after, i));
}

Plane first(Rows rows) { return Plane(rows.before, rows.first, rows.second); }
Plane second(Rows rows) { return Plane(rows.first, rows.second, rows.after); }

void main()
{
    uvec3 id = item_id();
    uint i = id.x * WIDTH, j = id.y * 2, k = id.z * MARCH;
    VEC squares = VEC(0);
    if (i < push.ni && j < push.nj && k < push.nk) {
        bool two = j + 1 < push.nj;
        uint after = two ? 2 * push.p_row : push.p_row; // else it is the border, the last
        uint at = push.p_base + k * push.p_plane + j * push.p_row + i;
        uint from = cell_row(i) + j * push.c_row + k * push.c_plane;
        uint end = min(k + MARCH, push.nk);
        Rows down = load_rows(at - push.p_plane, i, after), mid = load_rows(at, i, after);
        for (; k < end; k++) {
            Rows up = load_rows(at + push.p_plane, i, after);
            VEC ss = residual(first(down), first(mid), first(up), load_cell(from));
            VEC old = mid.first.centre;
            squares += store_cells(at, i, old, relaxed(old, ss), ss);
            if (two) {
                ss = residual(second(down), second(mid), second(up), load_cell(from + push.c_row));
                old = mid.second.centre;
                squares += store_cells(at + push.p_row, i, old, relaxed(old, ss), ss);
            }
            down = mid;
            mid = up;
            at += push.p_plane;
            from += push.c_plane;
        }
    }
    store_partial(0, total(squares));
}
