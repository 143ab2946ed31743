// MODULE halo_leave_*
// MODULE halo_arrive_* DEFINES ARRIVE
#version 450
// Copies a box of a grid's cells to memory where they lie side by side (a halo), or with ARRIVE
// back into the grid. A work-item copies a cell.
#if defined(WF_TYPE_F64)
#define ELEMENT uvec2
#elif defined(WF_TYPE_F16)
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT float16_t
#else
#define ELEMENT float
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#ifdef ARRIVE
layout(std430, set = 0, binding = 0) writeonly restrict buffer Grid { ELEMENT grid[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Halo { ELEMENT halo[]; };
#else
layout(std430, set = 0, binding = 0) readonly restrict buffer Grid { ELEMENT grid[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Halo { ELEMENT halo[]; };
#endif
layout(push_constant) uniform Push {
    uint first;      // element of the box's first cell in the grid
    uint ni, nj;     // cells of the box along i and j
    uint count;      // of all cells
    uint row, plane; // strides of the grid, in elements
} push;

void main()
{
    uint n = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
             gl_LocalInvocationIndex;
    if (n >= push.count)
        return;
    uint line = n / push.ni, i = n % push.ni;
    uint at = push.first + line / push.nj * push.plane + line % push.nj * push.row + i;
#ifdef ARRIVE
    grid[at] = halo[n];
#else
    halo[n] = grid[at];
#endif
}
