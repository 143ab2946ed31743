// MODULE matmul_panel_*
#version 450
#extension GL_GOOGLE_include_directive : require
// Few rows or columns of C. Each element of the large matrix is read once, from memory into
// registers, in blocks of several outputs by several steps of the sum a work-item. It is multiplied
// by the other operand, the panel, of which KEPT steps lie in shared memory. A subgroup waits for
// its own loads alone, of which BLOCKS are under way. LANES_K work-items share a sum, which shared
// memory adds up at the end; there are LANES_O such groups of work-items.
#include "matmul_types.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#define MATMUL_ALIASED
#include "matmul_problem.glsl"
layout(constant_id = MATMUL_ID_VEC4) const uint VEC4 = 0;               // as in matmul_vector.comp
layout(constant_id = MATMUL_ID_MATRIX_IS_B) const uint MATRIX_IS_B = 1; // 0: A is the large one
layout(constant_id = MATMUL_ID_LANES_K) const uint LANES_K = 8;
layout(constant_id = MATMUL_ID_LANES_O) const uint LANES_O = 8;
layout(constant_id = MATMUL_ID_FOURS) const uint FOURS = 4; // of the panel's rows or columns
// Outputs a work-item where the large matrix lies along the sum.
layout(constant_id = MATMUL_ID_ROWS) const uint ROWS = 4;
layout(constant_id = MATMUL_ID_BLOCKS) const uint BLOCKS = 2;
layout(constant_id = MATMUL_ID_KEPT) const uint KEPT = 64;
layout(std430, set = 0, binding = 0) readonly buffer A4 { ELEMENT4 a4[]; };
layout(std430, set = 0, binding = 1) readonly buffer B4 { ELEMENT4 b4[]; };

const bool IS_B = MATRIX_IS_B != 0;
const bool BY_SUM = IS_B ? TRANSPOSE_B != 0 : TRANSPOSE_A == 0; // the matrix lies along the sum
const bool PANEL_BY_SUM = IS_B ? TRANSPOSE_A == 0 : TRANSPOSE_B != 0;
const bool VEC4_MATRIX = (VEC4 & (IS_B ? 2 : 1)) != 0, VEC4_PANEL = (VEC4 & (IS_B ? 1 : 2)) != 0;
const uint THREADS = LANES_K * LANES_O;
const uint OUTPUTS = BY_SUM ? ROWS : 4; // of an item
const uint LINES = BY_SUM ? ROWS : 4; // fours in a block: steps of an output, or outputs of a step
const uint STEPS = 4 * LANES_K;         // that all items make with a block each
const uint PITCH = KEPT / 4 + 1;        // fours; the one more staggers banks
const uint SUM_PITCH = LANES_K + 1;
const uint PANEL = 4 * FOURS * PITCH, SUMS = LANES_O * FOURS * SUM_PITCH;
const uint SHARED = PANEL > SUMS ? PANEL : SUMS;
const uint MOVED = 4; // fours of the panel that an item moves at once
// Eight items side by side read 128 bytes of f32 of one line; pairs of neighbours the same of the
// panel.
const uint BESIDE = BY_SUM ? (LANES_O % 2 == 0 ? 2 : 1) : (LANES_O % 8 == 0 ? 8 : LANES_O);
const uint ALONG = BY_SUM ? (LANES_K % 8 == 0 ? 8 : LANES_K) : LANES_K;

// [step % 4][four][step / 4]; then sums, [four][lane_o][lane_k].
shared ACC4 panel[SHARED];

uint lane_o()
{
    uint item = gl_LocalInvocationIndex;
    return item / (BESIDE * ALONG) % (LANES_O / BESIDE) * BESIDE + item % BESIDE;
}

uint lane_k()
{
    uint item = gl_LocalInvocationIndex;
    return item / (LANES_O * ALONG) * ALONG + item / BESIDE % ALONG;
}

uint matrix_at(uint output_, uint k)
{
    return IS_B ? at_b(k, output_) : at_a(output_, k);
}

uint panel_at(uint v, uint k)
{
    return IS_B ? at_a(v, k) : at_b(k, v);
}

ACC matrix_one(uint at)
{
    return IS_B ? TO_ACC(b[at]) : TO_ACC(a[at]);
}

