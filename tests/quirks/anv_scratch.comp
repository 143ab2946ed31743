#version 450
/* ANV (Mesa 25.0.7) ends with VK_ERROR_UNKNOWN where a thread of the narrowest subgroup needs over
 * 256 KiB of scratch memory: here 16 lanes of 32 KiB, on Xe2 (Lunar Lake, Battlemage), whose
 * narrowest subgroup is 16. Arc A770 compiles it with subgroups of 8. Spilled registers count as
 * this array does. tests/device/test_compiler_faults.c compiles it. */
layout(local_size_x = 32) in;
layout(binding = 0) buffer Values { float values[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };
void main()
{
    const uint lane = gl_LocalInvocationID.x;
    float kept[8192];
    for (uint i = 0; i < 8192; i++)
        kept[i] = values[i * 32 + lane];
    values[lane] = kept[places[lane] % 8192];
}
