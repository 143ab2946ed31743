// MODULE spmv_atomic_*
// MODULE spmv_atomic_add_* DEFINES ADD REQUIRES atomic_float
#version 450
#extension GL_GOOGLE_include_directive : require
// LANES work-items a row, each adding its sum to y atomically, in whatever order they come: the
// bits of y may differ from run to run. ADD: the device adds floats atomically; else a work-item
// compares and exchanges the bits of y, again and again until no other has changed them in between.
#ifdef ADD
#extension GL_EXT_shader_atomic_float : require
#elif defined(WF_TYPE_F64)
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define Y_AS_BITS uint64_t
#else
#define Y_AS_BITS uint
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_LANES) const uint LANES = 4;

#ifdef ADD
void add(uint at, REAL sum)
{
    atomicAdd(y[at], sum);
}
#elif defined(WF_TYPE_F64)
void add(uint at, REAL sum)
{
    uint64_t before = y[at], seen;
    do {
        seen = before;
        before =
            atomicCompSwap(y[at], seen, doubleBitsToUint64(uint64BitsToDouble(seen) + sum));
    } while (before != seen);
}
#else
void add(uint at, REAL sum)
{
    uint before = y[at], seen;
    do {
        seen = before;
        before = atomicCompSwap(y[at], seen, floatBitsToUint(uintBitsToFloat(seen) + sum));
    } while (before != seen);
}
#endif

void main()
{
    uint item = gl_LocalInvocationIndex;
    uint row = group_index() * (gl_WorkGroupSize.x / LANES) + item / LANES;
    if (row >= push.rows)
        return;
    uint begin = pattern[row] + item % LANES, end = pattern[row + 1];
    if (begin < end)
        add(place_of_y(row), push.alpha * partial_sum(begin, end, LANES));
}
