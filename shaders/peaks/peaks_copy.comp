// MODULE peaks_copy
#version 450
#extension GL_GOOGLE_include_directive : require
// The least work that a copy needs: each work-item moves one vec4. Work-groups along y continue
// where those along x end, since a dispatch has at most 65535 work-groups along an axis.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(std430, set = 0, binding = 0) readonly restrict buffer From { vec4 from[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer To { vec4 to[]; };
layout(push_constant) uniform Push { uint count; } push;

void main()
{
    uint row = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint at = gl_WorkGroupID.y * row + gl_GlobalInvocationID.x;
    if (at < push.count)
        to[at] = from[at];
}
