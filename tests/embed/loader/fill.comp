#version 450
// The program's own first pass: A and B, small integers, so that every product is exact.
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer A { float a[]; };
layout(std430, binding = 1) buffer B { float b[]; };
layout(push_constant) uniform Push { uint count; } push;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count)
        return;
    a[i] = float(i * 7u % 11u) - 5.0;
    b[i] = float(i * 3u % 13u) - 6.0;
}
