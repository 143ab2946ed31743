#version 450
/* NVK (Mesa 25.0.7) keeps an array that is indexed at run time in local memory ("SLM Size"),
 * however small it is. tests/device/test_compiler_faults.c compiles it. */
layout(local_size_x = 32) in;
layout(binding = 0) buffer Values { float values[]; };
layout(binding = 1) readonly buffer Places { uint places[]; };
void main()
{
    const uint lane = gl_LocalInvocationID.x;
    float kept[4];
    for (uint i = 0; i < 4; i++)
        kept[i] = values[i * 32 + lane];
    values[lane] = kept[places[lane] % 4];
}
