// MODULE peaks_atomic_i32 DEFINES I32
// MODULE peaks_atomic_f32 DEFINES F32
// MODULE peaks_atomic_f64 DEFINES F64
// MODULE peaks_atomic_add_f32 DEFINES F32 ADD REQUIRES atomic_float
// MODULE peaks_atomic_add_f64 DEFINES F64 ADD REQUIRES atomic_float
#version 450
#ifdef ADD
#extension GL_EXT_shader_atomic_float : require
#elif defined(F64)
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif
// Work-items add to sums in memory atomically: neighbours to neighbouring sums, or all to one (a
// mask of 0). Without ADD a work-item compares and exchanges the bits of a float's sum, again and
// again until no other has changed them in between.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#if defined(I32)
#define SUM int
#elif defined(ADD) && defined(F32)
#define SUM float
#elif defined(ADD)
#define SUM double
#elif defined(F32)
#define SUM uint
#else
#define SUM uint64_t
#endif
layout(std430, set = 0, binding = 0) restrict buffer Sums { SUM sums[]; };
layout(push_constant) uniform Push { uint loops; uint mask; uint step; } push;

void add(uint at)
{
#if defined(I32)
    atomicAdd(sums[at], 1);
#elif defined(ADD) && defined(F32)
    atomicAdd(sums[at], 1.0);
#elif defined(ADD)
    atomicAdd(sums[at], 1.0LF);
#else
    SUM before = sums[at], seen;
    do {
        seen = before;
#ifdef F32
        before = atomicCompSwap(sums[at], seen, floatBitsToUint(uintBitsToFloat(seen) + 1.0));
#else
        before =
            atomicCompSwap(sums[at], seen, doubleBitsToUint64(uint64BitsToDouble(seen) + 1.0LF));
#endif
    } while (before != seen);
#endif
}

void main()
{
    uint at = gl_GlobalInvocationID.x;
    for (uint i = 0; i < push.loops; i++) {
        add(at & push.mask);
        at += push.step;
    }
}
