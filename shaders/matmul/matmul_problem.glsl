// Bindings and push constants of every matmul variant: C (m x n) = [C +] A (m x k) B (k x n), all
// row-major with leading dimensions. The bases are what is left of an offset after the binding's
// own, which must be aligned.
// MATMUL_NO_RESTRICT: the including shader declares the buffers once more, as another type.
#ifdef MATMUL_NO_RESTRICT
#define RESTRICT
#else
#define RESTRICT restrict
#endif
layout(std430, set = 0, binding = 0) readonly RESTRICT buffer A { float a[]; };
layout(std430, set = 0, binding = 1) readonly RESTRICT buffer B { float b[]; };
layout(std430, set = 0, binding = 2) RESTRICT buffer C { float c[]; };
layout(push_constant) uniform Push {
    uint m, n, k;
    uint lda, ldb, ldc;
    uint base_a, base_b, base_c;
    uint accumulate; // 1: add to what C holds
    uint tiles_n;    // output tiles along n; tiles are numbered along n first
    uint tiles;
} push;

// The output tile of this work-group; a grid of groups can have more than there are tiles.
uint tile_index()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

void store(uint row, uint column, float value)
{
    uint at = push.base_c + row * push.ldc + column;
    if (push.accumulate != 0)
        value += c[at];
    c[at] = value;
}
