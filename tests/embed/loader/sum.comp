#version 450
// The program's own last pass: the sum of each row of C.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer C { float c[]; };
layout(std430, binding = 1) buffer S { float s[]; };
layout(push_constant) uniform Push { uint count; } push;

void main()
{
    uint row = gl_GlobalInvocationID.x;
    if (row >= push.count)
        return;
    float sum = 0.0;
    for (uint i = 0u; i < push.count; i++)
        sum += c[row * push.count + i];
    s[row] = sum;
}
