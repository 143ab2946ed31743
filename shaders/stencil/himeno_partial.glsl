// The sum over a work-group by a tree in shared memory, stored as the group's partial sum of gosa.
shared float sums[gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z];

void store_partial(uint step, float value)
{
    uint item = gl_LocalInvocationIndex;
    uint items = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
    sums[item] = value;
    barrier();
    for (uint n = items; n > 1; n = (n + 1) / 2) {
        if (item < n / 2)
            sums[item] += sums[item + (n + 1) / 2];
        barrier();
    }
    if (item == 0) {
        uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) *
                         gl_NumWorkGroups.x + gl_WorkGroupID.x;
        partials[(push.turn + step) * push.groups + push.first + group] = sums[0];
    }
}
