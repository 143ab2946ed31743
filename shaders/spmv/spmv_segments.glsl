// The counter by which the last segment of a row learns that it is the last. It lies in the buffer
// `scratch`.

// 1: memory barriers stand beside the atomic operation on the counter; 0: the operation itself
// acquires and releases, which costs less.
layout(constant_id = SPMV_ID_FENCES) const uint FENCES = 1;

// Called by one lane, once its segment's sum is in scratch; returns how many segments came before.
uint count_segment(uint counter)
{
    if (FENCES == 0)
        return atomicAdd(scratch[counter], 1, gl_ScopeDevice, gl_StorageSemanticsBuffer,
                         gl_SemanticsAcquireRelease);
    memoryBarrierBuffer();
    return atomicAdd(scratch[counter], 1);
}

// Called by all lanes of the subgroup that came last; afterwards they see the other segments' sums.
void see_segments()
{
    if (FENCES == 0)
        subgroupBarrier(); // all lanes see what the one lane has acquired
    else
        memoryBarrierBuffer();
}
