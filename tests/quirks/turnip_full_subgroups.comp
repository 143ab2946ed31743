#version 450
/* Turnip (Mesa 25.0.7) crashes in its allocation of registers where the subgroup is required to be
 * full and of 128 work-items; it compiles where it need not be full, and with one of 64.
 * tests/device/test_compiler_faults.c compiles it so. */
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 128) in;
layout(binding = 0) buffer Values { float values[]; };
layout(binding = 1) readonly buffer Matrix { float matrix[]; };
shared vec4 tile[2048];
float next[48];
void load(uint k)
{
    [[unroll]] for (uint i = 0; i < 48; i++)
        next[i] = matrix[k + i * 128 + gl_SubgroupInvocationID];
}
void store(uint half_)
{
    [[unroll]] for (uint i = 0; i < 48; i++) {
        const uint at = gl_SubgroupInvocationID + i * 128;
        tile[(half_ * 512 + at / 4) % 2048][at % 4] = next[i];
    }
}
void main()
{
    float sum = 0;
    load(0);
    store(0);
    for (uint k = 0; k < floatBitsToUint(values[0]); k += 32) {
        load(k);
        subgroupBarrier();
        sum += tile[(k + gl_SubgroupInvocationID) % 2048].x;
        subgroupBarrier();
        store(k / 32 % 2);
    }
    values[gl_SubgroupInvocationID] = sum;
}
