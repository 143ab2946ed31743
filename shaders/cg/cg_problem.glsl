// Bindings, push constants and sums of the conjugate-gradient kernels. The vectors x, r, p, q and
// the inverse diagonal d stand one behind the other in one buffer, `stride` elements apart.
//
// Dot products are left as one partial sum a work-group; whoever needs one adds up all partial
// sums, every work-group for itself and in the same order. So every run gives the same bits, and no
// scalar goes through the host.
#ifdef WF_TYPE_F64
#define REAL double
#else
#define REAL float
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) restrict buffer Vectors { REAL vectors[]; };
layout(std430, set = 0, binding = 1) restrict buffer Scalars { REAL scalars[]; };
layout(push_constant) uniform Push {
    uint iteration;
    uint count;
    uint stride;
    uint preconditioned;
} push;

#define X 0
#define R 1
#define P 2
#define Q 3
#define D 4
#define VECTOR(v, i) vectors[(v) * push.stride + (i)]

// Places in scalars: the state, then the partial sums, then |r|^2 of every iteration.
#define STATUS 0
#define ITERATIONS 1
#define WANTED 2
#define PARTIALS 4
#define PQ 0
#define RZ 1 // of even iterations; RZ + 1: of odd ones
#define RR 3
#define PARTIAL(dot, group) scalars[PARTIALS + (dot) * gl_NumWorkGroups.x + (group)]
#define HISTORY(i) scalars[PARTIALS + 4 * gl_NumWorkGroups.x + (i)]

#define RUNNING 0
#define CONVERGED 1
#define INDEFINITE 2
#define NOT_FINITE 3

shared REAL sums[gl_WorkGroupSize.x];

// The sum over the work-group, by a tree; every work-item gets it.
REAL group_sum(REAL value)
{
    uint item = gl_LocalInvocationIndex;
    barrier();
    sums[item] = value;
    barrier();
    for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier();
    }
    return sums[0];
}

REAL dot_of(uint which)
{
    REAL sum = REAL(0);
    for (uint i = gl_LocalInvocationIndex; i < gl_NumWorkGroups.x; i += gl_WorkGroupSize.x)
        sum += PARTIAL(which, i);
    return group_sum(sum);
}

void put_partial(uint which, REAL value)
{
    REAL sum = group_sum(value);
    if (gl_LocalInvocationIndex == 0)
        PARTIAL(which, gl_WorkGroupID.x) = sum;
}

REAL preconditioned(uint i, REAL r)
{
    return push.preconditioned != 0 ? VECTOR(D, i) * r : r;
}

#define FOR_EACH(i) \
    for (uint i = gl_GlobalInvocationID.x; i < push.count; \
         i += gl_NumWorkGroups.x * gl_WorkGroupSize.x)
