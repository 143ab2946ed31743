#version 450
#extension GL_EXT_shader_atomic_float : require
layout(std430, set = 0, binding = 0) buffer Sums { double sums[]; };

void main()
{
    atomicAdd(sums[0], 1.0LF);
}
