#version 450
#extension GL_EXT_integer_dot_product : require
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Data { int data[]; };

void main()
{
    data[0] += dotPacked4x8EXT(data[1], data[2]);
}
