// MODULE matmul_exponents
#version 450
// The binary exponent that every row (or, BY_COLUMN, column) of a stored f32 matrix is scaled by
// before it is split: its largest finite magnitude comes to lie in [2^14, 2^15). A group has 32 x 8
// items.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint BY_COLUMN = 0;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Exponents { int exponents[]; };
layout(push_constant) uniform Push {
    uint rows, columns, ld;
    uint to_rows, to_chunks, first; // first: of the exponents
} push;

shared uint largest[256];

// The exponent in a finite number's bits; 0 for infinities and NaN, which must not decide.
uint magnitude(uint at)
{
    uint bits = from[at] & 0x7fffffffu;
    return bits < 0x7f800000u ? bits : 0u;
}

void main()
{
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint line = BY_COLUMN != 0 ? group * 32 + x : group * 8 + y;
    uint lines = BY_COLUMN != 0 ? push.columns : push.rows, most = 0;
    if (line < lines) {
        if (BY_COLUMN != 0)
            for (uint row = y; row < push.rows; row += 8)
                most = max(most, magnitude(row * push.ld + line));
        else
            for (uint column = x; column < push.columns; column += 32)
                most = max(most, magnitude(line * push.ld + column));
    }
    largest[gl_LocalInvocationIndex] = most;
    barrier();
    if (line >= lines || (BY_COLUMN != 0 ? y : x) != 0)
        return;
    for (uint i = 0; i < (BY_COLUMN != 0 ? 8 : 32); i++)
        most = max(most, largest[BY_COLUMN != 0 ? i * 32 + x : y * 32 + i]);
    // Rows whose numbers are all tiny are scaled by 2^114 at most.
    exponents[push.first + line] = max(int(most >> 23) - 127, -100) - 14;
}
