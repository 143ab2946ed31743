// MODULE himeno_gosa
#version 450
#extension GL_GOOGLE_include_directive : require
// Sums each row of partial sums to one gosa: a work-group sums a row. A work-item may add up
// thousands of them, so it carries the rounding error along (Kahan, Communications of the ACM 8,
// 1965).
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) readonly restrict buffer Partials { float partials[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Gosa { float gosa[]; };
layout(push_constant) uniform Push {
    uint rows; // of partial sums; the dispatch may have more work-groups
    uint groups;
} push;

shared float sums[gl_WorkGroupSize.x];

void main()
{
    uint item = gl_LocalInvocationIndex;
    uint row = gl_WorkGroupID.x;
    if (row >= push.rows)
        return;
    precise float sum = 0.0, lost = 0.0;
    for (uint i = item; i < push.groups; i += gl_WorkGroupSize.x) {
        precise float value = partials[row * push.groups + i] - lost;
        precise float next = sum + value;
        lost = (next - sum) - value;
        sum = next;
    }
    sums[item] = sum;
    barrier();
    for (uint n = gl_WorkGroupSize.x; n > 1; n = (n + 1) / 2) {
        if (item < n / 2)
            sums[item] += sums[item + (n + 1) / 2];
        barrier();
    }
    if (item == 0)
        gosa[row] = sums[0];
}
