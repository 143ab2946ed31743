// MODULE sliced_alike
// MODULE sliced_leaders DEFINES LEADERS
// MODULE sliced_followers DEFINES FOLLOWERS
#version 450
#extension GL_GOOGLE_include_directive : require
// Slices that are alike use one list of offsets: each has that of the slice before it with the same
// hash, if the lists are equal, as in sliced_offsets.c. The first module compares neighbours in the
// order of the hashes; LEADERS notes, once runs of equal ones are counted, the first of each run,
// and FOLLOWERS tells the others.
#include "analysis.glsl"
#include "sliced_slice.glsl"

shared uint differ;

// Two lists are equal where the slices have the same shape, and their rows entries on the same
// diagonals; rows of both are neighbours.
void compare(Slice a, Slice b)
{
    uint local = gl_LocalInvocationIndex, first_a = row_at(a.at), first_b = row_at(b.at);
    uint begin_a = row_offsets[first_a], begin_b = row_offsets[first_b];
    if (a.rows != b.rows || a.log_height != b.log_height || a.loads != b.loads) {
        differ = 1;
        return;
    }
    if (local < a.rows && row_offsets[first_a + local + 1] - begin_a !=
                              row_offsets[first_b + local + 1] - begin_b) {
        differ = 1;
        return;
    }
    uint count = row_offsets[first_a + a.rows] - begin_a;
    if (count != row_offsets[first_b + b.rows] - begin_b)
        return; // another work-item has seen that
    for (uint i = local; i < count; i += SIZE)
        if (column_indices[begin_a + i] - first_a != column_indices[begin_b + i] - first_b)
            differ = 1;
}

void main()
{
#if defined(LEADERS) || defined(FOLLOWERS)
    uint at = group_number() * SIZE + gl_LocalInvocationIndex;
    if (at >= push.count)
        return;
    uint run = slices[push.runs_at + at + 1] - 1;
#if defined(LEADERS)
    if (slices[push.runs_at + at] == run)
        slices[push.leaders_at + run] = slices[push.sorted_at + at];
#else
    // The keys are not needed any more.
    slices[push.keys_at + slices[push.sorted_at + at]] = slices[push.leaders_at + run];
#endif
#else
    uint at = group_number();
    if (at >= push.count)
        return;
    uint number = slices[push.sorted_at + at], key = slices[push.keys_at + number];
    bool alike = false;
    if (at > 0 && key != BUCKETS) {
        uint before = slices[push.sorted_at + at - 1];
        if (slices[push.keys_at + before] == key) {
            if (gl_LocalInvocationIndex == 0)
                differ = 0;
            barrier();
            compare(slice_of(before), slice_of(number));
            barrier();
            alike = differ == 0;
        }
    }
    if (gl_LocalInvocationIndex == 0) {
        slices[push.runs_at + at] = alike ? 0 : 1;
        if (alike)
            slices[push.words_at + number] = 0;
    }
#endif
}
