#version 450
#extension GL_EXT_bfloat16 : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { bfloat16_t data[]; };
void main()
{
    data[0] = bfloat16_t(float(data[1]) + 1.0);
}
