#include "blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

uint32_t test_blocks_all(const test_blocks *b)
{
    return b->count[0] * b->count[1] * b->count[2];
}

static uint32_t place(const test_blocks *b, uint32_t index, int axis)
{
    for (int below = 0; below < axis; below++)
        index /= b->count[below];
    return index % b->count[axis];
}

const uint32_t *test_blocks_span(const test_blocks *b, uint32_t index, int axis)
{
    return &b->cuts[axis][place(b, index, axis)];
}

uint32_t test_blocks_neighbour(const test_blocks *b, uint32_t index, uint32_t side)
{
    int32_t direction[3];
    uint32_t found = 0;
    wf_halo_direction(side, direction);
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t count = b->count[axis];
        int64_t at = (int64_t)place(b, index, axis) + direction[axis];
        if (b->around && count > 1)
            at = (at + count) % count;
        if (at < 0 || at >= count)
            return test_blocks_all(b);
        found = found * b->count[axis] + (uint32_t)at;
    }
    return found;
}

void test_blocks_carry(const test_blocks *b, const wf_halo *halos, uint32_t forgotten)
{
    for (uint32_t n = 0; n < test_blocks_all(b); n++)
        for (uint32_t side = 0; side < WF_HALO_SIDES; side++) {
            const uint32_t other = test_blocks_neighbour(b, n, side);
            const wf_halo *own = &halos[n];
            assert_int_equal(own->to[side] != NULL, other < test_blocks_all(b));
            if (other == test_blocks_all(b) || side == forgotten)
                continue;
            assert_int_equal(own->bytes[side], halos[other].bytes[side ^ 1]);
            memcpy(halos[other].from[side ^ 1], own->to[side], own->bytes[side]);
        }
}
