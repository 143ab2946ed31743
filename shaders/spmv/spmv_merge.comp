// MODULE spmv_merge_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Merge-path (Merrill and Garland 2016): the ends of rows and the entries are merged into one path,
// of which every work-group takes the same number of items, however long rows are. Nothing is
// prepared on the host. A work-group leaves its sum of a row that it does not end as a carry, which
// spmv_merge_fix adds.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "spmv_problem.glsl"
layout(constant_id = SPMV_ID_ITEMS) const uint ITEMS = 7; // rows and entries a work-item
// Four words a work-group: the row, a word without meaning, and the bits of the sum.
layout(std430, set = 0, binding = 4) writeonly restrict buffer Carries { uvec4 carries[]; };

const uint SIZE = gl_WorkGroupSize.x;
shared REAL products[SIZE * ITEMS];
shared uint ends[SIZE * ITEMS];
shared REAL open_sums[SIZE]; // each work-item's sum of the row that it does not end
shared uint ended[SIZE];
shared uint low[2], high[2], passed[2];

// The number of rows whose end lies before the diagonal. Half of the work-items look for one end of
// the work-group's piece of the path and half for the other, each probing a place of its own a
// pass.
void search(uint half_number, uint diagonal, uint entries)
{
    uint probes = SIZE / 2, probe = gl_LocalInvocationIndex % probes;
    if (probe == 0) {
        low[half_number] = diagonal > entries ? diagonal - entries : 0;
        high[half_number] = min(diagonal, push.rows);
    }
    barrier();
    while (low[0] < high[0] || low[1] < high[1]) {
        uint from = low[half_number], to = high[half_number];
        uint step = max((to - from + probes - 1) / probes, 1u), at = from + probe * step;
        if (probe == 0)
            passed[half_number] = 0;
        barrier();
        if (at < to && pattern[at + 1] + at < diagonal)
            atomicMax(passed[half_number], probe + 1);
        barrier();
        if (probe == 0) {
            uint count = passed[half_number];
            low[half_number] = count == 0 ? from : from + (count - 1) * step + 1;
            high[half_number] = min(to, from + count * step);
        }
        barrier();
    }
}

uint local_search(uint diagonal, uint rows, uint entries)
{
    uint from = diagonal > entries ? diagonal - entries : 0, to = min(diagonal, rows);
    while (from < to) {
        uint middle = (from + to) / 2;
        if (ends[middle] + middle < diagonal)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// Scans: open_sums[i] becomes the sum since the last work-item up to i that has ended a row.
void scan()
{
    uint item = gl_LocalInvocationIndex;
    for (uint distance = 1; distance < SIZE; distance *= 2) {
        barrier();
        REAL before = REAL(0);
        uint ends_before = 1;
        if (item >= distance) {
            before = open_sums[item - distance];
            ends_before = ended[item - distance];
        }
        barrier();
        if (ended[item] == 0)
            open_sums[item] += before;
        ended[item] |= item >= distance ? ends_before : 0;
    }
    barrier();
}

void load_piece(uvec2 begin, uint rows, uint entries)
{
    for (uint i = gl_LocalInvocationIndex; i < rows; i += SIZE)
        ends[i] = pattern[begin.x + i + 1] - begin.y;
    for (uint i = gl_LocalInvocationIndex; i < entries; i += SIZE)
        products[i] =
            load_value(begin.y + i) * load_x(pattern[push.columns_at + begin.y + i]);
    barrier();
}

void main()
{
    uint item = gl_LocalInvocationIndex, entries = push.more, total = push.rows + entries;
    uint group = group_index(), first = group * SIZE * ITEMS;
    if (first >= total)
        return;
    uint last = min(first + SIZE * ITEMS, total);
    search(item / (SIZE / 2), item < SIZE / 2 ? first : last, entries);
    uvec2 begin = uvec2(low[0], first - low[0]), end = uvec2(low[1], last - low[1]);
    uint rows = end.x - begin.x, here = end.y - begin.y;
    load_piece(begin, rows, here);

    uint step = min(item * ITEMS, last - first), stop = min(step + ITEMS, last - first);
    uint row = local_search(step, rows, here), entry = step - row;
    uint head_row = 0, closed = 0;
    REAL sum = REAL(0), head = REAL(0);
    for (; step < stop; step++) {
        if (row < rows && ends[row] <= entry) {
            if (closed == 0) {
                head = sum;
                head_row = row;
            } else {
                put_y(begin.x + row, sum);
            }
            closed = 1;
            sum = REAL(0);
            row++;
        } else {
            sum += products[entry++];
        }
    }
    open_sums[item] = sum;
    ended[item] = closed;
    scan();
    if (closed != 0)
        put_y(begin.x + head_row, item > 0 ? open_sums[item - 1] + head : head);
    if (item == SIZE - 1) {
#ifdef WF_TYPE_F64
        uvec2 bits = unpackDouble2x32(open_sums[item]);
#else
        uvec2 bits = uvec2(floatBitsToUint(open_sums[item]), 0);
#endif
        carries[group] = uvec4(end.x, 0, bits);
    }
}
