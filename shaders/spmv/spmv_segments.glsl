// The counter that tells the last of a row's segments that it is the last. Needs the buffer `scratch`.

// 1: memory barriers stand beside the counter's atomic; 0: that acquires and releases by itself, which is less.
layout(constant_id = SPMV_ID_FENCES) const uint FENCES = 1;

// Called by one lane, its segment's sum in scratch; returns how many came before.
uint count_segment(uint counter)
{
    if (FENCES == 0)
        return atomicAdd(scratch[counter], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                         gl_SemanticsAcquireRelease);
    memoryBarrierBuffer();
    return atomicAdd(scratch[counter], 1);
}

// Called by all lanes behind that: the others' sums are there.
void see_segments()
{
    if (FENCES == 0)
        subgroupBarrier(); // what the one lane has acquired is there for all
    else
        memoryBarrierBuffer();
}
