// Bindings, push constants and arithmetic of every Himeno variant. "Inner" cells are the ones that
// are updated: (0, 0, 0) is the first of the slab, -1 is the border or halo before it.
//
// The twelve coefficients of a cell share one buffer, since four storage buffers are all that
// Vulkan guarantees a stage. They lie as twelve arrays, or in blocks: BLOCK cells of a row, twelve
// times. A work-item handles WIDTH neighbouring cells along i at once; with PAIRS it loads and
// stores words of 64 bits; with TEXELS it reads through texels of four cells.
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef STEPS_A_PASS
#define STEPS_A_PASS 1
#endif
layout(constant_id = HIMENO_ID_REVERSE) const uint REVERSE = 0;
// Cells of a block, and more than a row has where each row is a block. It is a constant since a
// division by a number that is known at run time alone would take as long as a load.
layout(constant_id = HIMENO_ID_BLOCK) const uint BLOCK = 32;

#ifdef TEXELS
layout(set = 0, binding = 0) uniform samplerBuffer p_in4;
layout(set = 0, binding = 2) uniform samplerBuffer coefficients4;
#else
layout(std430, set = 0, binding = 0) readonly restrict buffer PIn { float p_in[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Coefficients {
    float coefficients[];
};
#endif
layout(std430, set = 0, binding = 1) restrict buffer POut { float p_out[]; };
layout(std430, set = 0, binding = 3) writeonly restrict buffer Partials { float partials[]; };
#if WIDTH == 4
#define VEC vec4
#ifdef TEXELS
layout(std430, set = 0, binding = 1) restrict buffer POut4 { vec4 p_out4[]; };
#elif defined(PAIRS)
layout(std430, set = 0, binding = 0) readonly restrict buffer PIn2 { uint64_t p_in2[]; };
layout(std430, set = 0, binding = 1) restrict buffer POut2 { uint64_t p_out2[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Coefficients2 {
    uint64_t coefficients2[];
};
#else
layout(std430, set = 0, binding = 0) readonly restrict buffer PIn4 { vec4 p_in4[]; };
layout(std430, set = 0, binding = 1) restrict buffer POut4 { vec4 p_out4[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer Coefficients4 {
    vec4 coefficients4[];
};
#endif
#else
#define VEC float
#endif

layout(push_constant) uniform Push {
    uint sequence;              // row of partial sums that the pass's first iteration fills
    uint ni, nj, nk;            // inner cells of the slab
    uint lower, upper;          // planes of coefficients before and after the slab
    uint p_row, p_plane;        // strides of p, in elements
    uint p_base;                // element of cell (0, 0, 0)
    uint c_row, c_plane;        // strides of the coefficients along j and k
    uint c_array;               // elements from one of a cell's coefficients to the next
    uint c_blocks;              // elements from one block to the next
    uint c_base;
    uint groups;                // partial sums of an iteration
    uint first;                 // the slab's first partial sum
    uint layers;                // work-groups along k of the whole slab
    uint i_first;               // the slab's first cell along i, counted in those that are kept
    uint rims; // cells kept before and after the slab along i and along j, 8 bits each
    float omega;
} push;

// The work-group's place in the slab. With REVERSE every other pass starts at the planes that the
// pass before it touched last, some of which a cache still holds.
uvec3 group_id()
{
    uvec3 id = gl_WorkGroupID;
    if (REVERSE != 0 && push.sequence / STEPS_A_PASS % 2 != 0)
        id.z = push.layers - 1 - id.z;
    return id;
}

// The first cell of the work-item.
uvec3 item_id()
{
    return group_id() * gl_WorkGroupSize + gl_LocalInvocationID;
}

// p at the cells (i - 1, i, i + 1) of one row, where i stands for WIDTH cells.
struct Row {
    VEC centre;
    float west, east;
};

struct Plane {
    Row before, here, after; // j - 1, j, j + 1
};

#if WIDTH == 4
VEC west(Row row) { return vec4(row.west, row.centre.xyz); }
VEC east(Row row) { return vec4(row.centre.yzw, row.east); }
#ifdef TEXELS
VEC load_p(uint at) { return texelFetch(p_in4, int(at >> 2)); }
VEC load_coefficient(uint at) { return texelFetch(coefficients4, int(at >> 2)); }
float load_west(uint at) { return load_p(at - 1).w; }
float load_east(uint at) { return load_p(at).x; }
#elif defined(PAIRS)
vec4 vector_of(uint64_t low, uint64_t high)
{
    return uintBitsToFloat(uvec4(unpackUint2x32(low), unpackUint2x32(high)));
}
VEC load_p(uint at) { return vector_of(p_in2[at >> 1], p_in2[(at >> 1) + 1]); }
VEC load_coefficient(uint at)
{
    return vector_of(coefficients2[at >> 1], coefficients2[(at >> 1) + 1]);
}
#else
VEC load_p(uint at) { return p_in4[at >> 2]; }
VEC load_coefficient(uint at) { return coefficients4[at >> 2]; }
#endif
#else
VEC west(Row row) { return row.west; }
VEC east(Row row) { return row.east; }
VEC load_p(uint at) { return p_in[at]; }
VEC load_coefficient(uint at) { return coefficients[at]; }
#endif
#ifndef TEXELS
float load_west(uint at) { return p_in[at - 1]; }
float load_east(uint at) { return p_in[at]; }
#endif

// The row whose cell i lies at element `at`. It reads nothing past the border cell.
Row load_row(uint at, uint i)
{
    return Row(load_p(at), load_west(at), load_east(at + min(uint(WIDTH), push.ni - i)));
}

Plane load_plane(uint at, uint i)
{
    return Plane(load_row(at - push.p_row, i), load_row(at, i), load_row(at + push.p_row, i));
}

// The coefficients of a cell.
struct Cell {
    VEC a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, wrk1, bnd;
};

// The element of cell (i, 0, 0)'s first coefficient.
uint cell_row(uint i)
{
    i += push.i_first;
    return push.c_base + i / BLOCK * push.c_blocks + i % BLOCK;
}

Cell load_cell(uint at)
{
    uint n = push.c_array;
    return Cell(load_coefficient(at), load_coefficient(at + n), load_coefficient(at + 2 * n),
                load_coefficient(at + 3 * n), load_coefficient(at + 4 * n),
                load_coefficient(at + 5 * n), load_coefficient(at + 6 * n),
                load_coefficient(at + 7 * n), load_coefficient(at + 8 * n),
                load_coefficient(at + 9 * n), load_coefficient(at + 10 * n),
                load_coefficient(at + 11 * n));
}

// The change that the relaxation makes, before it is multiplied by omega. Every variant computes it
// by these operations in this order, so that all give the same bits.
VEC residual(Plane down, Plane mid, Plane up, Cell cell)
{
    precise VEC s0 = cell.a0 * east(mid.here);
    s0 = fma(cell.a1, mid.after.centre, s0);
    s0 = fma(cell.a2, up.here.centre, s0);
    s0 = fma(cell.b0, ((east(mid.after) - east(mid.before)) - west(mid.after)) + west(mid.before),
             s0);
    s0 = fma(cell.b1,
             ((up.after.centre - up.before.centre) - down.after.centre) + down.before.centre, s0);
    s0 = fma(cell.b2, ((east(up.here) - west(up.here)) - east(down.here)) + west(down.here), s0);
    s0 = fma(cell.c0, west(mid.here), s0);
    s0 = fma(cell.c1, mid.before.centre, s0);
    s0 = fma(cell.c2, down.here.centre, s0);
    s0 = s0 + cell.wrk1;
    precise VEC ss = fma(s0, cell.a3, -mid.here.centre) * cell.bnd;
    return ss;
}

VEC relaxed(VEC p, VEC ss)
{
    precise VEC result = fma(VEC(push.omega), ss, p);
    return result;
}

// Stores WIDTH new values of p at element `at`, and returns the squares of the changes, which are
// zero past the last inner cell.
VEC store_cells(uint at, uint i, VEC old, VEC p, VEC ss)
{
#ifdef TEXELS
    // A CPU driver would execute both ways of a branch, so cells that are no inner cells are stored
    // with their old values.
    bvec4 inside = lessThan(uvec4(0, 1, 2, 3), uvec4(push.ni - i));
    p_out4[at >> 2] = mix(old, p, inside);
    return mix(VEC(0), ss * ss, inside);
#elif WIDTH == 4
    if (i + 4 <= push.ni) {
#ifdef PAIRS
        p_out2[at >> 1] = packUint2x32(floatBitsToUint(p.xy));
        p_out2[(at >> 1) + 1] = packUint2x32(floatBitsToUint(p.zw));
#else
        p_out4[at >> 2] = p;
#endif
        return ss * ss;
    }
    VEC squares = VEC(0);
    for (uint lane = 0; lane < push.ni - i; lane++) {
        p_out[at + lane] = p[lane];
        squares[lane] = ss[lane] * ss[lane];
    }
    return squares;
#else
    p_out[at] = p;
    return ss * ss;
#endif
}

float total(VEC squares)
{
#if WIDTH == 4
    return (squares.x + squares.y) + (squares.z + squares.w);
#else
    return squares;
#endif
}
