// MODULE stencil_march_shared_* TYPES f32 f16 DEFINES WIDTH=4
// MODULE stencil_march_shared_* TYPES f64 DEFINES WIDTH=2
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A box in three dimensions: a work-group marches through MARCH planes, of each of which it has a
// tile with its halo in shared memory, and a work-item updates WIDTH cells of ROWS rows of each. A
// cell that it reads is added to the sums of all its cells, in this plane and those around it, that
// it is a neighbour of. The next plane is loaded while one is added.
#include "stencil_ids.h"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = STENCIL_ID_MARCH) const int MARCH = 4;
layout(constant_id = STENCIL_ID_ROWS) const int ROWS = 1;
#define UNIFORM_TAPS
#include "stencil_problem.glsl"

const int LOCAL_X = int(gl_WorkGroupSize.x), LOCAL_Y = int(gl_WorkGroupSize.y);
const int ITEMS = LOCAL_X * LOCAL_Y;
const int SIDE = 2 * RADIUS + 1;
// Vectors of a row that hold a work-item's cells and those on either side, and of a tile's row.
const int WINDOW = (WIDTH + 2 * RADIUS + WIDTH - 1) / WIDTH;
const int TILE_VECTORS = LOCAL_X + WINDOW - 1;
const int TILE_I = TILE_VECTORS * WIDTH, TILE_J = LOCAL_Y * ROWS + 2 * RADIUS;
const int TILE = TILE_I * TILE_J, LOADS = (TILE + ITEMS - 1) / ITEMS;
const int LAST_COLUMN = LOCAL_X * WIDTH + 2 * RADIUS - 1; // that anybody reads
const int SUMS = ROWS * WIDTH; // of a plane
// It has a name, since arrays whose lengths are two expressions have two types, and glslang copies
// such an array in part.
const int ALL_SUMS = SIDE * SUMS;
// A work-item's own cells of the planes that it adds up, which fixed ones keep: 5 % faster than to
// load them again (bench/notes/stencil.md#own-cells). With as many numbers of f64 NVIDIA's compiler
// keeps arrays in memory, so that these are loaded.
#ifdef WF_TYPE_F64
#define OWN_PARAMETER
#define OWN_ARGUMENT
#else
#define KEEPS_OWN
#define OWN_PARAMETER ACC own[OWN],
#define OWN_ARGUMENT own,
const int OWN_PLANES = BORDER == STENCIL_DIRICHLET ? RADIUS + 1 : 1;
const int OWN = OWN_PLANES * SUMS;
#endif

// Two planes, so that one is stored while others still read the one before.
shared LOADED_ACC tile[2 * TILE_VECTORS * TILE_J];

void load_plane(int k, uint cells[LOADS], out ACC coming[LOADS])
{
    uint plane = uint(mapped(k, push.nk)) * push.plane;
    [[unroll]] for (int n = 0; n < LOADS; n++)
        coming[n] = ACC(values_in[cells[n] + plane]);
}

uint fixed_cells; // bit r WIDTH + n: cell n of row r keeps its value in every plane

void store_cells(ACC sums[ALL_SUMS], OWN_PARAMETER int i, int j, int k)
{
    uint kept = fixed_at(k, push.nk) ? 0xffffffffu : fixed_cells;
    [[unroll]] for (int r = 0; r < ROWS; r++) {
        if (j + r >= end_j())
            return;
        uint at = push.base_out + element(i, j + r, k);
        LOADED_ACC cells;
        [[unroll]] for (int n = 0; n < WIDTH; n++) {
            cells[n] = rounded(sums[r * WIDTH + n]);
#ifdef KEEPS_OWN
            if (BORDER == STENCIL_DIRICHLET)
                cells[n] = masked(uint(bitfieldExtract(int(kept), r * WIDTH + n, 1)),
                                  own[r * WIDTH + n], cells[n]);
#else
            if (i + n < push.ni && fixed_cell(i + n, j + r, k))
                cells[n] = load(i + n, j + r, k);
#endif
        }
        if (EVEN != 0 && ALIGNED != 0) {
            loaded_out[at / WIDTH] = narrowed(cells);
            continue;
        }
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (i + n < end_i())
                values_out[at + uint(n)] = REAL(cells[n]);
    }
}

