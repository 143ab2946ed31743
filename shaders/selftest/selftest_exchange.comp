// MODULE selftest_shuffle DEFINES SHUFFLE
// MODULE selftest_arithmetic DEFINES ARITHMETIC
// MODULE selftest_barrier
#version 450
// Whether values that work-items exchange arrive: by subgroup shuffles (SHUFFLE), reductions and
// scans (ARITHMETIC), a small product summed by either, or through shared memory between barriers.
// Every work-item writes 1 (right) or 2 (wrong): what else is found there, nothing has written.
#extension GL_KHR_shader_subgroup_basic : require
#ifdef SHUFFLE
#extension GL_KHR_shader_subgroup_shuffle : require
#endif
#ifdef ARITHMETIC
#extension GL_KHR_shader_subgroup_arithmetic : require
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(std430, set = 0, binding = 0) readonly restrict buffer Data { uint data[]; };
layout(std430, set = 0, binding = 1) writeonly restrict buffer Verdict { uint verdict[]; };

#if defined(SHUFFLE) || defined(ARITHMETIC)
// The work-items of a group, as a number that compilers do not know: a loop to a constant is
// unrolled, and on a CPU compiling these loops took ten times as long as all the rest.
uint group_size()
{
    return verdict.length() / gl_NumWorkGroups.x;
}

uint first() // index of this subgroup's data
{
    return gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_SubgroupID * gl_SubgroupSize;
}
#endif

#if defined(SHUFFLE) || defined(ARITHMETIC)
float subgroup_sum(float value)
{
#ifdef ARITHMETIC
    return subgroupAdd(value);
#else
    for (uint mask = 1; mask < gl_SubgroupSize; mask *= 2)
        value += subgroupShuffleXor(value, mask);
    return value;
#endif
}

float term(uint i)
{
    uint size = group_size(), begin = gl_WorkGroupID.x * size;
    uint j = (i * 5 + gl_SubgroupID) % size;
    return float(data[begin + i] & 15u) * (float(data[begin + j] & 15u) - 7.5);
}

// A row times a column, in the order of the products' kernels: each lane sums its terms first. All
// sums are exact in f32.
bool product_right()
{
    float mine = 0, all = 0;
    for (uint i = gl_SubgroupInvocationID; i < group_size(); i += gl_SubgroupSize)
        mine += term(i);
    for (uint i = 0; i < group_size(); i++)
        all += term(i);
    return subgroup_sum(mine) == all;
}
#endif

#ifdef SHUFFLE
bool right()
{
    uint size = gl_SubgroupSize, lane = gl_SubgroupInvocationID, mine = data[first() + lane];
    bool ok = product_right();
    for (uint step = 1; step < size; step += step / 2 + 1) {
        uint from = (lane * 3 + step) % size;
        ok = ok && subgroupShuffle(mine, from) == data[first() + from];
    }
    for (uint mask = 1; mask < size; mask *= 2)
        ok = ok && subgroupShuffleXor(mine, mask) == data[first() + (lane ^ mask)];
    return ok;
}
#elif defined(ARITHMETIC)
bool right()
{
    uint lane = gl_SubgroupInvocationID, mine = data[first() + lane];
    uint sum = 0, most = 0, before = 0;
    float sum_f = 0;
    for (uint i = 0; i < gl_SubgroupSize; i++) {
        uint other = data[first() + i];
        sum += other;
        most = max(most, other);
        before += i < lane ? other : 0;
        sum_f += float(other & 0xff);
    }
    return product_right() && subgroupAdd(mine) == sum && subgroupMax(mine) == most &&
           subgroupExclusiveAdd(mine) == before && subgroupInclusiveAdd(mine) == before + mine &&
           subgroupAdd(float(mine & 0xff)) == sum_f;
}
#else
shared uint passed[gl_WorkGroupSize.x];

// Values change places sixteen times; then each is compared with what its origin must hold.
bool right()
{
    uint me = gl_LocalInvocationIndex, size = gl_WorkGroupSize.x;
    uint base = gl_WorkGroupID.x * size, value = data[base + me], from = me;
    for (uint step_ = 0; step_ < 16; step_++) {
        passed[me] = value;
        barrier();
        value = passed[(me * 7 + step_) % size];
        barrier();
    }
    for (uint step_ = 16; step_-- > 0;)
        from = (from * 7 + step_) % size;
    return value == data[base + from];
}
#endif

void main()
{
    verdict[gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationIndex] = right() ? 1 : 2;
}
