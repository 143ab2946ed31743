// Partial sums of gosa: each work-group sums one by a tree in shared memory (with SUBGROUP, of the
// sums of its subgroups), or each work-item stores its own, which needs no barrier.
layout(constant_id = HIMENO_ID_OWN_SUMS) const uint OWN_SUMS = 0;
#ifdef SUBGROUP
// How many subgroups of a work-group store their own sum; 0: the work-group stores one sum.
layout(constant_id = HIMENO_ID_SUBGROUPS) const uint SUBGROUPS = 0;
#else
const uint SUBGROUPS = 0;
#endif

const uint GROUP_ITEMS = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;
shared float sums[GROUP_ITEMS];
const uint FEW = 8;

void store_partial(uint step, float value)
{
    uint item = gl_LocalInvocationIndex;
    uvec3 id = group_id();
    uint group = (id.z * gl_NumWorkGroups.y + id.y) * gl_NumWorkGroups.x + id.x;
    uint to = (push.sequence + step) * push.groups + push.first;
    if (OWN_SUMS != 0) {
        partials[to + group * GROUP_ITEMS + item] = value;
        return;
    }
#ifdef SUBGROUP
    uint count = gl_NumSubgroups;
    value = subgroupAdd(value);
    if (SUBGROUPS == count) {
        if (subgroupElect())
            partials[to + group * SUBGROUPS + gl_SubgroupID] = value;
        return;
    }
    if (subgroupElect())
        sums[gl_SubgroupID] = value;
#else
    uint count = GROUP_ITEMS;
    sums[item] = value;
#endif
    barrier();
    for (; count > FEW; count = (count + 1) / 2) {
        if (item < count / 2)
            sums[item] += sums[item + (count + 1) / 2];
        barrier();
    }
    // One work-item adds the last few sooner than a tree with a barrier for each halving.
    if (item == 0) {
        value = sums[0];
        [[unroll]] for (uint n = 1; n < FEW; n++)
            if (n < count)
                value += sums[n];
        partials[to + group * max(SUBGROUPS, 1)] = value;
        for (uint n = 1; n < SUBGROUPS; n++)
            partials[to + group * SUBGROUPS + n] = 0;
    }
}