void main()
{
    int tile_i = first_i() + int(gl_WorkGroupID.x) * LOCAL_X * WIDTH;
    int tile_j = first_j() + int(gl_WorkGroupID.y) * LOCAL_Y * ROWS;
    int first = push.first + int(gl_WorkGroupID.z) * MARCH;
    int end = min(first + MARCH, push.end);
    if (stopped())
        return;
    uint item = gl_LocalInvocationIndex;
    int x = int(gl_LocalInvocationID.x), y = int(gl_LocalInvocationID.y) * ROWS;
    int i = tile_i + x * WIDTH, j = tile_j + y;

    fixed_cells = 0;
    [[unroll]] for (int r = 0; r < ROWS; r++)
        [[unroll]] for (int n = 0; n < WIDTH; n++)
            if (fixed_at(i + n, push.ni) || fixed_at(j + r, push.nj))
                fixed_cells |= 1u << (r * WIDTH + n);
    uint cells[LOADS];
    [[unroll]] for (int n = 0; n < LOADS; n++) {
        uint at = min(item + uint(n * ITEMS), uint(TILE - 1));
        int row = int(at / uint(TILE_I));
        int column = min(int(at % uint(TILE_I)), LAST_COLUMN);
        cells[n] = push.base_in + element(mapped(tile_i + column - RADIUS, push.ni),
                                          mapped(tile_j + row - RADIUS, push.nj), 0);
    }
    ACC coming[LOADS], sums[ALL_SUMS];
    [[unroll]] for (int n = 0; n < ALL_SUMS; n++)
        sums[n] = ACC(0);
#ifdef KEEPS_OWN
    ACC own[OWN];
    [[unroll]] for (int n = 0; n < OWN; n++)
        own[n] = ACC(0);
#endif
    load_plane(first - RADIUS, cells, coming);
    int half_at = 0;
    for (int k = first - RADIUS; k < end + RADIUS; k++) {
        [[unroll]] for (int n = 0; n < LOADS; n++) {
            uint at = item + uint(n * ITEMS);
            if (at < uint(TILE))
                tile[uint(half_at) + at / WIDTH][at % WIDTH] = coming[n];
        }
        barrier();
        load_plane(min(k + 1, end + RADIUS - 1), cells, coming);
        [[unroll]] for (int n = 0; n < (SIDE - 1) * SUMS; n++)
            sums[n] = sums[n + SUMS];
        [[unroll]] for (int n = (SIDE - 1) * SUMS; n < ALL_SUMS; n++)
            sums[n] = ACC(0);
#ifdef KEEPS_OWN
        [[unroll]] for (int n = 0; n < OWN - SUMS; n++)
            own[n] = own[n + SUMS];
#endif
        [[unroll]] for (int dj = 0; dj < ROWS + 2 * RADIUS; dj++) {
            ACC window[WINDOW * WIDTH];
            [[unroll]] for (int q = 0; q < WINDOW; q++) {
                LOADED_ACC several = tile[half_at + (y + dj) * TILE_VECTORS + x + q];
                [[unroll]] for (int n = 0; n < WIDTH; n++)
                    window[q * WIDTH + n] = several[n];
            }
            [[unroll]] for (int r = 0; r < ROWS; r++) {
                if (dj < r || dj - r >= SIDE)
                    continue;
#ifdef KEEPS_OWN
                [[unroll]] for (int n = 0; n < WIDTH; n++)
                    if (dj - r == RADIUS)
                        own[OWN - SUMS + r * WIDTH + n] = window[RADIUS + n];
#endif
                [[unroll]] for (int di = 0; di < SIDE; di++)
                    [[unroll]] for (int s = 0; s < SIDE; s++)
                        [[unroll]] for (int n = 0; n < WIDTH; n++) {
                            int tap = ((SIDE - 1 - s) * SIDE + dj - r) * SIDE + di;
                            int sum = s * SUMS + r * WIDTH + n;
                            precise ACC next = fma(tap_at(tap), window[di + n], sums[sum]);
                            sums[sum] = next;
                        }
            }
        }
        half_at = TILE_VECTORS * TILE_J - half_at;
        if (k - RADIUS >= first && i < end_i())
            store_cells(sums, OWN_ARGUMENT i, j, k - RADIUS);
    }
}
