#version 450
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 128) in;
layout(std430, binding = 0) buffer Data { float16_t data[]; };
void main()
{
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> l =
        createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    l = setTensorLayoutDimensionNV(l, 64, 64);
    coopmat<float16_t, gl_ScopeWorkgroup, 64, 64, gl_MatrixUseA> a;
    coopMatLoadTensorNV(a, data, 0, sliceTensorLayoutNV(l, 0, 64, 0, 64));
    coopMatStoreTensorNV(a, data, 0, sliceTensorLayoutNV(l, 0, 64, 0, 64));
}
