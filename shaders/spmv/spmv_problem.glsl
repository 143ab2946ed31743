// Bindings and push constants of every spmv variant: y = A x, A in compressed sparse rows. Row
// offsets and column indices share one buffer, so that four storage buffers, all that Vulkan
// guarantees a stage, are enough.
#ifdef WF_TYPE_F64
#define REAL double
#else
#define REAL float
#endif
layout(std430, set = 0, binding = 0) readonly restrict buffer Pattern { uint pattern[]; };
layout(std430, set = 0, binding = 1) readonly restrict buffer Values { REAL values[]; };
layout(std430, set = 0, binding = 2) readonly restrict buffer X { REAL x[]; };
layout(std430, set = 0, binding = 3) writeonly restrict buffer Y { REAL y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint columns_at; // where the column indices begin in pattern: rows + 1
    uint base_y;     // what is left of y's offset after the binding's own
} push;

uint group_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// The sum of entries begin + lane, begin + lane + step, … below end.
REAL partial_sum(uint begin, uint end, uint step)
{
    REAL sum = REAL(0);
    for (uint i = begin; i < end; i += step)
        sum += values[i] * x[pattern[push.columns_at + i]];
    return sum;
}
