// MODULE himeno_start
#version 450
#extension GL_GOOGLE_include_directive : require
// The benchmark's start values of the twelve coefficients, in either layout.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) writeonly restrict buffer Coefficients {
    float coefficients[];
};
layout(push_constant) uniform Push {
    uint count;   // elements of the buffer
    uint c_array; // elements from one coefficient of a cell to the next
    float sixth;  // 1/6, as the host rounds it
} push;

void main()
{
    uint at = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    at = at * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (at >= push.count)
        return;
    uint which = at / push.c_array % 12; // a0 … a3, b0 … b2, c0 … c2, wrk1, bnd
    bool zero = (which >= 4 && which < 7) || which == 10;
    coefficients[at] = zero ? 0.0 : which == 3 ? push.sixth : 1.0;
}
