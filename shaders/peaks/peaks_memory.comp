// MODULE peaks_memory_read DEFINES READ
// MODULE peaks_memory_write DEFINES WRITE
// MODULE peaks_memory_copy DEFINES COPY
#version 450
// Reads, writes or copies a working set again and again. The set is cut into chunks of four vec4
// for each work-item; a work-group takes one chunk an iteration. The step between its chunks is odd
// and the number of chunks a power of two, so that every work-group visits every chunk.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#if defined(COPY)
layout(std430, set = 0, binding = 0) readonly restrict buffer From { vec4 from[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer To { vec4 to[]; };
#elif defined(WRITE)
layout(std430, set = 0, binding = 0) writeonly restrict buffer To { vec4 to[]; };
#else
layout(std430, set = 0, binding = 0) readonly restrict buffer From { vec4 from[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer To { vec4 to[]; };
#endif
layout(push_constant) uniform Push { uint iterations; uint mask; uint step; float value; } push;

void main()
{
    uint n = gl_WorkGroupSize.x;
    uint chunk = gl_WorkGroupID.x;
    vec4 sum = vec4(0.0);
    for (uint iteration = 0; iteration < push.iterations; iteration++) {
        uint at = (chunk & push.mask) * 4 * n + gl_LocalInvocationIndex;
#if defined(COPY)
        vec4 v0 = from[at], v1 = from[at + n], v2 = from[at + 2 * n], v3 = from[at + 3 * n];
        to[at] = v0;
        to[at + n] = v1;
        to[at + 2 * n] = v2;
        to[at + 3 * n] = v3;
#elif defined(WRITE)
        to[at] = vec4(push.value);
        to[at + n] = vec4(push.value);
        to[at + 2 * n] = vec4(push.value);
        to[at + 3 * n] = vec4(push.value);
#else
        sum += (from[at] + from[at + n]) + (from[at + 2 * n] + from[at + 3 * n]);
#endif
        chunk += push.step;
    }
#if !defined(COPY) && !defined(WRITE)
    // The compiler must keep the sum for this store, which never happens.
    if (sum.x + sum.y + sum.z + sum.w == -12345.0)
        to[gl_LocalInvocationIndex] = sum;
#endif
}