ACC4 matrix_four(uint at)
{
    return IS_B ? TO_ACC4(b4[at / 4]) : TO_ACC4(a4[at / 4]);
}

ACC panel_one(uint at)
{
    return IS_B ? TO_ACC(a[at]) : TO_ACC(b[at]);
}

ACC4 panel_four(uint at)
{
    return IS_B ? TO_ACC4(a4[at / 4]) : TO_ACC4(b4[at / 4]);
}

uint outputs()
{
    return IS_B ? push.n : push.m;
}

uint vectors()
{
    return IS_B ? push.m : push.n;
}

// The element at which line i of this work-item's first block begins, counted from step k.
uint line_from(uint first, uint i, uint k)
{
    uint last = outputs() - 1, output_ = first + OUTPUTS * lane_o(), step_ = k + 4 * lane_k();
    if (BY_SUM)
        return matrix_at(min(output_ + i, last), step_);
    return matrix_at(min(output_, VEC4_MATRIX ? last - 3 : last), step_ + i);
}

// after: how many blocks behind the first it is.
ACC4 matrix_line(uint first, uint from, uint after)
{
    uint at = from + after * STEPS * (BY_SUM ? 1 : (IS_B ? push.ldb : push.lda));
    if (VEC4_MATRIX)
        return matrix_four(at);
    uint past = BY_SUM ? 3 : outputs() - 1 - min(first + OUTPUTS * lane_o(), outputs() - 1);
    ACC4 line;
    [[unroll]] for (uint j = 0; j < 4; j++)
        line[j] = matrix_one(at + min(j, past));
    return line;
}

// The same, but steps from `steps` on are zero.
ACC4 matrix_line_within(uint first, uint from, uint i, uint after, uint steps)
{
    uint place = after * STEPS + 4 * lane_k() + (BY_SUM ? 0 : i);
    ACC4 line = ACC4(0);
    if (place + (BY_SUM ? 3 : 0) < steps)
        return matrix_line(first, from, after);
    if (BY_SUM)
        [[unroll]] for (uint j = 0; j < 3; j++)
            if (place + j < steps)
                line[j] = matrix_one(from + after * STEPS + j);
    return line;
}

// Element (v, k) of the panel. In place of a row or column outside the matrix one inside is read; a
// step outside is zero.
ACC panel_within(uint v, uint k0, uint k, uint steps)
{
    return k < steps ? panel_one(panel_at(min(v, vectors() - 1), k0 + k)) : ACC(0);
}

// The first row or column (.x) and the first step (.y) of the i-th four elements of the panel,
// which has `count` steps.
uvec2 panel_place(uint i, uint count)
{
    return PANEL_BY_SUM ? uvec2(i / (count / 4), i % (count / 4) * 4)
                        : uvec2(i % FOURS * 4, i / FOURS);
}

ACC4 panel_line(uvec2 place, uint k0, uint steps)
{
    if (VEC4_PANEL)
        return place.y < steps
                   ? panel_four(panel_at(min(place.x, vectors() - (PANEL_BY_SUM ? 1 : 4)),
                                                     k0 + place.y))
                               : ACC4(0);
    ACC4 line;
    [[unroll]] for (uint j = 0; j < 4; j++)
        line[j] = PANEL_BY_SUM ? panel_within(place.x, k0, place.y + j, steps)
                               : panel_within(place.x + j, k0, place.y, steps);
    return line;
}

// Puts steps [k0, k0 + steps) of the panel, and zeros up to a whole block, into shared memory;
// several loads a work-item are under way.
void keep_panel(uint k0, uint steps)
{
    uint count = (steps + STEPS - 1) / STEPS * STEPS, fours = count * FOURS;
    [[dont_unroll]] for (uint i = gl_LocalInvocationIndex; i < fours; i += MOVED * THREADS) {
        ACC4 lines[MOVED];
        [[unroll]] for (uint n = 0; n < MOVED; n++)
            lines[n] = panel_line(panel_place(min(i + n * THREADS, fours - 1), count), k0, steps);
        [[unroll]] for (uint n = 0; n < MOVED; n++) {
            uvec2 place = panel_place(i + n * THREADS, count);
            if (i + n * THREADS >= fours)
                continue;
            if (PANEL_BY_SUM)
                [[unroll]] for (uint j = 0; j < 4; j++)
                    panel[(j * FOURS + place.x / 4) * PITCH + place.y / 4][place.x % 4] =
                        lines[n][j];
            else
                panel[(place.y % 4 * FOURS + place.x / 4) * PITCH + place.y / 4] = lines[n];
        }
    }
}

