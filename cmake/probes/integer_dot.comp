#version 450
#extension GL_EXT_integer_dot_product : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { int data[]; };
void main()
{
    data[0] = dotPacked4x8AccSatEXT(data[1], data[2], data[3]);
}
