// MODULE vector_tree_*
// MODULE vector_subgroup_* DEFINES WF_SUBGROUP
#version 450
#extension GL_GOOGLE_include_directive : require
#ifdef WF_SUBGROUP
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
// The vector operations of a solver. A dot product takes two dispatches: each work-group leaves a
// partial sum, then one work-group adds them in a fixed order, so that every run gives the same
// bits.
#include "vector/vector_ids.h"
#include "common/real.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = WF_VECTOR_ID_OPERATION) const uint OPERATION = WF_VECTOR_OP_AXPY;
layout(constant_id = WF_VECTOR_ID_DEVICE_SCALAR) const uint DEVICE_SCALAR = 0;
layout(std430, set = 0, binding = 0) readonly buffer X { REAL x[]; };
layout(std430, set = 0, binding = 1) buffer Y { REAL y[]; };
layout(std430, set = 0, binding = 2) buffer Scalars { REAL scalars[]; };
layout(std430, set = 0, binding = 3) buffer Partials { REAL partials[]; };
layout(push_constant) uniform Push {
    REAL alpha;
    uint count;       // elements; for SUM: partial sums
    uint base_x, base_y;
    uint numerator;   // 1 + index in scalars; 0: the factor is 1
    uint denominator; // likewise; 0: the divisor is 1
    uint result;      // index in scalars
    uint partial;     // for DOT: index of the first partial sum
} push;

shared REAL sums[gl_WorkGroupSize.x];

// Returns the work-group's sum to work-item 0.
REAL group_sum(REAL value)
{
    uint item = gl_LocalInvocationIndex;
    uint count = gl_WorkGroupSize.x;
#ifdef WF_SUBGROUP
    value = subgroupAdd(value);
    if (gl_SubgroupInvocationID == 0u)
        sums[gl_SubgroupID] = value;
    barrier();
    REAL total = REAL(0);
    if (item == 0u)
        for (uint i = 0u; i < gl_NumSubgroups; i++)
            total += sums[i];
    return total;
#else
    sums[item] = value;
    barrier();
    for (uint half_size = count / 2u; half_size > 0u; half_size /= 2u) {
        if (item < half_size)
            sums[item] += sums[item + half_size];
        barrier();
    }
    return sums[0];
#endif
}

REAL scalar()
{
    REAL a = push.alpha;
    if (DEVICE_SCALAR != 0u) {
        if (push.numerator != 0u)
            a *= scalars[push.numerator - 1u];
        if (push.denominator != 0u)
            a /= scalars[push.denominator - 1u];
    }
    return a;
}

#define FOR_EACH(i) \
    for (uint i = gl_GlobalInvocationID.x; i < push.count; \
         i += gl_NumWorkGroups.x * gl_WorkGroupSize.x)

void main()
{
    if (OPERATION == WF_VECTOR_OP_AXPY) {
        REAL a = scalar();
        FOR_EACH(i)
            y[push.base_y + i] = fma(a, x[push.base_x + i], y[push.base_y + i]);
    } else if (OPERATION == WF_VECTOR_OP_XPAY) {
        REAL a = scalar();
        FOR_EACH(i)
            y[push.base_y + i] = fma(a, y[push.base_y + i], x[push.base_x + i]);
    } else {
        REAL sum = REAL(0);
        if (OPERATION == WF_VECTOR_OP_DOT) {
            FOR_EACH(i)
                sum = fma(x[push.base_x + i], y[push.base_y + i], sum);
        } else {
            FOR_EACH(i)
                sum += partials[i];
        }
        sum = group_sum(sum);
        if (gl_LocalInvocationIndex == 0u) {
            if (OPERATION == WF_VECTOR_OP_DOT)
                partials[push.partial + gl_WorkGroupID.x] = sum;
            else
                scalars[push.result] = push.alpha * sum;
        }
    }
}
