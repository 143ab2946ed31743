// Bindings, push constants and addresses of the star and box stencils. Axis i is contiguous, k the
// slowest. A flat grid (two dimensions) has no j: its rows lie along k, so that kernels that march
// along planes march along its rows.
// IMAGE: cells are in storage images, which the including shader declares.
#if defined(WF_TYPE_F64)
#define REAL double   // as stored
#define ACC double    // as computed with
#define LOADED dvec2
#define LOADED_ACC dvec2
#elif defined(WF_TYPE_F16)
#extension GL_EXT_shader_16bit_storage : require
#define REAL float16_t
#define ACC float
#define LOADED uvec2
#define LOADED_ACC vec4
#else
#define REAL float
#define ACC float
#define LOADED vec4
#define LOADED_ACC vec4
#endif

layout(constant_id = STENCIL_ID_RADIUS) const int RADIUS = 1;
layout(constant_id = STENCIL_ID_SHAPE) const int SHAPE = STENCIL_STAR;
layout(constant_id = STENCIL_ID_BORDER) const int BORDER = STENCIL_DIRICHLET;
layout(constant_id = STENCIL_ID_FLAT) const int FLAT = 0;
// Index of a solver's flag behind the coefficients; 0: there is no flag.
layout(constant_id = STENCIL_ID_STOP_AT) const int STOP_AT = 0;
// 1: each row is a whole number of vectors.
layout(constant_id = STENCIL_ID_EVEN) const int EVEN = 0;
// 1: each row starts where a vector does.
layout(constant_id = STENCIL_ID_ALIGNED) const int ALIGNED = 0;
// 1: a dispatch updates some of the cells along i and j; 0: all.
layout(constant_id = STENCIL_ID_PIECE) const int PIECE = 0;
const int RADIUS_J = FLAT != 0 ? 0 : RADIUS;

#ifndef IMAGE
layout(std430, set = 0, binding = 0) readonly restrict buffer In { REAL values_in[]; };
layout(std430, set = 0, binding = 1) restrict buffer Out { REAL values_out[]; };
#endif
layout(std430, set = 0, binding = 2) readonly restrict buffer Coefficients { ACC coefficients[]; };
#ifdef UNIFORM_TAPS
// The same as uniforms, which are operands of instructions on some GPUs and take no registers.
#ifdef WF_TYPE_F64
#define TAPS_EACH 2
#define SEVERAL_TAPS dvec2
#else
#define TAPS_EACH 4
#define SEVERAL_TAPS vec4
#endif
layout(std140, set = 0, binding = STENCIL_TAPS_BINDING) uniform Taps {
    SEVERAL_TAPS taps[(STENCIL_MOST_TAPS + TAPS_EACH - 1) / TAPS_EACH];
} uniform_taps;

ACC tap_at(uint n)
{
    // A solver's coefficients are in one buffer with its flag, which kernels write.
    return STOP_AT != 0 ? coefficients[n] : uniform_taps.taps[n / TAPS_EACH][n % TAPS_EACH];
}
#endif
#ifdef WIDTH
layout(std430, set = 0, binding = 0) readonly restrict buffer InLoaded { LOADED loaded_in[]; };
layout(std430, set = 0, binding = 1) restrict buffer OutLoaded { LOADED loaded_out[]; };
#endif

#ifdef WIDTH
#ifdef WF_TYPE_F16
// Values stay as they were loaded until they are used, since a conversion would wait for the load.
LOADED_ACC widened(LOADED v)
{
    return LOADED_ACC(unpackHalf2x16(v.x), unpackHalf2x16(v.y));
}

LOADED narrowed(LOADED_ACC v)
{
    return LOADED(packHalf2x16(v.xy), packHalf2x16(v.zw));
}
#else
LOADED_ACC widened(LOADED v)
{
    return v;
}

LOADED narrowed(LOADED_ACC v)
{
    return v;
}
#endif
#endif

layout(push_constant) uniform Push {
    int ni, nj, nk;   // cells of the whole grid
    uint row, plane;  // strides of j and k, in elements
    uint base_in;     // element of cell (0, 0, 0), modulo 2^32: it may lie before the window bound
    uint base_out;
    int first, end;   // planes that this dispatch updates
    int first_i, end_i, first_j, end_j; // its cells along i and j, where PIECE is 1
} push;

