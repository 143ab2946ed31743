#version 450
#extension GL_EXT_control_flow_attributes : require
/* V3DV (Mesa 25.0.7) never ends compiling this: it goes round in v3d_optimize_nir. Without the
 * barrier behind the loop it compiles at once. tests/device/test_compiler_faults.c waits for it for
 * a while. */
layout(local_size_x = 256) in;
layout(binding = 0) restrict buffer Values { float values[]; };
layout(binding = 1) readonly restrict buffer Counts { float counts[]; };
layout(push_constant) uniform Push { uint n, m, k, stride; } push;
void main()
{
    const uint index = gl_WorkGroupID.x * 256 + gl_LocalInvocationID.x;
    const uint row = index / push.n;
    const bool inside = row < push.m;
    float sum = 0;
    if (inside)
        for (uint i = 0; i < push.k; i += 8) {
            float loaded[8];
            [[unroll]] for (uint j = 0; j < 8; j++) {
                loaded[j] = 0;
                if (i + j < push.k)
                    loaded[j] = counts[index + (i + j) * push.stride];
            }
            [[unroll]] for (uint j = 0; j < 8; j++)
                sum += loaded[j];
        }
    barrier();
    if (!inside)
        return;
    values[index] = sum;
}
