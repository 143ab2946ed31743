// Stream-K: work-groups share the steps of the tiles that whole waves leave. The tiles from number
// push.shared_from on have push.tile_steps steps each, of TILE_K steps of the sum. In order of
// tiles and steps, the first push.longer_groups groups take push.group_steps + 1 of them and the
// others take push.group_steps. What a group adds up of a tile is a partial tile, in rows of
// TILE_N; its number is that of the group plus that of the tile, so the partial tiles of a tile
// follow one another. Also the place of a tile in C. Needs matmul_problem.glsl, SWIZZLE.

// The first step that a group takes, counted over all shared tiles.
uint first_step(uint group)
{
    return group * push.group_steps + min(group, push.longer_groups);
}

// The group that takes a step.
uint group_of(uint step_)
{
    uint longer = push.longer_groups * (push.group_steps + 1);
    return step_ < longer ? step_ / (push.group_steps + 1)
                          : push.longer_groups + (step_ - longer) / push.group_steps;
}

#include "matmul_place.glsl"