// What this dispatch updates along i and j.
int first_i()
{
    return PIECE != 0 ? push.first_i : 0;
}

int end_i()
{
    return PIECE != 0 ? push.end_i : push.ni;
}

int first_j()
{
    return PIECE != 0 ? push.first_j : 0;
}

int end_j()
{
    return PIECE != 0 ? push.end_j : push.nj;
}

// The cell that the border puts at place `at` of an axis of n cells, which may lie beyond its ends.
int mapped(int at, int n)
{
    if (at >= 0 && at < n)
        return at;
    if (BORDER == STENCIL_PERIODIC) {
        // Most cells beyond an end are fewer than n cells away, which needs no division.
        int once = at < 0 ? at + n : at - n;
        if (once >= 0 && once < n)
            return once;
        // The remainder of negative integers is undefined in GLSL (and is another one on NVIDIA
        // than on CPU drivers), so both ends count from zero upwards.
        return at < 0 ? n - 1 - int(uint(-1 - at) % uint(n)) : int(uint(at) % uint(n));
    }
    if (BORDER == STENCIL_NEUMANN)
        at = at < 0 ? -1 - at : 2 * n - 1 - at;
    return clamp(at, 0, n - 1);
}

// Whether a cell of an axis keeps its value.
bool fixed_at(int at, int n)
{
    return BORDER == STENCIL_DIRICHLET && (at < RADIUS || at >= n - RADIUS);
}

bool fixed_cell(int i, int j, int k)
{
    return fixed_at(i, push.ni) || (FLAT == 0 && fixed_at(j, push.nj)) || fixed_at(k, push.nk);
}

uint mask_of(bool all)
{
    return all ? 0xffffffffu : 0u;
}

// Of two values the first where all bits of the mask are set, the second where none is. A compiler
// makes no branch of it, into which it would move the loads that a value needs: a wait for each.
ACC masked(uint mask, ACC first, ACC second)
{
#ifdef WF_TYPE_F64
    return packDouble2x32((unpackDouble2x32(first) & mask) | (unpackDouble2x32(second) & ~mask));
#else
    return uintBitsToFloat((floatBitsToUint(first) & mask) | (floatBitsToUint(second) & ~mask));
#endif
}

// Whether the solver has converged, so that nobody will read what would be computed here.
bool stopped()
{
    return STOP_AT != 0 && coefficients[STOP_AT] != ACC(0);
}

// The element of a cell, counted from that of cell (0, 0, 0).
uint element(int i, int j, int k)
{
    return uint(k) * push.plane + uint(j) * push.row + uint(i);
}

#ifndef IMAGE
ACC load(int i, int j, int k)
{
    return ACC(values_in[push.base_in + element(i, j, k)]);
}
#endif

#ifdef WF_TYPE_F16
// Rounds to nearest, ties to even. Vulkan leaves it open how a device rounds f16, and compilers
// drop a conversion there and back, so values are rounded by arithmetic before they are stored or
// used again. Added to a number 2^13 times as large, a value keeps the bits that an f16 has;
// subnormal f16 lie as far apart as those from 2^-14 on. Values over the largest f16 become
// infinite.
ACC rounded(ACC value)
{
    uint exponent = clamp(floatBitsToUint(value) & 0x7f800000u, 0x38800000u, 0x47800000u);
    float large = uintBitsToFloat(exponent + 0x06c00000u); // 1.5 x 2^13 times its power of two
    precise float sum = value + large;
    precise float nearest = sum - large;
    return abs(nearest) > 65504.0 ? nearest * uintBitsToFloat(0x7f800000u) : nearest;
}
#else
ACC rounded(ACC value)
{
    return value;
}
#endif

// The coefficients of a star: the centre, then for each axis (i, j, k) and distance the one before
// and the one after. `axis` counts the grid's own axes.
uint star_tap(int axis, int distance)
{
    return uint(1 + 2 * (axis * RADIUS + distance - 1));
}
const int AXIS_K = FLAT != 0 ? 1 : 2;
