// MODULE matmul_pack_32 DEFINES WF_TYPE_F32
// MODULE matmul_pack_16
// MODULE matmul_pack_8 DEFINES WF_TYPE_I8
#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require
// Copies a stored matrix to rows that begin at multiples of 16 bytes and are padded with zeros. A
// work-item writes 16 bytes; the z axis of the dispatch is the batch.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#if defined(WF_TYPE_I8)
#define RAW uint8_t
#define CHUNK 16
#elif defined(WF_TYPE_F32)
#define RAW uint
#define CHUNK 4
#else
#define RAW uint16_t
#define CHUNK 8
#endif
layout(std430, set = 0, binding = 0) readonly buffer From { RAW from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Push {
    uint rows, columns, ld, base, stride; // of `from`, in elements
    uint to_rows, to_chunks;              // chunks of a row
} push;

void main()
{
    uint index = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
                 gl_LocalInvocationID.x;
    uint row = index / push.to_chunks, column = index % push.to_chunks * CHUNK;
    if (row >= push.to_rows)
        return;
    uint at = push.base + gl_WorkGroupID.z * push.stride + row * push.ld + column;
    uvec4 chunk = uvec4(0);
    [[unroll]] for (uint j = 0; j < CHUNK; j++)
        if (row < push.rows && column + j < push.columns)
            chunk[j / (CHUNK / 4)] |= uint(from[at + j]) << (128 / CHUNK * (j % (CHUNK / 4)));
    to[gl_WorkGroupID.z * push.to_rows * push.to_chunks + index] = chunk;
}
