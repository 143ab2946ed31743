#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { float data[]; };
void main()
{
    f16vec2 v = f16vec2(float16_t(data[0]));
    data[1] = float((v * v).x);
}
