// The tile's row and column: tiles are numbered down SWIZZLE tile rows, then column by column.
// Needs matmul_problem.glsl, SWIZZLE.
uvec2 tile_place(uint tile)
{
    if (SWIZZLE == 1)
        return uvec2(tile / push.tiles_n, tile % push.tiles_n);
    uint strip = tile / (SWIZZLE * push.tiles_n), rest = tile % (SWIZZLE * push.tiles_n);
    uint height = min(SWIZZLE, push.tiles_m - strip * SWIZZLE);
    return uvec2(strip * SWIZZLE + rest % height, rest / height);
}