ACC4 sum[OUTPUTS * FOURS];

#define MULTIPLY(block, after)                                                                     \
    [[unroll]] for (uint j = 0; j < 4; j++)                                                        \
        [[unroll]] for (uint c = 0; c < FOURS; c++) {                                              \
            ACC4 row = panel[(j * FOURS + c) * PITCH + (after) * LANES_K + lane_k()];              \
            [[unroll]] for (uint o = 0; o < OUTPUTS; o++)                                          \
                sum[o * FOURS + c] += (BY_SUM ? block[o][j] : block[j][o]) * row;                  \
        }

// Adds steps [k0, k0 + steps) of the sum, at most KEPT.
void add(uint first, uint k0, uint steps)
{
    uint blocks = steps / STEPS, passes = blocks / BLOCKS, from[LINES];
    ACC4 ahead[BLOCKS * LINES];
    [[unroll]] for (uint i = 0; i < LINES; i++)
        from[i] = line_from(first, i, k0);
    if (passes > 0)
        [[unroll]] for (uint b = 0; b < BLOCKS; b++)
            [[unroll]] for (uint i = 0; i < LINES; i++)
                ahead[b * LINES + i] = matrix_line(first, from[i], b);
    barrier(); // the panel's last steps are no longer read
    keep_panel(k0, steps);
    barrier();
    [[dont_unroll]] for (uint t = 0; t < passes; t++) {
        // The last pass of the loop loads the same blocks again, since a condition would cost more.
        uint next = min(t + 1, passes - 1) * BLOCKS;
        [[unroll]] for (uint b = 0; b < BLOCKS; b++) {
            ACC4 block[LINES];
            [[unroll]] for (uint i = 0; i < LINES; i++)
                block[i] = ahead[b * LINES + i];
            [[unroll]] for (uint i = 0; i < LINES; i++)
                ahead[b * LINES + i] = matrix_line(first, from[i], next + b);
            MULTIPLY(block, t * BLOCKS + b)
        }
    }
    [[dont_unroll]] for (uint after = passes * BLOCKS; after * STEPS < steps; after++) {
        ACC4 block[LINES];
        [[unroll]] for (uint i = 0; i < LINES; i++)
            block[i] = matrix_line_within(first, from[i], i, after, steps);
        MULTIPLY(block, after)
    }
}

void store_output(uint base, uint output_, uint v, ACC value)
{
    if (output_ >= outputs() || v >= vectors())
        return;
    if (IS_B)
        store(base, v, output_, value);
    else
        store(base, output_, v, value);
}

// Adds up what the work-items have of the sums of their output o, and stores the sums.
void finish(uint base, uint first, uint o)
{
    barrier();
    [[unroll]] for (uint c = 0; c < FOURS; c++)
        panel[(c * LANES_O + lane_o()) * SUM_PITCH + lane_k()] = sum[o * FOURS + c];
    barrier();
    for (uint e = gl_LocalInvocationIndex; e < 4 * LANES_O * FOURS; e += THREADS) {
        uint line = e / 4;
        ACC total = ACC(0);
        for (uint k = 0; k < LANES_K; k++)
            total += panel[line * SUM_PITCH + k][e % 4];
        store_output(base, first + OUTPUTS * (line % LANES_O) + o, line / LANES_O * 4 + e % 4,
                     total);
    }
}

void main()
{
    uint tiles = push.tiles_m * push.tiles_n, index = reversed_index();
    uint split = index / tiles, first = index % tiles * OUTPUTS * LANES_O,
         k_begin = split * push.chunk;
    if (k_begin >= push.k) // the same for the whole work-group
        return;
    uint k_end = min(push.k, k_begin + push.chunk);
    [[unroll]] for (uint i = 0; i < OUTPUTS * FOURS; i++)
        sum[i] = ACC4(0);
    [[dont_unroll]] for (uint k = k_begin; k < k_end; k += KEPT)
        add(first, k, min(KEPT, k_end - k));
    uint base = batch_c() + split * push.stride_split;
    [[unroll]] for (uint o = 0; o < OUTPUTS; o++)
        finish(base, first, o);
}
